"""Settings are honoured, and answers kept."""

from __future__ import annotations

import pickle
import time

import pytest

import loopless
from asked_both_ways import asked, loaded, untimed
from loopless.interface import calls as calls_module
from loopless.interface import program as program_of_interface
from loopless.queries.evaluation.prepared_calls import PreparedCalls


def test_a_limit_of_time_is_kept_and_named(tmp_path):
    file = tmp_path / "many.c"
    branches = "".join(f" if (a[i] & {1 << k}u) s += i ^ {k};" for k in range(20))
    file.write_text(
        f"unsigned f(unsigned n, const unsigned *a) {{ unsigned s = 0; for (unsigned i = 0; i < n; i++) {{{branches} }} return s; }}\n"
    )
    program = loopless.load(file, loop_timeout_s=0.001)
    (loop,) = program["f"].loops
    reasons = [loop.classify(), loop.automaton(), program["f"].summarize(), program["f"].bound().refused]
    # What takes no longer than a tick of the system's clock may be told all the same.
    told = (loop.summarize(), *program.summarize())
    reasons += [one if isinstance(one, loopless.Refused) else one.cut for one in told]
    assert len(reasons) == 6
    for refused in reasons:
        assert isinstance(refused, loopless.Refused)
        assert refused.reason is loopless.Reason.TIME_LIMIT
        assert "0.001 s" in refused.detail
    assert program["f"].bound().upper is not None  # by induction variables, whatever the limit


def test_what_is_evaluated_needs_no_summary():
    program = loaded("examples/looperman/fig3.c").with_settings(loop_timeout_s=0.001)
    assert program["bubble_sort"].evaluate(2, [2, 1]).by == "interpretation"


@pytest.mark.slow
def test_the_limit_of_a_call_is_kept_and_named(tmp_path):
    file = tmp_path / "long.c"
    step = "a[0] = a[0] * 6364136223846793005u + 1442695040888963407u; n = a[0] >> 33 | 1;"
    file.write_text(
        f"int f(unsigned long *a) {{ unsigned long n = 1; while (n) {{ {step} }} return 1; }}\n", encoding="utf-8"
    )
    found = loopless.load(file, timeout_s=4)["f"].evaluate([0])
    assert (found.status, found.value) == ("unknown", None)
    assert "time" in found.reason


def test_the_limit_of_a_request_is_kept_and_named():
    program = loaded("examples/looperman/fig3.c").with_settings(timeout_s=0.002)
    try:
        refused = program["bubble_sort"].loops[0].summarize()
    except loopless.LimitError as error:
        detail = str(error)
    else:
        detail = refused.detail
    assert "the time for the whole request was over (seconds of processor time); --timeout raises the limit" in detail


def test_a_limit_of_memory_is_kept_and_named():
    program = loopless.load("examples/cba/eqcnt.c", loop_memory_mb=16, loop_timeout_s=60)
    held = program.summarize()
    # What needs less memory is told all the same, with the limit as the reason why no more is.
    kinds = {one.reason if isinstance(one, loopless.Refused) else one.cut.reason for one in held}
    assert kinds == {loopless.Reason.MEMORY_LIMIT}


def test_without_a_fence_there_are_no_children(monkeypatch, program):
    from loopless.queries.jobs import sandbox

    monkeypatch.setattr(sandbox, "_Child", None)
    again = program.with_settings(loop_timeout_s=5)
    assert again.settings.sandboxed is False
    assert again[4].summarize().complete
    assert again["f"].evaluate(2, 2).value == 8


def test_the_reading_of_integers_is_of_the_program():
    program = loaded("examples/looperman/fig1.c")
    wide = program.with_settings(mathematical=True)
    assert program.loops[0].summarize().undefined != ()
    assert wide.loops[0].summarize().undefined == ()
    (told,) = asked("summarize", "examples/looperman/fig1.c", "--integers", "mathematical")["loops"]
    assert untimed(wide.loops[0].summarize().to_dict()) == told
    (wrapped,) = program.with_settings(wrapv=True).loops
    (told,) = asked("summarize", "examples/looperman/fig1.c", "--wrapv")["loops"]
    assert untimed(wrapped.summarize().to_dict()) == told


