"""The same tests in Python, by ctypes."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from loopless.errors import UsageError
from loopless.limits.report import MAX_LISTED_VALUES
from loopless.queries.call_values.reached import GivenValue, Inputs, MemoryContent, PointerIn, runs_of, unrolled
from loopless.queries.call_values.surroundings import PassedType, Surroundings
from loopless.report.reach_tests import (
    STDIN_FILE,
    TEST_S,
    Made,
    flags_of,
    givable,
    included,
    inner_name,
    is_main,
    moved,
    relative,
    string_of,
    whole,
    wrapped,
)
from loopless.report.stand_ins import literal

_FED: Final = ("import os", f"os.dup2(os.open(here / {STDIN_FILE!r}, os.O_RDONLY), 0)")
"""The statements that put a file in the place of standard input."""


_ALARM: Final = f"import signal; signal.signal(signal.SIGALRM, signal.SIG_DFL); signal.alarm({TEST_S})"
"""Ends the process: a call by ctypes cannot be interrupted."""


def python_test(inputs: Inputs, purpose: str, program: Surroundings, folder: Path, *, endless: bool = False) -> str:
    """A Python file to be put into ``folder`` that compiles the program as a library and calls the function in it;
    ``purpose`` is the sentence that says what for. ``endless``: the run never ends, so an alarm ends the test.

    Raises:
        UsageError: the inputs cannot be given in C, or the library would be for another machine, for the reason in it.
    """
    inputs = givable(inputs, program)
    if program.pointer_bits != 8 * struct.calcsize("P"):
        raise UsageError(f"no test in Python: the program's pointers have {program.pointer_bits} bits, Python's others")
    entry = "loopless_program_main" if is_main(inputs) else program.function
    sets = [f"  {name} = {literal(inputs.globals[name])};" for name in sorted(inputs.globals)]
    shim = [
        *included(inputs, program, folder),
        *_entry(entry, inputs, program),
        *(["void loopless_globals(void) {", *sets, "}"] if sets else []),
    ]
    names = [one.name if one.name.isidentifier() else f"argument_{n}" for n, one in enumerate(inputs.arguments, 1)]
    command = [*flags_of(program, folder), "-x", "c", "-", *(["-x", "none"] if program.others else [])]
    command += [relative(other, folder) for other in program.others]
    kinds = list(map(_ctype, program.parameters))
    arguments = [f"the_{name}" for name in names]
    made: list[str] = []
    told = Made([*names, "words"])
    for name, given, passed in zip(names, inputs.arguments, program.parameters, strict=False):
        if given.memory is not None:
            made += _python_blocks(f"of_{name}", given.memory, told)
            made.append(f"the_{name} = {_python_address(f'of_{name}', given.memory.start)}")
            told.places[given.name] = f"the_{name}"
        else:
            made.append(f"the_{name} = {_python(given, passed)}")
            told.places[given.name] = f"ctypes.addressof(the_{name})"
    made += [_python_leading(name, one, moved(told.places[one.same], one.at)) for name, one in told.later]
    if is_main(inputs) and program.parameters:
        words = [bytes(unrolled(word)) for word in inputs.words] or [b"program"]
        made = [f"texts = [{', '.join(f'ctypes.create_string_buffer({word!r})' for word in words)}]"]
        made.append(f"words = (ctypes.c_void_p * {len(words) + 1})(*map(ctypes.addressof, texts), None)")
        arguments = [str(len(words)), "words", "None"][: len(kinds)]
    result = _ctype(program.result) if program.result.bits or program.result.pointer else "None"
    what = wrapped(purpose).replace("\\", "\\\\").replace('"""', "'''")
    return "\n".join(
        [
            *_compiled(what, shim, command),
            "",
            f"prototype = ctypes.CFUNCTYPE({', '.join([result, *kinds])})",
            "function = prototype(ctypes.c_void_p.in_dll(program, 'loopless_entry').value)",
            *(["program.loopless_globals()"] if sets else []),
            *made,
            *(_FED if inputs.stdin is not None else []),
            *([_ALARM] if endless else []),
            f"print('returned', function({', '.join(arguments)}))",
            "",
        ]
    )


