"""The flowgraph: a function as blocks of statements over integer variables, immutable.

Everything is an integer. A pointer is two variables, the number of the object that it points into and the byte offset
there; a truth value is 0 or 1. Machine arithmetic is explicit: values that wrap are :class:`loopless.terms.Wrap` terms,
operations that may be undefined are preceded by a :class:`Check`. Scalars whose address nothing unknown can reach
(locals, globals, fields, pointees) are variables; other memory is read and written by :class:`Load`, :class:`Store`.

Meaning of a run: statements in order, then the first edge whose condition holds (conditions of one block are mutually
exclusive and cover everything), its assignments in parallel, and the target block. The run ends at an :class:`End`, at
a :class:`Check` whose condition fails (undefined behaviour), or at an :class:`Assume` whose condition fails (no run).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from typing import Final

from loopless import terms as t
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.source.ir import Loc

NULL_OBJECT = 0
"""The number of the object that null pointers point into."""


class Origin(Enum):
    """Why the program, not we, decides a value: where a :class:`Havoc` comes from."""

    NONDET = "nondeterministic input"
    CALL = "result or effect of a call whose body is not known"
    UNINITIALISED = "uninitialised variable"
    VOLATILE = "volatile or atomic access"
    MEMORY = "memory that the flowgraph does not follow"
    UNSUPPORTED = "construct that is not modelled"


class Kind(Enum):
    """What a variable stands for."""

    LOCAL = "local"
    PARAMETER = "parameter"
    GLOBAL = "global"
    POINTEE = "pointee"
    TEMPORARY = "temporary"
    FLAG = "flag"
    READS = "number of values read from a stream"
    PLACE = "number of an element of an array"


@dataclass(frozen=True, slots=True)
class VariableInfo:
    """What is known of a variable.

    ``shown`` is the name in the source (``x``, ``s.count``, ``*p``), not unique within the function; ``object`` and
    ``offset`` say which memory the variable stands for (None: none, it is a value); ``size`` is that of the scalar in
    bytes, 0 for values; ``pointer_part`` is "object" or "offset" for the two halves of a pointer, else "".
    """

    var: t.Var
    shown: str
    kind: Kind
    object: int | None = None
    offset: int = 0
    pointer_part: str = ""
    size: int = 0
    declared: Loc | None = None

    @property
    def is_source(self) -> bool:
        """Whether users know the variable by a name."""
        return self.kind not in (Kind.TEMPORARY, Kind.FLAG, Kind.READS, Kind.PLACE)


@dataclass(frozen=True, slots=True)
class MemoryObject:
    """A piece of memory: ``kind`` is "local", "global", "parameter" (what a pointer parameter points into), "pointee"
    or "reached" (what pointers in memory point to, :mod:`loopless.flowgraph.memory.pointees`), "null", "function" or
    "dead" (stands for all objects whose lifetime is over); ``size`` in bytes, None where it is not known; ``element``
    the type of its elements where it is an array of integers; ``constant``: writing to it is undefined, or nobody
    writes to it; ``content`` the initial bytes of a global (None: unknown or zero-initialised by ``zero``); ``own``: a
    global that only the functions of its module write; ``extent``: the size in bytes of a local object whose size
    varies, over variables that keep their values from its :class:`Begin` on; ``private``: a local whose address is
    kept nowhere, so that no pointer of unknown origin leads there.
    """

    number: int
    name: str
    kind: str
    size: int | None
    element: t.IntType | None = None
    constant: bool = False
    content: bytes | None = None
    parameter: int | None = None
    symbol: str = ""
    """The name in the module of a global or function, unique there."""
    relocations: tuple[tuple[int, str, int], ...] = ()
    """Pointers inside ``content``: (offset, name of the global pointed to, byte offset there)."""
    holder: tuple[int, int] | None = None
    """Of a "pointee": the object and the offset of the pointer that points to it when the function begins."""
    own: bool = False
    extent: t.Term | None = None
    private: bool = False


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer value: an object's number and a byte offset."""

    object: t.Term
    offset: t.Term


