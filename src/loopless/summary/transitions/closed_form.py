"""What variables hold after rounds of one update, in a form that is right for every number of rounds from 1 on.

Beside the closed forms of ``recurrences``: a choice by a condition on what does not change is solved on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from loopless import terms as t
from loopless.limits.automaton import MAX_PREFIX
from loopless.limits.summary import MAX_SOLVED_CHOICES
from loopless.logic import Region
from loopless.records import dataclass
from loopless.recurrences import Closed, solve
from loopless.summary.obligations.along_run import Undecided, all_along


@dataclass(frozen=True, slots=True)
class Forms:
    """``values`` of all variables after ``counter`` ≥ 1 rounds, ``lost``: why others have none.

    ``late``: those whose value after no round is not what the form says, with their solutions where these are known.
    """

    counter: t.Var
    values: Mapping[t.Var, t.Term]
    lost: Mapping[t.Var, str]
    late: Mapping[t.Var, Closed | None]

    def along(self, condition: t.Condition) -> tuple[list[t.Condition], t.Condition]:
        """``condition``, on no lost variable, after 0, 1, … rounds as far as the final form is not right; and that
        form, for :attr:`counter` more rounds. Raises :class:`Undecided`.
        """
        late = {v: self.late[v] for v in sorted(condition.variables) if v in self.late}
        if not late:
            return [], t.substitute(condition, self.values)
        start = max(closed.valid_from if closed is not None else MAX_PREFIX + 1 for closed in late.values())
        if start > MAX_PREFIX:
            raise Undecided(f"{t.brief(condition)} takes its final form only after some iterations")
        read = {v: self.values[v] for v in condition.variables if v in self.values}
        last: dict[t.Var, t.Term] = {v: closed.term for v, closed in late.items() if closed and closed.term is not None}
        given = {self.counter: self.counter + start}
        final = {v: t.substitute(term, given) for v, term in {**read, **last}.items()}
        early = []
        for k in range(start):
            values = {v: t.substitute(term, {self.counter: t.const(k)}) for v, term in read.items() if v not in late}
            values |= {v: closed.at(k) for v, closed in late.items() if closed is not None}
            early.append(t.substitute(condition, values))
        return early, t.substitute(condition, final)


def in_all_rounds(
    condition: t.Condition,
    early: Sequence[t.Condition],
    shown: t.Condition,
    counter: t.Var,
    count: t.Term,
    region: Region,
) -> list[t.Condition]:
    """The entry values in ``region`` for which the check ``condition``, ``early`` and ``shown`` as in
    :meth:`Forms.along`, holds in each of ``count`` rounds. Raises :class:`Undecided`.
    """
    met = [count.le(k) | at_k for k, at_k in enumerate(early)]
    met.append(all_along(condition, shown, counter, count - len(early), region))
    return met


def forms_of(update: Mapping[t.Var, t.Term], counter: t.Var, lost: Mapping[t.Var, str]) -> Forms:
    """The forms of an update; ``lost`` are variables about whose update nothing is known."""
    known = dict(update)
    gone = dict(lost)
    reading = True
    while reading:
        reading = False
        for var, term in list(known.items()):
            read = sorted(v for v in term.variables if v in gone)
            if read:
                gone[var] = gone[read[0]]
                del known[var]
                reading = True
    return _by_choices(known, counter, gone, MAX_SOLVED_CHOICES)


def _by_choices(update: Mapping[t.Var, t.Term], counter: t.Var, lost: Mapping[t.Var, str], left: int) -> Forms:
    found = _solved(update, counter, lost)
    choice = next(_choices(update, found.lost), None) if left else None
    if choice is None:
        return found
    obligations = []
    for chosen in (True, False):
        changed = {v: _decided(term, choice, chosen=chosen) for v, term in update.items()}
        obligations.append(_by_choices(changed, counter, lost, left - 1))
    yes, no = obligations
    late = {**dict.fromkeys((*yes.late, *no.late)), **found.late}
    merged = {v: t.ite(choice, yes.values[v], no.values[v]) for v in yes.values if v in no.values}
    return Forms(counter, {**merged, **found.values}, {**no.lost, **yes.lost}, late)


def _choices(update: Mapping[t.Var, t.Term], lost: Mapping[t.Var, str]) -> Iterator[t.Condition]:
    """The conditions on invariants that the updates of ``lost`` variables choose by."""
    for var in sorted(v for v in lost if v in update):
        for node in t.walk(update[var]):
            if isinstance(node, t.Ite) and not node.condition.variables & update.keys():
                yield node.condition


def _decided(term: t.Term, choice: t.Condition, *, chosen: bool) -> t.Term:
    nodes = [node for node in t.walk(term) if isinstance(node, t.Ite) and node.condition is choice]
    return t.replace_terms(term, {node: node.then if chosen else node.otherwise for node in nodes}) if nodes else term


def _solved(update: Mapping[t.Var, t.Term], counter: t.Var, lost: Mapping[t.Var, str]) -> Forms:
    solution = solve(update, counter)
    values: dict[t.Var, t.Term] = {}
    late: dict[t.Var, Closed | None] = {}
    gone = dict(lost) | dict(solution.refused)
    for var, closed in solution.closed.items():
        form = closed_form(closed)
        if form is None:
            gone[var] = f"{var.name} after k iterations is computed by powers of a matrix, which has no printed form"
            continue
        values[var] = form
        if closed.valid_from:
            late[var] = closed
    return Forms(counter, values, gone, late)


def closed_form(closed: Closed) -> t.Term | None:
    """The value after k iterations as one term that is right for every k ≥ 1."""
    if closed.term is None or closed.valid_from > MAX_PREFIX:
        return None
    result = closed.term
    try:
        for k in range(closed.valid_from - 1, 0, -1):
            result = t.ite(t.at_most_zero(closed.counter - k), closed.at(k), result)
    except t.EvaluationError:
        return None
    return result
