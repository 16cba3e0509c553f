"""How bounds grow: their classes, from above and from below, and which of two is less."""
