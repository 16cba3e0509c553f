"""A summary of all states of a loop's header as it is for the states in which the program enters the loop.

What the code before the loop sets variables to is put in their place: mostly that is shorter, and it is what the reader
of the function wants to know. The summary itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from loopless import terms as t
from loopless.limits.summary import MAX_ENTRY_DISJUNCTS, MAX_FACT_NODES
from loopless.logic import feasible, is_quasi_affine
from loopless.records import dataclass
from loopless.summary.model import Approximation, Case, Cycle, LoopSummary, Step, nodes_of
from loopless.summary.presentation.merging import Merged, merged
from loopless.summary.presentation.readable import readable, without_divided
from loopless.summary.rewrite.entry import fixed_by
from loopless.terms.contents import placed

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class AtEntry:
    """What a summary says of the states in which the program enters the loop.

    ``summary.entered``: what holds of these, as far as it matters here. ``fixed``: what variables are set to before;
    these terms stand in their place.
    """

    summary: LoopSummary
    merged: tuple[Merged, ...]
    fixed: Mapping[t.Var, t.Term]


def at_entry(
    summary: LoopSummary,
    facts: t.Condition,
    values: Mapping[t.Var, t.Term],
    unsaid: Collection[t.Var] = (),
    heard: Callable[[AtEntry], None] = lambda _: None,
) -> AtEntry | None:
    """``summary`` for the entry states: ``facts`` hold there, and each variable of ``values`` equals its term. None
    where that says nothing that matters. What is known of the variables ``unsaid`` is used, but not told. ``heard`` is
    given the same in more words first: few take long to find.
    """
    try:
        return _at_entry(summary, facts, values, frozenset(unsaid), heard)
    except t.TermTooLarge:
        return None


def _at_entry(
    summary: LoopSummary,
    facts: t.Condition,
    values: Mapping[t.Var, t.Term],
    unsaid: frozenset[t.Var],
    heard: Callable[[AtEntry], None],
) -> AtEntry | None:
    occurring = set(_variables(summary))
    known = {**{var: term for var, term in values.items() if _is_plain(term)}, **_constants(facts)}
    fixed = {var: term for var, term in known.items() if var in occurring}
    matter = (occurring - fixed.keys()) | {v for term in fixed.values() for v in term.variables}
    ranges = [_in_range(var, term) for var, term in fixed.items()]
    # What would be longer than the variable does not stand in its place, but still says which cases there are.
    others = (var.eq(values[var]) for var in sorted(occurring - fixed.keys(), key=_key) if var in values)
    longer = [fact for fact in others if sum(1 for _ in t.walk(fact)) <= MAX_FACT_NODES and is_quasi_affine(fact)]
    given, divided = (
        t.conjunction(part for part in others if part.variables and part.variables <= matter)
        for others in ((t.substitute(part, fixed) for part in parts) for parts in (t.conjuncts(facts), longer))
    )
    if not fixed and given & divided is t.TRUE:
        return None
    context = t.conjunction((given, *ranges))
    there = _There(fixed, context & divided).summary(summary)
    told = (*(var.eq(term) for var, term in fixed.items()), *t.conjuncts(given), *t.conjuncts(divided))
    shown = t.conjunction(part for part in told if not part.variables & unsaid)
    own = (part for part in t.conjuncts(summary.entered) if feasible(shown & ~part))
    entered = t.conjunction((*own, shown))
    heard(AtEntry(replace(there, entered=entered), (), fixed))
    there = readable(replace(there, entered=t.TRUE), context, divided=divided)
    cases = merged(there)
    if divided is not t.TRUE:
        cases = tuple(replace(c, when=without_divided(c.when, summary.paths, context, divided)) for c in cases)
    return AtEntry(replace(there, entered=entered), cases, fixed)


def _key(var: t.Var) -> str:
    return var.key


def _constants(facts: t.Condition) -> dict[t.Var, t.Term]:
    return {part: t.const(value) for part, value in fixed_by(facts).items()}


def _in_range(var: t.Var, term: t.Term) -> t.Condition:
    """What the range of a variable says of the term in its place."""
    low, high = t.range_of(var)
    return t.TRUE if low is None or high is None else t.between(low, term, high)


def _is_plain(term: t.Term) -> bool:
    """Whether a term is as good to read as a variable: a number, or a variable moved by one."""
    parts = t.polynomial(term)
    terms = [monomial for monomial in parts if monomial]
    if len(terms) > 1 or any(len(m) != 1 or m[0][1] != 1 or not isinstance(m[0][0], t.Var) for m in terms):
        return False
    return all(abs(parts[monomial]) == 1 for monomial in terms)


def _variables(summary: LoopSummary) -> Iterator[t.Var]:
    for node in nodes_of(summary):
        yield from node.variables
    for case in summary.cases:
        yield from case.then
    found = summary.approximation
    for case in found.cases if found is not None else ():
        yield from case.when.variables | case.facts.variables
        for term in (case.iterations, *case.then.values(), *case.per_path.values()):
            yield from term.variables
    if found is not None:
        yield from found.may_diverge.variables
        for when in (*(part.when for part in found.may_be_undefined), *(part.when for part in found.may_be_lost)):
            yield from when.variables


class _There:
    """Puts what is known of the entry in the place of variables."""

    def __init__(self, fixed: Mapping[t.Var, t.Term], given: t.Condition) -> None:
        self._fixed, self._given = fixed, given

    def summary(self, summary: LoopSummary) -> LoopSummary:
        found = summary.approximation
        return replace(
            summary,
            cases=tuple(self._cases(summary.cases)),
            diverges=self._where(summary.diverges),
            undefined=tuple(replace(u, when=w) for u in summary.undefined if (w := self._where(u.when)) is not t.FALSE),
            residual=tuple(replace(r, when=w) for r in summary.residual if (w := self._where(r.when)) is not t.FALSE),
            approximation=None if found is None else self._approximation(found),
        )

    def _approximation(self, found: Approximation) -> Approximation:
        undefined = (replace(part, when=self._where(part.when)) for part in found.may_be_undefined)
        lost = (replace(part, when=self._where(part.when)) for part in found.may_be_lost)
        return Approximation(
            tuple(self._cases(found.cases)),
            self._where(found.may_diverge),
            tuple(part for part in undefined if part.when is not t.FALSE),
            tuple(part for part in lost if part.when is not t.FALSE),
        )

    def _cases(self, cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            when, facts = self._where(case.when), self._where(case.facts)
            if when is not t.FALSE and facts is not t.FALSE:
                yield replace(
                    case,
                    when=when,
                    facts=facts,
                    then=self._terms(case.then),
                    iterations=self._at(case.iterations),
                    per_path=self._terms(case.per_path),
                    totals=self._terms(case.totals),
                    result=None if case.result is None else self._at(case.result),
                    trace=tuple(map(self._step, case.trace)),
                    contents=None if case.contents is None else placed(case.contents, self._fixed),
                )

    def _terms(self, terms: Mapping[_Key, t.Term]) -> dict[_Key, t.Term]:
        return {key: self._at(term) for key, term in terms.items()}

    def _at(self, term: t.Term) -> t.Term:
        return t.substitute(term, self._fixed)

    def _step(self, step: Step) -> Step:
        times = None if step.times is None else self._at(step.times)
        if isinstance(step, Cycle):
            return Cycle(tuple(map(self._step, step.body)), times)
        return replace(step, times=times)

    def _where(self, when: t.Condition) -> t.Condition:
        """The condition at the entry; false where no entry state fulfils it."""
        there = t.substitute(when, self._fixed)
        parts = t.disjuncts(there)
        if there is t.FALSE or len(parts) > MAX_ENTRY_DISJUNCTS:
            return there
        return t.disjunction(part for part in parts if feasible(part & self._given))
