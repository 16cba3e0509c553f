"""Programs of several functions: what the small language of :mod:`loopless_fuzz.generator.syntax` has not.

What names memory is an expression of that language all the same: a scalar may be called ``s->a`` or ``(*p)``, an array
``g.v``, and an address that is passed on is a variable ``&x``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from loopless.check.oracle.signature import CType
from loopless_fuzz.generator.syntax import ARRAY_LENGTH, Block

VOID: Final = CType("void", 0, signed=False)
CALLBACK: Final = "int (*{})(int)"
"""How a variable that holds one of the functions is declared that others are given to call."""

Kind = Literal["value", "pointer", "array", "structure", "callback"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: an integer, a pointer to one (``type``), to :data:`ARRAY_LENGTH` of them, to a structure, or a
    function ``int (int)``.
    """

    name: str
    kind: Kind
    type: CType

    @property
    def text(self) -> str:
        """The declaration."""
        match self.kind:
            case "value":
                return f"{self.type.name} {self.name}"
            case "pointer":
                return f"{self.type.name} *{self.name}"
            case "array":
                return f"{self.type.name} {self.name}[{ARRAY_LENGTH}]"
            case "structure":
                return f"struct S *{self.name}"
            case "callback":
                return CALLBACK.format(self.name)


@dataclass(frozen=True, slots=True)
class Structure:
    """``struct S``: scalars, perhaps an array ``v``, a pointer ``p`` to an integer, and a pointer ``o`` to another."""

    scalars: tuple[tuple[str, CType], ...]
    array: CType | None
    pointee: CType | None
    linked: bool

    @property
    def text(self) -> str:
        """The declaration."""
        members = [f"{ctype.name} {name};" for name, ctype in self.scalars]
        members += [f"{self.array.name} v[{ARRAY_LENGTH}];"] if self.array is not None else []
        members += [f"{self.pointee.name} *p;"] if self.pointee is not None else []
        members += ["struct S *o;"] if self.linked else []
        return f"struct S {{ {' '.join(members)} }};"


@dataclass(frozen=True, slots=True)
class Shared:
    """A global: its name, its declaration, and whether it stands behind the functions' prototypes, which it names."""

    name: str
    text: str
    of_functions: bool = False


@dataclass(frozen=True, slots=True)
class Routine:
    """A function. ``watched``: what a count notes at each entry, integers by their expressions; ``regions``: objects
    that may overlap there, by name, each with an address and a size.
    """

    name: str
    result: CType
    params: tuple[Parameter, ...]
    body: Block
    watched: tuple[str, ...] = ()
    regions: tuple[tuple[str, str, str], ...] = ()
    static: bool = True
    measured: bool = False
    """Whether its first argument bounds how deep it calls itself, so that callers keep it small."""

    @property
    def unary(self) -> bool:
        """Whether it is an ``int (int)``, which others may be given to call."""
        return self.result.name == "int" and [(p.kind, p.type.name) for p in self.params] == [("value", "int")]

    @property
    def head(self) -> str:
        """The declaration without its end."""
        params = ", ".join(param.text for param in self.params) or "void"
        return f"{'static ' if self.static else ''}{self.result.name} {self.name}({params})"


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its structure, its globals, and its functions, ``main`` last."""

    structure: Structure | None
    globals: tuple[Shared, ...]
    routines: tuple[Routine, ...]
