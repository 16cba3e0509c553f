"""What functions read and change, by reasoning; what calls then do to the variables of their callers; and that the judge
notices where a call changes more than is said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopless import terms as t
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph import build
from loopless.flowgraph.memory.cells import Cell
from loopless.flowgraph.memory.mod_ref import NOT_MAIN, ModuleFacts, facts_of
from loopless.flowgraph.memory.places import Base
from loopless.flowgraph.memory.statement_effects import changed_by, changed_in, may_be_one, read_by, written_by
from loopless.flowgraph.model import Call, Flowgraph, Havoc, Load, Origin, Store
from runs_of_text import module, statements

HEAD = """
typedef unsigned long size_t;
struct s { int a, b; struct s *next; int t[4]; };
void stranger(); int input(void); int outside(void *);
void *memcpy(void *, const void *, size_t), *memset(void *, int, size_t);
int scanf(const char *, ...), printf(const char *, ...); long strtol(const char *, char **, int); void exit(int);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
static int hidden, other, shown_to_somebody; int open; static int *kept_pointer; static struct s box;
static const int table[3] = {1, 2, 3};
"""


def facts(text: str) -> ModuleFacts:
    return facts_of(module(HEAD + text, inlined=False))


def named(cell: Cell) -> str:
    """``x``: some of x; ``x+4:4``: four bytes from the fourth on; ``x+4:``: all from there on."""
    name = cell.base.name or cell.base.kind
    if cell.low is None:
        return name
    return f"{name}+{cell.low}:{'' if cell.size is None else cell.size}"


def effects(text: str, function: str = "f") -> tuple[set[str], set[str]]:
    found = facts(text).effects[function]
    # Strings are private constants that nobody asks about.
    return {named(c) for c in found.reads if not c.base.name.startswith(".str")}, {named(c) for c in found.writes}


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("int f(int x) { int y = x; return y; }", set(), set()),
        ("int f(void) { return hidden; }", {"hidden+0:4"}, set()),
        ("void f(int x) { hidden = x; open = x; }", set(), {"hidden+0:4", "open+0:4"}),
        ("void f(struct s *p) { p->b = p->a; }", {"p+0:4"}, {"p+4:4"}),
        ("void f(struct s *p, int i) { p->t[i] = 1; }", set(), {"p+16:"}),
        ("void f(struct s *p) { box.t[2] = p->t[1]; }", {"p+20:4"}, {"box+24:4"}),
        # What is loaded points to an object that is named after the place, or that may be the one it lies in.
        ("void f(struct s *p) { p->next->a = 1; }", {"p+8:8"}, {"outside"}),
        ("void f(void) { *kept_pointer = 1; }", {"kept_pointer+0:8"}, {"global kept_pointer+0+0:4"}),
        ("struct h { long n; int *at; }; void f(struct h *p) { p->at[1] = 1; }", {"p+8:8"}, {"parameter p+8+4:4"}),
        ("struct h { long n; int *at; }; void f(struct h *p, int i) { p->at[i] = 1; }", {"p+8:8"}, {"parameter p+8"}),
        ("struct h { long n; int *at; }; void f(struct h *p, int i) { p[i].at[1] = 1; }", {"p"}, {"outside"}),
        # From callees.
        ("static void g(int *q) { *q = 1; } void f(struct s *p) { g(&p->b); }", set(), {"p+4:4"}),
        ("static void g(int *q) { q[1] = q[0]; } void f(void) { g(&box.t[1]); }", {"box+20:4"}, {"box+24:4"}),
        ("static void g(int *q, int *r) { *q = *r; } void f(int *p) { int x = 1; g(&x, p); }", {"p+0:4"}, set()),
        ("static void g(int *q, int *r) { *q = *r; } void f(int *p) { g(p, &hidden); }", {"hidden+0:4"}, {"p+0:4"}),
        ("static void g(int *q) { *q = 1; } void f(int *p, int c) { g(c ? p : &other); }", set(), {"p+0:4", "other+0:4"}),
        ("static void g(int *q) { *q = 1; } void f(struct s *p) { g(&p->next->a); }", {"p+8:8"}, {"outside"}),
        ("static void g(int *q) { hidden = *q; } static void h(int *q) { g(q); } void f(int *p) { h(p); }",
         {"p+0:4"}, {"hidden+0:4"}),
        # Structures that are passed as copies, as pieces, and returned.
        ("static int g(struct s v) { v.a = 5; return v.b; } int f(struct s *p) { return g(*p); }", {"p+0:32"}, set()),
        ("struct two { int *x; long y; }; static void g(struct two v) { *v.x = 1; }"  # in two registers
         "void f(int *p) { struct two v = {p, 3}; g(v); }", set(), {"p+0:4"}),
        ("struct bits { int x, y; }; static void g(struct bits v) { int *p; memcpy(&p, &v, 8); *p = 1; }"  # as an integer
         "void f(int *p) { struct bits v; memcpy(&v, &p, 8); g(v); }", set(), {"outside"}),
        ("struct three { int *x, *y, *z; }; static void g(struct three v) { *v.y = 1; }"  # as a copy in memory
         "void f(int *p) { struct three v = {p, p, p}; g(v); }", set(), {"outside"}),
        ("static struct s g(int x) { struct s v = {x}; return v; } void f(void) { box = g(1); }", set(), {"box+0:4", "box+4:4", "box+8:8", "box+16:16"}),
        # Blocks, library functions.
        ("void f(struct s *p) { memset(&p->a, 0, 8); }", set(), {"p+0:8"}),
        ("void f(struct s *p, size_t n) { memcpy(p->t, &box.b, n); }", {"box+4:"}, {"p+16:"}),
        ('void f(int *p) { scanf("%d", p + 1); }', {"p+4:"}, {"p+4:"}),
        ('void f(int *p) { printf("%d", *p); }', {"p+0:4"}, set()),
    ],
)  # fmt: skip
def test_places(text: str, reads: set[str], writes: set[str]) -> None:
    found = effects(text)
    assert found == (reads, writes)
    assert not facts(text).effects["f"].strange


def test_recursion_is_a_fixed_point() -> None:
    text = "static void g(struct s *p, int n); static void h(struct s *q, int n) { q->a = n; if (n) g(q, n - 1); }"
    text += "static void g(struct s *p, int n) { hidden += p->b; if (n) h(p, n - 1); } void f(void) { g(&box, 3); }"
    assert effects(text, "g") == ({"hidden+0:4", "p+4:4"}, {"hidden+0:4", "p+0:4"})
    assert effects(text, "h") == ({"hidden+0:4", "q+4:4"}, {"hidden+0:4", "q+0:4"})
    assert effects(text, "f") == ({"hidden+0:4", "box+4:4"}, {"hidden+0:4", "box+0:4"})
    # Each call moves on: the places are no end of places.
    assert effects("static void g(int *p) { *p = 1; if (input()) g(p + 1); } void f(int *a) { g(a); }")[1] == {"a"}
    # A variable of another activation.
    text = "static void g(int *p, int n) { int x = 0; *p = n; if (n) g(&x, n - 1); } void f(void) { g(&hidden, 9); }"
    assert effects(text, "g")[1] == {"p+0:4"} and effects(text)[1] == {"hidden+0:4"}


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        ("void f(int *p) { *p = 1; }", set()),
        ("void f(int *p) { kept_pointer = p; }", {"p"}),
        ("int *f(int *p, int *q) { return p + 1; }", {"p"}),
        ("void f(int *p, int **q) { *q = p; }", {"p"}),
        ("long f(int *p, int *q) { return (long)p + *q; }", {"p"}),
        ("void f(int *p, int *q) { stranger(p); }", {"p"}),
        ('void f(int *p) { printf("%d", *p); scanf("%d", p); }', set()),
        ("static void g(int *q) { kept_pointer = q; } void f(int *p, int *r) { g(p); g(&hidden); }", {"p"}),
        ("static int g(int *q, int n) { return n ? g(q, n - 1) : *q; } void f(int *p) { g(p, 2); }", set()),
        ("void f(char *p, char **e) { strtol(p, e, 10); }", {"p", "e"}),  # its result is as wide as a pointer
        ("void g(int n, ...); void f(int *p) { g(1, p); }", {"p"}),
        ("void f(int *p) { int *x[2]; x[0] = p; stranger(x); }", {"p"}),
    ],
)  # fmt: skip
def test_addresses_that_somebody_may_know_afterwards(text: str, keeps: set[str]) -> None:
    assert facts(text).effects["f"].keeps == keeps


def test_which_globals_pointers_may_point_to() -> None:
    text = """
    static int *of_data = &shown_to_somebody;
    static void plain(int *p) { *p = 1; } static int *back(int *p) { return p; }
    static int given, returned, in_array, through_int; static struct s named;
    void f(void) { hidden = 1; plain(&given); back(&returned); int *a[1] = {&in_array}; stranger(a);
                   open = (int)(long)&through_int; named.a = 2; of_data = 0; }
    """
    found = facts(text)
    assert {"open", "shown_to_somebody", "returned", "in_array", "through_int"} <= found.exposed
    assert found.exposed.isdisjoint({"hidden", "given", "named", "box", "table", "other"})
    assert "given" in found.given and "hidden" not in found.given


def changed(g: Flowgraph, callee: str) -> set[str]:
    """The names of what calls of a function may change, by what is said at them or behind them."""
    calls = [call for call in statements(g, Call) if call.callee == callee]
    assert calls
    at = {var for call in calls for var in call.changes}
    behind = {s.target for s in statements(g, Havoc) if s.origin is Origin.CALL and s.name == callee}
    return {g.variables[var].shown for var in at | behind if g.variables[var].object is not None}


MAIN = "int main(void) { return ((int (*)())f)(); }"
"""Where only ``main`` calls ``f``, code that is not known does not."""


def graph(text: str, *, called_by_main_only: bool = False) -> Flowgraph:
    whole = module(
        HEAD + (text.replace("int f(", "static int f(") + MAIN if called_by_main_only else text), inlined=False
    )
    return build(whole.functions["f"], whole)


@pytest.mark.parametrize(
    ("text", "callee", "names"),
    [
        ("static void g(void) { other = 1; } int f(void) { hidden = 2; g(); return hidden + other; }", "g", {"other"}),
        ("static void g(void) { } int f(int *p) { *p = open = hidden = 2; g(); return *p + open + hidden; }", "g", set()),
        ("static void g(int *p) { *p = 1; } int f(void) { int x = 1, y = 2; g(&x); g(&y); y++; return x + y; }", "g", {"x", "y"}),
        ("static int g(int *p) { return *p; } int f(void) { int x = 1; g(&x); return x; }", "g", set()),
        ("static void g(struct s *p) { p->b = 1; } int f(struct s *p) { p->a = p->b = 2; g(p); return p->a + p->b; }", "g",
         {"p->b"}),
        # Through memory: what others know the address of.
        ("static void g(void) { *kept_pointer = 1; } int f(int *p) { *p = hidden = open = 1; g(); return *p + hidden + open; }",
         "g", set()),
        ("static void k(int *p) { kept_pointer = p; } static void g(void) { *kept_pointer = 1; }"
         'int f(void) { int x = 1, y = 2; k(&x); g(); scanf("%d", &y); return x + y; }', "g", {"x"}),
        ("static void g(void) { *kept_pointer = 1; } void keeps(void) { kept_pointer = &open; }"
         "int f(int *p) { *p = hidden = open = 1; g(); return *p + hidden + open; }", "g", {"open"}),
        ("struct h { long n; int *at; }; static void g(struct h *p) { p->at[1] = 1; p->n--; }"
         "int f(struct h *p) { int *q = p->at; p->n = open = 2; q[1] = q[2] = 3; g(p); return p->n + q[1] + q[2] + open; }", "g",
         {"p->n", "p->at[1]"}),
        ("struct h { long n; int *at; }; static void g(struct h *p) { *p->at = 1; }"
         "int f(struct h *p, int *q) { int x = 1; *q = 2; p->at = q; g(p); return x + *q; }", "g", {"*q"}),
        ("static void g(struct s *p) { p->next->a = 1; } int f(void) { struct s x, y, z; x.next = &y; y.a = z.a = x.a = 1;"
         "g(&x); g(&z); return x.a + y.a + z.a; }", "g", {"y.a"}),
        # Code that is not known.
        ("int f(int *p) { *p = hidden = open = 1; stranger(); return *p + hidden + open; }", "stranger", {"*p", "open"}),
        ("int f(void) { int x = 1, y = 1; stranger(&x); y = hidden = 1; return x + y + hidden; }", "stranger", {"x"}),
        ("int f(void) { hidden = 1; stranger(&hidden); return hidden; }", "stranger", {"hidden"}),
        ("void back(void) { hidden++; } int f(void) { hidden = other = 1; stranger(); return hidden + other; }", "stranger",
         {"hidden"}),
        ("static void back(void) { hidden++; } int f(void) { hidden = other = 1; stranger(back); return hidden + other; }",
         "stranger", {"hidden"}),
        ("static void back(void) { hidden++; } int f(void) { hidden = other = 1; back(); stranger(); return hidden + other; }",
         "stranger", set()),
        ("static int by(const void *x, const void *y) { hidden++; return 0; }"
         "int f(void) { int a[3], n = 3; hidden = other = 1; qsort(a, n, 4, by); return hidden + other + n; }", "qsort", {"hidden"}),
        ("__attribute__((weak)) void g(void) { } int f(void) { open = hidden = 1; g(); return open + hidden; }", "g", {"open"}),
        # Calls through pointers: to those that it may be, else to any.
        ("static void g(void) { other = 1; } static void h(void) { open = 1; } int f(int n) { void (*c)(void) = n ? g : h;"
         "hidden = other = open = n; c(); return hidden + other + open; }", "(pointer)", {"other", "open"}),
        ("static void g(void) { other = 1; } void set(void (**c)(void)) { *c = g; }"
         "int f(void (*c)(void)) { hidden = other = open = 1; c(); return hidden + other + open; }", "(pointer)", {"other", "open"}),
        ('int f(int n) { hidden = open = n; __asm__ volatile("" ::: "memory"); return hidden + open; }', "(asm)", {"open"}),
    ],
)  # fmt: skip
def test_what_calls_change(text: str, callee: str, names: set[str]) -> None:
    assert changed(graph(text, called_by_main_only=True), callee) == names
    # The same, and what others change who call f.
    assert names <= changed(graph(text), callee) <= names | {"hidden", "other"}


def test_unknown_code_may_call_what_it_can_name() -> None:
    text = "int f(void) { hidden = other = 1; stranger(); return hidden + other; }"
    assert changed(graph(text), "stranger") == {"hidden", "other"}
    text = "static void g(void) { other = 2; } void h(void) { g(); } int f(void) { stranger(); return hidden + other; }"
    assert changed(graph(text), "stranger") == {"other"}
    text = text.replace("void h", "static void h")
    assert changed(graph(text), "stranger") == set()
    assert changed(graph(text + "void (*const handed_out)(void) = h;"), "stranger") == {"other"}
    assert changed(graph(text + 'void named(void) __attribute__((alias("h")));'), "stranger") == {"other"}
    assert changed(graph(text.replace("static void h", "__attribute__((used)) static void h")), "stranger") == {"other"}


def test_what_calls_read_stays() -> None:
    """A compound literal has no name that users could ask for: only the call reads it."""
    text = "static int g(int *p) { return *p; } int f(int n) { return g(&(int){n + 1}); }"
    g = graph(text)
    (call,) = statements(g, Call)
    assert len(call.reads) == 1 and not call.changes
    run = Interpreter(module(HEAD + text, inlined=False), g, checked=True).run([4])
    assert run.outcome.return_value == 5


def test_unknown_code_is_taken_not_to_call_main() -> None:
    text = "int f(void) { stranger(); return hidden; }"
    assert NOT_MAIN not in graph(text).assumptions
    assert NOT_MAIN in graph(text + "int main(void) { hidden = 3; return f(); }").assumptions
    taken = text + "int main(void) { hidden = 3; stranger(main); return f(); }"
    assert NOT_MAIN not in graph(taken).assumptions and changed(graph(taken), "stranger") == {"hidden"}


def test_what_calls_change_is_taken_not_to_be_what_parameters_point_to() -> None:
    callee = "static void g(void) { open = 1; } static void h(void) { hidden = 1; }"
    assert graph(callee + "int f(int *p) { *p = 2; g(); return *p; }").assumptions == (
        "p and the globals that calls change do not overlap",
    )
    # Nobody has the address of this one.
    assert graph(callee + "int f(int *p) { *p = 2; h(); return *p; }").assumptions == ()
    text = "static void g(int *p) { *p = 1; } int f(int *p, int *q) { *q = 2; g(p); return *q; }"
    assert graph(text).assumptions == ("p and q do not overlap",)


def test_the_judge_notices_a_call_that_changes_more_than_is_said() -> None:
    text = "static void g(int *p) { if (*p > 2) hidden = *p; } int f(int n) { int x = n; hidden = 1; g(&x); return hidden + x; }"
    whole = module(HEAD + text, inlined=False)
    right = graph(text)

    def came_out(g: Flowgraph, n: int) -> tuple[str, int | None]:
        run = Interpreter(whole, g, checked=True).run([n])
        return run.reason, run.outcome.return_value

    assert changed(right, "g") == {"hidden"}
    assert came_out(right, 2) == ("", 3) and came_out(right, 3) == ("", 6)
    blocks = {
        label: replace(
            block, statements=tuple(replace(s, changes=()) if isinstance(s, Call) else s for s in block.statements)
        )
        for label, block in right.blocks.items()
    }
    wrong = replace(right, blocks=blocks)
    assert came_out(wrong, 2) == ("", 3)  # no run shows it
    reason, value = came_out(wrong, 3)
    assert value is None and "g does not change hidden, which it does" in reason
    run = Interpreter(whole, wrong).run([3])
    assert run.outcome.return_value == 6  # what is said of changes is never what is run


def test_objects_that_calls_do_not_write_keep_what_they_hold() -> None:
    text = "static void g(int *p) { p[1] = hidden; } int f(int *a, int *b, int i) { g(a); return b[i] + a[i]; }"
    g = graph(text)
    numbers = {o.name: o.number for o in g.objects.values()}
    (call,) = statements(g, Call)
    assert call.objects == frozenset({numbers["a"]}) and "b" in numbers
    other = graph(text.replace("p[1]", "*kept_pointer"))
    (call,) = statements(other, Call)
    assert [other.unnumbered[number] for number in call.objects] == ["what kept_pointer points to"]
    assert changed_in(other, other.blocks).anything
    (call,) = statements(graph(text.replace("p[1] = hidden", "stranger()")), Call)
    assert call.objects is None


def test_what_pointers_in_memory_lead_to_is_apart_by_assumption_only() -> None:
    g = graph("int f(int *a, int *b, int i) { a[i] = 1; kept_pointer[i] = 2; stranger(); return b[i]; }")
    numbers = {held.name: number for number, held in g.objects.items()}
    known, stored = statements(g, Store)
    (unknown,) = statements(g, Call)
    assert written_by(known) == frozenset({numbers["a"]})
    (formal,) = written_by(stored) or ()
    assert formal not in (numbers["a"], numbers["b"]) and written_by(unknown) is None
    assert may_be_one(g, numbers["a"], formal) and may_be_one(g, numbers["a"], numbers["b"])

    one = changed_by(g, known)
    assert one.hits(numbers["a"]) and not one.hits(numbers["b"])
    assert one.spares(g, frozenset({numbers["b"]})) and not one.spares(g, frozenset({numbers["a"]}))
    assert not one.spares(g, frozenset({formal})) and not one.spares(g, None)
    for every in (changed_by(g, stored), changed_by(g, unknown), changed_in(g, g.blocks)):
        assert every.hits(numbers["b"]) and not every.spares(g, frozenset({numbers["b"]}))

    (read,) = (statement for statement in statements(g, Load) if statement.address.object == t.const(numbers["b"]))
    nothing = changed_by(g, read)
    assert read_by(read) == frozenset({numbers["b"]}) and written_by(read) == frozenset()
    assert nothing.spares(g, None) and not nothing.hits(numbers["b"])


def test_bases_of_other_kinds_are_outside() -> None:
    assert named(Cell(Base("outside", ""))) == "outside"
    assert Cell(Base("global", "x"), 4, 4).meets(4, 1) and Cell(Base("global", "x"), 4, 4).meets(0, 5)
    assert not Cell(Base("global", "x"), 4, 4).meets(0, 4) and not Cell(Base("global", "x"), 4, 4).meets(8, 4)
    assert Cell(Base("global", "x"), 4).meets(100, 1) and not Cell(Base("global", "x"), 4).meets(0, 4)
    assert Cell(Base("global", "x")).meets(0, 1)


def test_that_what_is_reached_through_memory_is_another_object_is_listed() -> None:
    g = graph("static void g(void) { *kept_pointer = 1; } int f(int *p) { *p = open = 1; g(); return *p + open; }")
    said = [text for text in g.assumptions if "what kept_pointer points to" in text]
    assert any(" p " in f" {text} " for text in said)
    assert any("open" in text or "globals" in text for text in said)
