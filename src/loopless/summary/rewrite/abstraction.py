"""Names for terms over loop invariants that isl cannot express: n·m as a limit is as good as a variable.

Exact, not an approximation: the name stands for the term everywhere, and the term is put back in the answer. Terms over
what changes become auxiliary variables (:mod:`loopless.summary.rewrite.auxiliary`), where they have a value everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopless import terms as t
from loopless.logic.abstraction import Abstraction
from loopless.summary.rewrite.auxiliary import Auxiliary, total


class NamedTerms:
    """Terms that have been given names, kept consistent over several conditions."""

    def __init__(self, others: Mapping[t.Var, t.Term] | None = None, changing: Iterable[t.Var] = ()) -> None:
        """``others``: further names that are put back, such as those of lifted variables; ``changing``: variables terms
        over which become auxiliary variables.
        """
        self._abstraction = _Naming(frozenset(changing))
        self._others = dict(others or {})

    def named(self, condition: t.Condition) -> t.Condition:
        """``condition`` with each maximal part that is not quasi-affine named."""
        return self._abstraction.condition(condition)

    def named_term(self, term: t.Term) -> t.Term:
        """``term`` with each maximal part that is not quasi-affine named."""
        return self._abstraction.term(term)

    @property
    def terms(self) -> tuple[t.Term, ...]:
        """The terms that have names."""
        return tuple(self._abstraction.unknowns)

    @property
    def variables(self) -> tuple[t.Var, ...]:
        """The names."""
        return tuple(self._abstraction.unknowns.values())

    def bounds(self) -> t.Condition:
        """The ranges of the named terms, on the names."""
        return self._abstraction.bounds()

    def condition(self, condition: t.Condition) -> t.Condition:
        """``condition`` with the terms put back, behind what they need to have a value (a divisor that is not 0)."""
        return t.substitute(self._ordered(condition), self._back())

    def _ordered(self, condition: t.Condition) -> t.Condition:
        named = frozenset(self._abstraction.unknowns.values())
        if condition.variables.isdisjoint(named):
            return condition
        match condition:
            case t.And():
                parts = sorted(condition.args, key=lambda part: not part.variables.isdisjoint(named))
                return t.conjunction(self._ordered(part) for part in parts)
            case t.Or():
                return t.disjunction(self._ordered(part) for part in condition.args)
            case _:
                return condition

    def term(self, term: t.Term) -> t.Term:
        """``term`` with the terms put back."""
        return t.substitute(term, self._back())

    def _back(self) -> dict[t.Var, t.Term]:
        named = {name: term for term, name in self._abstraction.unknowns.items()}
        if not self._others:
            return named
        return {name: t.substitute(term, self._others) for name, term in named.items()} | self._others


class _Naming(Abstraction):
    """Auxiliary variables for terms over what changes, names for the others."""

    def __init__(self, changing: frozenset[t.Var]) -> None:
        super().__init__()
        self._changing = changing

    def _unknown(self, term: t.Term) -> t.Var:
        if not term.variables.isdisjoint(self._changing):
            everywhere = total(term)
            if everywhere is not None:
                return Auxiliary(everywhere)
        return super()._unknown(term)
