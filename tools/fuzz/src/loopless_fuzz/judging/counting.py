"""Counts of native runs of whole programs: iterations of each loop, and what each call of a function began with.

The C text says in comments what is to be counted:

- ``/*begin NAME | VALUES | REGIONS*/;`` at the begin of each function: integers to note there, as C expressions with
  ``;`` between them, and objects that may overlap there, each as ``name=address=size``;
- ``/*enter N*/;`` before the loop of number N, in the line before it;
- ``/*head N*/(condition)`` for its condition if that is tested first, else ``/*body N*/;`` where its body begins;
- ``/*leave*/(value)`` for what is returned, ``/*leave*/;`` where a function ends that returns nothing; where neither
  stands, as where a structure is returned, the function is left behind all that it does.

Comments become code; lines stay. An iteration is a taken back edge: a visit of the header that is not an entry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle, NativeRun
from loopless.check.outcome import Outcome
from loopless.errors import UsageError

WORDS: Final = 6000
"""Numbers that a run may note."""
_ACTIVATIONS: Final = 12
"""Calls of one function of which all is noted; of the rest only what loops do in all."""
VISITS: Final = 20_000
"""Visits of headers after which a run is ended; what it counted so far is right for a run that goes on."""
CALLS: Final = 3000
_CUT: Final = "exit(113)"
SECONDS: Final = 0.5
DRIVER: Final = "counted_run"
_FIXED: Final = 8
"""Of an activation: function, whether it returned, all iterations and calls at its begin, at its end, regions."""
_REGION: Final = 3
"""Of an object: address, size, and a number for its bytes (0: not looked at), behind the end whether they changed."""
_HEAD: Final = 3  # words used, all iterations, activations that were not noted

_HOOK: Final = re.compile(r"/\*(begin|enter|head|body|leave)(?: ([^*]*(?:\*(?!/)[^*]*)*))?\*/")
_VALUE: Final = re.compile(r"^(\s*return )/\*leave\*/(\(.*\));\s*$")


@dataclass(frozen=True, slots=True)
class Watched:
    """A function: what is noted of its calls, and the numbers of its loops."""

    name: str
    values: tuple[str, ...]
    regions: tuple[tuple[str, str, str], ...]
    loops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """A program that counts: its text, its functions, and the line of each loop's ``enter``."""

    text: str
    functions: tuple[Watched, ...]
    lines: tuple[int, ...]

    def loop_at(self, line: int) -> int:
        """The number of the loop that begins in a line: the last one that is entered above.

        Raises:
            UsageError: if there is none.
        """
        above = [number for number, at in enumerate(self.lines) if at < line]
        if not above:
            raise UsageError(f"no loop is entered above line {line}")
        return max(above, key=lambda number: self.lines[number])


@dataclass(frozen=True, slots=True)
class Count:
    """Iterations of a loop: in all, and of the entry that took the most."""

    total: int
    most: int


@dataclass(frozen=True, slots=True)
class Activation:
    """One call of ``function``: the ``values`` at its begin (64-bit, to be wrapped to their types), the objects that
    may overlap there by name (address, size), the iterations of its own loops, and ``everything``: those of all loops
    of the program until it ended, or the run did. ``returned``: whether it did. ``changed``: those of the objects with
    other bytes then than at its begin, where they are named by one name alone. It is call number ``first`` of the run,
    and those up to ``last`` came to their begins before it ended.
    """

    function: str
    returned: bool
    values: Mapping[str, int]
    regions: Mapping[str, tuple[int, int]]
    loops: Mapping[int, Count]
    everything: int
    first: int
    last: int
    changed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Counts:
    """One run: how it ended, counts by the number of the loop, calls by function, activations in the order of their
    begins (``dropped`` more were not noted). ``cut``: it was ended by the limits on what is counted.
    """

    outcome: Outcome
    loops: tuple[Count, ...]
    calls: Mapping[str, int]
    activations: tuple[Activation, ...]
    dropped: int
    cut: bool


