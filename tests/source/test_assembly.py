"""The reader on LLVM assembly that clang -O0 does not make: every kind of value, old and rare instructions."""

from __future__ import annotations

import gc

import pytest

from loopless.source import ir
from loopless.source.ir import IntConst, IntT, Local, Poison, PtrT, Undef, VectorT
from loopless.source.reader import read_module
from loopless.source.worker import WORKER


def read(text: str) -> ir.Module:
    """``text`` as LLVM prints it (which also makes sure that it is valid)."""
    return read_module(WORKER.link([("t.ll", text)], 60))


def one(statement: str, params: str = "", result: str = "void", more: str = "") -> ir.Instruction:
    """The instruction ``statement`` in a function with ``params``."""
    end = "ret void" if result == "void" else f"ret {result} zeroinitializer"
    m = read(f"{more}\ndefine {result} @f({params}) {{\n  {statement}\n  {end}\n}}\n")
    return m.functions["f"].blocks[0].instructions[0]


V4 = VectorT(4, IntT(32))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("i32 -7", IntConst(32, -7)),
        ("i8 255", IntConst(8, -1)),
        ("i1 true", IntConst(1, -1)),
        ("i1 false", IntConst(1, 0)),
        ("i128 170141183460469231731687303715884105728", IntConst(128, -(2**127))),
        ("i37 5", IntConst(37, 5)),
        ("ptr null", ir.NullPtr()),
        ("ptr addrspace(3) null", ir.NullPtr(3)),
        ("ptr @g", ir.GlobalRef("g")),
        ('ptr @"odd name\\22"', ir.GlobalRef('odd name"')),
        ("i32 undef", Undef(IntT(32))),
        ("i32 poison", Poison(IntT(32))),
        ("[2 x i32] zeroinitializer", ir.ZeroInit(ir.ArrayT(2, IntT(32)))),
        ("<4 x i32> splat (i32 3)", ir.ConstantAggregate(V4, (IntConst(32, 3),) * 4)),
        ("{ i32, ptr } { i32 1, ptr @g }",
         ir.ConstantAggregate(ir.StructT((IntT(32), PtrT())), (IntConst(32, 1), ir.GlobalRef("g")))),
        ("<{ i8, i32 }> <{ i8 1, i32 2 }>",
         ir.ConstantAggregate(ir.StructT((IntT(8), IntT(32)), packed=True), (IntConst(8, 1), IntConst(32, 2)))),
        ('[3 x i8] c"\\00\\22a"', ir.BytesConst(b'\0"a')),
        ("double 1.5", ir.FloatConst(ir.FloatT("double"), "1.500000e+00")),
        ("float 0x7FF0000000000000", ir.FloatConst(ir.FloatT("float"), "0x7FF0000000000000")),
        ("half 0xH3C00", ir.FloatConst(ir.FloatT("half"), "0xH3C00")),
        ("ptr getelementptr inbounds ([4 x i32], ptr @g, i64 0, i64 3)", ir.AddressOf("g", 12)),
        ("ptr getelementptr (i8, ptr getelementptr (i8, ptr @g, i64 8), i64 -16)", ir.AddressOf("g", -8)),
        ("ptr getelementptr (i8, ptr @g, i64 0)", ir.GlobalRef("g")),
    ],
)  # fmt: skip
def test_constants(text, value):
    more = '@g = external global [4 x i32]\n@"odd name\\22" = external global i32\n'
    found = one(f"call void (...) @sink({text})", more=more + "declare void @sink(...)")
    assert found.op == "call" and found.operands == (value,)


@pytest.mark.parametrize(
    ("text", "op", "operand"),
    [
        ("i64 ptrtoint (ptr @g to i64)", "ptrtoint", ir.GlobalRef("g")),
        ("ptr inttoptr (i64 4096 to ptr)", "inttoptr", IntConst(64, 4096)),
        ("ptr addrspace(1) addrspacecast (ptr @g to ptr addrspace(1))", "addrspacecast", ir.GlobalRef("g")),
        ("i64 sub (i64 ptrtoint (ptr @g to i64), i64 1)", "sub", IntConst(64, 1)),
    ],
)
def test_constant_expressions_stay_what_they_are(text, op, operand):
    found = one(f"call void (...) @sink({text})", more="@g = external global i32\ndeclare void @sink(...)")
    (value,) = found.operands
    folded = value.op == "add" and op == "sub"  # LLVM writes x - 1 as x + -1
    assert value.op == op or folded
    assert operand in value.operands or folded


