"""Counts by induction variables: how often facts hold that one iteration moves by constants."""
