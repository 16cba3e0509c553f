"""The iterative paths of a loop as linear transitions: rows that hold before a step, and affine values after it.

A transition keeps the condition that it stands for, exactly, beside a linear relaxation of it: what is not linear (a
quotient, a product, a bit operation, memory) has a name, an auxiliary variable with the linear facts that are known of
it. What is found on the relaxation is proved on the conditions and updates of the paths themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.bounds.iteration.linearize import Linearizer, range_under
from loopless.flowgraph.model import Origin
from loopless.limits.bounds import MAX_CONJUNCTS, MAX_PATH_TRANSITIONS, MAX_TRANSITIONS, MAX_WRAPS
from loopless.logic import feasible
from loopless.paths import LoopPaths, Path, Unknown
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class LinearTransition:
    """A part of an iterative path.

    ``condition``: when it is taken, exactly; the parts of a path cover its condition. ``rows``: affine terms that are
    ≥ 0 whenever it is taken; ``wide``: further ones that stem from the ranges of types or have numbers as large.
    ``after``: the values after the step, affine over the variables before it and auxiliary ones, which ``rows`` and
    ``wide`` speak of too.
    """

    name: str
    path: Path
    condition: t.Condition
    rows: tuple[t.Term, ...]
    wide: tuple[t.Term, ...]
    after: Mapping[t.Var, t.Term]

    def step(self, term: t.Term) -> t.Term:
        """The affine ``term`` after the step, in terms of what is before."""
        return t.substitute(term, self.after)


@dataclass(frozen=True, slots=True)
class LinearTransitionSystem:
    """The transitions of a loop over its ``state`` and its ``parameters``, the variables that it does not change.

    ``fixed``: the parameters that are names of terms.
    """

    paths: LoopPaths
    transitions: tuple[LinearTransition, ...]
    state: tuple[t.Var, ...]
    parameters: tuple[t.Var, ...]
    fixed: Mapping[t.Var, t.Term]


@dataclass(frozen=True, slots=True)
class TransitionGraph:
    """The transitions of a ``system`` between headers: the one of a loop, or several that lead to one another.

    By the ids of paths: ``source`` and ``target``, the headers between which their transitions go, and of those that
    are iterations of a loop ``back``, its header.
    """

    system: LinearTransitionSystem
    source: Mapping[str, str]
    target: Mapping[str, str]
    back: Mapping[str, str]

    def source_of(self, transition: LinearTransition) -> str:
        """The header at which a transition begins."""
        return self.source[transition.path.id]

    def target_of(self, transition: LinearTransition) -> str:
        """The header to which a transition leads."""
        return self.target[transition.path.id]

    def within(self, headers: Collection[str]) -> TransitionGraph:
        """The transitions that begin and end at ``headers``."""
        inside = (
            transition
            for transition in self.system.transitions
            if self.source_of(transition) in headers and self.target_of(transition) in headers
        )
        return replace(self, system=replace(self.system, transitions=tuple(inside)))


def loop_graph(made: LinearTransitionSystem) -> TransitionGraph:
    """The transitions of a loop, all from its header back to it."""
    headers = dict.fromkeys((path.id for path in made.paths.iterative), made.paths.loop.header)
    return TransitionGraph(made, headers, headers, headers)


NOT_FOLLOWED = ("unknown", "unsupported")
"""Kinds of exits of which it is not known that the run leaves the loop there."""


def with_not_followed(paths: LoopPaths) -> LoopPaths:
    """The paths with what nothing is known of as iterations after which every variable may have any value."""
    not_followed = [path for path in paths.exits if path.exit is not None and path.exit.kind in NOT_FOLLOWED]
    plain = paths.uncounted()
    if not not_followed:
        return plain
    made = []
    for path in not_followed:
        values = {var: t.Var(f"?{path.id} {var.name}", var.type) for var in plain.state}
        unknowns = tuple(Unknown(value, Origin.UNSUPPORTED, value.name, None) for value in values.values())
        made.append(replace(path, exit=None, update=values, unknowns=(*path.unknowns, *unknowns), result=None))
    return replace(plain, iterative=(*plain.iterative, *made))


def system(paths: LoopPaths, given: t.Condition, *, split: bool) -> LinearTransitionSystem:
    """The iterative paths under ``given``, which holds at the header in all states that count.

    ``split``: alternatives in conditions and updates make several transitions of a path; otherwise each path is one,
    with what holds in all its alternatives.
    """
    changed = frozenset(paths.state).union(
        *(path.update for path in paths.iterative),
        *({u.var for u in path.unknowns} for path in paths.iterative),
    )
    checks = _checks(paths)
    most = min(MAX_PATH_TRANSITIONS, MAX_TRANSITIONS // max(len(paths.iterative), 1))
    found: list[LinearTransition] = []
    fixed: dict[t.Var, t.Term] = {}
    for path in paths.iterative:
        whole = [(given, path.condition, path.update)]
        parts = (
            list(alternatives_of(given, path.condition, path.update, most))
            if split and len(t.conjuncts(path.condition)) <= MAX_CONJUNCTS
            else whole
        )
        for number, (extra, condition, update) in enumerate(parts, start=1):
            exact = extra & path.condition
            if exact is t.FALSE or not feasible(exact, solver=False):
                continue
            name = path.id if len(parts) == 1 else f"{path.id}.{number}"
            linearizer = Linearizer(extra & condition, name, changed)
            after = linearizer.step(update, checks)
            found.append(LinearTransition(name, path, exact, tuple(linearizer.rows), tuple(linearizer.wide), after))
            fixed |= linearizer.fixed
    unknown = {u.var for path in paths.iterative for u in path.unknowns}
    state = tuple(v for v in paths.state if v not in unknown)
    parameters = tuple(sorted((set(paths.invariants) - changed) | set(fixed), key=lambda v: v.key))
    return LinearTransitionSystem(paths, tuple(found), state, parameters, fixed)


def _checks(paths: LoopPaths) -> frozenset[t.Condition]:
    """Conditions without which the behaviour is undefined: what they bound, they bound by the ranges of types."""
    needed: set[t.Condition] = set()
    asked: set[t.Condition] = set()
    for path in paths.exits:
        assert path.exit is not None
        opposite = {node for node in t.walk(~path.condition) if isinstance(node, t.Compare)}
        if path.exit.kind == "undefined":
            needed |= opposite
        else:
            asked |= opposite
            asked |= {node for node in t.walk(path.condition) if isinstance(node, t.Compare)}
    return frozenset(needed - asked)


# -- alternatives -----------------------------------------------------------------------------------------------------

Part = tuple[t.Condition, t.Condition, Mapping[t.Var, t.Term]]
"""What was chosen, and condition and update with the choices made."""


def parts_of(path: Path) -> list[t.Condition]:
    """The conditions of the transitions that a path is split into."""
    parts = alternatives_of(t.TRUE, path.condition, path.update, MAX_PATH_TRANSITIONS)
    return [extra & path.condition for extra, _, _ in parts]


def alternatives_of(
    given: t.Condition, condition: t.Condition, update: Mapping[t.Var, t.Term], most: int
) -> Iterator[Part]:
    """A step under ``given`` as at most so many parts that cover it, each without alternatives in condition and update
    but for those that are too many. Parts that cannot be taken are left out.
    """
    waiting: list[Part] = [(given, condition, update)]
    made = 0
    while waiting:
        extra, condition, update = waiting.pop(0)
        whole = extra & condition
        if whole is t.FALSE or not feasible(whole, solver=False):
            continue
        found = None if made + len(waiting) + 1 >= most else _alternative(extra, condition, update)
        if found is None:
            made += 1
            yield extra, condition, update
        else:
            waiting += found


def _alternative(extra: t.Condition, condition: t.Condition, update: Mapping[t.Var, t.Term]) -> list[Part] | None:
    """The first thing to choose, as parts that cover everything."""
    whole = extra & condition
    for root in (extra, condition, *update.values()):
        for node in t.walk(root):
            choices = _choices(node, whole)
            if choices is not None:
                assert isinstance(node, t.Term)
                return [
                    (
                        _replaced(extra, node, value) & when,
                        _replaced(condition, node, value),
                        {v: t.replace_terms(other, {node: value}) for v, other in update.items()},
                    )
                    for when, value in choices
                ]
    for source in (extra, condition):
        for part in t.conjuncts(source):
            if isinstance(part, t.Compare) and part.relation != "ne":
                continue
            branches = part.args if isinstance(part, t.Or) else None
            if isinstance(part, t.Compare):
                branches = (part.term.lt(0), part.term.gt(0))
            if branches is None:
                continue
            rest = t.conjunction(p for p in t.conjuncts(source) if p is not part)
            kept = (rest, condition) if source is extra else (extra, rest)
            return [(kept[0] & branch, kept[1], update) for branch in branches]
    return None


def _choices(node: t.Node, whole: t.Condition) -> list[tuple[t.Condition, t.Term]] | None:
    """For a term that is one of several affine ones: when it is which."""
    match node:
        case t.Ite():
            return [(node.condition, node.then), (~node.condition, node.otherwise)]
        case t.Op(op="min" | "max") if len(node.args) <= 3:
            order = t.less_equal if node.op == "min" else t.greater_equal
            return [(t.conjunction(order(a, b) for b in node.args if b is not a), a) for a in node.args]
        case t.Op(op="trunc_div" | "trunc_rem") if isinstance(node.args[1], t.Const) and node.args[1].value > 0:
            a, b = node.args
            below = t.floor_div if node.op == "trunc_div" else t.mod
            return [(a.ge(0), below(a, b)), (a.lt(0), -below(-a, b))]
        case t.Wrap():
            return _wraps(node, whole)
        case _:
            return None


def _wraps(node: t.Wrap, whole: t.Condition) -> list[tuple[t.Condition, t.Term]] | None:
    width, least, most = node.type.width, node.type.min, node.type.max
    low, high = range_under(node.arg, whole)
    if width is None or least is None or most is None or low is None or high is None:
        return None
    first, last = (low - least) >> width, (high - least) >> width
    if last - first >= MAX_WRAPS:
        return None
    values = [node.arg + (-times << width) for times in range(first, last + 1)]
    return [(t.between(least, value, most), value) for value in values]


def _replaced(condition: t.Condition, node: t.Term, value: t.Term) -> t.Condition:
    def compared(part: t.Condition) -> t.Condition:
        if not isinstance(part, t.Compare):
            return part
        build = {"le": t.at_most_zero, "eq": t.equals_zero, "ne": t.not_zero}[part.relation]
        return build(t.replace_terms(part.term, {node: value}))

    return t.with_comparisons(condition, compared)


def difference(transition: LinearTransition, term: t.Term) -> t.Term:
    """By how much a step changes the affine ``term``."""
    return transition.step(term) - term
