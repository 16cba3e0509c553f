"""Reads the debug records between instructions: which variable lives where, or has which value."""

from __future__ import annotations

import re
from typing import Final

from loopless.patterns import pattern
from loopless.source.constants import Constants
from loopless.source.ir import Instruction, Local, Poison, Value, VoidT
from loopless.source.lexer import Cursor, Unread, tokenize
from loopless.source.metadata import Metadata

_VOID: Final = VoidT()
_RECORD: Final = pattern(r"#dbg_(\w+)\((.*)\)$")
_CALL: Final = pattern(r"(?:tail |notail )?call void @llvm\.dbg\.(\w+)\((.*)\)")
_PLACE: Final = pattern(r"!dbg !(\d+)")
_OPS: Final = {"declare": "dbg_declare", "value": "dbg_value", "assign": "dbg_value"}


def read_record(constants: Constants, metadata: Metadata, text: str, locals_: dict[str, Local]) -> Instruction | None:
    """A debug record (``#dbg_value(…)``, or the call of ``@llvm.dbg.value`` of LLVM 18 and before); else None.

    Records of other kinds, and such as we cannot read, become ``dbg_label``: they change nothing.
    """
    m = _RECORD.match(text) or (_CALL.match(text) if "@llvm.dbg." in text else None)
    if m is None:
        return None
    kind, inside = m.groups()
    place = _PLACE.search(text)
    if text.startswith("#"):
        inside, _, last = inside.rpartition(", ")
        place = re.match(r"!(\d+)", last)
    number = int(place.group(1)) if place is not None else None
    if kind in _OPS:
        try:
            return _variable_record(constants, metadata, _OPS[kind], inside, number, locals_)
        except (Unread, KeyError, IndexError, ValueError):
            pass
    return Instruction("dbg_label", None, _VOID, loc=None if number is None else metadata.location(number), text=text)


def _variable_record(
    constants: Constants, metadata: Metadata, op: str, inside: str, place: int | None, locals_: dict[str, Local]
) -> Instruction:
    c = Cursor(tokenize(inside))
    c.accept("metadata")
    operands: list[Value] = []
    if c.accept("!DIArgList"):
        c.expect("(")
        while not c.accept(")"):
            c.accept(",")
            operands.append(constants.typed(c, locals_))
    elif c.peek()[:1] == "!":  # an empty node: the value is lost
        c.next()
        if c.accept("{"):
            c.expect("}")
    else:
        operands.append(constants.typed(c, locals_))
    c.expect(",")
    c.accept("metadata")
    variable = metadata.variable(int(c.next()[1:]), place)
    c.expect(",")
    c.accept("metadata")
    c.expect("!DIExpression")
    expression = c.balanced()[1:-1]
    if any(isinstance(v, Poison) for v in operands):
        operands = []
    at = variable.declared if variable is not None else None
    return Instruction(op, None, _VOID, tuple(operands), variable=variable, expression=expression, loc=at)