@pytest.mark.parametrize(
    ("statement", "params", "op", "type_", "flags", "predicate"),
    [
        ("%x = add nuw nsw i32 %a, 1", "i32 %a", "add", IntT(32), {"nuw", "nsw"}, None),
        ("%x = or disjoint i32 %a, 1", "i32 %a", "or", IntT(32), {"disjoint"}, None),
        ("%x = sdiv exact i32 %a, 4", "i32 %a", "sdiv", IntT(32), {"exact"}, None),
        ("%x = zext nneg i32 %a to i64", "i32 %a", "zext", IntT(64), {"nneg"}, None),
        ("%x = trunc nuw nsw i32 %a to i8", "i32 %a", "trunc", IntT(8), {"nuw", "nsw"}, None),
        ("%x = icmp samesign ult i32 %a, 7", "i32 %a", "icmp", IntT(1), {"samesign"}, "ult"),
        ("%x = icmp slt <4 x i32> %a, zeroinitializer", "<4 x i32> %a", "icmp", VectorT(4, IntT(1)), set(), "slt"),
        ("%x = fcmp fast olt double %a, 1.0", "double %a", "fcmp", IntT(1), {"fast"}, "olt"),
        ("%x = fneg nnan float %a", "float %a", "fneg", ir.FloatT("float"), {"nnan"}, None),
        ("%x = select i1 %a, i8 1, i8 2", "i1 %a", "select", IntT(8), set(), None),
        ("%x = freeze i32 %a", "i32 %a", "freeze", IntT(32), set(), None),
        ("%x = extractelement <4 x i32> %a, i32 1", "<4 x i32> %a", "extractelement", IntT(32), set(), None),
        ("%x = insertelement <4 x i32> %a, i32 9, i64 1", "<4 x i32> %a", "insertelement", V4, set(), None),
        ("%x = shufflevector <2 x i32> %a, <2 x i32> %a, <4 x i32> zeroinitializer", "<2 x i32> %a", "shufflevector",
         V4, set(), None),
        ("%x = extractvalue { i32, [2 x i8] } %a, 1, 0", "{ i32, [2 x i8] } %a", "extractvalue", IntT(8), set(), None),
        ('%x = atomicrmw volatile umax ptr %a, i32 3 syncscope("one") acquire, align 4', "ptr %a", "atomicrmw",
         IntT(32), {"volatile"}, "umax"),
        ("%x = va_arg ptr %a, i64", "ptr %a", "va_arg", IntT(64), set(), None),
        ("%x = addrspacecast ptr %a to ptr addrspace(1)", "ptr %a", "addrspacecast", PtrT(1), set(), None),
        ("%x = bitcast <2 x i32> %a to i64", "<2 x i32> %a", "bitcast", IntT(64), set(), None),
        ('%x = load atomic volatile i32, ptr %a syncscope("") seq_cst, align 4', "ptr %a", "load", IntT(32),
         {"volatile"}, None),
        ("%x = getelementptr inbounds nuw i8, ptr %a, i64 4", "ptr %a", "getelementptr", PtrT(), {"inbounds", "nuw"},
         None),
        ("%x = alloca [4 x i32], i32 3, align 16", "", "alloca", PtrT(), set(), None),
        ("%x = tail call fastcc noundef i32 @callee(i32 signext 3) #0", "", "call", IntT(32), {"tail"}, None),
        ("fence acquire", "", "fence", ir.VoidT(), set(), "acquire"),
    ],
)  # fmt: skip
def test_instructions(statement, params, op, type_, flags, predicate):
    more = "declare fastcc i32 @callee(i32)\nattributes #0 = { nounwind memory(none) }"
    i = one(statement, params, more=more)
    assert (i.op, i.type, i.flags, i.predicate) == (op, type_, flags, predicate), i.text
    assert i.result == ("x" if "%x" in statement else None)
    if op == "call":
        assert "memory(none)" in i.attributes and "noundef" in i.attributes and "signext" in i.arguments[0]
    if op in ("alloca", "load", "atomicrmw"):
        assert i.access.align in (4, 16)


