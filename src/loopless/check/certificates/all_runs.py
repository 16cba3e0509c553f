"""All runs of a program one by one, by the interpreter, where it takes nothing from outside, or little.

A run of such a program is one after the other of lists of inputs, each taken further where a run asks for more. So a
program is right if each of these runs comes to its end without a violation: bounded exhaustive testing, and complete
where no run was cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopless import clock
from loopless import terms as t
from loopless.check.certificates.judge import Judgement
from loopless.check.certificates.property import calls_nothing_back
from loopless.check.interpreter.library import is_library
from loopless.check.interpreter.run import Interpreter, InterpreterRun
from loopless.flowgraph import Options, build
from loopless.flowgraph.memory.initial_memory import begins_at
from loopless.flowgraph.model import THROUGH_POINTER, Allocate, Call, Flowgraph, Havoc, Origin
from loopless.limits.check import MAX_ENUMERATED_RUNS, MAX_ENUMERATED_STEPS, MAX_LISTED_BITS
from loopless.records import dataclass
from loopless.source import SourceProgram
from loopless.source.ir import Module

_ENDS = frozenset({"ok", "aborted", "assumption-failed"})
"""How a run may end."""


@dataclass(frozen=True, slots=True)
class Enumerated:
    """What all runs come to: ``why`` not, empty where each comes to its end. ``runs``: the number of runs; ``steps``:
    the back edges and calls that they took.
    """

    runs: int
    steps: int
    why: str = ""


def open_by(graph: Flowgraph, module: Module) -> str:
    """What else than few inputs decides what runs of a flowgraph do, in words; empty where nothing does.

    Unknown values are none of it: a run of the interpreter ends where one matters.
    """
    if graph.refused is not None:
        return graph.refused.detail
    for block in graph.blocks.values():
        for statement in block.statements:
            match statement:
                case Havoc(origin=Origin.NONDET, target=target, name=name):
                    if not 0 < (target.type.width or 0) <= MAX_LISTED_BITS:
                        return f"{name}, which has more than {1 << MAX_LISTED_BITS} values"
                case Allocate():
                    return "an allocation, which may fail"
                case Call() if not _is_followed(statement, module):
                    return f"a call of {statement.callee}"
                case _:
                    pass
    return ""


def _is_followed(call: Call, module: Module) -> bool:
    """Whether a call does one thing: that of its body, or nothing that matters where it returns an unknown value."""
    if call.callee == THROUGH_POINTER or call.leaves:
        return False
    if is_library(call.callee):  # of what the standard leaves open the interpreter takes one result
        return False
    found = module.functions.get(call.callee)
    if found is not None and not found.is_declaration:
        return True
    return calls_nothing_back(call.callee, module) and not call.writes_memory


class AllRuns:
    """The runs of a program from ``entry``.

    Raises:
        LooplessError: there is no flowgraph of it.
    """

    def __init__(self, program: SourceProgram, entry: str, *, mathematical: bool = False, wrapv: bool = False) -> None:
        self._module, self._entry = program.inlined, entry
        self._options = Options(mathematical, wrapv, apart=False)
        self._graph = build(self._module.functions[entry], self._module, self._options)
        self._begins = begins_at(program.module, entry)

    @property
    def open(self) -> str:
        """Why there are more runs than are taken one by one; empty where there are not."""
        if not self._begins or self._graph.parameters:
            return "the runs begin in more than one state"
        waiting, seen = [self._graph], {self._graph.name}
        while waiting:
            graph = waiting.pop()
            why = open_by(graph, self._module)
            if why:
                return why
            for name in sorted(_called(graph) - seen):
                seen.add(name)
                found = self._module.functions.get(name)
                if found is not None and not found.is_declaration:
                    waiting.append(build(found, self._module, self._options))
        return ""

    def enumerated(self, max_steps: int = MAX_ENUMERATED_STEPS, deadline: float | None = None) -> Enumerated:
        """Whether each run comes to its end: returns, or ends by ``abort`` or ``exit``, or by an assumption that fails.

        ``max_steps``: maximum number of back edges and calls of all runs together; ``deadline``: a time of
        :func:`loopless.clock.now`.
        """
        why = self.open
        if why:
            return Enumerated(0, 0, why)
        interpreter = Interpreter(self._module, self._graph, options=self._options)
        waiting: list[tuple[int, ...]] = [()]
        runs = steps = 0
        while waiting:
            inputs = waiting.pop()
            run = interpreter.run([], inputs, max_steps=max(0, max_steps - steps), deadline=deadline)
            runs, steps = runs + 1, steps + _steps(run)
            if run.wanted is not None:
                values = _values(run.wanted)
                if not values:
                    return Enumerated(runs, steps, "an input has too many values")
                waiting += ((*inputs, value) for value in values)
            elif run.status not in _ENDS:
                given = f" with inputs {list(inputs)}" if inputs else ""
                return Enumerated(runs, steps, f"the run{given} does not come to its end: {run.reason or run.status}")
            if runs + len(waiting) > MAX_ENUMERATED_RUNS:
                return Enumerated(runs, steps, f"there are more than {MAX_ENUMERATED_RUNS:,} runs")
        return Enumerated(runs, steps)


def _values(type: t.IntType) -> Sequence[int]:
    """The values of an input; none where they are too many."""
    low, high = type.min, type.max
    return range(0) if low is None or high is None or (type.width or 0) > MAX_LISTED_BITS else range(low, high + 1)


def _called(graph: Flowgraph) -> set[str]:
    return {s.callee for block in graph.blocks.values() for s in block.statements if isinstance(s, Call)}


def _steps(run: InterpreterRun) -> int:
    return 1 + sum(run.iterations.values()) + sum(run.calls.values())


def judged_runs(program: SourceProgram, entry: str, *, mathematical: bool, wrapv: bool, seconds: float) -> Judgement:
    """Whether all runs come to their end, none by undefined behaviour or by the error function."""
    started = clock.now()
    found = AllRuns(program, entry, mathematical=mathematical, wrapv=wrapv).enumerated(deadline=started + seconds)
    return Judgement(not found.why, (found.why,) if found.why else (), (), found.runs, clock.now() - started)
