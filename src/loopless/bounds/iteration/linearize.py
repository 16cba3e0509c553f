"""Terms as affine ones over variables and names, with the linear facts that are known of what the names stand for.

A quotient q = floor(e/d) lies between two multiples: d·q ≤ e < d·q + d. A product of factors between known limits lies
between McCormick's planes. A mask has no more bits than either of its operands. Everything else has a range.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from loopless import terms as t
from loopless.limits.bounds import CACHED_RANGES
from loopless.logic import BudgetExceeded, enclosing_region
from loopless.logic.region import EmptyRegion
from loopless.terms.ranges import Range


class Linearizer:
    """Collects rows, affine terms that are ≥ 0 wherever a condition holds, and names for what is not affine.

    ``rows`` are as in the source; ``wide`` are those with numbers like the limits of types. ``fixed``: the names of
    terms that no iteration changes.
    """

    def __init__(self, condition: t.Condition, label: str, changed: frozenset[t.Var]) -> None:
        """``changed``: variables that may differ from one iteration to the next; other terms keep their names."""
        self.condition = condition
        self.label = label
        self.changed = changed
        self.fixed: dict[t.Var, t.Term] = {}
        self.rows: list[t.Term] = []
        self.wide: list[t.Term] = []
        self.names: dict[t.Term, t.Term] = {}

    def row(self, term: t.Term, *, wide: bool = False) -> None:
        """Adds that the affine ``term`` is ≥ 0."""
        if isinstance(term, t.Const):
            return
        target = self.wide if wide or _is_wide(term) else self.rows
        if term not in target:
            target.append(term)

    def excluded(self, term: t.Term) -> None:
        """Adds that ``term`` is not 0, where a row already says on which side of 0 it is."""
        for side in (term, -term):
            for rows in (self.rows, self.wide):
                if side in rows:
                    rows.remove(side)
                    self.row(side - 1)
                    return

    def ranges(self, variables: Iterable[t.Var]) -> None:
        """Adds the ranges of the variables' types; that an unsigned one is not negative is no wide fact."""
        for variable in sorted(variables, key=lambda v: v.key):
            self.within(variable, variable)

    def within(self, term: t.Term, variable: t.Var) -> None:
        """Adds that the affine ``term`` is in the range of the type of ``variable``."""
        least, most = variable.type.min, variable.type.max
        if least is not None:
            (self.rows if least == 0 else self.wide).append(term - least)
        if most is not None:
            self.wide.append(most - term)

    def step(
        self, update: Mapping[t.Var, t.Term], checks: Collection[t.Condition] = (), *, ranged: bool = False
    ) -> dict[t.Var, t.Term]:
        """Adds what the conjuncts of the condition say, and the ranges of types, of a step with this ``update``; what
        variables are behind it, as affine terms. ``checks``: conjuncts whose rows are wide. ``ranged``: the ranges of
        variables of wide rows, too.
        """
        comparisons = [part for part in t.conjuncts(self.condition) if isinstance(part, t.Compare)]
        for part in comparisons:
            if part.relation == "ne":
                continue
            term = self.term(part.term)
            self.row(-term, wide=part in checks)
            if part.relation == "eq":
                self.row(term)
        for part in comparisons:
            if part.relation == "ne":
                self.excluded(self.term(part.term))
        after = {var: self.term(term) for var, term in update.items()}
        rows = (*self.rows, *self.wide) if ranged else self.rows
        occurring = {v for row in (*rows, *after.values()) for v in row.variables} | set(after)
        self.ranges(v for v in occurring if v.type.width is not None)
        for var, term in after.items():
            self.within(term, var)
        return after

    def term(self, term: t.Term) -> t.Term:
        """``term`` as an affine term."""
        parts: list[t.Term] = []
        for monomial, coefficient in t.polynomial(term).items():
            if not monomial:
                parts.append(t.const(coefficient))
            elif len(monomial) == 1 and monomial[0][1] == 1:
                parts.append(self._atom(monomial[0][0]) * coefficient)
            else:
                parts.append(self._product(monomial) * coefficient)
        return t.add(*parts)

    def _atom(self, atom: t.Term) -> t.Term:
        if isinstance(atom, t.Var):
            return atom
        found = self.names.get(atom)
        if found is None:
            found = self.names[atom] = self._named(atom)
        return found

    def _divided(self, op: str, dividend: t.Term, divisor: int) -> tuple[t.Term, t.Term]:
        """The name of a quotient, and the remainder by it."""
        key = t.Op(op, (dividend, t.const(divisor)))
        quotient = self.names.get(key) or self._fresh(key)
        self.names[key] = quotient
        return quotient, self.term(dividend) - quotient * divisor

    def _named(self, atom: t.Term) -> t.Term:
        match atom:
            case t.Op(op="floor_div" | "mod") if isinstance(atom.args[1], t.Const) and atom.args[1].value > 0:
                divisor = atom.args[1].value
                quotient, rest = self._divided("floor_div", atom.args[0], divisor)
                self.row(rest)
                self.row(divisor - 1 - rest)
                return quotient if atom.op == "floor_div" else rest
            case t.Op(op="trunc_div" | "trunc_rem") if isinstance(atom.args[1], t.Const) and atom.args[1].value > 0:
                divisor = atom.args[1].value
                quotient, rest = self._divided("trunc_div", atom.args[0], divisor)
                self.row(rest + (divisor - 1))
                self.row(divisor - 1 - rest)
                return quotient if atom.op == "trunc_div" else rest
            case t.Op(op="min" | "max"):
                name = self._fresh(atom)
                for arg in atom.args:
                    distance = self.term(arg) - name
                    self.row(distance if atom.op == "min" else -distance)
                return name
            case t.Op(op="bit_and"):
                name = self._fresh(atom)
                for arg in atom.args:
                    if _at_least(range_under(arg, self.condition), 0):
                        self.row(name)
                        self.row(self.term(arg) - name)
                return name
            case t.Op(op="shr" | "floor_div"):
                name = self._fresh(atom)
                divisor_range = range_under(atom.args[1], self.condition)
                least = 0 if atom.op == "shr" else 1
                if _at_least(range_under(atom.args[0], self.condition), 0) and _at_least(divisor_range, least):
                    self.row(name)
                    self.row(self.term(atom.args[0]) - name)
                return name
            case t.Op(op="mod"):
                name = self._fresh(atom)
                if _at_least(range_under(atom.args[1], self.condition), 1):
                    self.row(name)
                    self.row(self.term(atom.args[1]) - (name + 1))
                return name
            case _:
                return self._fresh(atom)

    def _fresh(self, term: t.Term) -> t.Var:
        if term.variables.isdisjoint(self.changed):
            name = t.Var(f"'{term.key}", t.INTEGERS)
            self.fixed[name] = term
        else:
            name = t.Var(f"'{self.label} {len(self.names)} {term.key}", t.INTEGERS)
        self.names[term] = name
        low, high = t.range_of(term) if not isinstance(term, t.Wrap) else (term.type.min, term.type.max)
        if low is not None:
            self.row(name - low, wide=_is_large(low, term.variables))
        if high is not None:
            self.row(high - name, wide=_is_large(high, term.variables))
        return name

    def _product(self, monomial: t.Monomial) -> t.Term:
        whole = t.Sum(((monomial, 1),))
        found = self.names.get(whole)
        if found is None:
            found = self._fresh(whole)
            atoms = [atom for atom, exponent in monomial for _ in range(exponent)]
            if len(atoms) == 2:
                self._planes(found, atoms[0], atoms[1])
        return found

    def _planes(self, product: t.Term, a: t.Term, b: t.Term) -> None:
        """(a - l)(b - m) ≥ 0 and its like, for limits l, m of the factors (McCormick)."""
        left, right = range_under(a, self.condition), range_under(b, self.condition)
        x, y = self._atom(a), self._atom(b)
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
            limit, other = left[i], right[j]
            if limit is None or other is None:
                continue
            # the product x·y is `product`
            plane = product + x * -other + y * -limit + t.mul(t.const(limit), t.const(other))
            self.row(plane if i == j else -plane)
        if a is b:
            for sign in (1, -1):  # x² ≥ ±x over the integers
                self.row(product + x * sign)


