"""Work under limits: child processes, deadlines, and shares of time."""
