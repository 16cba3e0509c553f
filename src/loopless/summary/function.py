"""The summary of a function: cases and regions that partition its entry states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from loopless import terms as t
from loopless.flowgraph.callees.streams import stream_of
from loopless.flowgraph.model import MemoryObject, Parameter, VariableInfo
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary.model import Residual, Undefined
from loopless.terms.contents import nodes_in, reader_behind


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """A value that a function's summary speaks of.

    ``kind``: "parameter", "global" and "pointee" (their values at entry), "uninitialised" (what a local holds before it
    is written), "nondet" (an input that is read once, outside of loops), "call" (the result or transformer of one call
    whose body is not known). ``number`` counts the nondeterministic inputs from 1, in the order in which they are read.
    """

    var: t.Var
    kind: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class PassedLoop:
    """A loop on the way of a case: the loop's name, and the number (from 1) of the case of its summary."""

    loop: str
    case: int


@dataclass(frozen=True, slots=True)
class FunctionCase:
    """For entry values that satisfy ``when``: how the run ends, and with which values.

    ``kind``: "return", "abort", "exit", "error", or "assumption" (there is no such run). ``result`` is the value
    returned; for a pointer it is the byte offset, and ``points_to`` names the object. ``then``: the final values of the
    globals and pointees that change. ``iterations``: taken back edges by the loop's name; those that are not in it are
    not entered, or ``uncounted``: entered perhaps, and how often they are taken is not known. ``inputs``: the
    nondeterministic inputs that are read, in their order. ``passed``: the loops on the ways that the case stands for,
    with the cases of their summaries; ``lines``: the source lines on these ways; ``line``: where the run ends.
    ``exact``: whether, given the assumptions, every run from an entry state that satisfies ``when`` ends exactly so;
    not where a case of a loop or of a called function on the way is not exact. ``contents``: what memory that callers
    see holds at the end, over what it held at the entry; None where nothing is told of memory. An object that it does
    not have keeps its content, and a layer without a value says which elements are not told. ``node``: of a
    pointer to a node of a list, or null, into which object it points. ``nodes``: where only members of nodes of lists
    are written, which may be any objects, what they hold at the end, by the names that reads have of them.
    """

    when: t.Condition
    kind: str
    line: int
    result: t.Term | None
    points_to: str
    then: Mapping[t.Var, t.Term]
    iterations: Mapping[str, t.Term]
    inputs: tuple[t.Var, ...]
    passed: tuple[PassedLoop, ...]
    lines: tuple[int, ...]
    assumptions: tuple[str, ...] = ()
    uncounted: frozenset[str] = frozenset()
    exact: bool = True
    contents: t.Contents | None = None
    nodes: t.Contents = field(default_factory=dict)
    node: t.Term | None = None

    @property
    def told(self) -> t.Contents:
        """What objects and nodes of lists are told to hold at the end."""
        return {**(self.contents or {}), **self.nodes}


@dataclass(frozen=True, slots=True)
class Diverges:
    """Entry values from which the run never leaves the loop of this name."""

    when: t.Condition
    loop: str


Region = FunctionCase | Diverges | Undefined | Residual
"""What is said about some entry values."""


def told(region: Region) -> tuple[t.Term, ...]:
    """The terms of a region: iterations, final values, the result."""
    if not isinstance(region, FunctionCase):
        return ()
    result = () if region.result is None else (region.result,)
    return (*region.iterations.values(), *region.then.values(), *result)


