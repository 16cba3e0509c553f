"""Closed forms of iterating a simultaneous update X' = f(X), component by component in the order of dependency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopless import terms as t
from loopless.graphs import components
from loopless.limits.recurrences import MAX_COMPONENT
from loopless.recurrences.closed import Closed, Composed, Kind, Repeated, Solution, closed_of, shown_term
from loopless.recurrences.digits import Halved, sum_of_digits
from loopless.recurrences.expoly import ExpPoly, NoClosedForm, invariant
from loopless.recurrences.iteration import iterate
from loopless.recurrences.lifting import KnownSequence, lift
from loopless.recurrences.linear import solve_linear
from loopless.recurrences.linearize import linearize
from loopless.recurrences.residues import sum_of_residues
from loopless.recurrences.sequences import Sequence, solve_first_order


def solve(update: Mapping[t.Var, t.Term], counter: t.Var) -> Solution:
    """The closed forms of X' = f(X) for every variable that ``update`` changes.

    ``update`` maps each changed variable to its next value over the values before; variables outside it are invariant.
    ``counter`` must not occur in it; in the results it is the number of iterations k ≥ 0. The forms hold for runs on
    which every variable stays in the range of its type (where an update may leave it, it must say so by ``Wrap``).
    """
    solver = _Solver(update, counter)
    graph = {v: update[v].variables & update.keys() for v in update}
    for component in components(graph):
        solver.component(component)
    closed = {v: solver.closed[v] for v in update if v in solver.closed}
    refused = {v: solver.refused[v] for v in update if v in solver.refused}
    return Solution(counter, closed, refused)


class _Solver:
    def __init__(self, update: Mapping[t.Var, t.Term], counter: t.Var) -> None:
        self.update = update
        self.changing = frozenset(update)
        self.counter = counter
        self.known: dict[t.Var, KnownSequence] = {}
        self.closed: dict[t.Var, Closed] = {}
        self.refused: dict[t.Var, str] = {}
        self.halved: dict[t.Var, Halved] = {}

    def component(self, component: tuple[t.Var, ...]) -> None:
        """Solve the variables of one strongly connected component of the dependency graph."""
        first = component[0]
        if len(component) == 1 and first not in self.update[first].variables:
            self._last_value(first)
            return
        if self._reflection(component):
            return
        reasons: list[str] = []
        for method in (
            self._linear,
            self._residue_sums,
            self._digit_sums,
            self._repeated_division,
            self._repeated_quotient,
            self._repeated_remainder,
            self._eventually_periodic,
            self._symbolic_ratio,
            self._powers,
        ):
            try:
                method(component)
            except (NoClosedForm, t.TermTooLarge) as failure:
                reasons.append(str(failure))
                continue
            return
        self._evaluators(component, reasons[0])

    # Variables that forget their own value: resets, copies, temporaries.

    def _last_value(self, var: t.Var) -> None:
        update = self.update[var]
        if isinstance(update, t.Var) and update in self.known:
            source = self.known[update]
            if source.sequence is not None:
                self._accept(var, source.sequence.delayed(invariant(var)), source.wrap, source.raw + 1)
                return
        wrap, inner = _unwrapped(update)
        try:
            sequence = lift(inner, self.known, None if wrap is None else wrap.width)
        except (NoClosedForm, t.TermTooLarge) as failure:
            self._compose(var, str(failure))
            return
        self._accept(var, sequence.delayed(invariant(var)), wrap, 1)

    def _compose(self, var: t.Var, reason: str) -> None:
        """x_k = f(closed forms at k - 1), without a form over powers of the counter that others could use."""
        update = self.update[var]
        read = sorted(update.variables & self.changing)
        missing = [v for v in read if v not in self.closed]
        if missing:
            self._refuse(var, f"{missing[0].name} has no closed form")
            return
        sources = {v: self.closed[v] for v in read}
        start = 1 + max(c.valid_from for c in sources.values())
        before = self.counter - 1
        try:
            term: t.Term | None = None
            if all(c.term is not None for c in sources.values()):
                at = {v: t.substitute(c.term, {self.counter: before}) for v, c in sources.items() if c.term is not None}
                term = t.substitute(update, at)
            prefix: list[t.Term] = [var]
            prefix.extend(t.substitute(update, {v: c.at(k - 1) for v, c in sources.items()}) for k in range(1, start))
        except t.TermTooLarge:
            self._refuse(var, "the expression of its value is too large")
            return
        self.known[var] = KnownSequence(None, reason=reason)
        self.closed[var] = Closed(
            var, self.counter, "composed", term, start, 1, tuple(prefix), None, Composed(update, sources)
        )

    # Linear systems.

    def _reflection(self, component: tuple[t.Var, ...]) -> bool:
        """Reflections, x' = c - x, that wrap around: two exact values in turn, which others can be summed over."""
        var = component[0]
        wrap, inner = _unwrapped(self.update[var])
        if len(component) > 1 or wrap is None or not t.fits(var, wrap) or (inner + var).variables & self.changing:
            return False
        self._accept(var, Sequence((), (invariant(var), invariant(self.update[var]))), None, 0)
        return True

    def _linear(self, component: tuple[t.Var, ...]) -> None:
        if len(component) > MAX_COMPONENT:
            raise NoClosedForm(f"{len(component)} variables depend on one another")
        wraps = self._wraps(component)
        ring = wraps[component[0]][0]
        matrix: list[list[int]] = []
        forcing: list[Sequence] = []
        for var in component:
            row, rest = self._row(var, component)
            matrix.append(row)
            forcing.append(lift(rest, self.known, None if ring is None else ring.width))
        start = [invariant(var) for var in component]
        if len(component) == 1:
            solved = [solve_first_order(matrix[0][0], forcing[0], start[0])]
        else:
            solved = solve_linear(matrix, forcing, start)
        for var, sequence in zip(component, solved, strict=True):
            self._accept(var, sequence, *wraps[var])

    def _wraps(self, component: tuple[t.Var, ...]) -> dict[t.Var, tuple[t.IntType | None, int]]:
        """The type into which each variable of a component is reduced: none at all, or all of one width.

        With it, how many values from the first on are exact as they stand: a variable's entry value, and for a plain
        copy, which is reduced as what it copies, one more than for that.
        """
        found: dict[t.Var, tuple[t.IntType | None, int]] = {}
        for var in component:
            wrap = _unwrapped(self.update[var])[0]
            if wrap is not None:
                found[var] = (wrap, 1)
        if not found:
            return dict.fromkeys(component, (None, 0))
        for _ in component:
            for var in component:
                source = self.update[var]
                if var not in found and isinstance(source, t.Var) and source in found:
                    wrap, raw = found[source]
                    found[var] = (wrap, raw + 1)
        wrapped = next(iter(found))
        exact = [v for v in component if v not in found]
        if exact:
            raise NoClosedForm(
                f"{wrapped.name} wraps around at {_width(found[wrapped][0])} bits and {exact[0].name}, "
                "on which it depends in turn, needs exact values"
            )
        if len({_width(wrap) for wrap, _ in found.values()}) > 1:
            shown = " and ".join(f"{v.name} at {_width(found[v][0])} bits" for v in component)
            raise NoClosedForm(f"variables that depend on one another wrap around at different widths: {shown}")
        return found

    def _row(self, var: t.Var, component: tuple[t.Var, ...]) -> tuple[list[int], t.Term]:
        """Integer coefficients of the component's variables in the update of ``var``, and the rest."""
        _, inner = _unwrapped(self.update[var])
        row = [0] * len(component)
        rest: list[t.Term] = []
        for monomial, coefficient in t.polynomial(inner).items():
            part = t.from_polynomial({monomial: coefficient})
            own = [(atom, e) for atom, e in monomial if atom.variables & set(component)]
            if not own:
                rest.append(part)
                continue
            atom, exponent = own[0]
            if not isinstance(atom, t.Var):
                raise NoClosedForm(f"{t.brief(atom)} is not linear in {_names(atom.variables & set(component))}")
            if len(own) > 1 or exponent > 1:
                raise NoClosedForm(f"{t.brief(part)} multiplies variables that depend on one another")
            if len(monomial) > 1:
                other = next(a for a, _ in monomial if a is not atom)
                how = "which changes" if other.variables & self.changing else "not a constant"
                raise NoClosedForm(f"{atom.name} is multiplied by {t.brief(other)}, {how}")
            row[component.index(atom)] = coefficient
        return row, t.add(*rest)

    def _residue_sums(self, component: tuple[t.Var, ...]) -> None:
        """Sums of values that move by a constant and wrap around, or are divided: x' = x + u with a narrower u."""
        var = component[0]
        wrap, inner = _unwrapped(self.update[var])
        rest = inner - var
        if len(component) > 1 or var in rest.variables:
            raise NoClosedForm("it is not a sum")
        total = sum_of_residues(rest, self.known, self.counter, None if wrap is None else wrap.width)
        term = var + total
        fits = wrap is None or t.fits(var, wrap)
        self.known[var] = KnownSequence(
            None, wrap, int(not fits), f"it sums {t.brief(rest)}, which wraps around or is divided"
        )
        shown = term if wrap is None else t.wrap(term, wrap)
        prefix = () if fits else (var,)
        self.closed[var] = Closed(var, self.counter, "residue-sum", shown, int(not fits), 1, prefix, wrap)

    def _digit_sums(self, component: tuple[t.Var, ...]) -> None:
        """Sums over a value that is divided again and again, or its digits."""
        var = component[0]
        wrap, inner = _unwrapped(self.update[var])
        if len(component) > 1:
            raise NoClosedForm("it is not a sum")
        total = sum_of_digits(var, inner, self.halved, self.known, self.counter, None if wrap is None else wrap.width)
        fits = wrap is None or t.fits(var, wrap)
        self.known[var] = KnownSequence(None, wrap, int(not fits), "it sums digits")
        shown = total if wrap is None else t.wrap(total, wrap)
        prefix = () if fits else (var,)
        self.closed[var] = Closed(var, self.counter, "digit-sum", shown, int(not fits), 1, prefix, wrap)

    # Particular nonlinear updates.

    def _repeated_division(self, component: tuple[t.Var, ...]) -> None:
        """Repeated division, x' = floor((x + b) / c): floor(floor(y/a)/b) = floor(y/(a·b)), and so it is for C's /."""
        var = component[0]
        op, numerator, divisor = _division(self.update[var])
        offset = numerator - var
        if len(component) > 1 or divisor < 2 or offset.variables & self.changing:
            raise NoClosedForm("it is not a repeated division")
        if op == "trunc_div" and offset is not t.ZERO:
            raise NoClosedForm("it is not a repeated division")
        if offset is t.ZERO:
            self.halved[var] = Halved(divisor, op == "trunc_div")
        power = t.power(t.const(divisor), self.counter)
        shift = offset * (power - 1) // (divisor - 1)
        term = t.operation(op, (var + shift, power))
        self.known[var] = KnownSequence(None, reason=f"it is divided by {divisor} again and again")
        evaluator = Repeated(self.update[var])
        self.closed[var] = Closed(var, self.counter, "quotient", term, evaluator=evaluator)

    def _repeated_quotient(self, component: tuple[t.Var, ...]) -> None:
        """C's quotient with summands again and again, x' = (x + a) / c + b: the named function ``divided``."""
        var = component[0]
        items = t.polynomial(self.update[var])
        for monomial, coefficient in items.items():
            atom = monomial[0][0] if len(monomial) == 1 and monomial[0][1] == coefficient == 1 else None
            if len(component) > 1 or not isinstance(atom, t.Op) or atom.op != "trunc_div":
                continue
            number, divisor = atom.args
            inner, outer = number - var, self.update[var] - atom
            still = not (inner.variables | outer.variables) & self.changing
            if still and isinstance(divisor, t.Const) and divisor.value > 1:
                term = t.divided(self.counter, var, inner, divisor.value, outer)
                self.known[var] = KnownSequence(None, reason=f"it is divided by {divisor.value} again and again")
                self.closed[var] = Closed(var, self.counter, "quotient", term, evaluator=Repeated(self.update[var]))
                return
        raise NoClosedForm("it is not a repeated division")

    def _repeated_remainder(self, component: tuple[t.Var, ...]) -> None:
        """Remainders of what moves, x' = (x + c) mod m or C's: with the first value r, x_k is that of r + c·(k - 1).

        For C's: once x has the sign of c it keeps it, and until then nothing is reduced after the first iteration.
        """
        var = component[0]
        update = self.update[var]
        if len(component) > 1 or not isinstance(update, t.Op) or update.op not in ("mod", "trunc_rem"):
            raise NoClosedForm("it is not a remainder")
        number, divisor = update.args
        step = number - var
        if not isinstance(divisor, t.Const) or step.variables & self.changing:
            raise NoClosedForm("it is not a remainder of itself moved by a constant")
        first = number if update.op == "mod" else update
        moved = first + step * (self.counter - 1)
        term = t.operation(update.op, (moved, divisor))
        start = 0 if update.op == "mod" and _is_remainder(var, divisor.value) else 1
        self.known[var] = KnownSequence(None, reason=f"it is reduced modulo {divisor.value}")
        self.closed[var] = Closed(var, self.counter, "residue", term, start, prefix=(var,) * start)

    def _eventually_periodic(self, component: tuple[t.Var, ...]) -> None:
        """Idempotent and alike: U^(m+p) = U^m as terms, for m and p up to 2 (x % c, min(x, n), c - max(x, y))."""
        part = {v: self.update[v] for v in component}
        if len(component) == 1 and self._absorbed(component[0]):
            return
        if all(isinstance(a, t.Var) for u in part.values() for m in t.polynomial(u) for a, _ in m):
            raise NoClosedForm("it is a polynomial")
        if len(component) > 4 or any((u.variables & self.changing) - part.keys() for u in part.values()):
            raise NoClosedForm("it depends on other variables that change")
        powers = [iterate(part, n) for n in range(5)]
        for start in (1, 2):
            for period in (1, 2):
                if all(powers[start + period][v] is powers[start][v] for v in component):
                    for v in component:
                        forms = tuple(invariant(powers[start + r][v]) for r in range(period))
                        prefix = tuple(invariant(powers[i][v]) for i in range(start))
                        self._accept(v, Sequence(prefix, forms), None, 0)
                    return
        raise NoClosedForm("its iterates do not repeat")

    def _absorbed(self, var: t.Var) -> bool:
        """Handle x' = x op c with c invariant, where a second c changes nothing more, or undoes the first."""
        update = self.update[var]
        if not isinstance(update, t.Op):
            return False
        operands = list(update.args)
        if var not in operands:
            return False
        place = operands.index(var)
        operands.remove(var)
        if len(operands) != 1 or operands[0].variables & self.changing:
            return False
        once = invariant(update)
        if update.op in ("bit_and", "bit_or") or (update.op in ("mod", "trunc_rem") and place == 0):
            self._accept(var, Sequence((invariant(var),), (once,)), None, 0)
        elif update.op == "bit_xor":
            self._accept(var, Sequence((), (invariant(var), once)), None, 0)
        else:
            return False
        return True

    def _symbolic_ratio(self, component: tuple[t.Var, ...]) -> None:
        """Powers of an invariant, x' = c·y·x: x·(c·y)^k, a form that other variables cannot be summed over."""
        var = component[0]
        wrap, inner = _unwrapped(self.update[var])
        items = list(t.polynomial(inner).items())
        if len(component) == 1 and len(items) == 1:
            monomial, coefficient = items[0]
            powers = dict(monomial)
            if powers.get(var) == 1:
                ratio = t.from_polynomial({tuple((a, e) for a, e in monomial if a is not var): coefficient})
                if not ratio.variables & self.changing:
                    term = var * t.power(ratio, self.counter)
                    reason = f"it is multiplied by {t.brief(ratio)}, which is not a constant"
                    self.known[var] = KnownSequence(None, wrap, reason=reason)
                    shown = term if wrap is None else t.wrap(term, wrap)
                    fits = wrap is None or t.fits(var, wrap)
                    self.closed[var] = Closed(
                        var, self.counter, "geometric", shown, int(not fits), 1, () if fits else (var,), wrap
                    )
                    return
        raise NoClosedForm("it is not a multiple of itself")

    def _powers(self, component: tuple[t.Var, ...]) -> None:
        """Powers that move, x' = c·b^e·x in a ring: x_k = x·c^k·b^(e_0 + … + e_(k-1)), where e can be summed."""
        var = component[0]
        wrap, inner = _unwrapped(self.update[var])
        items = list(t.polynomial(inner).items())
        if len(component) > 1 or wrap is None or len(items) != 1 or dict(items[0][0]).get(var) != 1:
            raise NoClosedForm("it is not a multiple of itself")
        monomial, coefficient = items[0]
        term = var * t.power(t.const(coefficient), self.counter)
        for atom, times in monomial:
            if atom is var:
                continue
            if not isinstance(atom, t.Op) or atom.op != "pow" or not isinstance(atom.args[0], t.Const):
                raise NoClosedForm(f"it is multiplied by {t.brief(atom)}")
            summed = solve_first_order(1, lift(atom.args[1] * times, self.known), ExpPoly({})).normal()
            if summed.start:
                raise NoClosedForm("the exponents have no common form")
            term = term * t.power(atom.args[0], shown_term(summed, self.counter))
        reason = f"it is multiplied by {t.brief(inner)}"
        fits = t.fits(var, wrap)
        self.known[var] = KnownSequence(None, wrap, int(not fits), reason=reason)
        prefix = () if fits else (var,)
        self.closed[var] = Closed(var, self.counter, "geometric", t.wrap(term, wrap), int(not fits), 1, prefix, wrap)

    def _evaluators(self, component: tuple[t.Var, ...], reason: str) -> None:
        """The last resort: matrix powers, without a term."""
        try:
            wraps = self._wraps(component)
        except NoClosedForm as failure:
            wraps = {}
            reason = str(failure)
        for var in component:
            if var not in wraps:
                self._refuse(var, reason)
                continue
            wrap, raw = wraps[var]
            try:
                system = linearize(var, self.update, self.changing, wrap)
                values = [var, *(system.symbolic(i) for i in range(1, raw))]
            except (NoClosedForm, t.TermTooLarge):
                self._refuse(var, reason)
                continue
            while raw and wrap is not None and t.fits(values[raw - 1], wrap):
                raw -= 1
            self.known[var] = KnownSequence(None, wrap, raw, reason)
            kind: Kind = "c-finite" if wrap is None else "ring"
            term = system.power(self.counter)
            self.closed[var] = Closed(var, self.counter, kind, term, raw, 1, tuple(values[:raw]), wrap, system)

    def _accept(self, var: t.Var, sequence: Sequence, wrap: t.IntType | None, raw: int) -> None:
        try:
            normal = sequence.normal()
            closed = closed_of(var, self.counter, normal, wrap, raw if wrap is not None else 0)
        except (NoClosedForm, t.TermTooLarge) as failure:
            self._refuse(var, str(failure))
            return
        self.closed[var] = closed
        self.known[var] = KnownSequence(normal, closed.wrap, raw if closed.wrap is not None else 0)

    def _refuse(self, var: t.Var, reason: str) -> None:
        shown = t.brief(self.update[var])
        self.refused[var] = f"{var.name} becomes {shown} in each iteration: {reason}"
        self.known[var] = KnownSequence(None, reason=reason)


