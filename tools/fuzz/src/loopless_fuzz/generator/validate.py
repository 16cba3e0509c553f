"""Whether a syntax tree is a program that means something: names, jumps, indices.

The generator makes only such programs; the minimizer cuts at random and asks here before it tries a cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, assert_never

from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    Assign,
    Assume,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Choice,
    Const,
    Continue,
    CopyElements,
    Declare,
    DeclareArray,
    DeclarePointer,
    DoWhile,
    Element,
    Evaluate,
    Expr,
    For,
    Function,
    GeneratedProgram,
    GotoLoop,
    If,
    Invoke,
    OverwriteByte,
    OverwriteTable,
    Reference,
    Return,
    Step,
    Stmt,
    Switch,
    Unary,
    Var,
    Walk,
    While,
    assigned,
)

INPUTS: Final = ("__VERIFIER_nondet_int", "__VERIFIER_nondet_uint", "__VERIFIER_nondet_char")
"""The input functions that generated programs may call."""


@dataclass(frozen=True, slots=True)
class _Scope:
    """What may be named and done at a place."""

    scalars: frozenset[str]
    arrays: frozenset[str]
    functions: dict[str, int]
    references: frozenset[str]
    bounded: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()
    """Arrays that are only read, with indices that the program bounds itself."""
    can_break: bool = False
    can_continue: bool = False


def valid(program: GeneratedProgram) -> bool:
    """Whether the program compiles and can only have undefined behaviour that traps."""
    names = [var.name for var in program.globals]
    data = frozenset(array.name for array in program.arrays)
    functions: dict[str, int] = dict.fromkeys(INPUTS, 0)
    references: set[str] = set()
    for helper in (*program.helpers, program.function):
        scope = _Scope(frozenset(names), data, dict(functions), frozenset(references), data=data)
        if isinstance(helper, Reference):
            references.add(helper.name)
            continue
        # A function may call itself; whether that ends is the program's affair, as with loops.
        scope.functions[helper.name] = len(helper.params)
        pure = helper is program.function or not assigned(helper.body) & set(names)
        if not pure or not _valid_function(helper, scope):
            return False
        functions[helper.name] = len(helper.params)
    return True


def _valid_function(function: Function, scope: _Scope) -> bool:
    scalars = frozenset(param.name for param in function.params if not param.array)
    arrays = frozenset(param.name for param in function.params if param.array)
    if len(scalars) + len(arrays) != len(function.params) or (scalars | arrays) & (scope.scalars | scope.arrays):
        return False
    data = scope.data | {param.name for param in function.params if param.array and param.constant}
    if not function.body or not isinstance(function.body[-1], Return):
        return False
    inner = replace(scope, scalars=scope.scalars | scalars, arrays=scope.arrays | arrays, data=data)
    return _block(function.body, inner)


def _block(block: Block, scope: _Scope) -> bool:
    for stmt in block:
        if isinstance(stmt, Declare | DeclareArray | DeclarePointer) and stmt.name in scope.scalars | scope.arrays:
            return False
        if not _statement(stmt, scope):
            return False
        if isinstance(stmt, Declare):
            scope = replace(scope, scalars=scope.scalars | {stmt.name})
        elif isinstance(stmt, DeclareArray):
            tables = scope.tables | {stmt.name} if stmt.constant else scope.tables
            scope = replace(scope, arrays=scope.arrays | {stmt.name}, tables=tables)
        elif isinstance(stmt, DeclarePointer):
            pointers = {stmt.name}
            scope = replace(scope, scalars=scope.scalars | pointers, data=scope.data | pointers)
            scope = replace(scope, arrays=scope.arrays | pointers)
    return True


def _statement(stmt: Stmt, scope: _Scope) -> bool:
    inside = replace(scope, can_break=True, can_continue=True)
    match stmt:
        case Declare(_, _, value) | Return(value) | Assume(value) | Evaluate(value):
            return _expr(value, scope)
        case DeclareArray(_, _, values):
            return len(values) >= ARRAY_LENGTH
        case DeclarePointer(_, _, array, offset):
            return array in scope.data and _expr(offset, scope)
        case Assign(target, _, value):
            changeable = not (isinstance(target, Element) and target.array in scope.tables | scope.data)
            return changeable and _expr(target, scope) and _expr(value, scope)
        case OverwriteByte() | CopyElements() | OverwriteTable() | Walk():
            return _undefined(stmt, scope)
        case Step(target):
            return _expr(target, scope)
        case Invoke(function, target):
            return function in scope.references and _expr(target, scope)
        case If(condition, then, otherwise):
            return _expr(condition, scope) and _block(then, scope) and _block(otherwise, scope)
        case While(condition, body) | DoWhile(body, condition):
            return _expr(condition, scope) and _block(body, inside)
        case For():
            return _for(stmt, inside)
        case GotoLoop(_, condition, body):
            return _expr(condition, scope) and _block(body, replace(scope, can_break=False, can_continue=False))
        case Switch(subject, cases, default):
            arms = replace(scope, can_break=False)
            return (
                len({value for value, _ in cases}) == len(cases)
                and _expr(subject, scope)
                and all(_block(body, arms) for body in (*(body for _, body in cases), default))
            )
        case Break():
            return scope.can_break
        case Continue():
            return scope.can_continue
        case _:
            assert_never(stmt)


def _undefined(stmt: OverwriteByte | CopyElements | OverwriteTable | Walk, scope: _Scope) -> bool:
    match stmt:
        case OverwriteByte(target, value):
            return _expr(target, scope) and _expr(value, scope)
        case CopyElements(array, to, source, length):
            inside = array in scope.arrays - scope.tables
            return inside and all(_expr(part, scope) for part in (to, source, length))
        case Walk(array, limit, target):
            return array in scope.arrays - scope.tables and _expr(limit, scope) and _expr(target, scope)
        case OverwriteTable(table, _, index, value):
            return table in scope.tables and _expr(index, scope) and _expr(value, scope)


def _for(loop: For, inside: _Scope) -> bool:
    if loop.start is not None and not _statement(loop.start, inside):
        return False
    if loop.step is not None and not _statement(loop.step, inside):
        return False
    counter = bounded_counter(loop)
    bounded = replace(inside, bounded=inside.bounded | {counter}) if counter else inside
    scope = inside
    for conjunct in conjuncts(loop.condition) if loop.condition is not None else ():
        if not _expr(conjunct, scope):
            return False
        if counter and _bounds(conjunct, counter):
            scope = bounded  # only what stands after the bound is evaluated under it
    return _block(loop.body, bounded)


def bounded_counter(loop: For) -> str | None:
    """The counter of a ``for`` that surely stays within an array's indices in the body, if there is one."""
    match loop:
        case For(Assign(Var(name), "", Const(start)), condition, step, body) if start >= 0 and condition is not None:
            forward = step == Step(Var(name), "++") or step == Step(Var(name), "++", True)
            if not forward and not (
                isinstance(step, Assign)
                and step.target == Var(name)
                and step.op == "+"
                and isinstance(step.value, Const)
                and 0 < step.value.value <= ARRAY_LENGTH
            ):
                return None
            if name in assigned(body) or not any(_bounds(conjunct, name) for conjunct in conjuncts(condition)):
                return None
            return name
        case _:
            return None


