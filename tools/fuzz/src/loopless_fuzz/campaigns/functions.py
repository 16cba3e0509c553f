"""The function of a program: evaluated by its summary and by those of its loops, interpreted, and run natively."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from loopless import clock
from loopless import terms as t
from loopless.check.interpreter.run import Interpreter
from loopless.check.interpreter.run import InterpreterRun as Interpreted
from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle, NativeRun
from loopless.check.outcome import Outcome
from loopless.errors import LimitError
from loopless.flowgraph.model import Flowgraph
from loopless.queries.evaluation.evaluate import Evaluation, Evaluator
from loopless.queries.functions import compose
from loopless.refusals import Reason, Refused
from loopless.source.inlining import recursive_functions
from loopless.summary import CallSummary, FunctionOutcome
from loopless_fuzz.campaigns.loops import Subject, cause
from loopless_fuzz.campaigns.rows import FunctionRow
from loopless_fuzz.generator.inputs import Arguments

UNCHECKED: Final = ("access to byte", "pointer overflow")
"""How the interpreter's words for undefined behaviour begin that native runs are not checked for: an access outside of
what an argument points to, and an address before or behind all that it may be in."""
STEPS: Final = 60_000
"""Iterations that an evaluation may interpret."""
NATIVE_SECONDS: Final = 0.25
CALL_S: Final = 1.0
"""Seconds for one evaluation: an inner loop that is jumped over at each iteration of another may cost more."""
EDGES: Final = (0, 1, -1, -(2**31), 2**31 - 1, 2**32 - 1, -(2**63), 2**63 - 1, 2**64 - 1, 127, -128, 255)


def compose_function(subject: Subject, row: FunctionRow) -> FunctionOutcome:
    """The summary of the function from those of its loops, and what came of it."""
    started = clock.now()
    outcome: FunctionOutcome
    try:
        outcome = compose(subject.function, subject.outcomes)
    except LimitError as error:
        outcome = Refused(Reason.BUDGET, subject.function.place, str(error))
    row.seconds["compose"] = clock.now() - started
    if isinstance(outcome, Refused):
        row.status, row.causes = "refused", [cause(outcome)]
    else:
        row.status = "complete" if outcome.complete else "residual"
        row.causes = sorted({cause(part.why) for part in outcome.residual})
        row.cases = len(outcome.cases)
    return outcome


@dataclass(frozen=True, slots=True)
class Voice:
    """Someone who says what a call returns: ``name`` is "interpreter", "summary" or "whole"."""

    name: str
    evaluation: Evaluation | Interpreted


class Bench:
    """One function, ready to be called in every way."""

    def __init__(self, subject: Subject, text: str, whole: FunctionOutcome | None, host: NativeHost) -> None:
        assert subject.graph is not None
        graph, source = subject.graph, subject.function.program.source
        written = subject.function.as_written()
        assert isinstance(written, Flowgraph)
        self.graph = graph
        self.name = subject.function.code.name
        self.interpreter = Interpreter(source.inlined, written)  # a recursion is calls here, and a loop for the others
        stepper = Interpreter(source.inlined, graph)
        self.counted = frozenset(loop.name for loop in written.loops)
        self.oracle = NativeOracle(text, limits=NativeLimits(seconds=NATIVE_SECONDS), host=host)
        outcomes = subject.outcomes
        missing = Refused(Reason.TIME_LIMIT, subject.function.place, "no summary of this loop was made")
        self._loops = Evaluator(graph, stepper, lambda loop: outcomes.get(loop.name, missing))
        self._whole = None
        if isinstance(whole, CallSummary):
            self._whole = Evaluator(graph, stepper, lambda loop: outcomes.get(loop.name, missing), whole)
        # A recursion without end fills the stack, which is no answer; other programs have no reason to crash.
        self.may_crash = bool(recursive_functions(source.module))

    def voices(self, args: Arguments, stream: Sequence[int]) -> list[Voice]:
        """What each of us says about a call."""
        until = clock.now() + CALL_S
        found = [Voice("interpreter", self.interpreter.run(list(args), stream, max_steps=STEPS, deadline=until))]
        until = clock.now() + CALL_S
        found.append(Voice("summary", self._loops.run(list(args), stream, max_steps=STEPS, deadline=until)))
        if self._whole is not None:
            whole = self._whole.run(list(args), stream, max_steps=100)  # only the summary is asked here
            found += [Voice("whole", whole)] if whole.whole else []
        return found

    def native(self, rows: Sequence[Arguments], stream: Sequence[int]) -> list[Outcome]:
        """What native runs return."""
        return self.oracle.run_many(self.graph.source_name, [NativeRun(args, stream) for args in rows])

    def difference(self, voices: Sequence[Voice], native: Outcome) -> str:
        """What is said differently of one call; "" where all agree or have no answer."""
        plain = next(voice.evaluation for voice in voices if isinstance(voice.evaluation, Interpreted))
        if plain.outcome.status == "undefined" and plain.reason.startswith(UNCHECKED):
            return ""  # what is there natively nobody knows, and it is taken for granted that this does not happen
        for voice in voices:
            found = voice.evaluation
            if isinstance(found, Interpreted):
                status: str = "unknown" if found.outcome.status in ("timeout", "crashed") else found.outcome.status
                said = found.outcome
            else:
                status, said = found.status, _outcome(found)
            wrong = disagreement(status, said, native, may_crash=self.may_crash)
            if wrong:
                return f"{voice.name}: {wrong}"
            if isinstance(found, Evaluation):
                wrong = self._against_interpreter(found, plain)
                if wrong:
                    return f"{voice.name}: {wrong}"
        return ""

    def _against_interpreter(self, found: Evaluation, plain: Interpreted) -> str:
        """What an evaluation by summaries says otherwise than plain interpretation, iterations included."""
        status = plain.outcome.status
        if found.status == "unknown" or status in ("unknown", "timeout", "crashed"):
            return ""
        if found.status != status:
            return f"evaluated to {found.status}, interpreted to {status}"
        if status != "ok":
            return ""
        own = _outcome(found)
        if not own.agrees_with(plain.outcome):
            return f"evaluated to {own}, interpreted to {plain.outcome}"
        for name, count in sorted(found.iterations.items()):
            really = plain.iterations.get(name, 0)
            if name not in self.counted and name not in plain.iterations:
                # The loops of a recursion count the calls of a function by itself; another one called it first.
                called = name.rsplit(":", 3)[-3]
                really = plain.calls.get(called, 0) - (called != self.name)
            if count != really:
                return f"{count} iterations of {name}, interpreted {really}"
        return ""


def disagreement(status: str, said: Outcome, native: Outcome, *, may_crash: bool = False) -> str:
    """What an answer and a native run say differently, "" where they agree or one of them has no answer."""
    if status == "unknown" or native.status in ("unknown", "timeout", "crashed"):
        if status == "ok" and native.status == "crashed" and not may_crash:
            return f"evaluated to ok, crashed natively ({native.detail})"
        return ""
    if status == "diverges":
        return f"evaluated to diverges, natively {native}"
    return "" if said.agrees_with(native) else f"evaluated to {said}, natively {native}"


def _outcome(found: Evaluation) -> Outcome:
    status: Any = found.status
    return Outcome(status, found.return_value, found.outputs, found.globals)


def unplaced(summary: CallSummary, seed: int, count: int) -> tuple[dict[str, int], str] | None:
    """An entry state that lies in no region or in several; None where there is none among those sampled."""
    for state in _entry_states(summary, seed, count):
        try:
            here = [type(region).__name__ for region in summary.regions if t.holds(region.when, state)]
        except t.EvaluationError:
            continue
        if len(here) != 1:
            return {var.name: value for var, value in state.items()}, f"lies in {', '.join(here) or 'no region'}"
    return None


def _entry_states(summary: CallSummary, seed: int, count: int) -> list[Mapping[t.Var, int]]:
    """Edge values of all inputs together as far as these are few, else samples; and random values."""
    rng = random.Random(seed)
    variables = [input.var for input in summary.inputs]
    choices = [[value for value in EDGES if var.type.holds(value)] for var in variables]
    edgy = itertools.islice(itertools.product(*choices), 200) if len(variables) <= 2 else ()
    states = [dict(zip(variables, values, strict=True)) for values in edgy]

    def value(var: t.Var, choice: list[int]) -> int:
        small = rng.choice((3, 20, 200))
        return var.type.wrap(rng.choice((rng.choice(choice), rng.randint(-small, small), rng.randint(-(2**31), 2**31))))

    drawn = ({v: value(v, choice) for v, choice in zip(variables, choices, strict=True)} for _ in range(count))
    return [*states, *drawn]


def edge_rows(graph: Flowgraph, seed: int, count: int) -> list[Arguments]:
    """Arguments at the edges of their types; none for functions that take pointers."""
    if any(p.object is not None or p.type is None for p in graph.parameters):
        return []
    rng = random.Random(seed)
    choices = [[v for v in EDGES if p.type is not None and p.type.holds(v)] for p in graph.parameters]
    return [tuple(rng.choice(choice) for choice in choices) for _ in range(count)]
