"""Prepare the text of an LLVM module for native runs.

The text is rewritten, never its meaning except where a name says so: functions of the verification vocabulary are
redirected to the runtime (a program's own ``reach_error`` keeps its body under another name), traps become calls that
tell the check and the line, functions without a body become an input or an honest end of the run, and all writable
globals are listed in a table so that each run starts from the initial values.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Final

from loopless.check.oracle.adapters import PREFIX, adapters
from loopless.check.oracle.checks import checked, copy_check
from loopless.check.oracle.objects import RUNTIME, first_type, with_objects
from loopless.check.oracle.retarget import NARROW, SAFE
from loopless.check.oracle.runtime import APART, BYTES, CHECKED, MEANINGS, WEAK_MEANINGS
from loopless.check.oracle.signature import CType, DebugInfo, Signature
from loopless.check.oracle.unwinding import without_unwinding
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.source.vocabulary import STANDARD_INPUT_DRAW

# What a program may call in the C library: functions that neither touch files nor other processes.
_LIBRARY_WORDS: Final = (
    "memset memcpy memmove memcmp memchr bcmp bzero strlen strnlen strcmp strncmp strcpy strncpy strcat strncat "
    "strchr strrchr strstr strspn strcspn strpbrk strdup strndup strtol strtoul strtoll strtoull atoi atol atoll "
    "abs labs llabs div ldiv lldiv malloc calloc realloc free aligned_alloc posix_memalign alloca isalpha "
    "isdigit isalnum isspace isupper islower isprint ispunct iscntrl isgraph isxdigit isblank toupper tolower "
    "printf puts putchar fprintf fputs fputc putc fwrite fflush sprintf snprintf vprintf vsnprintf perror "
    "getchar getchar_unlocked getc fgetc ungetc fgets fread read getline scanf feof ferror clearerr rand srand random "
    "srandom qsort bsearch time clock floor ceil sqrt pow fabs fmod fmin fmax round trunc log exp sin cos tan strtod "
    "atof __isoc99_scanf __isoc23_scanf fscanf __isoc99_fscanf __isoc23_fscanf __ctype_b_loc __errno_location"
)
_LIBRARY: Final = frozenset(_LIBRARY_WORDS.split())
_LIBRARY_VARIABLES: Final = frozenset({"stdin", "stdout", "stderr"})

_NAME: Final = r'@("[^"]+"|[\w$.\-]+)'
_SYMBOL: Final = pattern(_NAME)
_HEAD: Final = pattern(rf"^(declare|define)\b(.*?){_NAME}\((.*)$")
_VARIABLE: Final = pattern(rf"^{_NAME} = (.*?)\b(global|constant) (.*)$")
_TRAP: Final = pattern(
    r"call void @llvm\.(?:ubsantrap\(i8 (?:noundef )?(-?\d+)\)|trap\(\))(?: #\d+)?(?:, !dbg !(\d+))?"
)
_ALLOCA: Final = pattern(r'^  (%"[^"]+"|%[\w$.\-]+) = alloca i(8|16|32|64|1), align (\d+)')
_AGGREGATE: Final = pattern(r'^  (%"[^"]+"|%[\w$.\-]+) = alloca ([\[%{].*)$')
_DECLARED: Final = pattern(r'^\s+#dbg_declare\(ptr (%"[^"]+"|%[\w$.\-]+), !(\d+),')
_RETURN: Final = pattern(
    r"(signext |zeroext )?(?:range\([^)]*\) )?(void|i\d+|ptr|float|double|x86_fp80|fp128|half|[\[{<%].*)\s*$"
)
_ROOM: Final = pattern(r"\bsret\(([^()]*)\)")
_UNKNOWN: Final = pattern(r"\bscalable\b|\bx86_amx\b")
_CXX: Final = pattern(
    r"_ZN?[KVRO]*S[tabsiod]|_Zn[wa]|_Zd[la]|_ZT[VTISv]S|__cxa_|_Unwind_|__gxx_|__dynamic_cast$|__clang_"
)
"""What names of the C++ library begin with: those of ``std``, allocations, and what the compiler calls."""


@dataclass(frozen=True, slots=True)
class Global:
    """A writable global: its symbol, source name and, for a scalar integer, its type."""

    symbol: str
    name: str
    type: CType | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A module ready to be compiled and linked with the runtime.

    ``functions``: those of the program, and adapters for such as need one (:mod:`loopless.check.oracle.adapters`).
    ``globals`` is in the order of the table ``@loopless.table`` in the text; ``runtime`` are the runtime's functions
    that the text calls; ``unresolved`` names, by the index passed to the runtime, the functions that cannot be run;
    ``locals`` names, likewise, the locals that start with an input, as ``function.variable``, or, of those all of whose
    bytes do, ``function.variable[]``.
    """

    text: str
    functions: dict[str, Signature]
    symbols: frozenset[str]
    globals: tuple[Global, ...]
    runtime: frozenset[str]
    unresolved: tuple[str, ...]
    assumed: tuple[str, ...] = ()
    locals: tuple[str, ...] = ()


