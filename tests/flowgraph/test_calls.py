"""Calls: what each kind of function does to the run, to variables and to memory."""

from __future__ import annotations

import pytest

from loopless.flowgraph import Options
from loopless.flowgraph.model import (
    Allocate,
    Assume,
    Call,
    Check,
    Copy,
    Fill,
    Flowgraph,
    Havoc,
    Origin,
    Pointer,
)
from loopless.refusals import Reason
from loopless.terms import ONE, IntType, evaluate
from runs_of_text import came_out, ends, flowgraph, statements

GONE, CONSTANT, OVERLAP = (f"undefined: {kind}" for kind in ("dangling pointer", "const write", "overlap"))
VOCABULARY = """
int __VERIFIER_nondet_int(void); unsigned char __VERIFIER_nondet_uchar(void); _Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int), __VERIFIER_assert(int), reach_error(void), abort(void), exit(int), klee_warning(const char *);
int drawn(void) { return __VERIFIER_nondet_int() * 10 + __VERIFIER_nondet_int(); }
int byte(void) { return __VERIFIER_nondet_uchar(); }
int truth(void) { return __VERIFIER_nondet_bool() + 1; }
int assumed(int n) { __VERIFIER_assume(n > 3); return n; }
int asserted(int n) { __VERIFIER_assert(n > 3); return n; }
int error(int n) { if (n > 3) reach_error(); return n; }
int aborted(int n) { if (n > 3) abort(); return n; }
int exited(int n) { if (n > 3) exit(0); return n; }
int warned(int n) { klee_warning("x"); return n; }
"""


@pytest.mark.parametrize(
    ("call", "inputs", "expected"),
    [
        (("drawn",), [4, 2], 42),
        (("drawn",), [-1, 5], -5),
        (("byte",), [255], 255),
        (("truth",), [1], 2),
        (("assumed", 4), [], 4),
        (("assumed", 3), [], "assumption-failed: an assumption is false"),
        (("asserted", 4), [], 4),
        (("asserted", 3), [], "error-reached"),
        (("error", 3), [], 3),
        (("error", 4), [], "error-reached"),
        (("aborted", 3), [], 3),
        (("aborted", 4), [], "aborted"),
        (("exited", 4), [], "aborted"),
        (("warned", 4), [], 4),
    ],
)
def test_vocabulary(call: tuple, inputs: list[int], expected: int | str) -> None:
    found = came_out(VOCABULARY, *call[1:], function=call[0], nondet=inputs)
    assert found == expected or (isinstance(found, str) and found.split(":")[0] == expected)


def test_inputs_are_of_the_type_that_their_name_says() -> None:
    (byte,) = statements(flowgraph(VOCABULARY, "byte"), Havoc)
    assert (byte.origin, byte.name, byte.target.type) == (Origin.NONDET, "nondet_uchar", IntType(8, signed=False))
    first, _ = statements(flowgraph(VOCABULARY, "drawn"), Havoc)
    assert (first.name, first.target.type, first.refused) == ("nondet_int", IntType(32), None)
    (assume,) = statements(flowgraph(VOCABULARY, "assumed"), Assume)
    assert str(assume.condition) == "n >= 4"
    assert [end.kind for end in ends(flowgraph(VOCABULARY, "aborted"))].count("abort") == 1
    assert [end.kind for end in ends(flowgraph(VOCABULARY, "exited"))].count("exit") == 1


def called(g: Flowgraph, name: str) -> Call:
    (call,) = [call for call in statements(g, Call) if call.callee == name]
    return call


def forgotten(g: Flowgraph) -> set[str]:
    """The variables of the source that take an unknown value at a call."""
    return {
        g.variables[h.target].shown
        for h in statements(g, Havoc)
        if h.origin is Origin.CALL and g.variables[h.target].is_source
    }


STRANGE = "int stranger(), g, h; static const int k = 3; extern const int e;\n"


