"""Loop paths: the ways through one iteration, each with its condition and its simultaneous update."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import LoopInfo, Origin
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.source.ir import Loc
from loopless.terms.contents import size_of
from loopless.terms.relation import over


@dataclass(frozen=True, slots=True)
class Member:
    """What an iteration reads through a pointer: an integer of ``type``, or half of a pointer (``part`` as
    :attr:`.VariableInfo.pointer_part`), at byte ``offset`` of the object ``owner``, over the values at the header and
    other unknown values. ``name``: how C names it behind the pointer, empty where it does not. ``kept``: whether the
    loop surely does not write there. ``behind``: how many of the path's writes come before.
    """

    owner: t.Var
    offset: t.Term
    type: t.IntType
    part: str
    name: str
    kept: bool
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """Where an iteration may write: ``size`` bytes at ``offset`` of the object ``owner``, as of :class:`Member`."""

    owner: t.Term
    offset: t.Term
    size: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that one iteration takes from outside: an input, the result of a call, memory that is not followed.

    ``refused``: the construct that is in the way, where the value is no input of the program. ``held``: the element of
    memory whose value it is, as that is when the iteration begins, where that is known; its offset is over the values
    at the header and other unknown values. ``member``: what is read through which pointer, where that is known.
    ``made``: of the object that an allocation makes anew, or null, the variable that it sets.
    """

    var: t.Var
    origin: Origin
    name: str
    loc: Loc | None
    refused: Refused | None = None
    held: t.Read | None = None
    member: Member | None = None
    made: t.Var | None = None

    @property
    def words(self) -> str:
        """What of an iteration is not known before, in one sentence."""
        if self.origin is Origin.MEMORY:
            return "an iteration depends on what memory holds there; the loop may write it, or load the pointer anew"
        return f"an iteration depends on {self.name}: {self.origin.value}"


NODES: Final = "|nodes"
"""What writes call memory behind pointers that iterations move; no object has this name."""


@dataclass(frozen=True, slots=True)
class Write:
    """An element of memory that an iteration writes: ``value``, of ``type``, at the byte ``offset`` of the object
    ``array``, over the values at the header and what the iteration takes from outside. ``value`` is None where nothing
    is known of it, ``offset`` is None where it may be anywhere in the object.

    With a ``stride`` a row of elements, all at once: for each j that ``where`` and ``value`` call :data:`.INDEX` the
    one at ``offset`` + ``stride``·j, where ``where`` holds. ``by``: the function called that writes it, where nothing
    else is known. With an ``owner`` it is written through a pointer into that object, which C names ``name`` behind the
    pointer; the array is :data:`NODES` then. With an ``object`` a pointer is written into that object, ``value`` is its
    offset.
    """

    array: str
    offset: t.Term | None
    type: t.IntType
    value: t.Term | None
    stride: int = 0
    where: t.Condition = t.TRUE
    by: str = ""
    owner: t.Term | None = None
    name: str = ""
    object: t.Term | None = None

    @property
    def size(self) -> int:
        """The number of bytes of an element."""
        return size_of(self.type)

    @property
    def nodes(self) -> tuple[t.Node, ...]:
        """What it is made of."""
        return tuple(
            node for node in (self.owner, self.offset, self.object, self.value, self.where) if node is not None
        )

    def of(self, change: Callable[[t.Node], t.Node]) -> Write:
        """The write with ``change`` applied to its terms and its condition."""
        owner = None if self.owner is None else change(self.owner)
        offset = None if self.offset is None else change(self.offset)
        object = None if self.object is None else change(self.object)
        value = None if self.value is None else change(self.value)
        where = change(self.where)
        assert owner is None or isinstance(owner, t.Term)
        assert offset is None or isinstance(offset, t.Term)
        assert object is None or isinstance(object, t.Term)
        assert value is None or isinstance(value, t.Term)
        assert isinstance(where, t.Condition)
        return replace(self, owner=owner, offset=offset, object=object, value=value, where=where)

    def given(self, values: Mapping[t.Var, t.Term]) -> Write:
        """The write where variables have these values. Raises :class:`loopless.terms.TermTooLarge`."""
        return self.of(lambda node: t.substituted(node, values))


@dataclass(frozen=True, slots=True)
class Exit:
    """How a path leaves the loop.

    ``kind``: "normal" (to the code behind the loop, a break included), "return", "abort", "exit", "error", "undefined"
    (``detail`` says which undefined behaviour), "assumption" (an assumption fails: no such run), "unsupported";
    of inner loops "endless" (the run never leaves one) and "unknown" (its summary does not say, for ``refused``).
    Behind "unknown" and "unsupported" the run may come to the header again, by an iteration that no path describes.
    ``block`` and ``edge`` name the edge taken to ``target``, where there is one; the values at the exit are then those
    before the edge's own assignments.
    """

    kind: str
    line: int
    block: str
    edge: int | None = None
    target: str | None = None
    detail: str = ""
    refused: Refused | None = None


