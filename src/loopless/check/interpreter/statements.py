"""The statements of a flowgraph as Python: values, memory, calls, and the ends of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, assert_never

from loopless import terms as t
from loopless.check.interpreter.expressions import Expressions, Lines, byte_size
from loopless.check.interpreter.library import is_library
from loopless.check.interpreter.naming import object_named
from loopless.check.interpreter.values import MissingValue, Value
from loopless.check.outcome import Status
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Begin,
    Call,
    Check,
    Copy,
    End,
    Expire,
    Fill,
    Flowgraph,
    Havoc,
    Kind,
    Load,
    MemoryObject,
    Origin,
    Pointer,
    Statement,
    Store,
)
from loopless.records import dataclass
from loopless.source.ir import Loc

_ENDS: Mapping[str, tuple[Status, str]] = {
    "abort": ("aborted", "abort"),
    "exit": ("aborted", "exit"),
    "error": ("error-reached", "the error function is called"),
    "undefined": ("undefined", "unreachable code is reached"),
}


@dataclass(frozen=True, slots=True)
class Shared:
    """A scalar in memory that the function holds in variables; ``owner`` is a pointer's object.

    ``size`` is 0 for a pointer whose object is not in a variable: it cannot go to memory. ``local`` ones matter to
    calls only.
    """

    number: int
    offset: int
    size: int
    var: t.Var
    owner: t.Var | None
    written: bool
    local: bool


_HOLDING: Final = ("global", "parameter", "pointee", "local")
"""The kinds of objects parts of which variables may stand for."""


class StatementWriter:
    """Writes statements to ``out``. Collects the constants that they mention: the ends of runs, the unknown values, the
    places of inputs and calls.
    """

    def __init__(
        self, flowgraph: Flowgraph, defined: Callable[[str], bool], pointer_size: int, *, checked: bool
    ) -> None:
        self.flowgraph = flowgraph
        self.defined = defined
        self.checked = checked
        self.pointer_size = pointer_size
        self.assigned = assigned(flowgraph)
        self.variables = tuple(dict.fromkeys((*flowgraph.variables, *_mentioned(flowgraph))))
        self.names = {var: f"v{at}" for at, var in enumerate(self.variables)}
        self.shared = self._shared()
        self.out = Lines()
        self.expressions = Expressions(self.out, self.names, self._object)
        self.places: list[tuple[str, Loc | None]] = []
        self.missing: list[MissingValue] = []
        self.ends: list[tuple[Status, str, Loc | None]] = []
        self.forgotten: frozenset[t.Var] = frozenset()
        """What the statements behind the next call say that it may have changed."""

    # -- facts --------------------------------------------------------------------------------------------------------

    def _object(self, name: str) -> int:
        """The number of the object that a read names."""
        return object_named(self.flowgraph, name)

    def _shared(self) -> tuple[Shared, ...]:
        groups: dict[tuple[int, int], dict[str, t.Var]] = {}
        for var, info in self.flowgraph.variables.items():
            described = None if info.object is None else self.flowgraph.objects.get(info.object)
            if info.object is not None and described is not None and described.kind in _HOLDING:
                groups.setdefault((info.object, info.offset), {})[info.pointer_part] = var
        found = []
        for (number, offset), parts in groups.items():
            held = parts.get("") or parts.get("offset")
            if held is None:
                continue
            holder = self.flowgraph.objects[number]
            owner = parts.get("object")
            size = self._size(held, holder) if "offset" not in parts else self.pointer_size if owner is not None else 0
            written = any(part in self.assigned for part in parts.values())
            found.append(Shared(number, offset, size, held, owner, written, holder.kind == "local"))
        return tuple(found)

    def _size(self, var: t.Var, holder: MemoryObject) -> int:
        """The bytes of a scalar in memory; a variable of ℤ has the size of its object's elements."""
        known = byte_size(var.type) or self.flowgraph.variables[var].size
        return known or (byte_size(holder.element) if holder.element is not None else 0)

    def stop(self, status: Status, reason: str, where: Loc | None) -> str:
        self.ends.append((status, reason, where))
        return f"stop({len(self.ends) - 1})"

    def in_range(self, target: t.Var, loc: Loc | None) -> None:
        if self.checked and target.type.width is not None:
            name = self.names[target]
            self.out(f"chk({name}, {target.type.min}, {target.type.max}, {target.name!r}, {str(loc)!r})")

    def end(self, end: End) -> None:
        out = self.out
        if end.kind == "unsupported" or (end.kind == "return" and end.refused is not None):
            reason = end.refused.detail if end.refused is not None else "a construct that is not modelled"
            out(self.stop("unknown", reason, end.loc))
        elif end.kind != "return":
            out(self.stop(*_ENDS[end.kind], end.loc))
        else:
            value = "None" if end.value is None else self.expressions.term(end.value)
            if end.value_object is not None:
                value = f"({self.expressions.term(end.value_object)}, {value})"
            out(f"r = {value}")
            self._sync(local=False)
            out("return r")

    # -- statements ---------------------------------------------------------------------------------------------------

    def statement(self, statement: Statement) -> None:
        out, term, names = self.out, self.expressions.term, self.names
        match statement:
            case Assign(target=target, value=value):
                text = term(value)
                self._absent(target)
                info = self.flowgraph.variables.get(target)
                if info is not None and info.kind is Kind.POINTEE:
                    out(f"fr.writable({info.object})")
                out(f"{names[target]} = {text}")
                self.in_range(target, statement.loc)
            case Check(condition=condition, kind=kind):
                reason = kind.replace("-", " ")
                self._unless(condition, self.stop("undefined", reason, statement.loc))
            case Assume(condition=condition):
                self._unless(condition, self.stop("assumption-failed", "an assumption is false", statement.loc))
            case Havoc():
                self._absent(statement.target)
                out(f"{names[statement.target]} = {self._havoc(statement)}")
            case Load():
                self._load(statement)
            case Store():
                self._store(statement)
            case Fill(address=address):
                out(f"fr.fill({self._pointer(address)}, {term(statement.byte)}, {term(statement.length)})")
            case Copy():
                to, source = self._pointer(statement.target), self._pointer(statement.source)
                out(f"fr.copy(({to}), ({source}), {term(statement.length)}, {statement.apart})")
            case Allocate(target=target):
                out(f"{names[target]} = fr.allocate({term(statement.size)}, {statement.zeroed})")
            case Begin():
                out(f"fr.begin({statement.object}, {term(statement.size)})")
            case Expire():
                out(f"fr.expire({statement.object})")
            case Call():
                self._call(statement)
            case _:
                assert_never(statement)

    def _unless(self, condition: t.Condition, otherwise: str) -> None:
        self.out(f"if not ({self.expressions.condition(condition)}): {otherwise}")

    def _absent(self, target: t.Var) -> None:
        """Writing to a scalar that the argument has no room for is an access outside of it."""
        info = self.flowgraph.variables.get(target)
        if info is not None and info.kind is Kind.POINTEE:
            name = self.names[target]
            self.out(f"if {name}.__class__ is Missing and {name}.absent: {name}.refuse()")

    def _pointer(self, pointer: Pointer) -> str:
        return f"{self.expressions.term(pointer.object)}, {self.expressions.term(pointer.offset)}"

    def _havoc(self, statement: Havoc) -> str:
        info = self.flowgraph.variables.get(statement.target)
        shown = info.shown if info is not None else statement.target.name
        pointer = info is not None and bool(info.pointer_part)
        type = statement.target.type
        match statement.origin:
            case Origin.NONDET if not pointer:
                self.places.append((statement.name, statement.loc))
                return f"draw({type.width}, {type.signed}, P[{len(self.places) - 1}])"
            case Origin.UNINITIALISED:
                missing = self.missing_value(f"reads the uninitialised variable {shown}", statement.loc)
                return missing if pointer else f"fresh({type.width}, {type.signed}, {missing})"
            case _:
                detail = statement.refused.detail if statement.refused is not None else statement.origin.value
                return self.missing_value(
                    f"needs the {statement.origin.value} ({statement.name}): {detail}", statement.loc
                )

    def missing_value(self, reason: str, where: Loc | None) -> str:
        """An unknown value, whose use ends the run for ``reason``."""
        self.missing.append(MissingValue(reason, where))
        return f"K[{len(self.missing) - 1}]"

    def _load(self, statement: Load) -> None:
        address, type = self._pointer(statement.address), statement.type
        target = self.names[statement.target]
        if statement.target_object is not None:
            size = byte_size(type) or self.pointer_size
            if statement.early:
                self.out(
                    f"{self.names[statement.target_object]}, {target} = fr.load_early(lambda: ({address}), {size})"
                )
                return
            self.out(f"{self.names[statement.target_object]}, {target} = ldp({address}, {size})")
        else:
            self.out(f"{target} = ld({address}, {byte_size(type)}, {type.signed})")
            if type.width == 1:
                self.out(f"if {target} not in (0, 1): {self.stop('undefined', 'invalid bool', statement.loc)}")
            self.in_range(statement.target, statement.loc)

    def _store(self, statement: Store) -> None:
        address, value = self._pointer(statement.address), self.expressions.term(statement.value)
        if statement.value_object is not None:
            size = byte_size(statement.type) or self.pointer_size
            self.out(f"stp({address}, {size}, {self.expressions.term(statement.value_object)}, {value})")
        else:
            self.out(f"st({address}, {byte_size(statement.type)}, {value}, {statement.type.signed})")

    def _call(self, statement: Call) -> None:
        arguments = ", ".join(
            f"({self._pointer(a)})" if isinstance(a, Pointer) else self.expressions.term(a) for a in statement.arguments
        )
        touches = self.defined(statement.callee) or (statement.writes_memory and is_library(statement.callee))
        if touches:
            self._sync(local=True)
        kept = self._unchanged(statement) if touches and self.checked else ()
        for at, item in enumerate(kept):
            self.out(f"k{at} = {self._parts(item)}")
        self.places.append((statement.callee, statement.loc))
        writes = statement.writes_memory
        self.out(f"r = call(P[{len(self.places) - 1}], ({arguments}{',' if arguments else ''}), {writes})")
        if statement.target is not None:
            target = self.names[statement.target]
            if statement.target_object is not None:
                self.out(f"{self.names[statement.target_object]}, {target} = as_pointer(r)")
            else:
                type = statement.target.type
                self.out(f"{target} = as_integer(r, {type.width}, {type.signed}, fr.mathematical)")
        if touches:
            for item in self.shared:
                self._fetch(item)
        for at, item in enumerate(kept):
            shown = self.flowgraph.variables[item.var].shown
            self.out(f"same(k{at}, {self._parts(item)}, {statement.callee!r}, {shown!r}, {str(statement.loc)!r})")

    def _unchanged(self, statement: Call) -> list[Shared]:
        """The scalars in memory that a call leaves as they are, by what the flowgraph says."""
        changed = {*statement.changes, *self.forgotten}
        return [item for item in self.shared if item.size and item.var not in changed]

    def _parts(self, item: Shared) -> str:
        owner = f"{self.names[item.owner]}, " if item.owner is not None else ""
        return f"({owner}{self.names[item.var]},)"

    def _sync(self, *, local: bool) -> None:
        """Write the scalars that others can reach back to memory."""
        for item in self.shared:
            if not item.written or not item.size or (item.local and not local):
                continue
            value = self.names[item.var]
            if item.owner is not None:
                self.out(f"syncp({item.number}, {item.offset}, {item.size}, {self.names[item.owner]}, {value})")
            else:
                self.out(f"sync({item.number}, {item.offset}, {item.size}, {value}, {item.var.type.signed})")

    def _fetch(self, item: Shared) -> None:
        value = self.names[item.var]
        if not item.size:
            name = self.flowgraph.variables[item.var].shown
            self.out(f"{value} = {self.missing_value(f'reads {name}, which a call may have changed', None)}")
        elif item.owner is not None:
            self.out(f"{self.names[item.owner]}, {value} = fetchp({item.number}, {item.offset}, {item.size})")
        else:
            width, signed = item.var.type.width, item.var.type.signed
            self.out(f"{value} = fetch({item.number}, {item.offset}, {item.size}, {signed}, {width})")