@dataclass(slots=True)
class _Module:
    """What a first pass over the text found, and what the rewriting collects."""

    lines: list[str]
    declared: dict[str, tuple[str, str]]
    defined: set[str]
    renamed: dict[str, str] = field(default_factory=dict)
    runtime: set[str] = field(default_factory=set)
    stubs: list[str] = field(default_factory=list)
    checks: dict[str, str] = field(default_factory=dict)
    narrow: bool = False
    unresolved: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)


def prepare(ir_text: str, *, uninitialised: bool = False, narrow: bool = False) -> Prepared:
    """Rewrite a module's text for native runs; ``narrow`` says that it was written for 32-bit pointers.

    With ``uninitialised``, every integer local variable first gets a fresh unknown from a second stream of inputs,
    in the order of the variables in each activation, so that a replay can choose what an uninitialised read sees; all
    bytes of an array or a structure get one value, where that is chosen.
    """
    lines = without_unwinding(ir_text.splitlines())
    debug = DebugInfo(ir_text)
    module = _scan(lines)
    module.narrow = narrow
    _choose_meanings(module)
    out: list[str] = []
    variables: list[tuple[str, str, int | None]] = []
    local_names, fresh = _fresh_values(lines, debug) if uninitialised else ([], {})
    for number, line in enumerate(module.lines):
        if line.startswith("@"):
            out.append(_variable(line, module, variables))
        elif line.startswith(("declare", "define")):
            out.extend(_head(line, module))
        elif line.startswith("!"):
            out.append(line)
        else:
            out.append(_body(line, module, debug))
        if number in fresh:
            module.runtime.update(("uninit", "fill"))
            out.extend(fresh[number])
    out.extend((*module.stubs, *module.checks.values(), *_intrinsics(module)))
    if module.checks:
        module.runtime.add("trap")
    out.append(_table(variables))
    out = with_objects(out, debug)
    functions = debug.signatures()
    for name, signature, text in () if narrow else adapters(out, debug):
        functions[f"{PREFIX}{name}"] = signature
        out.append(text)
    module.runtime.update(RUNTIME)
    out.extend(f"declare void @loopless_{name}(...)" for name in sorted(module.runtime))
    types = debug.global_types({symbol: number for symbol, _, number in variables if number is not None})
    return Prepared(
        text="\n".join(out) + "\n",
        functions=functions,
        symbols=frozenset(module.defined),
        globals=tuple(_described(symbol, types) for symbol, _, _ in variables),
        runtime=frozenset(module.runtime),
        unresolved=tuple(module.unresolved),
        assumed=tuple(module.assumed),
        locals=tuple(local_names),
    )


