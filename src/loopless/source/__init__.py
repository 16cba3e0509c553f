"""From C or LLVM IR files to a typed, immutable program in memory."""