@dataclass(frozen=True, slots=True)
class Assign:
    """``target := value``; the value always lies in the target's range."""

    target: t.Var
    value: t.Term
    loc: Loc | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Undefined behaviour of the ``kind`` ("signed-overflow", "division-by-zero", "shift" by too much or too little,
    "left-shift" the same of a signed value to the left, "shift-overflow" and "shift-of-negative" of such a value,
    "bounds", "null-pointer", "pointer-overflow" (an address outside of its object, and not right behind it),
    "array-length", "const-write", "dangling-pointer" (use of a pointer to an object whose lifetime is over),
    "invalid-bool", "overlap", "poison") unless ``condition`` holds; "contract" is no undefined behaviour, but what is
    to be proved (:mod:`loopless.flowgraph.callees.entering`). ``of_access``: it checks an address that the next
    statement reads or writes through, or one right behind what the iteration reads or writes
    (:mod:`loopless.flowgraph.memory.covered`), in an object of a size that is not known. That accesses stay inside says
    that it holds. ``place``: the address, where it is one in such an object.
    """

    condition: t.Condition
    kind: str
    loc: Loc | None = None
    of_access: bool = False
    place: Pointer | None = None


@dataclass(frozen=True, slots=True)
class Assume:
    """The run does not exist unless ``condition`` holds."""

    condition: t.Condition
    loc: Loc | None = None


@dataclass(frozen=True, slots=True)
class Havoc:
    """``target`` takes some value of its type, for a reason that is not in the flowgraph.

    ``name`` is the function or construct that it comes from. ``refused`` says why concrete runs cannot go on where the
    value is not an input of the program.
    """

    target: t.Var
    origin: Origin
    name: str
    loc: Loc | None = None
    refused: Refused | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """``target`` := the integer of ``type`` at ``address``; with ``target_object`` a pointer (target is its offset).

    A ``type`` of one bit is a truth value in a byte of its own; another byte than 0 and 1 there is undefined behaviour.
    ``objects`` as of :class:`Store`; ``shown``: how C names the place, empty where it has no name;
    ``signed``: whether it is declared so, None where that is not known. ``early``: it stands in front of a loop for
    loads inside (:mod:`loopless.flowgraph.memory.early_loads`); where nothing can be read there, the targets hold
    anything.
    """

    target: t.Var
    address: Pointer
    type: t.IntType
    target_object: t.Var | None = None
    loc: Loc | None = None
    objects: frozenset[int] | None = None
    shown: str = ""
    signed: bool | None = None
    early: bool = False


@dataclass(frozen=True, slots=True)
class Store:
    """The integer ``value`` of ``type`` goes to ``address``; with ``value_object`` a pointer (value its offset).

    ``objects``: those that the address may be in (see :attr:`Flowgraph.unnumbered`), None where these may be any.
    ``shown`` and ``signed`` as of :class:`Load`.
    """

    address: Pointer
    value: t.Term
    type: t.IntType
    value_object: t.Term | None = None
    loc: Loc | None = None
    objects: frozenset[int] | None = None
    shown: str = ""
    signed: bool | None = None


@dataclass(frozen=True, slots=True)
class Fill:
    """``length`` bytes from ``address`` on become ``byte`` (memset); ``objects`` as of :class:`Store`."""

    address: Pointer
    byte: t.Term
    length: t.Term
    loc: Loc | None = None
    objects: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """``length`` bytes go from ``source`` to ``target`` (memcpy, memmove).

    ``apart``: undefined behaviour where the two overlap without being the same. Where both objects are known by their
    numbers a :class:`Check` says so instead. ``objects`` as of :class:`Store`.
    """

    target: Pointer
    source: Pointer
    length: t.Term
    loc: Loc | None = None
    apart: bool = False
    objects: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Allocate:
    """``target`` := the number of a fresh object of ``size`` bytes (malloc, calloc, arrays of variable length in
    loops).

    ``own``: another object of the flowgraph stands for it (:mod:`loopless.flowgraph.memory.own_heap`), and of
    ``target`` only whether it is null matters.
    """

    target: t.Var
    size: t.Term
    zeroed: bool = False
    loc: Loc | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class Begin:
    """The lifetime of the local ``object``, whose size varies, begins: it has ``size`` bytes, without values. A run
    comes here once at most.
    """

    object: int
    size: t.Term
    loc: Loc | None = None


@dataclass(frozen=True, slots=True)
class Expire:
    """The lifetime of the local ``object`` is over: pointers to it that lie in memory must not be used any more, and
    where its number is used again it is a new object. Variables are dealt with by statements of their own.
    """

    object: int
    loc: Loc | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function that was not inlined, defined in the program or a library function by its table of effects.

    ``target`` (and ``target_object``) take the result. ``arguments`` are terms or pointers. ``writes_memory``: what of
    the memory that is not in variables the call may change; effects on variables stand behind it as :class:`Havoc`.
    ``refused`` says why a loop does not follow the call, where that is more than that the result is an unknown value.
    ``leaves``: why the call need not return, by what the program says, empty where nothing is known of that;
    ``returns``: it surely does (or meets undefined behaviour). ``reads`` and ``changes``: the variables that it may
    read and change, beside arguments and target; ``objects``: those that it may change, of what is not held in
    variables (see :attr:`Flowgraph.unnumbered`), None where these may be any; ``looks``: those that it may read.
    ``outside``: no function of the program is called. ``drawn``: before it, the target holds what it returns as far as
    nothing is known of that, the next value of a stream (:mod:`loopless.flowgraph.callees.streams`).
    """

    callee: str
    arguments: tuple[t.Term | Pointer, ...]
    target: t.Var | None = None
    target_object: t.Var | None = None
    writes_memory: bool = True
    loc: Loc | None = None
    refused: Refused | None = None
    leaves: str = ""
    returns: bool = False
    reads: tuple[t.Var, ...] = ()
    changes: tuple[t.Var, ...] = ()
    objects: frozenset[int] | None = None
    outside: bool = False
    entered: bool = False
    looks: frozenset[int] | None = None
    drawn: bool = False


