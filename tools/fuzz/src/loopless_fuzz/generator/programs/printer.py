"""Programs of several functions as C, with comments where :mod:`loopless_fuzz.judging.counting` puts counters.

The comments change nothing of what a compiler reads, but for brackets around conditions and empty statements; so the
program that is analysed and the one that counts have the same lines.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count

from loopless_fuzz.generator.printer import expression, lines_of
from loopless_fuzz.generator.programs.model import VOID, Program, Routine
from loopless_fuzz.generator.syntax import (
    Block,
    Call,
    DoWhile,
    Evaluate,
    Expr,
    For,
    GotoLoop,
    If,
    Return,
    Stmt,
    Switch,
    Var,
    While,
    walk,
)

_INPUTS = {
    "__VERIFIER_nondet_int": "extern int __VERIFIER_nondet_int(void);",
    "__VERIFIER_nondet_uint": "extern unsigned int __VERIFIER_nondet_uint(void);",
    "__VERIFIER_nondet_char": "extern char __VERIFIER_nondet_char(void);",
    "exit": "extern void exit(int);",
}


def print_program(program: Program) -> str:
    """The program as one C file."""
    bodies = [routine.body for routine in program.routines]
    called = {node.function for body in bodies for node in walk(body) if isinstance(node, Call)}
    lines = [text for name, text in _INPUTS.items() if name in called]
    lines += [program.structure.text] if program.structure is not None else []
    lines += [shared.text for shared in program.globals if not shared.of_functions]
    lines += [f"{routine.head};" for routine in program.routines if routine.name != "main"]
    lines += [shared.text for shared in program.globals if shared.of_functions]
    numbers = _Marks()
    for routine in program.routines:
        lines += [routine.head, "{", f"    /*begin {_facts(routine)}*/;"]
        lines += lines_of(numbers.block(routine.body, routine.result))
        lines += ["    /*leave*/;"] if routine.result == VOID else []
        lines.append("}")
    return "\n".join(lines) + "\n"


def _facts(routine: Routine) -> str:
    regions = "; ".join("=".join(region) for region in routine.regions)
    return f"{routine.name} | {'; '.join(routine.watched)} | {regions}"


class _Marks:
    """Puts comments into blocks; loops are numbered through the program."""

    def __init__(self) -> None:
        self._loops = count()

    def block(self, block: Block, result: object) -> Block:
        """The block with comments at its loops and at the ends of its function."""
        return tuple(stmt for each in block for stmt in self._statement(each, result))

    def _statement(self, stmt: Stmt, result: object) -> Block:
        match stmt:
            case Return() if result == VOID:
                return Evaluate(Var("/*leave*/")), Evaluate(Var("return"))
            case Return(value):
                return (Return(Var(f"/*leave*/({expression(value)})")),)
            case If(condition, then, otherwise):
                return (If(condition, self.block(then, result), self.block(otherwise, result)),)
            case Switch(subject, cases, default):
                arms = tuple((value, self.block(arm, result)) for value, arm in cases)
                return (Switch(subject, arms, self.block(default, result)),)
            case While(condition, body):
                number, enter = self._number()
                return enter, While(_head(number, condition), self.block(body, result))
            case For(_, condition, _, body):
                number, enter = self._number()
                tested = _head(number, condition) if condition is not None else None
                return enter, replace(stmt, condition=tested, body=self.block(body, result))
            case DoWhile(body, condition):
                number, enter = self._number()
                return enter, DoWhile((_body(number), *self.block(body, result)), condition)
            case GotoLoop(_, condition, body, test_first):
                number, enter = self._number()
                inside = self.block(body, result)
                if test_first:
                    return enter, replace(stmt, condition=_head(number, condition), body=inside)
                return enter, replace(stmt, body=(_body(number), *inside))
            case _:
                return (stmt,)

    def _number(self) -> tuple[int, Stmt]:
        number = next(self._loops)
        return number, Evaluate(Var(f"/*enter {number}*/"))


def _head(number: int, condition: Expr) -> Var:
    return Var(f"/*head {number}*/({expression(condition)})")


def _body(number: int) -> Stmt:
    return Evaluate(Var(f"/*body {number}*/"))
