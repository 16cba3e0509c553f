"""A report is made under the limits under which its answers were found; what it cannot be made of is said by name."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from answers_in_c import answers
from loopless.errors import LimitError
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.jobs import sandbox as limits
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.loops.answer import LoopAnswer
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.report.bounds import function_text
from loopless.report.bounds_without import bounds_without
from loopless.report.json_report import loop
from loopless.report.making import loop_without, parts, whole
from loopless.report.text import loop_summary
from loopless.terms import ZERO, Aggregate, IntType, Var, maximum, walk

PROGRAM = """int f(int x, int n) { while (x < n) x += 3; return x; }
int g(int x, int n) {
    while (x < n) x += 5;
    return x;
}
int h(int x, int n) { while (x < n) x += 7; return x; }
"""
SCHEMA = json.loads(files("loopless.report").joinpath("schema.json").read_text(encoding="utf-8"))
SETTINGS = Settings(loop_timeout_s=2.0, loop_memory_mb=256, workers=2)


@pytest.fixture(autouse=True)
def forked(monkeypatch):
    """What is made here is made by functions inside of tests, which travel to no process that is started anew, as it is
    where another test has left threads behind.
    """
    monkeypatch.setattr(limits, "_may_fork", lambda: True)


def at_work() -> None:
    while True:
        pass


def greedy() -> None:
    kept = [bytearray(1 << 20) for _ in range(4096)]
    assert kept


def recursive() -> None:
    recursive()


def but_line_3(make: Callable[[LoopAnswer], Any], instead: Callable[[], None]) -> Callable[[LoopAnswer], Any]:
    """``make``, for which the loop of line 3 is too much, while its summary is there."""

    def made(answer: LoopAnswer) -> Any:
        if answer.loop.line == 3 and answer.summary is not None:
            instead()
        return make(answer)

    return made


@pytest.mark.parametrize(
    ("instead", "reason"), [(at_work, Reason.TIME_LIMIT), (greedy, Reason.MEMORY_LIMIT), (recursive, Reason.BUDGET)]
)
@pytest.mark.slow
def test_what_is_too_much_costs_one_loop(instead, reason):
    found = answers(PROGRAM)
    made, all_of_it = parts(but_line_3(loop, instead), found, loop_without, SETTINGS)
    assert not all_of_it
    assert [one["line"] for one in made] == [1, 3, 6]
    assert [one["refused"] is None for one in made] == [True, False, True]
    assert made[0]["cases"] and made[2]["cases"]
    assert made[1]["type"] == made[0]["type"]
    assert (made[1]["status"], made[1]["refused"]["code"]) == ("refused", reason.code)
    assert made[1]["refused"]["detail"].startswith("the answer was found (exact, complete), but not written: ")
    for one in made:
        jsonschema.validate(one, {**SCHEMA["$defs"]["loop"], "$defs": SCHEMA["$defs"]})


@pytest.mark.slow
def test_the_text_says_the_same():
    shown, all_of_it = parts(but_line_3(loop_summary, at_work), answers(PROGRAM), loop_without, SETTINGS)
    assert not all_of_it
    assert "cut by --loop-timeout (2 s of processor time)" in shown[1] and "[L302 time-limit]" in shown[1]
    assert shown[0] == loop_summary(answers(PROGRAM)[0])


def test_what_can_be_made_is_made_as_without_limits():
    found = answers(PROGRAM)
    assert parts(loop, found, loop_without, SETTINGS) == ([loop(answer) for answer in found], True)
    assert parts(loop, found, loop_without, Settings(sandboxed=False)) == ([loop(answer) for answer in found], True)


@pytest.mark.slow
def test_where_nothing_can_be_made_one_sentence_says_so():
    with pytest.raises(LimitError, match="the answer was found, but not written: cut by --loop-timeout"):
        whole(at_work, SETTINGS, None)
    with pytest.raises(LimitError, match="not written"):
        parts(lambda _: at_work(), answers(PROGRAM), loop_without, SETTINGS)


def test_an_error_in_here_stays_one():
    def wrong(_: object) -> None:
        raise KeyError("an error")

    with pytest.raises(KeyError, match="an error"):
        parts(wrong, answers(PROGRAM), loop_without, SETTINGS)


CODES = """void codes(int *code, unsigned char *length, int low, int high, int size) {
    int next = 0;
    for (int n = low; n <= high; n++) {
        for (int i = 0; i < size; i++)
            if (length[i] == n) { code[i] = next; next++; }
        next <<= 1;
    }
}
"""


def test_a_total_over_aggregates_is_written_without_evaluating_them(tmp_path):
    """Samples for the worst inputs have 2^30 positions, which an aggregate of two nested passes never comes through."""
    file = tmp_path / "codes.c"
    file.write_text(CODES, encoding="utf-8")
    (found,) = answer_bounds(load([file]).functions, "all", SETTINGS)
    upper = found.call.upper
    assert upper is not None
    assert any(isinstance(node, Aggregate) for node in walk(upper))
    (text,), every = parts(functools.partial(function_text, given={}), [found], bounds_without, SETTINGS)
    assert every
    assert "no bound" not in "".join(text)


def test_a_total_that_is_too_long_to_write_is_no_missing_bound(tmp_path):
    file = tmp_path / "codes.c"
    file.write_text(CODES, encoding="utf-8")
    (found,) = answer_bounds(load([file]).functions, "all", SETTINGS)
    simple = maximum(ZERO, Var("high", IntType(32)))
    overrun = Overrun(Reason.TIME_LIMIT, "no answer within 2 s")
    late = Refused(Reason.TIME_LIMIT, found.place, "the search for better bounds was not finished")
    for wider, told in ((simple, simple), (None, None)):
        short = bounds_without(replace(found, wider=wider, over_inputs=None, refused=late), overrun)
        assert short.call.upper is told
        assert not short.call.exact
        assert short.refused is not None
        assert "the answer was found" in short.refused.detail
