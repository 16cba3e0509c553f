"""Terms and conditions of bounded range over Z3's bit vectors, all of one width, wide enough for every value."""

from __future__ import annotations

from typing import Any

from loopless import terms as t
from loopless.limits.logic import MAX_SOLVER_BITS
from loopless.logic.operators import TRANSLATIONS
from loopless.logic.smt_integers import IntegerTranslation


class BitTranslation(IntegerTranslation):
    """As over the integers, in signed bit vectors in which no value of any term overflows."""

    def __init__(self, z3: Any, context: Any) -> None:
        super().__init__(z3, context)
        self.width = 1

    @staticmethod
    def applies(condition: t.Condition) -> bool:
        """Whether every term of the condition has a range that fits."""
        return width_of(condition) is not None

    def number(self, model: Any, value: Any) -> int:
        """The value of a Z3 term in a model."""
        return int(model.eval(value, model_completion=True).as_signed_long())

    def condition(self, condition: t.Condition) -> Any:
        """The condition as a Z3 formula."""
        width = width_of(condition)
        assert width is not None
        self.width = max(self.width, width)
        return self.formula(condition)

    def _sort(self) -> Any:
        return self.z3.BitVecSort(self.width, self.context)

    def constant(self, value: int) -> Any:
        return self.z3.BitVecVal(value, self.width, self.context)

    def _fresh(self, name: str) -> Any:
        return self.z3.BitVec(name, self.width, self.context)

    def _wrap(self, value: Any, type: t.IntType) -> Any:
        if type.width is None:
            return value
        low = self.z3.Extract(type.width - 1, 0, value)
        missing = self.width - type.width
        return self.z3.SignExt(missing, low) if type.signed else self.z3.ZeroExt(missing, low)

    def _operator(self, term: t.Op, args: list[Any]) -> Any:
        words = TRANSLATIONS[term.op].bits
        found = None if words is None else words(self, term, args)
        return self._meaningless(term, args) if found is None else found

    def _meaningless(self, term: t.Op, args: list[Any]) -> Any:
        value = self.z3.Function(term.op, *[self._sort()] * (len(args) + 1))(*args)
        self._bound(value, term)
        return value


def width_of(condition: t.Node) -> int | None:
    """The least width in bits that holds every term's range and one bit more, None where none up to the limit does."""
    widest = 1
    for node in t.walk(condition):
        if isinstance(node, t.Term):
            low, high = t.range_of(node)
            if low is None or high is None:
                return None
            widest = max(widest, low.bit_length(), high.bit_length())
    # one bit for the sign, one so that no quotient of the least value overflows
    return widest + 2 if widest + 2 <= MAX_SOLVER_BITS else None
