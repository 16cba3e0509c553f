"""What is read quickly is what the whole grammar reads."""

from __future__ import annotations

import dataclasses

import pytest

from loopless.source import ir
from loopless.source.compile import compile_ir
from loopless.source.quick import QuickReader
from loopless.source.reader import read_module

ODD = """
target datalayout = "e-p:64:64-p1:32:32-i64:64"
%struct.S = type { i8, [3 x i32], %struct.T }
%struct.T = type { i64, ptr }
%struct.Open = type opaque
@g = global i32 0
@other = alias i32, ptr @g
@"with space" = global i32 0
define i32 @f(ptr %p, i32 %i, i1 %c, ptr addrspace(1) %far) {
entry:
  %a = load i32, ptr %p, align 4
  %b = load volatile i32, ptr %p, align 4
  %at = load atomic i32, ptr %p seq_cst, align 4
  %"quoted name" = load i32, ptr @"with space", align 4
  %byalias = load i32, ptr @other, align 4
  %v = load <4 x i32>, ptr %p, align 16
  %aligned = load ptr, ptr @g, align 8, !nonnull !0
  %f0 = load double, ptr %p, align 8
  %wide = load i128, ptr %p, align 16
  %near = load i32, ptr addrspace(1) %far, align 4
  store i32 -5, ptr %p, align 4
  store ptr null, ptr %p, align 8
  store ptr @other, ptr @g, align 8
  store i1 true, ptr %p, align 1
  store i32 %a, ptr getelementptr (i8, ptr @g, i64 2), align 4
  store ptr getelementptr (i8, ptr @g, i64 2), ptr %p, align 8
  %e0 = getelementptr inbounds %struct.S, ptr %p, i32 0, i32 1, i64 2
  %e1 = getelementptr inbounds nuw %struct.S, ptr %p, i64 %wide2, i32 2, i32 1
  %e2 = getelementptr %struct.S, ptr %p, i32 0, i32 7
  %e3 = getelementptr %struct.Open, ptr %p, i32 1
  %e4 = getelementptr [4 x i16], ptr @g, i64 -1, i32 %i
  %e5 = getelementptr [4 x %struct.T], ptr @other, i64 0, i64 3
  %e6 = getelementptr inrange(-1, 2) i8, ptr %p, i64 1
  %e7 = getelementptr <2 x i32>, ptr %p, i64 1, i32 1
  %e8 = getelementptr i8, <2 x ptr> %vp, i64 1
  %e9 = getelementptr [2 x [3 x i8]], ptr %p, i64 0, i64 1, i64 2
  %wide2 = sext i32 %i to i64
  %n0 = add nuw nsw i32 %a, 2147483648
  %n1 = or disjoint i32 %a, -1
  %n2 = udiv exact i64 %wide2, 3
  %n3 = add <4 x i32> %v, %v
  %n4 = shl i33 %w33, 32
  %n5 = xor i1 %c, true
  %n6 = fadd fast double %f0, 1.0
  %z0 = zext nneg i32 %a to i64
  %z1 = trunc nuw nsw i64 %wide2 to i1
  %z2 = ptrtoint ptr %p to i64
  %z3 = zext i1 true to i32
  %k0 = icmp ult ptr %p, null
  %k1 = icmp samesign ult i32 %a, 7
  %k2 = icmp eq ptr %p, @other
  %k3 = icmp sgt i128 %wide, -170141183460469231731687303715884105728
  br i1 %k0, label %"odd block", label %next
"odd block":
  br i1 true, label %next, label %last
next:
  br label %"odd block"
last:
  br label %next, !dbg !1, !llvm.loop !2
  wrong i32 %a
  %w = load i32 %p
}
!0 = !{}
!1 = !DILocation(line: 7, scope: !3)
!2 = distinct !{!2}
!3 = distinct !DISubprogram(name: "f")
"""

PLAIN = r"""
#include <stdbool.h>
#include <stddef.h>
struct Point { short x; long y; };
struct S { char tag; unsigned bits : 3; struct Point p[2][3]; union { long l; double d; } u; struct S *next; };
struct S whole = { 'a', 5 };
static int table[4][5];
bool has(struct S *s, bool b) { return b && s->next && s->p[1][2].y > -3; }
unsigned mixed(unsigned char *from, const unsigned char *to, int shift) {
  unsigned sum = 0;
  while (from < to) { sum = sum << shift ^ *from++; sum += whole.bits; }
  return sum % 7u;
}
long walk(struct S *s, size_t n, int i) {
  long total = s ? s->tag : -1;
  for (size_t k = 0; k < n; k++, s = s->next) {
    switch (s->tag) { case 'x': total += table[i][k]; break; case 'y': total -= s->p[i & 1][k % 3].x; continue; }
    do total /= 3; while (total > 9);
    volatile int seen = (int)total;
    table[i][seen & 3]++;
  }
  return total;
}
"""


def told(module: ir.Module) -> list[str]:
    """All instructions in full, with the blocks around their places, which comparing and showing leave out."""
    return [
        f"{i!r} {i.loc.scopes if i.loc is not None else None}"
        for function in module.defined()
        for i in function.instructions()
    ]


@pytest.mark.parametrize("text", [ODD, compile_ir(PLAIN)], ids=["odd", "plain"])
def test_what_is_read_quickly_is_what_the_grammar_reads(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = read_module(text)
    read = dict.fromkeys((True, False), 0)
    reader = QuickReader.instruction

    def counted(self: QuickReader, line: str, names: dict[str, ir.Local]) -> ir.Instruction | None:
        found = reader(self, line, names)
        read[found is not None] += 1
        return found

    monkeypatch.setattr(QuickReader, "instruction", counted)
    read_module(text)
    assert read[True] > 20
    assert read[False] > 15
    monkeypatch.setattr(QuickReader, "instruction", lambda *_: None)
    full = read_module(text)
    assert told(quick) == told(full)
    assert [dataclasses.astuple(p) for f in quick.defined() for p in f.params] == [
        dataclasses.astuple(p) for f in full.defined() for p in f.params
    ]


def test_an_offset_beyond_the_fields_is_not_read() -> None:
    found = {i.result: i for i in read_module(ODD).functions["f"].instructions()}
    assert found["e2"].op == "unsupported"
    assert found["e3"].gep is None
    assert found["e0"].gep is not None and found["e0"].gep.offset == 4 + 2 * 4
    assert found["e9"].gep is not None and found["e9"].gep.offset == 1 * 3 + 2
    assert found["e4"].gep is not None and (found["e4"].gep.offset, found["e4"].gep.steps[0][1]) == (-8, 2)
