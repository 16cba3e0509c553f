"""Bounds against counts: of whole calls by the interpreter, and of single entries by the loop alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loopless.bounds import FunctionBounds, TermBound, function_bounds
from loopless.check.interpreter.run import Interpreter
from loopless.errors import UsageError
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.terms import EvaluationError, Var, evaluate, holds
from loopless_fuzz.judging.loop_alone import LoopAlone
from loopless_fuzz.judging.states import constants, draw_states


@dataclass
class Counted:
    """How often bounds were compared with the truth, how often they were the truth, and the largest count compared."""

    compared: int = 0
    tight: int = 0
    longest: int = 0

    def note(self, truth: int, upper: int) -> None:
        self.compared += 1
        self.tight += truth == upper
        self.longest = max(self.longest, truth)


def arguments_of(g: Flowgraph, arguments: Sequence[object]) -> dict:
    """The entry values of a function's parameters."""
    pairs = zip(g.parameters, arguments, strict=True)
    return {p.var: a if isinstance(a, int) else 0 for p, a in pairs if p.var is not None}


def judge_calls(
    g: Flowgraph,
    rows: Iterable[Sequence[object]],
    nondet: Sequence[int] = (),
    bounds: FunctionBounds | None = None,
    interpreter: Interpreter | None = None,
    max_steps: int = 50_000,
) -> Counted:
    """No bound on a call may be below what the interpreter counts, however the run ends."""
    found = bounds or function_bounds(g)
    interpreter = interpreter or Interpreter(None, g)
    counted = Counted()
    for arguments in rows:
        run = interpreter.run(arguments, nondet, max_steps=max_steps)
        values = arguments_of(g, arguments)
        for name, loop in found.loops.items():
            for bound in loop.total:
                upper = _value(bound, values)
                if upper is None:
                    continue
                truth = run.iterations.get(name, 0)
                assert truth <= upper, (name, arguments, truth, upper, str(bound.term), run.status)
                counted.note(truth, upper)
    return counted


def judge_entries_in_calls(
    g: Flowgraph,
    rows: Iterable[Sequence[object]],
    nondet: Sequence[int],
    bounds: FunctionBounds,
    interpreter: Interpreter,
    max_steps: int = 50_000,
) -> Counted:
    """No loop may take more in a call than the bounds on one entry add up to over its entries: also loops with inputs."""
    counted = Counted()
    for arguments in rows:
        entered: dict[str, list[dict]] = {}

        def note(loop: LoopInfo, state: Mapping, entered: dict[str, list[dict]] = entered) -> None:
            entered.setdefault(loop.name, []).append(dict(state))

        run = interpreter.run(arguments, nondet, max_steps=max_steps, on_loop=note)
        for name, states in entered.items():
            truth = run.iterations.get(name, 0)
            for bound in bounds.loops[name].per_entry:
                each = [_value(bound, state) for state in states]
                known = [upper for upper in each if upper is not None]
                if len(known) == len(each):
                    assert truth <= sum(known), (name, arguments, truth, known, str(bound.term))
                    counted.note(truth, sum(known))
    return counted


def judge_entries(
    g: Flowgraph,
    bounds: FunctionBounds | None = None,
    seed: int = 0,
    count: int = 60,
    fixed: Mapping[Var, int] | None = None,
) -> Counted:
    """No bound on one entry may be below what the loop does alone, from any state at its header in which ``fixed`` holds."""
    found = bounds or function_bounds(g)
    counted = Counted()
    for loop in g.loops:
        known = found.loops[loop.name].per_entry
        inner = any(other.parent == loop.header for other in g.loops)
        try:
            alone = LoopAlone(g, loop)
        except UsageError:
            continue
        variables = sorted({v for b in known for v in b.term.variables} | set(alone.entry), key=lambda v: v.key)
        for state in draw_states(variables, constants([b.term for b in known]), seed, count) if known else ():
            state.update(fixed or {})
            truth = alone.run(state, max_steps=20_000)
            for bound in known:
                upper = _value(bound, state)
                if upper is None:
                    continue
                assert truth.status != "diverges" or inner, (loop.name, state, str(bound.term))
                assert truth.iterations <= upper, (loop.name, state, truth, upper, str(bound.term))
                counted.note(truth.iterations, upper)
    return counted


def _value(bound: TermBound, values: dict) -> int | None:
    try:
        return evaluate(bound.term, values) if holds(bound.when, values) else None
    except EvaluationError:  # it speaks of memory or of globals
        return None