def _intrinsics(module: _Module) -> Iterator[str]:
    """Declarations of the intrinsics that the checks call and the module does not declare itself."""
    called = {name for text in module.checks.values() for name in re.findall(r"@(llvm\.[\w.]+)", text)}
    for name in sorted(called - module.declared.keys()):
        kind = name.rpartition(".")[2]
        yield f"declare {{ {kind}, i1 }} @{name}({kind}, {kind})"


def _described(symbol: str, types: Mapping[str, tuple[str, object]]) -> Global:
    name, ctype = types.get(symbol, (symbol, None))
    return Global(symbol, name, ctype if isinstance(ctype, CType) else None)


def _scan(lines: list[str]) -> _Module:
    declared: dict[str, tuple[str, str]] = {}
    defined: set[str] = set()
    for line in lines:
        head = _HEAD.match(line)
        if not head:
            continue
        name = head[3].strip('"')
        if head[1] == "define":
            defined.add(name)
        else:
            declared[name] = (head[2], head[4])
    return _Module(lines, declared, defined)


def _choose_meanings(module: _Module) -> None:
    """Decide for each function name what it calls: the runtime, the C library, an input, or nothing that can run."""
    for name in sorted(module.declared.keys() | module.defined):
        meaning = (
            _draw(name, module) or MEANINGS.get(name) or (WEAK_MEANINGS.get(name) if name in module.declared else None)
        )
        if name.startswith("llvm."):
            continue
        if meaning is None and (
            name.startswith("__VERIFIER_nondet_")
            or (name in module.declared and (name == "nondet" or name.startswith("nondet_")))
        ):
            meaning = _input(name, module)
        if module.narrow and (meaning == "klee_make_symbolic" or (name in NARROW and name in module.declared)):
            meaning = f"narrow_{meaning or name}"
        elif meaning == "assume_wide" and module.narrow:
            meaning = "assume"
        elif meaning is None and name in APART and name in module.declared:
            meaning = f"{'narrow' if module.narrow and APART[name] else 'apart'}_{name}"
        elif meaning is None and name in CHECKED and name in module.declared and not module.narrow:
            meaning = f"checked_{CHECKED[name]}"
        if meaning is not None:
            module.runtime.add(meaning)
            module.renamed[name] = f"@loopless_{meaning}"
        elif name in module.declared and name not in (SAFE if module.narrow else _LIBRARY):
            _stub(name, module)


def _draw(name: str, module: _Module) -> str | None:
    """The runtime's function for one that draws what standard input gives (:data:`STANDARD_INPUT_DRAW`)."""
    if not name.startswith(STANDARD_INPUT_DRAW):
        return None
    base, _, type_ = name.removeprefix(STANDARD_INPUT_DRAW).partition("_")
    plain = _input(name, module) if type_ else None
    if plain is None:
        return f"stdin_{base}"
    return f"stdin_{base}_{'u' if type_.startswith('u') else 's'}{plain.removeprefix('nondet_')[1:]}"


def _input(name: str, module: _Module) -> str | None:
    """The runtime's input function for a ``__VERIFIER_nondet_*``; ``None`` where the type is no integer."""
    prefix = module.declared[name][0] if name in module.declared else _defined_prefix(name, module)
    found = _RETURN.search(prefix)
    if not found:
        return None
    extension, kind = found[1] or "", found[2]
    if kind == "i1":
        return "nondet_bool"
    if kind in ("i8", "i16", "i32", "i64"):
        return f"nondet_{'u' if 'zeroext' in extension else 's'}{kind[1:]}"
    return None


def _defined_prefix(name: str, module: _Module) -> str:
    for line in module.lines:
        head = _HEAD.match(line)
        if head and head[3].strip('"') == name:
            return head[2]
    return ""


