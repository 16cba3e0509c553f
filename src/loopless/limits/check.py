"""Limits of :mod:`loopless.check`."""

from __future__ import annotations

from typing import Annotated

from loopless.limits.chosen import GUESS, ChosenBy, varied

# check.certificates.element_sums

MAX_SUM_STEP: Annotated[int, GUESS] = 4
"""Maximum number of elements by which the place up to which elements are summed moves at once, that it is followed."""

# check.certificates.judge

QUESTION_MS: Annotated[int, GUESS] = 10_000
"""Maximum number of milliseconds for one question in one theory, as Z3's steps count."""

ASIDE_QUESTION_MS: Annotated[int, GUESS] = 700
"""Maximum number of milliseconds for a question that a proof does not need: whether undefined behaviour is excluded."""

# check.certificates.regions

MAX_COMPARED_READS: Annotated[int, GUESS] = 8
"""Maximum number of values read before that a value read is compared with."""

MAX_ELEMENT_CHOICES: Annotated[int, GUESS] = 16
"""Maximum number of choices of elements that are read of which all that holds of the followed ones is used."""

MAX_PAIR_CHOICES: Annotated[int, ChosenBy("an exchange of two elements reads four times: 30 choices")] = 56
"""Maximum number of choices of two elements of one object of which all that holds of two followed ones is used."""

MAX_SEPARATE_WAYS: Annotated[int, GUESS] = 32
"""Maximum number of ways that meet and are kept apart, where values are multiplied."""

# check.certificates.repeating

MAX_REPEATING_STEPS: Annotated[int, GUESS] = 1_000_000
"""Maximum number of back edges and calls of a run that is followed until it repeats itself."""

# check.certificates.all_runs

MAX_ENUMERATED_STEPS: Annotated[int, GUESS] = 2_000_000
"""Maximum number of back edges and calls of all runs of a program that are taken one by one."""

MAX_ENUMERATED_RUNS: Annotated[int, GUESS] = 2_000
"""Maximum number of runs that are taken one by one."""

MAX_LISTED_BITS: Annotated[int, ChosenBy("a byte, whose values are listed; more are hopeless")] = 8
"""Maximum number of bits of an input whose values are taken one by one."""

# check.certificates.theories

MAX_TABLE_ENTRIES: Annotated[int, GUESS] = 256
"""Maximum number of entries of a table of constants of which it is told which one an index has."""

MAX_VECTOR_BITS: Annotated[int, GUESS] = 300
"""Maximum number of bits of values that are put into bit vectors."""

# check.certificates.unseen

MAX_UNSEEN_BLOCKS: Annotated[int, GUESS] = 100
"""Maximum number of blocks of a run outside of the flowgraph that are followed."""

# check.interpreter.block_order

MAX_NESTING: Annotated[int, ChosenBy("Python allows 20 nested loops and handlers")] = 12
"""Maximum number of nested loops in the code of the interpreter. Deeper loops are part of the region around them."""

# check.interpreter.codegen

MAX_INDENT: Annotated[int, GUESS] = 40
"""Maximum number of levels at which a block stands inside the block before it."""

MAX_CHAINED_EDGES: Annotated[int, GUESS] = 40
"""Maximum number of edges of a block that are written as one chain of ``elif``. Long chains nest in Python's syntax
tree."""

# check.interpreter.expressions

MAX_VALUE_BITS: Annotated[int, GUESS] = 1 << 22
"""Maximum number of bits of a value. Larger values end the run as unknown; only integers without a width get there."""

MAX_INLINE_DEPTH: Annotated[int, GUESS] = 10
"""Maximum depth of a node that becomes one expression."""

MAX_INLINE_SIZE: Annotated[int, GUESS] = 60
"""Maximum size, written out, of a node that becomes one expression."""

MAX_ADDENDS: Annotated[int, GUESS] = 30
"""Maximum number of summands in one expression."""

MAX_REPEATED_SIZE: Annotated[int, GUESS] = 2_000
"""Maximum size, written out, of a node whose shared parts are written in each branch. Those of a larger node are
written once for all branches."""

MAX_PLAIN_SHIFT: Annotated[int, GUESS] = 512
"""Maximum amount of a left shift that is done without a look at the size of the value."""

# check.interpreter.library

MAX_STRING_LENGTH: Annotated[int, GUESS] = 1 << 20
"""Maximum number of bytes of a string that the interpreter reads."""

# check.interpreter.memory

MAX_COMPARED_BYTES: Annotated[int, GUESS] = 1 << 20
"""Maximum number of bytes of memory that is compared by content when states are compared."""

# check.interpreter.run

MAX_POINTER_DEPTH: Annotated[int, GUESS] = 100
"""Maximum number of pointers that are followed one after another for the memory at the end of a run."""

MAX_FOLLOWED_POINTERS: Annotated[int, GUESS] = 10_000
"""Maximum number of pointers that are followed for the memory at the end of a run. If several lead to one object, ways
multiply."""

# check.interpreter.services

MAX_UNCHARGED_ITERATIONS: Annotated[int, GUESS] = 4096
"""Maximum number of iterations between two looks at the limits."""

FIRST_CHARGED_ITERATION: Annotated[int, GUESS] = 64
"""Number of iterations before the first look at the limits."""

# check.interpreter.storage

MAX_OBJECT_BYTES: Annotated[int, GUESS] = 1 << 26
"""Maximum number of bytes of an object that is held. A run that makes a larger one is unknown."""

# check.oracle.child

GUARD_BYTES: Annotated[int, ChosenBy("accesses that leave memory must hit nothing else")] = 1 << 17
"""Number of bytes on both sides of given memory that cannot be accessed."""

SILENT_GRACE_S: Annotated[float, GUESS] = 2.0
"""Number of seconds that a silent fork may work beyond the limit of its run."""

FORK_GLANCE_S: Annotated[float, GUESS] = 0.2
"""Number of seconds between two looks at how much a silent fork works."""

MAX_DRAWS: Annotated[int, GUESS] = 1 << 16
"""Maximum number of inputs of a run whose standard input is laid out."""

# check.oracle.native

CHILD_GLANCE_S: Annotated[float, GUESS] = 0.2
"""Number of seconds between two looks at how much a silent child works."""

LOAD_CHARGE_S: Annotated[float, GUESS] = 0.5
"""Seconds of work that compiling a program counts as."""

RUN_CHARGE_S: Annotated[float, GUESS] = 0.001
"""Seconds of work that a native run that ends counts as."""

varied(__name__)