Statement = Assign | Check | Assume | Havoc | Load | Store | Fill | Copy | Allocate | Begin | Expire | Call


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from one block to ``target`` where ``condition`` holds; ``assigns`` happen in parallel on the way."""

    condition: t.Condition
    target: str
    assigns: tuple[tuple[t.Var, t.Term], ...] = ()
    loc: Loc | None = None


@dataclass(frozen=True, slots=True)
class End:
    """The end of a run. ``kind``: "return" (with ``value``, and ``value_object`` for a pointer), "abort", "exit",
    "error" (the error function is called), "undefined", or "unsupported" (with ``refused``).
    """

    kind: str
    value: t.Term | None = None
    value_object: t.Term | None = None
    loc: Loc | None = None
    refused: Refused | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Statements, then either edges or an end."""

    label: str
    statements: tuple[Statement, ...]
    edges: tuple[Edge, ...] = ()
    end: End | None = None

    @property
    def successors(self) -> tuple[str, ...]:
        """The labels of the blocks that may follow, without repetition."""
        return tuple(dict.fromkeys(edge.target for edge in self.edges))


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: ``var`` is its value (for a pointer: the byte offset into ``object``, 0 at entry).

    ``type`` is the integer type as the source has it; for a pointer ``pointee`` is the type of what it points to (None
    where that is no integer) and ``null`` the 0/1 variable that says that the argument is the null pointer.
    ``shared``: the pointer is compared with another parameter, so both point into one object, this one at the byte
    offset ``var`` (an input).
    """

    name: str
    var: t.Var | None
    type: t.IntType | None
    object: int | None = None
    pointee: t.IntType | None = None
    null: t.Var | None = None
    constant: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True)
class LoopInfo:
    """A natural loop. ``name`` is ``file:function:line:column`` with a suffix where that is not unique.

    ``blocks`` includes those of inner loops; ``exits`` are (block, index of its edge); blocks inside without a path
    back to the header that end the run (return, abort) belong to the loop's exits too, see ``loopless.paths``.
    """

    name: str
    header: str
    blocks: frozenset[str]
    latches: tuple[str, ...]
    exits: tuple[tuple[str, int], ...]
    parent: str | None
    depth: int
    loc: Loc | None
    line: int
    column: int
    file: str
    inlined_from: str | None = None


THROUGH_POINTER: Final = "(pointer)"
"""What is called through a pointer has this name, which no function has."""

ASSEMBLY: Final = "(asm)"
"""Inline assembly is called so."""


def offset_type(pointer_bits: int) -> t.IntType:
    """The range of byte offsets: no object is larger than a quarter of the address space, of 64 bits."""
    return t.IntType(pointer_bits - (2 if pointer_bits == 64 else 1))


OFFSETS: Final = frozenset(map(offset_type, (16, 32, 64)))
"""The types of variables that hold where in its object a pointer leads; no integer of C has one of these."""

OBJECT_PART: Final = ".object"
"""How the variable is called that says which object a pointer points into, behind the name of the pointer."""

NULL_PART: Final = " is NULL"
"""How the variable is called that says whether an argument is the null pointer, behind the name of the parameter."""


@dataclass(frozen=True, slots=True)
class ContractSignature:
    """What a contract of a function that calls go into can speak of. ``given``: by the function's own variables
    (parameters and globals), those that keep what they held at the call. ``result``: what is returned; ``globals``: the
    function's variables for globals, which it leaves. ``returned``: the label of the block that all returns come to
    where there is a contract.
    """

    function: str
    given: Mapping[t.Var, t.Var]
    result: t.Var | None
    globals: tuple[t.Var, ...]
    returned: str

    @property
    def variables(self) -> tuple[t.Var, ...]:
        """All that a contract may speak of."""
        return (*self.given.values(), *(() if self.result is None else (self.result,)), *self.globals)


@dataclass(frozen=True, slots=True)
class Passage:
    """A call that a run may go into, or pass over: of which function, the block that leads ``into`` it, and by the
    callee's variables for globals those of the caller.
    """

    function: str
    into: str
    globals: Mapping[t.Var, t.Var]


@dataclass(frozen=True, slots=True)
class FollowedCell:
    """The variables of an object's cell: what it holds, its number in the object, and whether it was read last.
    ``before``: history variables, of what these held earlier. ``length``: the bytes of the object, None where that is
    not a number.
    """

    object: int
    size: int
    cell: t.Var
    number: t.Var
    last: t.Var
    before: frozenset[t.Var] = frozenset()
    length: int | None = None

    @property
    def place(self) -> t.Term:
        """The byte offset of the cell."""
        return self.number * self.size

    @property
    def variables(self) -> frozenset[t.Var]:
        """All of them."""
        return self.before | {self.cell, self.number, self.last}

    def hit(self, offset: t.Term) -> t.Condition:
        """Whether an access at an offset is one of the cell."""
        return offset.eq(self.place)


@dataclass(frozen=True, slots=True, eq=False)
class Flowgraph:
    """One function.

    ``blocks`` in textual order, the entry first. ``variables`` describes every variable that occurs. ``objects`` by
    number. ``inputs``: variables with a value at entry (parameters, globals, pointees, uninitialised locals).
    ``refused``: its edges do not tell where all runs go, so nothing may be said about any of its loops; what is there
    is right for a run until it comes to an end of kind "unsupported".
    """

    name: str
    source_name: str
    parameters: tuple[Parameter, ...]
    result: t.IntType | None
    result_is_pointer: bool
    blocks: Mapping[str, Block]
    entry: str
    variables: Mapping[t.Var, VariableInfo]
    objects: Mapping[int, MemoryObject]
    loops: tuple[LoopInfo, ...]
    irreducible: tuple[Refused, ...]
    loc: Loc | None
    callees: frozenset[str] = frozenset()
    assumptions: tuple[str, ...] = ()
    blocked: Mapping[str, Refused] = field(default_factory=dict)
    """Blocks that hold a construct no run can pass (by label), with the reason."""
    refused: Refused | None = None
    unnumbered: Mapping[int, str] = field(default_factory=dict)
    """By negative numbers, what else addresses may be in, in words: what pointers in memory point to, which is taken
    not to overlap with other objects; without words what the function allocates, which surely does not."""
    holders: Mapping[int, int] = field(default_factory=dict)
    """By these numbers, the objects in which the pointers lie that lead there first."""
    signatures: Mapping[str, ContractSignature] = field(default_factory=dict)
    """By name, the functions that calls go into (:mod:`loopless.flowgraph.callees.entering`)."""
    passages: Mapping[str, Passage] = field(default_factory=dict)
    """By the labels of the blocks in which these calls are passed over, where else they lead."""
    cells: Mapping[int, FollowedCell] = field(default_factory=dict)
    """By object, the cell of it that is followed (:mod:`loopless.flowgraph.memory.array_cells`)."""
    pairs: Mapping[int, FollowedCell] = field(default_factory=dict)
    """By object, a second cell of it (:mod:`loopless.flowgraph.memory.cell_pairs`)."""
    elsewhere: frozenset[t.Var] = frozenset()
    """What stands for values of elements that are not followed: in another run of the same program they may differ."""

    def has_element(self, cell: FollowedCell, index: t.Term) -> t.Condition:
        """Whether the object of a cell, where it lives, has an element of this number."""
        found = self.objects[cell.object]
        length = found.extent if found.size is None else t.const(found.size)
        return t.FALSE if length is None else index.ge(0) & ((index + 1) * cell.size).le(length)

    def same_where_one_place(self) -> t.Condition:
        """That two cells of an object hold the same where they are at one place: what a run has there has one value."""
        both = ((self.cells[number], second) for number, second in self.pairs.items())
        return t.conjunction(~first.number.eq(other.number) | first.cell.eq(other.cell) for first, other in both)

    def pointee_name(self, owner: t.Var) -> str | None:
        """What reads are called of the object that a pointer points to whose object is the variable ``owner``: as the
        pointer is; None where it is no part of a pointer.
        """
        info = self.variables.get(owner)
        if info is None or info.pointer_part != "object" or not owner.name.endswith(OBJECT_PART):
            return None
        name = owner.name.removesuffix(OBJECT_PART)
        return f"*{name}" if any(o.name == name for o in self.objects.values()) else name

    def pointer_called(self, name: str) -> t.Var | None:
        """The variable that is the object of the pointer of this :meth:`pointee_name`; None where there is none."""
        wanted = name.removeprefix("*") + OBJECT_PART
        owners = (v for v, info in self.variables.items() if info.pointer_part == "object")
        return next((owner for owner in owners if owner.name == wanted), None)
