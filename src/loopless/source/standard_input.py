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
from loopless.source.vocabulary import COMES_BACK, COVER, LIBRARY, STANDARD_INPUT_DRAW, STANDARD_INPUT_SIZE, meaning_of

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
_STREAM_CALLS: Final[Mapping[str, tuple[str, int]]] = {
    **dict.fromkeys(("feof", "feof_unlocked"), ("finished", 0)),
    **dict.fromkeys(("ferror", "ferror_unlocked"), ("failed", 0)),
    "ungetc": ("unread", 1),
}
"""Functions that ask about a stream or put a byte back, with the body of each and its argument that is the stream."""
_BUFFERINGS: Final = frozenset(("setvbuf", "setbuf"))
"""Functions that change when bytes are read ahead, but not which."""
_DESCRIPTOR_READER: Final = "read"
"""The function that reads by a descriptor, its first argument, past the buffer of the stream."""
READERS: Final = frozenset((*_BYTE_READERS, *_SCANS, *_BLOCK_READERS, _DESCRIPTOR_READER))
"""Functions that have bodies here where they read standard input."""
_REPLACED: Final = READERS | frozenset(_STREAM_CALLS) | _BUFFERINGS
"""Functions whose calls with standard input are replaced."""
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
    r"^(?P<head>  (?:%\S+ = )?(?:tail |notail )?call (?:noundef )?)(?P<type>i32 |i64 |ptr |void )(?:\([^@]*\) )?"
    r"@(?P<name>[\w.]+)\((?P<arguments>.*)\)(?P<rest>(?: #\d+)?(?:, ![^)]*)?)$"
)
_ASSEMBLY: Final = pattern(r"^module asm |^ .*\b(?:call|invoke|callbr)\b.* asm ", re.MULTILINE)
_WINDOWS: Final = pattern(r'^target triple = "[^"]*-(?:windows|win32)', re.MULTILINE)
_MAIN: Final = pattern(r'^define [^\n]*@main\([^\n]*\{\n(?:(?:"[^"\n]*"|[\w$.\-]+):[^\n]*\n)?', re.MULTILINE)
"""The beginning of ``main``, to its first instruction."""
_CALLED: Final = pattern(r"\bcall [^@(]*@([\w.]+)\(")
_SYMBOL: Final = pattern(r'@("[^"]+"|[\w$.\-]+)')


@dataclass(frozen=True, slots=True)
class _Conversion:
    """One directive of a format, by its ``kind``: "space", "literal" (one byte), "bytes" (``%c``), "word" (``%s``),
    "set" (``%[``) or "number".

    ``type``: of a number, its type in C by the word in the names of input functions. ``base``: "dec", "hex" or "any".
    ``width``: the most bytes that are read, 0 for any number. ``stores``: whether an argument gets the value.
    ``members``: of a set the least and greatest byte of each range, of a literal its byte; ``negated``: all others.
    """

    kind: str
    type: str = ""
    base: str = ""
    width: int = 0
    stores: bool = False
    members: tuple[tuple[int, int], ...] = ()
    negated: bool = False


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
    finite = options.finite_stdin and "main" in defined
    others = frozenset(bodies.others)
    model = _model(tuple(bodies.scans.items()), others, narrow=narrow, finite=finite, clang=options.clang)
    if finite:
        rewritten = _started(rewritten)
    known = declared | defined
    lines = [line for line in model.splitlines() if not _repeats(line, known)]
    return Followed("\n".join([rewritten, *lines, ""]))


def _started(text: str) -> str:
    """The module whose ``main`` begins by drawing how many bytes there are."""
    return _MAIN.sub(lambda found: f"{found[0]}  call void @{_BODY}start()\n", text)


def _check_surroundings(text: str, options: SourceOptions, declared: set[str], defined: set[str]) -> None:
    """Raises ``_Unfollowed`` where what is not known may read or move standard input."""
    if options.stubs:
        raise _Unfollowed("stubs are given, which may read it")
    if own := sorted(_REPLACED & defined):
        raise _Unfollowed(f"the program has a {own[0]} of its own")
    if _WINDOWS.search(text):
        raise _Unfollowed("the program is compiled for Windows")
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


