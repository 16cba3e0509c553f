"""Arrays that hold constants where they are read: look-ups in tables, and nothing where something may have written."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.flowgraph.memory.initial_memory import begins_at, begun, never_written
from loopless.flowgraph.model import Flowgraph, Load
from programs_in_c import program
from runs_of_text import statements

LIST = "int a[6] = {4, 5, 6, 7, 8, 9};"
INPUT = "int i = __VERIFIER_nondet_int(); if (i < 0 || i > 5) return 0;"


def graphs(text: str) -> tuple[Flowgraph, Flowgraph]:
    """The flowgraph of main, and that of a run that begins with it."""
    module = program(text).inlined
    plain = build(module.functions["main"], module)
    fixed = never_written(module, whole=True)
    return plain, begun(plain, module, first=begins_at(module, "main"), fixed=fixed)


KNOWN = {
    "initialised": f"{LIST} {INPUT} return a[i];",
    "zeros": f"int a[6] = {{0}}; {INPUT} return a[i] + a[5 - i];",
    "bytes of a string": f'char a[] = "letters"; {INPUT} return a[i + 1];',
    "a column": f"int a[6][3] = {{{{1,2,3}},{{4,5,6}},{{7,8,9}},{{10,11,12}},{{13,14,15}},{{0}}}}; {INPUT} return a[i][1];",
    "an element changed by a constant": f"{LIST} a[2] = 11; {INPUT} return a[i];",
    "the same on both ways": f"{LIST} {INPUT} if (i & 1) a[3] = 2; else a[3] = 2; return a[i];",
    "behind another array's writes": f"{LIST} int b[3] = {{0}}; {INPUT} b[i % 3] = i; return a[i];",
    "by a pointer to the element": f"{LIST} {INPUT} const int *p = &a[i]; return *p;",
    "in a loop": f"{LIST} int s = 0; for (int k = 0; k < 6; k++) s += a[k]; return s;",
    "made anew in each iteration": f"int s = 0; {INPUT} for (int k = 0; k < 3; k++) {{ {LIST} s += a[(i + k) % 6]; }} return s;",
    "a global at the beginning": f"{INPUT} int x = g[i]; g[i] = 9; return x;",
}
UNKNOWN = {
    "an element changed by a variable": f"{LIST} {INPUT} a[3] = i; return a[i];",
    "changed at a variable place": f"{LIST} {INPUT} a[i] = 1; return a[5 - i];",
    "changed in an earlier iteration": f"{LIST} {INPUT} int s = 0; for (int k = 0; k < 3; k++) {{ s += a[i]; a[2] = 1; }} return s;",
    "changed on one way": f"{LIST} {INPUT} if (i & 1) a[3] = 2; return a[i];",
    "changed through a pointer": f"{LIST} {INPUT} int *p = i & 1 ? a : g; p[2] = 3; return a[i];",
    "changed by a function": f"{LIST} {INPUT} w(a, i); return a[i];",
    "by a pointer to the element of an earlier index": f"{LIST} {INPUT} const int *p = &a[i]; i = 5 - i; return *p + i;",
    "a part of it copied": f"{LIST} int b[3]; {INPUT} __builtin_memcpy(b, a + i % 3, 12); return b[i % 3];",
    "not all of it": f"int a[6]; a[0] = a[1] = a[2] = 1; {INPUT} return a[i % 3];",
    "a global behind a write": f"{INPUT} g[i] = 9; return g[5 - i];",
}
GIVEN = """extern int __VERIFIER_nondet_int(void); int g[6] = {3, 1, 4, 1, 5, 9};
__attribute__((noinline)) static void w(int *p, int n) { if (n > 0) { w(p, n - 1); p[n] = n; } }
"""


@pytest.mark.parametrize("name", [*KNOWN, *UNKNOWN])
def test_reads_are_tables_where_the_contents_are_known(name: str) -> None:
    text = GIVEN + f"int main(void) {{ {KNOWN.get(name) or UNKNOWN[name]} }}"
    plain, known = graphs(text)
    assert statements(plain, Load)
    assert bool(statements(known, Load)) == (name in UNKNOWN)
    for value in range(6):
        runs = [Interpreter(program(text).inlined, graph, checked=True).run([], [value]) for graph in (plain, known)]
        assert runs[0].status == runs[1].status == "ok"
        assert runs[0].outcome.return_value == runs[1].outcome.return_value


def drawn(chosen: random.Random, depth: int = 0) -> Iterator[str]:
    """Statements that write and read a, b and g in some order."""
    for _ in range(chosen.randrange(1, 5)):
        array, other = chosen.choice("abg"), chosen.choice("abg")
        place = chosen.choice(("0", "3", "5", "i", "5 - i", "(i + k) % 6", "2 * (i % 3)", "i / 2 * 2 + 1"))
        match chosen.randrange(9):
            case 0 | 1 | 2:
                yield f"s = s * 3 + {array}[{place}];"
            case 3:
                yield f"{array}[{place}] = {chosen.choice(('7', '2', 'i', 's % 50', f'{other}[{place}]'))};"
            case 4:
                yield f"__builtin_memset({array}, {chosen.choice(('0', '1', 'i'))}, {chosen.choice(('24', '8', '4 * i'))});"
            case 5:
                yield f"__builtin_memmove({array}, {other}, {chosen.choice(('24', '12'))});"
            case 6:
                yield f"p = {chosen.choice((array, f'&{array}[{place}]', f'i & 1 ? {array} : {other}'))}; s += *p; *p = {chosen.choice('9i')};"
            case 7 if depth < 2:
                yield f"if ({chosen.choice(('i & 1', 's & 2', 'i > 2'))}) {{ {' '.join(drawn(chosen, depth + 1))} }}"
            case 8 if depth < 1:
                yield f"for (k = 0; k < 3; k++) {{ int c[3] = {{1, 2, {chosen.choice('3i')}}}; s += c[(i + k) % 3]; {' '.join(drawn(chosen, 2))} }}"
            case _:
                yield f"s += {array}[({place}) % 6];"


@pytest.mark.parametrize("seed", range(40))
def test_tables_come_to_what_memory_holds(seed: int) -> None:
    body = " ".join(drawn(random.Random(seed)))
    text = f"""{GIVEN} int main(void) {{ unsigned s = 0; int k = 0, *p; int a[6] = {{1, 2, 3, 4, 5, 6}}, b[6] = {{0}};
{INPUT} {body} w(b, i % 2); return (int)(s % 100000 + a[i] + b[5 - i] + g[i]); }}"""
    plain, known = graphs(text)
    interpreters = [Interpreter(program(text).inlined, graph, checked=True) for graph in (plain, known)]
    for value in range(6):
        before, after = (one.run([], [value]) for one in interpreters)
        assert (before.status, before.outcome.return_value) == (after.status, after.outcome.return_value)
        assert before.status == "ok"
