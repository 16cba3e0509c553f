"""Limits of :mod:`loopless.bounds`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

LARGE_CONSTANT: Annotated[int, GUESS] = 1 << 24
"""Smallest constant of bounds that come from nothing but the range of a type."""

MAX_BOUNDS: Annotated[int, GUESS] = 4
"""Maximum number of bounds kept for the same count."""

# Asymptotic classes

MAX_CLASS_DEPTH: Annotated[int, GUESS] = 100
"""Maximum depth of a term whose asymptotic class is found."""

SMALL_END: Annotated[int, ChosenBy("the values of a signed byte")] = 128
"""Greatest number that counts as a constant whatever the width of its type."""

COMPARED_DEPTH: Annotated[int, GUESS] = 6
"""Maximum depth to which terms are compared."""

COMPARED_FACTORS: Annotated[int, GUESS] = 4
"""Maximum number of factors of products that are compared."""

CACHED_COMPARISONS: Annotated[int, ChosenBy("the same parts are compared again and again")] = 1 << 16
"""Maximum number of comparisons whose answers are remembered."""

MAX_SAMPLED_VARIABLES: Annotated[int, ChosenBy("there are as many directions as sets of variables; a guess")] = 5
"""Maximum number of variables of a count that is sampled."""

FIRST_SAMPLE_BITS: Annotated[int, ChosenBy("constants of programs are mostly smaller; a guess")] = 12
"""Size in bits at which samples begin."""

MIN_SAMPLES: Annotated[int, GUESS] = 3
"""Minimum number of samples from which a degree is concluded."""

EXPONENT_SLACK: Annotated[float, ChosenBy("terms of lower order; a guess")] = 0.05
"""Part by which a measured exponent may be below the true one."""

EXPONENT_ROUNDING: Annotated[float, ChosenBy("rounding; a guess")] = 0.25
"""Amount by which a measured exponent may be below the true one besides."""

MAX_SAMPLE_BITS: Annotated[int, GUESS] = 1 << 13
"""Maximum size in bits of samples over the integers."""

# Callees

MAX_OUTCOMES: Annotated[int, GUESS] = 8
"""Maximum number of ways to return that a caller tells apart; more become one."""

MAX_TOLD_FACTS: Annotated[int, GUESS] = 16
"""Maximum number of facts of one way to return that callers are told."""

MAX_CALLEE_BLOCKS: Annotated[int, GUESS] = 40
"""Maximum number of blocks of a function that is analysed for the sake of its callers."""

# Claims

CLAIM_OPERATIONS: Annotated[int, ChosenBy("20 ms of isl")] = 200_000
"""Maximum number of isl operations for one question about a claim."""

MAX_COMPARED_CLAIMS: Annotated[int, GUESS] = 200
"""Maximum number of nodes of an upper and a lower bound together that are compared with each other."""

MAX_PIECES: Annotated[int, GUESS] = 8
"""Maximum number of pieces of a count that stands where a bound is known, too; more are not read."""

MAX_EXTRA_SIZE: Annotated[int, GUESS] = 150
"""Maximum number of nodes that a count may have more than a bound, which replaces a larger count."""

MAX_EXTRA_SIZE_WITH_GAPS: Annotated[int, GUESS] = 40
"""The same where neither the count nor the bound says anything about some inputs."""

MAX_CLAIM_ALTERNATIVES: Annotated[int, GUESS] = 16
"""Maximum number of alternatives of a condition that are asked about one by one; one with more is asked about as a
whole."""

PIECE_OPERATIONS: Annotated[int, ChosenBy("3 ms of isl")] = 20_000
"""Maximum number of isl operations for one question about the pieces of a count."""

MAX_COMPARED_PIECES: Annotated[
    int, ChosenBy("isl may take seconds to write longer pieces down, whatever its operations")
] = 40
"""Maximum number of nodes of two pieces of a count that are compared with each other."""

# Induction

MEASURE_OPERATIONS: Annotated[int, ChosenBy("40 ms of isl")] = 300_000
"""Maximum number of isl operations for one question about what an iteration does to a measure."""

MAX_DEGREE: Annotated[int, ChosenBy("Z3 may take seconds for higher degrees")] = 2
"""Maximum degree of claims that Z3 is asked about."""

MAX_GROWTH: Annotated[int, GUESS] = 1 << 20
"""Maximum amount by which one iteration raises a measure, unless the source gives a reason for more."""

CACHED_MAXIMA: Annotated[int, ChosenBy("the steps of a path are asked for at each loop around it; a guess")] = 50_000
"""Maximum number of greatest values that are remembered; then all are forgotten."""

MAX_MODULUS: Annotated[int, GUESS] = 64
"""Maximum modulus whose residues are followed."""

MAX_SLACKS: Annotated[int, GUESS] = 8
"""Maximum number of slacks of a loop that are followed path by path."""

MAX_DIVISOR: Annotated[int, GUESS] = 1 << 20
"""Maximum divisor by which a slack is said to shrink."""

MAX_FLOATING_DEPTH: Annotated[int, ChosenBy("programs have one or two operations; a guess")] = 20
"""Maximum depth of a floating-point expression that is read."""

MAX_FLOATING_STEPS: Annotated[int, ChosenBy("half a second")] = 1_000_000
"""Maximum number of single steps of a floating-point counter that are taken."""

MAX_FLOATING_EXPONENT: Annotated[int, ChosenBy("doubles end at 2^1024")] = 1000
"""Exponents of this absolute value and beyond end the range in which steps of a floating-point counter are taken
together."""

# Invariants

MAX_HEADER_CANDIDATES: Annotated[
    int,
    ChosenBy("halving or doubling it gives as many bounds (62 for 72 loops of 41 functions) in about the same time"),
] = 48
"""Maximum number of inequalities tried at each header."""

MAX_HEADER_QUESTIONS: Annotated[int, GUESS] = 3_000
"""Maximum number of questions to the logic about candidates at headers; beyond it nothing is said to hold."""

MAX_LOOP_CANDIDATES: Annotated[int, GUESS] = 40
"""Maximum number of inequalities tried as invariants of a loop."""

MAX_POSITIVE_PARAMETERS: Annotated[int, GUESS] = 4
"""Maximum number of parameters that candidates take for positive."""

MAX_CALL_CANDIDATES: Annotated[int, GUESS] = 16
"""Maximum number of conditions tried for one loop of a call."""

# Iterations

MAX_FACTS: Annotated[int, GUESS] = 48
"""Maximum number of inequalities, and of disequalities, kept at one place."""

MAX_DISTANCE: Annotated[int, GUESS] = 1 << 20
"""Maximum distance between two values that is taken for a relation between them."""

CACHED_SPLITS: Annotated[int, GUESS] = 10_000
"""Maximum number of terms whose parts are remembered."""

MAX_NESTED_WRAPS: Annotated[int, GUESS] = 3
"""Maximum number of nested reductions into the range of a type that are removed."""

MAX_LEFT_BEHIND: Annotated[int, GUESS] = 4
"""Maximum number of claims about values behind a loop."""

CACHED_RANGES: Annotated[int, ChosenBy("two questions in three are asked again")] = 10_000
"""Maximum number of exact ranges that are remembered; then all are forgotten."""

MAX_KEPT_FACTS: Annotated[int, GUESS] = 8
"""Maximum number of facts carried over an inner loop."""

MAX_MEETING_WAYS: Annotated[int, GUESS] = 24
"""Maximum number of ways to a place that are told apart."""

MAX_COMPARED_WAYS: Annotated[int, GUESS] = 3
"""Maximum number of ways whose values are compared with one another."""

MAX_CELL_PAIRS: Annotated[int, GUESS] = 4000
"""Maximum number of pairs of a scalar in memory and a write in a loop; in a loop with more, no scalar is followed."""

MAX_REMEMBERED_CHECKS: Annotated[int, GUESS] = 8
"""Maximum number of conditions checked before a write that are remembered."""

MAX_ALTERNATIVES: Annotated[int, GUESS] = 8
"""Maximum number of ways to make a condition true that are followed one by one."""

MAX_WAYS: Annotated[int, ChosenBy("loops that are unrolled by eight need nine")] = 16
"""Maximum number of ways whose truth values are followed back."""

MAX_CONDITION_DEPTH: Annotated[int, GUESS] = 6
"""Maximum depth to which truth values that depend on others are followed back."""

SHOWN_SOURCES: Annotated[int, GUESS] = 4
"""Maximum number of sources named in a sentence."""

MAX_NESTED_QUOTIENTS: Annotated[int, GUESS] = 3
"""Maximum number of nested quotients that are removed."""

MAX_VALUE_NODES: Annotated[int, GUESS] = 60
"""Maximum number of nodes of a value that is kept; a longer one becomes a symbol about which nothing is known."""

# Looperman

MAX_AMORTIZED_MEASURES: Annotated[int, GUESS] = 12
"""Maximum number of measures tried for one inner loop whose cost is amortized."""

MAX_OVERDRAFT: Annotated[int, GUESS] = 8
"""Maximum amount by which an entry may take more than what is used up for it."""

MAX_INNER_ITERATIONS: Annotated[int, GUESS] = 16
"""Maximum number of kinds of iterations of an inner loop; one with more may change its variables in any way."""

MAX_TYPE_BOUND: Annotated[int, GUESS] = 1 << 16
"""Maximum bound of an unknown value that is taken from its type."""

MAX_EARLIER_MEASURES: Annotated[int, GUESS] = 4
"""Maximum number of measures that are asked how many iterations come before others."""

MAX_COUNTER_MEASURES: Annotated[int, GUESS] = 40
"""Maximum number of measures tried for one counted target."""

MAX_SCOPE_ITERATIONS: Annotated[int, GUESS] = 16
"""Maximum number of iterations into which the alternatives of effects divide those of a loop."""

MAX_HARD_CONDITIONS: Annotated[int, GUESS] = 40
"""Maximum number of conditions on bits and memory that Z3 is asked about for one loop."""

# Methods

COMPONENTS_WORK: Annotated[
    int,
    ChosenBy("halving or doubling it gives as many bounds (62 for 72 loops of 41 functions) in about the same time"),
] = 30_000
"""Maximum number of multipliers in all systems of inequalities for one function."""

COMPONENTS_OPERATIONS: Annotated[
    int,
    ChosenBy(
        "2 s of isl on small sets; halving or doubling it gives as many bounds "
        "(62 for 72 loops of 41 functions) in about the same time"
    ),
] = 20_000_000
"""Maximum number of isl operations for the systems of one function."""

MAX_LOWER_MEASURES: Annotated[
    int, ChosenBy("halving or doubling it gives as many loops a bound (25 of 44) in about the same time")
] = 8
"""Maximum number of measures tried as lower bounds for one exit."""

MAX_LOWER_BOUNDS: Annotated[
    int, ChosenBy("halving or doubling it gives as many loops a bound (25 of 44) in about the same time")
] = 2
"""Maximum number of lower bounds kept for one exit."""

MAX_LOWER_NODES: Annotated[int, GUESS] = 80
"""Maximum number of nodes of a condition in a lower bound."""

LOWER_OPERATIONS: Annotated[
    int,
    ChosenBy(
        "200 ms of isl on small sets; halving or doubling it gives as many loops a bound "
        "(25 of 44) in about the same time"
    ),
] = 2_000_000
"""Maximum number of isl operations for the lower bounds of one loop."""

MAX_REDUCTIONS: Annotated[
    int,
    ChosenBy(
        "on 44 loops half of it gave as many sets (9 for 7 loops) in a third of the time, twice as "
        "much as many in twice the time"
    ),
] = 5
"""Maximum number of times that a candidate for a recurrent set is cut down."""

MAX_RECURRENT_SETS: Annotated[int, ChosenBy("on 44 loops half of it gave 7 sets, not 9, for as many loops")] = 3
"""Maximum number of recurrent sets given for one loop."""

MAX_RECURRENT_PARTS: Annotated[
    int,
    ChosenBy(
        "on 44 loops half of it gave as many sets (9 for 7 loops) in 0.7 times the time, twice as "
        "much as many in 1.2 times the time"
    ),
] = 12
"""Maximum number of parts of a candidate for a recurrent set; candidates with more are given up."""

MAX_EXTREME_PARAMETERS: Annotated[
    int, ChosenBy("halving or doubling it gives as many sets (9 for 7 of 44 loops) in about the same time")
] = 4
"""Maximum number of parameters that are tried at the ends of their ranges."""

NONTERMINATION_OPERATIONS: Annotated[
    int,
    ChosenBy("50 ms of isl; halving or doubling it gives as many sets (9 for 7 of 44 loops) in about the same time"),
] = 400_000
"""Maximum number of isl operations for one candidate for a recurrent set."""

# Ranking functions

MAX_CUTPOINT_TRANSITIONS: Annotated[
    int,
    ChosenBy("halving or doubling it gives as many bounds (62 for 72 loops of 41 functions) in about the same time"),
] = 60
"""Maximum number of transitions between headers in a function whose components are ranked."""

MAX_RANKING_ALTERNATIVES: Annotated[int, GUESS] = 4
"""Maximum number of ranking functions taken from the conditions themselves; the bound is the least of theirs."""

MAX_ASSUMED_INEQUALITIES: Annotated[
    int, ChosenBy("half of it bounded 35 of 44 loops, not 36, twice as much 36, all in about the same time")
] = 10
"""Maximum number of inequalities tried as conditions at the entry."""

MAX_RANKINGS: Annotated[int, GUESS] = 3
"""Maximum number of bounds given for different conditions at the entry."""

RANKING_WORK: Annotated[
    int,
    ChosenBy("0.3 s each; half of it bounded 35 of 44 loops, not 36, twice as much 36, all in about the same time"),
] = 12_000
"""Maximum number of multipliers in all systems of one search. There are three: without conditions at the entry, with
conditions, and by the ranges of types."""

RANKING_OPERATIONS: Annotated[
    int,
    ChosenBy(
        "400 ms of isl on small sets; halving or doubling it gives as many loops a bound "
        "(36 of 44) in about the same time"
    ),
] = 4_000_000
"""Maximum number of isl operations for the rankings of one loop."""

MAX_PHASES: Annotated[int, GUESS] = 4
"""Maximum number of phases of a multiphase ranking function."""

MAX_RATIOS: Annotated[int, GUESS] = 4
"""Maximum number of factors tried by which a value may grow."""

MAX_TRANSITION_PAIRS: Annotated[
    int,
    ChosenBy("halving or doubling it gives as many bounds (62 for 72 loops of 41 functions) in about the same time"),
] = 90
"""Maximum number of pairs of transitions that can follow one another in a function that is refined."""

LONG_CHAIN: Annotated[int, GUESS] = 5
"""Number of transitions from which a chain counts as long."""

MAX_SIZE_DEPTH: Annotated[
    int,
    ChosenBy("halving or doubling it gives as many bounds (62 for 72 loops of 41 functions) in about the same time"),
] = 4
"""Maximum number of levels to which amounts that depend on the state are bounded in turn."""

MAX_MONOMIALS: Annotated[int, GUESS] = 300
"""Maximum number of monomials of a size bound; larger bounds are given up."""

MAX_PATH_TRANSITIONS: Annotated[int, GUESS] = 24
"""Maximum number of transitions that one path is split into."""

MAX_TRANSITIONS: Annotated[int, GUESS] = 40
"""Approximate maximum number of transitions that all paths of a loop are split into."""

MAX_CONJUNCTS: Annotated[int, GUESS] = 40
"""Maximum number of conjuncts of a condition that is split."""

MAX_WRAPS: Annotated[int, GUESS] = 3
"""Maximum number of multiples of the modulus that a reduction may add or subtract, if it is split by them."""

# Reads

MAX_CHOICE_STEPS: Annotated[int, GUESS] = 1500
"""Maximum number of steps of a search for constant values of reads."""

MAX_COMBINATIONS: Annotated[int, GUESS] = 60
"""Maximum number of combinations of values tried for the reads of one block."""

MAX_READ_VALUES: Annotated[int, GUESS] = 8
"""Maximum number of values of one read that are told apart."""

MAX_ASSUMED_WAYS: Annotated[int, GUESS] = 3
"""Maximum number of ways to a value that are put into an assumption one by one."""

SHOWN_CAUSES: Annotated[int, GUESS] = 3
"""Maximum number of causes named in a sentence."""

varied(__name__)
