"""Reading standard input as inputs of the program: bodies for the calls that read it.

A call such as ``getchar()`` is replaced by a call of a function whose body draws what is read by input functions
(``__VERIFIER_nondet_stdin_*``). All calls read one sequence of bytes. What is known of the next byte is kept between
calls: that the sequence has ended, that a number has just been read, which byte a conversion left (C11 7.21.6.2,
7.21.7; POSIX, read). The bodies allow every result that the C library may give for a file or a pipe; behind the end
nothing more comes. Where a program may read or move standard input in a way that has no body here, the module stays as
it is, and the reason is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final

from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.source.compile import SourceOptions, compile_ir
from loopless.source.vocabulary import COMES_BACK, LIBRARY, STANDARD_INPUT_DRAW, meaning_of

_BODY: Final = "__loopless_read_"
"""What the names of the bodies begin with."""
_BYTE_READERS: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys(("getchar", "getchar_unlocked"), ()),
    **dict.fromkeys(("getc", "fgetc", "getc_unlocked", "fgetc_unlocked", "_IO_getc"), (0,)),
}
"""Functions that read a byte, with their arguments that are streams."""
_SCANS: Final[Mapping[str, int]] = {
    name: at for base, at in (("scanf", 0), ("fscanf", 1)) for name in (base, f"__isoc99_{base}", f"__isoc23_{base}")
}
"""Functions that read by a format, and which argument that is; those before it are streams."""
_BLOCK_READERS: Final[Mapping[str, tuple[str, int]]] = {
    **dict.fromkeys(("fgets", "fgets_unlocked"), ("line", 2)),
    **dict.fromkeys(("fread", "fread_unlocked"), ("items", 3)),
}
"""Functions that read into memory, with the body of each and its argument that is the stream, the last one."""
_DESCRIPTOR_READER: Final = "read"
"""The function that reads by a descriptor, its first argument, past the buffer of the stream."""
READERS: Final = frozenset((*_BYTE_READERS, *_SCANS, *_BLOCK_READERS, _DESCRIPTOR_READER))
"""Functions that have bodies here where they read standard input."""
_STREAMS: Final = ("stdin", "__stdinp")
_OTHERS: Final = frozenset(("qsort", "bsearch", "atexit", "localtime", "asctime", "ctime", "__assert_rtn", "srand48"))
"""Further functions of the C library that do not move the standard input of this program."""
_MOVES: Final = frozenset(
    ("recv", "gets", "lseek", "lseek64", "close", "dup2", "dup3", "fcntl", "fcntl64", "fdopen", "setlocale")
)
"""Functions of the C library that may read or move standard input without its stream, or change what white space is."""

_DECLARED: Final = pattern(r'^declare\b[^@]*@("[^"]+"|[\w$.\-]+)\(', re.MULTILINE)
_DEFINED: Final = pattern(r'^define\b[^@]*@("[^"]+"|[\w$.\-]+)\(', re.MULTILINE)
_FORMAT: Final = pattern(r'^@("[^"]+"|[\w$.\-]+) = .*\bconstant \[\d+ x i8\] c"((?:[^"\\]|\\.)*)\\00"', re.MULTILINE)
_LOAD: Final = pattern(rf"^  (%\S+) = load ptr, ptr @(?:{'|'.join(_STREAMS)})(?:,.*)?$")
_CALL: Final = pattern(
    r"^(?P<head>  (?:%\S+ = )?(?:tail |notail )?call (?:noundef )?)(?P<type>i32 |i64 |ptr )(?:\([^@]*\) )?"
    r"@(?P<name>[\w.]+)\((?P<arguments>.*)\)(?P<rest>(?: #\d+)?(?:, ![^)]*)?)$"
)
_ASSEMBLY: Final = pattern(r"^module asm |^ .*\b(?:call|invoke|callbr)\b.* asm ", re.MULTILINE)
_CALLED: Final = pattern(r"\bcall [^@(]*@([\w.]+)\(")
_SYMBOL: Final = pattern(r'@("[^"]+"|[\w$.\-]+)')


@dataclass(frozen=True, slots=True)
class _Conversion:
    """One directive of a format: "space" is white space; "byte" is ``%c``; "word" is ``%s`` of at most ``width`` bytes,
    0 for any number; "number" has a ``type`` in C, by the word in the names of input functions, and a ``base``: "dec",
    "hex" or "any".
    """

    kind: str
    type: str = ""
    base: str = ""
    width: int = 0


@dataclass(slots=True)
class _Bodies:
    """The bodies that calls of one module need: names of formats' functions by the conversions."""

    scans: dict[tuple[_Conversion, ...], str] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    """The bodies that do not depend on a format: "byte", "line", "items", "some"."""


