"""The small C language of generated programs: an immutable syntax tree, and what can be asked of it.

Generated programs have no undefined behaviour but signed overflow, division by zero and shifts that are too far or lose
bits, which native runs detect. That holds by construction: side effects are statements of their own, every variable is
declared with a value, and an array index is masked (:attr:`Element.masked`) or is the counter of a bounded ``for``.
Programs that read data (:mod:`loopless_fuzz.generator.data`) bound their indices as people do, before the loop.
:class:`OverwriteByte`, :class:`CopyElements`, :class:`Walk` and :class:`OverwriteTable` may be undefined in their own
ways; only profiles that ask for it have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Final, Literal

from loopless.check.oracle.signature import CType, PointerType, Signature

SCHAR: Final = CType("signed char", 8, True)
UCHAR: Final = CType("unsigned char", 8, False)
SHORT: Final = CType("short", 16, True)
USHORT: Final = CType("unsigned short", 16, False)
INT: Final = CType("int", 32, True)
UINT: Final = CType("unsigned int", 32, False)
LLONG: Final = CType("long long", 64, True)
ULLONG: Final = CType("unsigned long long", 64, False)
BOOL: Final = CType("_Bool", 8, False)
CHAR: Final = CType("char", 8, True)
TYPES: Final = (SCHAR, UCHAR, SHORT, USHORT, INT, UINT, LLONG, ULLONG)

ARRAY_LENGTH: Final = 8
"""The length of every generated array; a power of two, so that a mask keeps an index inside."""
DATA_LENGTH: Final = 18
"""The length of the arrays that read-only parameters point to, and of global ones."""


# ---------------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Const:
    """A literal of one of the types that literals have: ``int``, ``unsigned int``, ``long long`` or its unsigned."""

    value: int
    type: CType = INT


@dataclass(frozen=True, slots=True)
class Var:
    """A parameter, local or global scalar."""

    name: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array; ``masked`` prints the index as ``index & 7``, which is in range whatever it is."""

    array: str
    index: Expr
    masked: bool = True


@dataclass(frozen=True, slots=True)
class Unary:
    """``-``, ``~`` or ``!``, or ``*`` of a pointer."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary:
    """An arithmetic, bitwise, comparing or short-circuiting operator."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion to ``type``."""

    type: CType
    operand: Expr


@dataclass(frozen=True, slots=True)
class Choice:
    """``condition ? then : otherwise``."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a helper function without side effects, or of an input function."""

    function: str
    args: tuple[Expr, ...] = ()


Expr = Const | Var | Element | Unary | Binary | Cast | Choice | Call

# ----------------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Declare:
    """A local scalar with its initial value."""

    name: str
    type: CType
    value: Expr


@dataclass(frozen=True, slots=True)
class DeclareArray:
    """A local array with its initial values, at least :data:`ARRAY_LENGTH`; ``constant``: of constants."""

    name: str
    type: CType
    values: tuple[int, ...]
    constant: bool = False


@dataclass(frozen=True, slots=True)
class DeclarePointer:
    """``const type *name = array + offset``: a local pointer to elements that are only read."""

    name: str
    type: CType
    array: str
    offset: Expr


@dataclass(frozen=True, slots=True)
class Assign:
    """``target op= value``; ``op`` is empty for a plain assignment."""

    target: Var | Element
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Step:
    """``++`` or ``--`` of a variable as a statement."""

    target: Var
    op: Literal["++", "--"]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call of a helper that changes a variable through a pointer: ``bump(&x)``."""

    function: str
    target: Var


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression as a statement: a call, mostly. Programs of one function have none."""

    value: Expr


@dataclass(frozen=True, slots=True)
class If:
    """A branch; an empty ``otherwise`` prints no ``else``."""

    condition: Expr
    then: Block
    otherwise: Block = ()


@dataclass(frozen=True, slots=True)
class While:
    """A loop tested first."""

    condition: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class DoWhile:
    """A loop tested last."""

    body: Block
    condition: Expr


@dataclass(frozen=True, slots=True)
class For:
    """A ``for`` loop over an already declared variable."""

    start: Assign | None
    condition: Expr | None
    step: Assign | Step | None
    body: Block


@dataclass(frozen=True, slots=True)
class GotoLoop:
    """A loop made of labels and jumps; ``label`` is unique in its function."""

    label: int
    condition: Expr
    body: Block
    test_first: bool


