"""Print generated programs as C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from loopless.check.oracle.signature import CType
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
    Param,
    Reference,
    Return,
    Step,
    Stmt,
    Switch,
    Unary,
    Var,
    Walk,
    While,
    walk,
)

_LEVELS: Final = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVEL: Final = {op: level for level, ops in enumerate(_LEVELS, start=1) for op in ops}
_UNARY: Final = len(_LEVELS) + 1
_PRIMARY: Final = _UNARY + 1
_CLEAR: Final = frozenset({"+", "-", "*", "<", "<=", ">", ">=", "==", "!=", "&&", "||"})
_CHAIN: Final = frozenset({"+", "-", "*", "&&", "||", "&", "|", "^"})
_INPUT: Final = {
    "__VERIFIER_nondet_int": "int",
    "__VERIFIER_nondet_uint": "unsigned int",
    "__VERIFIER_nondet_char": "char",
}


def constant(value: int, ctype: CType) -> str:
    """A literal of a type, in brackets where it is not one token."""
    suffix = ("" if ctype.signed else "U") + ("LL" if ctype.bits == 64 else "")
    if value == ctype.low and ctype.signed and ctype.bits >= 32:
        return f"(-{-value - 1}{suffix} - 1)"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def expression(expr: Expr, above: int = 0) -> str:
    """An expression in C, in brackets where the operator above (its level) or clarity asks for them."""
    text, level = _expression(expr)
    return f"({text})" if level < above else text


def _expression(expr: Expr) -> tuple[str, int]:
    match expr:
        case Const(value, ctype):
            return constant(value, ctype), _PRIMARY
        case Var(name):
            return name, _PRIMARY
        case Element(array, index, masked):
            inner = _masked(index, ARRAY_LENGTH - 1) if masked else expression(index)
            return f"{array}[{inner}]", _PRIMARY
        case Unary(op, operand):
            return f"{op}{expression(operand, _PRIMARY)}", _UNARY
        case Cast(ctype, operand):
            return f"({ctype.name}){expression(operand, _PRIMARY)}", _UNARY
        case Choice(condition, then, otherwise):
            return f"{expression(condition, 1)} ? {expression(then, 1)} : {expression(otherwise, 1)}", 0
        case Call(function, args):
            return f"{function}({', '.join(expression(arg) for arg in args)})", _PRIMARY
        case Binary(op, left, right):
            level = _LEVEL[op]
            return f"{_operand(left, op, level)} {op} {_operand(right, op, level + 1)}", level
        case _:
            assert_never(expr)


def _masked(expr: Expr, mask: int) -> str:
    return f"{expression(expr, _UNARY)} & {mask}"


def _operand(expr: Expr, op: str, above: int) -> str:
    """An operand, bracketed also where C would not need it but readers like it."""
    if isinstance(expr, Binary):
        chain = expr.op == op and op in _CHAIN
        clear = expr.op in _CLEAR and op in _CLEAR and _LEVEL[expr.op] != _LEVEL[op] and {expr.op, op} != {"&&", "||"}
        if not (chain or clear):
            above = _UNARY
    return expression(expr, above)


def lines_of(block: Block, indent: str = "    ") -> Iterator[str]:
    """The lines of a block, without its braces."""
    return _block(block, indent)


def _block(block: Block, indent: str) -> Iterator[str]:
    for stmt in block:
        yield from _statement(stmt, indent)


def _simple(stmt: Assign | Step) -> str:
    match stmt:
        case Assign(target, op, value):
            return f"{expression(target)} {op}= {expression(value)}"
        case Step(target, op, prefix):
            return f"{op}{target.name}" if prefix else f"{target.name}{op}"


def _statement(stmt: Stmt, indent: str) -> Iterator[str]:
    deeper = indent + "    "
    match stmt:
        case Declare() | DeclareArray() | DeclarePointer():
            yield indent + _declaration(stmt)
        case Assign() | Step():
            yield f"{indent}{_simple(stmt)};"
        case Invoke(function, target):
            yield f"{indent}{function}(&{target.name});"
        case Evaluate(value):
            yield f"{indent}{expression(value)};"
        case OverwriteByte() | CopyElements() | OverwriteTable() | Walk():
            yield indent + _undefined(stmt)
        case Break():
            yield f"{indent}break;"
        case Continue():
            yield f"{indent}continue;"
        case Return(value):
            yield f"{indent}return {expression(value)};"
        case Assume(condition):
            yield f"{indent}__VERIFIER_assume({expression(condition)});"
        case If(condition, then, otherwise):
            yield f"{indent}if ({expression(condition)}) {{"
            yield from _block(then, deeper)
            if otherwise:
                yield f"{indent}}} else {{"
                yield from _block(otherwise, deeper)
            yield f"{indent}}}"
        case Switch(subject, cases, default):
            yield f"{indent}switch ({expression(subject)}) {{"
            for number, body in cases:
                yield f"{indent}case {number}:"
                yield from _block(body, deeper)
                yield f"{deeper}break;"
            yield f"{indent}default:"
            yield from _block(default, deeper)
            yield f"{deeper}break;"
            yield f"{indent}}}"
        case _:
            yield from _loop(stmt, indent)


def _declaration(stmt: Declare | DeclareArray | DeclarePointer) -> str:
    match stmt:
        case Declare(name, ctype, value):
            return f"{ctype.name} {name} = {expression(value)};"
        case DeclareArray(name, ctype, values, constant):
            static = "static const " if constant else ""
            return f"{static}{ctype.name} {name}[{len(values)}] = {{{', '.join(map(str, values))}}};"
        case DeclarePointer(name, ctype, array, offset):
            start = array if offset == Const(0) else expression(Binary("+", Var(array), offset))
            return f"const {ctype.name} *{name} = {start};"


def _undefined(stmt: OverwriteByte | CopyElements | OverwriteTable | Walk) -> str:
    match stmt:
        case OverwriteByte(target, value):
            return f"*(unsigned char *)&{target.name} = {expression(value)};"
        case CopyElements(array, to, source, length, moves):
            called = "__builtin_memmove" if moves else "__builtin_memcpy"
            first, second = (f"&{array}[{_masked(at, 3)}]" for at in (to, source))
            return f"{called}({first}, {second}, ({_masked(length, 3)}) * sizeof *{array});"
        case OverwriteTable(table, ctype, index, value):
            at = _masked(index, ARRAY_LENGTH - 1)
            return f"(({ctype.name} *){table})[{at}] = {expression(value)};"
        case Walk(array, limit, target):
            walker = f"__typeof__(*{array}) *walker = {array}, *end = {array} + ({_masked(limit, 15)})"
            return f"for ({walker}; walker < end; walker++) {target.name} += *walker;"


def _loop(stmt: While | DoWhile | For | GotoLoop, indent: str) -> Iterator[str]:
    deeper = indent + "    "
    match stmt:
        case While(condition, body):
            yield f"{indent}while ({expression(condition)}) {{"
            yield from _block(body, deeper)
            yield f"{indent}}}"
        case DoWhile(body, condition):
            yield f"{indent}do {{"
            yield from _block(body, deeper)
            yield f"{indent}}} while ({expression(condition)});"
        case For(start, until, step, body):
            head = "; ".join(
                (
                    _simple(start) if start else "",
                    expression(until) if until is not None else "",
                    _simple(step) if step else "",
                )
            )
            yield f"{indent}for ({head}) {{"
            yield from _block(body, deeper)
            yield f"{indent}}}"
        case GotoLoop(label, condition, body, test_first):
            yield f"again{label}:"
            if test_first:
                yield f"{indent}if (!({expression(condition)})) goto done{label};"
            yield f"{indent}{{"
            yield from _block(body, deeper)
            yield f"{indent}}}"
            if test_first:
                yield f"{indent}goto again{label};"
                yield f"done{label}:;"
            else:
                yield f"{indent}if ({expression(condition)}) goto again{label};"
        case _:
            assert_never(stmt)


def _parameter(param: Param) -> str:
    if param.constant:
        return f"const {param.type.name} *{param.name}"
    return f"{param.type.name} {param.name}" + (f"[{ARRAY_LENGTH}]" if param.array else "")


def _function(function: Function, *, static: bool) -> Iterator[str]:
    params = ", ".join(_parameter(param) for param in function.params) or "void"
    yield f"{'static ' if static else ''}{function.result.name} {function.name}({params})"
    yield "{"
    yield from _block(function.body, "    ")
    yield "}"


def print_program(program: GeneratedProgram) -> str:
    """The program as one self-contained C file."""
    lines: list[str] = []
    nodes = list(walk(program))
    if any(isinstance(node, Assume) for node in nodes):
        lines.append("extern void __VERIFIER_assume(int);")
    called = {node.function for node in nodes if isinstance(node, Call)}
    lines.extend(f"extern {ctype} {name}(void);" for name, ctype in _INPUT.items() if name in called)
    lines.extend(f"{var.type.name} {var.name} = {_initial(var.value, var.type)};" for var in program.globals)
    for array in program.arrays:
        kind = f"{'static const ' if array.constant else ''}{array.type.name}"
        lines.append(f"{kind} {array.name}[{len(array.values)}] = {{{', '.join(map(str, array.values))}}};")
    for helper in program.helpers:
        match helper:
            case Reference(name, ctype, op, amount):
                lines.append(f"static void {name}({ctype.name} *p) {{ *p {op}= {amount}; }}")
            case Function():
                lines.extend(_function(helper, static=True))
    lines.extend(_function(program.function, static=False))
    return "\n".join(lines) + "\n"


def _initial(value: int, ctype: CType) -> str:
    return constant(value, ctype).strip("()") if value != ctype.low or not ctype.signed else constant(value, ctype)
