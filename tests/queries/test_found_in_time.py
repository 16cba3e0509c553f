"""What is found of a loop stands where a limit ends what is made of it."""

from __future__ import annotations

from dataclasses import replace

from loopless.queries.jobs.overrun import Overrun
from loopless.queries.loops import answering, answers, approximating, scope
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.terms import evaluate

LOOP = "int f(int i, int n) { while (i < n) i += 2; return i; }"
REFUSED = Refused(Reason.TIME_LIMIT, "a.c:1:1", "no answer in time")


def test_a_summary_stands_where_the_limit_comes_before_people_can_read_it(monkeypatch, tmp_path) -> None:
    file = tmp_path / "a.c"
    file.write_text(LOOP)
    told = []
    monkeypatch.setattr(answers, "LOOP_NOTED_AFTER_S", 0.0)
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
    monkeypatch.setattr(answers, "LOOP_NOTED_AFTER_S", 0.0)
    monkeypatch.setattr(answers, "note", told.append)
    (loop,) = load([file], Settings()).loops
    asked = answers.Question(approximate=True)
    answers.answer_loop(loop.function, loop.id, asked)
    late = Overrun(Reason.TIME_LIMIT, "no answer in time", seconds=1.5, noted=replace(told[0], time_ms=0))
    assert told[0].status == "over-approximate"
    assert answering._noted(late, asked, finer=True) is late
    assert answering._noted(late, asked, finer=False).summary is told[0].summary
    done = replace(late, noted=replace(told[0], time_ms=5))
    assert answering._noted(done, asked, finer=True) is done.noted
    # In a hurry an answer without some variables is asked for next, with time of its own, where none was found.
    assert answering._noted(done, replace(asked, hurried=True), finer=True) is done
    without = replace(done.noted, partly=Refused(Reason.UNSUPPORTED_INSTRUCTION, "a.c:1:1", "a read"))
    done = replace(done, noted=without)
    assert answering._noted(done, replace(asked, hurried=True), finer=True) is without


class _Ended:
    """Stands for the pool: each job has ended, with what ``results`` has for its stage."""

    def __init__(self, results: dict[int, object]) -> None:
        self.results, self.asked, self.waiting = results, [], []
        self.late, self.working_on = False, ()

    def __enter__(self) -> _Ended:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    def busy(self) -> int:
        return len(self.waiting)

    def start(self, key: int, function: int, time_s: float | None) -> None:
        self.asked.append(key)
        self.waiting.append((key, self.results[key]))

    def finished(self) -> list[tuple[int, object]]:
        ended, self.waiting = self.waiting, []
        return ended


def test_what_was_noted_of_the_paths_stands_before_what_holds_whatever_they_are(monkeypatch, tmp_path) -> None:
    file = tmp_path / "a.c"
    file.write_text("void f(int *p, int i, int n) { while (i < n) { p[i & 3] += i; i += p[i & 1] ? 2 : 1; } }")
    asked = answers.Question(approximate=True, entered=True)
    hurried = Settings(loop_timeout_s=0.5)
    (loop,) = load([file], Settings()).loops
    whole = replace(answers.answer_loop(loop.function, loop.id, asked), time_ms=0)
    assert whole.status == "over-approximate"
    nothing = replace(whole, summary=None)
    for noted, stages in ((whole, [0, 1]), (None, [0, 1, 2])):
        late = Overrun(Reason.TIME_LIMIT, "no answer in time", seconds=0.5, noted=noted)
        pool = _Ended({0: late, 1: nothing, 2: whole})
        monkeypatch.setattr(answering, "Pool", lambda *_, pool=pool: pool)
        ((_, found),) = answering.answers_as_found([loop], asked, hurried)
        assert pool.asked == stages
        assert found.status == "over-approximate"
        if noted is not None:
            assert found.summary is whole.summary


def test_in_a_hurry_approximations_say_less_and_what_is_exact_stays_so(monkeypatch, tmp_path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        LOOP + "void g(int *p, int i, int n) { while (i < n) { p[i & 3] += i; i += p[i & 1] ? 2 : 1; } }",
    )
    monkeypatch.setattr(scope, "HURRIED_OPERATIONS", 1)
    exact, open_ = load([file], Settings()).loops
    asked = answers.Question(approximate=True, merge=True)
    hurried = replace(asked, hurried=True)
    found = answers.answer_loop(exact.function, exact.id, hurried)
    assert (found.status, found.complete) == ("exact", True)
    slow, quick = (answers.answer_loop(open_.function, open_.id, how) for how in (asked, hurried))
    assert slow.status == quick.status == "over-approximate"
    # Each iteration adds 1 or 2, so from i = 0 some n / 2 to n are taken; what costs nothing says none of it.
    cases = {how: [case for case in one.summary.approximation.cases if case.free] for how, one in
             (("slow", slow), ("quick", quick))}  # fmt: skip
    names = {how: {var.name for case in some for var in case.facts.variables} for how, some in cases.items()}
    assert "n" in names["slow"]
    assert "n" not in names["quick"]


def test_paths_by_approximations_of_inner_loops_are_worked_out_once(monkeypatch, tmp_path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "int f(int *p, int n) { int s = 0; for (int i = 0; i < n; i++) { int j = p[i & 3];"
        " while (j > 0) { p[j & 3] += j; j -= p[j & 1] ? 2 : 1; } s ^= j; } return s; }",
    )
    outer = load([file], Settings()).loops[0]
    asked = []
    paths_of = approximating.paths_of

    def watched(*args, **named):
        asked.append(named.get("approximate", False))
        return paths_of(*args, **named)

    monkeypatch.setattr(approximating, "paths_of", watched)
    found = answers.answer_loop(outer.function, outer.id, answers.Question(approximate=True))
    assert found.status == "over-approximate"
    assert found.type is not None  # by the same paths
    assert asked.count(True) == 1
