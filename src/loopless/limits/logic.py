"""Limits of :mod:`loopless.logic`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# logic.engine

DEFAULT_OPERATIONS: Annotated[
    int, ChosenBy("a quarter of a second on sets of loops, up to a minute on monstrous ones")
] = 2_000_000
"""Maximum number of isl operations for one call where no budget is in force. On sets of loops a call takes some hundred
to some thousand."""

CHEAP_DIVISIONS: Annotated[int, ChosenBy("isl does not count 3 ms of work with 8 of them")] = 8
"""Maximum number of quotients in a part of a set that costs no more than isl counts. A part with more is charged
for."""

# logic.farkas

FARKAS_STEPS: Annotated[int, ChosenBy("0.3 s of Z3")] = 4_000_000
"""Maximum number of Z3 steps for one system."""

MAX_MULTIPLIERS: Annotated[int, GUESS] = 4_000
"""Maximum number of multipliers of a system."""

REMEMBERED_AFFINE_FORMS: Annotated[int, ChosenBy("10 MB")] = 20_000
"""Maximum number of affine forms that the program remembers."""

# logic.feasible

FEASIBILITY_OPERATIONS: Annotated[int, ChosenBy("25 ms of isl, more on large sets")] = 200_000
"""Maximum number of isl operations for one question."""

MAX_ISL_VARIABLES: Annotated[
    int, ChosenBy("30 ms of Z3; one isl operation on so many dimensions may cost a second")
] = 24
"""Maximum number of variables of a condition about which isl is asked first. With more Z3 is asked first."""

SEARCH_CHARGE: Annotated[int, ChosenBy("about as long as such a search takes")] = 16
"""Number of isl operations that a search for a point is charged with, for each conjunct."""

FEASIBILITY_SOLVER_STEPS: Annotated[int, ChosenBy("50 ms of Z3")] = 400_000
"""Maximum number of Z3 steps for one question beyond Presburger."""

FEASIBILITY_SOLVER_MS: Annotated[
    int, ChosenBy("more than the steps take, so that answers do not depend on the machine")
] = 2_000
"""Maximum number of milliseconds for one question beyond Presburger."""

REMEMBERED_CONDITIONS: Annotated[int, ChosenBy("10 MB for the answers, and as much for the subjects")] = 50_000
"""Maximum number of conditions for which the program remembers their answers and subjects."""

# logic.induction

INDUCTION_CHECK_MS: Annotated[int, GUESS] = 400
"""Maximum number of milliseconds for one question to the solver."""

CANDIDATE_CHARGE_S: Annotated[float, ChosenBy("the time that it takes")] = 250e-6
"""Seconds of work that telling the solvers of a candidate counts as."""

SPLIT_QUESTION_FACTOR: Annotated[int, GUESS] = 6
"""Number of times that a question may take longer if it falls into many."""

# logic.intervals

MAX_NARROWING_ROUNDS: Annotated[int, GUESS] = 4
"""Maximum number of rounds through all conditions, while some still tell something new."""

MAX_OPERAND_DEPTH: Annotated[int, GUESS] = 40
"""Maximum depth of operands that are looked at. A deeper operand may be anything in the range of its type."""

MAX_REDUCTION_WINDOWS: Annotated[int, GUESS] = 4
"""Maximum number of multiples of the modulus that a reduction may add and still say something of its operand."""

# logic.least

MANY_DIVISIONS: Annotated[int, GUESS] = 5
"""Least number of quotients in one part of a map that is written as a function part by part."""

# logic.pinning

MAX_PINNING_ROUNDS: Annotated[int, GUESS] = 3
"""Maximum number of rounds of putting in values that equalities give. One round finds values that the one before has
made plain."""

# logic.points

MAX_SAMPLED_PARTS: Annotated[int, GUESS] = 4
"""Maximum number of parts of a region from which a point is taken. A few points tell most terms apart."""

# logic.residue_classes

MAX_RESIDUE_MODULUS: Annotated[int, GUESS] = 16
"""Maximum modulus whose residues are looked at one by one."""

MAX_JOINED_ALTERNATIVES: Annotated[int, GUESS] = 8
"""Maximum number of alternatives that are put together."""

# logic.simplify

SIMPLIFICATION_OPERATIONS: Annotated[int, ChosenBy("a quarter of a second of isl, more on large sets")] = 2_000_000
"""Maximum number of isl operations for one simplification."""

RESIDUE_OPERATIONS: Annotated[int, GUESS] = 50_000
"""Maximum number of isl operations for putting alternatives together that differ in residues only."""

REMEMBERED_VALUELESS: Annotated[int, GUESS] = 10_000
"""Maximum number of conditions for which the program remembers whether they may have no value."""

SIMPLIFICATION_SOLVER_STEPS: Annotated[
    int, ChosenBy("20 ms of Z3; with a third some conditions of gcd by subtraction stay ten times as long")
] = 100_000
"""Maximum number of Z3 steps for one part beyond Presburger that is simplified."""

SIMPLIFICATION_SOLVER_MS: Annotated[
    int, ChosenBy("more than the steps take, so that answers do not depend on the machine")
] = 2_000
"""Maximum number of milliseconds for one part beyond Presburger that is simplified."""

MIN_ASKED_LENGTH: Annotated[int, GUESS] = 16
"""Least number of characters of a part that is worth a question."""

# logic.smt_bits

MAX_SOLVER_BITS: Annotated[int, ChosenBy("a guess: three times 64")] = 192
"""Maximum number of bits of values about which the solver is asked in bits."""

# logic.smt_integers

TRANSLATION_CHARGE_S: Annotated[float, ChosenBy("measured, as all that is counted: twice that on a busy machine")] = (
    120e-6
)
"""Seconds of work that the translation of a node counts as."""

# logic.translate

MAX_PRODUCT_CASES: Annotated[int, GUESS] = 16
"""Maximum number of cases into which the values of its small factors split a product."""

MAX_WRAP_BRANCHES: Annotated[int, GUESS] = 3
"""Maximum number of multiples of the modulus that the argument of a wrap written as branches meets. Others are written
as ``mod``."""

MAX_BIT_RUNS: Annotated[int, GUESS] = 4
"""Maximum number of runs of ones in a bit mask. A mask with more is quasi-affine, too, but refused as too costly."""

MAX_TABLE_OPERANDS: Annotated[int, ChosenBy("64 entries and the index")] = 65
"""Maximum number of operands, the index included, of a table that is written as pieces."""

REMEMBERED_SETS: Annotated[int, GUESS] = 20_000
"""Maximum number of terms and conditions whose sets the program remembers."""

# logic.unrolling

UNROLLING_CHECK_MS: Annotated[int, GUESS] = 2000
"""Maximum number of milliseconds for one question to the solver about an unrolling."""

# logic.witness

UNBOUNDED_VALUE: Annotated[int, GUESS] = 1 << 20
"""Absolute value that the search tries where a variable has no bound."""

MAX_REPAIRS: Annotated[int, GUESS] = 6
"""Maximum number of times that a point is moved beyond once for each part."""

MAX_LOOKS: Annotated[
    int,
    ChosenBy("2 ms: finds nine in ten points for questions of two builds; three times as many find half of the others"),
] = 200
"""Maximum number of times that the search looks at a part or a term."""

MAX_FULFILLED_PARTS: Annotated[int, GUESS] = 200
"""Maximum number of times that parts are found to hold before the search near a point ends, beside those for each
part."""

MAX_FULFILLED_TIMES: Annotated[int, GUESS] = 8
"""Maximum number of times, for each part, that parts are found to hold before the search near a point ends. It takes
the square of their number otherwise, if each speaks of the same variables."""

MAX_SEARCHED_PARTS: Annotated[int, GUESS] = 32
"""Maximum number of parts of a condition that is searched for a point. Of more parts the search would see too
little."""

REMEMBERED_SWEEPS: Annotated[int, GUESS] = 10_000
"""Maximum number of conditions for which the program remembers whether they read values of loops in memory."""

MAX_TRIED_CONSTANTS: Annotated[int, GUESS] = 4
"""Maximum number of constants in a term that are tried as values."""

# Contents

CONTENT_CHECK_MS: Annotated[int, GUESS] = 500
"""Milliseconds of work for a question about what elements hold."""

FEW_POSITIONS: Annotated[int, GUESS] = 1_000
"""Number of positions that aggregates come to at most where the logic finds such values: short runs are shown first."""

MAX_CELL_CONDITIONS: Annotated[int, GUESS] = 5
"""Maximum number of conditions by which the elements of one sequence are divided for counts and sums."""

MAX_CELL_ORDERS: Annotated[int, GUESS] = 24
"""Maximum number of orders that are tried of elements that are counted and others."""

MAX_TRIED_POSITIONS: Annotated[int, ChosenBy("half a second")] = 20_000
"""Maximum number of positions over which proposed contents are tried before a run tries them."""

REMEMBERED_CHOICES: Annotated[int, GUESS] = 1_000
"""Maximum number of groups of sums for which the program remembers how conditions divide their elements."""

MAX_CONTENT_RUNS: Annotated[int, GUESS] = 200
"""Maximum number of runs of equal rows that one object or stream is filled with."""

varied(__name__)