@dataclass(frozen=True, slots=True)
class InnerStep:
    """What an inner loop does from some states at its header, as one step of a path of the loop around it.

    Where ``when`` holds, the variables get the values ``then`` at ``exit``. ``counts``: iterations by loop, of the
    inner loop and of those inside it; those of ``uncounted`` are not known. ``result``: the value returned.
    ``exact``: whether every run from there does just that. Where that is not so, steps may overlap, and ``free`` are
    values that they leave open: a run does what some step says for some values of these for which ``when`` holds.
    ``contents``: what memory holds at the exit, over what it held at the header; None where that is not told.
    """

    when: t.Condition
    then: Mapping[t.Var, t.Term]
    exit: Exit
    counts: Mapping[str, t.Term]
    uncounted: frozenset[str] = frozenset()
    result: t.Term | None = None
    exact: bool = True
    free: tuple[t.Var, ...] = ()
    contents: t.Contents | None = None


@dataclass(frozen=True, slots=True)
class Inner:
    """An inner loop in ``steps`` that exclude each other, where they are exact, and cover all states at its header.

    ``covered``: the variables that ``steps`` vouch for; others that the loop changes may have any value behind it.
    """

    steps: tuple[InnerStep, ...]
    covered: frozenset[t.Var]
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """One way through the loop's body, from the header back to it (``exit`` None: iterative) or out (an exit path).

    ``condition`` and ``update`` speak of the values at the header before the iteration; variables not in ``update``
    keep theirs. ``unknowns`` are fresh in every iteration. ``lines`` are the source lines on the way.
    """

    id: str
    condition: t.Condition
    update: Mapping[t.Var, t.Term]
    exit: Exit | None
    unknowns: tuple[Unknown, ...]
    lines: tuple[int, ...]
    result: t.Term | None = None
    """For exits of kind "return": the value returned."""
    outputs: frozenset[t.Var] = frozenset()
    """For exit paths: the variables whose values at the exit are asked for or used behind it. Of others the update may
    be missing."""
    exact: bool = True
    """Whether every run from there does just that: not where a loop inside goes by a step that is not exact."""
    writes: tuple[Write, ...] = ()
    """What it writes to memory, in this order, where that was asked for."""

    def given(self, values: Mapping[t.Var, t.Term]) -> Path:
        """The path where variables have these values at the header. Raises :class:`loopless.terms.TermTooLarge`."""
        placed = over(self, values)
        result = t.substitute(self.result, values) if self.result is not None else None
        writes = tuple(write.given(values) for write in self.writes)
        return replace(self, condition=placed.condition, update=placed.update, result=result, writes=writes)


@dataclass(frozen=True, slots=True)
class HeldPointer:
    """A place in memory that holds a pointer: the byte ``offset`` of the object ``array``, of ``type``. Two variables
    go along with it in all iterations: into which ``object`` the pointer leads, and to which byte ``inside`` of that.
    """

    array: str
    offset: t.Term
    type: t.IntType
    object: t.Var
    inside: t.Var


@dataclass(frozen=True, slots=True)
class LoopPaths:
    """All feasible paths of one loop.

    ``state``: the variables that the loop changes, among those of interest and those that they depend on;
    ``invariants``: the others that occur. ``shown``: the variables asked for. ``assumptions``: what slicing and calls
    take for granted. ``counters``: unbounded variables, beside the state, that sum up the iterations of inner loops,
    with the names of these. ``carried``: variables of the state that stand for elements of memory, by what these are at
    the entry: summaries speak of that in their place. ``may_free``: whether a call in the loop may end the life of
    memory. ``stored``: all places that iterations write, of which an unknown value says where it was read, too, if it
    stands in one; None where there may be others. ``tells_freed``: whether paths tell all that they free, as writes of
    the member :data:`loopless.terms.FREED`. ``pointers``: places of pointers that iterations write.
    """

    loop: LoopInfo
    iterative: tuple[Path, ...]
    exits: tuple[Path, ...]
    state: tuple[t.Var, ...]
    invariants: tuple[t.Var, ...]
    shown: tuple[t.Var, ...]
    assumptions: tuple[str, ...]
    counters: Mapping[t.Var, str] = field(default_factory=dict)
    carried: Mapping[t.Var, t.Term] = field(default_factory=dict)
    may_free: bool = False
    stored: tuple[Stored, ...] | None = None
    tells_freed: bool = False
    pointers: tuple[HeldPointer, ...] = ()

    @property
    def all(self) -> tuple[Path, ...]:
        """Iterative paths, then exit paths."""
        return self.iterative + self.exits

    @property
    def exact(self) -> bool:
        """Whether every path is: whether a run does what they say."""
        return all(path.exact for path in self.all)

    def uncounted(self) -> LoopPaths:
        """The same paths without ``counters``."""
        if not self.counters:
            return self
        counters = self.counters

        def plain(path: Path) -> Path:
            update = {var: term for var, term in path.update.items() if var not in counters}
            return replace(path, update=update, outputs=path.outputs - counters.keys())

        iterative, exits = tuple(map(plain, self.iterative)), tuple(map(plain, self.exits))
        return replace(self, iterative=iterative, exits=exits, counters={})


@dataclass(frozen=True, slots=True)
class NoPaths:
    """The paths of a loop could not be built, and why. ``alike``: the condition, of pointers that no iteration moves,
    under which two point into one object, where paths can be built once that is decided.
    """

    loop: LoopInfo
    refused: Refused
    alike: t.Condition | None = None
