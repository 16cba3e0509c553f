"""Inputs that lead to a place as tests in C."""

from __future__ import annotations

import math
import os
import struct
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from loopless.errors import UsageError
from loopless.limits.report import MAX_LISTED_VALUES, MAX_LITERAL
from loopless.patterns import pattern
from loopless.queries.call_values.reached import (
    GivenValue,
    Inputs,
    MemoryContent,
    Number,
    PointerIn,
    RepeatedValue,
    runs_of,
    unrolled,
)
from loopless.queries.call_values.surroundings import Surroundings
from loopless.records import dataclass
from loopless.report.reach import quoted
from loopless.report.stand_ins import WIDTH, bodies, literal, table, variables

STDIN_FILE: Final = "stdin.bin"
"""The file beside a test that has the bytes of standard input."""
_CHARACTERS: Final = ("char", "signed char", "unsigned char")


_ALIGNED: Final = 16
"""Memory that is no array of integers begins at a multiple of this, as where it was replayed."""
_IDENTIFIER: Final = pattern(r"[A-Za-z_]\w*")


TEST_S: Final = 10
"""Seconds after which a test is ended of a run that never ends."""


def c_test(
    inputs: Inputs, purpose: str, program: Surroundings, folder: Path, name: str = "test", *, endless: bool = False
) -> str:
    """A C file to be put into ``folder`` under this name, with a ``main`` that gives the function its inputs;
    ``purpose`` is the sentence that says what for. ``endless``: the run never ends, so an alarm ends the test.

    It includes the file that holds the function, so that static functions can be called; the program's own ``main``
    gets another name there.

    Raises:
        UsageError: the inputs cannot be given in C, for the reason in it.
    """
    inputs = givable(inputs, program)
    others = [relative(other, folder) for other in program.others]
    given = "" if inputs.stdin is None else f" < {STDIN_FILE}"
    command = " ".join(["cc", *flags_of(program, folder), f"{name}.c", *others, f"-o {name} && ./{name}{given}"])
    body = [*([f"  alarm({TEST_S});"] if endless else []), *_calling(inputs, program)]
    lines = [f"/* {wrapped(_safe(purpose), '   ')}", f"   In this folder: {_safe(command)} */", ""]
    lines += [*(["unsigned alarm(unsigned seconds);"] if endless else []), *included(inputs, program, folder)]
    if program.main_elsewhere and not is_main(inputs):
        lines += [
            "/* before the program's own main */",
            "__attribute__((constructor)) static void loopless_test(void) {",
            *body,
            "  exit(0);",
            "}",
        ]
    else:
        lines += ["int main(void) {", *body, "  return 0;", "}"]
    return "\n".join(lines) + "\n"


def _ended(given: GivenValue) -> GivenValue:
    """An array of characters ends with 0: a run that gets to the place without having read so far may read on."""
    if given.elements and given.type in _CHARACTERS and given.elements[-1].value != 0:
        return replace(given, elements=(*given.elements, RepeatedValue(1, 0)))
    return given


def givable(inputs: Inputs, program: Surroundings) -> Inputs:
    """The inputs, where C can give them. Raises :class:`UsageError`."""
    if program.file.suffix not in (".c", ".i", ".h"):
        raise UsageError(f"no test in C: {program.file} is not C")
    if inputs.uninitialised:
        names = ", ".join(sorted(inputs.uninitialised))
        raise UsageError(f"no test in C: what uninitialised variables hold ({names}) cannot be given from outside")
    if program.replaced:
        raise UsageError(f"no test in C: the program defines {program.replaced[0]} itself, which is taken for an input")
    hidden = [name for name in sorted(inputs.globals) if not _IDENTIFIER.fullmatch(name)]
    if hidden:
        raise UsageError(f"no test in C: {hidden[0]} is static in a function, and cannot be set from outside")
    nameless = [one.name for one in inputs.arguments if one.by_value and not one.type]
    if nameless:
        raise UsageError(f"no test in C: the type of {nameless[0]} has no name")
    return replace(inputs, arguments=tuple(map(_ended, inputs.arguments)))


def wrapped(text: str, margin: str = "") -> str:
    """Text on lines that are not too long."""
    return textwrap.fill(text, WIDTH, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False)


