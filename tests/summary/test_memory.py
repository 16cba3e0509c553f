"""What memory holds behind loops that write it, against runs of each loop alone from any state and any content."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from loopless import terms as t
from loopless.paths import LoopPaths
from loopless.paths.invariants import inductive
from loopless.refusals import Reason, Refused
from loopless.summary import LoopSummary, from_entry, paths_of, summarize, summarized, with_memory
from loopless.summary.model import nodes_of
from loopless.summary.nests import writing_ways
from loopless_fuzz.judging.claims import Claims, Judgement, judge_all
from loopless_fuzz.judging.entries import draw_entries
from loopless_fuzz.judging.loop_alone import LoopAlone
from loops_in_c import graph

# fmt: off
WRITING = {
    "fill": "void f(short *a, int n) { for (int i = 0; i < n; i++) a[i] = 7; }",
    "value of the index": "void f(unsigned char *a, int n) { for (int i = 0; i < n; i++) a[i] = 3 * i; }",
    "copy": "void f(int *a, const int *b, int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }",
    "map": "void f(unsigned *a, const unsigned *b, int n) { for (int i = 0; i < n; i++) a[i] = 2 * b[i] + 1; }",
    "in place": "void f(int *a, int n) { for (int i = 0; i < n; i++) a[i] += i; }",
    "guarded": "void f(int *a, const int *b, int n) { for (int i = 0; i < n; i++) if (b[i] > 0) a[i] = b[i]; }",
    "two guards": "void f(int *a, int n) { for (int i = 0; i < n; i++) if (i % 2) a[i] = 1; else a[i] = 2; }",
    "strided": "void f(int *a, int n) { for (int i = 0; i < n; i += 3) a[i] = i; }",
    "down": "void f(short *a, int n) { for (int i = n - 1; i >= 0; i--) a[i] = i; }",
    "pointer": "void f(int *p, int n) { while (n-- > 0) *p++ = n; }",
    "overlapping": "void f(int *a, int n) { for (int i = 0; i < n; i++) { a[i] = 1; a[i + 1] = 2; } }",
    "shift left": "void f(int *a, int n) { for (int i = 0; i + 1 < n; i++) a[i] = a[i + 1]; }",
    "shift right": "void f(int *a, int n) { for (int i = n - 1; i > 0; i--) a[i] = a[i - 1]; }",
    "carried": "void f(int *a, int n) { for (int i = 1; i < n; i++) a[i] = a[i - 1]; }",
    "prefix sums": "void f(unsigned *a, int n) { for (int i = 1; i < n; i++) a[i] += a[i - 1]; }",
    "fibonacci": "void f(unsigned *a, int n) { for (int i = 2; i < n; i++) a[i] = a[i - 1] + a[i - 2]; }",
    "three places": "void f(unsigned *a, int n) { for (int i = 0; i + 3 < n; i++) a[i + 3] = a[i]; }",
    "reverse": """void f(int *a, int n) {
        for (int i = 0; i < n / 2; i++) { int t = a[i]; a[i] = a[n - 1 - i]; a[n - 1 - i] = t; } }""",
    "one pass of bubble sort": """void f(int *a, int n) {
        for (int i = 0; i + 1 < n; i++) if (a[i] > a[i + 1]) { int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; } }""",
    "cell": "void f(unsigned *a, const unsigned *b, int n) { for (int i = 0; i < n; i++) { a[0] += b[i]; a[i + 1] = 5; } }",
    "scatter": "void f(int *a, const unsigned char *b, int n) { for (int i = 0; i < n; i++) a[b[i]] = i; }",
    "compaction": """int f(int *b, const int *a, int n) {
        int k = 0; for (int i = 0; i < n; i++) if (a[i] >= 0) b[k++] = a[i]; return k; }""",
    "ring": "void f(char *r, const char *b, unsigned h, int n) { for (int i = 0; i < n; i++) { r[h & 7] = b[i]; h++; } }",
    "histogram": "void f(const unsigned char *b, unsigned *h, int n) { for (int i = 0; i < n; i++) h[b[i]]++; }",
    "counting sort": """void f(unsigned short *o, unsigned short *w, const unsigned char *l, int n) {
        for (int i = 0; i < n; i++) w[o[l[i]]++] = i; }""",
    "structures": """struct P { int x; short y; char c; };
        void f(struct P *p, int n) { for (int i = 0; i < n; i++) { p[i].x = i; p[i].y = -1; p[i].c = p[i].x; } }""",
    "structures copied": """struct P { int x; short y; };
        void f(struct P *a, const struct P *b, int n) { for (int i = 0; i < n; i++) { a[i] = b[i]; a[i].x = i; } }""",
    "structures copied and changed": """struct P { unsigned x; short y; };
        void f(struct P *a, const struct P *b, int n) { for (int i = 0; i < n; i++) { a[i] = b[i]; a[i].x += 2; } }""",
    "cleared and read": """void f(unsigned short *a, unsigned short *o, int n) {
        for (int i = 0; i < n; i++) { __builtin_memset(a + 2 * i, i, 3); o[i] = a[2 * i] + 1; } }""",
    "index in memory": """struct S { int n; unsigned char buf[30]; };
        void f(struct S *s, const unsigned char *b, int n) { for (int i = 0; i < n; i++) s->buf[s->n++] = b[i]; }""",
    "rows filled": "void f(char *a, int n) { for (int i = 0; i < n; i++) __builtin_memset(a + 4 * i, i, 4); }",
    "rows copied": """void f(int *d, const int *s, int n) {
        for (int i = 0; i < n; i++) __builtin_memcpy(d + 8 * i, s + 4 * i, 16); }""",
    "rows": "void f(int *a, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < 5; j++) a[i * 5 + j] = i + j; }",
    "length of rows": """void f(int *a, int n, int m) {
        for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i * m + j] = i + j; }""",
    "triangle": "void f(int *a) { for (int i = 0; i < 5; i++) for (int j = 0; j <= i; j++) a[8 * i + j] = 1; }",
    "changed by every row": """void f(unsigned *a, int n, int m) {
        for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[j] += i; }""",
    "sums of rows": """void f(unsigned *s, const unsigned *a, int n) {
        for (int i = 0; i < n; i++) { s[i] = 0; for (int j = 0; j < 3; j++) s[i] += a[3 * i + j]; } }""",
    "transposed": """void f(int *a, const int *b) {
        for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) a[4 * j + i] = b[4 * i + j]; }""",
    "text": "void f(char *d, const char *s) { while ((*d++ = *s++)) ; }",
    "upper case": "void f(char *s) { while (*s) { if (*s >= 'a' && *s <= 'z') *s -= 32; s++; } }",
    "two writes beside each other": """void f(signed char *a, unsigned char *b, signed char n) {
        for (signed char i = 0; i < n; i += 2) { if (a[i] > a[2 * i + 1]) b[i + 1] = 3; b[i] = i + b[i] + b[i]; } }""",
    "an inner loop with two cases": """void f(unsigned char *a, unsigned char n) {
        for (unsigned char i = 0; i < n && i < 5; i++) for (int j = 0; j < n && j < 4; j++) a[4 * j + i] += i * j; }""",
    "distance in one object": "void f(int *a, int k, int n) { for (int i = 0; i < n; i++) a[i] = a[i + k]; }",
    "two pointers into one": """void f(char *w, int d, int n) {
        char *p = w - d; for (int i = 0; i < n; i++) *w++ = *p++; }""",
    "two bytes at a time from a little before": """void f(unsigned char *a, int d, int n) {
        for (int i = 0; i + 1 < n; i += 2) { a[i + d] = a[i]; a[i + 1 + d] = a[i + 1]; } }""",
    "three elements at a time from behind": """void f(short *a, int d, int n) {
        for (int i = n; i > 2; i -= 3) { a[i] = a[i + d]; a[i - 1] = a[i - 1 + d]; a[i - 2] = a[i - 2 + d]; } }""",
    "three bytes at a time between pointers": """void f(char *w, int d, int n) {
        char *p = w - d; while (n > 2) { *w++ = *p++; *w++ = *p++; *w++ = *p++; n -= 3; } }""",
    "heads and chains": """void f(unsigned short *prev, unsigned short *head, const unsigned char *w, unsigned n) {
        for (unsigned i = 0; i < n; i++) { unsigned h = w[i] & 7; prev[i & 7] = head[h]; head[h] = i; } }""",
    "heads at any byte": """void f(char *p, int at, const unsigned char *w, unsigned n) {
        unsigned short *head = (unsigned short *)(p + at); for (unsigned i = 0; i < n; i++) head[w[i] & 7] = i; }""",
    "places in a table": """struct S { int have; short lens[12]; }; static const unsigned char order[6] = {3, 1, 4, 0, 5, 2};
        void f(struct S *s, short x) { while (s->have < 6 && s->have >= 0) s->lens[order[s->have++]] = x; }""",
    "a counter that wraps on one way": """void f(unsigned char *a, unsigned char i, unsigned char m, unsigned char n) {
        while (n) { n--; i++; if (i <= m) a[i] = n; } }""",
}
REMOVING = {
    "those that are not zero": "int f(int *a, int k, int i, int n) { for (; i < n; i++) if (a[i]) a[k++] = a[i]; return k; }",
    "from the end": """int f(short *a, int k, int i) {
        for (; i >= 0; i--) if (a[i] & 1) a[--k] = a[i]; return k; }""",
    "neighbours": """int f(unsigned char *a, int k, int i, int n) {
        for (; i + 1 < n; i += 2) if (a[i] != a[i + 1]) a[k++] = a[i] + a[i + 1]; return k; }""",
    "repeated ones": "int f(int *a, int k, int i, int n) { for (; i < n; i++) if (a[i] != a[k]) a[++k] = a[i]; return k; }",
    "as many as data says": """int f(unsigned char *a, int k, int i, int n) {
        for (; i < n; i++) { a[k] = a[i]; k += a[i] < 9; } return k; }""",
    "spaces of a text": """int f(char *s, int k, int i) {
        for (; s[i]; i++) if (s[i] != 32) s[k++] = s[i]; return k; }""",
}
# fmt: on


@functools.cache
def answered(source: str) -> tuple[LoopAlone, LoopPaths, LoopSummary]:
    """The outermost loop of a function, alone, and its summary."""
    g = graph(source)
    loop = next(loop for loop in g.loops if loop.parent is None)
    paths, summary = summarized(g, paths_of(g, loop))
    assert isinstance(paths, LoopPaths), paths
    assert isinstance(summary, LoopSummary), summary
    return LoopAlone(g, loop, {path.id: path.condition for path in paths.iterative}), paths, summary


def judged(source: str, summary: LoopSummary) -> Judgement:
    alone, paths, _ = answered(source)
    outputs = {path.id: path.outputs for path in paths.exits}
    claims = Claims(summary, alone.variables, outputs, objects=alone.contents)
    return judge_all(alone, claims, draw_entries(alone, (1, 2, 3, 8), 3, 200), max_steps=400)


@pytest.mark.parametrize("name", WRITING)
def test_elements_behind_a_loop(name: str) -> None:
    _, _, summary = answered(WRITING[name])
    told = [case.contents for case in summary.cases if case.exit.kind == "normal"]
    assert told
    assert None not in told
    layers = [layer for contents in told if contents is not None for rows in contents.values() for layer in rows]
    assert layers
    assert all(layer.value is not None for layer in layers)
    found = judged(WRITING[name], summary)
    assert not found.mismatches, found.mismatches[0]
    assert found.compared > 20
    assert found.memory["changed"] > 5
    assert not found.memory["untold"]


def test_what_is_not_known_is_not_told() -> None:
    """Where elements are written, other elements say that the loop has written."""
    source = "void f(unsigned char *a, int n) { for (int i = 0; i < n; i++) a[a[i] & 7] = i; }"
    _, _, summary = answered(source)
    told = [layers for case in summary.cases for layers in (case.contents or {}).values()]
    assert any(layer.value is None for layers in told for layer in layers)
    found = judged(source, summary)
    assert not found.mismatches, found.mismatches[0]


def test_a_write_that_no_condition_names_is_known_of_its_object_only() -> None:
    source = "void f(int *a, int *b, int n) { for (int i = 0; i < n; i++) { a[i * i * i] = 1; b[i] = 2; } }"
    _, _, summary = answered(source)
    assert all(case.contents is None or "b" in case.contents or not case.contents for case in summary.cases)
    found = judged(source, summary)
    assert not found.mismatches, found.mismatches[0]


def test_one_element_more_is_found_wrong() -> None:
    """The judge refuses what is told once it is changed."""
    source = WRITING["fill"]
    _, _, summary = answered(source)

    def wider(layers: t.Layers) -> t.Layers:
        moved = {t.INDEX: t.INDEX - 1}
        return tuple(
            t.Layer(one.type, one.start, one.stride, t.substitute(one.where, moved), one.value) for one in layers
        )

    cases = tuple(
        replace(case, contents={array: wider(layers) for array, layers in case.contents.items()})
        for case in summary.cases
        if case.contents is not None
    )
    assert judged(source, replace(summary, cases=cases)).mismatches


def test_unknown_values_of_two_iterations_are_not_the_same() -> None:
    """Each iteration reads what others may have written: the difference of two such values is not 0."""
    source = """void f(unsigned char *b, unsigned char *a, int n) {
        unsigned char last = 0, older = 0;
        for (int i = 0; i < n; i++) { b[i] = last - older; older = last; last = a[a[i] & 3]; a[last & 3] = i; } }"""
    _, _, summary = answered(source)
    assert all(case.contents is None or case.contents.get("b") != () for case in summary.cases)
    found = judged(source, summary)
    assert not found.mismatches, found.mismatches[0]


def test_an_element_whose_place_another_one_says_is_not_taken_for_one_place() -> None:
    """What is counted up is another element in each iteration, so its overflow is not one condition."""
    source = "void f(int *b, unsigned char n) { for (unsigned char i = 0; i < n; i++) b[b[i] & 7] += 1; }"
    g = graph(source)
    _, outcome = summarized(g, paths_of(g, g.loops[0]))
    assert isinstance(outcome, Refused)
    assert outcome.reason is Reason.INPUT_DEPENDENT


def test_unknown_values_of_ways_around_an_inner_loop_stay_unknown() -> None:
    source = """void f(int *b, int n) {
        for (int i = 0; i < n && i < 5; i++) { b[i]++; for (int j = 0; j < n && j < 4; j++) { } } }"""
    g = graph(source)
    loop = next(loop for loop in g.loops if loop.parent is None)
    _, outcome = summarized(g, paths_of(g, loop))
    assert isinstance(outcome, Refused)


def test_rows_of_packed_structures_lie_at_no_multiples_of_their_members() -> None:
    """Members of 4 bytes every 6 bytes: no row of elements of 4 bytes has them all."""
    source = """struct __attribute__((packed)) Q { int x; short y; };
        void f(struct Q *a, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) a[3 * i + j].x = j + 9; }"""
    _, _, summary = answered(source)
    found = judged(source, summary)
    assert not found.mismatches, found.mismatches[0]
    assert found.compared > 20
    told = [layers for case in summary.cases for layers in (case.contents or {}).values()]
    assert any(layer.value is None for layers in told for layer in layers)


def test_a_local_array_beside_what_a_pointer_in_memory_leads_to() -> None:
    """Whether the two are one object no condition on pointers decides, so nothing is told, and the search ends."""
    source = """struct S { char *p; int n; };
        int f(struct S *s, int n) {
            char t[10]; int c = 0; for (int i = 0; i < n && i < 10; i++) { t[i] = s->p[i]; c += t[i]; } return c; }"""
    g = graph(source)
    ways = writing_ways(g, g.loops[0])
    assert len(ways) <= 8


def test_a_loop_without_an_iteration() -> None:
    source = (
        "void f(char *a, unsigned char n) { for (unsigned char i = 0; i < n; i++) { if (i % 2 < 3) break; a[i] = 1; } }"
    )
    g = graph(source)
    paths, outcome = summarized(g, paths_of(g, g.loops[0]))
    assert isinstance(paths, LoopPaths)
    assert isinstance(outcome, LoopSummary)
    assert outcome.complete


def test_paths_under_a_condition_are_not_those_of_the_loop() -> None:
    """What the first iterations write is read by later ones, from some entries; each state is in one case."""
    source = """int f(unsigned short *a, int i, int x) {
        int k = 0;
        if (i < 0 || i > 4) return -1;
        for (int j = 0; j < 2; j++) if (a[j] >= x) { a[i + j] = 0; k++; }
        return k; }"""
    g = graph(source)
    found, outcome = summarized(g, paths_of(g, g.loops[0]))
    assert isinstance(found, LoopPaths)
    paths, told = from_entry(g, found, outcome)
    alone = LoopAlone(g, g.loops[0], {path.id: path.condition for path in paths.iterative})
    if isinstance(told, LoopSummary):
        claims = Claims(told, alone.variables, {path.id: path.outputs for path in paths.exits}, objects=alone.contents)
        judgement = judge_all(alone, claims, draw_entries(alone, (0, 1, 2, 3), 3, 300), max_steps=400)
        assert not judgement.mismatches, judgement.mismatches[0]


@pytest.mark.parametrize("name", REMOVING)
def test_elements_that_move_as_far_as_data_says(name: str) -> None:
    """What is read lies in front of all that is written, if that is so at the entry."""
    alone, _, summary = answered(REMOVING[name])
    assert summary.cases
    (k,) = (var for var in alone.variables if var.name == "k")
    ahead = t.disjunction(case.when for case in summary.cases if case.contents and k in case.then)
    assert ahead is not t.FALSE
    found = judged(REMOVING[name], summary)
    assert not found.mismatches, found.mismatches[0]
    assert found.memory["changed"] > 5


@pytest.mark.parametrize("move", ["a[k] = a[i]; k += 2;", "k += a[i] & 7; a[k] = a[i];", "a[k] = a[i]; k -= a[i];"])
def test_where_data_moves_places_too_far_nothing_is_told(move: str) -> None:
    """An iteration may write what a later one reads."""
    g = graph(f"int f(int *a, int k, int i, int n) {{ for (; i < n; i++) if (a[i] > 2) {{ {move} }} return k; }}")
    _, outcome = summarized(g, paths_of(g, g.loops[0]))
    assert isinstance(outcome, Refused)
    assert outcome.reason is Reason.INPUT_DEPENDENT


def test_counts_by_path_are_those_of_the_paths_that_are_given() -> None:
    """What is written divides the paths, and what is read of it is known from some entries only."""
    source = """void f(long long *a, unsigned short *b, int i, int k, int n, unsigned x, long long y) {
        for (; i < n; i++) { if (x > 1) { b[k] = b[i]; k += b[i] & 1; } a[i] = (y >= i ? 200 : i); } }"""
    _, _, summary = answered(source)
    assert any(len(case.per_path) > 2 for case in summary.cases)
    found = judged(source, summary)
    assert not found.mismatches, found.mismatches[0]
    assert found.compared > 20


def test_what_is_carried_is_told_by_elements_of_the_entry() -> None:
    source = """void f(int *a, unsigned char n) {
        if (n > 6) n = 6; for (unsigned char i = 2; i < n; i++) a[i] = a[i - 1] + a[i - 2]; }"""
    g = graph(source)
    paths = paths_of(g, g.loops[0])
    assert isinstance(paths, LoopPaths)
    _, told = with_memory(g, paths, summarize(paths))
    assert isinstance(told, LoopSummary)
    spoken = frozenset[t.Var]().union(*(node.variables for node in nodes_of(told)))
    assert {var.name for var in spoken - {t.INDEX}} <= {"i", "n"}


def test_an_iteration_that_no_path_describes_keeps_no_fact() -> None:
    """What the two inner loops do is not known from every state, so i == 0 is not known to stay."""
    source = """void f(unsigned char *a) {
        for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < 2; k++) a[6*i + 2*j + k] = i + j * k; }"""
    g = graph(source)
    loop = next(loop for loop in g.loops if loop.parent is None)
    first = paths_of(g, loop)
    assert isinstance(first, LoopPaths)
    assert any(path.exit is not None and path.exit.kind == "unknown" for path in first.exits)
    (i,) = (var for var in first.state if var.name == "i")
    assert inductive(first, [i.eq(0)]) == ()
    _, told = from_entry(g, first, summarize(first))
    assert isinstance(told, LoopSummary)
    regions = [case.when for case in told.cases] + [told.diverges, *(part.when for part in told.residual)]
    regions += [part.when for part in told.undefined]
    assert any(t.holds(region, {i: 0}) for region in regions)
