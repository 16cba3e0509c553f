"""Native runs of a function that are to never end, which the judge's interpreter follows until a state comes again.

A native run tells only that it has not ended yet. The interpreter runs the function with the same inputs. Where all
that decides how the run goes on (variables, memory, inputs to come) is what it was at the same place before, the run
never ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from loopless import clock
from loopless import terms as t
from loopless.check.interpreter.run import Argument, Interpreter, InterpreterRun, PointedContent, SameContent
from loopless.check.interpreter.services import LoopState
from loopless.check.outcome import Outcome
from loopless.errors import LooplessError
from loopless.flowgraph import Options, build
from loopless.flowgraph.exact_arithmetic import with_exact_arithmetic
from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.limits.queries import (
    CHANCE_S,
    HANG_BATCH,
    HANG_CANDIDATES,
    HANG_ENTERING_STEPS,
    HANG_FOLLOWED_S,
    HANG_FOLLOWED_STEPS,
    HANG_S,
)
from loopless.queries.call_values.native_driver import Driver
from loopless.queries.call_values.reached import Inputs, RepeatedValue, joined, runs_of, unrolled
from loopless.queries.call_values.wire_form import wired
from loopless.queries.program import AnalyzedProgram
from loopless.queries.reach.growing_states import never_left
from loopless.queries.settings import Settings
from loopless.queries.verification.replays import as_taken, is_overflow
from loopless.records import dataclass
from loopless.source.ir import Loc
from loopless.source.vocabulary import STANDARD_INPUT_DRAW, STANDARD_INPUT_SIZE


@dataclass(frozen=True, slots=True)
class EndlessCall:
    """A run that never leaves the loop (or the calls) at ``place``, and takes so many ``inputs`` until a state comes
    again. ``overflows``: unless a signed number overflows in it, behind which C says nothing. ``repeats``: a state
    comes again; else the loop is entered in a set of states that it does not leave.
    """

    place: Loc | None
    inputs: int
    overflows: bool
    repeats: bool = True


class NotFollowed(Exception):
    """The interpreter cannot be given inputs; carries why."""


class RepeatingCalls:
    """The judge's runs of the function ``entry`` of a program."""

    def __init__(self, program: AnalyzedProgram, entry: str, settings: Settings) -> None:
        self.program, self.entry, self.settings = program, entry, settings
        self._made: dict[bool, Interpreter] = {}
        self.why = ""
        """Why the last run was not shown to never end."""

    def endless(self, inputs: Inputs, arguments: Sequence[Any]) -> EndlessCall | None:
        """How the run with these inputs never ends, which the compiled program gets as ``arguments``."""
        try:
            run = self._run(inputs, arguments, HANG_FOLLOWED_STEPS, exact=True)
            if run.status != "diverges":
                self.why = run.reason or f"it ends ({run.status})"
                if run.status == "timeout":
                    self.why = "no state was found to come again"
                    return self._growing(inputs, arguments)
                return None
            # Where no overflow is in the way, the function itself comes to a state again as soon.
            steps = 1000 + 4 * (sum(run.iterations.values()) + sum(run.calls.values()))
            itself = self._run(inputs, arguments, steps, exact=False)
        except (LooplessError, NotFollowed) as error:
            self.why = str(error)
            return None
        return EndlessCall(run.where, run.nondet_used, itself.status != "diverges")

    def _growing(self, inputs: Inputs, arguments: Sequence[Any]) -> EndlessCall | None:
        """How the run never ends where a counter grows for ever, by the state in which it enters the last loop."""
        entered: list[tuple[LoopInfo, dict[t.Var, int]]] = []

        def hook(loop: LoopInfo, state: LoopState) -> None:
            entered[:] = [(loop, dict(state))]

        run = self._run(inputs, arguments, HANG_ENTERING_STEPS, exact=True, hook=hook)
        if run.status != "timeout" or not entered:
            return None
        loop, state = entered[0]
        if not never_left(self._interpreter(exact=True).flowgraph, loop, state):
            return None
        return EndlessCall(loop.loc, run.nondet_used, overflows=True, repeats=False)

    def _run(
        self,
        inputs: Inputs,
        arguments: Sequence[Any],
        steps: int,
        *,
        exact: bool,
        hook: Callable[[LoopInfo, LoopState], None] | None = None,
    ) -> InterpreterRun:
        interpreter = self._interpreter(exact=exact)
        return interpreter.run(
            _given(interpreter.flowgraph, inputs, arguments),
            list(unrolled(inputs.nondet)),
            globals=inputs.globals,
            max_steps=steps,
            deadline=clock.now() + HANG_FOLLOWED_S,
            repeats=inputs.repeats and bool(inputs.nondet),
            on_loop=hook,
        )

    def _interpreter(self, *, exact: bool) -> Interpreter:
        """The judge for the function; ``exact``: without overflow of signed numbers."""
        settings = self.settings
        exact = exact and not (settings.mathematical or settings.wrapv)
        if exact not in self._made:
            options = Options(settings.mathematical, settings.wrapv, apart=self.entry != "main")
            module = self.program.source.inlined
            graph = build(module.functions[self.entry], module, options)
            if graph.refused is not None:
                raise NotFollowed(str(graph.refused))
            graph = with_exact_arithmetic(graph) if exact else graph
            self._made[exact] = Interpreter(module, graph, options=options)
        return self._made[exact]


