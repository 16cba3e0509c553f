"""Native runs of C functions, with traps for undefined behaviour, in bounded child processes."""
