"""Which functions are inlined, and that inlining changes nothing else."""

from __future__ import annotations

import ctypes

import pytest

from loopless.graphs import components
from loopless.limits.source import MAX_INLINED_LEAF, MAX_INLINED_SIZE, SMALL_MODULE_SIZE
from loopless.source import SourceOptions, ir
from loopless.source.inlining import choose, recursive_functions
from loopless.source.jit import Jit
from loopless.source.program import load
from loopless.source.vocabulary import (
    LIBRARY,
    VOCABULARY,
    LibraryEffect,
    Meaning,
    effect_of,
    library_function,
    meaning_of,
    nondet_signed,
)


def callees(f: ir.SourceFunction) -> set[str]:
    return {i.callee_name for i in f.instructions() if i.callee_name and not i.callee_name.startswith("llvm.")}


def test_small_functions_are_inlined_into_all_callers(read):
    text = """
    static void inc(int *p) { *p += 1; }
    static int twice(int x) { inc(&x); inc(&x); return x; }
    int f(int n) { int s = 0; for (int i = 0; i < n; inc(&i)) s = twice(s); return s; }
    """
    program = read(text)
    assert callees(program.module.functions["f"]) == {"inc", "twice"}
    assert callees(program.inlined.functions["f"]) == set()
    assert callees(program.inlined.functions["twice"]) == set()
    assert [f.name for f in program.inlined.defined()] == [f.name for f in program.module.defined()]
    assert program.inlined.functions["inc"].linkage == "internal"
    lifetimes = [i.callee_name for i in program.inlined.functions["f"].instructions() if i.op == "call"]
    assert "llvm.lifetime.start.p0" in lifetimes and "llvm.lifetime.end.p0" in lifetimes


def test_inlined_code_knows_where_it_comes_from(read):
    text = "static int one(int x) {\n  return x\n    + 1;\n}\nint f(int n) {\n  return one(n);\n}\n"
    f = read(text).inlined.functions["f"]
    add = next(i for i in f.instructions() if i.op == "add")
    assert (add.loc.line, add.loc.function) == (3, "one")
    assert (add.loc.inlined_at.line, add.loc.inlined_at.column, add.loc.inlined_at.function) == (6, 10, "f")
    names = {(v.name, v.declared.inlined_at is not None) for v in f.variables.values()}
    assert names == {("n", False), ("x", True)}
    assert [p.debug.name for p in f.params] == ["n"]


def test_inlined_loops_keep_a_mark_of_their_own(read):
    text = """static int count(int n) {
  int c = 0;
  while (n > 0) { n /= 2; c++; }
  return c;
}
int f(int a) { return count(a) + count(a + 1); }
"""
    f = read(text).inlined.functions["f"]
    marks = [b.loop for b in f.blocks if b.loop is not None]
    assert len({m.ident for m in marks}) == 2
    assert {(m.start.line, m.start.column) for m in marks} == {(3, 3)}
    assert sorted(m.start.inlined_at.column for m in marks) == [23, 34]


def test_names_with_a_meaning_are_never_inlined(read):
    text = """
    void abort(void);
    void reach_error(void) { }
    void assume_abort_if_not(int c) { if (!c) abort(); }
    void __VERIFIER_assert(int c) { if (!c) { reach_error(); abort(); } }
    int __VERIFIER_nondet_int(void) { return 4; }
    int klee_something(int x) { return x; }
    void klee_silent_exit(int s) { for (;;) ; }
    int helper(int x) { __VERIFIER_assert(x); return x; }
    int main(void) {
      int x = __VERIFIER_nondet_int(); assume_abort_if_not(x > klee_something(2)); if (x == 9) klee_silent_exit(1);
      return helper(x);
    }
    int again(void) { return main(); }
    """
    program = read(text)
    assert callees(program.inlined.functions["main"]) == {
        "__VERIFIER_nondet_int",
        "assume_abort_if_not",
        "klee_something",
        "klee_silent_exit",
        "__VERIFIER_assert",
    }
    assert callees(program.inlined.functions["__VERIFIER_assert"]) == {"reach_error", "abort"}
    assert callees(program.inlined.functions["again"]) == {"main"}


