"""Integer terms and conditions: immutable, interned, printed in C syntax with the source's own names.

Terms denote integers without bound. Machine arithmetic is explicit: a wrapping operation is a :class:`Wrap` node, an
operation that must not overflow is the plain operation beside a check. Build with the functions of this package: they
keep sums as canonical polynomials over atoms, comparisons as ``term ≤ 0``, ``= 0``, ``≠ 0``, and simplify by the ranges
of the variables' types. Every simplification holds for all values of the variables.
"""

from __future__ import annotations

from loopless.terms.build import (
    TermTooLarge,
    add,
    bit_and,
    bit_or,
    bit_xor,
    const,
    fits,
    floor_div,
    from_polynomial,
    ite,
    maximum,
    minimum,
    mod,
    mul,
    neg,
    operation,
    polynomial,
    power,
    read,
    scale,
    shift_left,
    shift_right,
    sub,
    trunc_div,
    trunc_rem,
    variable,
    wrap,
)
from loopless.terms.conditions import (
    at_most_zero,
    between,
    conjunction,
    conjuncts,
    disjunction,
    disjuncts,
    equal,
    equals_zero,
    greater,
    greater_equal,
    implies,
    less,
    less_equal,
    negate,
    not_equal,
    not_zero,
    truth,
)
from loopless.terms.evaluate import EvaluationError, evaluate, holds
from loopless.terms.nodes import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    And,
    Compare,
    Condition,
    Const,
    Ite,
    Monomial,
    Node,
    Op,
    Or,
    Read,
    Sum,
    Term,
    Truth,
    Var,
    Wrap,
    walk,
)
from loopless.terms.printing import condition_lines, text, type_name
from loopless.terms.ranges import range_of
from loopless.terms.smtlib import smt, symbol
from loopless.terms.substitute import substitute, transform
from loopless.terms.types import INTEGERS, IntType

__all__ = [name for name in dir() if not name.startswith("_")]
