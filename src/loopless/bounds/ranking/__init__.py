"""Ranking functions over transitions, with the bounds on sizes that they need."""