@dataclass(frozen=True, slots=True)
class Followed:
    """A module whose calls that read standard input draw inputs; or, with the reason ``unfollowed``, as it was."""

    text: str
    unfollowed: str = ""


class _Unfollowed(Exception):
    """Standard input is read in a way that has no body; the text says which."""


def reads(names: Sequence[str]) -> bool:
    """Whether one of these functions may read standard input as it has a body here."""
    return not READERS.isdisjoint(names)


def with_inputs(text: str, options: SourceOptions) -> str:
    """The text of a module in which the calls that read standard input draw inputs; as it is where :func:`followed`
    gives a reason.
    """
    return followed(text, options).text


def followed(text: str, options: SourceOptions) -> Followed:
    """The module in which the calls that read standard input draw inputs; as it is, with the reason, where a call has
    no body here, or what is not known may read, too: a function, a stub, assembly.
    """
    declared = {name.strip('"') for name in _DECLARED.findall(text)}
    defined = {name.strip('"') for name in _DEFINED.findall(text)}
    if not reads(sorted(declared)):
        return Followed(text)
    bodies = _Bodies()
    try:
        _check_surroundings(text, options, declared, defined)
        rewritten = _rewritten(text, bodies)
    except _Unfollowed as why:
        return Followed(text, str(why) if _touches(text, declared) else "")
    if not bodies.scans and not bodies.others:
        return Followed(text)
    narrow = "p:32:32" in text.partition("\n@")[0]
    model = _model(tuple(bodies.scans.items()), frozenset(bodies.others), narrow=narrow, clang=options.clang)
    known = declared | defined
    lines = [line for line in model.splitlines() if not _repeats(line, known)]
    return Followed("\n".join([rewritten, *lines, ""]))


def _check_surroundings(text: str, options: SourceOptions, declared: set[str], defined: set[str]) -> None:
    """Raises ``_Unfollowed`` where what is not known may read or move standard input."""
    if options.stubs:
        raise _Unfollowed("stubs are given, which may read it")
    if own := sorted(READERS & defined):
        raise _Unfollowed(f"the program has a {own[0]} of its own")
    if _ASSEMBLY.search(text):
        raise _Unfollowed("there is assembly, which may read it")
    if unknown := sorted(name for name in declared if not _harmless(name)):
        moves = re.sub(r"^\x01_", "", unknown[0]) in _MOVES
        raise _Unfollowed(
            f"{unknown[0]} may read or move it" if moves else f"{unknown[0]} has no body, and so may read it"
        )


def _touches(text: str, declared: set[str]) -> bool:
    """Whether a module may read standard input at all, not only other files."""
    without = {"getchar", "getchar_unlocked", _DESCRIPTOR_READER, *(name for name in _SCANS if _SCANS[name] == 0)}
    return bool(declared & without) or any(f"ptr @{stream}" in text for stream in _STREAMS)


def is_followed(text: str) -> bool:
    """Whether a module has the bodies."""
    return f"@{_BODY}" in text


def _repeats(line: str, known: set[str]) -> bool:
    found = _DECLARED.match(line)
    return found is not None and found[1].strip('"') in known


def _harmless(name: str) -> bool:
    """Whether a function that is only declared cannot change what standard input gives next, unless it is given it."""
    plain = re.sub(r"^(?:__isoc\d\d_|\x01_)", "", name)
    if plain in _MOVES:
        return False
    known = plain in LIBRARY or plain in COMES_BACK or plain in _OTHERS or plain in READERS
    return known or name.startswith("llvm.") or meaning_of(name) is not None


# -- the calls --------------------------------------------------------------------------------------------------------


def _rewritten(text: str, bodies: _Bodies) -> str:
    """The module with other functions called. Raises ``_Unfollowed`` where standard input is read in another way."""
    formats = {name.strip('"'): content for name, content in _FORMAT.findall(text)}
    out: list[str] = []
    streams: set[str] = set()
    declared = tuple(f"@{one} =" for one in _STREAMS)
    for line in text.splitlines():
        if line.startswith("define"):
            streams = set()
        if (load := _LOAD.match(line)) is not None:
            streams.add(load[1])
            continue
        called = _CALL.match(line)
        if called is not None and called["name"] in READERS:
            line = _called(called, streams, formats, bodies)
        elif (
            line.startswith("  ")
            and (
                _names(line) & (READERS | set(_STREAMS)) or (streams and streams & set(re.findall(r"%[\w.\-]+", line)))
            )
        ) or (line.startswith("@") and not line.startswith(declared) and _names(line) & (READERS | set(_STREAMS))):
            raise _Unfollowed(_other_use(line))
        out.append(line)
    if "some" in bodies.others and (bodies.scans or len(bodies.others) > 1):
        raise _Unfollowed("read(0, ...) takes bytes past the buffer of the stream, which the program reads, too")
    return "\n".join(out)


