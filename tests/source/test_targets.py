"""Places put into modules: the branches of a program are the same with and without the checks that runs need."""

from __future__ import annotations

import pytest

from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.source.compile import SourceOptions, compile_ir
from loopless.source.targets import SourceTarget, marked, sides, telling

PROGRAMS = {
    # A return inside of a loop, where scopes end: the checks bring branches of their own.
    "scopes": """int f(const char *s, int n) { int depth = 0, most = 0;
        for (int i = 0; i < n; i++) { if (s[i] == '(') depth++; else if (s[i] == ')') depth--;
            if (depth < 0) return -1; if (depth > most) most = depth; }
        if (depth == 0 && most == 1) return 1; return 0; }""",
    "cases": """int f(const char *s, int n) { int a = 0;
        for (int i = 0; i < n; i++) switch (s[i]) { case '(': a++; break; case 'x': a += 2; break; default: a /= 2; }
        return a > 1 ? 1 : 0; }""",
}
RUNS = [([*text], len(text)) for text in (b"", b"()", b")", b"((", b"x(", b"(()", b"y")]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_side_is_reached_where_the_run_takes_it(name):
    plain = compile_ir(PROGRAMS[name])
    trapped = compile_ir(PROGRAMS[name], SourceOptions(traps=True))
    told, found = telling(trapped, "f")
    assert [(one.number, one.side, one.line) for one in found] == [
        (o.number, o.side, o.line) for o in sides(plain, "f")
    ]
    runs = [NativeRun(args=one) for one in RUNS]
    with NativeOracle(told, ir=True) as oracle:
        oracle.sides = len(found)
        taken = [outcome.covered for outcome in oracle.run_many("f", runs)]
    assert set().union(*taken) == set(range(len(found)))
    for number, side in enumerate(found):
        text = marked(trapped, SourceTarget(within="f", branch=(side.number, side.side)))
        with NativeOracle(text, ir=True) as oracle:
            ends = [outcome.detail == "target" for outcome in oracle.run_many("f", runs)]
        assert ends == [number in one for one in taken], side