def assigned(flowgraph: Flowgraph, labels: Iterable[str] | None = None) -> frozenset[t.Var]:
    """The variables that some statement or edge of the blocks changes."""
    found: set[t.Var | None] = set()
    for label in flowgraph.blocks if labels is None else labels:
        block = flowgraph.blocks[label]
        found.update(target for edge in block.edges for target, _ in edge.assigns)
        for statement in block.statements:
            match statement:
                case Assign(target=changed) | Havoc(target=changed) | Allocate(target=changed):
                    found.add(changed)
                case Load(target=target, target_object=other):
                    found |= {target, other}
                case Call(target=called, target_object=other):
                    found |= {called, other}
                    found.update(var for var, info in flowgraph.variables.items() if info.object is not None)
                case _:
                    pass
    return frozenset(var for var in found if var is not None)


def _mentioned(flowgraph: Flowgraph) -> Iterable[t.Var]:
    """Every variable that occurs, in textual order; normally the flowgraph describes them all."""
    for parameter in flowgraph.parameters:
        yield from (var for var in (parameter.var, parameter.null) if var is not None)
    for block in flowgraph.blocks.values():
        for part in (*block.statements, *block.edges, *((block.end,) if block.end is not None else ())):
            for name in part.__slots__:
                yield from _variables_in(getattr(part, name))