def _other_use(line: str) -> str:
    """The reason why a line that names standard input or a reader is not followed."""
    if (called := _CALLED.search(line)) is not None and called[1] not in READERS:
        return f"it is given to {called[1]}"
    readers = sorted(_names(line) & READERS)
    return f"the address of {readers[0]} is taken" if readers and called is None else "a variable holds its stream"


def _names(line: str) -> set[str]:
    return {name.strip('"') for name in _SYMBOL.findall(line)} if "@" in line else set()


def _called(call: re.Match[str], streams: set[str], formats: Mapping[str, str], bodies: _Bodies) -> str:
    """The call of the body instead. A stream that is not standard input leaves the call. Raises ``_Unfollowed``."""
    name = call["name"]
    arguments = _split(call["arguments"])
    values = [one.rpartition(" ")[2] for one in arguments]
    if name in _BYTE_READERS:
        given = [values[at] for at in _BYTE_READERS[name]]
        if given and given[0] not in streams:
            return call[0]
        return _call_of(call, "byte", [], bodies)
    if name in _BLOCK_READERS:
        body, at = _BLOCK_READERS[name]
        return _call_of(call, body, arguments[:at], bodies) if values[at] in streams else call[0]
    if name == _DESCRIPTOR_READER:
        if values[0] != "0":
            raise _Unfollowed("read is called with a descriptor other than the constant 0, which may be the same file")
        return _call_of(call, "some", arguments[1:], bodies)
    at = _SCANS[name]
    if at and values[0] not in streams:
        return call[0]
    conversions = _conversions(formats.get(values[at].removeprefix("@").strip('"')))
    places = arguments[at + 1 :]
    stored = [one for one in conversions if one.kind != "space"]
    if len(stored) != len(places) or any(not one.startswith("ptr ") for one in places):
        raise _Unfollowed("the arguments of a scanf do not fit its format")
    own = bodies.scans.setdefault(conversions, f"{_BODY}scan_{len(bodies.scans)}")
    return f"{call['head']}i32 @{own}({', '.join(places)}){call['rest']}"


def _call_of(call: re.Match[str], body: str, arguments: Sequence[str], bodies: _Bodies) -> str:
    """The call of a body that does not depend on a format."""
    bodies.others.add(body)
    return f"{call['head']}{call['type']}@{_BODY}{body}({', '.join(arguments)}){call['rest']}"


