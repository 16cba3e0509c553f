"""Whether floating-point operations are those of IEEE 754 on their types, rounded to nearest: as far as a program says.

Not so where flags allow a faster arithmetic or where small numbers become 0, on processors that may compute in wider
types than those of the operations, and in programs that change how is rounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopless.patterns import pattern
from loopless.source import ir

_CHANGES: Final = pattern(
    r"fesetround|fesetenv|feupdateenv|feholdexcept|fesetmode|feenableexcept|fpsetround|fpsetmask|_?_control(?:fp|87)\w*"
    r"|llvm\.(?:set|reset)\.(?:rounding|fpenv|fpmode)[.\w]*|llvm\.x86\.sse\.ldmxcsr|llvm\.aarch64\.set\.fpcr"
    r"|llvm\.ppc\.(?:setrnd|mtfs\w*|setflm)|llvm\.arm\.set\.fpscr"
)
"""Functions that change how is rounded, or what an operation does beside."""
_CONTROL: Final = pattern(r"mxcsr|fldcw|fldenv|frstor|f?ninit|rstor|fpcr|fpscr|fcsr|frm|lfpc|sfpc|srnm|mtfs")
"""Words of assembly that do."""
_FAST: Final = pattern(r'"(?:unsafe|no-nans|no-infs|approx-func|no-signed-zeros)-fp-math"="true"')
_IEEE: Final = ('="ieee"', '="ieee,ieee"')
_OLD_INTEL: Final = pattern(r"i\d86")
_PROCESSORS: Final = pattern(r"$|x86_64|i\d86|aarch64|arm64|riscv|powerpc64|s390x|wasm|loongarch")
"""The beginnings of the triples of targets that compute in the type of the operation; those of Intel with SSE 2."""


def is_standard(function: ir.SourceFunction, module: ir.Module) -> bool:
    """Whether the operations of a function of the module have the meaning that LLVM gives them."""
    features: set[str] = set()
    for attribute in function.attributes:
        denormal = attribute.startswith(('"denormal-fp-math', "denormal_fpenv"))
        if attribute == "strictfp" or _FAST.fullmatch(attribute) or (denormal and not attribute.endswith(_IEEE)):
            return False
        if attribute.startswith('"target-features"="'):
            features.update(attribute.split('"')[3].split(","))
    if not _PROCESSORS.match(module.triple) or not features.isdisjoint(("-sse2", "+soft-float")):
        return False
    if _OLD_INTEL.match(module.triple) and "+sse2" not in features:
        return False
    return not any(_CHANGES.fullmatch(name) for name in module.functions) and not any(_assembly(module))


def _assembly(module: ir.Module) -> Iterator[str]:
    """Assembly that may change the control of floating-point operations."""
    if "asm" not in module.text:
        return
    for line in module.text.split("\n"):
        if "asm " in line and _CONTROL.search(line.lower()):
            yield line
