"""Counts of induction variables on random programs: of whole calls, of each entry, and of loops alone."""

from __future__ import annotations

import random

import pytest

from counted import Counted as Compared
from counted import arguments_of, judge_calls, judge_entries, judge_entries_in_calls
from loopless.bounds import FunctionBounds, LoopBounds
from loopless.bounds.induction import counts as induction
from loopless.bounds.induction.counts import Counted, induction_counts
from loopless.bounds.iteration.constants import constants as set_once
from loopless.check.interpreter.run import Interpreter
from loopless.errors import UsageError
from loopless.flowgraph import Options, build
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Flowgraph
from loopless.refusals import Refused
from loopless.source import load
from loopless.terms import EvaluationError, Term, Var, evaluate
from loopless_fuzz.generator.generate import PROFILES, generate, nondet_stream, print_program
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import constants, draw_states

pytestmark = pytest.mark.slow  # random programs


def known(g: Flowgraph) -> tuple[dict[str, Counted], FunctionBounds]:
    found = {name: one for name, one in induction_counts(g).items() if isinstance(one, Counted)}
    of = {loop.name: found.get(loop.name, Counted()) for loop in g.loops}
    loops = {
        loop.name: LoopBounds(loop, of[loop.name].bounds, of[loop.name].any_entry, of[loop.name].total)
        for loop in g.loops
    }
    return found, FunctionBounds(loops)


def fixed_by(g: Flowgraph) -> dict[Var, int]:
    """The variables that hold one constant wherever they are read, which it is."""
    return {v: c.value for v, c in set_once(g, live_at_entry(g.blocks, frozenset())[g.entry]).items()}


def judge_fixed(g: Flowgraph, fixed: dict[Var, int], rows: list, nondet, interpreter: Interpreter) -> int:
    """How often a constant was seen where a loop that reads it is entered, in runs: never may it be another number."""
    seen = 0
    live = live_at_entry(g.blocks, frozenset())
    for arguments in rows:
        entered: list[tuple[str, dict[Var, int]]] = []
        interpreter.run(
            arguments,
            nondet,
            max_steps=4_000,
            on_loop=lambda loop, state, entered=entered: entered.append((loop.header, dict(state))),
        )
        for header, state in entered:
            for var in live[header] & fixed.keys() & state.keys():
                assert state[var] == fixed[var], (header, str(var), arguments, state[var], fixed[var])
                seen += 1
    return seen


def at(term: Term, values: dict[Var, int]) -> int | None:
    try:
        return evaluate(term, values)
    except EvaluationError:  # it speaks of memory or of globals
        return None


def judge_exact(
    g: Flowgraph, found: dict[str, Counted], rows: list, nondet, interpreter: Interpreter, fixed: dict[Var, int]
) -> int:
    """How often exact counts were compared: of runs of the function, of the loop alone; and bounds on any entry.

    The loop alone begins in states in which ``fixed`` holds.
    """
    compared = 0
    for arguments in rows:
        entered: dict[str, list[dict[Var, int]]] = {}
        run = interpreter.run(
            arguments,
            nondet,
            max_steps=4_000,
            on_loop=lambda loop, state, entered=entered: entered.setdefault(loop.name, []).append(dict(state)),
        )
        inputs = arguments_of(g, arguments)
        for name, states in entered.items():
            one, truth = found.get(name, Counted()), run.iterations.get(name, 0)
            tops = [at(bound.term, inputs) for bound in one.any_entry]
            assert all(top is None or truth <= top * len(states) for top in tops), (name, arguments, truth, tops)
            number = one.exact if one.exact is not None else one.completed
            each = [at(number, state) for state in states] if number is not None else [None]
            if run.status == "ok" and None not in each:
                assert truth == sum(x for x in each if x is not None), (name, arguments, truth, str(number))
                compared += 1
    for loop in g.loops:
        exact = found.get(loop.name, Counted()).exact
        if exact is None:
            continue
        try:
            alone = LoopAlone(g, loop)
        except UsageError:
            continue
        variables = sorted(set(exact.variables) | set(alone.entry), key=lambda v: v.key)
        for state in draw_states(variables, constants([exact]), 1, 25):
            state.update(fixed)
            truth_alone = alone.run(state, max_steps=4_000)
            if truth_alone.status == "ok":
                assert truth_alone.iterations == at(exact, state), (loop.name, state, str(exact))
                compared += 1
    return compared


@pytest.mark.parametrize("profile", PROFILES)
def test_random_programs(tmp_path, monkeypatch, profile: str) -> None:
    bounds, exact = Compared(), 0
    for seed in range(9000, 9006):
        file = tmp_path / f"{seed}.c"
        file.write_text(print_program(generate(seed, PROFILES[profile])))
        program = load([file])
        g = build(program.inlined.functions["f"], program.inlined, Options())
        if isinstance(g, Refused):
            continue
        chosen, nondet = random.Random(seed), nondet_stream(seed)
        rows = [[_drawn(parameter, chosen) for parameter in g.parameters] for _ in range(5)]
        interpreter = Interpreter(program.inlined, g, options=Options())
        fixed = fixed_by(g)
        judge_fixed(g, fixed, rows, nondet, interpreter)
        ways = [fixed, {}] if fixed else [{}]
        for holding in ways:  # what counts on the function's constants; what holds from any state without them
            with monkeypatch.context() as patched:
                if not holding:
                    patched.setattr(induction, "constants", lambda *_: {})
                found, claimed = known(g)
            for more in (
                judge_entries(g, claimed, seed, 20, holding),
                judge_calls(g, rows, nondet, claimed, interpreter, 4_000),
                judge_entries_in_calls(g, rows, nondet, claimed, interpreter, 4_000),
            ):
                bounds.compared += more.compared
            exact += judge_exact(g, found, rows, nondet, interpreter, holding)
    if profile in ("everything", "nests", "nests-8", "composed", "arrays", "undefined"):
        assert bounds.compared > 20
        assert exact > 10


def _drawn(parameter, chosen: random.Random) -> object:
    if parameter.object is not None:
        return [chosen.choice((0, 1, 3, -2, 9, 40, 127)) for _ in range(64)]
    low, high = parameter.type.min or -1000, parameter.type.max or 1000
    drawn = (chosen.choice((low, high, 0, 1, 255, 127)), chosen.randint(-200, 200), chosen.randint(-3, 20))
    return parameter.type.wrap(drawn[chosen.randrange(3)])