def _split(arguments: str) -> list[str]:
    """The arguments of a call: parts between the commas that stand in no brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(arguments):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(arguments[begin:at].strip())
            begin = at + 1
    return [*parts, arguments[begin:].strip()] if arguments else []


_DIRECTIVE: Final = pattern(r"%(hh|h|ll|l|j|z|t)?([diuxXc])|%(\d*)s|([ \t\n\v\f\r]+)|(%\S*?[A-Za-z\[%]|.)", re.DOTALL)
_TYPES: Final = {"hh": "char", "h": "short", "": "int", "l": "long", "ll": "longlong", "j": "longlong"}


def _conversions(content: str | None) -> tuple[_Conversion, ...]:
    """The directives of a format as LLVM writes it. Raises ``_Unfollowed`` where one has no body here."""
    if not content:
        raise _Unfollowed("the format of a scanf is no constant that is followed")
    plain = re.sub(r"\\([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), content)
    found: list[_Conversion] = []
    for directive in _DIRECTIVE.finditer(plain):
        length, letter, width, space, other = directive.groups()
        if other or (letter == "c" and length) or (letter and (length or "") not in _TYPES) or width == "0":
            raise _Unfollowed(f"{directive[0]!r} in the format of a scanf is not followed")
        if space:
            found.append(_Conversion("space"))
        elif width is not None:
            found.append(_Conversion("word", width=int(width or 0)))
        elif letter == "c":
            found.append(_Conversion("byte"))
        else:
            signed = letter in "di"
            word = _TYPES[length or ""]
            word = word if signed and word != "char" else "schar" if signed else f"u{word}"
            base = {"d": "dec", "u": "dec", "i": "any"}.get(letter, "hex")
            found.append(_Conversion("number", word, base))
    return tuple(found)


# -- the bodies -------------------------------------------------------------------------------------------------------

_C_TYPES: Final = {
    "schar": "signed char",
    "uchar": "unsigned char",
    "short": "short",
    "ushort": "unsigned short",
    "int": "int",
    "uint": "unsigned",
    "long": "long",
    "ulong": "unsigned long",
    "longlong": "long long",
    "ulonglong": "unsigned long long",
}
_BYTES: Final = f"""\
void __VERIFIER_assume(int);
int {STANDARD_INPUT_DRAW}byte(void);
static int ended;
int __loopless_read_byte(void) {{
    int c;
    if (ended) return -1;
    c = {STANDARD_INPUT_DRAW}byte();
    __VERIFIER_assume(c >= -1);
    __VERIFIER_assume(c <= 255);
    ended = c < 0;
    return c;
}}
"""
"""The body for programs that read single bytes only."""

_SCANNING: Final = f"""\
void __VERIFIER_assume(int);
int {STANDARD_INPUT_DRAW}byte(void);
int {STANDARD_INPUT_DRAW}skipped(void);
int {STANDARD_INPUT_DRAW}outcome(void);
int {STANDARD_INPUT_DRAW}rest(void);
/* What is known of the next byte, where it is not known itself. */
enum {{ END = -1, ANY = -2, NO_DIGIT = -3, NO_SPACE = -4 }};
static int ahead = ANY;
static int is_space(int c) {{ return c == ' ' || (c >= 9 && c <= 13); }}
static int is_digit(int c) {{ return c >= '0' && c <= '9'; }}
int __loopless_read_byte(void) {{
    int c = ahead;
    if (c == END) return -1;
    if (c >= 0) {{ ahead = ANY; return c; }}
    if (c == NO_SPACE) {{
        c = {STANDARD_INPUT_DRAW}skipped();
        if (is_space(c)) __VERIFIER_assume(0);
    }} else {{
        int number = c == NO_DIGIT;
        c = {STANDARD_INPUT_DRAW}byte();
        if (number && is_digit(c)) __VERIFIER_assume(0);
    }}
    __VERIFIER_assume(c >= -1);
    __VERIFIER_assume(c <= 255);
    if (c < 0) ahead = END; else ahead = ANY;
    return c;
}}
static void skip(void) {{
    if (ahead >= 0 && !is_space(ahead)) return;
    if (ahead != END) ahead = NO_SPACE;
}}
/* 1: a number comes; 0: none does, and what is in the way stays; -1: the end. After a sign any byte may be in the way
   (C11 7.21.6.2, paragraph 9). */
static int comes(int decimal) {{
    int found, rest;
    skip();
    if (ahead == END) return -1;
    if (ahead >= 0) {{
        if (decimal && !is_digit(ahead) && ahead != '-' && ahead != '+') return 0;
        ahead = ANY;
    }}
    found = {STANDARD_INPUT_DRAW}outcome();
    __VERIFIER_assume(found >= -1);
    __VERIFIER_assume(found <= 1);
    if (found < 0) {{ ahead = END; return -1; }}
    if (found == 0) {{
        rest = {STANDARD_INPUT_DRAW}rest();
        __VERIFIER_assume(rest >= -1);
        __VERIFIER_assume(rest <= 255);
        if (decimal && is_digit(rest)) __VERIFIER_assume(0);
        ahead = rest;
        if (!decimal || rest == '-' || rest == '+') ahead = ANY;
        return 0;
    }}
    ahead = decimal ? NO_DIGIT : ANY;
    return 1;
}}
"""
"""The bodies for programs that read numbers, too."""
_WORDS: Final = """\
static int word(char *to, unsigned long most) {
    unsigned long at = 0;
    int c;
    skip();
    c = __loopless_read_byte();
    if (c < 0) return -1;
    for (;;) {
        to[at++] = (char)c;
        if (at == most) break;
        c = __loopless_read_byte();
        if (c < 0) break;
        if (is_space(c)) { ahead = c; break; }
    }
    to[at] = 0;
    return 1;
}
"""
"""The body of ``%s``: ``most`` is its width, 0 where there is none."""
_OTHERS_BODIES: Final[Mapping[str, str]] = {
    "byte": "",
    "line": """\