def _given(graph: Flowgraph, inputs: Inputs, arguments: Sequence[Any]) -> list[Argument]:
    """The arguments of the compiled program as those of the interpreter."""
    if inputs.uninitialised:
        raise NotFollowed("what uninitialised variables hold is not followed")
    if inputs.words:
        return _command(graph, inputs)
    if graph.source_name == "main" and not arguments:
        return [0 if parameter.object is None else None for parameter in graph.parameters]
    if len(arguments) != len(graph.parameters):
        raise NotFollowed("a result that is returned in memory is not followed")
    if any(parameter.shared for parameter in graph.parameters):
        raise NotFollowed("parameters that point into the same memory are not followed")
    return [_argument(number, one) for number, one in enumerate(arguments)]


def _command(graph: Flowgraph, inputs: Inputs) -> list[Argument]:
    """The words of argv, with the null pointer behind them."""
    words = [bytes(unrolled(word)) + b"\0" for word in inputs.words]
    pointers = tuple((8 * number, word) for number, word in enumerate(words))
    given: list[Argument] = [len(words), PointedContent(bytes(8 * len(words) + 8), pointers), None]
    return given[: len(graph.parameters)]


def _argument(number: int, given: Any) -> Argument:
    """An argument as the process of native runs takes it, for the interpreter."""
    if isinstance(given, dict):
        return _content(given, str(number))
    number_or_elements: Argument = given
    return number_or_elements


def _content(given: dict[str, Any], name: str) -> PointedContent:
    pointers: list[tuple[int, PointedContent | SameContent]] = []
    for offset, led, at in given["pointers"]:
        if "same" in led:
            pointers.append((offset, SameContent(str(led["same"]), at)))
        elif at != led["start"]:
            raise NotFollowed("a pointer to one byte of memory, by which another one is told, is not followed")
        else:
            pointers.append((offset, _content(led, led["name"])))
    return PointedContent(bytes.fromhex(given["content"]), tuple(pointers), name, given["start"])