def _at_least(found: Range, limit: int) -> bool:
    return found[0] is not None and found[0] >= limit


def _is_wide(row: t.Term) -> bool:
    return any(_is_large(c, row.variables) for c in t.polynomial(row).values())


def _is_large(number: int, variables: Iterable[t.Var]) -> bool:
    """Whether a number is like the limits of the types, or a fraction of them."""
    widths = [v.type.width for v in variables if v.type.width is not None]
    return abs(number) >= 1 << max(min(widths, default=32) - 3, 4)


def range_under(term: t.Term, condition: t.Condition) -> Range:
    """Bounds on ``term`` where ``condition`` holds, from the comparisons that share a variable with it."""
    low, high = t.range_of(term)
    near = [
        p for p in t.conjuncts(condition) if isinstance(p, t.Compare) and not p.variables.isdisjoint(term.variables)
    ]
    if not near:
        return low, high
    asked = t.conjunction((*near, _RESULT.eq(term)))
    found = _known.get(asked)
    if found is None:
        try:
            found = enclosing_region(asked).range_of(_RESULT)
        except EmptyRegion:
            found = low, high
        except BudgetExceeded:
            return low, high
        if len(_known) >= CACHED_RANGES:
            _known.clear()
        _known[asked] = found
    return found


_RESULT = t.Var("'result", t.INTEGERS)
_known: dict[t.Condition, Range] = {}
"""Of what was asked the exact answers: two questions in three are asked again."""