def conjuncts(condition: Expr) -> tuple[Expr, ...]:
    """The operands of a chain of ``&&``."""
    if isinstance(condition, Binary) and condition.op == "&&":
        return (*conjuncts(condition.left), *conjuncts(condition.right))
    return (condition,)


def _bounds(condition: Expr, name: str) -> bool:
    match condition:
        case Binary("<", Var(counter), Const(limit)):
            return counter == name and 0 <= limit <= ARRAY_LENGTH
        case _:
            return False


def _expr(expr: Expr, scope: _Scope) -> bool:
    match expr:
        case Const(value, ctype):
            return ctype.low <= value <= ctype.high and ctype.bits >= 32
        case Var(name):
            return name in scope.scalars | scope.data
        case Element(array, index, masked):
            bounded = masked or array in scope.data or _in_range(index, scope)
            return array in scope.arrays and bounded and _expr(index, scope)
        case Unary(_, operand) | Cast(_, operand):
            return _expr(operand, scope)
        case Binary(_, left, right):
            return _expr(left, scope) and _expr(right, scope)
        case Choice(condition, then, otherwise):
            return _expr(condition, scope) and _expr(then, scope) and _expr(otherwise, scope)
        case Call(function, args):
            return scope.functions.get(function) == len(args) and all(_expr(arg, scope) for arg in args)
        case _:
            assert_never(expr)


def _in_range(index: Expr, scope: _Scope) -> bool:
    match index:
        case Const(value):
            return 0 <= value < ARRAY_LENGTH
        case Var(name):
            return name in scope.bounded
        case _:
            return False