class EndlessDriver(Driver):
    """Native runs that do not end, of which the judge says that they never do."""

    def __init__(self, files: Sequence[str], settings: Settings, deadline: float, calls: RepeatingCalls) -> None:
        super().__init__(files, settings.for_runs(settings.source), calls.entry, deadline)
        self.calls = calls
        self.found: EndlessCall | None = None
        """How the run never ends that was replayed last."""
        self._wrapping: Driver | None = None

    def close(self) -> None:
        super().close()
        if self._wrapping is not None:
            self._wrapping.close()

    @property
    def floats(self) -> tuple[str, ...]:
        """None that are tried: the judge does not follow floating-point numbers."""
        return ()

    @property
    def oracle(self) -> Any:
        """The compiled program."""
        fresh = self._oracle is None
        oracle = super().oracle
        if fresh:
            oracle.limits = replace(oracle.limits, seconds=HANG_S)
        return oracle

    def is_there(self, outcome: Outcome) -> bool:
        """Whether a native run has not ended."""
        return outcome.status == "timeout"

    def replay(self, inputs: Inputs) -> tuple[bool, str, Inputs]:
        """Whether a run with these inputs never ends, how it goes on else, and the inputs that it was given."""
        said, longer = "", inputs
        for one in _again(inputs, ends=is_followed(self.calls.program)):
            outcome, longer = self.long_enough(one)
            said = f"{outcome.status} {outcome.detail}".strip()
            if not (self.is_there(outcome) or (is_overflow(outcome.detail) and self._goes_on(longer))):
                continue
            self.found = self.calls.endless(longer, wired(longer.arguments, self.signature))
            if self.found is not None:
                taken = as_taken(tuple(unrolled(longer.nondet)), self.found.inputs)
                if outcome.stdin is not None:
                    return (
                        True,
                        said,
                        replace(longer, nondet=runs_of(outcome.nondet), repeats=False, stdin=outcome.stdin),
                    )
                return True, said, replace(longer, nondet=runs_of(taken), repeats=bool(taken))
            said = f"{said}; {self.calls.why}"
        return False, said, longer

    def _goes_on(self, inputs: Inputs) -> bool:
        """Whether a run that meets an overflow goes on without end where signed numbers wrap around."""
        if self._wrapping is None:
            options = replace(self.options, flags=(*self.options.flags, "-fwrapv"))
            self._wrapping = Driver(self.files, options, self.function, self.deadline)
            oracle = self._wrapping.oracle
            oracle.limits = replace(oracle.limits, seconds=HANG_S)
        outcome, _ = self._wrapping.long_enough(inputs)
        return self.is_there(outcome)

    def drawn(self, graph: Flowgraph, numbers: Sequence[int], count: int, seed: int = 1) -> list[Inputs]:
        """As that of :class:`Driver`; standard input is as long as it may be, where its size is the first input."""
        found = super().drawn(graph, numbers, count, seed)
        if self.function != "main" or STANDARD_INPUT_SIZE not in self.calls.program.source.module.functions:
            return found
        return [replace(one, nondet=joined([RepeatedValue(1, -1), *one.nondet])) for one in found]

    def by_chance(self, graph: Flowgraph, numbers: Sequence[int], count: int, seconds: float) -> Inputs | None:
        """Inputs of a run that never ends, among some drawn at random."""
        drawn = self.drawn(graph, numbers, count)
        tried = 0
        for start in range(0, len(drawn), HANG_BATCH):
            if clock.counted() > self.deadline or tried >= HANG_CANDIDATES:
                return None
            batch = drawn[start : start + HANG_BATCH]
            for one, outcome in zip(batch, self._quick(batch, seconds), strict=True):
                if self.is_there(outcome) and tried < HANG_CANDIDATES:
                    tried += 1
                    if self.replay(one)[0]:
                        return self._smaller(one)
        return None

    def _quick(self, drawn: Sequence[Inputs], seconds: float) -> Sequence[Outcome]:
        kept = self.oracle.limits
        self.oracle.limits = replace(kept, seconds=seconds)
        try:
            found: Sequence[Outcome] = self.oracle.run_many(self.entry, [self._run(one) for one in drawn])
        finally:
            self.oracle.limits = kept
        return found

    def _smaller(self, inputs: Inputs) -> Inputs:
        """The same with shorter arrays and fewer inputs, where such a run never ends, either."""
        tried = list(_shorter(inputs))
        outcomes = self._quick(tried, CHANCE_S)
        likely = [one for one, outcome in zip(tried, outcomes, strict=True) if self.is_there(outcome)]
        return next((one for one in likely[:HANG_CANDIDATES] if self.replay(one)[0]), inputs)


def is_followed(program: AnalyzedProgram) -> bool:
    """Whether what the program reads from standard input are its inputs."""
    return any(name.startswith(STANDARD_INPUT_DRAW) for name in program.source.module.functions)


def _again(inputs: Inputs, *, ends: bool) -> Iterator[Inputs]:
    """The same with the last input again and again, with zeros without end behind the inputs, and, where standard input
    ``ends``, with its end behind them.
    """
    if inputs.nondet and inputs.repeats:
        yield inputs
        return
    if ends:
        yield replace(inputs, nondet=joined([*inputs.nondet, RepeatedValue(1, -1)]), repeats=True)
    if inputs.nondet:
        yield replace(inputs, repeats=True)
    yield replace(inputs, nondet=joined([*inputs.nondet, RepeatedValue(1, 0)]), repeats=True)


def _shorter(inputs: Inputs) -> Iterator[Inputs]:
    """The same with only so many elements of arrays, and inputs."""
    values = list(unrolled(inputs.nondet))
    for count in (1, 2, 3, 4, 6, 8, 12, 16):
        arguments = tuple(
            one if one.elements is None else replace(one, elements=_first(one.elements, count))
            for one in inputs.arguments
        )
        nondet = joined(RepeatedValue(1, value) for value in values[:count])
        yield replace(inputs, arguments=arguments, nondet=nondet)


def _first(runs: Sequence[RepeatedValue], count: int) -> tuple[RepeatedValue, ...]:
    found = []
    for run in runs:
        found.append(RepeatedValue(min(run.count, count), run.value))
        count -= found[-1].count
    return joined(found)