def _stub(name: str, module: _Module) -> None:
    """Give a function without a body one: an integer from the inputs, nothing, 0 for any other result, which is one of
    those that it may return, or the end of the run.

    A function of the host's libraries that is not on the list (files, processes) always ends the run.
    """
    prefix, rest = module.declared[name]
    found = _RETURN.search(prefix)
    kind = found[2] if found else "void"
    meaning = _input(name, module)
    room = _ROOM.search(rest)
    if _host_has(name) or of_cxx(name) or (kind != "void" and not meaning and _UNKNOWN.search(kind)):
        module.runtime.add("unresolved")
        index = len(module.unresolved)
        module.unresolved.append(name)
        body = f"  call void @loopless_unresolved(i32 {index})\n  unreachable"
    elif kind == "void":
        module.assumed.append(name)
        body = f"  store {room[1]} zeroinitializer, ptr %0\n  ret void" if room else "  ret void"
    elif meaning is None:
        module.assumed.append(name)
        body = f"  ret {kind} zeroinitializer"
    else:
        module.assumed.append(name)
        assert meaning is not None
        module.runtime.add(meaning)
        body = f"  %v = call {found[1] or '' if found else ''}{kind} @loopless_{meaning}()\n  ret {kind} %v"
    parameters = re.sub(r" ?(#\d+|!\w+ !\d+)", "", rest)
    module.renamed[name] = f"@loopless.stub.{name}"
    returned = f"{found[1] or ''}{kind}" if found else "void"
    module.stubs.append(f"define {returned} @loopless.stub.{name}({_plain(parameters)} {{\n{body}\n}}")


def _plain(parameters: str) -> str:
    """The parameter list of a declaration without what only callers need; names are not needed in a stub."""
    return parameters[: parameters.rindex(")") + 1]


def of_cxx(name: str) -> bool:
    """Whether it is the C++ library, or the runtime of the language, that has the function."""
    return _CXX.match(name) is not None


def _host_has(name: str) -> bool:
    try:
        getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError):
        return False
    return True


def _outside_strings(line: str, change: Callable[[str], str]) -> str:
    """Apply ``change`` to the parts of a line that are not in double quotes, except quoted symbol names."""
    parts = re.split(r'(c?(?<!@)"[^"]*")', line)
    return "".join(part if index % 2 else change(part) for index, part in enumerate(parts))


def _renamed(line: str, module: _Module) -> str:
    if "@" not in line or not module.renamed:
        return line

    def one(match: re.Match[str]) -> str:
        return module.renamed.get(match[1].strip('"'), match[0])

    return _outside_strings(line, lambda part: _SYMBOL.sub(one, part))


def _head(line: str, module: _Module) -> Iterator[str]:
    head = _HEAD.match(line)
    if head is None:
        yield _renamed(line, module)
        return
    name = head[3].strip('"')
    if head[1] == "declare":
        if name not in module.renamed and not name.startswith("llvm.ubsantrap"):
            yield line
        return
    prefix = re.sub(r"\b(internal|private|available_externally|hidden|protected) ", "", head[2])
    if name in module.renamed:
        yield f"define{prefix}@loopless.own.{name}({_renamed(head[4], module)}"
    else:
        yield f"define{prefix}@{head[3]}({_renamed(head[4], module)}"


def _body(line: str, module: _Module, debug: DebugInfo) -> str:
    trap = _TRAP.search(line)
    if trap:
        module.runtime.add("trap")
        kind = int(trap[1]) & 255 if trap[1] else 1
        at = debug.line(int(trap[2])) if trap[2] else 0
        place = f", !dbg !{trap[2]}" if trap[2] else ""
        return f"{line[: trap.start()]}call void @loopless_trap(i32 {kind}, i32 {at}){place}"
    test = copy_check(line, debug)
    if test:
        module.runtime.add(test[0])
        return f"{_renamed(test[1], module)}\n{_renamed(line, module)}"
    return _renamed(checked(line, debug, module.checks), module)