@pytest.mark.parametrize(
    ("body", "lost"),
    [
        ("g = n; stranger(); return g;", {"g"}),
        ("int x = n; stranger(); return x;", set()),
        ("int x = n, y = n; stranger(&x); return x + y;", {"x"}),
        ("int x = n, *p = &x; stranger(&p); return x;", {"x", "p", "p.object"}),
        ("g = n; stranger(); h = n; return k;", {"g", "h"}),
        ("int x = e; stranger(); return x + e;", set()),
        ("*q = n; stranger(); return *q;", {"*q"}),
        ("*q = n; stranger(n); return *q + g;", {"*q", "g"}),
        ("int x; stranger(n + x); return n;", set()),
    ],
)
def test_a_function_that_is_not_defined_may_change_what_it_can_reach(body: str, lost: set[str]) -> None:
    g = flowgraph(f"{STRANGE}int f(int n, int *q) {{ {body} }}")
    assert forgotten(g) == lost
    call = called(g, "stranger")
    assert call.writes_memory and call.refused is None
    reasons = {h.refused.reason for h in statements(g, Havoc) if h.origin is Origin.CALL and h.refused is not None}
    assert reasons <= {Reason.UNKNOWN_CALL} and (reasons or not lost)


def test_a_pointer_that_a_call_may_change_need_not_point_where_it_did() -> None:
    text = "void stranger(int **); int f(int n) { int x = n, *p = &x; CALL return p == &x; }"
    (end,) = ends(flowgraph(text.replace("CALL", "")))
    assert end.value is ONE
    g = flowgraph(text.replace("CALL", "stranger(&p);"))
    (end,) = ends(g)
    assert {"p", "p.object"} == {g.variables[var].shown for var in end.value.variables}


def test_the_result_of_a_function_that_is_not_defined_is_unknown() -> None:
    g = flowgraph("int stranger(int); char *other(void); int f(int n) { return stranger(n + 1) + *other(); }")
    call, pointer = called(g, "stranger"), called(g, "other")
    assert [str(argument) for argument in call.arguments] == ["n + 1"]
    unknown = {h.target: h for h in statements(g, Havoc)}
    assert unknown[call.target].refused.reason is Reason.UNKNOWN_CALL
    assert "stranger is not defined in the program" in unknown[call.target].refused.detail
    assert pointer.target in unknown and pointer.target_object in unknown


def test_calls_through_pointers_and_assembly_are_not_followed() -> None:
    g = flowgraph("int g; int f(int (*h)(int), int n) { g = 1; return h(n) + g; }")
    assert forgotten(g) == {"g"}
    (why,) = {h.refused for h in statements(g, Havoc) if h.target.name == "g"}
    assert (why.reason, why.detail) == (Reason.UNKNOWN_CALL, "a call through a pointer may do anything")
    g = flowgraph('int g; int f(int n) { g = 1; __asm__ volatile("" : "+r"(n)); return n + g; }')
    assert forgotten(g) >= {"g"}
    assert called(g, "(asm)").refused.reason is Reason.INLINE_ASM


def test_library_functions_change_what_their_effects_say() -> None:
    head = (
        "int puts(const char *), atoi(const char *), rand(void), abs(int), g; char *strncat(char *, const char *, unsigned long);"
        "int sprintf(char *, const char *, ...); unsigned long strlen(const char *);\n"
    )
    for body, writes, lost in [
        ('g = n; puts("x"); return g;', False, set()),
        ("g = n; return g + rand() + abs(n);", False, set()),
        ("g = n; return atoi(s) + g;", False, set()),
        ("g = n; *s = n; strncat(s, s + 1, 1); return g + *s;", True, {"*s"}),
        ("char t[4]; t[0] = n; t[1] = n; strncat(t + 1, s, 2); return t[0] + t[1];", True, {"t[1]"}),
    ]:
        g = flowgraph(f"{head}int f(int n, char *s) {{ {body} }}")
        assert forgotten(g) == lost, body
        assert {call.writes_memory for call in statements(g, Call)} == {writes}
        assert not writes or "g = n" not in body or "g and s do not overlap" in g.assumptions


