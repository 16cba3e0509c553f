"""Run 32-bit programs on a 64-bit host: the same module, compiled for the host.

What a data model decides about integers (``long`` has 32 bits, the values of ``sizeof``, the offsets in structures) is
settled when C becomes IR. What is left to the target is the size of a pointer in memory. A module that keeps pointers
only in single variables does not see that size, so its IR means the same on both; all others are refused.
"""

from __future__ import annotations

import re
from typing import Final

from loopless.errors import SourceError
from loopless.patterns import pattern

NARROW: Final = (
    "malloc",
    "calloc",
    "realloc",
    "memcpy",
    "memmove",
    "memset",
    "memcmp",
    "memchr",
    "strlen",
    "strnlen",
    "strncmp",
    "strncpy",
    "strncat",
)
"""Library functions with a ``size_t``: the runtime has a version of each that takes 32 bits."""

_SAFE_WORDS: Final = (
    "strcmp strcpy strcat strchr strrchr strstr strpbrk strdup atoi abs free isalpha isdigit isalnum isspace "
    "isupper islower isprint ispunct iscntrl isgraph isxdigit isblank toupper tolower printf puts putchar fprintf "
    "fputs fputc putc fflush perror getchar getc fgetc ungetc fgets feof ferror rand srand"
)
SAFE: Final = frozenset(_SAFE_WORDS.split())
"""Library functions whose types are the same in both data models."""

_TARGET: Final = pattern(r'^target (datalayout|triple) = "([^"]*)"$', re.MULTILINE)
_PROCESSOR: Final = pattern(r' "(?:target-cpu|target-features|tune-cpu)"="[^"]*"')
_POINTER_SIZE: Final = pattern(
    r"^(?:"
    r"%\S+ = type .*\bptr\b"  # a structure with a pointer in it
    r"|[^!;\n]*\[\d+ x ptr\]"  # an array of pointers
    r"|[^!;\n]*\{[^}\n]*\bptr\b[^}\n]*\}"  # an unnamed structure with a pointer in it
    r"|[^!;\n]*\b(?:ptrtoint|inttoptr)\b"
    r"|[^!;\n]*\bgetelementptr [\w ]*\bptr, ptr\b"  # stepping over pointers
    r"|[^!;\n]*\bva_arg\b|[^!;\n]*@llvm\.va_"
    r")",
    re.MULTILINE,
)


def is_narrow(ir_text: str) -> bool:
    """Whether the module is for a target with 32-bit pointers."""
    found = dict(_TARGET.findall(ir_text))
    return "p:32:32" in found.get("datalayout", "").split("-")


def retarget(ir_text: str, host_ir: str) -> str:
    """A 32-bit module for the target of ``host_ir``, some module for this host.

    Raises:
        SourceError: if the module's meaning depends on the size of pointers.
    """
    found = _POINTER_SIZE.search(ir_text)
    if found:
        raise SourceError(
            "this 32-bit program keeps pointers in arrays, structures or integers, so that it cannot be run on this "
            f"64-bit host: {found[0].strip()[:80]}"
        )
    host = dict(_TARGET.findall(host_ir))
    text = _TARGET.sub(lambda match: f'target {match[1]} = "{host[match[1]]}"', ir_text)
    return _PROCESSOR.sub("", text)