char *__loopless_read_line(char *to, int n) {
    int at = 0, c;
    if (n < 1) return 0;
    while (at < n - 1) {
        c = __loopless_read_byte();
        if (c < 0) { if (at == 0) return 0; break; }
        to[at++] = (char)c;
        if (c == 10) break;
    }
    to[at] = 0;
    return to;
}
""",
    "items": """\
__SIZE_TYPE__ __loopless_read_items(char *to, __SIZE_TYPE__ size, __SIZE_TYPE__ n) {
    __SIZE_TYPE__ at, all = size * n;
    int c;
    if (!all) return 0;
    for (at = 0; at < all; at++) {
        c = __loopless_read_byte();
        if (c < 0) return at / size;
        to[at] = (char)c;
    }
    return n;
}
""",
    "some": f"""\
int {STANDARD_INPUT_DRAW}more(void);
__SIZE_TYPE__ __loopless_read_some(char *to, __SIZE_TYPE__ n) {{
    __SIZE_TYPE__ at = 0;
    int c;
    while (at < n) {{
        c = __loopless_read_byte();
        if (c < 0) break;
        to[at++] = (char)c;
        /* A pipe may give fewer bytes than are left. Most values mean that more come, as from a file. */
        if (at < n && {STANDARD_INPUT_DRAW}more() == -1) break;
    }}
    return at;
}}
""",
}
"""The bodies for functions that read into memory, by their names."""


def _scan(name: str, conversions: Sequence[_Conversion]) -> Iterator[str]:
    """The lines of the body for one format."""
    stored = [one for one in conversions if one.kind != "space"]
    for one in stored:
        if one.kind == "number":
            yield f"{_C_TYPES[one.type]} {STANDARD_INPUT_DRAW}{one.base}_{one.type}(void);"
    places = [f"{_C_TYPES.get(one.type, 'char')} *p{at}" for at, one in enumerate(stored)]
    yield f"int {name}({', '.join(places) or 'void'}) {{"
    yield "    int found;"
    at = 0
    for one in conversions:
        if one.kind == "space":
            yield "    skip();"
            continue
        failed = f"{{ if (found < 0) return {at or -1}; return {at}; }}"
        if one.kind == "byte":
            yield f"    found = {_BODY}byte();"
            yield f"    if (found < 0) return {at or -1};"
            yield f"    *p{at} = (char)found;"
        elif one.kind == "word":
            yield f"    if (word(p{at}, {one.width}) < 0) return {at or -1};"
        else:
            yield f"    found = comes({int(one.base == 'dec')});"
            yield f"    if (found < 1) {failed}"
            yield f"    *p{at} = {STANDARD_INPUT_DRAW}{one.base}_{one.type}();"
        at += 1
    yield f"    return {at};"
    yield "}"


@lru_cache(maxsize=8)
def _model(
    scans: tuple[tuple[tuple[_Conversion, ...], str], ...], others: frozenset[str], *, narrow: bool, clang: str | None
) -> str:
    """The bodies as LLVM assembly, without what describes the source: inlined code is then at the place of its call."""
    lines = [_SCANNING if scans else _BYTES]
    if any(one.kind == "word" for conversions, _ in scans for one in conversions):
        lines.append(_WORDS)
    lines += [_OTHERS_BODIES[name] for name in sorted(others)]
    for conversions, name in scans:
        lines += _scan(name, conversions)
    options = SourceOptions(data_model="ILP32" if narrow else None, clang=clang)
    return "\n".join(_bare(compile_ir("\n".join(lines), options)))


def _bare(text: str) -> Iterator[str]:
    """The functions and variables of a module, by names of their own, to be inlined wherever they are called."""
    own = {name.strip('"') for name in re.findall(r'^@("[^"]+"|[\w$.\-]+) = internal', text, re.MULTILINE)}
    own |= {name.strip('"') for name in re.findall(r"^define internal[^@]*@([\w$.\-]+)\(", text, re.MULTILINE)}
    for line in text.splitlines():
        if not line or line.startswith(("!", ";", "source_filename", "target", "attributes", "$", "module asm")):
            continue
        if line.lstrip().startswith("#dbg_"):
            continue
        line = re.sub(r", !(?:dbg|llvm\.loop|srcloc|nosanitize) !\d+", "", line)
        line = re.sub(r" !dbg !\d+", "", line)
        line = re.sub(r" #\d+", " alwaysinline nounwind" if line.startswith("define") else "", line)
        yield _SYMBOL.sub(lambda found: f"@{_BODY}{found[1]}" if found[1] in own else found[0], line)
