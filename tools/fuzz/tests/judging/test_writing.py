"""One loop alone that writes memory: what it leaves there, and claims about that which are right or wrong by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from loopless import terms as t
from loopless.paths import LoopPaths, loop_paths
from loopless.terms import FALSE, INDEX, Condition, IntType, Layer, Term, Var
from loopless.terms.contents import reader_behind, single, unknown
from loopless_fuzz.judging.claims import Claims, Judgement, judge_all
from loopless_fuzz.judging.contents import ClaimReader
from loopless_fuzz.judging.entries import draw_entries, every_entry
from loopless_fuzz.judging.loop_alone import LoopAlone, Truth
from loops_in_c import graph

CHAR, BYTE, SHORT, INT = IntType(8), IntType(8, signed=False), IntType(16), IntType(32)
FILL = "void f(signed char *a, signed char n) { for (signed char i = 0; i < n; i++) a[i] = 7; }"
SHIFT = "void f(short *a, int n) { for (int i = 0; i < n; i++) a[i] = a[i + 1]; }"
CARRIED = "void f(unsigned char *a, int n) { for (int i = 0; i < n; i++) a[i + 1] = a[i]; }"
COPY = "void f(short *a, const short *b, int n) { for (int i = 0; i < n; i++) a[2 * i] = b[i]; }"
TWICE = "void f(int *a, int n) { for (int i = 0; i < n; i++) { a[i] = 1; a[i + 1] = 2; } }"


def of(source: str, loop: int = 0) -> LoopAlone:
    g = graph(source)
    paths = loop_paths(g, g.loops[loop])
    named = {path.id: path.condition for path in paths.iterative} if isinstance(paths, LoopPaths) else {}
    return LoopAlone(g, g.loops[loop], named)


def named(alone: LoopAlone, name: str) -> Var:
    return next(var for var in alone.variables if var.name == name)


def run(alone: LoopAlone, contents: Mapping[str, bytes], **state: int) -> Truth:
    return alone.run({named(alone, name): value for name, value in state.items()}, contents, max_steps=1000)


def elements(type: IntType, *values: int) -> bytes:
    size = (type.width or 8) // 8
    return b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value in values)


# -- runs -------------------------------------------------------------------------------------------------------------


def test_memory_behind_the_loop_is_apart_from_memory_before_it() -> None:
    before = {"a": elements(BYTE, 5, 6, 7, 8)}
    found = run(of(CARRIED), before, i=1, n=3)
    assert found.after == {"a": elements(BYTE, 5, 6, 6, 6)}
    assert before == {"a": elements(BYTE, 5, 6, 7, 8)}
    assert found.reads == {"a": frozenset((1, 2, 3))}


def test_nothing_is_known_of_a_run_that_writes_outside() -> None:
    alone = of(FILL)
    assert run(alone, {"a": b"abc"}, i=0, n=4).status == "outside"
    assert run(alone, {"a": b"abc"}, i=-1, n=2).status == "outside"
    assert run(alone, {"a": b"abc"}, i=1, n=3).after == {"a": b"a\x07\x07"}


def test_a_state_is_the_same_only_where_memory_is() -> None:
    """No variable changes in these loops; memory decides whether they end."""
    down = of("void f(unsigned char *a, int n) { while (a[n] > 3) a[n]--; }")
    assert run(down, {"a": b"\x09"}, n=0).iterations == 6
    ever = of("void f(unsigned char *a, int n) { while (a[n] > 3) a[n + 1] = 1; }")
    assert run(ever, {"a": b"\x09\0"}, n=0).status == "diverges"


def test_wide_elements_bytes_of_them_and_library_functions() -> None:
    wide = of("void f(int *a, int n) { for (int i = 0; i < n; i++) ((unsigned char *)a)[4 * i + 1] = 255; }")
    assert run(wide, {"a": elements(INT, 1, 2)}, i=0, n=2).after == {"a": elements(INT, 0xFF01, 0xFF02)}
    copied = of("""#include <string.h>
        void f(char *a, const char *b, int n) { for (int i = 0; i < n; i++) { memcpy(a + 3 * i, b + i, 2);
            memset(a + 3 * i + 2, i, 1); } }""")
    assert run(copied, {"a": bytes(6), "b": b"xyz"}, i=0, n=2).after == {"a": b"xy\0yz\1"}
    moved = of("#include <string.h>\nvoid f(char *a, int n) { for (int i = 0; i < n; i++) memmove(a + 1, a, 3); }")
    assert run(moved, {"a": b"abcd"}, i=0, n=2).after == {"a": b"aaab"}


def test_conditions_of_paths_look_at_memory_as_it_is_then() -> None:
    g = graph("void f(int *a, int n) { for (int i = 0; i < n; i++) { if (a[i] > 5) a[i + 1] = 9; } }")
    i, n = (next(var for var in g.variables if var.name == name) for name in "in")
    greater = t.conjunction((t.less(i, n), t.less(t.const(5), t.read("a", t.mul(t.const(4), i), INT))))
    alone = LoopAlone(g, g.loops[0], {"greater": greater})
    assert run(alone, {"a": elements(INT, 6, 0, 0, 0)}, i=0, n=3).per_path == {"greater": 3}


# -- claims -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exit:
    block: str
    edge: int | None
    kind: str = "normal"


@dataclass(frozen=True)
class Case:
    when: Condition
    then: Mapping[Var, Term]
    exit: Exit
    iterations: Term
    contents: t.Contents | None
    per_path: Mapping[str, Term] = field(default_factory=dict)
    totals: Mapping[str, Term] = field(default_factory=dict)
    exit_path: str = ""
    exact: bool = True


@dataclass(frozen=True)
class Summary:
    cases: Sequence[Case]
    diverges: Condition = FALSE
    undefined: Sequence[Case] = ()
    residual: Sequence[Case] = ()


def counting(alone: LoopAlone, contents: t.Contents | None) -> Summary:
    """The summary of a loop that counts i up to n, with contents where it is entered."""
    i, n = named(alone, "i"), named(alone, "n")
    exit, enters = Exit(*alone.loop.exits[0]), t.less(i, n)
    times = t.sub(n, i)
    per_path = dict.fromkeys(alone.paths, times)
    return Summary(
        (
            Case(enters, {i: n}, exit, times, contents, per_path),
            Case(~enters, {i: i}, exit, t.ZERO, {}, dict.fromkeys(alone.paths, t.ZERO)),
        )
    )


def judged(alone: LoopAlone, contents: t.Contents | None) -> Judgement:
    claims = Claims(counting(alone, contents), alone.variables, objects=alone.contents)
    entries = [*draw_entries(alone, (1, 2, 7), 3, 120), *every_entry(alone, (7,), most=400)]
    found = judge_all(alone, claims, entries, max_steps=300)
    assert found.compared > 150 or found.mismatches
    return found


def within(alone: LoopAlone, low: int = 0, high: int = 0) -> Condition:
    """i + low <= j < n + high."""
    i, n = named(alone, "i"), named(alone, "n")
    return t.conjunction((t.less_equal(t.add(i, t.const(low)), INDEX), t.less(INDEX, t.add(n, t.const(high)))))


def moved(layer: Layer, low: int, high: int) -> Condition:
    """The layer begins and ends so many elements later."""
    first, last = t.conjuncts(layer.where)
    if t.holds(t.substitute(first, {INDEX: t.const(10**9)}), dict.fromkeys(first.variables, 0)) is False:
        first, last = last, first
    return t.conjunction(
        (
            t.substitute(first, {INDEX: t.sub(INDEX, t.const(low))}),
            t.substitute(last, {INDEX: t.sub(INDEX, t.const(high))}),
        )
    )


def fill(alone: LoopAlone) -> Layer:
    return Layer(CHAR, t.ZERO, 1, within(alone), t.const(7))


def shift(alone: LoopAlone) -> Layer:
    return Layer(SHORT, t.ZERO, 2, within(alone), t.read("a", t.mul(t.const(2), t.add(INDEX, t.const(1))), SHORT))


def carried(alone: LoopAlone) -> Layer:
    return Layer(BYTE, t.ZERO, 1, within(alone, 1, 1), t.read("a", named(alone, "i"), BYTE))


def copied(alone: LoopAlone) -> Layer:
    return Layer(SHORT, t.ZERO, 4, within(alone), t.read("b", t.mul(t.const(2), INDEX), SHORT))


LOOPS = {FILL: fill, SHIFT: shift, CARRIED: carried, COPY: copied}


@pytest.mark.parametrize("source", LOOPS)
def test_layers_that_are_right(source: str) -> None:
    alone = of(source)
    found = judged(alone, {"a": (LOOPS[source](alone),)})
    assert not found.mismatches, found.mismatches[0]
    assert found.memory["changed"] > 100
    assert not found.memory["untold"]


@pytest.mark.parametrize("source", LOOPS)
def test_layers_that_are_wrong(source: str) -> None:
    alone = of(source)
    layer = LOOPS[source](alone)
    assert layer.value is not None
    size = layer.size
    wrong = {
        "nothing changes": (),
        "another value": (replace(layer, value=t.wrap(t.add(layer.value, t.const(1)), layer.type)),),
        "one more": (replace(layer, where=moved(layer, 0, 1)),),
        "one less": (replace(layer, where=moved(layer, 0, -1)),),
        "from the next on": (replace(layer, where=moved(layer, 1, 0)),),
        "everywhere": (replace(layer, where=t.TRUE),),
        "a little further on": (replace(layer, start=t.const(size)),),
        "farther apart": (replace(layer, stride=layer.stride + size),),
        "the value of the next": (replace(layer, value=t.substitute(layer.value, {INDEX: t.add(INDEX, t.const(1))})),),
        "below what was there": (Layer(BYTE, t.ZERO, 1, t.between(0, INDEX, 40), t.read("a", INDEX, BYTE)), layer),
    }
    for how, layers in wrong.items():
        if how == "the value of the next" and source in (FILL, CARRIED):
            continue  # it is the same for all
        assert judged(alone, {"a": layers}).mismatches, how


def test_nothing_is_compared_where_nothing_is_told() -> None:
    alone = of(FILL)
    found = judged(alone, None)
    assert not found.mismatches
    assert not found.memory["changed"]
    found = judged(alone, {"a": (unknown(),)})
    assert not found.mismatches
    assert found.memory["untold"]
    # What is told above it is compared, and what is told below it is not.
    assert not judged(alone, {"a": (fill(alone), unknown())}).mismatches
    assert not judged(alone, {"a": (unknown(), Layer(CHAR, t.ZERO, 1, within(alone), t.const(3)))}).mismatches
    assert judged(alone, {"a": (replace(fill(alone), value=t.const(6)), unknown())}).mismatches


def test_the_newest_layer_counts() -> None:
    alone = of(TWICE)
    four = t.mul(t.const(4), INDEX)
    ones = Layer(INT, t.ZERO, 4, within(alone), t.const(1))
    last = single(INT, t.mul(t.const(4), named(alone, "n")), t.const(2))
    assert not judged(alone, {"a": (ones, last)}).mismatches
    twos = Layer(INT, t.const(4), 4, within(alone), t.const(2))
    assert not judged(alone, {"a": (ones, twos)}).mismatches
    assert judged(alone, {"a": (twos, ones)}).mismatches
    assert judged(alone, {"a": (Layer(INT, t.ZERO, 4, FALSE, four), ones)}).mismatches


def test_values_lie_in_the_range_of_their_type() -> None:
    alone = of(FILL)
    assert judged(alone, {"a": (replace(fill(alone), value=t.const(7 + 256)),)}).mismatches


def test_what_the_loop_does_not_read_decides_no_value() -> None:
    alone = of(COPY)
    layer = copied(alone)
    assert layer.value is not None
    behind = t.read("b", t.add(t.mul(t.const(2), named(alone, "n")), t.const(20)), SHORT)
    of_what_is_behind = replace(layer, value=t.ite(t.less(behind, t.const(900)), layer.value, t.const(5)))
    found = judged(alone, {"a": (of_what_is_behind,)})
    assert any("depends on" in wrong for _, wrong in found.mismatches)
    of_nothing = replace(layer, value=t.add(layer.value, t.mul(t.sub(behind, behind), t.const(3))))
    assert not judged(alone, {"a": (of_nothing,)}).mismatches
    where = t.conjunction((layer.where, t.less(behind, t.const(900))))
    assert judged(alone, {"a": (replace(layer, where=where),)}).mismatches


def test_a_layer_may_say_of_all_others_that_they_stay() -> None:
    """Also of those that the run does not access: ``a'[j] = i <= j && j < n ? 7 : a[j]`` for all j."""
    alone = of(FILL)
    here = t.read("a", INDEX, CHAR)
    everywhere = Layer(CHAR, t.ZERO, 1, t.TRUE, t.ite(within(alone), t.const(7), here))
    found = judged(alone, {"a": (everywhere,)})
    assert not found.mismatches, found.mismatches[0]
    assert judged(alone, {"a": (replace(everywhere, value=t.ite(within(alone), t.const(7), t.const(0))),)}).mismatches
    following = t.read("a", t.add(INDEX, t.const(1)), CHAR)
    assert judged(alone, {"a": (replace(everywhere, value=t.ite(within(alone), t.const(7), following)),)}).mismatches


