"""Decides which functions to inline; the worker then does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from loopless.graphs import bottom_up, cycles
from loopless.limits.source import MAX_INLINED_LEAF, MAX_INLINED_SIZE, MAX_INLINING_GROWTH, SMALL_MODULE_SIZE
from loopless.source.ir import (
    REPLACEABLE,
    ConstantAggregate,
    GlobalRef,
    Instruction,
    Module,
    OtherConst,
    SourceFunction,
    Value,
)
from loopless.source.vocabulary import RETURNS_TWICE, meaning_of

_RESERVED: Final = ("__VERIFIER_", "__CPROVER_", "klee_")
_BARRED: Final = frozenset({"returns_twice", "naked", "presplitcoroutine"})
ALWAYS: Final = "alwaysinline"
"""The attribute of functions that compilers inline whatever their size."""


def choose(module: Module, *, everything: bool = False) -> tuple[str, ...]:
    """The functions to inline wherever they are called, in textual order.

    Defined, not recursive (alone or through others), without a meaning of their name, not variadic, and small enough or
    declared ``always_inline``; with ``everything`` as if the module were small.
    """
    defined = {f.name: f for f in module.defined()}
    calls = {name: _calls(f, defined) for name, f in defined.items()}
    called = {callee for found in calls.values() for callee in found}
    size = {name: sum(not i.is_debug for i in f.instructions()) for name, f in defined.items()}
    limit = MAX_INLINED_SIZE if everything or sum(size.values()) <= SMALL_MODULE_SIZE else MAX_INLINED_LEAF
    added = 0

    def grown(name: str, known: Mapping[str, int]) -> int:
        """The size of a function with those that are inlined into it."""
        nonlocal added
        more = sum(known.get(callee, 0) for callee in calls[name])
        added += more
        return size[name] + more

    def inlined(name: str, known: Mapping[str, int]) -> int:
        """What a call of a function adds: its size, 0 where it is not inlined."""
        own = grown(name, known)
        if name not in called or not _can_inline(defined[name], module):
            return 0
        sites = sum(found.count(name) for found in calls.values())
        small = own <= limit and added + sites * own <= MAX_INLINING_GROWTH
        chosen = small or (ALWAYS in defined[name].attributes and sites * own <= MAX_INLINING_GROWTH)
        return own if chosen else 0

    def recursive(names: Sequence[str], known: Mapping[str, int]) -> Mapping[str, int]:
        for name in names:
            grown(name, known)
        return dict.fromkeys(names, 0)

    adds = bottom_up(calls, inlined, recursive=recursive, unknown=0)
    return tuple(name for name in defined if adds[name])


def recursive_functions(module: Module) -> frozenset[str]:
    """The functions that may call themselves, directly or through others (calls through pointers aside)."""
    defined = {f.name: f for f in module.defined()}
    calls = {name: _calls(f, defined) for name, f in defined.items()}
    return frozenset(name for cycle in cycles(calls) for name in cycle)


def _calls(f: SourceFunction, defined: dict[str, SourceFunction]) -> list[str]:
    """The defined functions that ``f`` calls by name, one entry per call."""
    return [
        name for i in f.instructions() if i.op in ("call", "invoke") and (name := i.callee_name) in defined and name
    ]


def _can_inline(f: SourceFunction, module: Module) -> bool:
    if (
        f.variadic
        or f.name.startswith(_RESERVED)
        or meaning_of(f.name, defined=True) is not None
        or f.attributes & _BARRED
    ):
        return False
    if f.linkage in REPLACEABLE:
        return False
    return not any(_barrier(i) or returns_twice(i, module) for i in f.instructions())


def returns_twice(i: Instruction, module: Module) -> bool:
    """Whether ``i`` is a call that may return more than once, as those of ``setjmp`` and ``vfork`` do."""
    if i.op not in ("call", "invoke", "callbr"):
        return False
    if "returns_twice" in i.attributes:
        return True
    name = i.callee_name
    called = module.functions.get(name) if name is not None else None
    if called is not None and "returns_twice" in called.attributes:
        return True
    return name in RETURNS_TWICE and (called is None or called.is_declaration)


def _barrier(i: Instruction) -> bool:
    """What LLVM does not inline, or what would change its meaning in another function."""
    return (
        i.op in ("indirectbr", "callbr", "unsupported")
        or i.callee_name in ("llvm.localescape", "llvm.returnaddress", "llvm.frameaddress.p0")
        or any(_takes_block(v) for v in i.operands)
    )


def _takes_block(v: Value) -> bool:
    match v:
        case OtherConst(op="blockaddress"):
            return True
        case OtherConst(operands=parts) | ConstantAggregate(elements=parts):
            return any(_takes_block(p) for p in parts)
        case GlobalRef() | _:
            return False
