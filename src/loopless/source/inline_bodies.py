"""Definitions of inline functions that clang leaves out of a module, or dissolves in it.

Without optimization clang writes no body for what C calls an inline definition (C11 6.7.4p7: ``inline`` without
``extern``; with ``gnu_inline`` also ``extern inline``): another file may define the function too. It does where the
function is ``always_inline``. So a module in which functions are only declared, made of files that speak of inline
functions, is compiled again with a pragma that makes all functions ``always_inline``; of the functions that were not
so before the module loses the attribute again. In C++ that is so for ``extern template`` and ``gnu_inline``.

Clang's passes inline what is ``always_inline`` and drop its definition. They are switched off, but for coroutines,
which a pass makes out of functions: these modules lose the attribute before it runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from loopless.patterns import pattern
from loopless.source.inlining import ALWAYS

NO_PASSES: Final = ("-Xclang", "-disable-llvm-passes")
"""What keeps clang from changing the module that it makes of the source."""
FIRST: Final = "#pragma clang attribute push(__attribute__((always_inline)), apply_to=function)\n"
LAST: Final = "#pragma clang attribute pop\n"
"""The pragma, and the line behind all that it is about."""
_DECLARED: Final = pattern(r"^declare [^@\n]*@(?!llvm\.)", re.MULTILINE)
_OUTSIDE: Final = pattern(r"^define available_externally ", re.MULTILINE)
_DEFINED: Final = pattern(r'^(define [^@\n]*@("[^"\n]*"|[-\w.$]+)\([^\n#]*)#(\d+)', re.MULTILINE)
_GROUP: Final = pattern(r"^attributes #(\d+) = \{ (.*) \}$", re.MULTILINE)
_MENTION: Final = pattern(rb"\b(?:inline|__inline|__inline__)\b")
_MENTION_OF_CXX: Final = pattern(rb"\bextern\s+template\b|\b(?:__)?gnu_inline\b")
_COROUTINE: Final = pattern(r"^attributes #\d+ = \{[^\n]* presplitcoroutine ", re.MULTILINE)
_SYSTEM: Final = (Path("/usr/include"), Path("/usr/lib"), Path("/usr/local/include"))


def with_passes(words: Sequence[str]) -> list[str]:
    """The words for the compiler without those that switch its passes off."""
    at = next(at for at in range(len(words)) if tuple(words[at : at + len(NO_PASSES)]) == NO_PASSES)
    return [*words[:at], *words[at + len(NO_PASSES) :]]


def listing_included(to: Path) -> tuple[str, ...]:
    """The words that make clang write the names of all files that it reads."""
    return ("-Xclang", "-header-include-file", "-Xclang", str(to))


def may_lack(text: str, files: Iterable[bytes], language: str) -> bool:
    """Whether a module may lack bodies of inline functions that ``files``, its sources, define."""
    mention = _MENTION if language == "c" else _MENTION_OF_CXX
    return _DECLARED.search(text) is not None and any(mention.search(content) is not None for content in files)


def included(listed: Path, cwd: Path | None, compiler: Path) -> list[bytes]:
    """The contents of the included files outside of the folders of the system and of the compiler, from the list that
    clang wrote.
    """
    if not listed.exists():
        return []
    names = listed.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    files = [(cwd or Path()) / name for name in dict.fromkeys(names)]
    system = (*_SYSTEM, compiler.parent)
    user = [file for file in files if not any(file.is_relative_to(folder) for folder in system)]
    return [file.read_bytes() for file in user if file.is_file()]


def has_found(text: str) -> bool:
    """Whether a module has bodies of functions that another file may define too."""
    return _OUTSIDE.search(text) is not None


def restored(text: str, before: str) -> str:
    """The module that was compiled under the pragma, in which only those functions are ``always_inline`` that the
    module ``before`` has so.
    """
    groups = {number: words for number, words in _GROUP.findall(before) if ALWAYS in words.split()}
    always = {name for _, name, number in _DEFINED.findall(before) if number in groups}
    plain = {number: words for number, words in _GROUP.findall(text) if ALWAYS in words.split()}
    offset = 1 + max((int(number) for number, _ in _GROUP.findall(text)), default=0)

    def head(m: re.Match[str]) -> str:
        return f"{m[1]}#{int(m[3]) + offset}" if m[3] in plain and m[2] not in always else m[0]

    others = "".join(f"attributes #{int(n) + offset} = {{ {_noinline(words)} }}\n" for n, words in plain.items())
    return f"{_DEFINED.sub(head, text)}\n{others}"


def _noinline(words: str) -> str:
    return re.sub(rf"\b{ALWAYS}\b", "noinline", words, count=1)


def has_coroutines(text: str) -> bool:
    """Whether the module has coroutines that are still functions."""
    return _COROUTINE.search(text) is not None


def not_inlined(text: str) -> str:
    """The module in which no function is ``always_inline``."""
    return _GROUP.sub(lambda m: m[0].replace(f" {ALWAYS} ", " noinline ", 1), text)
