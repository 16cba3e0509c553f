"""The disjunctive summary of a loop: cases and regions that partition the entry states."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import field, replace
from typing import TypeVar

from loopless import terms as t
from loopless.flowgraph.callees.streams import stream_of
from loopless.flowgraph.model import OBJECT_PART, LoopInfo
from loopless.paths.model import Exit, LoopPaths
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.terms.contents import nodes_in, placed, reader_behind, variables_in

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class PathRun:
    """``times`` ≥ 0 iterations of one path in a row; None inside a cycle, where each round has its own number."""

    path: str
    times: t.Term | None


@dataclass(frozen=True, slots=True)
class Cycle:
    """``times`` rounds of ``body``; None inside a cycle, where each round has its own number."""

    body: tuple[Step, ...]
    times: t.Term | None


@dataclass(frozen=True, slots=True)
class Interleaving:
    """``times`` iterations of several paths that take turns in an order that the values decide: an oscillation."""

    paths: tuple[str, ...]
    times: t.Term | None


Step = PathRun | Cycle | Interleaving
"""One part of a trace."""


@dataclass(frozen=True, slots=True)
class Case:
    """For entry values that satisfy ``when``: the values ``then`` at ``exit``, after ``iterations`` taken back edges.

    ``then`` has the variables that change, among those asked for or used behind the exit; :meth:`Summary.known` adds
    those that keep their values. ``per_path`` counts the iterations of each path by its id; one that is missing has no
    closed form. ``trace`` is the path expression: s1 (s2 s1)* as a run and a cycle.
    ``result``: the value returned, for exits of kind "return". ``assumptions``: what the case takes for granted.
    ``totals``: by the name of each loop inside, how many iterations it takes in all; one that is missing has no closed
    form. ``exact``: whether the case is an equivalence: given the assumptions, every run from an entry state that
    satisfies ``when`` ends exactly so. Otherwise it is an over-approximation: a run from there may end otherwise or
    not at all, and nothing is claimed of it. ``contents``: what memory holds at the exit, over what it held at the
    entry; None where nothing is told of memory that the loop writes. An object that it does not have keeps its
    content, and a layer without a value says which elements are not told.

    The cases of an :class:`Approximation` are relations: ``free`` are variables of their own for what the case does
    not name (how often a path is taken, final values), and all its terms may speak of them. A run from a state in
    ``when`` that leaves as the case says does so with some values of ``free`` that satisfy ``facts``; each of them is
    itself an entry of ``then`` or ``per_path``, or the result, so that a run tells its value. Several such cases may
    speak of one state.
    """

    when: t.Condition
    then: Mapping[t.Var, t.Term]
    exit: Exit
    exit_path: str
    iterations: t.Term
    per_path: Mapping[str, t.Term]
    trace: tuple[Step, ...]
    result: t.Term | None = None
    assumptions: tuple[str, ...] = ()
    totals: Mapping[str, t.Term] = field(default_factory=dict)
    exact: bool = True
    free: tuple[t.Var, ...] = ()
    facts: t.Condition = t.TRUE
    contents: t.Contents | None = None


@dataclass(frozen=True, slots=True)
class Residual:
    """Entry values about which nothing is said, and why."""

    when: t.Condition
    why: Refused


@dataclass(frozen=True, slots=True)
class Undefined:
    """Entry values from which the run meets undefined behaviour of the ``kind`` at ``line``.

    ``line`` is 0 where it may be one of several, the ``kind`` then "undefined-behaviour" if these are of several kinds.
    """

    when: t.Condition
    kind: str
    line: int


def first_to_fail(exits: Collection[Exit]) -> tuple[str, int]:
    """Kind and line of the first of several checks to fail, in the terms of :class:`Undefined`."""
    kinds = {exit.detail for exit in exits}
    lines = {exit.line for exit in exits}
    return kinds.pop() if len(kinds) == 1 else "undefined-behaviour", lines.pop() if len(lines) == 1 else 0


@dataclass(frozen=True, slots=True)
class Approximation:
    """What runs from the states of a summary's ``residual`` may do: a relation that contains every one of them.

    Each run from such a state leaves as one of ``cases`` says, or never leaves, which it does only where
    ``may_diverge`` holds, or meets undefined behaviour of a kind and in a line that ``may_be_undefined`` has where its
    condition holds, or comes to what is not followed, for the reason and where the condition of one of ``may_be_lost``
    holds. None of these says that there is such a run.
    """

    cases: tuple[Case, ...]
    may_diverge: t.Condition
    may_be_undefined: tuple[Undefined, ...] = ()
    may_be_lost: tuple[Residual, ...] = ()


Link = tuple[int, str]
"""A place behind a pointer: the number of bytes, and how C names it."""


@dataclass(frozen=True, slots=True)
class Walk:
    """The pointer of the halves ``owner`` and ``offset``, which goes along by the ``link``. ``steps``: how far it is
    ahead of where it was at the entry. Or, with a name for its place in ``made``, an allocation that sets ``owner``;
    ``steps`` says how many objects it has made.
    """

    owner: t.Var
    offset: t.Var
    link: Link
    steps: t.Var
    made: str = ""

    @property
    def called(self) -> str:
        """How reads call its nodes."""
        return t.made_called(self.made) if self.made else t.list_called(self.pointer, self.name)

    @property
    def name(self) -> str:
        """How users call the link."""
        return self.link[1] or f"byte {self.link[0]}"

    @property
    def pointer(self) -> str:
        """How users call the pointer."""
        return self.owner.name.removesuffix(OBJECT_PART)


@dataclass(frozen=True, slots=True)
class ListValue:
    """What reads of one name stand for: of node number k of the list of ``walk`` what lies at the end of ``way``, where
    each but the last place holds the pointer that leads on; nothing in ``way`` stands for the node itself. ``part``:
    the half of a pointer.
    """

    walk: Walk
    way: tuple[int, ...]
    part: str


@dataclass(frozen=True, slots=True)
class LoopSummary:
    """What a loop does, as a function of its entry values.

    For a deterministic loop every entry state lies in exactly one of the cases' ``when``, ``diverges``, ``undefined``,
    ``residual``. ``method``: the name of the method that gave it, or of those that gave its parts. ``entered``: what
    holds wherever the program enters the loop; the summary speaks of such states only. ``approximation``: what runs
    from states in ``residual`` may do. It is apart from the cases and regions, which are as they are without it, so
    that nobody takes it for what surely happens. ``untold``: by object why its elements behind the loop are not told,
    or by the empty name why those of none are. ``lists``: what reads stand for that are of nodes of lists, by their
    names; where there are any, all that paths take from outside is such a value.
    """

    loop: LoopInfo
    paths: LoopPaths
    cases: tuple[Case, ...]
    diverges: t.Condition
    undefined: tuple[Undefined, ...]
    residual: tuple[Residual, ...]
    method: str
    assumptions: tuple[str, ...] = ()
    entered: t.Condition = t.TRUE
    approximation: Approximation | None = None
    untold: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, ListValue] = field(default_factory=dict)

    def __call__(self, reader: t.Reader | None = None, /, **entry: int) -> dict[str, int]:
        """The variables at the exit for these entry values, by name, in time that does not grow with the iterations.

        Without the variables of the state that are neither asked for nor used behind the loop. ``reader`` says what
        memory holds.
        Raises ValueError where the loop does not leave from there, or nothing exact is said, with the reason; KeyError
        for a variable without a value.
        """
        values = self._by_variable(entry)
        return self.values_behind(self.case_at(values, reader), values, reader)

    def memory(self, reader: t.Reader, /, **entry: int) -> t.Reader:
        """What memory holds at the exit for these entry values, where ``reader`` says what it holds at the entry.

        Raises as a call does, and ValueError where nothing is told of memory. The reader raises
        :class:`loopless.terms.EvaluationError` for what is not told.
        """
        values = self._by_variable(entry)
        contents = self.case_at(values, reader).contents
        if contents is None:
            raise ValueError("nothing is told of what memory holds behind the loop")
        return reader_behind(contents, values, reader)

    def values_behind(self, case: Case, values: Mapping[t.Var, int], reader: t.Reader | None = None) -> dict[str, int]:
        """The variables at the exit for entry values of this case, by name."""
        followed = {*self.paths.state, *self.paths.invariants}
        unstated = {var.name for var in self.paths.state} - {var.name for var in self.known(case)}
        # The paths do not follow all of which contents speak: such a variable may change.
        unstated |= {var.name for other in self.cases for var in variables_in(other.contents or {}) - followed}
        told = ((var, term) for var, term in case.then.items() if stream_of(var) is None)
        after = {var.name: t.evaluate(term, values, reader) for var, term in told}
        return {var.name: value for var, value in values.items() if var.name not in unstated} | after

    def case_at(self, values: Mapping[t.Var, int], reader: t.Reader | None = None) -> Case:
        """The case of these entry values. Raises ValueError as a call does."""
        here = t.Valuation(values, reader)
        if not here.holds(self.entered):
            raise ValueError(f"the program enters the loop only with {self.entered}")
        for case in self.cases:
            if here.holds(case.when):
                if not case.exact:
                    raise ValueError("the case of these values is an over-approximation")
                return case
        if here.holds(self.diverges):
            raise ValueError("the loop never ends from these values")
        for undefined in self.undefined:
            if here.holds(undefined.when):
                place = f" in line {undefined.line}" if undefined.line else ""
                raise ValueError(f"the run meets undefined behaviour ({undefined.kind}){place}")
        raise ValueError("; ".join(str(residual.why) for residual in self.residual))

    def _by_variable(self, entry: Mapping[str, int]) -> dict[t.Var, int]:
        """The values of variables from those of their names. Raises KeyError."""
        by_name = {var.name: var for path in self.paths.all for var in path.condition.variables | set(path.update)}
        by_name |= {v.name: v for path in self.paths.all for term in path.update.values() for v in term.variables}
        by_name |= {var.name: var for case in self.cases for var in variables_in(case.contents or {})}
        return {by_name[name]: value for name, value in entry.items()}

    def known(self, case: Case) -> dict[t.Var, t.Term]:
        """What a case says of the values at its exit: ``then``, and the variables of the state that keep theirs.

        A variable of the state that is neither asked for nor used behind the exit is missing: it may have any value.
        """
        outputs = next((path.outputs for path in self.paths.exits if path.id == case.exit_path), frozenset())
        found = {var: var for var in self.paths.state if var in outputs} | dict(case.then)
        return {var: found[var] for var in sorted(found, key=lambda var: var.key)}

    def __str__(self) -> str:
        lines = [] if self.entered is t.TRUE else [f"entered with {self.entered}"]
        for case in self.cases:
            then = (
                ", ".join((*(f"{var}' = {term}" for var, term in case.then.items()), *_elements(case))) or "no change"
            )
            about = "" if case.exact else " [over-approximate]"
            lines.append(f"when {case.when}: {then} ({case.iterations} iterations, {case.exit.kind} exit){about}")
        if self.diverges is not t.FALSE:
            lines.append(f"diverges when {self.diverges}")
        lines += [f"undefined when {undefined.when} ({undefined.kind})" for undefined in self.undefined]
        lines += [f"unknown when {residual.when}: {residual.why}" for residual in self.residual]
        if self.approximation is not None:
            lines += _lines_of(self.approximation)
        return "\n".join(lines)

    @property
    def complete(self) -> bool:
        """Whether something is said about every entry state, of those in :attr:`entered`."""
        return not self.residual

    @property
    def exact(self) -> bool:
        """Whether all that is said is an equivalence: every case is, and there is no approximation."""
        return self.approximation is None and all(case.exact for case in self.cases)


def _elements(case: Case) -> Iterator[str]:
    """What memory holds, by its bytes, for developers."""
    for array, layers in (case.contents or {}).items():
        for layer in layers:
            value = "unknown" if layer.value is None else layer.value
            yield f"{layer.type} at {array} + {layer.offset} = {value} for {layer.where}"


def _lines_of(approximation: Approximation) -> list[str]:
    lines: list[str] = []
    for case in approximation.cases:
        then = ", ".join(f"{var}' = {term}" for var, term in case.then.items()) or "no change"
        line = f"may leave when {case.when}: {then} ({case.iterations} iterations, {case.exit.kind} exit)"
        lines.append(line if case.facts is t.TRUE else f"{line} such that {case.facts}")
    if approximation.may_diverge is not t.FALSE:
        lines.append(f"may diverge when {approximation.may_diverge}")
    lines += [f"may be undefined when {u.when} ({u.kind})" for u in approximation.may_be_undefined]
    lines += [f"may be lost when {lost.when}: {lost.why}" for lost in approximation.may_be_lost]
    return lines


Outcome = LoopSummary | Refused
"""What summarizing a loop gives."""


def nodes_of(summary: LoopSummary) -> Iterator[t.Term | t.Condition]:
    """All conditions and terms of the cases and regions."""
    yield summary.diverges
    for case in summary.cases:
        yield case.when
        yield case.iterations
        for terms in (case.then.values(), case.per_path.values(), case.totals.values()):
            yield from terms
        if case.result is not None:
            yield case.result
        yield from nodes_in(case.contents or {})
    yield from (undefined.when for undefined in summary.undefined)
    yield from (residual.when for residual in summary.residual)


def said(summary: LoopSummary, of: Callable[[t.Node], t.Node], left_out: Collection[t.Var] = ()) -> LoopSummary:
    """The summary with ``of`` applied to all that it says of the entry, but to contents of memory. It does not tell
    what variables ``left_out`` hold at the exit. Raises :class:`loopless.terms.TermTooLarge`.
    """

    def term(node: t.Term) -> t.Term:
        found = of(node)
        assert isinstance(found, t.Term)
        return found

    def where(condition: t.Condition) -> t.Condition:
        found = of(condition)
        assert isinstance(found, t.Condition)
        return found

    def step(one: Step) -> Step:
        times = None if one.times is None else term(one.times)
        if isinstance(one, Cycle):
            return replace(one, body=tuple(map(step, one.body)), times=times)
        return replace(one, times=times)

    def in_case(case: Case) -> Case:
        return replace(
            case,
            when=where(case.when),
            then={var: term(value) for var, value in case.then.items() if var not in left_out},
            iterations=term(case.iterations),
            per_path={path: term(count) for path, count in case.per_path.items()},
            totals={loop: term(count) for loop, count in case.totals.items()},
            trace=tuple(map(step, case.trace)),
            result=None if case.result is None else term(case.result),
            facts=where(case.facts),
        )

    about = summary.approximation
    if about is not None:
        about = Approximation(
            tuple(map(in_case, about.cases)),
            where(about.may_diverge),
            tuple(replace(part, when=where(part.when)) for part in about.may_be_undefined),
            tuple(replace(part, when=where(part.when)) for part in about.may_be_lost),
        )
    return replace(
        summary,
        cases=tuple(map(in_case, summary.cases)),
        diverges=where(summary.diverges),
        undefined=tuple(replace(part, when=where(part.when)) for part in summary.undefined),
        residual=tuple(replace(part, when=where(part.when)) for part in summary.residual),
        entered=where(summary.entered),
        approximation=about,
    )


def with_arrays(summary: LoopSummary, names: Mapping[str, str]) -> LoopSummary:
    """The cases and regions where the arrays ``names`` are called as these say; without what is beside them."""
    if not names:
        return summary

    def of(terms: Mapping[_Key, t.Term]) -> dict[_Key, t.Term]:
        return {key: t.renamed_arrays(term, names) for key, term in terms.items()}

    cases = tuple(
        replace(
            case,
            when=t.renamed_arrays(case.when, names),
            then=of(case.then),
            iterations=t.renamed_arrays(case.iterations, names),
            per_path=of(case.per_path),
            totals=of(case.totals),
            result=None if case.result is None else t.renamed_arrays(case.result, names),
            contents=None if case.contents is None else placed(case.contents, {}, names),
        )
        for case in summary.cases
    )
    return replace(
        summary,
        cases=cases,
        diverges=t.renamed_arrays(summary.diverges, names),
        undefined=tuple(replace(part, when=t.renamed_arrays(part.when, names)) for part in summary.undefined),
        residual=tuple(replace(part, when=t.renamed_arrays(part.when, names)) for part in summary.residual),
        approximation=None,
    )
