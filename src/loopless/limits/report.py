"""Limits of :mod:`loopless.report`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# report.bounds

MAX_LOWER_BOUND_NODES: Annotated[int, GUESS] = 100
"""Maximum number of parts of a lower bound in text. A longer one is in the JSON only."""

MAX_BOUND_HEADLINE: Annotated[int, GUESS] = 60
"""Maximum number of characters of a condition in the headline of a bound."""

BOUND_CONDITION_OPERATIONS: Annotated[int, ChosenBy("4 ms of isl")] = 30_000
"""Maximum number of isl operations for shortening one condition of a bound."""

# report.brevity

MAX_LINE: Annotated[int, GUESS] = 360
"""Maximum number of characters of a line that is not cut."""

CUT_LINE: Annotated[int, GUESS] = 280
"""Maximum number of characters that remain of a line that is cut."""

MAX_ANSWER_LINES: Annotated[int, GUESS] = 60
"""Maximum number of lines of the answer about a function, where that is possible."""

MIN_LOOP_LINES: Annotated[int, GUESS] = 12
"""Number of lines that the answer about one loop of a function may have in any case."""

# report.growth

MAX_MIXED_POINTS: Annotated[int, GUESS] = 300
"""Maximum number of points of mixed values that are tried."""

GROWTH_SOLVER_MS: Annotated[int, GUESS] = 2000
"""Maximum number of milliseconds for a search by the solver for a point at which a bound grows."""

# report.html_programs

MAX_ROWS: Annotated[int, GUESS] = 200
"""Maximum number of rows of a table that are shown."""

# report.making

MIN_REPORT_S: Annotated[float, GUESS] = 2.0
"""Number of seconds that a report may take in any case, however little a loop may take."""

MIN_REPORT_MB: Annotated[int, ChosenBy("a process that only reads data of its parent seems to need some memory")] = 256
"""Number of megabytes that the process of a report may use in any case."""

# report.numbers

MAX_UNWINDING: Annotated[int, GUESS] = 1 << 20
"""Maximum bound from a type alone that is a number to unwind to."""

# report.reach

MAX_INPUT_RUNS: Annotated[int, GUESS] = 12
"""Maximum number of runs of equal values that are shown in text; JSON has all."""

MAX_SHOWN_WORD: Annotated[int, GUESS] = 60
"""Maximum number of characters of a word of argv that is shown as one string."""

MAX_SHOWN_STDIN: Annotated[int, GUESS] = 200
"""Maximum number of bytes of standard input that are shown in text; JSON has all."""

# report.reach_tests

MAX_LITERAL: Annotated[int, GUESS] = 90
"""Maximum number of characters of a string that is written as a literal. Longer strings are written as arrays."""

# report.stand_ins

MAX_LISTED_VALUES: Annotated[int, GUESS] = 32
"""Maximum number of elements or inputs that are listed one by one in any case. More of them, in few runs, are written
by loops."""

MAX_READ_AHEAD: Annotated[int, GUESS] = 1_000_000
"""Maximum number of zeros that are given behind the last input. Then the run ends, since a loop may read for ever."""

# report.svg

MAX_TRANSITIONS: Annotated[int, ChosenBy("laying out more may take minutes")] = 400
"""Maximum number of arrows in a picture. A picture with more is not legible."""

# report.testcomp

MAX_XML_INPUTS: Annotated[int, GUESS] = 1 << 20
"""Maximum number of inputs that are written as XML. XML has an element for each."""

REPEATED_XML_INPUT: Annotated[int, GUESS] = 10_000
"""Number of times that XML has the last input if it comes again and again. Nobody knows how often the program reads
it."""

# report.text

MAX_SUMMARY_HEADLINE: Annotated[int, GUESS] = 60
"""Maximum number of characters of a condition in the headline of a summary."""

varied(__name__)