def _safe(text: str) -> str:
    """Text that neither ends nor begins a comment."""
    return text.replace("*/", "* /").replace("/*", "/ *")


def relative(file: Path, folder: Path) -> str:
    """A file as seen from a folder."""
    return os.path.relpath(file.resolve(), folder.resolve())


def flags_of(program: Surroundings, folder: Path) -> Iterator[str]:
    """The flags for the compiler, those that name folders of headers as seen from ``folder``."""
    if program.pointer_bits == 32 and struct.calcsize("P") == 8:
        yield "-m32"
    named = False
    for flag in program.flags:
        yield relative(Path(flag), folder) if named else _seen_from(flag, folder)
        named = flag in ("-I", "-isystem", "-include", "-iquote")


def _seen_from(flag: str, folder: Path) -> str:
    return f"-I{relative(Path(flag[2:]), folder)}" if flag.startswith("-I") and len(flag) > 2 else flag


def is_main(inputs: Inputs) -> bool:
    """Whether the program's own main is called."""
    return inputs.function == "main"


def included(inputs: Inputs, program: Surroundings, folder: Path) -> list[str]:
    """The program, and bodies for what has none there."""
    lines = [
        "#define main loopless_program_main",
        f'#include "{relative(program.file, folder)}"',
        "#undef main",
        "",
        "extern int puts(const char *);",
        "extern void exit(int);",
        "",
    ]
    if program.variables:
        lines += [*variables(program, beside=bool(program.others)), ""]
    if program.missing:
        lines += [*bodies(program.missing, inputs.nondet, repeats=inputs.repeats), ""]
    return lines


def _calling(inputs: Inputs, program: Surroundings) -> Iterator[str]:
    """The statements that set the globals and call the function."""
    for name in sorted(inputs.globals):
        yield f"  {name} = {literal(inputs.globals[name])};"
    if is_main(inputs):
        yield from _main_call(inputs, program)
        return
    names: list[str] = []
    for number, given in enumerate(inputs.arguments, 1):
        fine = _IDENTIFIER.fullmatch(given.name) and given.name not in (*names, program.function, "main")
        names.append(given.name if fine else f"argument_{number}")
    made = Made([*names, program.function, "main"])
    for name, given in zip(names, inputs.arguments, strict=True):
        if given.memory is not None:
            yield from _blocks(name, given.memory, made)
            made.places[given.name] = moved(name, given.memory.start)
        else:
            yield from _argument(name, given)
            made.places[given.name] = f"(char *){name}"
    for name, pointer in made.later:
        yield _leading(name, pointer, moved(made.places[pointer.same], pointer.at))
    given_names = [_passed(name, given) for name, given in zip(names, inputs.arguments, strict=True)]
    yield f"  {program.function}({', '.join(given_names)});"


@dataclass(slots=True)
class Made:
    """What a test has declared: the names that are ``taken``, the ``places`` where arguments and pointers lead, by
    their names, and the pointers that are set ``later``, with the names of the arrays in which they lie.
    """

    taken: list[str]
    places: dict[str, str] = field(default_factory=dict)
    later: list[tuple[str, PointerIn]] = field(default_factory=list)


def _leading(name: str, pointer: PointerIn, place: str) -> str:
    return f"  *(void **)({name} + {pointer.offset}) = {place}; /* {_safe(pointer.name)} */"


def _blocks(name: str, memory: MemoryContent, made: Made) -> Iterator[str]:
    """The bytes of a memory, those that its pointers lead to, and the assignments of these pointers."""
    yield from _array(f"unsigned char {name}", runs_of(whole(memory)), f" __attribute__((aligned({_ALIGNED})))")
    for pointer in memory.pointers:
        if pointer.same:
            made.later.append((name, pointer))
            continue
        inner = inner_name(name, pointer.offset, made.taken)
        made.places[pointer.name] = moved(inner, pointer.memory.start)
        yield from _blocks(inner, pointer.memory, made)
        yield _leading(name, pointer, moved(inner, pointer.at))