def _variable(line: str, module: _Module, variables: list[tuple[str, str, int | None]]) -> str:
    found = _VARIABLE.match(line)
    if found is None:
        return _renamed(line, module)
    name, prefix, kind, rest = found[1], found[2], found[3], found[4]
    declared_only = re.search(r"\b(external|extern_weak)\b", prefix) is not None
    if declared_only:
        if name in _LIBRARY_VARIABLES:
            return line.replace("dso_local ", "")
        ctype = _first_type(rest)
        module.assumed.append(name.strip('"'))
        rest = f"{ctype} zeroinitializer" if not ctype.startswith(("ptr", "i")) else f"{ctype} {_zero(ctype)}"
        prefix = prefix.replace("external", "").replace("extern_weak", "")
        line = f"@{name} = {prefix}{kind} {rest}"
    if kind == "global" and "thread_local" not in prefix and not name.startswith('"llvm') and "appending" not in prefix:
        attached = re.search(r"!dbg !(\d+)", rest)
        variables.append((name.strip('"'), _first_type(rest), int(attached[1]) if attached else None))
    return _renamed(line, module)


def _zero(ctype: str) -> str:
    return "null" if ctype.startswith("ptr") else "0"


def _first_type(text: str) -> str:
    """The type that a global's definition starts with."""
    closing = {"[": "]", "{": "}", "<": ">"}
    if text[0] not in closing:
        return re.split(r"[ ,]", text, maxsplit=1)[0]
    depth = 0
    for index, char in enumerate(text):
        depth += (char in "[{<") - (char in "]}>")
        if depth == 0:
            return text[: index + 1]
    return text


def _table(variables: list[tuple[str, str, int | None]]) -> str:
    if not variables:
        return "@loopless.table = global [1 x { ptr, i64 }] zeroinitializer"
    rows = ", ".join(
        f'{{ ptr, i64 }} {{ ptr @"{symbol}", i64 ptrtoint (ptr getelementptr ({ctype}, ptr null, i32 1) to i64) }}'
        for symbol, ctype, _ in variables
    )
    return f"@loopless.table = global [{len(variables)} x {{ ptr, i64 }}] [{rows}]"


def _fresh_values(lines: list[str], debug: DebugInfo) -> tuple[list[str], dict[int, list[str]]]:
    """The locals that are no parameters, by name, :data:`BYTES` behind those of arrays and structures, and the lines to
    add after each one's alloca.
    """
    names: list[str] = []
    added: dict[int, list[str]] = {}
    allocas: dict[str, tuple[int, str, str]] = {}
    wholes: dict[str, tuple[int, str]] = {}
    function = ""
    for number, line in enumerate(lines):
        head = _HEAD.match(line)
        if head and head[1] == "define":
            function, allocas, wholes = head[3].strip('"'), {}, {}
        alloca = _ALLOCA.match(line)
        if alloca:
            allocas[alloca[1]] = (number, alloca[2], alloca[3])
        aggregate = _AGGREGATE.match(line)
        if aggregate:
            wholes[aggregate[1]] = (number, first_type(aggregate[2]))
        declared = _DECLARED.match(line)
        variable = debug.local(int(declared[2])) if declared else None
        if declared and declared[1] in allocas and variable is not None:
            at, bits, align = allocas.pop(declared[1])
            value = stored = f"%loopless.fresh.{at}"
            added[at] = [f"  {value} = call i{bits} @loopless_uninit(i32 {len(names)})"]
            if debug.is_truth(int(declared[2])):
                stored = f"{value}.truth"
                added[at].append(f"  {stored} = and i{bits} {value}, 1")
            added[at] += [
                f"  store i{bits} {stored}, ptr {declared[1]}, align {align}",
            ]
            names.append(f"{function}.{variable}")
        elif declared and declared[1] in wholes and variable is not None:
            at, kind = wholes.pop(declared[1])
            size = f"ptrtoint (ptr getelementptr ({kind}, ptr null, i32 1) to i64)"
            added[at] = [f"  call void @loopless_fill(i32 {len(names)}, ptr {declared[1]}, i64 {size})"]
            names.append(f"{function}.{variable}{BYTES}")
    return names, added