def test_defined_functions_that_are_not_inlined() -> None:
    text = "int g; __attribute__((noinline)) static int up(int n) { g += n; return n ? up(n - 1) + 1 : 0; } int f(int n) { return up(n) + g; }"
    g = flowgraph(text)
    call = called(g, "up")
    assert call.writes_memory and g.callees == {"up"}
    assert call.refused.reason is Reason.RECURSION and "up, which can call itself again" in call.refused.detail
    assert [g.variables[var].shown for var in call.changes] == ["g"] == [g.variables[var].shown for var in call.reads]
    assert came_out(text, 3) == 3 + 6


@pytest.mark.parametrize(
    ("text", "reason", "detail"),
    [
        ("_Noreturn void away(void); int f(int n) { if (n > 3) away(); return n; }", Reason.UNKNOWN_CALL, "away does not return"),
        ("void longjmp(void *, int); int f(int n) { if (n > 3) longjmp(&n, 1); return n; }", Reason.UNKNOWN_CALL,
         "longjmp does not return"),
        ("_Noreturn static void away(int n) { while (n) away(n - 1); for (;;) ; } int f(int n) { if (n > 3) away(n); return n; }",
         Reason.UNKNOWN_CALL, "away does not return"),
        ("\ndeclare void @__cxa_throw(ptr, ptr, ptr) noreturn\ndefine i32 @f(i32 %n) {\n  %c = icmp sgt i32 %n, 3\n"
         "  br i1 %c, label %t, label %e\nt:\n  call void @__cxa_throw(ptr null, ptr null, ptr null)\n  unreachable\n"
         "e:\n  ret i32 %n\n}", Reason.EXCEPTION, "an exception is thrown"),
    ],
)  # fmt: skip
def test_calls_that_do_not_come_back(text: str, reason: Reason, detail: str) -> None:
    (end,) = [end for end in ends(flowgraph(text)) if end.kind == "unsupported"]
    assert end.refused is not None and end.refused.reason is reason and detail in end.refused.detail
    assert came_out(text, 3) == 3
    found = came_out(text, 4)
    assert isinstance(found, str) and found.split(":")[0] in ("unknown", "diverges")


def test_allocations() -> None:
    head = "void *malloc(unsigned long), *calloc(unsigned long, unsigned long), *valloc(unsigned long);\n"
    (made,) = statements(
        flowgraph(head + "int f(int n) { int *p = malloc(4 * (n & 7)); *p = n; return *p; }"), Allocate
    )
    assert str(made.size) == "4*mod(n, 8)" and not made.zeroed
    (made,) = statements(flowgraph(head + "int f(int n) { int *p = calloc(n & 7, 4); return *p; }"), Allocate)
    assert str(made.size) == "4*mod(n, 8)" and made.zeroed
    assert came_out(head + "int f(int n) { int *p = calloc(3, 4); return p[n] + 1; }", 2) == 1
    found = came_out(head + "int f(int n) { int *p = calloc(3, 4); return p[n] + 1; }", 3)
    assert found == "undefined: bounds"
    g = flowgraph(head + "int f(int n) { int *p = valloc(n); return *p; }")
    (unknown,) = [h for h in statements(g, Havoc) if h.origin is Origin.MEMORY]
    assert unknown.refused.reason is Reason.MEMORY and "valloc" in unknown.refused.detail


