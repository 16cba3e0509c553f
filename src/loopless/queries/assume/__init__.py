"""Assumptions on the values at a loop's entry, as C conditions."""