@dataclass(frozen=True, slots=True)
class Switch:
    """A ``switch`` whose cases all end in ``break``; the last arm is the default."""

    subject: Expr
    cases: tuple[tuple[int, Block], ...]
    default: Block


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the innermost loop."""


@dataclass(frozen=True, slots=True)
class Continue:
    """Go on with the next iteration."""


@dataclass(frozen=True, slots=True)
class Return:
    """Leave the function with a value."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Assume:
    """An assumption; runs for which it is false do not count."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class OverwriteByte:
    """``*(unsigned char *)&target = value``, ``target`` a ``_Bool``."""

    target: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class CopyElements:
    """``memcpy`` (``moves``: ``memmove``) of up to 3 elements of an array from one place in it to another.

    Places and length are masked by 3, so that all lies inside the array.
    """

    array: str
    to: Expr
    source: Expr
    length: Expr
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """A pointer that goes over the first ``limit`` elements of an array (masked by 15, so perhaps past its end) and
    adds them to ``target``.
    """

    array: str
    limit: Expr
    target: Var


@dataclass(frozen=True, slots=True)
class OverwriteTable:
    """``((type *)table)[index] = value``, the index masked, of a table of constants."""

    table: str
    type: CType
    index: Expr
    value: Expr


Loop = While | DoWhile | For | GotoLoop
Stmt = (
    Declare
    | DeclareArray
    | DeclarePointer
    | Assign
    | Step
    | Invoke
    | Evaluate
    | If
    | While
    | DoWhile
    | For
    | GotoLoop
    | Switch
    | Break
    | Continue
    | Return
    | Assume
    | OverwriteByte
    | CopyElements
    | Walk
    | OverwriteTable
)
Block = tuple[Stmt, ...]

# ------------------------------------------------------------------------------------------------------- programs


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter; ``array`` makes it a pointer to :data:`ARRAY_LENGTH` elements, with ``constant`` one to
    :data:`DATA_LENGTH` that are only read.
    """

    name: str
    type: CType
    array: bool = False
    constant: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A function; its body ends in a ``return``."""

    name: str
    result: CType
    params: tuple[Param, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Reference:
    """A helper ``static void name(type *p) { *p op= amount; }``."""

    name: str
    type: CType
    op: str
    amount: int


@dataclass(frozen=True, slots=True)
class GlobalVar:
    """A global scalar with its initial value."""

    name: str
    type: CType
    value: int


@dataclass(frozen=True, slots=True)
class GlobalArray:
    """A global array with its initial values, that nothing writes; ``constant``: declared so."""

    name: str
    type: CType
    values: tuple[int, ...]
    constant: bool = False


@dataclass(frozen=True, slots=True)
class GeneratedProgram:
    """A program: globals, helpers (each may use those before it), and the function under test."""

    globals: tuple[GlobalVar, ...]
    helpers: tuple[Function | Reference, ...]
    function: Function
    arrays: tuple[GlobalArray, ...] = ()

    @property
    def signature(self) -> Signature:
        """How the function under test is called."""
        params = tuple(PointerType(param.type) if param.array else param.type for param in self.function.params)
        return Signature(params, self.function.result)


def parts(node: object) -> Iterator[object]:
    """All nodes directly below a node, in the order of the source."""
    if isinstance(node, tuple):
        for item in node:
            if isinstance(item, tuple):
                yield from parts(item)
            elif not isinstance(item, int | str):
                yield item
        return
    if isinstance(node, CType):
        return
    for spec in fields(node):  # type: ignore[arg-type]
        value = getattr(node, spec.name)
        if isinstance(value, tuple):
            yield from parts(value)
        elif value is not None and not isinstance(value, int | str):
            yield value


def walk(node: object) -> Iterator[object]:
    """A node and everything below it, from the outside in, in the order of the source (types left out)."""
    if isinstance(node, CType):
        return
    if not isinstance(node, tuple):
        yield node
    for part in parts(node):
        yield from walk(part)


def assigned(node: object) -> frozenset[str]:
    """The scalars that a statement or block may change."""
    names: set[str] = set()
    for item in walk(node):
        if isinstance(item, Assign | Step | Invoke | OverwriteByte | Walk) and isinstance(item.target, Var):
            names.add(item.target.name)
        elif isinstance(item, Declare | DeclarePointer):
            names.add(item.name)
    return frozenset(names)


def used(node: object) -> frozenset[str]:
    """The scalars, arrays and functions that are named below a node."""
    names: set[str] = set()
    for item in walk(node):
        if isinstance(item, Var):
            names.add(item.name)
        elif isinstance(item, Element | CopyElements | Walk | DeclarePointer):
            names.add(item.array)
        elif isinstance(item, OverwriteTable):
            names.add(item.table)
        elif isinstance(item, Call | Invoke):
            names.add(item.function)
    return frozenset(names)