def is_body(name: str) -> bool:
    """Whether a function of a module is one of the bodies, or of what they call."""
    return name.startswith(_BODY)


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
    known = plain in LIBRARY or plain in COMES_BACK or plain in _OTHERS or plain in _REPLACED
    return known or name == COVER or name.startswith("llvm.") or meaning_of(name) is not None


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
        if called is not None and called["name"] in _REPLACED:
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
    if name in _STREAM_CALLS:
        body, at = _STREAM_CALLS[name]
        if streams.intersection(values) and values[at] not in streams:
            raise _Unfollowed(f"it is given to {name}")
        return _call_of(call, body, arguments[:at], bodies) if values[at] in streams else call[0]
    if name in _BUFFERINGS:
        return _buffered(call, values, streams)
    if name == _DESCRIPTOR_READER:
        if values[0] != "0":
            raise _Unfollowed("read is called with a descriptor other than the constant 0, which may be the same file")
        return _call_of(call, "some", arguments[1:], bodies)
    at = _SCANS[name]
    if at and values[0] not in streams:
        return call[0]
    conversions = _conversions(formats.get(values[at].removeprefix("@").strip('"')))
    places = arguments[at + 1 :]
    stored = [one for one in conversions if one.stores]
    if len(stored) != len(places) or any(not one.startswith("ptr ") for one in places):
        raise _Unfollowed("the arguments of a scanf do not fit its format")
    own = bodies.scans.setdefault(conversions, f"{_BODY}scan_{len(bodies.scans)}")
    return f"{call['head']}i32 @{own}({', '.join(places)}){call['rest']}"


def _buffered(call: re.Match[str], values: Sequence[str], streams: set[str]) -> str:
    """No call, where standard input gets another buffer of the library's own. Raises ``_Unfollowed``."""
    if values[0] not in streams:
        return call[0]
    if values[1] != "null" or (call["name"] == "setvbuf" and values[2] not in ("0", "1", "2")):
        raise _Unfollowed(f"it is given to {call['name']} with a buffer")
    result = re.match(r"  (%\S+) = ", call["head"])
    place = re.sub(r" #\d+", "", call["rest"])
    return f"  {result[1]} = add i32 0, 0{place}" if result is not None else ""


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


_DIRECTIVE: Final = pattern(r"(\*?)(\d*)(hh|h|ll|l|j|z|t|)([diuxXcs])|(\*?)(\d*)\[(\^?\]?[^\]]*)\]")
"""What stands behind the ``%`` of a conversion that is followed."""
_SPACES: Final = " \t\n\v\f\r"
_TYPES: Final = {
    "hh": "char",
    "h": "short",
    "": "int",
    "l": "long",
    "ll": "longlong",
    "j": "longlong",
    "z": "long",
    "t": "long",
}
"""Types of numbers by their length modifier; ``size_t`` and ``long`` have as many bits where these bodies serve."""


def _conversions(content: str | None) -> tuple[_Conversion, ...]:
    """The directives of a format as LLVM writes it. Raises ``_Unfollowed`` where one has no body here."""
    if not content:
        raise _Unfollowed("the format of a scanf is no constant that is followed")
    plain = re.sub(r"\\([0-9A-Fa-f]{2})", lambda found: chr(int(found[1], 16)), content)
    return tuple(_directives(plain))


def _directives(text: str) -> Iterator[_Conversion]:
    at = 0
    while at < len(text):
        if text[at] in _SPACES:
            at += len(text[at:]) - len(text[at:].lstrip(_SPACES))
            yield _Conversion("space")
            continue
        if text[at] != "%" or text[at : at + 2] == "%%":
            if text[at] == "%":  # white space before it is skipped
                yield _Conversion("space")
                at += 1
            yield _Conversion("literal", members=((ord(text[at]), ord(text[at])),))
            at += 1
            continue
        found = _DIRECTIVE.match(text, at + 1)
        told = None if found is None else _number_or_text(found) if found[4] else _set(found)
        if found is None or told is None:
            shown = re.match(r"%\S*?[A-Za-z\[%]|%", text[at:])
            raise _Unfollowed(f"{shown[0] if shown else '%'!r} in the format of a scanf is not followed")
        yield told
        at = found.end()


