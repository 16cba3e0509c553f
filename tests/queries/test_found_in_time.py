"""What is found of a loop stands where a limit ends what is made of it."""

from __future__ import annotations

from dataclasses import replace

from loopless.queries import answering, answers
from loopless.queries.program import load
from loopless.queries.sandbox import Overrun
from loopless.queries.settings import Settings
from loopless.refusals import Reason
from loopless.terms import evaluate

LOOP = "int f(int i, int n) { while (i < n) i += 2; return i; }"


def test_a_summary_stands_where_the_limit_comes_before_people_can_read_it(monkeypatch, tmp_path) -> None:
    file = tmp_path / "a.c"
    file.write_text(LOOP)
    told = []
    monkeypatch.setattr(answers, "_NOTED_AFTER_S", 0.0)
    monkeypatch.setattr(answers, "note", told.append)
    (loop,) = load([file], Settings()).loops
    asked = answers.Question(merge=True)
    answers.answer_loop(loop.function, loop.id, asked)
    untyped, typed = told[:2]
    assert (untyped.type, typed.type) == (None, 1)
    for noted in (untyped, typed):
        late = Overrun(Reason.TIME_LIMIT, "no answer in time", seconds=1.5, noted=noted)
        found = answering._noted(late, asked, finer=True)
        assert (found.status, found.complete, found.time_ms) == ("exact", True, 1500)
        assert (found.untyped is not None) == (noted is untyped)
        # From 3 on four steps of 2 lead to 11, the first number that is not below 10.
        given = {"i": 3, "n": 10}
        counts = [case.iterations for case in found.summary.cases]
        assert 4 in {evaluate(term, {var: given[var.name] for var in term.variables}) for term in counts}


def test_what_is_not_exact_stands_only_where_nothing_finer_is_asked_next(monkeypatch, tmp_path) -> None:
    file = tmp_path / "a.c"
    file.write_text("void f(int *p, int i, int n) { while (i < n) { p[i & 3] += i; i += p[i & 1] ? 2 : 1; } }")
    told = []
    monkeypatch.setattr(answers, "_NOTED_AFTER_S", 0.0)
    monkeypatch.setattr(answers, "note", told.append)
    (loop,) = load([file], Settings()).loops
    asked = answers.Question(approximate=True)
    answers.answer_loop(loop.function, loop.id, asked)
    late = Overrun(Reason.TIME_LIMIT, "no answer in time", seconds=1.5, noted=replace(told[0], time_ms=0))
    assert told[0].status == "over-approximate"
    assert answering._noted(late, asked, finer=True) is late
    assert answering._noted(late, asked, finer=False).summary is told[0].summary