def _variables_in(value: object) -> Iterable[t.Var]:
    match value:
        case t.Node():
            yield from sorted(value.variables)
        case Pointer():
            yield from sorted(value.object.variables | value.offset.variables)
        case tuple():
            for part in value:
                yield from _variables_in(part)
        case _:
            pass


def as_integer(result: object, width: int | None, signed: bool, mathematical: bool) -> Value:  # noqa: FBT001
    """What a call returned as an integer of the type that the caller expects.

    The two may read the same bits with different signs, but not integers of ℤ.
    """
    if isinstance(result, MissingValue):
        return result
    if not isinstance(result, int):
        return MissingValue("needs the result of a call that returned no integer")
    if width is None or (0 if not signed else -1 << (width - 1)) <= result < 1 << (width - signed):
        return result
    if not mathematical and -1 << (width - 1) <= result < 1 << width:
        return result + (1 << width) if result < 0 else result - (1 << width)
    return MissingValue("needs the result of a call that does not fit its type")


def as_pointer(result: object) -> tuple[Value, Value]:
    """What a call returned as a pointer."""
    if isinstance(result, tuple):
        return result
    missing = (
        result
        if isinstance(result, MissingValue)
        else MissingValue("needs the result of a call that returned no pointer")
    )
    return missing, missing
