"""Limits on work of this process, whatever they break into."""

from __future__ import annotations

import ctypes

import pytest

from loopless import clock
from loopless.deadline import in_time
from loopless.errors import LimitError


def test_a_limit_that_ctypes_calls_a_wrong_argument_is_a_limit() -> None:
    """What is raised while ctypes reads an argument reaches callers as this error, with the name of the first."""
    with pytest.raises(LimitError), in_time(clock.now() + 60):
        raise ctypes.ArgumentError("argument 1: LimitError: the time was over")
    with pytest.raises(ctypes.ArgumentError), in_time(clock.now() + 60):
        raise ctypes.ArgumentError("argument 1: TypeError: wrong type")


def test_work_ends_at_its_limit() -> None:
    with pytest.raises(LimitError), in_time(clock.now() + 0.05):
        sum(number for number in iter(int, 1))
