"""Limits of :mod:`loopless.terms`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# terms.build

MAX_MONOMIALS: Annotated[int, GUESS] = 400
"""Maximum number of monomials of a product that is multiplied out. The caller refuses larger ones."""

MAX_DEGREE: Annotated[int, GUESS] = 256
"""Maximum degree of a product that is multiplied out. Repeated squares exceed it."""

MAX_POWER_BITS: Annotated[int, GUESS] = 8192
"""Maximum number of bits of a power of constants that is worked out."""

# terms.conditions

MAX_SIGN_DEPTH: Annotated[int, ChosenBy("comparisons of texts nest two choices")] = 4
"""Maximum depth of nested choices that are searched for signs."""

MAX_LIFTED_DEPTH: Annotated[int, GUESS] = 100
"""Maximum depth of nested choices that are lifted."""

# terms.exact_quotients

MAX_RESIDUES: Annotated[int, GUESS] = 4096
"""Maximum number of combinations of residues that are tried to see whether a polynomial is a multiple of a number."""

# terms.curves

MAX_CURVE_BITS: Annotated[int, GUESS] = 1 << 20
"""Maximum number of bits of a power in a value of a curve."""

# terms.evaluate

MAX_ELEMENTS: Annotated[int, GUESS] = 1 << 24
"""Maximum number of elements of sequences that are read. Evaluation refuses beyond."""

REMEMBERED_PARTIAL: Annotated[int, GUESS] = 10_000
"""Maximum number of nodes for which the program remembers whether they may lack a value."""

MAX_EVALUATION_DEPTH: Annotated[int, ChosenBy("each step takes several calls")] = 60
"""Maximum depth of an evaluation. Beyond it the evaluation starts anew from the values that it needs there."""

# terms.functions

MAX_EXPANDED_POWER: Annotated[int, GUESS] = 3
"""Maximum power of a matrix, and number of digits or divisions, that is multiplied out."""

MAX_FOLDED_BITS: Annotated[int, GUESS] = 256
"""Maximum number of bits of a constant that stands for a function of constants. Larger constants stay functions of
smaller ones."""

# terms.ideals

MAX_EQUATION_PRODUCTS: Annotated[int, GUESS] = 400
"""Maximum number of products of equations that are combined."""

MAX_EQUATION_MONOMIALS: Annotated[int, GUESS] = 200
"""Maximum number of monomials of an equation that is combined with others."""

COEFFICIENT_CHARGE_S: Annotated[float, ChosenBy("measured on equations of ten variables")] = 0.5e-6
"""Seconds of work that a coefficient counts as when a multiple of an equation is subtracted."""

# terms.modular

MAX_ORDER_MODULUS: Annotated[int, ChosenBy("powers of odd numbers modulo 2^w repeat after 2^(w - 2) steps")] = 1 << 12
"""Maximum modulus whose powers of odd numbers are tried one by one."""

# terms.nodes

MAX_KEY_LENGTH: Annotated[int, GUESS] = 160
"""Maximum number of characters of a key that is kept whole. A longer key ends with a digest."""

NODE_CHARGE_S: Annotated[float, ChosenBy("measured over proofs of programs")] = 100e-6
"""Seconds of work that a new node counts as, with all that is done for it."""

# terms.numerals

MAX_DISTANCE_TO_END: Annotated[int, GUESS] = 1000
"""Maximum distance from the end of a type, or from a power of two, at which a number is told by it."""

FIRST_SHOWN_POWER: Annotated[int, ChosenBy("people know the smaller ones")] = 31
"""Least exponent of a power of two that is told as a power."""

# terms.operators

MAX_BITS: Annotated[int, GUESS] = 1 << 22
"""Maximum number of bits of an intermediate value. Evaluation refuses beyond."""

# terms.powers

MAX_INTEGER_BITS: Annotated[int, GUESS] = 1 << 20
"""Maximum number of bits of a value over ℤ."""

REMEMBERED_POWERS: Annotated[int, ChosenBy("eight megabytes at most; to find that one is too large costs 20 ms")] = 64
"""Maximum number of powers that the program remembers. A search for a point asks for the same ones again and again."""

# terms.presentation

MAX_PRESENTED_MONOMIALS: Annotated[int, GUESS] = 40
"""Maximum number of summands of a sum that is rewritten to read well. A longer sum is printed as it is."""

# terms.printing

MAX_BRIEF_NODES: Annotated[int, GUESS] = 60
"""Maximum number of different parts of an expression that is written out in a sentence."""

MAX_READABLE_FACTOR: Annotated[int, GUESS] = 4
"""Maximum number of times that a form that reads better may exceed the length of the canonical form."""

# terms.nodes

MAX_CONSTANT_BITS: Annotated[int, ChosenBy("Python writes 4,300 digits")] = 14_000
"""Maximum number of bits of a constant. What is larger ends the work at the limit of terms."""

# terms.ranges

MAX_PRODUCT_BITS: Annotated[int, GUESS] = 4096
"""Maximum number of bits of a bound on a product. A product that may have more counts as without bound."""

MAX_BOUNDED_EXPONENT: Annotated[int, GUESS] = 4096
"""Maximum exponent of a power that is bounded."""

MAX_BOUND_BITS: Annotated[int, GUESS] = 8192
"""Maximum number of bits of a bound. A larger bound counts as none, since it is not written as a constant."""

# terms.sharing

MAX_PLAIN_NODES: Annotated[int, GUESS] = 1_000
"""Maximum number of parts of an expression that is written out whole."""

MAX_SHARED_NODES: Annotated[int, GUESS] = 50_000
"""Maximum number of different parts of an expression that is written with names for its shared parts. A larger one is
not written."""

MAX_PLAIN_DEPTH: Annotated[int, ChosenBy("readers that read recursively have their limits, too")] = 60
"""Maximum depth of an expression that is written out whole. Deeper parts are written under names."""

MAX_UNNAMED_DEPTH: Annotated[int, GUESS] = 30
"""Maximum depth of parts without a name, in an expression with names."""

MIN_NAMED_NODES: Annotated[int, ChosenBy("the length of a name for them")] = 6
"""Least number of parts of a shared part that gets a name."""

# terms.smtlib

MAX_PLAIN_LENGTH: Annotated[int, GUESS] = 4_000
"""Maximum number of characters of an expression in SMT-LIB that is written out whole. In longer ones ``let`` names
shared parts."""

# terms.substitute

REMEMBERED_BINDINGS: Annotated[int, GUESS] = 1024
"""Maximum number of bindings for which the program remembers the nodes that they give."""

REMEMBERED_NODES: Annotated[int, GUESS] = 20_000
"""Maximum number of nodes that the program remembers for one set of bindings."""

varied(__name__)
