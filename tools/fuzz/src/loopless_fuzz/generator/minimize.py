"""Make a failing case small: delta debugging over the syntax tree and the inputs.

Zeller, Hildebrandt: Simplifying and isolating failure-inducing input (2002), with cuts that follow the tree: statements
go in chunks, bodies are hoisted out of loops and branches, expressions shrink to their parts, constants and inputs to
smaller ones, parameters become constants. Each accepted step makes :func:`size` smaller, so minimizing ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.case import Case
from loopless_fuzz.generator.inputs import Arguments
from loopless_fuzz.generator.syntax import (
    INT,
    LLONG,
    UINT,
    ULLONG,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Choice,
    Const,
    Declare,
    DeclareArray,
    DoWhile,
    Element,
    Expr,
    For,
    Function,
    GeneratedProgram,
    GotoLoop,
    If,
    Param,
    Return,
    Step,
    Stmt,
    Switch,
    Unary,
    Var,
    While,
    used,
    walk,
)
from loopless_fuzz.generator.validate import valid

_Node = TypeVar("_Node")
_EXPRESSIONS = (Const, Var, Element, Unary, Binary, Cast, Choice, Call)


def minimize(case: Case, still_fails: Callable[[Case], bool], budget: int = 1000) -> Case:
    """The smallest case found that still fails.

    ``still_fails`` is asked at most ``budget`` times, only about valid programs, and not about ``case`` itself, which
    is taken to fail; it must not raise.
    """
    tried = {case}
    start = 0
    while True:
        before = size(case)
        for place, candidate in enumerate(_candidates(case)):
            if place < start or candidate in tried or size(candidate) >= before or not valid(candidate.program):
                continue
            if len(tried) > budget:
                return case
            tried.add(candidate)
            if still_fails(candidate):
                # Go on from here: what stands before this place has just been refused.
                case, start = candidate, place
                break
        else:
            if start == 0:
                return case
            start = 0  # what was refused before may do now


def size(case: Case) -> int:
    """How large a case is: its nodes, weighted so that simpler kinds weigh less, and the bits of its numbers."""
    return sum(map(_weight, walk(case.program))) + _input_bits(case.args) + _input_bits(case.nondet) + len(case.nondet)


def _weight(node: object) -> int:
    match node:
        case Const(value, ctype):
            return 8 + abs(value).bit_length() * 2 + (value < 0) + (ctype != INT)
        case Var():
            return 12
        case Declare(_, ctype) | DeclareArray(_, ctype):
            return 20 + (ctype != INT) * 2
        case Param(_, ctype, array):
            return 60 + (ctype != INT) * 2 + 40 * array
        case While():
            return 20
        case For():
            return 22
        case DoWhile():
            return 23
        case GotoLoop():
            return 26
        case Switch(_, cases):
            return 25 + 10 * len(cases)
        case Assign(_, op):
            return 10 + 2 * bool(op)
        case Function(_, result):
            return 10 + (result != INT) * 2
        case _:
            return 10


def _input_bits(values: Arguments) -> int:
    total = 0
    for value in values:
        total += sum(
            abs(item).bit_length() * 2 + (item < 0) for item in (value if isinstance(value, tuple) else (value,))
        )
    return total


# ------------------------------------------------------------------------------------------------------ candidates


def _candidates(case: Case) -> Iterator[Case]:
    """Smaller cases, the most promising first."""
    program = case.program
    yield from _shorter_streams(case)
    for body in _blocks(program.function.body):
        yield replace(case, program=replace(program, function=replace(program.function, body=body)))
    yield from _fewer_parameters(case)
    for smaller in _program_parts(program):
        yield replace(case, program=smaller)
    for args in _inputs(case.args):
        yield replace(case, args=args)
    yield from _streams(case)


def _program_parts(program: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """Without a helper or a global, with smaller helpers, with ``int`` for other types."""
    for at, helper in enumerate(program.helpers):
        if isinstance(helper, Function):
            for index, param in enumerate(helper.params):
                yield _without_parameter(program, at, index)
                if param.type != INT:
                    params = (*helper.params[:index], replace(param, type=INT), *helper.params[index + 1 :])
                    changed = replace(helper, params=params)
                    yield replace(program, helpers=(*program.helpers[:at], changed, *program.helpers[at + 1 :]))
            if helper.result != INT:
                changed = replace(helper, result=INT)
                yield replace(program, helpers=(*program.helpers[:at], changed, *program.helpers[at + 1 :]))
    for index, helper in enumerate(program.helpers):
        yield replace(program, helpers=program.helpers[:index] + program.helpers[index + 1 :])
        if isinstance(helper, Function):
            for body in _blocks(helper.body):
                changed = replace(helper, body=body)
                yield replace(program, helpers=(*program.helpers[:index], changed, *program.helpers[index + 1 :]))
    for index in range(len(program.arrays)):
        yield replace(program, arrays=program.arrays[:index] + program.arrays[index + 1 :])
    for index in range(len(program.globals)):
        yield replace(program, globals=program.globals[:index] + program.globals[index + 1 :])
    if program.function.result != INT:
        yield replace(program, function=replace(program.function, result=INT))


def _fewer_parameters(case: Case) -> Iterator[Case]:
    """Without a parameter: dropped where it is not used, else a local with the value of the input."""
    function = case.program.function
    names = used(function.body)
    for index, (param, argument) in enumerate(zip(function.params, case.args, strict=True)):
        args = case.args[:index] + case.args[index + 1 :]
        params = function.params[:index] + function.params[index + 1 :]
        bodies: list[Block] = [function.body]
        if function.name in names:  # calls of itself lose their argument, too
            bodies = [cast("Block", _without_argument(function.body, function.name, index))]
        elif param.name in names:
            if isinstance(argument, tuple):
                bodies = [(DeclareArray(param.name, param.type, argument), *function.body)]
            else:
                bodies = [(Declare(param.name, param.type, _literal(argument)), *function.body)]
        for body in bodies:
            smaller = replace(function, params=params, body=body)
            yield replace(case, program=replace(case.program, function=smaller), args=args)
        if param.type != INT and not param.array and isinstance(argument, int) and INT.low <= argument <= INT.high:
            typed = (*function.params[:index], replace(param, type=INT), *function.params[index + 1 :])
            yield replace(case, program=replace(case.program, function=replace(function, params=typed)))


def _without_parameter(program: GeneratedProgram, at: int, index: int) -> GeneratedProgram:
    """A helper and all its calls without an argument; valid only where the helper does not name it."""
    helper = program.helpers[at]
    assert isinstance(helper, Function)
    changed = replace(helper, params=helper.params[:index] + helper.params[index + 1 :])
    helpers = (*program.helpers[:at], changed, *program.helpers[at + 1 :])
    smaller = replace(program, helpers=helpers)
    return cast("GeneratedProgram", _without_argument(smaller, helper.name, index))


def _without_argument(node: object, function: str, index: int) -> object:
    """A tree in which all calls of a function have lost an argument."""
    if isinstance(node, tuple):
        return tuple(_without_argument(item, function, index) for item in node)
    if not is_dataclass(node) or isinstance(node, CType):
        return node
    if isinstance(node, Call) and node.function == function and index < len(node.args):
        node = replace(node, args=node.args[:index] + node.args[index + 1 :])
    parts = {spec.name: _without_argument(getattr(node, spec.name), function, index) for spec in fields(node)}
    return replace(cast(Any, node), **parts)


def _literal(value: int) -> Const:
    for ctype in (INT, UINT, LLONG):
        if ctype.low <= value <= ctype.high:
            return Const(value, ctype)
    return Const(value, ULLONG)


def _inputs(args: Arguments) -> Iterator[Arguments]:
    for index, value in enumerate(args):
        if isinstance(value, tuple):
            smaller: Iterator[int | tuple[int, ...]] = (
                (*value[:at], item, *value[at + 1 :]) for at, old in enumerate(value) for item in _numbers(old)
            )
        else:
            smaller = _numbers(value)
        for item in smaller:
            yield (*args[:index], item, *args[index + 1 :])


def _shorter_streams(case: Case) -> Iterator[Case]:
    stream = case.nondet
    for cut in (0, len(stream) // 2, len(stream) - 1):
        if 0 <= cut < len(stream):
            yield replace(case, nondet=stream[:cut])


def _streams(case: Case) -> Iterator[Case]:
    stream = case.nondet
    for at, value in enumerate(stream[:40]):
        for number in _numbers(value):
            yield replace(case, nondet=(*stream[:at], number, *stream[at + 1 :]))


def _numbers(value: int) -> Iterator[int]:
    """Numbers nearer to zero."""
    if value:
        yield 0
        yield value // 2 if value > 0 else -(-value // 2)
        if value < 0 and value != -(1 << 63):
            yield -value
        yield value - 1 if value > 0 else value + 1


# ------------------------------------------------------------------------------------------------------ the tree


def smaller_blocks(block: Block) -> Iterator[Block]:
    """A block with less in it, the most promising first; not all of them mean something."""
    return _blocks(block)


def _blocks(block: Block) -> Iterator[Block]:
    """A block with less in it: chunks left out, bodies hoisted, statements made smaller."""
    length = len(block)
    chunk = length
    while chunk:
        for start in range(0, length, chunk):
            rest = block[:start] + block[start + chunk :]
            if rest or not any(isinstance(stmt, Return) for stmt in block):
                yield rest
        chunk //= 2
    for index, stmt in enumerate(block):
        for body in _hoisted(stmt):
            yield (*block[:index], *body, *block[index + 1 :])
    for index, stmt in enumerate(block):
        for smaller in _statements(stmt):
            yield (*block[:index], smaller, *block[index + 1 :])


def _hoisted(stmt: Stmt) -> Iterator[Block]:
    """What may stand for a compound statement: its parts, or a simpler statement of the same kind."""
    match stmt:
        case If(_, then, otherwise):
            yield then
            yield otherwise
        case While(_, body):
            yield body
        case DoWhile(body, condition) | GotoLoop(_, condition, body, _):
            yield body
            yield (While(condition, body),)
        case For(start, condition, step, body):
            first: Block = (start,) if start else ()
            yield (*first, *body)
            if condition is not None:
                yield (*first, While(condition, (*body, step) if step else body))
        case Switch(_, cases, default):
            yield default
            for _, arm in cases:
                yield arm
        case _:
            return


def _statements(stmt: Stmt) -> Iterator[Stmt]:
    """A statement with a smaller part."""
    yield from _plainer(stmt)
    for spec in fields(stmt):
        value = getattr(stmt, spec.name)
        if spec.name == "target":
            continue
        if isinstance(value, _EXPRESSIONS):
            for smaller in _expressions(value):
                yield _with(stmt, spec.name, smaller)
        elif isinstance(value, Assign | Step):
            for part in _statements(value):
                yield _with(stmt, spec.name, part)
        elif spec.name in {"body", "then", "otherwise", "default"}:
            for block in _blocks(cast("Block", value)):
                yield _with(stmt, spec.name, block)


def _plainer(stmt: Stmt) -> Iterator[Stmt]:
    """The same statement without one of its own features."""
    match stmt:
        case Declare(_, ctype) if ctype != INT:
            yield replace(stmt, type=INT)
        case Assign(_, op) if op:
            yield replace(stmt, op="")
        case Switch(_, cases):
            for index in range(len(cases)):
                yield replace(stmt, cases=cases[:index] + cases[index + 1 :])
                for arm in _blocks(cases[index][1]):
                    yield replace(stmt, cases=(*cases[:index], (cases[index][0], arm), *cases[index + 1 :]))
        case For(start, _, step):
            if start:
                yield replace(stmt, start=None)
            if step:
                yield replace(stmt, step=None)
        case _:
            return


def _with(node: _Node, name: str, part: object) -> _Node:
    """The node with another part; the tree's types are kept by the callers, which replace like by like."""
    changed: dict[str, Any] = {name: part}
    return cast(_Node, replace(cast(Any, node), **changed))


def _expressions(expr: Expr) -> Iterator[Expr]:
    """An expression with less in it: a constant, one of its operands, or the same with a smaller operand."""
    match expr:
        case Const(value, ctype):
            for number in _numbers(value):
                yield Const(number, ctype)
            if ctype != INT and INT.low <= value <= INT.high:
                yield Const(value)
            return
        case _:
            yield Const(0)
            yield Const(1)
    for spec in fields(expr):
        value = getattr(expr, spec.name)
        operands = value if isinstance(value, tuple) else (value,)
        for index, operand in enumerate(operands):
            if not isinstance(operand, _EXPRESSIONS):
                continue
            if not isinstance(expr, Element):
                yield operand
            for smaller in _expressions(operand):
                changed = (*operands[:index], smaller, *operands[index + 1 :]) if isinstance(value, tuple) else smaller
                yield _with(expr, spec.name, changed)