def whole(memory: MemoryContent) -> bytes:
    """The bytes of a memory, as many as the run that was replayed had, with some 0 behind them: a run that gets to the
    place may read on.
    """
    return memory.content.ljust((len(memory.content) // _ALIGNED + 1) * _ALIGNED, b"\0")


def inner_name(name: str, offset: int, taken: list[str]) -> str:
    """A name that nothing has so far, for what a pointer leads to."""
    found = f"{name}_{offset}"
    while found in taken:
        found += "_"
    taken.append(found)
    return found


def moved(name: str, at: int) -> str:
    """An address so many bytes behind another one, in C and in Python."""
    return name if at == 0 else f"{name} {'+' if at > 0 else '-'} {abs(at)}"


def _main_call(inputs: Inputs, program: Surroundings) -> Iterator[str]:
    """A call of the program's own ``main``, with the words of argv, to which it may write (C, 5.1.2.2.1)."""
    count = len(program.parameters)
    if count == 0:
        yield "  loopless_program_main();"
        return
    words = inputs.words or (runs_of(b"program"),)
    told = []
    for number, word in enumerate(words):
        text = _literal_of((*word, RepeatedValue(1, 0)))
        if text is None:
            yield from _array(f"char word_{number}", (*word, RepeatedValue(1, 0)))
        told.append(f"(char []){{{text}}}" if text is not None else f"word_{number}")
    yield from (f"  {line}" for line in table("char *words[]", [*told, "0"]))
    yield f"  loopless_program_main({', '.join([str(len(words)), 'words', '(char *[]){0}'][:count])});"


def _passed(name: str, given: GivenValue) -> str:
    if given.by_value:
        return f"*({given.type} *){name}"
    if given.memory is not None:
        start = given.memory.start
        return f"(void *)({moved(name, start)})" if start else f"(void *){name}"
    if given.value is None and given.elements is None:
        return f"0 /* {name} */"
    return f"{name} + 1" if given.elements == () else name


def _argument(name: str, given: GivenValue) -> Iterator[str]:
    """The declaration of one argument."""
    if given.value is not None:
        yield f"  {given.type} {name} = {_number(given.value)};"
        return
    if given.elements is None:
        return
    text = string_of(given)
    if not given.elements:
        yield f"  static {given.type} {name}[1]; /* a pointer behind it: nothing is read there */"
    elif text is not None:
        yield f"  static {given.type} {name}[{sum(run.count for run in given.elements)}] = {text};"
    else:
        yield from _array(f"{given.type} {name}", given.elements)


def _array(declared: str, runs: Sequence[RepeatedValue], attribute: str = "") -> Iterator[str]:
    """A static array with these elements: listed without the zeros at its end, or set by loops if that is shorter."""
    total, name = sum(run.count for run in runs), declared.rsplit(maxsplit=1)[-1]
    head = f"static {declared}[{total}]{attribute}"
    told = runs[:-1] if runs[-1].value == 0 else runs
    listed = sum(run.count for run in told)
    if not told:
        yield f"  {head};"
    elif listed <= MAX_LISTED_VALUES or len(told) * 2 >= listed:
        yield from (f"  {line}" for line in table(head, map(literal, unrolled(tuple(told)))))
    else:
        yield f"  {head};"
        at = 0
        for run in told:
            if run.count == 1:
                yield f"  {name}[{at}] = {literal(run.value)};"
            elif run.value != 0:
                yield f"  for (unsigned long i = {at}; i < {at + run.count}; i++) {name}[i] = {literal(run.value)};"
            at += run.count


def string_of(given: GivenValue) -> str | None:
    """The string that an array of characters holds, where it is short and can be printed."""
    return _literal_of(given.elements or ()) if given.type in _CHARACTERS else None


def _literal_of(runs: Sequence[RepeatedValue]) -> str | None:
    """Characters that end with 0 as a literal of C, where they are few and can be printed."""
    if not 0 < sum(run.count for run in runs) <= MAX_LITERAL:
        return None
    *values, last = unrolled(tuple(runs))
    if last != 0 or not all(32 <= value < 127 for value in values):
        return None
    return quoted("".join(map(chr, values)))


def _number(value: Number) -> str:
    """A number in C; the shortest decimal that is read as the same."""
    if not isinstance(value, float):
        return literal(value)
    if math.isfinite(value):
        return repr(value)
    return '__builtin_nan("")' if math.isnan(value) else f"{'-' if value < 0 else ''}__builtin_inf()"