BLOCKS = """
void *memset(void *, int, unsigned long), *memcpy(void *, const void *, unsigned long), *memmove(void *, const void *, unsigned long);
char *strcpy(char *, const char *), *strncpy(char *, const char *, unsigned long); char *fgets(char *, int, void *);
static const char fixed[8] = "abc";
int set(int b, int i) { unsigned char a[4] = {9, 9, 9, 9}; memset(a + 1, b, 2); return a[i]; }
int copy(int k, int i) { char a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}; memcpy(a + 1, b, k); return a[i]; }
int within(int to, int at, int k) { char a[8] = {1, 2, 3, 4, 5, 6, 7, 8}; memcpy(a + to, a + at, k); return a[to]; }
int move(int to, int at, int k) { char a[8] = {1, 2, 3, 4, 5, 6, 7, 8}; memmove(a + to, a + at, k); return a[to + k - 1]; }
int to_constant(int k) { memset((char *)fixed, 0, k); return fixed[0]; }
int text_to_constant(int k) { strncpy((char *)fixed, "x", k); return k; }
int whole_text_to_constant(int n) { if (n) strcpy((char *)fixed, "x"); return n; }
int perhaps_to_constant(int n) { if (n) fgets((char *)fixed, n, 0); return n; }
struct wide { int a[20]; };
int itself(int n) { struct wide x = {{n}}, *p = &x; *p = x; return x.a[0]; }
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("set", 7, 0), 9), (("set", 7, 1), 7), (("set", 7, 2), 7), (("set", 7, 3), 9), (("set", -1, 1), 255),
        (("set", 300, 2), 44),
        (("copy", 3, 3), 7), (("copy", 2, 3), 4), (("copy", 0, 1), 2),
        (("within", 4, 0, 4), 1), (("within", 0, 4, 4), 5), (("within", 2, 0, 3), OVERLAP), (("within", 0, 2, 3), OVERLAP),
        (("within", 3, 3, 4), 4), (("within", 2, 0, 0), 3), (("within", 2, 0, 2), 1),
        (("move", 2, 0, 3), 3), (("move", 0, 2, 4), 6),
        (("to_constant", 0), ord("a")), (("to_constant", 1), CONSTANT),
        (("text_to_constant", 0), 0), (("text_to_constant", 2), CONSTANT),
        (("whole_text_to_constant", 0), 0), (("whole_text_to_constant", 1), CONSTANT),
        (("itself", 5), 5),
    ],
)  # fmt: skip
def test_blocks(call: tuple, expected: int | str) -> None:
    found = came_out(BLOCKS, *call[1:], function=call[0])
    if call == ("text_to_constant", 0):  # strncpy itself is not interpreted
        assert found in (0, expected) or str(found).startswith("unknown")
    else:
        assert found == expected


def test_what_blocks_become() -> None:
    assert not statements(
        flowgraph(BLOCKS, "to_constant"), Fill
    )  # no run that is defined gets there with a length above 0
    fill = statements(flowgraph(BLOCKS, "set"), Fill)[-1]
    assert isinstance(fill.address, Pointer) and str(fill.length) == "2" and str(fill.address.offset) == "1"
    (b,) = fill.byte.variables
    assert [evaluate(fill.byte, {b: value}) for value in (-1, 300, 7)] == [255, 44, 7]
    copies = statements(flowgraph(BLOCKS, "within"), Copy)
    assert copies and not any(copy.apart for copy in copies)
    assert [c.kind for c in statements(flowgraph(BLOCKS, "within"), Check)].count("overlap") == 1
    assert "overlap" not in [c.kind for c in statements(flowgraph(BLOCKS, "move"), Check)]
    g = flowgraph(
        "void *memcpy(void *, const void *, unsigned long); void f(char **p, char **q) { memcpy(*p, *q, 4); }"
    )
    assert [copy.apart for copy in statements(g, Copy)] == [True]
    assert "const-write" not in [c.kind for c in statements(flowgraph(BLOCKS, "perhaps_to_constant"), Check)]


def test_library_functions_use_only_what_lives() -> None:
    text = (
        'int puts(const char *); int f(int n) { char *p = "x"; if (n) { char x[2] = "y"; p = x; } puts(p); return n; }'
    )
    assert came_out(text, 0) == 0
    assert came_out(text, 1) == GONE


INTRINSICS = """
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.smax.i32(i32, i32)
declare void @llvm.trap()
declare void @llvm.assume(i1)
define i32 @count(i32 %n) {
  %r = call i32 @llvm.ctpop.i32(i32 %n)
  ret i32 %r
}
define i32 @most(i32 %n) {
  %r = call i32 @llvm.smax.i32(i32 %n, i32 3)
  ret i32 %r
}
define i32 @trapped(i32 %n) {
  call void @llvm.trap()
  ret i32 %n
}
"""


def test_intrinsics() -> None:
    assert (came_out(INTRINSICS, 9, function="most"), came_out(INTRINSICS, -9, function="most")) == (9, 3)
    assert came_out(INTRINSICS, 9, function="trapped").startswith("aborted")
    (unknown,) = statements(flowgraph(INTRINSICS, "count"), Havoc)
    assert unknown.refused.reason is Reason.UNSUPPORTED_INSTRUCTION and "llvm.ctpop.i32" in unknown.refused.detail


@pytest.mark.parametrize("kind", ["int", "unsigned"])
def test_results_over_the_integers_are_read_as_they_are_declared(kind: str) -> None:
    text = f"__attribute__((noinline)) static {kind} own({kind} n) {{ return n ? own(n - 1) : 7; }} int f(void) {{ return own(1) == 7; }}"
    types = [Options(), Options(mathematical=True)]
    machine, mathematical = (called(flowgraph(text, options=options), "own").target.type for options in types)
    assert machine.width == 32 and mathematical.width == (None if kind == "int" else 32)


def test_arguments_are_terms_and_pointers() -> None:
    g = flowgraph(
        "int stranger(int, const char *, double); int f(int n, char *p) { return stranger(n, p + 2, n * 0.5); }"
    )
    number, pointer, float_ = called(g, "stranger").arguments
    assert str(number) == "n"
    assert isinstance(pointer, Pointer) and str(pointer.offset) in ("p + 2", "2")
    (why,) = [h.refused for h in statements(g, Havoc) if h.target is float_]
    assert why.reason is Reason.FLOAT


READING = """
#include <stdio.h>
#include <unistd.h>
extern int look(const int *) __attribute__((pure));
static int limit;
void set(int x) { limit = x; }
static int deep(int *p, int k) { return k <= 0 ? 0 : look(p) / 2 + deep(p, k / 2); }
int seen(int n) { int c = 7, i = 0; while (i < n) { look(&c); c = i; i++; } return i + c; }
int sent(int n) { int c = 7, i = 0; while (i < n) { write(1, &c, 1); c = i; i++; } return i + c; }
int past(int n) { int i = 0; limit = n; while (i < limit) { int x = i; deep(&x, 3); i++; } return i; }
"""


@pytest.mark.parametrize("name", ["seen", "sent", "past"])
def test_what_a_call_only_reads_stays_a_variable(name: str) -> None:
    """Its address was given away, to somebody who does not write, nor keeps it; nor does who calls such functions."""
    graph = flowgraph(READING, name)
    shown = {info.shown for var, info in graph.variables.items() if info.is_source}
    assert {"seen": {"c", "i", "n"}, "sent": {"c", "i", "n"}, "past": {"i", "n", "limit"}}[name] <= shown
    assert not [s for s in statements(graph, Havoc) if graph.variables[s.target].is_source]
    calls = [call for call in statements(graph, Call) if call.callee in ("look", "write", "deep")]
    assert calls and not any(graph.variables[v].is_source for call in calls for v in call.changes)
    if name != "past":  # it reads what the variable holds at that time
        assert [graph.variables[v].shown for call in calls for v in call.reads] == ["c"]


def test_a_format_may_write() -> None:
    """``%n`` stores how much was written; ``%%n`` does not."""
    text = """
    #include <stdio.h>
    int counts(void) { int k = 5; printf("abc%n", &k); return k; }
    int shows(void) { int k = 5; printf("abc%%n %p", (void *)&k); return k; }
    int given(const char *format) { int k = 5; printf(format, &k); return k; }
    static char held[] = "abc %p";
    int mutable(void) { int k = 5; printf(held, &k); return k; }
    int plain(const char *format) { int k = 5; printf(format, k); return k; }
    """
    changed = {
        name: [s for s in statements(flowgraph(text, name), Havoc) if s.origin is Origin.CALL and s.target.name == "k"]
        for name in ("counts", "shows", "given", "mutable", "plain")
    }
    assert changed["counts"] and not changed["shows"]
    assert changed["given"] and changed["mutable"]  # what they hold is not known
    assert not changed["plain"]  # there is nowhere to write to
