"""Calls between functions: the call graph, dispatch, recursion, and calls that runs go into."""
