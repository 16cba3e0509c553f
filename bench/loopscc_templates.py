"""LoopSCC's templates: C programs whose inputs are placeholders, as functions of these. Needs nothing of Loopless."""

from __future__ import annotations

import re

_ASSERTION = re.compile(r"assert\s*\(\s*(\w+)\s*==\s*\{\d+\}\s*\)\s*;")


def as_function(template: str, without: frozenset[str] = frozenset()) -> str:
    """The function ``start`` alone, its assertions assignments to globals ``out_*``, but for the outputs ``without``."""
    body = template[template.index("void start") : template.find("int main")]
    outputs = [name for name in _ASSERTION.findall(body) if name not in without]
    declared = "".join(f"int out_{name};\n" for name in outputs)

    def assignment(found: re.Match[str]) -> str:
        return "" if found[1] in without else f"out_{found[1]} = {found[1]};"

    return declared + _ASSERTION.sub(assignment, body)
