"""The program as we read it: a typed, immutable picture of one LLVM module.

Nothing here computes; everything is what the text of the module says, with numbers as numbers and places as places.
Names are without their sigils (``%x`` is ``"x"``, ``@f`` is ``"f"``) and without quotes. Instructions, blocks,
functions and globals compare by identity (two equal stores are still two stores); types, values and places by content.
"""

# Types and places stand below what speaks of them (layouts, debug types), and are names of this module too.
# ruff: noqa: PLC0414

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final

from loopless.records import dataclass
from loopless.source.debug import DebugType, DebugTypes, DebugVariable
from loopless.source.ir_types import ArrayT as ArrayT
from loopless.source.ir_types import FloatT as FloatT
from loopless.source.ir_types import FunctionT as FunctionT
from loopless.source.ir_types import IntT as IntT
from loopless.source.ir_types import OpaqueT as OpaqueT
from loopless.source.ir_types import PtrT as PtrT
from loopless.source.ir_types import StructT as StructT
from loopless.source.ir_types import Type as Type
from loopless.source.ir_types import VectorT as VectorT
from loopless.source.ir_types import VoidT as VoidT
from loopless.source.layout import DataLayout
from loopless.source.loc import Loc as Loc
from loopless.source.vocabulary import Stub

# --------------------------------------------------------------------------------------------------------- values


@dataclass(frozen=True, slots=True)
class IntConst:
    """An integer constant; ``value`` is its signed reading (``i8 255`` is -1; ``i1 true`` is -1, see ``unsigned``)."""

    bits: int
    value: int

    @property
    def type(self) -> IntT:
        return IntT(self.bits)

    @property
    def unsigned(self) -> int:
        """The same bits read as an unsigned number (``i1 true`` is 1)."""
        return self.value & ((1 << self.bits) - 1)