def _unwrapped(update: t.Term) -> tuple[t.IntType | None, t.Term]:
    """The outermost reduction and what it reduces."""
    if isinstance(update, t.Wrap) and update.type.width is not None:
        return update.type, update.arg
    return None, update


def _division(update: t.Term) -> tuple[str, t.Term, int]:
    """The update as (operator, numerator, constant divisor): q + floor(e / c) is floor((e + c·q) / c).

    Raises :class:`NoClosedForm`.
    """
    rest = t.polynomial(update)
    for monomial, coefficient in rest.items():
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            quotient = monomial[0][0]
            if isinstance(quotient, t.Op) and quotient.op in ("floor_div", "trunc_div"):
                numerator, divisor = quotient.args
                others = t.from_polynomial({m: c for m, c in rest.items() if m != monomial})
                if isinstance(divisor, t.Const) and (quotient.op == "floor_div" or others is t.ZERO):
                    return quotient.op, numerator + divisor * others, divisor.value
    raise NoClosedForm("it is not a repeated division")


def _is_remainder(term: t.Term, divisor: int) -> bool:
    low, high = t.range_of(term)
    return low is not None and low >= 0 and high is not None and high < divisor


def _width(type: t.IntType | None) -> int:
    assert type is not None
    assert type.width is not None
    return type.width


def _names(variables: Iterable[t.Var]) -> str:
    return " and ".join(sorted(v.name for v in variables))
