"""Values of calls: their types, how they are given, drawn, changed, and passed to native runs."""