def test_vector_addresses_are_not_decomposed():
    i = one("%x = getelementptr i32, ptr %a, <4 x i64> %i", "ptr %a, <4 x i64> %i")
    assert (i.op, i.type, i.gep) == ("getelementptr", VectorT(4, PtrT()), None)


def test_phi_and_numbered_names():
    m = read(
        """
    define i32 @f(i32, i1 %c, i32) {
      br i1 %c, label %3, label %"odd block"
      %4 = add i32 %0, %1
      br label %"odd block"
    "odd block":
      %5 = phi i32 [ %4, %3 ], [ 7, %2 ]
      ret i32 %5
    }
    """.replace("      %4 = add", "    3:\n      %4 = add")
    )
    f = m.functions["f"]
    assert [p.name for p in f.params] == ["0", "c", "1"]
    assert [b.label for b in f.blocks] == ["2", "3", "odd block"]
    assert f.blocks[0].successors == ("3", "odd block")
    phi = f.blocks[2].instructions[0]
    assert phi.incoming == ((Local("4", IntT(32)), "3"), (IntConst(32, 7), "2"))


def test_a_function_without_labels_or_parameters():
    f = read("define void @f() {\n  br label %1\n1:\n  br label %1\n}").functions["f"]
    assert [b.label for b in f.blocks] == ["0", "1"]
    assert f.blocks[1].successors == ("1",)


def test_unknown_terminators_keep_their_successors():
    text = """
    define void @f() personality ptr @p {
      invoke void @g() to label %ok unwind label %dispatch
    dispatch:
      %cs = catchswitch within none [label %handler] unwind to caller
    handler:
      %cp = catchpad within %cs [ptr null, i32 64, ptr null]
      call void @g() [ "funclet"(token %cp) ]
      catchret from %cp to label %ok
    ok:
      ret void
    }
    declare void @g()
    declare i32 @p(...)
    """
    f = read(text).functions["f"]
    by_label = {b.label: b for b in f.blocks}
    switch = by_label["dispatch"].terminator
    assert (switch.op, switch.predicate, switch.result) == ("unsupported", "catchswitch", "cs")
    assert switch.text.startswith("%cs = catchswitch")
    assert by_label["dispatch"].successors == ("handler",)
    assert by_label["handler"].successors == ("ok",)
    assert [i.op for i in by_label["handler"].instructions] == ["unsupported", "call", "unsupported"]
    assert "bundle" in by_label["handler"].instructions[1].flags


def test_text_of_a_future_llvm_is_set_aside_instruction_by_instruction():
    text = """define i32 @f(i32 %a) {
entry:
  %x = hyperadd super i32 %a, 1
  %y = add i32 %a, 1, flavour 3
  br quantum %x, label %one, label %two, !dbg !1

one:                                              ; preds = %entry
  ret i32 %y

two:                                              ; preds = %entry
  ret i32 %x
}
"""
    f = read_module(text).functions["f"]
    assert [i.op for i in f.entry.instructions] == ["unsupported"] * 3
    assert f.entry.instructions[0].result == "x"
    assert f.entry.instructions[1].text == "%y = add i32 %a, 1, flavour 3"
    assert f.entry.successors == ("one", "two")
    assert f.blocks[1].instructions[0].op == "ret"


def test_a_head_we_cannot_read_spoils_that_function_only():
    text = "define quantum weird @f(i32 %a) {\nentry:\n  ret void\n}\n\ndefine void @g() {\nentry:\n  ret void\n}\n"
    m = read_module(text)
    assert [i.op for i in m.functions["f"].instructions()] == ["unsupported"]
    assert [i.op for i in m.functions["g"].instructions()] == ["ret"]


