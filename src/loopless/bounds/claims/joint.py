"""Claims put together: with lower bounds, over all loops, with bounds on all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.bounds import Bounds, Claim, TermBound, least
from loopless.bounds.asymptotics.compare import lesser
from loopless.bounds.asymptotics.lower import reached
from loopless.bounds.model import by_types, reads
from loopless.flowgraph.model import Assume, Check, Copy, Flowgraph, Load, Statement
from loopless.graphs import components, reachable


def somewhere(found: Claim) -> Claim:
    """The claim; without its bound where that holds for no inputs."""
    if found.upper is None or found.when is not t.FALSE:
        return found
    return Claim(None, never=found.never, gap=found.gap, undefined=found.undefined)


def always(found: Claim) -> t.Term | None:
    """A bound that holds whatever the inputs."""
    return found.upper if found.when is t.TRUE and not found.has_gap else None


def bounded_by_inputs(found: Claim, bounds: Bounds, inputs: frozenset[t.Var]) -> Claim:
    """The claim; where it is no count, and speaks of more than ``inputs``, with a bound that does not, if that tells
    more than the range of a type.
    """
    plain = least(bounds)
    if plain is None or found.exact or found.upper is None or found.upper.variables <= inputs:
        return found
    better = plain.variables <= inputs and not by_types(plain) and always(found) is not None
    return replace(found, upper=plain, method=bounds[0].method) if better else found


def at_most(found: Claim) -> Claim:
    """What a claim says of runs that may end in a call before: no more than that often, and nowhere surely for ever."""
    gap = found.gap | found.never
    return Claim(found.upper, when=found.when, gap=t.TRUE if found.upper is None else gap, method=found.method)


def unless_ended(found: Claim) -> Claim:
    """What a claim about one entry of a loop says where calls in the loop may end the run."""
    exact = found.upper if found.exact and found.gap is t.FALSE else found.completed
    return replace(at_most(found), undefined=found.undefined, completed=exact)


def lacks_lower(found: Claim) -> bool:
    """Whether a claim that is not about some inputs only has no lower bound."""
    return not found.exact and found.lower is t.ZERO and (found.when is t.TRUE or found.upper is None)


def all_runs_count(graph: Flowgraph) -> bool:
    """Whether no run is left out of account, for an assumption or for undefined behaviour."""
    return not any(
        isinstance(s, Assume) or may_be_undefined(s) for block in graph.blocks.values() for s in block.statements
    )


def may_be_undefined(statement: Statement) -> bool:
    """Whether a run may meet undefined behaviour at a statement: a check, a truth value that is read, a copy."""
    match statement:
        case Load(type=type):
            return type.width == 1
        case Copy(apart=apart):
            return apart
        case _:
            return isinstance(statement, Check)


def at_least(found: Claim, iterations: t.Term, *, defined: bool, sure: bool) -> Claim:
    """The claim with a lower bound, which runs that meet undefined behaviour may go below.

    ``defined``: no run meets any; ``sure``: and there are runs that end, whatever the inputs.
    """
    if iterations is t.ZERO:
        return found
    exact = iterations is found.upper and found.gap is t.FALSE and found.never is t.FALSE
    undefined = found.undefined if defined else t.TRUE
    return replace(found, lower=iterations, exact=exact, undefined=undefined, reached=None if sure else t.ZERO)


def added(found: Claim, bounds: Bounds) -> Bounds:
    """What a summary says where no unconditional bound is known."""
    if found.upper is None or least(bounds) is not None or reads(found.upper):
        return ()
    return (TermBound(found.upper, found.when, found.method),)


Apart = Collection[tuple[int, int]]
"""The pairs of loops, by their places in a sequence and in both orders, of which no run comes to both."""


def apart(graph: Flowgraph, names: Sequence[str]) -> Apart:
    """The pairs of loops, by their ``names``, to neither of which a way leads from the other."""
    headers = {loop.name: loop.header for loop in graph.loops}
    blocks = graph.blocks
    behind = {
        header: frozenset(reachable((header,), lambda label: blocks[label].successors)) for header in headers.values()
    }
    once = Counter(loop.name for loop in graph.loops)  # of loops that share a name nobody knows which one is meant
    places = [(at, headers[name]) for at, name in enumerate(names) if once[name] == 1]
    return frozenset(
        (i, j) for i, one in places for j, other in places if other not in behind[one] and one not in behind[other]
    )


def in_all(terms: Sequence[t.Term], apart: Apart = ()) -> t.Term:
    """Bounds on the iterations of several loops, put together: the larger one where no run comes to both, else the sum.

    A sum is of parts that follow each other, a largest one of parts that are apart: the way that a program of branches
    and sequences is written. Of what is neither it is the sum of all.
    """

    def of(places: tuple[int, ...]) -> t.Term:
        parts = components({i: [j for j in places if (i, j) not in apart and i != j] for i in places})
        if len(parts) > 1:
            return t.maximum(*(of(part) for part in parts))
        parts = components({i: [j for j in places if (i, j) in apart] for i in places})
        if len(parts) > 1:
            return t.add(*(of(part) for part in parts))
        return t.add(*(terms[at] for at in places))

    return of(tuple(range(len(terms)))) if apart else t.add(*terms)


def of_all(calls: Sequence[Claim], apart: Apart = ()) -> Claim:
    """The iterations of all loops together, from those of each in a call; ``apart``: loops of which a run takes one."""
    lower = t.add(*(call.lower for call in calls))
    never = t.disjunction(call.never for call in calls)
    uppers = [call.upper for call in calls if call.upper is not None]
    undefined = t.disjunction(call.undefined for call in calls)
    some_run = None
    if any(call.reached is not None for call in calls):
        some_run = t.add(*(reached(call) for call in calls))
    if len(uppers) < len(calls):
        lower = t.add(*(_everywhere(call.lower, call.when) for call in calls))
        if some_run is not None:
            some_run = t.add(*(_everywhere(reached(call), call.when) for call in calls))
        return Claim(None, lower, never=never, gap=t.TRUE, undefined=undefined, reached=some_run)
    always = t.disjunction(call.always_undefined for call in calls)
    exact = all(call.exact for call in calls) and always is not t.TRUE
    gap = t.disjunction(call.gap for call in calls)
    when = t.conjunction(call.when for call in calls)
    method = ", ".join(dict.fromkeys(name for call in calls for name in call.method.split(", ") if name))
    upper = in_all(uppers, apart)
    lower = upper if exact else lower
    return Claim(upper, lower, exact, when, never, gap, undefined, some_run, always_undefined=always, method=method)


def _everywhere(lower: t.Term, when: t.Condition) -> t.Term:
    """What a lower bound that holds where ``when`` does says of all inputs."""
    return t.ite(when, lower, t.ZERO)


def together(found: Claim, bound: TermBound | None) -> Claim:
    """The claim on all loops with a bound on their iterations together, where the claim is not exact."""
    if bound is None or found.exact or found.never is not t.FALSE:
        return found
    if found.upper is None or found.has_gap or found.when is not t.TRUE:
        lower = _everywhere(found.lower, found.when)
        some_run = None if found.reached is None else _everywhere(found.reached, found.when)
        return replace(
            found, upper=bound.term, lower=lower, when=t.TRUE, gap=t.FALSE, reached=some_run, method=bound.method
        )
    least_of_both = lesser(found.upper, bound.term)
    method = found.method if least_of_both is found.upper else bound.method
    return replace(found, upper=least_of_both, method=method)
