"""Memory that loops write: what iterations read of it, and what it holds behind the loop."""