@dataclass(frozen=True, slots=True)
class Local:
    """A parameter or the result of an instruction of the same function."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class GlobalRef:
    """The address of a global variable or function."""

    name: str
    address_space: int = 0

    @property
    def type(self) -> PtrT:
        return PtrT(self.address_space)


@dataclass(frozen=True, slots=True)
class AddressOf:
    """The address ``offset`` bytes (never 0: that is a :class:`GlobalRef`) behind the start of a global."""

    name: str
    offset: int
    address_space: int = 0
    inbounds: bool = field(default=False, compare=False)

    @property
    def type(self) -> PtrT:
        return PtrT(self.address_space)


@dataclass(frozen=True, slots=True)
class NullPtr:
    """The null pointer."""

    address_space: int = 0

    @property
    def type(self) -> PtrT:
        return PtrT(self.address_space)


@dataclass(frozen=True, slots=True)
class Undef:
    """Any value, possibly another one at each use."""

    type: Type


@dataclass(frozen=True, slots=True)
class Poison:
    """The value whose use is undefined behaviour."""

    type: Type


@dataclass(frozen=True, slots=True)
class ZeroInit:
    """All bytes zero, of an array, structure or vector type."""

    type: Type


@dataclass(frozen=True, slots=True)
class BytesConst:
    """A ``c"…"`` string, its final zero byte included if the text has one."""

    data: bytes

    @property
    def type(self) -> ArrayT:
        return ArrayT(len(self.data), IntT(8))


@dataclass(frozen=True, slots=True)
class FloatConst:
    """A floating-point constant, as the text spells it (decimal or LLVM's hexadecimal)."""

    type: FloatT
    text: str


@dataclass(frozen=True, slots=True)
class ConstantAggregate:
    """A constant array, structure or vector, element by element."""

    type: Type
    elements: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class OtherConst:
    """A constant we do not resolve: a constant expression (``op``, ``operands``), a block address, metadata, asm."""

    type: Type
    text: str
    op: str = ""
    operands: tuple[Value, ...] = ()


Value = (
    IntConst
    | Local
    | GlobalRef
    | AddressOf
    | NullPtr
    | Undef
    | Poison
    | ZeroInit
    | BytesConst
    | FloatConst
    | ConstantAggregate
    | OtherConst
)


@dataclass(frozen=True, slots=True)
class LoopMark:
    """What ``!llvm.loop`` on a latch says: one ``ident`` per loop of the module's text, and the source range."""

    ident: int
    start: Loc | None
    end: Loc | None


@dataclass(frozen=True, slots=True)
class Access:
    """What a load, store, alloca or atomic operation touches: ``type`` at alignment ``align`` (bytes, 0: unsaid).

    ``atomic`` is the ordering, or the empty string for a plain access.
    """

    type: Type
    align: int = 0
    volatile: bool = False
    atomic: str = ""


@dataclass(frozen=True, slots=True)
class Gep:
    """An address computation in bytes: ``base + offset + sum(index * stride)``.

    Every index is sign-extended (or truncated) to the pointer's index width. ``source`` is the element type as written.
    """

    base: Value
    offset: int
    steps: tuple[tuple[Value, int], ...]
    source: Type


_NO_FLAGS: frozenset[str] = frozenset()
REPEATED: Final = "repeated"
"""The flag of an ``alloca`` that control may reach several times in a call: each time it makes another object."""


@dataclass(frozen=True, slots=True, eq=False)
class Instruction:
    """One instruction; what does not apply to its ``op`` is left empty.

    ``op`` is LLVM's opcode (``add``, ``icmp``, ``load`` …), or one of ours:

    - ``dbg_declare``: from here on ``variable`` lives in the memory ``operands[0]`` points to;
    - ``dbg_value``: from here on ``variable`` has the value ``operands[0]`` (no operand: its value is lost); if
      ``expression`` is not empty the value is a DWARF expression over the operands;
    - ``dbg_label`` and ``unsupported`` (valid IR that we do not read; ``text`` has it).

    ``operands``: the data operands in textual order; for ``call`` the arguments; for ``phi``, ``br`` without condition:
    none (see ``incoming``, ``targets``); ``store``: value, address; ``alloca``: the element count where it is not 1;
    ``switch``: the condition; ``getelementptr``: base and indices as written, decomposed in ``gep``.

    ``targets``: successors in textual order; ``br``: true, false; ``switch``: the default, then one per entry of
    ``cases`` (whose values are signed readings); ``invoke``: normal, unwind.

    ``flags``: LLVM's words (``nsw exact inbounds disjoint volatile tail`` …), those of :mod:`loopless.source.marks`,
    and :data:`REPEATED`.
    ``attributes``: those of a call, groups resolved. ``arguments``: the attributes of each call argument.
    ``indices``: the literal indices of ``extractvalue``/``insertvalue``, the mask of ``shufflevector`` (-1: undefined).
    """

    op: str
    result: str | None
    type: Type
    operands: tuple[Value, ...] = ()
    flags: frozenset[str] = _NO_FLAGS
    predicate: str | None = None
    callee: Value | None = None
    incoming: tuple[tuple[Value, str], ...] = ()
    cases: tuple[tuple[int, str], ...] = ()
    targets: tuple[str, ...] = ()
    gep: Gep | None = None
    access: Access | None = None
    indices: tuple[int, ...] = ()
    attributes: frozenset[str] = _NO_FLAGS
    arguments: tuple[frozenset[str], ...] = ()
    variable: DebugVariable | None = None
    expression: str = ""
    loc: Loc | None = None
    loop: LoopMark | None = None
    text: str = ""

    @property
    def callee_name(self) -> str | None:
        """The name of the function called, None for a call through a pointer and for inline assembly."""
        return self.callee.name if isinstance(self.callee, GlobalRef) else None

    @property
    def is_single(self) -> bool:
        """Of an ``alloca``: whether a call of the function makes at most one object there, of whatever size."""
        return REPEATED not in self.flags

    @property
    def is_debug(self) -> bool:
        """True for the records about variables, which change nothing."""
        return self.op[:4] == "dbg_"

    @property
    def value(self) -> Local:
        """The result as an operand; only for instructions that have one."""
        assert self.result is not None
        return Local(self.result, self.type)


TERMINATORS = frozenset(
    {
        "br",
        "switch",
        "ret",
        "unreachable",
        "indirectbr",
        "invoke",
        "callbr",
        "resume",
        "catchswitch",
        "catchret",
        "cleanupret",
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class SourceBlock:
    """A basic block; the terminator is the last instruction."""

    label: str
    instructions: tuple[Instruction, ...]

    @property
    def terminator(self) -> Instruction:
        return self.instructions[-1]

    @property
    def successors(self) -> tuple[str, ...]:
        """The labels control may go to, without repetition, in textual order."""
        return tuple(dict.fromkeys(self.instructions[-1].targets))

    @property
    def loop(self) -> LoopMark | None:
        """The loop mark of the terminator, if this block is a latch that has one."""
        return self.instructions[-1].loop

    def code(self) -> Iterator[Instruction]:
        """The instructions without the debug records."""
        return (i for i in self.instructions if not i.op.startswith("dbg_"))


# ------------------------------------------------------------------------------------------- functions and modules


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of the compiled function (which may differ from the source's where structures are passed).

    ``byval`` and ``sret`` are the pointed-to types of those attributes; ``debug`` is the source parameter that this one
    carries as a whole (None: not known, as for the pieces of a structure).
    """

    name: str
    type: Type
    attributes: frozenset[str] = _NO_FLAGS
    byval: Type | None = None
    sret: Type | None = None
    debug: DebugVariable | None = None

    @property
    def value(self) -> Local:
        return Local(self.name, self.type)

    @property
    def signed(self) -> bool | None:
        """Signedness by the debug type, else by ``signext``/``zeroext``; None: not known or not an integer."""
        if self.debug is not None and self.debug.type.signed is not None:
            return self.debug.type.signed
        if "signext" in self.attributes:
            return True
        return False if "zeroext" in self.attributes else None


REPLACEABLE: Final = ("weak", "linkonce", "extern_weak")
"""Linkages of what another module may define otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class SourceFunction:
    """A function, defined or only declared (then ``blocks`` is empty).

    ``variables`` maps the local that holds a variable's address (an alloca, or a ``byval``/``sret`` parameter) to the
    variable. ``attributes`` has words (``noreturn``, ``memory(none)``, ``readonly`` …) and ``"key"="value"`` strings.
    ``source_name`` is the name in the source (C++ names are mangled in ``name``).
    """

    name: str
    linkage: str
    result: Type
    params: tuple[Param, ...]
    variadic: bool
    blocks: tuple[SourceBlock, ...]
    attributes: frozenset[str]
    variables: Mapping[str, DebugVariable]
    loc: Loc | None
    source_name: str
    result_debug: DebugType | None = None
    result_attributes: frozenset[str] = _NO_FLAGS

    @property
    def is_declaration(self) -> bool:
        return not self.blocks

    @property
    def entry(self) -> SourceBlock:
        return self.blocks[0]

    def instructions(self) -> Iterator[Instruction]:
        """All instructions, debug records included, in textual order."""
        return (i for b in self.blocks for i in b.instructions)


@dataclass(frozen=True, slots=True, eq=False)
class GlobalVar:
    """A global variable. ``initializer`` is None for an external one; ``debug`` has the source name and type.

    ``constant`` is LLVM's word: writing to it is undefined. A static local is ``f.x`` here and ``x`` in ``debug``.
    """

    name: str
    type: Type
    initializer: Value | None
    constant: bool
    linkage: str
    debug: DebugVariable | None = None
    align: int = 0
    thread_local: bool = False
    externally_initialized: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """One module. ``aliases`` maps an alias to what it stands for, one of ``ifuncs`` to the function that chooses it.

    ``folded_overflows``: (file name, line) of constant expressions whose signed overflow the compiler has folded.
    ``stubs``: what users say of functions, by their names.
    """

    name: str
    triple: str
    layout: DataLayout
    functions: Mapping[str, SourceFunction]
    globals: Mapping[str, GlobalVar]
    aliases: Mapping[str, Value]
    debug_types: DebugTypes
    text: str = field(repr=False, default="")
    folded_overflows: frozenset[tuple[str, int]] = frozenset()
    ifuncs: frozenset[str] = frozenset()
    stubs: Mapping[str, Stub] = field(default_factory=dict)

    @property
    def pointer_bits(self) -> int:
        return self.layout.pointer_bits()

    def is_weak(self, name: str) -> bool:
        """Whether a name is declared weak and defined nowhere here: its address may be null."""
        found = self.functions.get(name) or self.globals.get(name)
        return found is not None and found.linkage == "extern_weak"

    def defined(self) -> Iterator[SourceFunction]:
        """The functions with a body, in textual order."""
        return (f for f in self.functions.values() if f.blocks)
