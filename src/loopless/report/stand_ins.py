"""Bodies in C for what a program only declares, so that it links and its run takes the inputs that it is to take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from loopless.limits.report import MAX_LISTED_VALUES, MAX_READ_AHEAD
from loopless.queries.call_values.reached import RepeatedValue, unrolled
from loopless.queries.call_values.surroundings import MissingFunction, Surroundings

WIDTH: Final = 110


_ROLES: Final = MappingProxyType(
    {
        "nothing": "void loopless_nothing(void) {}",
        "stop": "void loopless_stop(void) { exit(0); }",
        "exit": "void loopless_exit(int status) { exit(status); }",
        "abort": "void loopless_abort(void) { exit(0); }",
        "assume": "void loopless_assume(int holds) { if (!holds) exit(0); }",
        "assume_wide": "void loopless_assume_wide(unsigned long holds) { if (!holds) exit(0); }",
        "range": "int loopless_range(int low, int high) { int value = (int)loopless_next(); "
        "if (value < low || value >= high) exit(0); return value; }",
        "symbolic": "void loopless_symbolic(void *at, unsigned long size) { "
        "unsigned char *bytes = (unsigned char *)at; "
        "unsigned long i; long long value = 0; for (i = 0; i < size; i++) { "
        "if (i == 0 || !(size == 2 || size == 4 || size == 8)) value = loopless_next(); else value >>= 8; "
        "bytes[i] = (unsigned char)value; } }",
    }
)
"""What functions without a body do, as in the run that was replayed."""
ENDS: Final = MappingProxyType(
    {
        "error": 'void loopless_error(void) { puts("the error function was called"); exit(0); }',
        "assert": 'void loopless_assert(int holds) { if (!holds) { puts("an assertion is false"); exit(0); } }',
    }
)
"""What a test does where it has come to its place."""
FAILS: Final = MappingProxyType(
    {
        "error": 'void loopless_error(void) { fputs("reach_error was called\\n", stderr); abort(); }',
        "assert": "void loopless_assert(int holds) { "
        'if (!holds) { fputs("an assertion is false\\n", stderr); abort(); } }',
    }
)
"""What a run does that shows an error; it needs ``stdio.h`` and ``stdlib.h``."""


def variables(program: Surroundings, *, beside: bool) -> Iterator[str]:
    """Variables that the program only declares; they begin with 0, as in the run that was replayed. ``beside``: they
    stand in a file of their own, or it may be another file than the one included that declares them.
    """
    for number, (name, size) in enumerate(program.variables):
        if beside:
            yield f'extern char loopless_variable_{number}[{max(1, size)}] __asm__("{name}");'
            yield f"char loopless_variable_{number}[{max(1, size)}] __attribute__((aligned(16)));"
        elif size:
            yield f"__typeof__({name}) {name};"
        else:
            yield f"__typeof__({name}[0]) {name}[1];"


def bodies(
    missing: Sequence[MissingFunction],
    inputs: Sequence[RepeatedValue],
    *,
    repeats: bool,
    ends: Mapping[str, str] = ENDS,
    for_ever: bool = False,
    beside: bool = False,
) -> Iterator[str]:
    """Bodies for functions that the program only declares; those that are inputs return ``inputs`` in their order, and
    behind these the last one again where it ``repeats``, else 0, ``for_ever`` or for long. ``beside``: they stand in
    a file of their own.
    """
    roles = {one.role for one in missing}
    if roles & {"input", "range", "symbolic"}:
        yield from _next(inputs, repeats=repeats, for_ever=for_ever)
    yield from (f"static {text}" for role, text in {**_ROLES, **ends}.items() if role in roles)
    for number, one in enumerate(missing):
        if one.role == "zero":
            yield from _zero(number, one)
    yield "#if defined(__GNUC__) && !defined(__clang__)"
    yield '#pragma GCC diagnostic ignored "-Wattribute-alias"'
    yield "#endif"
    for number, one in enumerate(missing):
        body = {"input": "loopless_next", "zero": f"loopless_zero_{number}"}.get(one.role, f"loopless_{one.role}")
        if one.declared and not beside:
            yield f'extern __typeof__({one.name}) {one.name} __attribute__((alias("{body}")));'
        else:
            named = f'loopless_missing_{number}(void) __asm__("{one.name}")'
            yield f'extern void {named} __attribute__((alias("{body}")));'


def _zero(number: int, one: MissingFunction) -> Iterator[str]:
    """A function that returns 0 in each part of its result, as one that returns the parts in C does."""
    name = f"loopless_zero_{number}"
    if len(one.result) == 1 and "[" not in one.result[0]:
        yield f"static {one.result[0]} {name}(void) {{ return 0; }}"
        return
    parts = " ".join(
        f"{type_} p{at}{bracket}{rest};"
        for at, (type_, bracket, rest) in enumerate(part.partition("[") for part in one.result)
    )
    yield f"struct loopless_result_{number} {{ {parts} }};"
    yield (
        f"static struct loopless_result_{number} {name}(void) {{ "
        f"static struct loopless_result_{number} zero; return zero; }}"
    )


def _next(runs: Sequence[RepeatedValue], *, repeats: bool, for_ever: bool) -> Iterator[str]:
    """The function that gives the inputs in their order."""
    total = sum(run.count for run in runs)
    yield "/* What input functions return, in the order of the calls. */"
    if total <= MAX_LISTED_VALUES or len(runs) * 2 >= total:
        values = [literal(_signed(value)) for value in unrolled(tuple(runs))]
        yield from table("static const long long loopless_inputs[]", values or ["0"])
        yield "static long long loopless_next(void) {"
        yield "  static unsigned long taken;"
        yield f"  if (taken < {total}) return loopless_inputs[taken++];"
    else:
        yield "static const struct { unsigned long count; long long value; } loopless_inputs[] ="
        yield from table("  ", [f"{{{run.count}, {literal(_signed(run.value))}}}" for run in runs], of="")
        yield "static long long loopless_next(void) {"
        yield "  static unsigned long run, of_run, taken;"
        yield f"  while (run < {len(runs)} && of_run == loopless_inputs[run].count) of_run = 0, run++;"
        yield f"  if (run < {len(runs)}) {{ of_run++; taken++; return loopless_inputs[run].value; }}"
    if repeats and runs:
        yield f"  return {literal(_signed(runs[-1].value))};"
    else:
        if not for_ever:
            yield f"  if (taken++ >= {total + MAX_READ_AHEAD}) exit(0);"
        yield "  return 0;"
    yield "}"


def _signed(value: int) -> int:
    """The value of a ``long long`` with the same bits."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def table(head: str, values: Iterator[str] | Sequence[str] | map[str], of: str = " = ") -> Iterator[str]:
    """A declaration with the values of an array, broken into lines."""
    line = f"{head}{of}{{"
    first = True
    for value in values:
        piece = value if first else f", {value}"
        if len(line) + len(piece) > WIDTH:
            yield f"{line}{'' if first else ','}"
            line, piece = "    ", value
        line, first = line + piece, False
    yield f"{line}}};"


def literal(value: int) -> str:
    """An integer as C writes it."""
    if value == -(1 << 63):
        return f"({value + 1}LL - 1)"
    if -(1 << 31) < value < 1 << 31:
        return str(value)
    return f"{value}LL" if value < 1 << 63 else f"{value}ULL"
