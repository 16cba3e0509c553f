"""Cases that come to the same, shown as one: equal exits, exit values and numbers of iterations on their domains.

A method splits where its formulas differ, not where the answers do: for x == n - 1 the values x + 1 and n are the same.
Merging changes nothing of the summary; it is a second view of its cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from loopless import terms as t
from loopless.limits.summary import (
    MAX_COMPARED_GROUPS,
    MERGING_OPERATIONS,
    UNION_OPERATIONS,
    UNION_SHORTENING_OPERATIONS,
)
from loopless.logic import (
    BudgetExceeded,
    NotPresburger,
    Point,
    Region,
    budget,
    equal_where,
    may_be_equal,
    sample_points,
    shortest_where,
    simplify,
)
from loopless.paths.model import Exit
from loopless.records import dataclass
from loopless.summary.model import Case, Cycle, Interleaving, LoopSummary, PathRun, Step
from loopless.summary.presentation.contents import same_where
from loopless.summary.presentation.readable import Guards


@dataclass(frozen=True, slots=True)
class Traced:
    """Cases of one trace: their numbers, the union of their conditions, and the trace with its exit path."""

    cases: tuple[int, ...]
    when: t.Condition
    trace: tuple[Step, ...]
    exit_path: str


@dataclass(frozen=True, slots=True)
class Merged:
    """Cases of one transformer, all of them ``exact`` or none. ``then`` is what :meth:`Summary.known` gives, right for
    all of them, and so is ``contents``, as :class:`Case` has it.
    """

    traces: tuple[Traced, ...]
    when: t.Condition
    then: Mapping[t.Var, t.Term]
    exit: Exit
    iterations: t.Term
    result: t.Term | None
    totals: Mapping[str, t.Term] = field(default_factory=dict)
    exact: bool = True
    contents: t.Contents | None = None

    @property
    def cases(self) -> tuple[int, ...]:
        """The numbers of the cases, from 0."""
        return tuple(sorted(number for traced in self.traces for number in traced.cases))


@dataclass(slots=True)
class _Domain:
    """Where a case holds."""

    when: t.Condition
    region: Region | None
    samples: tuple[Point, ...]


@dataclass(slots=True)
class _Group:
    """Cases found equal so far; ``values``, ``contents`` and ``traces`` hold for all of them."""

    members: list[int]
    values: Mapping[str, t.Term]
    contents: t.Contents | None = None
    traces: list[_Trace] = field(default_factory=list)


@dataclass(slots=True)
class _Trace:
    members: list[int]
    steps: tuple[Step, ...]
    exit_path: str


def merged(summary: LoopSummary, operations: int = MERGING_OPERATIONS) -> tuple[Merged, ...]:
    """The cases of ``summary``, each in exactly one group, groups in the order of their first cases."""
    return _Merging(summary, operations).groups()


def alone(number: int, summary: LoopSummary) -> Merged:
    """The case of that number by itself."""
    case = summary.cases[number]
    traced = Traced((number,), case.when, folded(case.trace), case.exit_path)
    then = summary.known(case)
    told = (case.iterations, case.result, case.totals, case.exact, case.contents)
    return Merged((traced,), case.when, then, case.exit, *told)


def folded(trace: Sequence[Step]) -> tuple[Step, ...]:
    """The trace with rounds that stand beside their cycle taken into it: (2 1*)^k 2 1 is (2 1*)^(k + 1)."""
    steps = list(trace)
    index = 0
    while index < len(steps):
        step = steps[index]
        if isinstance(step, Cycle) and step.times is not None:
            size = len(step.body)
            more = replace(step, times=step.times + 1)
            if _is_round(step.body, steps[index + 1 : index + 1 + size]):
                steps[index : index + 1 + size] = [more]
                continue
            if index >= size and _is_round(step.body, steps[index - size : index]):
                steps[index - size : index + 1] = [more]
                index -= size
                continue
        index += 1
    return tuple(steps)


def _is_round(body: Sequence[Step], steps: Sequence[Step]) -> bool:
    """Whether ``steps`` are what the body of a cycle repeats; where it leaves a number open any will do."""
    return len(body) == len(steps) and all(
        _word(one) == _word(other) and (one.times is None or one.times is other.times)
        for one, other in zip(body, steps, strict=True)
    )


class _Merging:
    def __init__(self, summary: LoopSummary, operations: int) -> None:
        self.summary = summary
        self.operations = operations
        self.guards = Guards.of(summary.paths)
        self.domains: dict[int, _Domain] = {}

    def groups(self) -> tuple[Merged, ...]:
        groups: list[_Group] = []
        # The general cases first: their formulas hold for the special ones, two special ones have none in common.
        order = sorted(range(len(self.summary.cases)), key=lambda n: (_pinned(self.summary.cases[n].when), n))
        left = list(order)
        try:
            with budget(self.operations):
                while left:
                    self._add(left[0], groups)
                    del left[0]
                self._join(groups)
        except BudgetExceeded:
            groups += [self._lone(number) for number in left]
        groups.sort(key=lambda group: min(group.members))
        with budget(self.operations):
            return tuple(self._finished(group) for group in groups)

    def _lone(self, number: int) -> _Group:
        case = self.summary.cases[number]
        trace = _Trace([number], folded(case.trace), case.exit_path)
        return _Group([number], _values(self.summary, case), case.contents, [trace])

    # -- transformers --------------------------------------------------------------------------------------------------

    def _add(self, number: int, groups: list[_Group]) -> None:
        case = self.summary.cases[number]
        self.domains[number] = _domain(case.when)
        lone = self._lone(number)
        if not any(self._joined(group, lone) for group in groups):
            groups.append(lone)

    def _join(self, groups: list[_Group]) -> None:
        """Groups that a later member has made alike."""
        index = 0
        while index < len(groups) <= MAX_COMPARED_GROUPS:
            group = groups[index]
            if any(self._joined(other, group) for other in groups if other is not group):
                del groups[index]
                index = 0
            else:
                index += 1

    def _joined(self, group: _Group, other: _Group) -> bool:
        """Whether ``other`` comes to the same as ``group``, which then has its members too."""
        first, second = self.summary.cases[group.members[0]], self.summary.cases[other.members[0]]
        if first.exit != second.exit or first.exact is not second.exact or set(group.values) != set(other.values):
            return False
        common = self._common(group.values, group.members, other.values, other.members)
        if common is None:
            return False
        options = ((group.contents, other.members, other.contents), (other.contents, group.members, group.contents))
        fitting = [one for one, numbers, same in options if self._same_contents(one, same, numbers)]
        if not fitting:
            return False
        traces = group.traces
        for trace in other.traces:
            traces = self._with_trace(trace, traces)
        # Only now, since the budget may run out before.
        group.members, group.values, group.traces = [*group.members, *other.members], common, traces
        group.contents = fitting[0]
        return True

    def _same_contents(self, left: t.Contents | None, right: t.Contents | None, numbers: Sequence[int]) -> bool:
        """Whether memory holds the same by both in the cases of these numbers."""
        if left is None or right is None:
            return left is right
        return all(same_where(left, right, self.domains[number].when) for number in numbers)

    def _common(
        self, left: Mapping[str, t.Term], lefts: list[int], right: Mapping[str, t.Term], rights: list[int]
    ) -> dict[str, t.Term] | None:
        """Values that are right for both, name by name; None where there are none among the two."""
        for name, term in left.items():
            apart = [n for n in (*lefts, *rights) if not may_be_equal(term, right[name], self.domains[n].samples)]
            if set(apart) & set(lefts) and set(apart) & set(rights):
                return None
        found = {}
        for name, term in left.items():
            candidates = [(term, rights), (right[name], lefts)]
            candidates.sort(key=lambda candidate: len(t.text(candidate[0])))
            valid = (
                one for one, others in candidates if all(self._equal(term, right[name], number) for number in others)
            )
            common = next(valid, None)
            if common is None:
                return None
            found[name] = common
        return found

    def _equal(self, left: t.Term, right: t.Term, number: int) -> bool:
        domain = self.domains[number]
        return may_be_equal(left, right, domain.samples) and equal_where(left, right, domain.when, domain.region)

    # -- traces ---------------------------------------------------------------------------------------------------

    def _with_trace(self, new: _Trace, traces: list[_Trace]) -> list[_Trace]:
        """The traces with one more, as one of them where it is the same."""
        for index, trace in enumerate(traces):
            if trace.exit_path != new.exit_path:
                continue
            steps = None
            if self._same_trace(trace.steps, new.steps, new.members):
                steps = trace.steps
            elif self._same_trace(trace.steps, new.steps, trace.members):
                steps = new.steps
            if steps is not None:
                joined = _Trace([*trace.members, *new.members], steps, trace.exit_path)
                return [*traces[:index], joined, *traces[index + 1 :]]
        return [*traces, new]

    def _same_trace(self, left: Sequence[Step], right: Sequence[Step], numbers: list[int]) -> bool:
        return all(self._same_word(left, right, number) for number in numbers)

    def _same_word(self, left: Sequence[Step], right: Sequence[Step], number: int) -> bool:
        """Whether the two are the same word for each entry value of a case: parts of length 0 do not count."""
        if not left and not right:
            return True
        if left and right and _word(left[0]) == _word(right[0]) and self._same_times(left[0], right[0], number):
            return self._same_word(left[1:], right[1:], number)
        return self._same_unrolled(left, right, number) or self._same_unrolled(right, left, number)

    def _same_unrolled(self, left: Sequence[Step], right: Sequence[Step], number: int) -> bool:
        """The same where the first part of ``left`` is empty, or a cycle whose few rounds ``right`` has one by one."""
        if not left or left[0].times is None:
            return False
        if self._equal(left[0].times, t.ZERO, number):
            return self._same_word(left[1:], right, number)
        if not isinstance(left[0], Cycle):
            return False
        body = left[0].body
        rounds = 0
        while _is_round(body, right[rounds * len(body) : (rounds + 1) * len(body)]):
            rounds += 1
        if rounds == 0 or not self._equal(left[0].times, t.const(rounds), number):
            return False
        return self._same_word(left[1:], right[rounds * len(body) :], number)

    def _same_times(self, left: Step, right: Step, number: int) -> bool:
        if left.times is None or right.times is None:
            return left.times is right.times
        return self._equal(left.times, right.times, number)

    # -- results --------------------------------------------------------------------------------------------------

    def _finished(self, group: _Group) -> Merged:
        cases = self.summary.cases
        first = cases[group.members[0]]
        when = self._union(group.members)
        values = {name: shortest_where(term, when) for name, term in group.values.items()}
        known = self.summary.known(first)
        ordered = sorted(group.traces, key=lambda trace: min(trace.members))
        traces = [
            Traced(tuple(sorted(value.members)), self._union(value.members), value.steps, value.exit_path)
            for value in ordered
        ]
        return Merged(
            tuple(traces),
            when,
            {var: values[var.key] for var in known},
            first.exit,
            values[_ITERATIONS],
            values.get(_RESULT),
            {name: values[_total(name)] for name in first.totals},
            first.exact,
            group.contents,
        )

    def _union(self, members: Sequence[int]) -> t.Condition:
        """The union of the cases' conditions, in few words."""
        if len(members) == 1:
            return self.summary.cases[members[0]].when
        plain = t.disjunction(self.summary.cases[n].when for n in sorted(members))
        try:
            with budget(UNION_OPERATIONS):
                whole = Region.of(plain).joined()
                if whole.parts == 1:
                    return self.guards.arranged(whole.condition())
        except (BudgetExceeded, NotPresburger):
            pass
        return self.guards.arranged(simplify(plain, operations=UNION_SHORTENING_OPERATIONS))