def _number_or_text(found: re.Match[str]) -> _Conversion | None:
    """A conversion other than of a set; None where it is not followed."""
    stores, width, length, letter = not found[1], found[2], found[3], found[4]
    if width and not 0 < int(width) <= _WIDEST:
        return None
    if letter in "cs":
        kind = "bytes" if letter == "c" else "word"
        return None if length else _Conversion(kind, width=int(width or 0), stores=stores)
    word = _TYPES[length]
    signed = letter in "di"
    word = word if signed and word != "char" else "schar" if signed else f"u{word}"
    base = {"d": "dec", "u": "dec", "i": "any"}.get(letter, "hex")
    return _Conversion("number", word, base, int(width or 0), stores)


def _set(found: re.Match[str]) -> _Conversion | None:
    """A conversion of a set; None where its meaning is left to the C library (C11 7.21.6.2, paragraph 12)."""
    stores, width, content = not found[5], found[6], found[7]
    if width and not 0 < int(width) <= _WIDEST:
        return None
    negated = content.startswith("^")
    content = content[1:] if negated else content
    members: list[tuple[int, int]] = []
    at = 0
    while at < len(content):
        low = ord(content[at])
        if content[at + 1 : at + 2] != "-" or at + 2 >= len(content):
            members.append((low, low))
            at += 1
            continue
        high = ord(content[at + 2])
        if not low <= high < 128 or (content[at + 3 : at + 4] == "-" and at + 4 < len(content)):
            return None
        members.append((low, high))
        at += 3
    if not members:
        return None
    return _Conversion("set", width=int(width or 0), stores=stores, members=tuple(members), negated=negated)


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
_WIDEST: Final = 1 << 30
"""Larger widths are not followed; no program has them."""
_BYTES: Final = f"""\
void __VERIFIER_assume(int);
int {STANDARD_INPUT_DRAW}byte(void);
#ifdef FINITE
/* How many bytes are left, at most. */
static unsigned long long left = ~0ULL;
unsigned long long {STANDARD_INPUT_SIZE}(void);
void __loopless_read_start(void) {{ left = {STANDARD_INPUT_SIZE}(); }}
static void one_less(void) {{ __VERIFIER_assume(left > 0); left--; }}
#else
static void one_less(void) {{ }}
#endif
static int ended;
int __loopless_read_byte(void) {{
    int c;
    if (ended) return -1;
    c = {STANDARD_INPUT_DRAW}byte();
    __VERIFIER_assume(c >= -1);
    __VERIFIER_assume(c <= 255);
    ended = c < 0;
    if (!ended) one_less();
    return c;
}}
static int at_end(void) {{ return ended; }}
"""
"""The body for programs that read single bytes only, and put none back."""

