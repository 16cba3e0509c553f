"""Limits on work of this process, whatever they break into."""

from __future__ import annotations

import ctypes
import gc
import threading
import time

import pytest

from loopless import clock
from loopless.deadline import in_time, not_interrupted
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


def test_a_limit_waits_for_callbacks_of_the_garbage_collector() -> None:
    """What is raised there is dropped by the collector, so that the block would not end."""
    done: list[bool] = []

    def slow(phase: str, _: object) -> None:
        began = time.process_time()
        while phase == "stop" and not any(done) and time.process_time() < began + 0.1:
            pass
        done.append(phase == "stop")

    def collect_and_go_on() -> None:
        gc.collect()
        sum(number for number in iter(int, 1))

    gc.callbacks.append(slow)
    try:
        with pytest.raises(LimitError), in_time(clock.now() + 0.02):
            collect_and_go_on()
    finally:
        gc.callbacks.remove(slow)
    assert any(done)


def test_another_thread_that_gets_the_signal_does_not_break_in() -> None:
    ends = threading.Event()
    other = threading.Thread(target=ends.wait)  # its mask lets the signals through
    other.start()
    done: list[bool] = []

    def work() -> None:
        with in_time(clock.now() + 0.02):
            with not_interrupted():
                began = time.process_time()
                while time.process_time() < began + 0.1:
                    pass
                done.append(True)
            while True:
                pass

    try:
        with pytest.raises(LimitError):
            work()
    finally:
        ends.set()
        other.join()
    assert done == [True]