def _pinned(when: t.Condition) -> int:
    return sum(isinstance(part, t.Compare) and part.relation == "eq" for part in t.conjuncts(when))


_ITERATIONS = "#iterations"
_RESULT = "#result"


def _total(loop: str) -> str:
    return f"#iterations of {loop}"


def _values(summary: LoopSummary, case: Case) -> dict[str, t.Term]:
    """All that must agree, by keys that no variable has where it is not about one."""
    found = {var.key: shortest_where(term, case.when) for var, term in summary.known(case).items()}
    found[_ITERATIONS] = shortest_where(case.iterations, case.when)
    found |= {_total(name): shortest_where(term, case.when) for name, term in case.totals.items()}
    if case.result is not None:
        found[_RESULT] = shortest_where(case.result, case.when)
    return found


def _domain(when: t.Condition) -> _Domain:
    try:
        region = Region.of(when)
        return _Domain(when, region, sample_points(region))
    except NotPresburger:
        return _Domain(when, None, ())


def _word(step: Step) -> tuple[object, ...]:
    """What a part of a trace repeats."""
    match step:
        case PathRun():
            return ("run", step.path)
        case Cycle():
            return ("cycle", *((_word(inner), inner.times) for inner in step.body))
        case Interleaving():
            return ("interleaving", step.paths)