def test_answers_are_kept_and_those_of_other_settings_are_others(monkeypatch, program):
    asked_for = []
    ask = program_of_interface.answer_all

    def counted(loops, question, settings, until=None):
        asked_for.extend((loop.name, question) for loop in loops)
        return ask(loops, question, settings, until)

    monkeypatch.setattr(program_of_interface, "answer_all", counted)
    fresh = program.with_settings(loop_timeout_s=7)
    first = fresh[4].summarize()
    assert fresh[4].summarize() is first
    assert fresh["f"].loops[0].summarize(vars=None) is first
    assert len(asked_for) == 1
    everything = fresh.summarize()
    assert everything[0] is first
    assert len(asked_for) == len(fresh.loops) == len(set(asked_for))
    assert fresh.summarize() == everything
    assert len(asked_for) == len(fresh.loops)
    assert fresh[4].classify() is fresh[4].classify()
    assert fresh[4].automaton() is fresh[4].automaton()
    assert fresh["ask"].loops[0].summarize() is fresh["ask"].loops[0].summarize()
    other = fresh.with_settings(wrapv=True)
    assert other[4].summarize() is not first
    assert fresh[4].summarize() is first


def test_bounds_and_calls_are_kept(monkeypatch, program):
    from loopless.interface import program as module

    bounded, called = [], []
    bounds, evaluate = module.answer_bounds, PreparedCalls.evaluate
    monkeypatch.setattr(module, "answer_bounds", lambda *a, **k: bounded.append(a) or bounds(*a, **k))
    monkeypatch.setattr(PreparedCalls, "evaluate", lambda *a: called.append(a) or evaluate(*a))
    fresh = program.with_settings(loop_timeout_s=8)
    assert fresh["f"].bound() is fresh["f"].bound()
    assert fresh[4].bound() is fresh[4].bound()
    assert fresh[5].bound().function is fresh["f"].bound()
    assert len(bounded) == 1
    assert fresh["f"].evaluate(2, 3) is fresh["f"].evaluate(n=2, m=3)
    assert len(called) == 1
    assert fresh["f"].evaluate(3, 2).iterations != fresh["f"].evaluate(2, 3).iterations
    assert len(called) == 2


def test_the_oldest_results_of_calls_are_let_go(monkeypatch, program):
    monkeypatch.setattr(calls_module, "MAX_KEPT_RESULTS", 2)
    plain = program.with_settings(loop_timeout_s=9)["plain"]
    kept = [plain.evaluate(n) for n in (2, 4, 6)]
    assert plain.evaluate(6) is kept[2]
    assert plain.evaluate(2) is not kept[0]
    assert plain.evaluate(2).value == 1


def test_the_result_of_a_call_that_was_interrupted_is_not_that_of_the_next_one(monkeypatch, tmp_path):
    file = tmp_path / "slow.c"
    text = "unsigned f(unsigned n) { unsigned s = 1; for (unsigned i = 0; i < n; i++) s = s * s + (s >> 3) * i; return s; }\n"
    file.write_text(text, encoding="utf-8")
    function = loopless.load(file, loop_timeout_s=2)["f"]
    assert function.evaluate(1).value == 1
    pool_type = type(function._calls._calls._pool)
    finished = pool_type.finished

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool_type, "finished", interrupted)
    with pytest.raises(KeyboardInterrupt):
        function.evaluate(300)
    time.sleep(1)  # the result is there
    monkeypatch.setattr(pool_type, "finished", finished)
    assert function.evaluate(0).value == 1
    assert sum(function.evaluate(0).iterations.values()) == 0
    assert function.evaluate(2).value == 1


def test_what_is_held_travels_to_another_process(program):
    held = [
        program,
        program["f"],
        program[5],
        program[4].summarize(),
        program["f"].summarize(),
        program["f"].bound(),
        program[5].bound(),
        program[4].automaton(),
        program[4].classify(),
        program["ask"].loops[0].summarize(),
        program["f"].evaluate(2, 3),
    ]
    for one in held:
        copy = pickle.loads(pickle.dumps(one))
        assert type(copy) is type(one)
        assert (repr(copy), str(copy)) == (repr(one), str(one))
