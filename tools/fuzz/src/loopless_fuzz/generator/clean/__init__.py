"""Whole programs with objects of all kinds of lives, most of whose runs meet no undefined behaviour."""