def test_heads():
    text = """
    $c = comdat any
    define weak_odr hidden cc 0 noundef range(i32 0, 10)
      i32 @f(i32, ptr byval([4 x i8]) align 4 %p, ptr nonnull %r, ...)
      unnamed_addr #0 section ".x" comdat($c) align 16 gc "shadow-stack" prefix i32 1 personality ptr @p {
      ret i32 1
    }
    declare i32 @p(...)
    attributes #0 = { nounwind memory(argmem: read, inaccessiblemem: none) "key"="a b" }
    """
    f = read(text).functions["f"]
    assert (f.linkage, f.variadic, f.result) == ("weak_odr", True, IntT(32))
    assert f.params[1].byval == ir.ArrayT(4, IntT(8)) and f.params[2].attributes == {"nonnull"}
    assert "align 4" in f.params[1].attributes
    assert "range(i32 0, 10)" in f.result_attributes and "noundef" in f.result_attributes
    assert {"nounwind", '"key"="a b"', "personality"} <= f.attributes
    assert any(a.startswith("memory(argmem: read") for a in f.attributes)


def test_globals():
    text = """
    %T = type { i8, %U, ptr }
    %U = type <{ i16, i32 }>
    %O = type opaque
    @a = private unnamed_addr constant %T { i8 1, %U <{ i16 2, i32 3 }>, ptr @a }, align 8
    @b = external thread_local(initialexec) global i32
    @c = extern_weak global i32
    @d = common dso_local global [2 x i64] zeroinitializer, align 16
    @e = addrspace(1) externally_initialized global i32 5
    @f = weak alias i32, ptr @d
    @g = global ptr addrspace(1) @e
    """
    g = read(text).globals
    u = ir.StructT((IntT(16), IntT(32)), True, "U")
    assert g["a"].type == ir.StructT((IntT(8), u, PtrT()), False, "T")
    assert g["a"].constant and g["a"].linkage == "private" and g["a"].align == 8
    assert g["a"].initializer.elements[1].elements == (IntConst(16, 2), IntConst(32, 3))
    assert g["b"].thread_local and g["b"].initializer is None and g["c"].initializer is None
    assert g["d"].linkage == "common" and g["d"].align == 16
    assert g["e"].externally_initialized and g["e"].initializer == IntConst(32, 5)
    assert g["g"].initializer == ir.GlobalRef("e", 1)
    assert read(text).aliases == {"f": ir.GlobalRef("d")}


DEBUG = """
define void @f(i32 %a, i32 %b) !dbg !5 {
    #dbg_value(i32 %a, !8, !DIExpression(), !9)
    #dbg_value(!DIArgList(i32 %a, i32 %b), !8, !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_plus), !9)
    #dbg_value(i32 poison, !8, !DIExpression(), !9)
    #dbg_assign(i32 3, !8, !DIExpression(), !12, ptr poison, !DIExpression(), !9)
    #dbg_label(!13, !9)
  ret void, !dbg !9
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "x, \\22y\\22.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!5 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !6, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DISubroutineType(types: !7)
!7 = !{null}
!8 = !DILocalVariable(name: "x", scope: !5, file: !1, line: 2, type: !11)
!9 = !DILocation(line: 4, column: 7, scope: !5)
!11 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!12 = distinct !DIAssignID()
!13 = !DILabel(scope: !5, name: "again", file: !1, line: 4)
"""


def test_debug_records():
    f = read(DEBUG).functions["f"]
    value, several, lost, assigned, label, ret = f.instructions()
    assert [i.op for i in (value, several, lost, assigned, label)] == ["dbg_value"] * 4 + ["dbg_label"]
    assert value.operands == (Local("a", IntT(32)),) and not value.expression
    assert len(several.operands) == 2 and "DW_OP_plus" in several.expression
    assert lost.operands == () and assigned.operands == (IntConst(32, 3),)
    assert (value.variable.name, value.variable.declared.line, value.variable.type.description) == ("x", 2, "int")
    assert (ret.loc.line, ret.loc.column, ret.loc.file) == (4, 7, 'x, "y".c')
    assert f.result_debug is None
    assert [i.op for i in f.entry.code()] == ["ret"]


def test_reading_leaves_the_collector_as_it_was():
    assert gc.isenabled()
    read_module("define void @f() {\n  ret void\n}\n")
    assert gc.isenabled()
    gc.disable()
    try:
        read_module("define void @f() {\n  ret void\n}\n")
        assert not gc.isenabled()
    finally:
        gc.enable()
