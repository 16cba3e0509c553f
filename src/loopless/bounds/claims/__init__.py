"""Claims about iterations: at most, at least, never ending, undefined; of one entry, of a call, of a line."""
