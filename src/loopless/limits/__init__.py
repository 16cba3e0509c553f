"""Limits of the work that methods do: one module a package, each limit with what its value was chosen by.

A limit is an annotated constant, as ``MAX_PATHS: Annotated[int, GUESS] = 48``, and the text below it says what it is
the maximum of. A package imports its limits by name from its module here. :mod:`loopless.limits.chosen` lets a sweep
give other values.
"""
