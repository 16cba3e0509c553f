"""Work of this process ends when its time is over, but for what goes on in finalizers."""

from __future__ import annotations

import multiprocessing.util
import signal
import time
import weakref

import pytest

from loopless import clock
from loopless.deadline import in_time, not_interrupted
from loopless.errors import LimitError


def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def time_is_over():
    """What the timer does, at this place: a test that waits for it there depends on how busy the machine is."""
    signal.raise_signal(signal.SIGPROF)


def in_an_hour():
    return in_time(clock.now() + 3600)


class Thing:
    pass


class Slow:
    def __init__(self, done):
        self.done = done

    def __del__(self):
        time_is_over()
        self.done.append("finalized")


def drop_slow(done):
    thing = Slow(done)
    del thing


def drop_with_weakref(done):
    thing = Thing()
    weakref.finalize(thing, lambda: (time_is_over(), done.append("finalized")))
    del thing


def drop_with_multiprocessing(done):
    thing = Thing()
    multiprocessing.util.Finalize(thing, lambda: (time_is_over(), done.append("finalized")))
    del thing


def test_a_block_ends_when_its_time_is_over():
    with pytest.raises(LimitError, match="--timeout raises the limit"), in_time(clock.now() + 0.01):
        busy(10)


@pytest.mark.parametrize("drop", [drop_slow, drop_with_weakref, drop_with_multiprocessing])
def test_a_finalizer_is_not_broken_off_and_the_limit_not_lost(drop):
    done = []

    with pytest.raises(LimitError), in_an_hour():  # noqa: PT012  # the second must raise
        drop(done)
        busy(10)
    assert done == ["finalized"]


def test_no_limit_is_none():
    with in_time(None):
        busy(0.01)


def test_a_block_that_cannot_be_broken_off_is_done_first():
    done = []

    def work():
        with not_interrupted():
            time_is_over()
            done.append("whole")
        done.append("behind it")

    with pytest.raises(LimitError), in_an_hour():
        work()
    assert done == ["whole"]


def test_a_limit_within_another_leaves_that_one_as_it_was():
    """The timer tells how much is left: what an inner block is done with does not end the outer limit, nor put it off."""
    with in_time(clock.now() + 1000):
        with in_time(clock.now() + 3600):
            assert 0 < signal.getitimer(signal.ITIMER_PROF)[0] <= 1000.1
        with in_time(clock.now() + 10):
            assert 0 < signal.getitimer(signal.ITIMER_PROF)[0] <= 10.1
        assert 10 < signal.getitimer(signal.ITIMER_PROF)[0] <= 1000.1
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
