"""What loops read, and what they make of it, as functions of an SMT-LIB document.

What is read is an uninterpreted function of the offset, in the range of its type. An aggregate is a recursive function
of the number of positions, which says all there is to say; beside it stand facts that a solver does not find by itself,
since it would take an induction: where the first position lies and what holds there and before, how large counts get.
They are a predicate of their own, NAME.facts, to be asserted for a proof; without them a solver finds models sooner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from loopless import terms as t

_LENGTH: Final = "|~n|"
"""The number of positions; no variable of a program has such a name, nor the others here."""
_INDEX: Final = "|~k|"


class DataFunctions:
    """The functions of one loop, called NAME.…; ``lines`` are their definitions, in order, ``facts`` what holds of them
    all.
    """

    def __init__(self, name: str, symbols: Mapping[t.Var, str], by_bytes: frozenset[str] = frozenset()) -> None:
        """``by_bytes``: the arrays of which what is read is put together from bytes (:func:`made_of_bytes`)."""
        self._name = name
        self._by_bytes = by_bytes
        self._bytes: dict[str, str] = {}
        self._symbols = symbols
        self.lines: list[str] = []
        self.facts: list[str] = []
        self._reads: dict[tuple[str, object], str] = {}
        self._aggregates: dict[tuple[object, ...], tuple[str, tuple[t.Var, ...]] | None] = {}
        self._named = 0
        """How many of them have a name."""

    def _new(self, name: str) -> str:
        safe = "".join("_" if c in "|\\" or not c.isprintable() else c for c in name)
        return f"|{self._name}.{safe}|"

    # -- what is read --

    def read(self, node: t.Read, offset: str) -> str | None:
        """An element of a type, by its byte offset; a value of a stream, by its number."""
        found = self._reads.get((node.array, node.type))
        if found is None:
            width = "" if node.type.width is None else f" {node.type.width}"
            found = self._new(f"{node.array}: {'signed' if node.type.signed else 'unsigned'}{width}")
            self._reads[node.array, node.type] = found
            what = "what is read, by its byte offset"
            if t.counts_values(node.array):
                what = f"a value of the {'stream' if t.in_list(node.array) is None else 'list'}, by its number"
            self.lines.append(f"; {found.strip('|')}: {what}")
            if node.array in self._by_bytes and node.type.width is not None:
                self.lines.append(self._of_bytes(found, self._byte_of(node.array), node.type.width, node.type.signed))
                return f"({found} {offset})"
            self.lines.append(f"(declare-fun {found} (Int) Int)")
            if node.type.min is not None and node.type.max is not None:
                low, high = t.smt(t.Const(node.type.min)), t.smt(t.Const(node.type.max))
                call = f"({found} {_INDEX})"
                self.facts.append(_for_all((_INDEX,), f"(<= {low} {call} {high})", call))
        return f"({found} {offset})"

    def _byte_of(self, array: str) -> str:
        """The function that gives the bytes of an array."""
        found = self._bytes.get(array)
        if found is None:
            given, found = self._new(f"{array}: given"), self._new(f"{array}: byte")
            self._bytes[array] = found
            at = len(self.lines) - 1  # before the comment on what is made of it
            self.lines[at:at] = [
                f"; {found.strip('|')}: the byte at an offset, from 0 to 255",
                f"(declare-fun {given} (Int) Int)",
                f"(define-fun {found} (({_INDEX} Int)) Int (mod ({given} {_INDEX}) 256))",
            ]
        return found

    @staticmethod
    def _of_bytes(name: str, byte: str, width: int, signed: bool) -> str:  # noqa: FBT001
        """A function that puts an integer together from bytes, the least first."""
        parts = [f"({byte} {_INDEX})"]
        parts += [f"(* {1 << 8 * at} ({byte} (+ {_INDEX} {at})))" for at in range(1, (width + 7) // 8)]
        value = parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"
        if width % 8:
            value = f"(mod {value} {1 << width})"
        if signed:
            value = f"(let ((|~e| {value})) (ite (< |~e| {1 << (width - 1)}) |~e| (- |~e| {1 << width})))"
        return f"(define-fun {name} (({_INDEX} Int)) Int {value})"

    # -- aggregates --

    def aggregate(self, node: t.Aggregate, outside: Sequence[str]) -> str | None:
        """The function applied to the number of positions, the starts, and what else it depends on."""
        key = (node.kind, node.bound, node.inside)
        if key not in self._aggregates:
            self._aggregates[key] = None  # where it cannot be written
            self._aggregates[key] = self._defined(node)
        found = self._aggregates[key]
        if found is None:
            return None
        name, free = found
        if node.kind == "fold":
            number = node.outside[1]
            assert isinstance(number, t.Const)
            name, outside = f"{name[:-1]}.{number.value}|", [outside[0], *outside[2:]]
        arguments = [*outside, *(self._symbol(var) for var in free)]
        return f"({name} {' '.join(arguments)})" if arguments else name

    def _symbol(self, var: t.Var) -> str:
        return self._symbols.get(var) or t.symbol(var.name)

    def _defined(self, node: t.Aggregate) -> tuple[str, tuple[t.Var, ...]] | None:
        """Define the functions of an aggregate; None where something inside has no words."""
        shown = [self._inside(part) for part in _parts(node)]
        inside = [text for text in shown if text is not None]
        if len(inside) < len(shown):
            return None
        own = frozenset[t.Var]().union(*(part.variables for part in node.inside)) - frozenset(node.bound)
        free = tuple(sorted(own, key=lambda var: var.key))
        kind = "count" if t.counted(node) is not None else node.kind
        self._named += 1
        name = self._new(f"{kind}{self._named}")
        starts = [f"|~s{at}|" for at in range(len(node.outside) - (2 if node.kind == "fold" else 1))]
        others = (
            [*starts, *(self._symbol(var) for var in free)]
            if node.kind != "earliest"
            else [self._symbol(var) for var in free]
        )
        match node.kind:
            case "earliest":
                self.lines.append(f"(declare-fun {name} ({' '.join('Int' for _ in others)}) Int)")
                self.facts.append(_earliest(name, others, self._at(node, inside[0])))
            case "fold":
                self.lines += self._fold(name, node, others, starts, inside)
            case _:
                self.lines += self._recursive(name, node, others, inside[0])
        return name, free

    def _inside(self, part: t.Node) -> str | None:
        return t.smt(part, self._symbols, self)

    def _at(self, node: t.Aggregate, inside: str) -> _At:
        return _At(self._symbol(node.bound[0]), inside)

    def _recursive(self, name: str, node: t.Aggregate, others: Sequence[str], inside: str) -> Iterator[str]:
        at = self._at(node, inside)
        before, here = f"({name} (- {_LENGTH} 1){_tail(others)})", at(f"(- {_LENGTH} 1)")
        match node.kind:
            case "first":
                found = f"(< |~r| (- {_LENGTH} 1))"
                step = f"(let ((|~r| {before})) (ite {found} |~r| (ite {here} (- {_LENGTH} 1) {_LENGTH})))"
                empty = "0"
            case "last":
                step, empty = f"(ite {here} (- {_LENGTH} 1) {before})", "(- 1)"
            case "sum":
                added = f"(ite {here} 1 0)" if t.counted(node) is not None else here
                step, empty = f"(+ {before} {added})", "0"
            case _:
                sign = "<=" if node.kind == "least" else ">="
                step = f"(let ((|~r| {before}) (|~e| {here})) (ite ({sign} |~r| |~e|) |~r| |~e|))"
                empty = others[0]
        self.facts += _facts(name, node, others, at)
        yield from _define([name], others, [f"(ite (<= {_LENGTH} 0) {empty} {step})"])

    def _fold(
        self, name: str, node: t.Aggregate, others: Sequence[str], starts: Sequence[str], inside: Sequence[str]
    ) -> Iterator[str]:
        names = [f"{name[:-1]}.{at}|" for at in range(len(inside))]
        values = "".join(
            f" ({self._symbol(var)} ({own} (- {_LENGTH} 1){_tail(others)}))"
            for own, var in zip(names, node.bound[1:], strict=True)
        )
        at = f"(({self._symbol(node.bound[0])} (- {_LENGTH} 1)){values})"
        steps = [
            f"(ite (<= {_LENGTH} 0) {start} (let {at} {step}))" for start, step in zip(starts, inside, strict=True)
        ]
        yield from _define(names, others, steps)


def made_of_bytes(nodes: Iterable[t.Node]) -> frozenset[str]:
    """The arrays that are read in several ways, or at places that overlap: what is read there depends on another."""
    types: dict[str, set[t.IntType]] = {}
    found: set[str] = set()
    for read in (part for node in dict.fromkeys(nodes) for part in t.walk_inside(node) if isinstance(part, t.Read)):
        if t.counts_values(read.array) or read.type.width is None:
            continue
        types.setdefault(read.array, set()).add(read.type)
        size = (read.type.width + 7) // 8
        if any(factor % size for monomial, factor in t.polynomial(read.offset).items() if monomial):
            found.add(read.array)
    return frozenset(found | {array for array, read_as in types.items() if len(read_as) > 1})


class _At:
    """What is said of a position, at a position."""

    def __init__(self, position: str, inside: str) -> None:
        self._position = position
        self._inside = inside

    def __call__(self, at: str) -> str:
        return f"(let (({self._position} {at})) {self._inside})"


def _parts(node: t.Aggregate) -> tuple[t.Term | t.Condition | t.Node, ...]:
    condition = t.counted(node)
    return node.inside if condition is None else (condition,)


def _tail(others: Sequence[str]) -> str:
    return "".join(f" {other}" for other in others)


def _bound(names: Sequence[str]) -> str:
    return " ".join(f"({name} Int)" for name in names)


def _define(names: Sequence[str], others: Sequence[str], bodies: Sequence[str]) -> Iterator[str]:
    parameters = _bound((_LENGTH, *others))
    if len(names) == 1:
        yield f"(define-fun-rec {names[0]} ({parameters}) Int\n  {bodies[0]})"
        return
    heads = " ".join(f"({name} ({parameters}) Int)" for name in names)
    yield f"(define-funs-rec ({heads})\n  ({' '.join(bodies)}))"


def _facts(name: str, node: t.Aggregate, others: Sequence[str], at: _At) -> Iterator[str]:
    """What follows by induction on the number of positions."""
    call = f"({name} {_LENGTH}{_tail(others)})"
    most = f"(ite (<= {_LENGTH} 0) 0 {_LENGTH})"
    match node.kind:
        case "first":
            yield _for_all((_LENGTH, *others), f"(and (<= 0 {call} {most}) (=> (< {call} {_LENGTH}) {at(call)}))", call)
            before = f"(=> (and (<= 0 {_INDEX}) (< {_INDEX} {call})) (not {at(_INDEX)}))"
            yield _for_all((_LENGTH, *others), f"(forall (({_INDEX} Int)) {before})", call)
        case "last":
            within = f"(and (<= (- 1) {call}) (< {call} (ite (<= {_LENGTH} 0) 0 {_LENGTH})))"
            yield _for_all((_LENGTH, *others), f"(and {within} (=> (>= {call} 0) {at(call)}))", call)
            behind = f"(=> (and (< {call} {_INDEX}) (< {_INDEX} {_LENGTH}) (<= 0 {_INDEX})) (not {at(_INDEX)}))"
            yield _for_all((_LENGTH, *others), f"(forall (({_INDEX} Int)) {behind})", call)
        case "sum":
            part = node.inside[0]
            low, high = t.range_of(part) if isinstance(part, t.Term) else (None, None)
            sides = [f"(<= (* {t.smt(t.Const(low))} {most}) {call})"] if low is not None else []
            sides += [f"(<= {call} (* {t.smt(t.Const(high))} {most}))"] if high is not None else []
            if sides:
                yield _for_all((_LENGTH, *others), f"(and {' '.join(sides)})", call)
        case _:
            sign = "<=" if node.kind == "least" else ">="
            yield _for_all((_LENGTH, *others), f"({sign} {call} {others[0]})", call)
            each = f"(=> (and (<= 0 {_INDEX}) (< {_INDEX} {_LENGTH})) ({sign} {call} {at(_INDEX)}))"
            yield _for_all((_LENGTH, *others), f"(forall (({_INDEX} Int)) {each})", call)


def _earliest(name: str, others: Sequence[str], at: _At) -> str:
    """It has no length to be defined by: this is all that is said of it."""
    call = f"({name}{_tail(others)})" if others else name
    said = f"(and (<= (- 1) {call}) (=> (>= {call} 0) {at(call)}))"
    none = f"(=> (and (<= 0 {_INDEX}) (or (< {call} 0) (< {_INDEX} {call}))) (not {at(_INDEX)}))"
    body = f"(and {said} (forall (({_INDEX} Int)) {none}))"
    return _for_all(others, body, call) if others else body


def _for_all(variables: Sequence[str], body: str, pattern: str) -> str:
    return f"(forall ({_bound(variables)}) (! {body} :pattern ({pattern})))"
