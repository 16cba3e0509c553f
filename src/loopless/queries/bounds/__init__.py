"""How often loops, lines and whole programs run."""
