"""Closed forms of iterating a simultaneous update X' = f(X), exact over ℤ and in the ring modulo 2^width.

``solve(update, counter)``
    ``update`` maps each changed variable to a term over all variables (the others are invariant); the result says for
    each of them what it holds after ``counter`` = k iterations (:class:`Closed`), or why that has no closed form (one
    sentence). Handled, in the order of dependency: resets, copies and temporaries (valid after finitely many
    iterations); x + c; sums x + p(solved); a·x + e with e any exponential polynomial; mutually linear variables
    (swaps, signed permutations, rational eigenvalues of some power of the matrix); floors and remainders by constants
    of solved variables (by inflating the period); repeated division, and sums over
    its digits; idempotent updates (x % c, min(x, n)). What is
    linear after adding monomials but has no form of these kinds is a power of a matrix, as a term if that is small.

    An update ``Wrap(e, T)`` is solved over ℤ and reduced once, since reduction is a ring homomorphism. A variable that
    wraps may be read where only its residue counts; one that is read for its exact value (at more bits, over ℤ,
    under a division) is a refusal for the reader.

``Closed``
    ``term`` over entry values and the counter, exact for k ≥ ``valid_from``, ``at(k)`` for every small k,
    ``evaluate(values, k)`` for every k, also 10^18. ``Solution.closed``, ``Solution.refused``.

``iterate(update, n)``, ``finite_order(update, control, max_start, max_period)``
    symbolic powers of an update, and the least (m, p) at which U^(m+p) - U^m is a constant translation.

``sum_over(term, counter, low, high)``, ``sign_over(term, counter)``, ``curves_of(term, counter)``
    sums in closed form; how a form moves from k to k+1 and where it turns; its coefficients as an exponential
    polynomial.

All closed forms hold on runs in which every variable stays in the range of its type.
"""

from __future__ import annotations

from loopless.recurrences.closed import Closed, Composed, Kind, Repeated, Solution
from loopless.recurrences.curves import curves_of
from loopless.recurrences.expoly import NoClosedForm
from loopless.recurrences.iteration import FiniteOrder, finite_order, iterate
from loopless.recurrences.linearize import LinearSystem
from loopless.recurrences.solve import solve
from loopless.recurrences.sums import Difference, sign_over, sum_over

__all__ = [
    "Closed",
    "Composed",
    "Difference",
    "FiniteOrder",
    "Kind",
    "LinearSystem",
    "NoClosedForm",
    "Repeated",
    "Solution",
    "curves_of",
    "finite_order",
    "iterate",
    "sign_over",
    "solve",
    "sum_over",
]