def _compiled(what: str, shim: Sequence[str], command: Sequence[str]) -> list[str]:
    """The lines that compile ``shim`` and the program as a library, and load it."""
    return [
        f'"""{what}"""',
        "",
        "import ctypes",
        "import pathlib",
        "import subprocess",
        "import tempfile",
        "",
        'SHIM = r"""',
        *shim,
        '"""',
        "",
        "here = pathlib.Path(__file__).resolve().parent",
        "with tempfile.TemporaryDirectory() as scratch:",
        "    library = pathlib.Path(scratch, 'program.so')",
        f"    command = ['cc', '-shared', '-fPIC', '-w', *{command!r}, '-o', str(library)]",
        "    subprocess.run(command, input=SHIM, text=True, cwd=here, check=True)",
        "    program = ctypes.CDLL(str(library))",
    ]


def _entry(entry: str, inputs: Inputs, program: Surroundings) -> Iterator[str]:
    """What Python calls: the function itself, or one that takes structures by their addresses and returns none."""
    if not program.result.structure and not any(one.by_value for one in inputs.arguments):
        yield f"__typeof__({entry}) *loopless_entry = {entry};"
        return
    heads, passed, nothing = [], [], []
    for number, one in enumerate(inputs.arguments):
        name = f"argument_{number}"
        heads.append(f"{'void *' if one.value is None else f'{one.type} '}{name}")
        passed.append(f"*({one.type} *){name}" if one.by_value else name)
        nothing.append(f"*({one.type} *)0" if one.by_value else "0")
    told = program.result.bits or program.result.pointer
    result = f"__typeof__({entry}({', '.join(nothing)}))" if told else "void"
    yield f"{result} loopless_taking({', '.join(heads)}) {{"
    yield f"  {'return ' if told else ''}{entry}({', '.join(passed)});"
    yield "}"
    yield "__typeof__(loopless_taking) *loopless_entry = loopless_taking;"


def _ctype(passed: PassedType) -> str:
    if passed.floating:
        return "ctypes.c_float" if passed.bits == 32 else "ctypes.c_double"
    if passed.pointer or passed.structure:
        return "ctypes.c_void_p"
    return _integer(passed)


def _integer(passed: PassedType) -> str:
    if passed.truth:
        return "ctypes.c_bool"
    return f"ctypes.c_{'' if passed.signed else 'u'}int{max(8, passed.bits)}"


def _python(given: GivenValue, passed: PassedType) -> str:
    """An argument in Python."""
    if given.value is not None:
        finite = not isinstance(given.value, float) or math.isfinite(given.value)
        return str(given.value) if finite else f"float('{given.value}')"
    if given.elements is None:
        return "None"
    total = sum(run.count for run in given.elements)
    element = _integer(passed) if passed.bits else "ctypes.c_int8"
    text = string_of(given)
    if text is not None:
        values = repr(bytes(unrolled(given.elements)))
    elif total <= MAX_LISTED_VALUES or len(given.elements) * 2 >= total:
        values = repr(list(unrolled(given.elements)))
    else:
        values = " + ".join(f"[{run.value}] * {run.count}" for run in given.elements)
    return f"({element} * {total})(*({values}))"


def _python_leading(name: str, pointer: PointerIn, address: str) -> str:
    return f"ctypes.c_void_p.from_buffer({name}, {pointer.offset}).value = {address}  # {pointer.name}"


def _python_blocks(name: str, memory: MemoryContent, made: Made) -> Iterator[str]:
    """The same in Python as :func:`_blocks` in C; all of it must live as long as it is pointed to, so it has names."""
    content = whole(memory)
    told = content.rstrip(b"\0")
    runs = runs_of(told)
    shorter = len(told) > MAX_LISTED_VALUES and len(runs) * 4 < len(told)
    text = " + ".join(f"{bytes([run.value])!r} * {run.count}" for run in runs) if shorter else repr(told)
    yield f"{name} = ctypes.create_string_buffer({text}, {len(content)})"
    for pointer in memory.pointers:
        if pointer.same:
            made.later.append((name, pointer))
            continue
        inner = inner_name(name, pointer.offset, made.taken)
        made.places[pointer.name] = _python_address(inner, pointer.memory.start)
        yield from _python_blocks(inner, pointer.memory, made)
        yield _python_leading(name, pointer, _python_address(inner, pointer.at))


def _python_address(name: str, at: int) -> str:
    return moved(f"ctypes.addressof({name})", at)