@dataclass(frozen=True, slots=True)
class CallSummary:
    """What a call of a function does, as a function of its ``inputs``.

    Every entry state lies in exactly one of the cases' ``when``, ``diverges``, ``undefined``, ``residual``.
    ``place`` is ``file:line:column`` of the function. ``parameters`` are those of the flowgraph; ``shown`` gives the
    source names of variables; ``loops`` names the loops of the function, inner ones included; ``layouts``: what is
    declared in objects, by their names. ``places``: of the variables that it speaks of, those that stand for parts of
    memory, ``objects``: by their numbers, the objects that callers may know, with the names that reads have.
    """

    name: str
    place: str
    parameters: tuple[Parameter, ...]
    inputs: tuple[SummaryInput, ...]
    cases: tuple[FunctionCase, ...]
    diverges: tuple[Diverges, ...]
    undefined: tuple[Undefined, ...]
    residual: tuple[Residual, ...]
    loops: tuple[str, ...]
    shown: Mapping[t.Var, str]
    assumptions: tuple[str, ...] = ()
    layouts: Mapping[str, t.Layout] = field(default_factory=dict)
    places: Mapping[t.Var, VariableInfo] = field(default_factory=dict)
    objects: Mapping[int, MemoryObject] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether something is said about every entry state."""
        return not self.residual

    @property
    def exact(self) -> bool:
        """Whether every case is an equivalence."""
        return all(case.exact for case in self.cases)

    @property
    def reads_streams(self) -> bool:
        """Whether it speaks of values that loops take from outside."""
        nodes = [node for region in self.regions for node in (region.when, *told(region))]
        nodes += [node for case in self.cases for node in nodes_in(case.told)]
        reads = (part for node in nodes for part in t.walk_inside(node) if isinstance(part, t.Read))
        return any(part.array.endswith(t.STREAM) for part in reads)

    @property
    def regions(self) -> tuple[Region, ...]:
        """All parts of the partition."""
        return (*self.cases, *self.diverges, *self.undefined, *self.residual)

    def at(self, values: Mapping[t.Var, int], reader: t.Reader | None = None) -> Region:
        """What is said about these entry values. Raises :class:`loopless.terms.EvaluationError` where a value is
        missing that it takes to tell.
        """
        for region in self.regions:
            if t.holds(region.when, values, reader):
                return region
        raise AssertionError(f"the regions of {self.name} do not cover {values}")

    def __call__(self, reader: t.Reader | None = None, /, **inputs: int) -> dict[str, int]:
        """The outcome of a call, by name: the final values of what changes, and the value returned as ``return``.
        ``reader`` says what memory holds.

        Raises ValueError where the call does not return, or nothing exact is said, with the reason; KeyError for a
        name that is no input; :class:`loopless.terms.EvaluationError` for an input that is needed and not given.
        """
        values = self._by_variable(inputs)
        return self.values_behind(self.returned(values, reader), values, reader)

    def values_behind(
        self, case: FunctionCase, values: Mapping[t.Var, int], reader: t.Reader | None = None
    ) -> dict[str, int]:
        """The outcome of a call for entry values of this case, by name."""
        told = ((var, term) for var, term in case.then.items() if stream_of(var) is None)
        final = {var.name: t.evaluate(term, values, reader) for var, term in told}
        return final if case.result is None else final | {"return": t.evaluate(case.result, values, reader)}

    def memory(self, reader: t.Reader, /, **inputs: int) -> t.Reader:
        """What memory that callers see holds behind the call, where ``reader`` says what it holds at the entry.

        Raises as a call does, and ValueError where nothing is told of memory. The reader raises
        :class:`loopless.terms.EvaluationError` for what is not told.
        """
        values = self._by_variable(inputs)
        contents = self.returned(values, reader).contents
        if contents is None:
            raise ValueError("nothing is told of what memory holds behind the call")
        return reader_behind(contents, values, reader)

    def returned(self, values: Mapping[t.Var, int], reader: t.Reader | None = None) -> FunctionCase:
        """The case of these entry values, which returns. Raises ValueError as a call does."""
        match self.at(values, reader):
            case FunctionCase() as case:
                if not case.exact:
                    raise ValueError("the case of these values is an over-approximation")
                if case.kind != "return":
                    raise ValueError(f"the call ends with {case.kind} in line {case.line}")
                return case
            case Diverges(loop=loop):
                raise ValueError(f"the loop {loop} never ends from these values")
            case Undefined(kind=kind, line=line):
                raise ValueError(f"the run meets undefined behaviour ({kind}) in line {line}")
            case Residual(why=why):
                raise ValueError(str(why))

    def _by_variable(self, inputs: Mapping[str, int]) -> dict[t.Var, int]:
        """The values of inputs from those of their names. Raises KeyError."""
        by_name = {input.var.name: input.var for input in self.inputs}
        by_name |= {p.var.name: p.var for p in self.parameters if p.var is not None}
        return {by_name[name]: value for name, value in inputs.items()}


FunctionOutcome = CallSummary | Refused
"""What summarizing a function gives."""
