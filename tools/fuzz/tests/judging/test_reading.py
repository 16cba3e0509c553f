"""One loop alone that reads memory: contents are part of its state, and claims that speak of them are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from loopless.errors import UsageError
from loopless.paths import LoopPaths, loop_paths
from loopless.terms import (
    FALSE,
    TRUE,
    ZERO,
    Condition,
    EvaluationError,
    IntType,
    Term,
    Var,
    add,
    conjunction,
    const,
    disjunction,
    equal,
    ite,
    less_equal,
    negate,
    read,
    scale,
)
from loopless_fuzz.judging.claims import Claims, Judgement, judge_all
from loopless_fuzz.judging.contents import MOST_UNREAD, ClaimReader, Content, Entry, Unread
from loopless_fuzz.judging.entries import draw_entries, every_entry
from loopless_fuzz.judging.loop_alone import LoopAlone, Truth
from loopless_fuzz.judging.states import constants
from loops_in_c import graph

CHAR, BYTE, INT = IntType(8), IntType(8, signed=False), IntType(32)
LENGTH = "int f(const char *s) { int n = 0; while (s[n]) n++; return n; }"
SEARCH = "int f(const unsigned char *s, int n, int c) { int i = 0; while (i < n && s[i] != c) i++; return i; }"
SUM = "int f(const short *a, int n) { int t = 0; for (int i = 0; i < n; i++) t += a[i]; return t; }"


def of(source: str) -> tuple[LoopAlone, LoopPaths]:
    g = graph(source)
    paths = loop_paths(g, g.loops[0])
    assert isinstance(paths, LoopPaths)
    return LoopAlone(g, g.loops[0], {path.id: path.condition for path in paths.iterative}), paths


def named(alone: LoopAlone, name: str) -> Var:
    return next(var for var in alone.variables if var.name == name)


def run(alone: LoopAlone, contents: Mapping[str, bytes], **state: int) -> Truth:
    return alone.run({named(alone, name): value for name, value in state.items()}, contents, max_steps=1000)


def shorts(*values: int) -> bytes:
    return b"".join(value.to_bytes(2, "little", signed=True) for value in values)


# -- runs -------------------------------------------------------------------------------------------------------------


def test_what_an_object_holds_decides_the_run() -> None:
    alone, _ = of(LENGTH)
    assert alone.contents == (Content(2, "s", (CHAR,)),)
    found = run(alone, {"s": b"ab\0cd"}, n=0)
    assert (found.status, found.iterations, found.values[named(alone, "n")]) == ("ok", 2, 2)
    assert found.reads == {"s": frozenset({0, 1, 2})}
    assert run(alone, {"s": b"ab\0c\0"}, n=3).iterations == 1
    assert run(alone, {"s": b"\xff\0"}, n=0).iterations == 1


@pytest.mark.parametrize("state", [{"n": 0}, {"n": 4}, {"n": -1}, {"n": 2**31 - 1}])
def test_nothing_is_known_of_a_run_that_reads_outside(state: dict[str, int]) -> None:
    alone, _ = of(LENGTH)
    found = run(alone, {"s": b"abc"}, **state)
    assert found.status == "outside" and not found.values
    assert run(alone, {}, n=0).status == "outside"


def test_elements_of_several_bytes_and_of_either_sign() -> None:
    alone, _ = of(SUM)
    found = run(alone, {"a": shorts(7, -30000, -1)}, n=3, i=0, t=5)
    assert found.values[named(alone, "t")] == 5 + 7 - 30001
    assert run(alone, {"a": shorts(7, 1)[:3]}, n=2, i=0).status == "outside"
    assert run(alone, {"a": shorts(7)}, n=1, i=0, t=2**31 - 3).status == "undefined"


def test_iterations_are_counted_by_conditions_on_elements() -> None:
    alone, paths = of(
        "int f(const int *a, int n) { int c = 0; for (int i = 0; i < n; i++) if (a[i] > 5) c += 2; return c; }"
    )
    assert len(paths.iterative) == 2
    data = b"".join(value.to_bytes(4, "little", signed=True) for value in (3, 9, -9, 6, 5))
    # The conditions are looked at once more at i = n, where there is nothing to read.
    found = run(alone, {"a": data}, n=5, i=0)
    assert sorted(found.per_path.values()) == [2, 3] and found.iterations == 5
    assert found.reads == {"a": frozenset(range(20))}


def test_tables_are_known_and_objects_of_a_size_are_given_whole() -> None:
    alone, _ = of(
        """static const short table[4] = {1, 2, -3, 4}; int held[3];
        int f(int n) { int t = 0; for (int i = 0; i < n; i++) t += table[i & 3] * held[i % 3]; return t; }"""
    )
    table, held = alone.contents
    assert (table.fixed, table.size) == (shorts(1, 2, -3, 4), 8)
    assert (held.fixed, held.size) == (None, 12)
    data = b"".join(value.to_bytes(4, "little") for value in (10, 100, 1000))
    assert run(alone, {"held": data, "table": b""}, n=4, i=0).values[named(alone, "t")] == 10 + 200 - 3000 + 40
    assert all(len(entry.contents["held"]) == 12 for entry in draw_entries(alone, (), 1, 50))


def test_a_pointer_walk_has_its_offset_in_the_state() -> None:
    alone, _ = of("long f(const char *s) { const char *p = s; while (*p == ' ') p++; return p - s; }")
    assert {var.name for var in alone.positions} == {"p"}
    found = run(alone, {"s": b"   x"}, p=1)
    assert (found.iterations, found.values[named(alone, "p")]) == (2, 3)


def test_which_object_is_read_may_be_a_variable() -> None:
    alone, _ = of(
        """int f(const char *a, const char *b, int which) {
            const char *p = which ? a : b; int n = 0; while (*p) { p++; n++; } return n; }"""
    )
    (owner,) = alone.owners
    given = {"a": b"12\0", "b": b"\0"}
    numbers = {content.name: content.number for content in alone.contents}
    runs = {name: alone.run({owner: number}, given) for name, number in numbers.items()}
    assert {name: truth.iterations for name, truth in runs.items()} == {"a": 2, "b": 0}
    assert alone.run({owner: 0}, given).status == "undefined"


@pytest.mark.parametrize(
    "source",
    [
        "void f(char **v, char *s, int n) { for (int i = 0; i < n; i++) v[i] = s; }",
        "int g(const char *); int f(const char *s) { int i = 0; while (s[i]) i += g(s); return i; }",
        "int f(const char **v) { int i = 0; while (v[i]) i++; return i; }",
        "struct list { struct list *next; }; int f(struct list *l) { int n = 0; while (l) { l = l->next; n++; } return n; }",
    ],
)
def test_pointers_in_memory_calls_and_chains_of_pointers_are_refused(source: str) -> None:
    g = graph(source)
    with pytest.raises(UsageError, match="depends on more"):
        LoopAlone(g, g.loops[0])


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
    per_path: Mapping[str, Term] = field(default_factory=dict)
    totals: Mapping[str, Term] = field(default_factory=dict)
    exit_path: str = ""
    exact: bool = True


@dataclass(frozen=True)
class Region:
    when: Condition


@dataclass(frozen=True)
class Summary:
    cases: Sequence[Case]
    diverges: Condition = FALSE
    undefined: Sequence[Region] = ()
    residual: Sequence[Region] = ()


def length_by_hand(alone: LoopAlone, most: int = 3) -> Summary:
    """Up to ``most`` iterations told element by element; nothing is said of more, nor where the counter overflows."""
    n = named(alone, "n")
    elements = [read("s", add(n, const(at)), CHAR) for at in range(most + 1)]
    small = less_equal(n, const(2**31 - 2 - most))
    going: list[Condition] = [small]
    cases = []
    for at, element in enumerate(elements):
        when = conjunction((*going, equal(element, ZERO)))
        cases.append(Case(when, {n: add(n, const(at))}, Exit(*alone.loop.exits[0]), const(at), {"1": const(at)}))
        going.append(negate(equal(element, ZERO)))
    return Summary(cases, residual=(Region(conjunction(going)), Region(negate(small))))


def judged(alone: LoopAlone, summary: Summary, entries: Sequence[Entry]) -> Judgement:
    return judge_all(alone, Claims(summary, alone.variables, {}, alone.contents), entries, max_steps=500)


def test_a_right_claim_about_elements_passes() -> None:
    alone, paths = of(LENGTH)
    entries = draw_entries(alone, constants([path.condition for path in paths.all]), 5, 600)
    found = judged(alone, length_by_hand(alone), entries)
    assert not found.mismatches
    assert found.compared > 200 and found.regions["residual"] > 20 and found.regions["outside"] > 20
    assert found.regions["case"] == found.compared


def wrong_element(summary: Summary, alone: LoopAlone) -> Summary:
    """The second element is taken for the third."""
    n = named(alone, "n")
    cases = list(summary.cases)
    element = read("s", add(n, const(2)), CHAR)
    first = read("s", n, CHAR)
    cases[1] = replace(cases[1], when=conjunction((negate(equal(first, ZERO)), equal(element, ZERO))))
    return replace(summary, cases=cases)


def wrong_sign(summary: Summary, alone: LoopAlone) -> Summary:
    return replace(
        summary,
        cases=[
            replace(summary.cases[0], when=less_equal(read("s", named(alone, "n"), CHAR), ZERO)),
            *summary.cases[1:],
        ],
    )


def wrong_value(summary: Summary, alone: LoopAlone) -> Summary:
    """Right where the element is 0 as it must be, and one too much for another."""
    n = named(alone, "n")
    then = {n: ite(equal(read("s", n, CHAR), const(7)), add(n, const(2)), add(n, const(1)))}
    cases = list(summary.cases)
    cases[1] = replace(cases[1], then=then)
    return replace(summary, cases=cases)


@pytest.mark.parametrize("wrong", [wrong_element, wrong_sign, wrong_value])
def test_a_wrong_claim_about_elements_is_found(wrong) -> None:
    alone, paths = of(LENGTH)
    entries = draw_entries(alone, (*constants([path.condition for path in paths.all]), 7), 5, 600)
    found = judged(alone, wrong(length_by_hand(alone), alone), entries)
    assert found.mismatches
    assert [entry.values for entry in found.entries] == [values for values, _ in found.mismatches]
    # The entry alone shows it again, also by way of plain data.
    again = Entry.of(found.entries[0].shown(), alone.entry)
    assert again == found.entries[0]
    assert judged(alone, wrong(length_by_hand(alone), alone), [again]).mismatches


def test_a_claim_must_not_need_what_the_loop_does_not_read() -> None:
    alone, _ = of(LENGTH)
    n = named(alone, "n")
    entry = Entry({n: 0}, {"s": b"\0\0\0\0"})
    right = length_by_hand(alone)
    assert not judged(alone, right, [entry]).mismatches
    beyond = read("s", add(n, const(1)), CHAR)
    ((_, why),) = judged(alone, replace(right, cases=[replace(right.cases[0], iterations=beyond)]), [entry]).mismatches
    assert "case 1 has no value here" in why and "byte 1" in why
    # A condition may ask, if the answer does not matter.
    whatever = disjunction((less_equal(beyond, const(5)), less_equal(const(3), beyond)))
    matters = less_equal(beyond, const(5))
    for when, wrong in ((whatever, False), (matters, True)):
        asked = replace(
            right, cases=[replace(right.cases[0], when=conjunction((right.cases[0].when, when))), *right.cases[1:]]
        )
        assert bool(judged(alone, asked, [entry]).mismatches) is wrong


def test_a_claim_about_a_run_that_reads_outside_is_not_compared() -> None:
    alone, _ = of(LENGTH)
    found = judged(alone, Summary((), diverges=TRUE), [Entry({named(alone, "n"): 0}, {"s": b"abc"})])
    assert not found.mismatches and not found.compared and found.regions == {"outside": 1}


def test_a_claim_about_an_object_that_the_loop_does_not_read_is_wrong() -> None:
    alone, _ = of(LENGTH)
    right = length_by_hand(alone)
    other = replace(right.cases[0], iterations=read("other", ZERO, CHAR))
    entry = Entry({named(alone, "n"): 0}, {"s": b"\0", "other": b"\0"})
    ((_, why),) = judged(alone, replace(right, cases=[other, *right.cases[1:]]), [entry]).mismatches
    assert "no other" in why


def test_a_run_that_goes_on_is_not_compared_with_what_it_will_read() -> None:
    alone, _ = of(SUM)
    i, n, t = (named(alone, name) for name in "int")
    data = {"a": shorts(*[1] * 800)}
    total = add(t, *(read("a", const(2 * at), IntType(16)) for at in range(800)))
    exit = Exit(*alone.loop.exits[0])
    summary = Summary([Case(TRUE, {i: n, t: total}, exit, add(n, scale(i, -1)), {"1": add(n, scale(i, -1))})])
    entry = Entry({i: 0, n: 800, t: 0}, data)
    assert not judged(alone, summary, [entry]).mismatches  # 500 iterations are followed
    whole = judge_all(alone, Claims(summary, alone.variables, {}, alone.contents), [entry])
    assert not whole.mismatches and whole.compared == 1


def test_a_reader_gives_up_where_a_claim_asks_for_ever() -> None:
    reader = ClaimReader(
        (Content(1, "a", (BYTE,)), Content(2, "t", (INT,), b"\1\0\0\0", 4)), {"a": b"xyz"}, {"a": frozenset({1})}, {}
    )
    assert reader("t", 0, INT) == 1 and reader("a", 1, BYTE) == ord("y") and not reader.missed
    for at in range(MOST_UNREAD):
        with pytest.raises(Unread):
            reader("a", 2 + at, BYTE)
    with pytest.raises(EvaluationError, match="more than"):
        reader("a", 0, BYTE)
    reader.begin()
    with pytest.raises(Unread):
        reader("t", 1, INT)
    assert reader.missed


# -- entries ----------------------------------------------------------------------------------------------------------


def test_drawn_entries_find_and_miss_what_is_searched() -> None:
    alone, paths = of(SEARCH)
    numbers = constants([path.condition for path in paths.all])
    entries = draw_entries(alone, numbers, 1, 1000)
    assert entries == draw_entries(alone, numbers, 1, 1000) != draw_entries(alone, numbers, 2, 1000)
    i, n = named(alone, "i"), named(alone, "n")
    truths = [(entry, alone.run(entry.values, entry.contents)) for entry in entries]
    ended = [(entry, truth) for entry, truth in truths if truth.status == "ok" and truth.iterations]
    found = [truth for entry, truth in ended if truth.values[i] < entry.values[n]]
    assert len(found) > 60 and len(ended) - len(found) > 60
    assert any(truth.iterations > 10 for truth in found)
    assert {truth.status for _, truth in truths} == {"ok", "outside"}


def test_every_entry_of_a_tiny_loop() -> None:
    alone, paths = of("signed char f(const signed char *s) { signed char i = 0; while (s[i] > 1) i++; return i; }")
    i = named(alone, "i")
    entries = list(every_entry(alone, constants([path.condition for path in paths.all]), most=40_000))
    assert {entry.values[i] for entry in entries} == set(range(-128, 128))
    contents = {entry.contents["s"] for entry in entries}
    letters = {byte for content in contents for byte in content}
    assert len(contents) == sum(len(letters) ** length for length in range(5)) and 2 <= len(letters) <= 4
    assert len(entries) == 256 * len(contents)
    few = list(every_entry(alone, (), most=500))
    assert len(few) == 500 and {len(entry.contents["s"]) for entry in few} == set(range(5))
