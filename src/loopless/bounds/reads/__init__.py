"""Loops that run as long as what they read lets them."""