def test_other_objects_are_unchanged() -> None:
    alone = of(COPY)
    assert judged(alone, {"a": (copied(alone),), "b": (single(SHORT, t.ZERO, t.const(77)),)}).mismatches
    assert judged(alone, {"a": (copied(alone),), "c": (single(SHORT, t.ZERO, t.const(77)),)}).mismatches


@pytest.mark.parametrize("source", LOOPS)
def test_a_reader_behind_the_layers_reads_what_the_run_left(source: str) -> None:
    """Two ways of reading layers: the judge's, which writes them down, and that of all who evaluate summaries."""
    alone = of(source)
    contents = {"a": (LOOPS[source](alone),)}
    entered = t.less(named(alone, "i"), named(alone, "n"))
    compared = 0
    for entry in draw_entries(alone, (1, 2, 7), 5, 120):
        truth = alone.run(entry.values, entry.contents, max_steps=200)
        values = {**dict.fromkeys(alone.variables, 0), **entry.values}
        if truth.status != "ok" or not t.holds(entered, values):
            continue
        before = ClaimReader(alone.contents, entry.contents, {}, values)
        reader = reader_behind(contents, values, before)
        for at, byte in enumerate(truth.after["a"]):
            compared += 1
            assert reader("a", at, BYTE) == byte
    assert compared > 300