_SCANNING: Final = f"""\
void __VERIFIER_assume(int);
int {STANDARD_INPUT_DRAW}byte(void);
int {STANDARD_INPUT_DRAW}skipped(void);
int {STANDARD_INPUT_DRAW}outcome(void);
int {STANDARD_INPUT_DRAW}rest(void);
int {STANDARD_INPUT_DRAW}stays(void);
long long {STANDARD_INPUT_DRAW}lost_longlong(void);
/* What is known of the next byte, where it is not known itself. */
enum {{ END = -1, ANY = -2, NO_DIGIT = -3, NO_SPACE = -4, NO_HEX = -5 }};
enum {{ DEC = 1, HEX = 2, EITHER = 3 }};
static int ahead = ANY;
#ifdef FINITE
/* How many bytes are left, at most. */
static unsigned long long left = ~0ULL;
unsigned long long {STANDARD_INPUT_SIZE}(void);
void __loopless_read_start(void) {{ left = {STANDARD_INPUT_SIZE}(); }}
static void one_less(void) {{ __VERIFIER_assume(left > 0); left--; }}
#else
static void one_less(void) {{ }}
#endif
static int is_space(int c) {{ return c == ' ' || (c >= 9 && c <= 13); }}
static int is_digit(int c) {{ return c >= '0' && c <= '9'; }}
static int is_hex(int c) {{ return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }}
#ifdef BACK
/* The byte that was put back, or -1; whether a second one was, behind which nothing more is known; whether the end was
   met before the one that was put back. */
static int back = -1, lost, cleared;
#endif
#ifdef ENDED
/* Whether the next byte was looked at. */
static int looked;
#endif
int __loopless_read_byte(void) {{
    int c = ahead;
#ifdef ENDED
    looked = 0;
#endif
#ifdef BACK
    if (back >= 0) {{ c = back; back = -1; return c; }}
    cleared = 0;
#endif
    if (c == END) return -1;
    if (c >= 0) {{ ahead = ANY; return c; }}
    if (c == NO_SPACE) {{
        c = {STANDARD_INPUT_DRAW}skipped();
        if (is_space(c)) __VERIFIER_assume(0);
    }} else {{
        int state = c;
        c = {STANDARD_INPUT_DRAW}byte();
        if (state == NO_DIGIT && is_digit(c)) __VERIFIER_assume(0);
        if (state == NO_HEX && is_hex(c)) __VERIFIER_assume(0);
    }}
    __VERIFIER_assume(c >= -1);
    __VERIFIER_assume(c <= 255);
    if (c >= 0) one_less();
#ifdef BACK
    if (lost) {{ ahead = ANY; return c; }}
#endif
    if (c < 0) ahead = END; else ahead = ANY;
    return c;
}}
/* A byte that was just read stays. */
static void stays(int c) {{
#ifdef BACK
    back = c;
#else
    ahead = c;
#endif
}}
static void skip(void) {{
#ifdef ENDED
    looked = 1;
#endif
#ifdef BACK
    if (back >= 0 && !is_space(back)) return;
    back = -1;
    cleared = 0;
#endif
    if (ahead >= 0 && !is_space(ahead)) return;
    if (ahead != END) ahead = NO_SPACE;
}}
/* 1: a number comes; 0: none does, and what is in the way stays; -1: the end; 2: the next byte is known, and a number
   may begin with it. After a sign any byte may be in the way (C11 7.21.6.2, paragraph 9). */
static int comes(int base, int width) {{
    int found, rest, next;
    skip();
#ifdef BACK
    next = back >= 0 ? back : ahead;
#else
    next = ahead;
#endif
    if (next == END) return -1;
    if (next >= 0) {{
#ifdef KNOWN
        if (is_digit(next) || next == '-' || next == '+' || (base == HEX && is_hex(next))) return 2;
#endif
        return 0;
    }}
    found = {STANDARD_INPUT_DRAW}outcome();
    __VERIFIER_assume(found >= -1);
    __VERIFIER_assume(found <= 1);
    if (found < 0) {{
        ahead = END;
#ifdef BACK
        if (lost) ahead = ANY;
#endif
        return -1;
    }}
    if (found == 0) {{
#ifdef KNOWN
        rest = {STANDARD_INPUT_DRAW}stays();
#else
        rest = {STANDARD_INPUT_DRAW}rest();
#endif
        __VERIFIER_assume(rest >= -1);
        __VERIFIER_assume(rest <= 255);
        if (base == HEX ? is_hex(rest) : is_digit(rest)) {{ if (width != 1) __VERIFIER_assume(0); }}
        if (rest >= 0) one_less();
        ahead = rest;
#ifdef BACK
        if (lost && rest < 0) ahead = ANY;
#endif
#ifndef KNOWN
        if (rest == '-' || rest == '+' || is_digit(rest)) ahead = ANY;
#endif
        return 0;
    }}
    one_less();
    ahead = width || base == EITHER ? ANY : base == DEC ? NO_DIGIT : NO_HEX;
    return 1;
}}
static int at_end(void) {{
#ifdef ENDED
    if (looked && ahead < END) {{
#ifdef BACK
        if (back >= 0) return 0;
#endif
        int c = __loopless_read_byte();
        if (c >= 0) stays(c);
    }}
#endif
#ifdef BACK
    if (lost) return {STANDARD_INPUT_DRAW}lost_longlong() != 0;
    if (cleared || back >= 0) return 0;
#endif
    return ahead == END;
}}
#ifdef KNOWN
/* A number whose first byte is known, byte by byte: 0, none; 1, one; 2, one that 64 bits do not hold. */
static int spelled(int width, unsigned long long *magnitude, int *negative) {{
    unsigned long long value = 0;
    int c = __loopless_read_byte(), found = 0;
    *negative = c == '-';
    if (c == '-' || c == '+') {{
        if (width && !--width) return 0;
        c = __loopless_read_byte();
    }}
    while (is_digit(c)) {{
        if (value > (~0ULL - 9) / 10) found = 2; else value = 10 * value + (unsigned)(c - '0');
        if (!found) found = 1;
        *magnitude = value;
        if (width && !--width) return found;
        c = __loopless_read_byte();
    }}
    if (c >= 0) stays(c);
    return found;
}}
#endif
"""
"""The bodies for programs that read numbers, too, or put bytes back. KNOWN: a byte that stays may begin a number.
BACK: bytes are put back. ENDED: the program asks whether the end was met.
"""
_LEAVING: Final[Mapping[str, str]] = {"unread": "BACK", "finished": "ENDED"}
"""Bodies that need more of the others, with the macro for it."""
_OTHERS_BODIES: Final[Mapping[str, str]] = {
    "byte": "",
    "unread": """\
int __loopless_read_unread(int c) {
    if (c == -1) return -1;
    c = (unsigned char)c;
    if (lost || back >= 0) { lost = 1; back = -1; ahead = ANY; return c; }
    back = c;
    cleared = 1;
    return c;
}
""",
    "finished": "int __loopless_read_finished(void) { return at_end(); }\n",
    "failed": "int __loopless_read_failed(void) { return 0; }\n",
    "line": """\
char *__loopless_read_line(char *to, int n) {
    int at = 1, c;
    if (n < 1) return 0;
    if (n == 1) { to[0] = 0; return to; }
    c = __loopless_read_byte();
    if (c < 0) return 0;
    to[0] = (char)c;
    while (c != 10 && at < n - 1) {
        c = __loopless_read_byte();
        if (c < 0) break;
        to[at++] = (char)c;
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
    c = __loopless_read_byte();
    if (c < 0) return 0;
    to[0] = (char)c;
    for (at = 1; at < all; at++) {
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


def _may_leave_a_digit(scans: Sequence[tuple[tuple[_Conversion, ...], str]], others: frozenset[str]) -> bool:
    """Whether a byte that stays may begin a number that is read next."""
    directives = [one for conversions, _ in scans for one in conversions]
    numbers = any(one.kind == "number" for one in directives)
    leaves = any(one.kind in ("literal", "set") or one.base in ("hex", "any") for one in directives)
    return numbers and (leaves or bool(others & _LEAVING.keys()))


def _scan(name: str, conversions: Sequence[_Conversion]) -> Iterator[str]:
    """The lines of the body for one format."""
    types = [_C_TYPES.get(one.type, "char") for one in conversions if one.stores]
    places = ", ".join(f"{type_} *p{at}" for at, type_ in enumerate(types))
    for number, one in enumerate(conversions):
        yield from _parts(f"{name}_{number}", one)
    yield f"int {name}({places or 'void'}) {{"
    yield "    int found;"
    at = 0
    for number, one in enumerate(conversions):
        if one.kind == "space":
            yield "    skip();"
            continue
        given = f"p{at}" if one.stores else ""
        yield f"    found = {name}_{number}({given});"
        yield f"    if (found < 1) {{ if (found < 0) return {at or -1}; return {at}; }}"
        at += one.stores
    yield f"    return {at};"
    yield "}"


def _parts(name: str, one: _Conversion) -> Iterator[str]:
    """The function of one directive: 1 where it finds what it looks for, 0 where not, -1 at the end."""
    to = f"{_C_TYPES.get(one.type, 'char')} *to" if one.stores else "void"
    head = f"static int {name}({to}) {{"
    match one.kind:
        case "literal":
            ((byte, _),) = one.members
            body = [f"int c = {_BODY}byte();", "if (c < 0) return -1;", f"if (c != {byte}) {{ stays(c); return 0; }}"]
        case "bytes":
            body = _byte_lines(one)
        case "word":
            body = ["skip();", *_text_lines("!is_space(c)", one)]
        case "set":
            body = _text_lines(_condition(one), one)
        case "number":
            yield f"{_C_TYPES[one.type]} {STANDARD_INPUT_DRAW}{one.base}_{one.type}(int);"
            body = _number_lines(one)
        case _:
            return
    yield from (head, *(f"    {line}" for line in body), "    return 1;", "}")


def _condition(one: _Conversion) -> str:
    """Whether a byte belongs to a set, in C."""
    found = " || ".join(f"c == {low}" if low == high else f"(c >= {low} && c <= {high})" for low, high in one.members)
    return f"!({found})" if one.negated else f"({found})"


def _byte_lines(one: _Conversion) -> list[str]:
    """``%c``: so many bytes; glibc and others are content with fewer at the end."""
    store = "to[at] = (char)c;" if one.stores else ""
    lines = [f"int at = 0, c = {_BODY}byte();", "if (c < 0) return -1;", store]
    if one.width > 1:
        more = f"c = {_BODY}byte(); if (c < 0) break; {store}"
        lines.append(f"for (at = 1; at < {one.width}; at++) {{ {more} }}")
    return lines


def _text_lines(belongs: str, one: _Conversion) -> list[str]:
    """``%s`` and ``%[``: at least one byte that ``belongs``."""
    return [
        f"unsigned long at = 0; int c = {_BODY}byte();",
        "if (c < 0) return -1;",
        f"if (!({belongs})) {{ stays(c); return 0; }}",
        "for (;;) {",
        f"    {'to[at] = (char)c;' if one.stores else ''} at++;",
        f"    if (at == {one.width}) break;" if one.width else "",
        f"    c = {_BODY}byte();",
        "    if (c < 0) break;",
        f"    if (!({belongs})) {{ stays(c); break; }}",
        "}",
        "to[at] = 0;" if one.stores else "",
    ]


def _number_lines(one: _Conversion) -> list[str]:
    """A number: drawn, or spelled where its first byte is known. One that does not fit becomes any value."""
    type_ = _C_TYPES[one.type]
    store = "*to = " if one.stores else "(void)"
    bits, signed = f"(8 * (int)sizeof({type_}))", not one.type.startswith("u")
    most = f"(~0ULL >> (64 - {bits}{' + 1' if signed else ''}))"
    fits = f"(negative ? magnitude <= {most} + 1 : magnitude <= {most})" if signed else f"magnitude <= {most}"
    any_value = f"{store}({type_}){STANDARD_INPUT_DRAW}lost_longlong();"
    base = {"dec": "DEC", "hex": "HEX"}.get(one.base, "EITHER")
    spelled = [
        "    unsigned long long magnitude = 0; int negative;",
        f"    found = spelled({one.width}, &magnitude, &negative);",
        "#ifdef ENDED",
        "    looked = 1;",
        "#endif",
        "    if (found == 0) return 0;",
        f"    if (found == 1 && {fits}) {store}({type_})(negative ? 0 - magnitude : magnitude);",
        f"    else {any_value}",
    ]
    if base != "DEC":  # how far the number goes is not followed
        spelled = ["    stays(-1); ahead = ANY;", f"    found = ({STANDARD_INPUT_DRAW}lost_longlong() != 0);"]
        spelled += ["    if (!found) return 0;", f"    {any_value}"]
    draw = f"{type_} value = {STANDARD_INPUT_DRAW}{one.base}_{one.type}({one.width});"
    return [
        f"int found = comes({base}, {one.width});",
        "if (found < 1) return found;",
        "#ifdef KNOWN",
        "if (found == 2) {",
        *spelled,
        "    return 1;",
        "}",
        "#endif",
        draw,
        *_within(one, signed=signed),
        f"{store}value;",
    ]


def _within(one: _Conversion, *, signed: bool) -> Iterator[str]:
    """What a number of a width may be: one that does not fit its type becomes any value."""
    base = {"dec": 10, "hex": 16, "any": 16}[one.base]
    size = {"short": 2, "int": 4}.get(one.type.removeprefix("u"), 8 if "long" in one.type else 1)
    least_bits = 32 if one.type.endswith("long") and not one.type.endswith("longlong") else 8 * size
    most, least = base**one.width - 1, base ** max(one.width - 1, 0) - 1
    if not one.width or most >= 1 << (least_bits - 1):
        return
    if signed:
        yield f"__VERIFIER_assume(value >= -{least});"
        yield f"__VERIFIER_assume(value <= {most});"
    else:  # a sign wraps the number around
        yield f"if (value > {most} && ({_C_TYPES[one.type]})(0 - value) > {least}) __VERIFIER_assume(0);"


@lru_cache(maxsize=8)
def _model(
    scans: tuple[tuple[tuple[_Conversion, ...], str], ...],
    others: frozenset[str],
    *,
    narrow: bool,
    finite: bool,
    clang: str | None,
) -> str:
    """The bodies as LLVM assembly, without what describes the source: inlined code is then at the place of its call."""
    lines = [f"#define {_LEAVING[name]}" for name in sorted(others & _LEAVING.keys())]
    if finite:
        lines.append("#define FINITE")
    if _may_leave_a_digit(scans, others):
        lines.append("#define KNOWN")
    lines.append(_SCANNING if scans or "unread" in others else _BYTES)
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
