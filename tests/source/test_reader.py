"""The reader on C as clang compiles it: structure, values, places, against what the C text says."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from loopless.source import ir
from loopless.source.debug import DebugType, DebugVariable
from loopless.source.reader import read_module

BROAD = r"""
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
enum Color { RED, GREEN };
struct Point { int x, y; };
struct S { char tag; unsigned bits : 3; signed more : 5; struct Point p[2]; union { long l; double d; } u; };
typedef int (*op_t)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
op_t table[] = { add, sub, 0 };
struct S whole = { 'a', 5, -3, { { 1, 2 }, { 3, 4 } }, { 7 } };
const char *text = "a\"b\\\n\001\xff";
_Thread_local int mine;
int *inside = &whole.p[1].y;
atomic_int shared;
double ratio = 1.0 / 3;
long double wide = 1.5L;
float tiny = 0x1p-3f;
unsigned long addresses[] = { (unsigned long)&whole, (unsigned long)&whole.u };
extern int outside[], missing(int, ...);
typedef int v4 __attribute__((vector_size(16)));

int sum(int n, ...) {
  va_list ap; int s = 0;
  va_start(ap, n);
  for (int i = 0; i < n; i++) s += va_arg(ap, int);
  va_end(ap);
  return s;
}
int jump(int n) {
  static void *labels[] = { &&one, &&two };
  goto *labels[n & 1];
one: return 1;
two: return 2;
}
int pick(unsigned c) {
  switch (c) { case 0: return 5; case 7: case 9: c++; break; case 4000000000u: return 1; default: c--; }
  return (int)c;
}
struct S by_value(struct S s, bool b, struct Point q) { s.p[b].x += q.y; s.bits++; return s; }
v4 vectors(v4 a, v4 b) { a[1] += 3; return (a > b) * a + __builtin_shufflevector(a, b, 0, 5, 1, 4); }
int asm_(int x) { int y; __asm__ volatile("mov %1, %0" : "=r"(y) : "r"(x) : "memory"); return y; }
int asm_goto(int x) { asm goto("" : : "r"(x) : : away); return 0; away: return 1; }
int atomics(int v) {
  int expected = 3;
  atomic_fetch_add(&shared, v);
  atomic_compare_exchange_strong(&shared, &expected, v);
  atomic_thread_fence(memory_order_seq_cst);
  return atomic_load(&shared) + atomic_exchange(&shared, 4);
}
int calls(op_t f, int n) {
  volatile int v = n; int vla[n]; vla[n - 1] = v;
  return f(vla[0], table[n & 1](v, 2)) + missing(1, 2.5, "x", (char)n) + outside[3];
}
double floats(float f, long double l, int i) { return f < 0 ? -f : (double)(l + i) * 1e300 + (unsigned)f; }
_BitInt(37) odd(_BitInt(37) x) { return x * 3; }
__int128 big(__int128 x) { return x << 70 | 1; }
_Complex double cplx(_Complex double z) { return z * z; }
int overflow(int a, int b, int *r) { return __builtin_add_overflow(a, b, r) || __builtin_expect(a, 0); }
int shadow(int i) { int s = i; { int i = 3; s += i; } { int i = 4; s += i; } return s; }
enum Color color(enum Color c, size_t z) { return c == RED && z ? GREEN : c; }
_Noreturn void stop(void) { for (;;) ; }
int weird(int n) { if (n) { __builtin_unreachable(); } return ({ int q = n; q; }); }
int alias_target(void) { return 1; }
int alias_(void) __attribute__((alias("alias_target")));
"""

CXX = r"""
struct Base { virtual ~Base(); virtual int get() const { return 1; } int b; };
struct Derived : Base { int get() const override { return b; } };
Base::~Base() {}
template <class T> T largest(T a, T b) { return a < b ? b : a; }
int calls(Base &r, int n) {
  try { if (n > 3) throw n; n += r.get(); } catch (int e) { n -= e; } catch (...) { n = 0; }
  Derived d; d.b = n;
  auto f = [&](int k) { return k + n; };
  int three[] = {1, 2, 3};
  for (int x : three) n += f(x);
  static int once = largest(n, 4);
  return once + d.get() + (int)largest(2.0, 3.0);
}
"""


def locals_of(i: ir.Instruction) -> Iterator[ir.Local]:
    values = [*i.operands, *(v for v, _ in i.incoming)]
    if i.callee is not None:
        values.append(i.callee)
    if i.gep is not None:
        values += [i.gep.base, *(v for v, _ in i.gep.steps)]
    return (v for v in values if isinstance(v, ir.Local))


def check_consistent(m: ir.Module) -> None:
    """Every use has a definition of its type, every target a block, every block one terminator, its last."""
    for f in m.defined():
        types = {p.name: p.type for p in f.params}
        labels = [b.label for b in f.blocks]
        assert len(labels) == len(set(labels))
        for i in f.instructions():
            if i.result is not None:
                assert i.result not in types
                types[i.result] = i.type
        for b in f.blocks:
            assert [i.op in ir.TERMINATORS for i in b.instructions] == [False] * (len(b.instructions) - 1) + [True]
            assert set(b.successors) <= set(labels)
            for i in b.instructions:
                assert i.op != "unsupported", i.text
                assert i.variable is not None or i.op not in ("dbg_declare", "dbg_value")
                for v in locals_of(i):
                    assert types[v.name] == v.type, (f.name, v, i.op)
                assert {label for _, label in i.incoming} <= set(labels)
    for g in m.globals.values():
        assert g.type != ir.OpaqueT("unknown"), g.name


def plain(value: object) -> object:
    """All that a module says, as nested tuples, without the numbers of metadata nodes (they depend on the printer)."""
    match value:
        case DebugType():
            return (value.kind, value.description, value.bits, value.signed, value.counts)
        case ir.LoopMark():
            return (plain(value.start), plain(value.end))
        case ir.Instruction() | ir.SourceBlock() | ir.SourceFunction() | ir.GlobalVar() | DebugVariable():
            fields = (f.name for f in dataclasses.fields(value))
            return tuple(plain(getattr(value, n)) for n in fields if n != "key")
        case dict():
            return {k: plain(v) for k, v in value.items()}
        case tuple():
            return tuple(plain(v) for v in value)
        case _:
            return value


def body(f: ir.SourceFunction) -> list[ir.Instruction]:
    return [i for i in f.instructions() if not i.is_debug]


def only(f: ir.SourceFunction, op: str) -> ir.Instruction:
    found = [i for i in f.instructions() if i.op == op]
    assert len(found) == 1, [i.op for i in f.instructions()]
    return found[0]


@pytest.mark.parametrize("data_model", ["ILP32", "LP64", None])
def test_broad_c_is_read_whole(read, data_model):
    text = BROAD
    if data_model == "ILP32":  # what 32-bit clang does not compile
        text = text.replace("__int128 big(__int128 x) { return x << 70 | 1; }", "")
    program = read(text, data_model=data_model)
    check_consistent(program.module)
    check_consistent(program.inlined)


@pytest.mark.parametrize("flag", ["-O1", "-O2"])
def test_optimized_c_is_read_whole(write, flag, tmp_path):
    import subprocess

    from loopless.source.toolchain import environment, zig

    write("t.c", BROAD)
    command = [zig(), "cc", flag, "-g", "-S", "-emit-llvm", "-fno-sanitize=all", "-w", "t.c", "-o", "t.ll"]
    subprocess.run(command, cwd=tmp_path, env=environment(tmp_path / "cache"), check=True)
    m = read_module((tmp_path / "t.ll").read_text(encoding="utf-8"))
    check_consistent(m)
    ops = {i.op for f in m.defined() for i in f.instructions()}
    assert {"phi", "select", "dbg_value", "shufflevector", "callbr", "indirectbr"} <= ops


def test_cxx_is_read_whole(read):
    program = read(CXX, "t.cpp")
    check_consistent(program.module)
    ops = {i.op for f in program.module.defined() for i in f.instructions()}
    assert {"invoke", "landingpad", "extractvalue", "insertvalue", "resume"} <= ops
    f = program.module.functions["_Z5callsR4Basei"]
    assert f.source_name == "calls"
    assert [p.debug.name for p in f.params] == ["r", "n"]
    assert f.params[0].debug.type.description == "struct Base &"
    invoke = next(i for i in f.instructions() if i.op == "invoke")
    assert len(invoke.targets) == 2


def test_our_clang_and_llvm_print_the_same(read):
    from loopless.source.worker import WORKER

    m = read(BROAD).module
    again = read_module(WORKER.link([("t.c", m.text)], 60), {m.functions["sum"].loc.file: m.functions["sum"].loc.file})
    assert list(m.functions) == list(again.functions)
    for name, f in m.functions.items():
        assert plain(f) == plain(again.functions[name]), name
    assert plain(dict(m.globals)) == plain(dict(again.globals))


def test_globals_and_constants(read):
    g = read(BROAD, data_model="LP64").module.globals
    assert g["table"].initializer.elements == (ir.GlobalRef("add"), ir.GlobalRef("sub"), ir.NullPtr())
    assert g["inside"].initializer == ir.AddressOf("whole", 16)  # tag, bits, padding, then p[1].y
    strings = [v.initializer.data for v in g.values() if isinstance(v.initializer, ir.BytesConst)]
    assert b'a"b\\\n\x01\xff\0' in strings
    assert g["mine"].thread_local and g["mine"].initializer == ir.IntConst(32, 0)
    assert g["ratio"].initializer.type == ir.FloatT("double")
    assert float.fromhex("0x1p-3") == float(g["tiny"].initializer.text)
    assert g["wide"].initializer.text.startswith("0xK")
    assert g["outside"].initializer is None
    first, second = g["addresses"].initializer.elements
    assert (first.op, first.operands) == ("ptrtoint", (ir.GlobalRef("whole"),))
    assert (second.op, second.operands) == ("ptrtoint", (ir.AddressOf("whole", 24),))
    assert g["jump.labels"].initializer.elements[0].op == "blockaddress"
    assert g["jump.labels"].debug.name == "labels" and g["jump.labels"].debug.declared.function == "jump"
    assert g["text"].debug.type.description == "const char *"


def test_aliases(read):
    m = read(BROAD).module
    assert m.aliases["alias_"] == ir.GlobalRef("alias_target")


def test_other_names_of_variables_are_the_variables(read):
    """An alias is no object of its own: what is written by one name is read by the other."""
    text = "@z = alias i32, ptr @y\n@x = global i32 0\n@y = alias i32, ptr @x\n@p = global ptr @z\n"
    text += "@i = ifunc void (), ptr @r\ndefine ptr @r() {\n ret ptr null\n}\n"
    m = read(text, "t.ll").module
    assert m.aliases["z"] == m.aliases["y"] == m.globals["p"].initializer == ir.GlobalRef("x")
    assert set(m.globals) == {"x", "p"}
    assert (m.aliases["i"], m.ifuncs) == (ir.GlobalRef("r"), {"i"})


def test_switch(read):
    switch = only(read(BROAD).module.functions["pick"], "switch")
    assert [v for v, _ in switch.cases] == [0, 7, 9, 4000000000 - 2**32]
    assert len(switch.targets) == 5
    assert switch.targets[1:] == tuple(label for _, label in switch.cases)
    assert switch.cases[1][1] == switch.cases[2][1]


def test_arithmetic_flags_and_predicates(read):
    m = read("int f(int a, unsigned b) { return (a + 1 < 5) + (b + 1 < 5u) + (a / 3) + (int)(b >> 1); }").module
    code = {(i.op, i.flags, i.predicate) for i in body(m.functions["f"])}
    assert ("add", frozenset({"nsw"}), None) in code
    assert ("add", frozenset(), None) in code
    assert ("icmp", frozenset(), "slt") in code and ("icmp", frozenset(), "ult") in code
    assert ("sdiv", frozenset(), None) in code and ("lshr", frozenset(), None) in code


def test_addresses_in_bytes(read):
    text = """
    struct P { char c; int v[4][6]; short s; };
    int f(struct P *p, long i, long j) { return p[i].v[2][j]; }
    short g(struct P *p) { return (p + 1)->s; }
    """
    m = read(text, data_model="LP64").module
    base: dict[str, tuple[str, int, dict[str, int]]] = {}
    for i in m.functions["f"].instructions():
        if i.op == "getelementptr":
            name, offset, steps = base.get(i.gep.base.name, (i.gep.base.name, 0, {}))
            steps = steps | {v.name: stride for v, stride in i.gep.steps}
            base[i.result] = (name, offset + i.gep.offset, steps)
    _, offset, steps = list(base.values())[-1]
    assert offset == 4 + 2 * 24
    assert sorted(steps.values()) == [4, 104]
    total = sum(i.gep.offset for i in m.functions["g"].instructions() if i.op == "getelementptr")
    assert total == 104 + 100


def test_accesses(read):
    m = read("volatile int v; short s; void f(void) { v = v + s; }").module
    loads = [i for i in m.functions["f"].instructions() if i.op == "load"]
    assert [(i.access.volatile, i.access.type, i.access.align) for i in loads] == [
        (True, ir.IntT(32), 4),
        (False, ir.IntT(16), 2),
    ]
    atomics = {i.op: i for i in read(BROAD).module.functions["atomics"].instructions() if i.access and i.access.atomic}
    assert atomics["atomicrmw"].predicate in ("add", "xchg")
    assert atomics["cmpxchg"].type == ir.StructT((ir.IntT(32), ir.IntT(1)))
    assert atomics["load"].access.atomic == "seq_cst"


def test_calls(read):
    m = read(BROAD).module
    f = m.functions["calls"]
    missing = next(i for i in f.instructions() if i.callee_name == "missing")
    assert [type(v).__name__ for v in missing.operands] == ["IntConst", "FloatConst", "GlobalRef", "Local"]
    assert missing.type == ir.IntT(32)
    assert "noundef" in missing.arguments[0]
    through = [i for i in f.instructions() if i.op == "call" and i.callee_name is None]
    assert len(through) == 2 and all(isinstance(i.callee, ir.Local) for i in through)
    assert m.functions["sum"].variadic and m.functions["missing"].variadic
    assert m.functions["missing"].is_declaration
    asm = only(m.functions["asm_"], "call")
    assert asm.callee.op == "asm" and "mov" in asm.callee.text
    assert "noreturn" in m.functions["stop"].attributes


def test_parameters(read):
    m = read(BROAD, data_model="LP64").module
    params = m.functions["by_value"].params
    assert params[0].sret is not None and params[1].byval == params[0].sret
    named = {p.debug.name: p for p in params if p.debug is not None and p.debug.arg}
    assert named["s"].debug.arg == 1 and named["b"].debug.arg == 2
    assert named["b"].type == ir.IntT(1) and named["b"].signed is False and named["b"].debug.kind.value == "bool"
    assert "q" not in named  # it is passed as one i64 made of two int
    assert [p.debug.name for p in m.functions["add"].params] == ["a", "b"]
    assert m.functions["color"].params[0].signed is False and m.functions["add"].params[0].signed is True


def test_declarations_have_parameters_without_names(read):
    m = read("unsigned char g(short, char *); int f(void) { return g(1, 0); }").module
    g = m.functions["g"]
    assert [(p.name, p.type) for p in g.params] == [("", ir.IntT(16)), ("", ir.PtrT())]
    assert "signext" in g.params[0].attributes and "zeroext" in g.result_attributes


PLACES = """\
#define TWICE(x) for (int k = 0; k < 2; k++) x++
int f(int n) {
  int s = 0;
  while (n > 0) {
    n--;
    for (int i = 0; i < n; i++)
      s += i;
  }
  do
    s--;
  while (s > 100);
  TWICE(s);
again:
  if (s++ < 5) goto again;
  return s;
}
"""


def test_places_of_loops(read, tmp_path):
    f = read(PLACES).module.functions["f"]
    marks = [b.loop for b in f.blocks if b.loop is not None]
    assert len({m.ident for m in marks}) == 4
    assert sorted((m.start.line, m.start.column) for m in marks) == [(4, 3), (6, 5), (9, 3), (12, 3)]
    assert {m.start.file for m in marks} == {str(tmp_path / "t.c")}
    assert (f.loc.line, f.source_name, f.loc.file) == (2, "f", str(tmp_path / "t.c"))
    compare = next(i for i in f.instructions() if i.op == "icmp")
    assert (compare.loc.line, compare.loc.column, compare.loc.function) == (4, 12, "f")


def test_variables_and_where_they_are_declared(read):
    f = read(BROAD).module.functions["shadow"]
    found = sorted((v.name, v.declared.column, v.arg) for v in f.variables.values())
    line = next(s for s in BROAD.splitlines() if s.startswith("int shadow"))
    columns = [k + 1 for k in range(len(line)) if line.startswith("i", k) and line[:k].endswith("int ")]
    assert found == [
        ("i", columns[0], 1),
        ("i", columns[1], 0),
        ("i", columns[2], 0),
        ("s", line.index("s = i") + 1, 0),
    ]


def test_attributes_that_tell_effects(read):
    text = """
    __attribute__((const)) int c(int); __attribute__((pure)) int p(int); _Noreturn void n(void);
    int f(int x) { if (x > 9) n(); return c(x) + p(x); }
    """
    m = read(text).module
    found = {i.callee_name: i.attributes for i in m.functions["f"].instructions() if i.op == "call"}
    assert "memory(none)" in m.functions["c"].attributes and "memory(none)" in found["c"]
    assert "memory(read)" in m.functions["p"].attributes and "memory(read)" in found["p"]
    assert "noreturn" in m.functions["n"].attributes and "noreturn" in found["n"]
    assert "optnone" not in m.functions["f"].attributes
