"""Limits of :mod:`loopless.summary`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# summary.memory

MAX_CARRIED_ELEMENTS: Annotated[int, ChosenBy("loops carry one or two elements, some four")] = 8
"""Maximum number of elements that one loop carries from an iteration to the next."""

MAX_ALIASES: Annotated[int, ChosenBy("loops copy between two or three pointers")] = 3
"""Maximum number of pairs of pointers that are taken to point into one object, or not, one after the other."""

MAX_WISHES: Annotated[int, ChosenBy("copies have one distance, some two")] = 2
"""Maximum number of conditions at the entry, such as that one pointer is behind another, that are looked at in turn."""

CONTENTS_OPERATIONS: Annotated[int, ChosenBy("300 ms of isl on small sets")] = 3_000_000
"""Maximum number of isl operations for what one loop reads of memory that it writes, and again for what memory holds
behind it."""

MAX_CONTENT_NODES: Annotated[int, GUESS] = 4000
"""Maximum number of nodes of the terms that say what memory holds behind a loop. Longer ones are not told."""

# summary.parts

PARTS_PREPARING_OPERATIONS: Annotated[int, ChosenBy("200 ms of isl on small sets")] = 2_000_000
"""Maximum number of isl operations for reading the paths of a loop and dividing the values of its invariants."""

ALL_PARTS_OPERATIONS: Annotated[
    int,
    ChosenBy("2 s of isl: of 10 hard loops 8 are complete with it, 7 with half at 5% less time, 4 with a quarter"),
] = 16_000_000
"""Maximum number of isl operations for all parts of a loop together. Each part gets its share."""

OPEN_PARTS_OPERATIONS: Annotated[
    int,
    ChosenBy("300 ms of isl, a guess: halved or doubled, 20 of 44 loops are complete, too, in about the same time"),
] = 3_000_000
"""Maximum number of isl operations for the parts after one that is left open. The summary cannot become complete
then."""

PART_SHARES: Annotated[
    int, ChosenBy("a guess: halved or doubled, 20 of 44 loops are complete, too, in about the same time")
] = 2
"""Number of shares that all methods together get for one part; each method gets one."""

MAX_CASES: Annotated[int, GUESS] = 400
"""Maximum number of cases and regions of a summary."""

# summary.portfolio

UNCOUNTED_OPERATIONS: Annotated[int, ChosenBy("900 ms of isl on small sets")] = 8_000_000
"""Maximum number of isl operations for looking at a loop again without the counts of inner loops."""

# summary.composition

FUNCTION_OPERATIONS: Annotated[int, ChosenBy("some seconds of isl")] = 8_000_000
"""Maximum number of isl operations for the summary of one function."""

FUNCTION_SHORTENING_OPERATIONS: Annotated[int, ChosenBy("an eighth of the operations for a function")] = 1_000_000
"""Maximum number of isl operations for shortening all conditions of the answer about a function."""

FUNCTION_CONDITION_OPERATIONS: Annotated[int, ChosenBy("3 ms of isl on small sets")] = 30_000
"""Maximum number of isl operations for shortening one condition of the answer about a function. A condition that needs
more stays as long as it is."""

MAX_JOINED_CONDITIONS: Annotated[int, GUESS] = 40
"""Maximum number of conditions that are compared pair by pair when they become one."""

# summary.function_memory

MAX_SENTINELS: Annotated[int, GUESS] = 8
"""Maximum number of places at which it is asked whether a search surely ends there."""

MAX_LAYERS: Annotated[int, GUESS] = 64
"""Maximum number of layers that say what memory holds where ways through a function meet. Ways that would need more
stay apart."""

# summary.arrivals

ARRIVAL_OPERATIONS: Annotated[int, ChosenBy("200 ms of isl on small sets")] = 2_000_000
"""Maximum number of isl operations for the paths of one function to its loops."""

# summary.case_builder

REDUNDANCY_OPERATIONS: Annotated[int, ChosenBy("6 ms of isl on small sets")] = 50_000
"""Maximum number of isl operations for finding that a condition of a case holds anyway."""

MAX_REDUNDANCY_NODES: Annotated[int, GUESS] = 200
"""Maximum number of parts of a condition of which it is asked whether it holds anyway. Translating it takes time, but
no isl operations."""

MAX_REDUNDANCY_QUESTIONS: Annotated[int, GUESS] = 300
"""Maximum number of questions, for one control system, whether a condition holds anyway."""

# summary.data.choices

MAX_DISTINCTION_QUESTIONS: Annotated[int, GUESS] = 400
"""Maximum number of questions, for one loop, whether a conjunct tells its paths apart. A conjunct without an answer is
kept."""

# summary.approximation.method

APPROXIMATION_OPERATIONS: Annotated[int, ChosenBy("50 ms of isl on small sets")] = 500_000
"""Maximum number of isl operations for the approximation of one loop. Facts that are undecided by then are left out."""

MAX_APPROXIMATED_EXITS: Annotated[int, ChosenBy("7 ms for each exit path")] = 60
"""Maximum number of exit paths of a loop whose exits are approximated one by one."""

APPROXIMATION_STEP_OPERATIONS: Annotated[int, GUESS] = 60_000
"""Maximum number of isl operations for one step in the construction of an approximation."""

APPROXIMATION_SHORTENING_OPERATIONS: Annotated[int, GUESS] = 30_000
"""Maximum number of isl operations for shortening one condition of an approximation."""

# summary.approximation.steps

APPROXIMATED_PATH_OPERATIONS: Annotated[int, GUESS] = 60_000
"""Maximum number of isl operations for approximating one iteration by one path."""

MAX_PATH_COUNTERS: Annotated[int, GUESS] = 6
"""Maximum number of iterative paths that get a counter each. More paths share one counter, since each counter is a
dimension of every set."""

LARGE_CHANGE: Annotated[int, GUESS] = 1 << 24
"""Least change in one iteration that counts as unbounded. Knowing it is no news, and large factors make sets costly."""

MAX_CONVEX_PARTS: Annotated[int, GUESS] = 4
"""Maximum number of convex parts of a set in an approximation. A set of more is enlarged to its convex hull, so that it
can be read and combined."""

MAX_HULLED_PARTS: Annotated[int, GUESS] = 16
"""Maximum number of convex parts of a set that is enlarged to its convex hull. A set of more is not used."""

# summary.approximation.words

LARGE_APPROXIMATE_NUMBER: Annotated[int, GUESS] = 1 << 28
"""Least absolute value of a number in an approximation that counts as the end of a type."""

MAX_RELATION_ALTERNATIVES: Annotated[int, GUESS] = 3
"""Maximum number of alternatives of a relation that is written. A relation of more is enlarged to its convex hull."""

REPETITION_OPERATIONS: Annotated[int, GUESS] = 20_000
"""Maximum number of isl operations for leaving out repetitions in an approximation."""

# summary.exit_time.exponential

MAX_CURVE_RESIDUES: Annotated[int, GUESS] = 8
"""Maximum number of residues of the iteration number that have a curve each."""

MAX_EQUALITY_ORDER: Annotated[int, GUESS] = 12
"""Maximum number of iterations after which the sides of an equality differ, if they ever do."""

FIRST_CURVE_VALUES: Annotated[int, GUESS] = 4
"""Number of first values of a curve of which it is asked whether they are negative already."""

# summary.exit_time.linear

SMALL_MODULUS: Annotated[int, ChosenBy("a power of two beyond the moduli of 8 bits and below those of 16")] = 1 << 10
"""Maximum modulus up to which isl finds first visits of any window."""

# summary.exit_time.run_length

MAX_HOLES: Annotated[int, GUESS] = 8
"""Maximum number of parts of its hull that a domain may lack, to be asked about part by part. A domain that lacks more
is asked about as a whole."""

# summary.methods.acceleration

ACCELERATION_OPERATIONS: Annotated[int, ChosenBy("about a second of isl")] = 3_000_000
"""Maximum number of isl operations for the acceleration of one loop."""

ONE_WAY_CHECK_STEPS: Annotated[int, GUESS] = 60_000
"""Maximum number of Z3 steps for finding that a check moves one way only. Otherwise the first time at which it fails
may be known."""

# summary.methods.aggregation

AGGREGATION_OPERATIONS: Annotated[int, ChosenBy("400 ms of isl on small sets")] = 4_000_000
"""Maximum number of isl operations for the aggregation of one loop."""

AGGREGATION_SHORTENING_OPERATIONS: Annotated[int, ChosenBy("a tenth of the operations for the aggregation")] = 400_000
"""Maximum number of isl operations for shortening the conditions that end an aggregated loop."""

MAX_SHORTENED_COMPARISONS: Annotated[int, GUESS] = 30
"""Maximum number of comparisons of a condition that is shortened in an aggregated loop."""

# summary.methods.bounded_unrolling

UNROLLING_OPERATIONS: Annotated[int, ChosenBy("100 ms of isl on small sets, 3 s on sets with five quotients")] = (
    1_000_000
)
"""Maximum number of isl operations for unrolling one loop. For most prefixes that go on a point shows it, without
isl."""

MAX_UNROLLED_ITERATIONS: Annotated[int, GUESS] = 64
"""Maximum number of iterations that are put one after another."""

MAX_PREFIXES: Annotated[int, GUESS] = 24
"""Maximum number of prefixes that are followed at a time."""

MAX_UNROLLED_CASES: Annotated[int, GUESS] = 64
"""Maximum number of cases that unrolling gives."""

MAX_UNROLLED_STEPS: Annotated[int, GUESS] = 200
"""Maximum number of iterations that are looked at in all prefixes together."""

MAX_PREFIX_NODES: Annotated[int, GUESS] = 1_000
"""Maximum number of parts of the values and conditions of one prefix."""

MAX_PREFIX_REDUCTIONS: Annotated[int, GUESS] = 8
"""Maximum number of values in the values and conditions of one prefix that are reduced to their type. The logic takes
long for these."""

# summary.methods.cyclic_modes

MAX_SELECTOR_VALUES: Annotated[int, ChosenBy("a guess: sixteen times the values of 8 bits")] = 4_096
"""Maximum number of values that a selector runs through."""

MAX_SELECTOR_CYCLES: Annotated[int, GUESS] = 16
"""Maximum number of cycles of a selector."""

MAX_CYCLE_INTERVALS: Annotated[int, GUESS] = 16
"""Maximum number of intervals that the values of one cycle form."""

# summary.methods.earliest_exit

MAX_EXIT_TIME_COMBINATIONS: Annotated[int, GUESS] = 32
"""Maximum number of combinations of forms of the exit times that are written as cases."""

# summary.methods.entry_invariants

ENTRY_INVARIANT_OPERATIONS: Annotated[int, ChosenBy("200 ms of isl on small sets")] = 2_000_000
"""Maximum number of isl operations for finding invariants of the entry, and again for describing where the loop is
entered."""

ENTERED_LOOP_OPERATIONS: Annotated[int, ChosenBy("4 s of isl on small sets")] = 40_000_000
"""Maximum number of isl operations for looking at the loop again with invariants of its entry."""

# summary.methods.entry_values

ENTRY_VALUE_OPERATIONS: Annotated[int, ChosenBy("200 ms of isl on small sets")] = 2_000_000
"""Maximum number of isl operations for a loop at known entry values, where conditions are short."""

# summary.methods.oscillation

WIDE_OSCILLATION: Annotated[int, GUESS] = 1 << 16
"""Least sum of the steps of an oscillation that is too wide. isl works with as many residues, unless one step divides
the other."""

OSCILLATION_OPERATIONS: Annotated[int, ChosenBy("60 ms of isl on small sets")] = 500_000
"""Maximum number of isl operations for the runs of one group."""

# summary.methods.symbolic_oscillation

SYMBOLIC_OSCILLATION_OPERATIONS: Annotated[int, ChosenBy("60 ms of isl on small sets")] = 500_000
"""Maximum number of isl operations for finding one pair of symbolic steps, and for its runs."""

# summary.methods.partitioning

MAX_STEPS_BACK: Annotated[int, GUESS] = 12
"""Maximum number of steps that are followed back from states that never end."""

MAX_PHASES: Annotated[int, GUESS] = 4
"""Maximum number of parts into which the signs of added values divide a loop."""

# summary.obligations.along_run

MAX_ROUND_REMAINDERS: Annotated[int, GUESS] = 12
"""Maximum number of remainders of the round by which a value is looked at one by one."""

RUN_EXTREME_OPERATIONS: Annotated[int, ChosenBy("0.1 s of isl")] = 1_000_000
"""Maximum number of isl operations for one question about extremes along a run."""

RUN_SOLVER_STEPS: Annotated[int, ChosenBy("50 ms of Z3, as for questions of feasibility")] = 400_000
"""Maximum number of Z3 steps for one question beyond Presburger about a run."""

RUN_SOLVER_MS: Annotated[int, ChosenBy("more than the steps take, so that answers do not depend on the machine")] = (
    5_000
)
"""Maximum number of milliseconds for one question beyond Presburger about a run."""

# summary.obligations.monotone_accumulators

ACCUMULATOR_SOLVER_STEPS: Annotated[int, ChosenBy("25 ms of Z3")] = 200_000
"""Maximum number of Z3 steps for finding that a total moves one way."""

ACCUMULATOR_SOLVER_MS: Annotated[
    int, ChosenBy("more than the steps take, so that answers do not depend on the machine")
] = 3_000
"""Maximum number of milliseconds for finding that a total moves one way."""

# summary.obligations.signs

MAX_RESIDUE_COMBINATIONS: Annotated[int, ChosenBy("milliseconds for all of them")] = 512
"""Maximum number of combinations of remainders that are looked at one by one."""

MAX_BOUND_CHOICES: Annotated[int, GUESS] = 16
"""Maximum number of choices of bounds tried."""

# summary.presentation.entered

MAX_FACT_NODES: Annotated[int, GUESS] = 12
"""Maximum number of parts of an entry value that is used as a fact."""

MAX_ENTRY_DISJUNCTS: Annotated[int, GUESS] = 64
"""Maximum number of parts of a condition that is searched for parts that hold for no entry."""

# summary.presentation.merging

MERGING_OPERATIONS: Annotated[int, ChosenBy("40 ms of isl")] = 300_000
"""Maximum number of isl operations for merging the cases of one summary. Cases that remain then stay by themselves."""

UNION_SHORTENING_OPERATIONS: Annotated[int, ChosenBy("a millisecond of isl")] = 8_000
"""Maximum number of isl operations for shortening the union of the conditions of one group."""

UNION_OPERATIONS: Annotated[int, ChosenBy("3 ms of isl on small sets")] = 25_000
"""Maximum number of isl operations for the union of the conditions of one group. A union that is not convex is seldom
worth much."""

MAX_COMPARED_GROUPS: Annotated[int, GUESS] = 16
"""Maximum number of groups that are compared with each other."""

# summary.presentation.nonlinear

MAX_SHORTENING_ROUNDS: Annotated[int, GUESS] = 3
"""Maximum number of rounds of shortening. Each may make room for the next."""

MAX_DECIDED_DISJUNCTIONS: Annotated[int, GUESS] = 3
"""Maximum number of disjunctions in a condition that is decided by the arms of one."""

MAX_WHOLE_NODES: Annotated[int, GUESS] = 300
"""Maximum number of parts of a condition that is looked at as a whole."""

PLAINER_OPERATIONS: Annotated[
    int,
    ChosenBy("50 ms of isl; half tells the overflow of ``for (; i <= n; i++) s += i`` twice over"),
] = 480_000
"""Maximum number of isl operations for making one condition or term plainer."""

# summary.presentation.readable

READABLE_OPERATIONS: Annotated[int, ChosenBy("0.2 s of isl; half is too little for the sum of PLAINER_OPERATIONS")] = (
    1_600_000
)
"""Maximum number of isl operations for shortening one summary. Parts that remain then are shown as they are."""

READABLE_CONDITION_OPERATIONS: Annotated[int, ChosenBy("4 ms of isl")] = 30_000
"""Maximum number of isl operations for shortening one condition."""

READABLE_PATH_OPERATIONS: Annotated[int, ChosenBy("10 ms of isl on small sets")] = 100_000
"""Maximum number of isl operations for shortening one path condition."""

READABLE_NONLINEAR_OPERATIONS: Annotated[int, GUESS] = 120_000
"""Maximum number of isl operations for shortening one condition beyond Presburger. Each of its parts is asked about."""

MAX_READABLE_QUESTIONS: Annotated[int, ChosenBy("a quarter of a second where all are hard")] = 12
"""Maximum number of questions to the solver for shortening one summary."""

MAX_PLAIN_REGIONS: Annotated[int, GUESS] = 16
"""Maximum number of regions of one place that are shortened one by one."""

REMEMBERED_ENDS: Annotated[int, GUESS] = 10_000
"""Maximum number of conditions for which the program remembers whether they are ends of types."""

LARGE_SHOWN_CONSTANT: Annotated[int, GUESS] = 1 << 28
"""Least absolute value of a constant that counts as the end of a type when a condition is shortened."""

# summary.rewrite.divisors

MAX_QUOTIENTS: Annotated[int, GUESS] = 12
"""Maximum number of values of a quotient that is written out, 0 left out."""

# summary.rewrite.univariate

MAX_INTERVALS: Annotated[int, GUESS] = 6
"""Maximum number of intervals on which a rewritten condition holds."""

# summary.transitions.closed_form

MAX_SOLVED_CHOICES: Annotated[int, GUESS] = 3
"""Maximum number of different choices by invariants in updates that are solved on each side."""

# summary.transitions.elimination

MAX_TRANSITIONS: Annotated[int, GUESS] = 200
"""Maximum number of transitions that are kept."""

MAX_SEGMENTS: Annotated[int, GUESS] = 400
"""Maximum number of ways in which the loop ends, where only an answer without gaps counts."""

MAX_RUNS: Annotated[int, GUESS] = 16
"""Maximum number of runs that make up a transition. Runs that take turns in ever new orders are not followed for
long."""

ELIMINATION_OPERATIONS: Annotated[
    int,
    ChosenBy("0.2 s of isl; half takes a quarter less time on 21 hard loops, and leaves one more of them open"),
] = 2_000_000
"""Maximum number of isl operations for eliminating the paths of one loop, and for going back from its ends."""

ELIMINATION_STEP_OPERATIONS: Annotated[int, ChosenBy("60 ms of isl; half changes nothing on 10 hard loops")] = 500_000
"""Maximum number of isl operations for the runs of one transition that is eliminated."""

# summary.transitions.guarded

MAX_STEP_VALUES: Annotated[int, ChosenBy("a few more than a type has bits")] = 70
"""Maximum number of different values of a step that a transition is split by."""

MAX_TRANSITION_CHOICES: Annotated[int, GUESS] = 16
"""Maximum number of parts into which the choices in its values divide a transition."""

MAX_DOMAIN_PARTS: Annotated[int, GUESS] = 4
"""Maximum number of convex parts into which a domain is divided."""

MAX_COSTLY_DOMAIN_PARTS: Annotated[int, GUESS] = 24
"""Maximum number of parts into which a domain is divided that is too costly as a whole."""

# summary.transitions.nonlinear_repeat

MAX_FAILURE_PARTS: Annotated[int, GUESS] = 8
"""Maximum number of parts into which the failures of its conjuncts divide a domain."""

# summary.transitions.oscillating_groups

MAX_SELECTORS: Annotated[int, GUESS] = 3
"""Maximum number of oscillations in a product."""

# summary.transitions.partition

MAX_CELLS: Annotated[int, GUESS] = 8
"""Maximum number of sets into which the invariants are divided."""

RARE_SHARE: Annotated[int, GUESS] = 16
"""Least number of times that the invariants must exceed a part of them that wraps around, so that this part is a
margin. It matters where something may wrap around for all invariants."""

MARGIN_VALUES: Annotated[int, GUESS] = 8
"""Number of values of an invariant in a part of the margin from which on they are not taken one by one."""

# summary.transitions.repeat

MAX_FOLLOWED_ROUNDS: Annotated[int, ChosenBy("a width, for doubling and halving")] = 70
"""Maximum number of rounds of a run without closed form that is followed."""

MAX_REDUCED_ROUNDS: Annotated[int, GUESS] = 8
"""Maximum number of rounds of such a run whose values are reduced in each round. isl takes ever longer for these, and
counts no operations."""

SHORT_RUN_OPERATIONS: Annotated[int, ChosenBy("100 ms of isl on small sets")] = 1_000_000
"""Maximum number of isl operations for following the runs of one transition."""

MAX_BRIEF_ROUNDS: Annotated[int, GUESS] = 2
"""Maximum number of rounds of runs that are followed before anything else is tried on a step without closed form."""

BRIEF_RUN_OPERATIONS: Annotated[int, ChosenBy("6 ms of isl on small sets")] = 50_000
"""Maximum number of isl operations for finding whether runs are that brief."""

# summary.transitions.subsumption

MAX_COMPARED_TRANSITIONS: Annotated[int, GUESS] = 60
"""Maximum number of transitions that are compared pair by pair."""

# summary.transitions.system

REMEMBERED_PARTS: Annotated[int, GUESS] = 10_000
"""Maximum number of conditions for which the program remembers their parts."""

MAX_WRAP_BRANCHES: Annotated[int, GUESS] = 4
"""Maximum number of different ways in which a step that is split may wrap around."""

varied(__name__)