def counted(text: str) -> Counted:
    """The program with its comments made code.

    Raises:
        UsageError: if a comment is not as it should be.
    """
    functions: list[list[object]] = []
    lines: list[int] = []
    out: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        for kind, said in _HOOK.findall(line):
            if kind == "begin":
                functions.append([*_facts(said), []])
            elif kind == "enter":
                if int(said) != len(lines) or not functions:
                    raise UsageError(f"line {number}: loops are numbered from 0 in the order of the text")
                lines.append(number)
                own = functions[-1][3]
                assert isinstance(own, list)
                own.append(int(said))
        out.append(line)
    watched = tuple(Watched(str(f[0]), f[1], f[2], tuple(f[3])) for f in functions)  # type: ignore[arg-type]
    return Counted(_runtime(len(lines)) + _with_code(out, watched) + _DRIVER_TEXT, watched, tuple(lines))


def _facts(said: str) -> tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]:
    name, values, regions = (part.strip() for part in f"{said}||".split("|")[:3])
    objects = tuple(tuple(part.split("=")) for part in _items(regions))
    if any(len(each) != 3 for each in objects):
        raise UsageError(f"{name}: a region is name=address=size")
    return name, _items(values), objects


def _items(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _with_code(lines: Sequence[str], functions: Sequence[Watched]) -> str:
    at = -1
    made: list[str] = []
    for line in lines:
        at += len(re.findall(r"/\*begin ", line))
        made.append(_line_with_code(line, at, functions[at] if at >= 0 else None))
    return "\n".join(made)


def _line_with_code(line: str, number: int, function: Watched | None) -> str:
    """A line of the function of this number."""

    def code(found: re.Match[str]) -> str:
        assert function is not None
        match found[1]:
            case "begin":
                return _begin(number, function)
            case "leave":
                return "counted_leave(counted_here)"
            case "enter":
                return f"counted_here[{_cell(function, int(found[2])) + 2}] = -1"
            case kind:
                visit = f"counted_visit({found[2]}, counted_here + {_cell(function, int(found[2]))})"
                return f"{visit}, " if kind == "head" else visit

    returned = _VALUE.match(line)
    if returned is not None:
        return f"{returned[1]}counted_value(counted_here, (long long)({returned[2]}));"
    return _HOOK.sub(code, line)


def _size(function: Watched) -> int:
    return _FIXED + len(function.values) + _REGION * len(function.regions) + 3 * len(function.loops)


def _cell(function: Watched, loop: int) -> int:
    """Where an activation counts a loop: iterations, those of the longest entry, those of this entry."""
    return _FIXED + len(function.values) + _REGION * len(function.regions) + 3 * function.loops.index(loop)


def _begin(number: int, function: Watched) -> str:
    words = _size(function)
    parts = [
        f"long long counted_own[{words}] = {{0}}",
        "long long *counted_here __attribute__((cleanup(counted_left)))",
        f"counted_here = counted_begin({number}, {words}, counted_own)",
    ]
    at = _FIXED
    for value in function.values:
        parts.append(f"counted_here[{at}] = (long long)({value})")
        at += 1
    parts.append(f"counted_here[6] = {at}, counted_here[7] = {len(function.regions)}")
    for name, address, size in function.regions:
        parts.append(f"counted_here[{at}] = (long long)({address}), counted_here[{at + 1}] = (long long)({size})")
        if name.isidentifier():
            parts.append(f"counted_here[{at + 2}] = counted_bytes(counted_here + {at})")
        at += _REGION
    return "; ".join(parts)


_RUNTIME: Final = (
    "extern void exit(int);",
    "static long long *counted_log, counted_calls, counted_visits;",
    "static long long *counted_begin(long long f, long long size, long long *here) {",  # what is not noted: its own
    "  if (++counted_calls > {CALLS}) exit(113);",
    "  long long *own = counted_log + {HEAD} + 2 * {LOOPS} + f;",
    "  if (++*own <= {ACTIVATIONS} && counted_log[0] + size <= {WORDS}) {",
    "    here = counted_log + counted_log[0]; counted_log[0] += size;",
    "  } else counted_log[2]++;",
    "  here[0] = f; here[1] = 0; here[2] = counted_log[1]; here[4] = counted_calls; return here; }",
    "static long long counted_bytes(const long long *region) {",
    "  unsigned long long found = 14695981039346656037ull; const unsigned char *at = (const unsigned char *)region[0];",
    "  if (at) for (long long k = 0; k < region[1]; k++) found = (found ^ at[k]) * 1099511628211ull;",
    "  return (long long)((found >> 2) | (1ull << 62)); }",
    "static void counted_leave(long long *here) {",
    "  if (here[1]) return;",
    "  for (long long k = 0, *at = here + here[6]; k < here[7]; k++, at += 3)",
    "    if (at[2]) at[2] = at[2] != counted_bytes(at);",
    "  here[1] = 1; here[3] = counted_log[1]; here[5] = counted_calls; }",
    "static void counted_left(long long **here) { counted_leave(*here); }",  # a return that nothing marks
    "static long long counted_value(long long *here, long long value) { counted_leave(here); return value; }",
    "static void counted_visit(long long n, long long *cell) {",
    "  if (++counted_visits > {VISITS}) exit(113);",
    "  if (++cell[2] == 0) return;",
    "  long long *all = counted_log + {HEAD} + 2 * n;",
    "  counted_log[1]++; all[0]++; cell[0]++;",
    "  if (cell[2] > cell[1]) cell[1] = cell[2];",
    "  if (cell[2] > all[1]) all[1] = cell[2]; }",
)


def _runtime(loops: int) -> str:
    """One line before the program, whose lines are counted without it."""
    text = " ".join(_RUNTIME)
    values = {
        "CALLS": CALLS,
        "HEAD": _HEAD,
        "LOOPS": loops,
        "ACTIVATIONS": _ACTIVATIONS,
        "WORDS": WORDS,
        "VISITS": VISITS,
    }
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text + "\n"


_DRIVER_TEXT: Final = f"int {DRIVER}(long long *log) {{ counted_log = log; return main(); }}\n"


def run(program: Counted, streams: Sequence[Sequence[int]], host: NativeHost | None = None) -> list[Counts]:
    """The counts of runs of ``main`` with these inputs, one run for each stream of values of input functions.

    Raises:
        SourceError: if the program does not compile.
        LimitError: if the child process stops answering.
    """
    oracle = NativeOracle(program.text, limits=NativeLimits(seconds=SECONDS), host=host)
    log = (_HEAD + 2 * len(program.lines) + len(program.functions), *[0] * (WORDS - 1))
    runs = [NativeRun([log], stream) for stream in streams]
    return [_decoded(program, outcome) for outcome in oracle.run_many(DRIVER, runs)]


def _decoded(program: Counted, outcome: Outcome) -> Counts:
    log = outcome.outputs[0] if outcome.outputs else ()
    if not log:
        return Counts(outcome, (), {}, (), 0, cut=False)
    many = len(program.lines)
    loops = tuple(Count(log[at], log[at + 1]) for at in range(_HEAD, _HEAD + 2 * many, 2))
    at = _HEAD + 2 * many
    calls = {function.name: log[at + index] for index, function in enumerate(program.functions)}
    at += len(program.functions)
    found: list[Activation] = []
    while at < log[0]:
        function = program.functions[log[at]]
        found.append(_activation(function, log[at : at + _size(function)], log[1]))
        at += _size(function)
    return Counts(outcome, loops, calls, tuple(found), log[2], cut=outcome.detail == _CUT)


def _activation(function: Watched, words: Sequence[int], end: int) -> Activation:
    at = _FIXED
    values = dict(zip(function.values, words[at : at + len(function.values)], strict=True))
    at += len(function.values)
    regions: dict[str, tuple[int, int]] = {}
    changed: set[str] = set()
    for name, _, _ in function.regions:
        regions[name] = (words[at], words[at + 1])
        changed |= {name} if words[1] and words[at + 2] else set()
        at += _REGION
    loops = {}
    for loop in function.loops:
        loops[loop] = Count(words[at], words[at + 1])
        at += 3
    everything = (words[3] if words[1] else end) - words[2]
    last = words[5] if words[1] else CALLS + 1
    found = bool(words[1]), values, regions, loops, everything, words[4], last, frozenset(changed)
    return Activation(function.name, *found)
