"""Results as terms: each keeps the value that it had where it was computed, whatever changes behind it."""

from __future__ import annotations

import pytest

from loopless.flowgraph.memory.objects import Options, Slot, describe_memory
from loopless.flowgraph.memory.places import Base
from loopless.flowgraph.model import Assign, Block, Check, End, Havoc, Origin
from loopless.flowgraph.translate import Translator
from loopless.flowgraph.uses import find_uses
from loopless.flowgraph.values import FLAG_TYPE, Address, Flag, Number, UnfollowedValue, flag_of
from loopless.refusals import Reason, Refused
from loopless.source import ir
from loopless.terms import FALSE, INTEGERS, TRUE, ZERO, IntType, Var, add, const, less, negate, scale
from runs_of_text import came_out, module

I32 = IntType(32)
X, Y = Var("x", I32), Var("y", I32)
IN_C = """
int global;
int after(int n) { return n++ * 10 + 1; }
int both(int n) { int old = n++ + 3; return old * 100 + n; }
int exchanged(int a, int b) { int t = a; a = b; b = t; return a * 100 + b; }
int rotated(int n) { int a = 1, b = 2, c = 3; while (n-- > 0) { int t = a; a = b; b = c; c = t; } return a * 100 + b * 10 + c; }
int chosen(int n) { int k = n; return (n > 3 ? n++ : (n += 2)) * 10 + n - k; }
int compared(int n) { int less = n < 5; n = 9; return less * 10 + n; }
int both_sides(int n) { return n > 0 && n++ < 5 ? n : -n; }
int memory(int n) { int a[2] = {n, 1}; int t = a[n & 1]; a[0] = 7; a[1] = 8; return t * 10 + a[0]; }
static int bump(void) { return global++; }
int called(int n) { global = n; int first = bump(), second = bump(); return first * 100 + second * 10 + global; }
int moved(int n) { int a[3] = {1, 2, 3}, *p = a; int t = *p++; return t * 10 + *p + n; }
int by_switch(int n) { int k = n; switch (n++) { case 1: k += n; break; case 2: k -= n; break; default: k = 50; } return k; }
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("after", 4), 41), (("both", 4), 705), (("exchanged", 3, 8), 803),
        (("rotated", 0), 123), (("rotated", 1), 231), (("rotated", 2), 312),
        (("chosen", 5), 51), (("chosen", 1), 32),
        (("compared", 4), 19), (("compared", 5), 9),
        (("both_sides", 4), 5), (("both_sides", 5), -6), (("both_sides", 0), 0),
        (("memory", 4), 47), (("memory", 1), 17),
        (("called", 3), 345), (("moved", 0), 12),
        (("by_switch", 1), 3), (("by_switch", 2), -1), (("by_switch", 3), 50),
    ],
)  # fmt: skip
def test_values_are_those_of_their_time(call: tuple[str, ...], expected: int) -> None:
    assert came_out(IN_C, *call[1:], function=call[0]) == expected


# -- the translator itself ---------------------------------------------------------------------------------------------

TEXT = """
@g = global i32 4
define i32 @callee() {
  ret i32 1
}
define i32 @f(i32 %n, ptr %p) {
entry:
  %local = alloca i32
  %cell = alloca ptr
  store i32 %n, ptr %local
  %a = add i32 %n, 1
  %b = add i32 %a, %n
  %c = add i32 %a, %b
  store ptr %local, ptr %cell
  br label %next
next:
  %d = add i32 %b, 2
  store i32 %d, ptr %local
  %late = load i32, ptr %local
  ret i32 %late
}
"""
AT = {"a": 3, "b": 4, "c": 5}


def translator() -> Translator:
    found = module(TEXT, inlined=False)
    function = found.functions["f"]
    t = Translator(describe_memory(function, found, Options()), find_uses(function))
    t.start("entry")
    return t


def made(name: str) -> ir.Instruction:
    return next(i for i in module(TEXT, inlined=False).functions["f"].instructions() if i.result == name)


def test_a_term_is_saved_before_a_variable_that_it_mentions_changes() -> None:
    t = translator()
    t.position = AT["a"]
    t.define(made("a"), Number(add(X, const(1)), I32))
    assert t.values["a"] == Number(add(X, const(1)), I32) and not t.statements
    t.emit(Assign(Y, ZERO))  # it does not mention y
    assert t.values["a"] == Number(add(X, const(1)), I32)
    t.emit(Assign(X, const(9)))
    kept = t.values["a"]
    assert isinstance(kept, Number) and isinstance(kept.term, Var) and kept.term.name == "%a"
    assert t.statements == [Assign(Y, ZERO), Assign(kept.term, add(X, const(1))), Assign(X, const(9))]
    t.emit(Assign(X, const(10)))  # once is enough
    assert len(t.statements) == 4


def test_a_term_that_nothing_uses_any_more_is_not_saved() -> None:
    t = translator()
    t.position = AT["a"]
    t.define(made("a"), Number(add(X, const(1)), I32))
    t.position = AT["c"]  # its last use
    t.emit(Assign(X, const(9)))
    assert t.statements == [Assign(X, const(9))]


@pytest.mark.parametrize(
    "change", [Assign(X, ZERO), Havoc(X, Origin.NONDET, "input")], ids=lambda change: type(change).__name__
)
def test_whatever_changes_a_variable_saves(change: Assign | Havoc) -> None:
    t = translator()
    t.position = AT["a"]
    t.define(made("a"), Flag(less(X, const(3))))
    t.emit(change)
    saved, changed = t.statements
    assert changed is change and isinstance(saved, Assign) and saved.target.type == FLAG_TYPE
    assert t.values["a"] == flag_of(saved.target)


def test_what_other_blocks_use_and_what_is_large_gets_a_variable() -> None:
    t = translator()
    t.define(made("b"), Number(add(X, Y), I32))  # %d is in another block
    assert [type(s) for s in t.statements] == [Assign] and t.values["b"].term is t.statements[0].target
    t = translator()
    large = add(*(scale(Var(f"v{k}", I32), k + 2) for k in range(25)))
    t.define(made("a"), Number(large, I32))
    assert t.statements == [Assign(t.values["a"].term, large)]
    t = translator()
    t.define(made("b"), Number(const(5), I32))
    assert t.values["b"] == Number(const(5), I32) and not t.statements


def test_saved_values() -> None:
    t = translator()
    why = UnfollowedValue(t.refused("not known", None))
    for same in (Number(const(3), I32), Flag(TRUE), Flag(FALSE), why, Address(const(2), const(8))):
        assert t.saved("v", same) == same
    assert not t.statements
    kept = t.saved("v", Address(const(2), add(X, const(4))))
    assert isinstance(kept, Address) and kept.object == const(2) and isinstance(kept.offset, Var)
    assert kept.offset.type == t.memory.offset_type and t.memory.variables[kept.offset].pointer_part == "offset"
    kept = t.saved("v", Address(X, ZERO))
    assert isinstance(kept, Address) and isinstance(kept.object, Var) and kept.object.type == INTEGERS
    assert [s.value for s in t.statements if isinstance(s, Assign)] == [add(X, const(4)), X]


def test_blocks_are_closed_as_they_end() -> None:
    t = translator()
    blocks: dict[str, Block] = {}
    t.finish(blocks)
    assert blocks["entry"].end == End("undefined", None, None, None)
    t.start("next")
    t.end = End("return", X)
    t.finish(blocks)
    assert blocks["next"] == Block("next", (), (), End("return", X))


def test_a_block_is_split_where_a_run_may_end() -> None:
    t = translator()
    t.position = AT["a"]
    t.define(made("a"), Number(add(X, const(1)), I32))
    t.split_unless(TRUE, End("error"), None)
    assert t.shown_label == "entry"
    t.split_unless(less(X, Y), End("error"), None)
    kept = t.values["a"]
    assert isinstance(kept, Number) and isinstance(kept.term, Var)
    t.split_unless(less(Y, const(3)), End("unsupported"), None)
    t.end = End("return", kept.term)
    blocks: dict[str, Block] = {}
    t.finish(blocks)
    assert set(blocks) == {"entry", "entry.after1", "entry.after2", "entry.error1", "entry.unsupported2"}
    first = blocks["entry"]
    assert first.statements == (Assign(kept.term, add(X, const(1))),)
    assert [(e.condition, e.target) for e in first.edges] == [
        (less(X, Y), "entry.after1"),
        (negate(less(X, Y)), "entry.error1"),
    ]
    assert blocks["entry.error1"].end == End("error") and not blocks["entry.after1"].statements
    assert blocks["entry.after2"].end == End("return", kept.term)


def test_checks_that_always_hold_are_left_out() -> None:
    t = translator()
    t.check(TRUE, "shift", None)
    t.check(less(X, Y), "shift", None)
    t.promised(less(Y, X), "poison", None)
    assert t.statements == [Check(less(X, Y), "shift"), Check(less(Y, X), "poison")]


FLOAT = ir.FloatT("double")


def test_operands() -> None:
    t = translator()
    g, callee = t.memory.number(Base("global", "g")), t.memory.number(Base("function", "callee"))
    assert t.value(ir.IntConst(32, -3)) == Number(const(-3), I32)
    assert [t.value(ir.IntConst(1, bit)) for bit in (0, 1)] == [Flag(FALSE), Flag(TRUE)]
    assert t.value(ir.NullPtr()) == Address(ZERO, ZERO)
    assert t.value(ir.GlobalRef("g")) == Address(const(g), ZERO)
    assert t.value(ir.GlobalRef("callee")) == Address(const(callee), ZERO) and g != callee
    assert t.value(ir.AddressOf("g", 2)) == Address(const(g), const(2))
    assert isinstance(t.value(ir.Local("nowhere", I32)), UnfollowedValue)  # type: ignore[arg-type]
    assert not t.statements
    undefined = t.value(ir.Undef(ir.IntT(8)))
    assert isinstance(undefined, Number)
    (havoc,) = t.statements
    assert isinstance(havoc, Havoc) and havoc.target is undefined.term
    assert havoc.refused is not None and havoc.refused.reason is Reason.UNDEF_VALUE
    number = t.number(ir.IntConst(1, 1))
    assert number is not None and (number.term, number.type) == (const(1), FLAG_TYPE)
    assert t.number(ir.NullPtr()) is None


def test_a_pointer_that_is_none_is_unknown_with_the_reason() -> None:
    t = translator()
    t.values["a"] = UnfollowedValue(Refused(Reason.FLOAT, "here", "a float"))
    found = t.address(ir.Local("a", ir.PtrT()), None)
    assert isinstance(found.object, Var) and isinstance(found.offset, Var)
    assert {s.refused.reason for s in t.statements if isinstance(s, Havoc) and s.refused} == {Reason.FLOAT}
    t.values["a"] = Number(X, I32)
    t.address(ir.Local("a", ir.PtrT()), None)
    last = t.statements[-1]
    assert isinstance(last, Havoc) and last.refused is not None
    assert last.refused.detail == "a pointer comes from something that is not a pointer"


def test_unknown_values_by_type() -> None:
    t = translator()
    flag = t.unknown(ir.IntT(1), Origin.NONDET, "n", None)
    number = t.unknown(ir.IntT(8), Origin.NONDET, "n", None, signed=False)
    pointer = t.unknown(ir.PtrT(), Origin.NONDET, "n", None)
    assert isinstance(flag, Flag) and next(iter(flag.condition.variables)).type == FLAG_TYPE
    assert isinstance(number, Number) and number.type == IntType(8, signed=False) == number.term.type  # type: ignore[attr-defined]
    assert isinstance(pointer, Address) and isinstance(pointer.object, Var) and isinstance(pointer.offset, Var)
    assert [s.target for s in t.statements if isinstance(s, Havoc)] == [
        next(iter(flag.condition.variables)),
        number.term,
        pointer.offset,
        pointer.object,
    ]
    floating, other = (t.unknown(type, Origin.NONDET, "n", None) for type in (FLOAT, ir.VectorT(2, ir.IntT(8))))
    assert isinstance(floating, UnfollowedValue) and floating.refused.reason is Reason.FLOAT
    assert isinstance(other, UnfollowedValue) and other.refused.reason is Reason.UNSUPPORTED_INSTRUCTION


def test_slots_and_addresses() -> None:
    t = translator()
    slot = t.slot(ir.Local("local", ir.PtrT()))
    assert slot is t.memory.slots[Base("local", "local"), 0]
    assert t.slot(ir.Local("p", ir.PtrT())) is None  # nothing is read through it
    number = t.memory.number(Base("global", "g"))
    address = t.object_address(number)
    assert address is t.object_address(number) is not t.object_address(0)
    assert (address.name, address.type) == ("&g", IntType(64, signed=False))
    t.havoc_slot(Slot(X, Y), Origin.CALL, "h", None, None)
    assert [s.target for s in t.statements if isinstance(s, Havoc)] == [X, Y]


def test_an_access_that_comes_next_is_checked_there() -> None:
    t = translator()
    code = [i for i in module(TEXT, inlined=False).functions["f"].instructions() if not i.is_debug]
    local, cell = ir.Local("local", ir.PtrT()), ir.Local("cell", ir.PtrT())
    t.next = next(i for i in code if i.op == "load")
    assert t.accessed_next(local) and not t.accessed_next(cell)
    t.next = next(i for i in code if i.op == "store" and i.operands[0] == local)
    assert t.accessed_next(cell) and not t.accessed_next(local)  # what is stored is not accessed
    t.next = None
    assert not t.accessed_next(local)
    volatile = module("\ndefine i32 @f(ptr %p) {\n  %r = load volatile i32, ptr %p\n  ret i32 %r\n}", inlined=False)
    t.next = next(volatile.functions["f"].instructions())
    assert not t.accessed_next(ir.Local("p", ir.PtrT()))


def test_places_for_refusals() -> None:
    t = translator()
    assert t.where(None) == "f" and t.where(ir.Loc("a.c", 3, 7)) == "a.c:3:7"
    refused = t.refused("detail", None, Reason.POINTER)
    assert (refused.reason, refused.where, refused.detail) == (Reason.POINTER, "f", "detail")
