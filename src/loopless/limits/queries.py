"""Limits of :mod:`loopless.queries`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

LOADED_S: Annotated[float, ChosenBy("a slow machine loads libraries in less")] = 5.0
"""Maximum time in seconds to wait for a thread that loads libraries."""

FENCE_MARGIN_S: Annotated[float, ChosenBy("a job keeps its limit itself; a guess")] = 1.0
"""Seconds after its deadline at which a job in another process is ended."""

# Jobs

FEW_LOOPS: Annotated[int, ChosenBy("the programs of papers have fewer; a guess")] = 8
"""Maximum number of loops of a request that have the whole limit of time each."""

LEAST_FOR_BOUNDS_S: Annotated[float, ChosenBy("0.15 s did not suffice for a function of zlib")] = 0.4
"""Minimum time in seconds for the search for bounds of one function."""

HURRIED_SEARCHES_S: Annotated[float, GUESS] = 2.4
"""Maximum time in seconds for all searches for bounds together, in a hurry."""

LEAST_FOR_SUMMARY_S: Annotated[float, GUESS] = 0.3
"""Minimum time in seconds for the search for one summary."""

HURRIED_S: Annotated[float, GUESS] = 1.0
"""Minimum time in seconds that each search for bounds has where loops are summarized for their sake."""

SETTLED_S: Annotated[float, GUESS] = 2.0
"""Maximum time in seconds for the summary of a loop whose iterations are counted already."""

MANY_JOBS: Annotated[int, GUESS] = 4
"""Number of jobs from which this process imports the solver, which each of theirs would import for itself."""

LIBRARIES_MB: Annotated[int, GUESS] = 128
"""Address space in megabytes for libraries that a child process loads when it needs them."""

# Loops

LOOP_NOTED_AFTER_S: Annotated[
    float, ChosenBy("the limit is seldom met while an earlier summary is put in words; a guess")
] = 0.1
"""Time in seconds after which a summary is handed on before it is put in words."""

HURRIED_OPERATIONS: Annotated[
    int,
    ChosenBy("0.1 s on the large sets of real code, where the usual budgets take more than a second; a guess"),
] = 60_000
"""Maximum number of isl operations in a hurry for an approximation, and for putting a summary in words."""

WORTH_ASKING_AGAIN_S: Annotated[float, GUESS] = 1.0
"""Minimum time in seconds of a loop that is asked about again where it met its limit."""

APPROXIMATING_S: Annotated[float, GUESS] = 3.0
"""Maximum time in seconds for an approximation where a limit ended the search for an exact answer."""

PARTLY_S: Annotated[float, GUESS] = 3.0
"""Maximum time in seconds for an answer without some variables where a limit ended the search for one with all."""

COARSELY_S: Annotated[float, ChosenBy("0.1 s suffices mostly, 0.5 s for the largest loops of zlib")] = 1.0
"""Minimum time in seconds for an answer that holds whatever the paths are."""

ADVICE_S: Annotated[float, GUESS] = 2.0
"""Maximum time in seconds for trying what helps with one loop."""

ADVISED_LOOPS: Annotated[int, GUESS] = 5
"""Number of loops whose time for advice all loops of a request have together."""

SHORTENING_OPERATIONS: Annotated[int, ChosenBy("10 ms of isl")] = 100_000
"""Maximum number of isl operations for shortening the condition of one endless loop."""

# Bounds

BOUNDS_NOTED_AFTER_S: Annotated[float, GUESS] = 0.05
"""Time in seconds after which bounds found so far are handed on."""

MAX_RUNS: Annotated[int, GUESS] = 1024
"""Maximum number of runs that are followed one by one for one function."""

MAX_CHOICES: Annotated[int, GUESS] = 8192
"""Maximum number of values of the inputs that are examined for such runs."""

MAX_RUN_STEPS: Annotated[int, ChosenBy("some tenths of a second; a guess")] = 200_000
"""Maximum number of iterations and calls of all these runs together."""

# Values of calls

MAX_MEMBERS: Annotated[int, GUESS] = 200
"""Maximum number of members of a structure that are described."""

MAX_MUTATED_VALUES: Annotated[int, GUESS] = 4_096
"""Maximum length of a list of values that is mutated; longer ones stay as they are."""

MAX_INTEGER_CONSTANTS: Annotated[int, GUESS] = 200
"""Maximum number of integer constants of the program that are tried as inputs."""

FLOAT_DRAWS: Annotated[int, GUESS] = 300
"""Maximum number of random choices tried for several floating-point inputs at once."""

MAX_POINTER_DEPTH: Annotated[int, GUESS] = 40
"""Maximum number of pointers behind one another that are followed."""

MAX_ELEMENTS: Annotated[int, GUESS] = 1 << 22
"""Maximum number of elements of an array, and of inputs, that are written down."""

MAX_COMMAND_WORDS: Annotated[int, GUESS] = 4_096
"""Maximum number of words of a command line that are given to a program."""

# Evaluation

DEFAULT_CALL_S: Annotated[float, GUESS] = 60.0
"""Time in seconds for one call where no limit is asked for."""

MANY_CALLS: Annotated[int, ChosenBy("calls have taken by then what the summary usually takes; a guess")] = 500
"""Number of calls after which the whole function is summarized."""

FIRST_TIME_S: Annotated[float, GUESS] = 1.0
"""Minimum time in seconds for that summary."""

QUICK_STEPS: Annotated[int, ChosenBy("interpreted in less time than a loop is summarized in; a guess")] = 20_000
"""Maximum number of iterations and calls of functions that are interpreted before loops are summarized."""

# Reach

SUMMARIES_S: Annotated[float, ChosenBy("most loops that have a summary have it in a tenth of that")] = 1.0
"""Seconds of work for summaries of loops that a path to a place passes, and as many for the path."""

DEFAULT_REACH_S: Annotated[float, GUESS] = 60.0
"""Time in seconds for one target where no limit is asked for."""

MAX_REACH_WAYS: Annotated[int, GUESS] = 24
"""Maximum number of ways between two cutpoints that are told apart."""

SHORT_MS: Annotated[int, GUESS] = 500
"""Maximum time in milliseconds for the question whether there is a solution of a given length, or of small values."""

SMALL_S: Annotated[float, GUESS] = 2.0
"""Maximum time in seconds for the search for small values."""

CHANCES: Annotated[int, GUESS] = 150
"""Maximum number of runs with inputs drawn at random."""

CHANCE_S: Annotated[float, GUESS] = 0.02
"""Maximum time in seconds for each run with inputs drawn at random."""

SLOW_ATTEMPTS: Annotated[int, GUESS] = 6
"""Maximum number of slow attempts with chosen values that a run begins with."""

MAX_ATTEMPTS: Annotated[int, GUESS] = 64
"""Maximum number of all such attempts."""

LEAST_ATTEMPT_S: Annotated[float, GUESS] = 2.0
"""Minimum number of seconds for a search from one choice of small values, and for one with the fewest steps."""

LEAST_FREE_S: Annotated[float, GUESS] = 1.0
"""Minimum number of seconds for a search from any values."""

SLOW_ATTEMPT_S: Annotated[float, GUESS] = 0.5
"""Time in seconds from which such an attempt is slow."""

MAX_FLOAT_CONSTANTS: Annotated[int, GUESS] = 40
"""Maximum number of floating-point constants of the program that are tried as inputs."""

WILD_S: Annotated[float, GUESS] = 0.3
"""Maximum time in seconds for single runs that may leave their objects."""

PROOF_S: Annotated[float, GUESS] = 3.0
"""Maximum time in seconds for a proof with a certificate where counters refute a target."""

SIDE_SHARE: Annotated[float, GUESS] = 0.25
"""Maximum part of the time left that the search for one side takes."""

LEAST_SIDE_S: Annotated[float, GUESS] = 1.5
"""Minimum time in seconds for the search for one side."""

QUICK_SIDE_S: Annotated[float, GUESS] = 3.0
"""Maximum time in seconds for the search for one side before the others were searched for."""

SIDE_GROWTH: Annotated[float, GUESS] = 1.6
"""Factor by which the next search for a side may be longer where time ended one."""

SIDE_GRACE: Annotated[float, GUESS] = 2.0
"""Factor by which the work of the processor may exceed the counted time of a search; beyond it the process of the
search ends."""

SIDE_GRACE_S: Annotated[float, GUESS] = 5.0
"""Seconds that such a search may work besides."""

NEXT_SHARE: Annotated[float, GUESS] = 0.15
"""Maximum part of the time left for runs with inputs next to those of the first tests."""

BATCH: Annotated[int, GUESS] = 100
"""Number of such runs made at once."""

MAX_IDLE_BATCHES: Annotated[int, GUESS] = 4
"""Maximum number of such batches in a row that take no new side."""

COVERING_CHANCE_S: Annotated[float, GUESS] = 0.02
"""Maximum time in seconds for one such run."""

# Runs that never end

HANG_S: Annotated[float, GUESS] = 1.0
"""Time in seconds after which a native run is still going on that is to never end."""

HANG_FOLLOWED_S: Annotated[float, GUESS] = 5.0
"""Maximum time in seconds for which the interpreter follows a run that is to come to a state again."""

HANG_FOLLOWED_STEPS: Annotated[int, GUESS] = 400_000
"""Maximum number of iterations and calls of such a run."""

HANG_ENTERING_STEPS: Annotated[int, GUESS] = 2000
"""Maximum number of iterations and calls of a run until it enters the loop that it never leaves."""

MAX_GROWING_VARIABLES: Annotated[int, GUESS] = 24
"""Maximum number of variables of a set of states that a loop is shown not to leave."""

GROWING_QUESTION_MS: Annotated[int, GUESS] = 300
"""Time in milliseconds for each question about such a set."""

GROWING_S: Annotated[float, GUESS] = 3.0
"""Maximum work in seconds for finding one such set, and for judging it."""

HANG_PATHS_S: Annotated[float, GUESS] = 3.0
"""Maximum work in seconds for the shortest path into a cycle that leaves its state as it was."""

HANG_BATCH: Annotated[int, GUESS] = 10
"""Number of runs with inputs drawn at random that are made before those are followed that have not ended."""

HANG_CANDIDATES: Annotated[int, GUESS] = 12
"""Maximum number of runs that are followed which have not ended: some take long only."""

HANG_PROOF_SHARE: Annotated[float, GUESS] = 0.4
"""Part of the time that is left which bounds of all loops may take."""

# Verification

DEFAULT_VERIFICATION_S: Annotated[float, GUESS] = 60.0
"""Time in seconds for one program where no limit is asked for."""

PROVED_SHORTENING_S: Annotated[float, GUESS] = 4.0
"""Maximum number of seconds in which a proof is shortened; of safety also a third of the time left at most."""

EXTREME_INPUTS_S: Annotated[float, GUESS] = 1.0
"""Maximum number of seconds in search of inputs that lead into loops."""

UNCOUNTED_GUIDED_FACTOR: Annotated[int, ChosenBy("not all that the search does is counted; a guess")] = 2
"""Seconds of the processor for each second of counted work after which a guided search ends."""

LEAST_JUDGE_S: Annotated[float, GUESS] = 1.0
"""Minimum number of seconds for shortening and judging a proof."""

JUDGE_S: Annotated[float, GUESS] = 60.0
"""Maximum time in seconds for the judge of one certificate."""

BOUNDLESS_S: Annotated[float, GUESS] = 8.0
"""Minimum time in seconds for the question whether runs end over the integers."""

CONTRACTS_SHARE: Annotated[float, GUESS] = 0.5
"""Part of the time in which contracts are sought, where calls are not inlined."""

PLAIN_S: Annotated[float, GUESS] = 4.0
"""Maximum time in seconds for methods without contracts before contracts are sought."""

MAX_INPUT_LISTS: Annotated[int, GUESS] = 400
"""Maximum number of short lists of inputs tried for endless runs."""

MAX_SITES: Annotated[int, GUESS] = 48
"""Maximum number of loops of a function that stand for its calls; further ones are not counted."""

MAX_CARRIED_SIZE: Annotated[int, GUESS] = 120
"""Maximum number of nodes of a term that is carried to a call."""

MAX_ENDLESS_RUNS: Annotated[int, GUESS] = 300
"""Maximum number of runs followed in search of endless ones."""

ENDLESS_RUN_STEPS: Annotated[int, GUESS] = 4_000
"""Maximum number of iterations and calls for which such a run is followed."""

ENDLESS_RUNS_STEPS: Annotated[int, GUESS] = 400_000
"""Maximum number of iterations and calls of all these runs together."""

POINTED_ELEMENTS: Annotated[int, GUESS] = 24
"""Number of elements behind a pointer that is an argument of such a run, and of the inputs that it reads."""

JUDGE_GRACE_S: Annotated[float, ChosenBy("the judge keeps its limit itself")] = 10.0
"""Time in seconds that the judge may work beyond its limit."""

WITHOUT_HISTORY_OPERATIONS: Annotated[int, GUESS] = 2_000_000
"""Operations of isl for what invariants say without their history variables, of each loop: only readers need it."""

JUDGE_QUESTION_S: Annotated[float, GUESS] = 0.02
"""Work in seconds that a question of the judge counts as."""

REPLAY_S: Annotated[float, GUESS] = 10.0
"""Maximum time in seconds for one native run."""

LEAST_REPLAY_S: Annotated[float, GUESS] = 0.1
"""Minimum time in seconds for a replay."""

MAX_FILLED_ALONE: Annotated[int, GUESS] = 4
"""Maximum number of uninitialised arrays of each of which alone a replay tries other bytes than zeros."""

COVERING_RUN_S: Annotated[float, GUESS] = 2.0
"""Maximum time in seconds for a native run that covers sides."""

STILL_S: Annotated[float, GUESS] = 1.0
"""Time in seconds after which a native run that was predicted to be endless is taken for an endless one."""

STILL_STEPS: Annotated[int, GUESS] = 200_000
"""Number of iterations after which an interpreted run that was predicted to be endless is taken for an endless one."""

REPEATING_STEPS: Annotated[int, GUESS] = 20_000
"""Maximum number of iterations and calls for which a run is followed in search of a repeated state."""

FOLLOWED_S: Annotated[float, GUESS] = 5.0
"""Maximum time in seconds of the processor for which such a run is followed, however few iterations it has made."""

FOLLOWED_STEP_S: Annotated[float, GUESS] = 20e-6
"""Work in seconds that an iteration or a call of such a run counts as."""

INPUTS_AHEAD: Annotated[int, GUESS] = 100_000
"""Number of inputs given to a run that was predicted to be endless."""

varied(__name__)
