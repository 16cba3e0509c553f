"""Headers of a function that lead to one another: how often the transitions between them are taken, how large terms
become at them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from loopless.bounds.asymptotics import asymptotic_class
from loopless.bounds.cutpoints import ENTRY
from loopless.bounds.ranking_functions import ceil_div
from loopless.bounds.refinement import longest
from loopless.bounds.size_bounds import MAX_DEPTH, Counted, SizeBounds, small
from loopless.bounds.templates import Function, Template, bound_above, plain, total, unknown
from loopless.bounds.transition_system import System, Transition
from loopless.logic.farkas import Claim, Form
from loopless.terms import (
    ZERO,
    Const,
    Term,
    TermTooLarge,
    Var,
    add,
    conjunction,
    const,
    floor_div,
    greater_equal,
    less_equal,
    maximum,
    minimum,
    mul,
    scale,
    sub,
)

if TYPE_CHECKING:
    from loopless.bounds.methods.components import CallSearch


_Group = tuple[list[Transition], Term, Mapping[str, Function]]
"""Transitions, how often they are taken, and the functions that fall with them."""


class Sizes(SizeBounds):
    """How large terms become at the headers of a component, over the inputs of the call."""

    def __init__(self, component: Component, made: System, *, by_value: bool) -> None:
        super().__init__(made, component.call.engine, wide=False, by_value=by_value)
        self.component = component
        self._at: dict[tuple[str, Term], Term | None] = {}
        self._asked: set[tuple[str, Term]] = set()

    def count(self, counted: Counted) -> None:
        super().count(counted)
        self._at = {key: bound for key, bound in self._at.items() if bound is not None}

    def before(self, transition: Transition, term: Term) -> Term | None:
        """The most that the affine ``term`` is at the header where the transition begins."""
        key = (self.component.call.source(transition), term)
        if key not in self._at:
            if key in self._asked or len(self._asked) >= MAX_DEPTH:
                return None
            self._asked.add(key)
            self._at[key] = self.component.at_entry(term) if key[0] == ENTRY else self._most(*key)
            self._asked.discard(key)
        return self._at[key]

    def _most(self, header: str, term: Term) -> Term | None:
        """By what transitions set the term to, and what they add to it, on the way to a header."""
        values: list[Term] = []
        amounts: dict[Counted, list[Term]] = {}
        seen, waiting = {header}, [header]
        search = self.component.call
        while waiting:
            here = waiting.pop()
            for component, entering in self.component.entering:
                if search.target(entering) == here:
                    value = component.after(entering, term)
                    if value is None:
                        return None
                    values.append(value)
            for transition in self.component.transitions:
                if search.target(transition) != here:
                    continue
                value, raises = self._set_or_raised(transition, term)
                if value is not None:
                    values.append(value)
                    continue
                if raises is None:
                    return None
                if raises is not ZERO:
                    counted = self.group(transition)
                    assert counted is not None
                    amounts.setdefault(counted, []).append(raises)
                if search.source(transition) not in seen:
                    seen.add(search.source(transition))
                    waiting.append(search.source(transition))
        try:
            more = [mul(c.bound, maximum(ZERO, *each)) for c, each in amounts.items()]
            return small(add(maximum(*values), *more)) if values else None
        except TermTooLarge:
            return None

    def _set_or_raised(self, transition: Transition, term: Term) -> tuple[Term | None, Term | None]:
        """What a transition sets the term to at most, or else what it adds to it at most."""
        if term.variables.isdisjoint(transition.after):
            return None, ZERO
        then = transition.step(term)
        if then.variables.isdisjoint(term.variables):
            value = _least(self.bounded(transition, then, self.exact(transition, term)))
            if value is not None:
                return value, None
        effect = self.effect(transition, term, counted=self.group(transition) is not None)
        if effect is None:
            return None, None
        return (effect.amount, None) if effect.resets else (None, effect.amount)


class Component:
    """Headers that lead to one another, and what is known of how often the transitions between them are taken."""

    def __init__(
        self,
        search: CallSearch,
        headers: frozenset[str],
        inside: Sequence[Transition],
        entering: Sequence[tuple[Component, Transition]],
    ) -> None:
        self.call = search
        self.headers = sorted(headers)
        self.transitions = tuple(inside)
        self.entering = tuple(entering)
        whole = search.system
        made = System(whole.paths, self.transitions, whole.state, whole.parameters, whole.fixed)
        self.sizes = [Sizes(self, made, by_value=by_value) for by_value in (False, True)]
        self.counted: list[Counted] = []
        self.clocks: dict[Counted, Mapping[str, Function]] = {}
        """The functions by which transitions were counted, where no transition of the component raises them."""
        used = {v for t in self.transitions for r in t.rows for v in r.variables}
        moved = {v for t in self.transitions for v in t.after}
        self.variables = tuple(v for v in (*whole.state, *whole.parameters) if v in used or v in moved)

    # -- values -------------------------------------------------------------------------------------------------------

    def at_entry(self, term: Term) -> Term | None:
        """The value of an affine term where the call begins, if it is of inputs."""
        known = self.sizes[0].meaning(term)
        return known if known.variables <= self.call.cutpoints.inputs else None

    def after(self, transition: Transition, term: Term) -> Term | None:
        """The most that an affine term is after a transition that begins in the component."""
        return _least(bound for sizes in self.sizes for bound in sizes.after(transition, term))

    # -- counts -------------------------------------------------------------------------------------------------------

    def often(self, transitions: Collection[Transition]) -> Term | None:
        """How often these transitions are taken in a call; None where that is not known."""
        names = {t.name for t in transitions}
        known = [c for c in self.counted if names & c.names]
        if names - frozenset().union(*(c.names for c in known)):
            return None
        return add(*(c.bound for c in known))

    def search(self) -> None:
        """Counts transition after transition, as long as one is found that can be counted."""
        remaining = list(self.transitions)
        chain = longest(remaining, lambda a, b: self.call.target(a) == self.call.source(b))
        if chain is not None:
            self.counted.append(Counted(frozenset(t.name for t in remaining), const(chain)))
            return
        while remaining:
            found = self._next(remaining)
            if found is None:
                return
            group, bound, functions = found
            counted = Counted(frozenset(t.name for t in group), bound)
            self.counted.append(counted)
            if all(self._never_rises(functions, t) for t in self.transitions):
                self.clocks[counted] = functions
            for sizes in self.sizes:
                sizes.count(counted)
            remaining = [t for t in remaining if t not in group]

    def _next(self, remaining: Sequence[Transition]) -> _Group | None:
        """Some of the ``remaining`` and how often they are taken: of several choices the one of the lowest class."""
        done = [t for t in self.transitions if t not in remaining]
        found: list[_Group] = []
        for falling in self._choices(remaining):
            counted = self._counted(falling, remaining, done)
            if counted is None:
                continue
            found.append(counted)
            if _class(counted[1]) <= 1:
                break
        return min(found, key=lambda group: _class(group[1]), default=None)

    def _counted(
        self, falling: Sequence[Transition], remaining: Sequence[Transition], done: Sequence[Transition]
    ) -> _Group | None:
        """Transitions with which functions fall that fall with those of ``falling``, how often they are taken, and the
        functions.
        """
        steady = [t for t in remaining if t not in falling]
        if done and self._functions(falling, steady, ()) is None:
            return None
        for quiet, limited in ((done, ()), ((), done), ((), ())) if done else (((), ()),):
            found = self._functions(falling, (*steady, *quiet), limited)
            if found is None:
                continue
            group = [t for t in remaining if t in falling or self._falls(found, t)]
            bound = self._count(found, group, done)
            if bound is not None:
                return group, bound, found
        return None

    def _choices(self, remaining: Sequence[Transition]) -> Iterator[tuple[Transition, ...]]:
        """Which transitions are to fall together: all iterations, the iterations of one loop, each by itself."""
        back = self.call.cutpoints.back
        iterations = tuple(t for t in remaining if t.path.id in back)
        seen: set[tuple[str, ...]] = set()
        each = [tuple(t for t in iterations if back[t.path.id] == header) for header in self.headers]
        for choice in (tuple(remaining), iterations, *each, *((t,) for t in remaining)):
            names = tuple(t.name for t in choice)
            if choice and names not in seen:
                seen.add(names)
                yield choice

    def _functions(
        self,
        falling: Sequence[Transition],
        steady: Sequence[Transition],
        limited: Sequence[Transition],
        drops: Mapping[str, int] | None = None,
    ) -> Mapping[str, Function] | None:
        """A function for each header, all with one divisor: ≥ 1 before and less by 1 after each of ``falling``, never
        raised by ``steady``, raised by a constant, as little as possible, by ``limited``; proved. ``drops``: instead of
        1, by the names of transitions.
        """
        engine = self.call.engine
        if engine.left <= 0:
            return None
        templates = {header: Template(f"f{at} ", self.variables) for at, header in enumerate(self.headers)}
        claims: list[Claim] = []
        for t in falling:
            now, then = self._forms(templates, t)
            drop = drops[t.name] if drops else 1
            claims.append(Claim(t.rows, total(now, plain(-drop))))
            claims.append(Claim(t.rows, total(now, then, plain(-drop))))
        claims += [Claim(t.rows, total(*self._forms(templates, t))) for t in steady]
        rises = [f"rise {t.name}" for t in limited]
        for t, rise in zip(limited, rises, strict=True):
            claims.append(Claim(t.rows, total(*self._forms(templates, t), unknown(rise))))
        size = {name: 1 for template in templates.values() for name in template.size()}
        constants = {name: c for template in templates.values() for name, c in template.constant().items()}
        least = (size, constants)
        solution = engine.solve(claims, least=(dict.fromkeys(rises, 1), *least) if rises else least)
        if solution is None:
            return None
        found = {header: template.found(solution) for header, template in templates.items()}
        common = lcm(*(f.divisor for f in found.values()))
        found = {h: Function(scale(f.term, common // f.divisor), common) for h, f in found.items()}
        falls = all(self._falls(found, t, drops[t.name] if drops else 1) for t in falling)
        return found if falls and all(self._never_rises(found, t) for t in steady) else None

    def raised(self, variable: Var) -> Term | None:
        """By how much the transitions inside raise a variable in a call, all together: a function that falls by what
        each of them adds, else how often they are taken times that.
        """
        added: dict[str, int] = {}
        for t in self.transitions:
            amount = self.added(t, variable)
            if amount is None:
                return None
            added[t.name] = max(amount, 0)
        paying = [t for t in self.transitions if added[t.name]]
        if not paying:
            return ZERO
        steady = [t for t in self.transitions if not added[t.name]]
        found = self._functions(paying, steady, (), added)
        start = self._start(found, paying) if found is not None else None
        if found is not None and start is not None:
            return maximum(ZERO, floor_div(start, const(next(iter(found.values())).divisor)))
        parts: list[Term] = []
        for amount in sorted(set(added.values()) - {0}):
            often = self.often([t for t in paying if added[t.name] == amount])
            if often is None:
                return None
            parts.append(scale(often, amount))
        return add(*parts)

    def added(self, transition: Transition, variable: Var) -> int | None:
        """The most that a transition adds to a variable, where that is a number."""
        change = sub(transition.step(variable), variable)
        most = bound_above(self.call.engine, transition.rows, change, ())
        exact = sub(self.sizes[0].exact(transition, variable), variable)
        if most is None or not isinstance(most.floor, Const):
            return None
        return most.floor.value if self.sizes[0].proves(transition, less_equal(exact, most.floor)) else None

    def _forms(self, templates: Mapping[str, Template], t: Transition) -> tuple[Form, Form]:
        source, target = self.call.source(t), self.call.target(t)
        return templates[source].now(), templates[target].then(t, -1)

    def _sides(self, found: Mapping[str, Function], t: Transition) -> tuple[Function, Function]:
        return found[self.call.source(t)], found[self.call.target(t)]

    def _falls(self, found: Mapping[str, Function], t: Transition, by: int = 1) -> bool:
        before, after = self._sides(found, t)
        drop = sub(before.term, self.sizes[0].exact(t, after.term))
        least = const(before.divisor * by)
        claim = conjunction((greater_equal(before.term, least), greater_equal(drop, least)))
        return self.sizes[0].proves(t, claim)

    def _never_rises(self, found: Mapping[str, Function], t: Transition) -> bool:
        before, after = self._sides(found, t)
        return self.sizes[0].proves(t, greater_equal(before.term, self.sizes[0].exact(t, after.term)))

    def _start(self, found: Mapping[str, Function], falling: Sequence[Transition]) -> Term | None:
        """The most that the functions are where a run comes into the component; or, since only that counts, before it
        first takes one of those transitions.
        """
        before = [_least(self.sizes[0].bounded(t, f.term, f.term)) for t in falling for f in self._sides(found, t)[:1]]
        known = [value for value in before if value is not None]
        first = maximum(*known) if len(known) == len(before) else None
        if isinstance(first, Const):
            return first
        if not self.entering:
            return ZERO  # no run comes here
        starts = [component.after(t, found[self.call.target(t)].term) for component, t in self.entering]
        values = [value for value in starts if value is not None]
        return maximum(*values) if len(values) == len(starts) else first

    def _count(
        self, found: Mapping[str, Function], falling: Sequence[Transition], done: Sequence[Transition]
    ) -> Term | None:
        """How often transitions with which the functions fall are taken, while those that are ``done`` may raise them
        or set them to something, each as often as is known.
        """
        divisor = next(iter(found.values())).divisor
        start = self._start(found, falling)
        if start is None:
            return None
        raised: dict[Counted, list[Term]] = {}
        renewed: dict[Counted, list[Term]] = {}
        for t in done:
            counted = next(c for c in self.counted if t.name in c.names)
            effect = self._effect(found, t)
            if effect is None:
                return None
            renews, amount = effect
            if renews:
                renewed.setdefault(counted, []).append(maximum(ZERO, floor_div(amount, const(divisor))))
            elif amount is not ZERO:
                raised.setdefault(counted, []).append(amount)
        if not renewed:
            more = [mul(c.bound, maximum(ZERO, *each)) for c, each in raised.items()]
            return small(maximum(ZERO, floor_div(add(start, *more), const(divisor))))
        first = maximum(ZERO, floor_div(start, const(divisor)))
        if len(renewed) == 1 and not raised:
            ((c, values),) = renewed.items()
            stretches = self._stretches(c, falling)
            if stretches is not None:
                return small(mul(stretches, maximum(first, *values)))
        parts = [first]
        for c in dict.fromkeys((*renewed, *raised)):
            rises = [ceil_div(maximum(ZERO, each), divisor) for each in raised.get(c, ())]
            parts.append(mul(c.bound, maximum(ZERO, *renewed.get(c, ()), *rises)))
        return small(add(*parts))

    def _stretches(self, counted: Counted, falling: Sequence[Transition]) -> Term | None:
        """Into how many stretches the ``counted`` transitions divide those of ``falling``; None where there may be one
        more than there are of them.

        The function by which they were counted is raised by nothing, and each takes 1 from it. If those of ``falling``
        are taken only where it is 1 or more, no stretch comes after it has run out.
        """
        clock = self.clocks.get(counted)
        if clock is None:
            return None
        divisor = next(iter(clock.values())).divisor
        sides = [(t, self._sides(clock, t)[0]) for t in falling]
        if not all(self.sizes[0].proves(t, greater_equal(now.term, const(divisor))) for t, now in sides):
            return None
        start = self._start(clock, falling)
        return None if start is None else maximum(ZERO, floor_div(start, const(divisor)))

    def _effect(self, found: Mapping[str, Function], t: Transition) -> tuple[bool, Term] | None:
        """What a transition does to the functions at most: (whether it sets them, the value or the difference)."""
        before, after = self._sides(found, t)
        sizes = self.sizes[0]
        then = t.step(after.term)
        exact = sizes.exact(t, after.term)
        change = sub(then, before.term)
        constant = bound_above(self.call.engine, t.rows, change, ())
        if constant is not None:
            most = constant.floor
            if sizes.proves(t, less_equal(sub(exact, before.term), most)):
                low = isinstance(most, Const) and most.value <= 0
                return (False, ZERO) if low else (False, most)
        value = _least(bound for each in self.sizes for bound in each.bounded(t, then, exact))
        if value is not None:
            return True, value
        amount = _least(bound for each in self.sizes for bound in each.bounded(t, change, sub(exact, before.term)))
        return None if amount is None else (False, amount)


def _least(bounds: Iterable[Term | None]) -> Term | None:
    known = [bound for bound in bounds if bound is not None]
    return minimum(*known) if known else None


def _class(bound: Term) -> Fraction:
    """The degree of a bound; more than any where it is no polynomial's."""
    grows = asymptotic_class(bound, lambda var: var.name)
    return grows.degree if grows is not None else Fraction(1000)