def test_an_assert_of_the_program_is_what_its_body_says(read):
    text = "void abort(void); void assert(int c) { if (!c) abort(); } int f(int x) { assert(x); return x; }"
    assert callees(read(text).inlined.functions["f"]) == {"abort"}
    assert meaning_of("assert") is Meaning.ASSERT and meaning_of("assert", defined=True) is None


def test_recursion_is_not_inlined(read):
    text = """
    int self(int n) { return n ? self(n - 1) : 0; }
    int odd(int n);
    int even(int n) { return n ? odd(n - 1) : 1; }
    int odd(int n) { return n ? even(n - 1) : 0; }
    int leaf(int n) { return n + 1; }
    int f(int n) { return self(n) + even(leaf(n)); }
    """
    program = read(text)
    assert callees(program.inlined.functions["f"]) == {"self", "even"}
    assert recursive_functions(program.module) == {"self", "even", "odd"}


def test_what_cannot_or_must_not_be_inlined(read):
    big = "x = x * 3 + 1;" * (MAX_INLINED_SIZE // 4)
    text = f"""
    #include <setjmp.h>
    #include <stdarg.h>
    jmp_buf env;
    static int big(int x) {{ {big} return x; }}
    static int many(int n, ...) {{ va_list a; va_start(a, n); n = va_arg(a, int); va_end(a); return n; }}
    static int jumps(int x) {{ return setjmp(env) ? 1 : x; }}
    static int labels(int x) {{ static void *t[] = {{ &&a, &&b }}; goto *t[x]; a: return 1; b: return 2; }}
    static __attribute__((weak)) int other(int x);
    int other(int x) {{ return x; }}
    int f(int x, int (*p)(int)) {{ return big(x) + many(1, x) + jumps(x) + labels(x & 1) + p(x); }}
    """.replace("static __attribute__((weak)) int other(int x);", "__attribute__((weak)) int other(int x);")
    program = read(text)
    assert choose(program.module) == ()
    assert program.inlined is program.module


def test_growth_is_bounded(read):
    levels = "".join(f"static int g{k}(int x) {{ return g{k - 1}(x) + g{k - 1}(x + {k}); }}\n" for k in range(1, 40))
    program = read("static int g0(int x) { return x; }\n" + levels + "int f(int x) { return g39(x); }")
    sizes = {f.name: sum(1 for _ in f.instructions()) for f in program.inlined.defined()}
    assert callees(program.inlined.functions["g2"]) == set()
    assert callees(program.inlined.functions["f"])
    assert max(sizes.values()) < 3 * MAX_INLINED_SIZE


def test_without_inlining(read):
    program = read("static int g(int x) { return x; } int f(int x) { return g(x); }", inline=False)
    assert program.inlined is program.module


def test_inlined_code_computes_the_same(read):
    text = """
    struct P { int x, y; };
    static struct P swap(struct P p) { struct P q = { p.y, p.x }; return q; }
    static int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
    static void fill(int *a, int n, int v) { while (n-- > 0) a[n] = v + n; }
    int f(int n) { int a[n]; fill(a, n, 7); struct P p = { sum(a, n), n }; p = swap(p); return p.x * 1000 + p.y; }
    """
    program = read(text)
    assert callees(program.inlined.functions["f"]) == set()
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    engines = [Jit(m.text) for m in (program.module, program.inlined)]
    for n in (1, 5, 30):
        a = sum(7 + k for k in range(n))
        assert [prototype(e.address("f"))(n) for e in engines] == [n * 1000 + a] * 2


def test_components_come_callees_first():
    graph = {"a": ["b", "c"], "b": ["d"], "c": ["d", "a"], "d": ["d"], "e": []}
    found = [frozenset(c) for c in components(graph)]
    assert found.index({"d"}) < found.index({"b"}) < found.index({"a", "c"})
    assert len(found) == 4
    deep = {str(k): [str(k + 1)] for k in range(5000)} | {"5000": []}
    assert len(components(deep)) == 5001


def test_meanings():
    assert meaning_of("__VERIFIER_nondet_anything") is Meaning.NONDET
    assert meaning_of("reach_error", defined=True) is Meaning.ERROR
    assert meaning_of("exit") is Meaning.EXIT and meaning_of("exit", defined=True) is None
    assert meaning_of("nondet_int") is Meaning.NONDET and meaning_of("nondet_int", defined=True) is None
    assert meaning_of("reach_errors") is None and meaning_of("f") is None
    assert set(VOCABULARY.values()) == set(Meaning)


@pytest.mark.parametrize(
    ("name", "signed"),
    [("int", True), ("uint", False), ("bool", False), ("ulong", False), ("size_t", False), ("float", None)],
)
def test_signs_of_inputs(name, signed):
    assert nondet_signed(f"__VERIFIER_nondet_{name}") is signed


def test_effects():
    assert effect_of("printf") is LibraryEffect.READS and library_function("printf").prints
    assert effect_of("memset") is LibraryEffect.WRITES and library_function("memset").writes == (0,)
    assert effect_of("strtol") is LibraryEffect.WRITES and library_function("strtol").writes == (1,)
    assert library_function("__isoc23_strtol") == library_function("strtol") == library_function("\x01_strtol")
    assert library_function("__isoc99_sscanf").writes == (2, -1) and library_function("scanf").writes == (1, -1)
    assert effect_of("abs") is LibraryEffect.NONE and library_function("abs").pure
    assert effect_of("rand") is LibraryEffect.NONE and not library_function("rand").pure
    assert effect_of("malloc") is LibraryEffect.ALLOCATES and effect_of("free") is LibraryEffect.FREES
    assert effect_of("realloc") is LibraryEffect.MOVES
    assert effect_of("qsort") is None and effect_of("my_own") is None
    assert all(f.writes for f in LIBRARY.values() if f.effect is LibraryEffect.WRITES)
    assert not any(f.writes for f in LIBRARY.values() if f.effect is not LibraryEffect.WRITES)


def test_options_are_kept(read):
    assert read("int x;", timeout_s=9.0).options == SourceOptions(timeout_s=9.0)


def test_in_large_modules_leaves_are_inlined_only(read):
    def one(name: str, additions: int) -> str:
        return f"static int {name}(int x) {{ return x{' + x * 3' * additions}; }}\n"

    code = one("leaf", 3) + one("middle", 30) + "int f(int n) { return leaf(n) + middle(n); }\n"
    assert callees(read(code).inlined.functions["f"]) == set()
    padding = "".join(f"int g{k}(int x) {{ return x{' + x * 3' * 60}; }}\n" for k in range(SMALL_MODULE_SIZE // 100))
    program = read(code + padding)
    assert sum(len(list(f.instructions())) for f in program.module.defined()) > SMALL_MODULE_SIZE
    assert (
        MAX_INLINED_LEAF
        < sum(not i.is_debug for i in program.module.functions["middle"].instructions())
        < MAX_INLINED_SIZE
    )
    assert callees(program.inlined.functions["f"]) == {"middle"}


def test_quotients_that_functions_return_are_quotients_in_their_callers(tmp_path):
    """In C++ results are ``noundef``: of that the inliner tells what takes the quotient's place while it works."""
    file = tmp_path / "case.cpp"
    file.write_text(
        "static int quotient(int a, int b) { return a / b; }\n"
        "static long distance(long *a, long *b) { return b - a; }\n"
        "long f(int n, long *p) { long s = 0; for (int i = 1; i < n; i++) s += quotient(n, i) + distance(p, p + i); return s; }\n",
        encoding="utf-8",
    )
    inlined = load([file]).inlined.functions
    (f,) = (function for function in inlined.values() if function.source_name.startswith("f"))
    assert callees(f) == set()
    assert {"sdiv"} <= {i.op for i in f.instructions()}
