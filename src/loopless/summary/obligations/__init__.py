"""Proof obligations: checks that must hold along a whole run, decided at its ends."""
