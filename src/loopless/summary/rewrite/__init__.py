"""Rewritings of a loop's paths and states that the methods work on; each can be taken back in the answer."""
