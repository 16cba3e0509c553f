"""The truth that ``bench/hang_random.py`` compares answers with, and how it compares them."""

from __future__ import annotations

from pathlib import Path

from hang_random import ENDLESS, RandomLoop, Writer, given, judged, truth

from loopless.queries.call_values.reached import GivenValue, Inputs, Reached, RepeatedValue
from loopless.source.targets import SourceTarget


def test_all_calls_of_a_loop_are_counted(tmp_path: Path) -> None:
    """x falls by 2 for odd y, and stays for y = 0; 255 ends at once, and 7 in the middle of an iteration."""
    loop = RandomLoop("x != 255", "if (x == 7) STOP; x = x - y; if (y == 2) NEXT; y = y;", reads=False, counts=True)
    told = truth(loop, tmp_path)
    assert told[255 << 8] == 0
    assert told[7 << 8 | 3] == 0
    assert told[9 << 8 | 2] == 1
    assert told[10 << 8 | 3] == 1
    assert told[8 << 8] == ENDLESS
    assert told[8 << 8 | 2] == ENDLESS


def test_loops_over_a_buffer_begin_with_its_second_byte(tmp_path: Path) -> None:
    loop = RandomLoop("x < y", "x = x + b[x & 1];", reads=True, counts=False)
    told = truth(loop, tmp_path)
    assert told[2 << 8 | 5] == 3  # x is 0, 2, 4, 6
    assert told[0 << 8 | 5] == ENDLESS
    assert told[0 << 8 | 0] == 0


def test_answers_are_judged_by_that() -> None:
    told = [0, ENDLESS, 7]
    inputs = Inputs("f", (GivenValue("x", "unsigned char", 0), GivenValue("y", "unsigned char", 1)))
    found = Reached(SourceTarget(endless=True), "f", "reached", "paths", inputs)
    assert given(inputs, reads=False) == 1
    assert judged(found, None, told, reads=False) == "right"
    assert judged(found, None, [ENDLESS, 7], reads=False) == "WRONG"
    assert judged(found, 6, [0, 7], reads=False) == "right"
    assert judged(found, 7, [0, 7], reads=False) == "WRONG"
    unreachable = Reached(SourceTarget(endless=True), "f", "unreachable")
    assert judged(unreachable, None, told, reads=False) == "WRONG"
    assert judged(unreachable, 7, [0, 7], reads=False) == "right"
    elements = Inputs("f", (GivenValue("b", "unsigned char", elements=(RepeatedValue(1, 3),)),))
    assert given(elements, reads=True) == 3 << 8


def test_loops_are_the_same_again() -> None:
    assert Writer(5).loop() == Writer(5).loop() != Writer(6).loop()
