"""Limits of :mod:`loopless.verification`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# Transitions and runs

MAX_READS: Annotated[int, GUESS] = 8
"""Maximum number of values read earlier that are compared with the value read next."""

MAX_APART: Annotated[int, GUESS] = 24
"""Maximum number of transitions that one transition with choices is divided into; one with more stays whole."""

MAX_LEAPS: Annotated[int, GUESS] = 40
"""Maximum number of leaps over iterations in one run."""

MAX_LEAP: Annotated[int, GUESS] = 1 << 40
"""Approximate maximum number of iterations that one leap of a run passes."""

MAX_UNEVEN_LEAP: Annotated[int, ChosenBy("each of these iterations is made to see whether it goes on; a guess")] = 256
"""Maximum number of iterations that one leap of a run passes in a loop that reads memory or takes remainders."""

MAX_OPEN_CALLS: Annotated[int, GUESS] = 60
"""Maximum number of calls that are open at once in a run."""

BLOCK_S: Annotated[float, ChosenBy("the time of a block on a usual machine")] = 15e-6
"""Work in seconds that a block of a run counts as."""

MAX_SAMPLED_RUNS: Annotated[int, GUESS] = 400
"""Maximum number of single runs of one search."""

MIN_SAMPLED_RUNS: Annotated[int, GUESS] = 3
"""Number of single runs that are followed whatever time they take."""

ENTERING_BLOCKS: Annotated[int, GUESS] = 400
"""Maximum number of blocks of a run that leads to the first cutpoint."""

FEW_STEPS: Annotated[int, ChosenBy("a tenth of a second on a usual machine")] = 20_000
"""Maximum number of back edges and calls of all runs of a program, where these are taken before other methods."""

# Loops as steps

SUMMARY_OPERATIONS: Annotated[int, ChosenBy("a second of isl on small sets")] = 8_000_000
"""Maximum number of isl operations for the summary of one loop that becomes steps."""

MAX_LEAPING_WAYS: Annotated[int, GUESS] = 8
"""Maximum number of ways through loops that meet in one place and go on each by itself."""

MAX_EXPLORED_PATHS: Annotated[int, GUESS] = 2_000
"""Maximum number of paths of steps that are put to the logic."""

MAX_EXPLORED_STEPS: Annotated[int, GUESS] = 60
"""Maximum number of steps of such a path."""

MAX_STREAMED_INPUTS: Annotated[int, GUESS] = 200_000
"""Maximum number of inputs that a proposed run is given one by one; behind them the last one comes again and again."""

PATH_CHECK_MS: Annotated[int, GUESS] = 500
"""Milliseconds of work for one path of steps."""

MAX_SAFE_SIZE: Annotated[int, GUESS] = 60_000
"""Maximum number of characters of the conditions that say from which states of a cutpoint a violation is in reach."""

MAX_ALTERNATIVES: Annotated[int, GUESS] = 12
"""Maximum number of alternatives that one such condition is divided into."""

SAFE_STATES_OPERATIONS: Annotated[int, ChosenBy("half a second of isl on small sets")] = 4_000_000
"""Maximum number of isl operations for these conditions."""

UNCOUNTED_FACTOR: Annotated[int, ChosenBy("products take longer than is counted; a guess")] = 2
"""Seconds of the processor for each second of counted work after which a search along paths ends."""

LOOP_SHARE: Annotated[float, GUESS] = 0.75
"""Share of the time left that the summary of one loop takes, where other loops come after it."""

# Candidates for invariants

MAX_RELATED_VARIABLES: Annotated[int, GUESS] = 14
"""Maximum number of variables of a cutpoint between which relations are sought."""

MAX_CANDIDATES: Annotated[int, GUESS] = 260
"""Maximum number of candidates proposed for a cutpoint."""

FEW_VALUES: Annotated[int, GUESS] = 6
"""Maximum number of different values of a variable that are proposed as its only ones."""

FEW_STATES: Annotated[int, GUESS] = 40
"""Maximum number of different states that are proposed as the only ones. For a modulus that never changes, it is the
maximum of the number and of the absolute value of its values."""

MAX_PARTIAL_CANDIDATES: Annotated[int, GUESS] = 120
"""Maximum number of conditions proposed for parts of the states."""

LARGE_VALUE: Annotated[int, ChosenBy("sums of few small values wrap around nowhere; a guess")] = 1 << 20
"""Smallest absolute value that is not small."""

MAX_MONOMIALS: Annotated[int, GUESS] = 130
"""Maximum number of monomials over which polynomial equations are sought."""

MAX_EQUATION_TERMS: Annotated[int, ChosenBy("equations with more terms are mostly accidents; a guess")] = 10
"""Maximum number of terms of an equation that is proposed."""

LARGE_CONSTANT: Annotated[int, ChosenBy("such numbers are mostly about the ends of types; a guess")] = 1 << 14
"""Smallest absolute value of a constant that makes an inequality not plain."""

# Contracts

MAX_GUARDS: Annotated[int, GUESS] = 14
"""Maximum number of cases of the calls of a function for which conditions are proposed."""

MAX_CONTRACT_CANDIDATES: Annotated[int, GUESS] = 120
"""Maximum number of conjuncts proposed for a contract."""

MAX_ARGUMENTS: Annotated[int, GUESS] = 6
"""Maximum number of variables that a call is given and that a contract relates."""

CONTRACT_BLOCKS: Annotated[int, GUESS] = 4000
"""Maximum number of blocks that a run is followed for in search of contracts."""

ACCIDENTAL_BOUND: Annotated[int, ChosenBy("such values are bounds by accident only; a guess")] = 1 << 16
"""Smallest absolute value that no bound in a contract has."""

MIN_CALLS: Annotated[int, GUESS] = 3
"""Minimum number of calls in a case for which conditions are proposed."""

CONTRACT_RUNS_S: Annotated[float, GUESS] = 1.0
"""Maximum number of seconds of single runs in search of contracts."""

LEAST_CONTRACT_RUNS_S: Annotated[float, GUESS] = 0.1
"""Minimum number of seconds of these runs."""

CONTRACT_RUNS_SHARE: Annotated[float, GUESS] = 0.25
"""Maximum share of the time left for these runs."""

CONTRACT_CHECK_MS: Annotated[int, GUESS] = 100
"""Milliseconds of work for one question whether a conjunct of a contract follows from the others."""

# Proofs

MAX_KEPT_STATES: Annotated[int, GUESS] = 600
"""Maximum number of states kept for a cutpoint."""

MAX_VIOLATING_WAYS: Annotated[int, GUESS] = 40
"""Maximum number of ways from one cutpoint into a violation that are examined."""

MAX_KEPT_CALLS: Annotated[int, GUESS] = 1000
"""Maximum number of calls of a function whose results are kept."""

STATES_OF_RUN: Annotated[int, GUESS] = 12
"""Approximate maximum number of states of one run that are kept for a cutpoint."""

EXCLUDED_MS: Annotated[int, GUESS] = 2000
"""Milliseconds of work for one question whether a transition is excluded."""

EXCLUDED_BEFORE_MS: Annotated[int, GUESS] = 200
"""The same of a transition into states from which a violation is in reach."""

SHORTENING_CHECK_MS: Annotated[int, GUESS] = 300
"""Milliseconds of work for one question while a proof is shortened."""

SHORTENED_PART_S: Annotated[float, GUESS] = 1.5
"""Maximum number of seconds in which a part of what is known becomes inductive while a proof is shortened."""

ONE_VARIABLE_SHARE: Annotated[float, GUESS] = 0.5
"""Share of the time for candidates after which more than those of one variable are tried."""

PLAINEST_SHARE: Annotated[float, GUESS] = 0.75
"""Share of the time for candidates after which more than the plainest are tried."""

COVERS_S: Annotated[float, GUESS] = 2.0
"""Minimum number of seconds in which what Spacer says becomes inductive."""

MAX_PATH_LENGTH: Annotated[int, GUESS] = 400
"""Maximum number of transitions of a path into a violation."""

# Ranks

MAX_RANK_VARIABLES: Annotated[int, GUESS] = 14
"""Maximum number of variables of an affine rank, summed over the cutpoints."""

MAX_COEFFICIENT: Annotated[int, GUESS] = 10_000
"""Maximum coefficient of an affine rank; a larger one puts several components into one."""

MAX_CHOICES: Annotated[int, GUESS] = 10
"""Maximum number of choices of falling transitions that are tried."""

MAX_TEMPLATE_VARIABLES: Annotated[int, GUESS] = 40
"""Maximum number of variables of a linear invariant that is looked for, summed over the cutpoints."""

NEAR_END: Annotated[int, GUESS] = 16
"""Maximum distance of a constant from the end of a type that it stands for."""

BOUND_RANK_OPERATIONS: Annotated[int, GUESS] = 1_000_000
"""Maximum number of operations for one question whether a bound falls where bits decide that."""

FALL_CHECK_MS: Annotated[int, GUESS] = 2000
"""Milliseconds of work for one question whether a whole rank falls with a transition."""

COMPONENT_CHECK_MS: Annotated[int, GUESS] = 300
"""The same of one component."""

LEARNING_S: Annotated[float, GUESS] = 3.0
"""Maximum number of seconds in which what a rank rests on becomes inductive."""

RANK_CANDIDATES_S: Annotated[float, GUESS] = 1.5
"""Maximum number of seconds for candidates before ranks; half of the time of these at most."""

MAX_COMPONENTS: Annotated[int, GUESS] = 7
"""Maximum number of components of a rank for one strongly connected part."""

MAX_RANK_TERMS: Annotated[int, GUESS] = 160
"""Maximum number of terms tried as components of a rank."""

MAX_PAIRED_VARIABLES: Annotated[int, GUESS] = 4
"""Maximum number of variables that change where the smaller and the larger one of two are tried as ranks."""

MAX_PARTIAL_RANKS: Annotated[int, GUESS] = 3
"""Maximum number of terms tried in turn that fall on some transitions only."""

MAX_DIVISIONS: Annotated[int, GUESS] = 24
"""Maximum number of conditions tried that divide the transitions."""

CACHED_SOLVERS: Annotated[int, GUESS] = 64
"""Maximum number of solvers kept, each with the conditions before one transition."""

LONG_RUN: Annotated[int, GUESS] = 3000
"""Number of blocks after which a run may be one that never ends."""

# Runs that never end

MAX_STEADY_RUNS: Annotated[int, GUESS] = 40
"""Maximum number of runs that take one value again and again in loops."""

MAX_LONG_RUNS: Annotated[int, GUESS] = 8
"""Maximum number of long runs around which a closed set is looked for."""

LAST_STATES: Annotated[int, GUESS] = 40
"""Maximum number of states at a cutpoint of such a run from which candidates are made."""

STUCK_CHECK_MS: Annotated[int, GUESS] = 1000
"""Milliseconds of work for the question whether a run gets stuck in a closed set."""

MAX_LASSO_TRANSITIONS: Annotated[int, GUESS] = 3
"""Maximum number of transitions of a cycle after which a state is looked for that is the one before."""

MAX_LASSOS: Annotated[int, GUESS] = 120
"""Maximum number of such cycles in one program."""

# History variables

MAX_HISTORY_CASES: Annotated[int, GUESS] = 24
"""Maximum number of phases of a loop in one invariant over its count."""

MAX_INSTANCES: Annotated[int, GUESS] = 16
"""Maximum number of choices of elements that a step reads of which what is known of followed ones is used."""

MAX_PAIR_INSTANCES: Annotated[int, ChosenBy("those that the judge uses")] = 56
"""Maximum number of choices of two elements of one object of which what is known of two followed ones is used."""

PAIR_RUNS: Annotated[int, GUESS] = 60
"""Number of runs whose states say what may hold of two elements of an array."""

PAIR_BLOCKS: Annotated[int, GUESS] = 1500
"""Maximum number of blocks of such a run."""

MAX_PAIR_STATES: Annotated[int, GUESS] = 240
"""Maximum number of states at one cutpoint in which two elements are looked at."""

MAX_PAIR_ELEMENTS: Annotated[int, GUESS] = 9
"""Maximum number of elements of an array that are looked at in such a state."""

PAIR_CORE_MS: Annotated[int, GUESS] = 5_000
"""Maximum number of milliseconds for what one step needs of what is known of two elements."""

MAX_PAIR_CONSTANTS: Annotated[int, GUESS] = 4
"""Maximum number of constants with which elements are compared."""

MAX_PAIR_SIZES: Annotated[int, ChosenBy("a program takes the lengths of one or two arrays before their elements")] = 2
"""Number of inputs at the beginning of a run that are chosen as sizes are."""

MAX_PAIR_SCALARS: Annotated[int, GUESS] = 6
"""Maximum number of variables with which places of elements are compared."""

MAX_PAIR_CANDIDATES: Annotated[int, GUESS] = 60
"""Maximum number of candidates about two cells at one cutpoint."""

MAX_SUMMED_TERMS: Annotated[int, GUESS] = 8
"""Maximum number of loops whose sums over elements are looked at."""

MAX_SUM_PLACES: Annotated[int, GUESS] = 6
"""Maximum number of places up to which the elements of an array are summed."""

MAX_SUM_ELEMENTS: Annotated[int, GUESS] = 24
"""Maximum number of elements of an array that are summed in such a state."""

MAX_SHORT_EQUATIONS: Annotated[int, GUESS] = 12
"""Maximum number of pairs of sums over elements that came to the same which are looked at for an equation."""

MAX_SUM_ROWS: Annotated[int, GUESS] = 120
"""Maximum number of states in which sums over elements are looked at for equations."""

HISTORY_S: Annotated[float, ChosenBy("the nest with delays of SV-COMP takes 1.5 s")] = 2.0
"""Maximum number of seconds for what each iteration comes to, and as many for what of it is inductive."""

varied(__name__)
