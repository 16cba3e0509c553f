"""Terms and conditions over Z3's integers.

Where the theory has no counterpart (bit operations on unknowns, powers, array reads) a function without meaning stands,
with the range of the term and a few true facts: that never loses a solution, and may add some. A division by zero,
which no solution evaluates, gives 0.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

from loopless import clock
from loopless import terms as t
from loopless.limits.logic import TRANSLATION_CHARGE_S
from loopless.logic.operators import TRANSLATIONS


class IntegerTranslation:
    """One question's translation into a Z3 context; ``facts`` are to be asserted beside it."""

    def __init__(self, z3: Any, context: Any) -> None:
        self.z3 = z3  # the module: it loads slowly, so only where there is a question
        self.context = context
        self.facts: list[Any] = []
        self.variables: dict[t.Var, Any] = {}
        self.reads: dict[tuple[str, t.IntType], list[tuple[Any, Any]]] = {}
        self.done: dict[t.Node, Any] = {}

    def number(self, model: Any, value: Any) -> int:
        """The value of a Z3 term in a model."""
        return int(model.eval(value, model_completion=True).as_long())

    def condition(self, condition: t.Condition) -> Any:
        """The condition as a Z3 formula."""
        return self.formula(condition)

    def formula(self, node: t.Node) -> Any:
        """A condition or a term as Z3 has it; what was translated before is used again."""
        for part in t.walk(node):
            if part not in self.done:
                self.done[part] = self._node(part)
                clock.count(TRANSLATION_CHARGE_S)
        return self.done[node]

    @property
    def sort(self) -> Any:
        """The sort of terms."""
        return self._sort()

    def limits(self, value: Any, term: t.Term) -> list[Any]:
        """That ``value`` is in the range of ``term``."""
        low, high = t.range_of(term)
        least = [] if low is None else [value >= self.constant(low)]
        return least + ([] if high is None else [value <= self.constant(high)])

    def _node(self, node: t.Node) -> Any:
        match node:
            case t.Truth():
                return self.z3.BoolVal(node.value, self.context)
            case t.Compare():
                return t.RELATIONS[node.relation].fold(self.done[node.term], self.constant(0))
            case t.And():
                return self.z3.And(*(self.done[arg] for arg in node.args))
            case t.Or():
                return self.z3.Or(*(self.done[arg] for arg in node.args))
            case t.Term():
                return self._term(node)
            case _:
                raise AssertionError(node)

    def _term(self, term: t.Term) -> Any:
        match term:
            case t.Const():
                return self.constant(term.value)
            case t.Var():
                found = self.variables[term] = self._fresh(f"v{len(self.variables)}")
                self._bound(found, term)
                return found
            case t.Sum():
                return self._sum(term)
            case t.Wrap():
                return self._wrap(self.done[term.arg], term.type)
            case t.Ite():
                return self.z3.If(self.done[term.condition], self.done[term.then], self.done[term.otherwise])
            case t.Read():
                return self._read(term)
            case t.Aggregate():  # any value of its range: what its elements say of it is not told
                found = self._fresh(f"a{len(self.done)}")
                self._bound(found, term)
                return found
            case t.Op():
                return self._operator(term, [self.done[arg] for arg in term.args])
            case _:
                raise AssertionError(term)

    def _sum(self, term: t.Sum) -> Any:
        parts = []
        for monomial, coefficient in term.items:
            factors = [self.done[atom] for atom, exponent in monomial for _ in range(exponent)]
            if coefficient != 1 or not factors:  # each product that is not made is time of Z3's interface
                factors.insert(0, self.constant(coefficient))
            parts.append(reduce(operator.mul, factors))
        return reduce(operator.add, parts) if parts else self.constant(0)

    def _read(self, term: t.Read) -> Any:
        offset = self.done[term.offset]
        # The name must be this memory's alone, whatever characters it has.
        memory = self.z3.Function(f"{term.array}:{term.type}", self._sort(), self._sort())
        element = memory(offset)
        self._bound(element, term)
        self.reads.setdefault((term.array, term.type), []).append((offset, element))
        return element

    def _bound(self, value: Any, term: t.Term) -> None:
        self.facts += self.limits(value, term)

    # What bit vectors do differently:

    def _sort(self) -> Any:
        return self.z3.IntSort(self.context)

    def constant(self, value: int) -> Any:
        """A number in the sort of terms."""
        return self.z3.IntVal(value, self.context)

    def _fresh(self, name: str) -> Any:
        return self.z3.Int(name, self.context)

    def _wrap(self, value: Any, type: t.IntType) -> Any:
        if type.width is None or type.min is None:
            return value
        return (value - type.min) % (1 << type.width) + type.min

    def _operator(self, term: t.Op, args: list[Any]) -> Any:
        words = TRANSLATIONS[term.op].integers
        found = None if words is None else words(self, term, args)
        return self._meaningless(term, args) if found is None else found

    def _meaningless(self, term: t.Op, args: list[Any]) -> Any:
        function = self.z3.Function(term.op, *[self._sort()] * (len(args) + 1))
        value = function(*args)
        self._bound(value, term)
        base = term.args[0]
        if term.op == "pow" and isinstance(base, t.Const) and base.value >= 2:
            # Bernoulli's inequality, and powers grow with the exponent
            self.facts.append(self.z3.Implies(args[1] >= 0, value >= 1 + args[1] * (base.value - 1)))
        return value
