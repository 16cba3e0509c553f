"""Exit times: the number of iterations after which a condition fails for the first time."""
