"""What a path demands of the inputs that it reads: elements of memory, values from outside, the state at the beginning.

Conditions that have nothing to do with one another are asked one by one, and with names that say only what is alike in
them, so the question about the thousandth element is the one about the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from loopless import terms as t
from loopless.flowgraph.model import MemoryObject
from loopless.limits.navigation import INPUTS_MS
from loopless.logic.feasible import feasible
from loopless.logic.smt import satisfiable
from loopless.logic.solver import SmtAnswer
from loopless.records import dataclass

LETTERS: Final = tuple(map(ord, "axA0 "))
"""Characters that a reader likes best."""


TRIED: Final = (0, 1, -1, 2, *LETTERS, 3, 10)
"""Values that are tried before a solver is asked. A guess."""


class NotFollowed(Exception):
    """Something is read that is not followed: an element at a place that is not known, an aggregate."""


@dataclass(frozen=True, slots=True)
class ElementRange:
    """``count`` elements of an object, from byte ``start`` on, each ``stride`` bytes behind the one before, that hold
    the same ``value``.
    """

    array: str
    start: int
    stride: int
    count: int
    type: t.IntType
    value: int

    def holds(self, offset: int) -> bool:
        """Whether an element begins there."""
        steps, rest = divmod(offset - self.start, self.stride)
        return rest == 0 and 0 <= steps < self.count

    @property
    def span(self) -> tuple[int, int]:
        """The bytes from the first to behind the last."""
        ends = (self.start, self.start + self.stride * (self.count - 1))
        return min(ends), max(ends) + size_of(self.type)


def size_of(type: t.IntType) -> int:
    """The bytes of an element."""
    return max((type.width or 8) // 8, 1)


Mark = tuple[int, int, int, int, int]
"""Where a store was."""


class PathDemands:
    """Inputs as symbols and what is demanded of them; :meth:`mark` and :meth:`back` go back to an earlier state."""

    def __init__(self, objects: Iterable[MemoryObject]) -> None:
        self._content = {
            found.name: found
            for found in objects
            if found.content is not None and found.constant and not found.relocations
        }
        self._parts: list[t.Condition] = []
        self._by_symbol: dict[t.Var, list[int]] = {}
        self._trail: list[t.Var] = []
        self.cells: dict[tuple[str, int, t.IntType], t.Var] = {}
        self._made: list[tuple[str, int, t.IntType]] = []
        self.runs: list[ElementRange] = []
        self.pinned: dict[t.Var, int] = {}
        """The symbols that have one value by now, or were given one."""
        self._known: dict[t.Var, int] = {}
        """Values of symbols with which conditions held: the next ones are tried with them before they are solved."""

    def mark(self) -> Mark:
        """Where the store is."""
        return len(self._parts), len(self._trail), len(self._made), len(self.runs), len(self.pinned)

    def back(self, mark: Mark) -> None:
        """Forget what came after."""
        parts, trail, made, runs, pinned = mark
        for symbol in list(self.pinned)[pinned:]:
            del self.pinned[symbol]
        for symbol in self._trail[trail:]:
            self._by_symbol[symbol].pop()
        del self._trail[trail:], self._parts[parts:], self.runs[runs:]
        for place in self._made[made:]:
            del self.cells[place]
        del self._made[made:]

    # -- reads --------------------------------------------------------------------------------------------------------

    def cell(self, array: str, offset: int, type: t.IntType) -> t.Term:
        """The element of an object at a byte offset: a number where it is known."""
        known = self._content.get(array) if type.width is not None else None
        if known is not None and known.content is not None:
            size = size_of(type)
            if offset >= 0 and offset + size <= len(known.content):
                return t.const(type.wrap(int.from_bytes(known.content[offset : offset + size], "little")))
        for run in self.runs:
            if run.array == array and run.holds(offset):
                return t.const(type.wrap(run.value))
        # Elements of different widths at one place are different symbols: that allows more than runs do.
        other = self.cells.get((array, offset, t.IntType(type.width, signed=not type.signed))) if type.width else None
        if other is not None and (array, offset, type) not in self.cells:
            return t.wrap(t.const(self.pinned[other]) if other in self.pinned else other, type)
        place = (array, offset, type)
        if place not in self.cells:
            self.cells[place] = t.Var(f"{array}[{offset}]", type)
            self._made.append(place)
        found = self.cells[place]
        return t.const(self.pinned[found]) if found in self.pinned else found

    def resolved(self, node: t.Term) -> t.Term:
        """A term with the elements that it reads as symbols or numbers. Raises :class:`NotFollowed`."""
        while True:
            found: dict[t.Term, t.Term] = {}
            for part in t.walk(node):
                match part:
                    case t.Aggregate():
                        raise NotFollowed
                    case t.Read(array=array, offset=t.Const(value=offset), type=type_):
                        found[part] = self.cell(array, offset, type_)
                    case _:
                        pass
            if not found:
                if any(isinstance(part, t.Read) for part in t.walk(node)):
                    raise NotFollowed
                return node
            node = t.replace_terms(node, found)

    def resolved_condition(self, condition: t.Condition) -> t.Condition:
        """The same of a condition."""
        while True:
            found: dict[t.Term, t.Term] = {}
            other = False
            for part in t.walk(condition):
                match part:
                    case t.Aggregate():
                        raise NotFollowed
                    case t.Read(array=array, offset=t.Const(value=offset), type=type_):
                        found[part] = self.cell(array, offset, type_)
                    case t.Read():
                        other = True
                    case _:
                        pass
            if not found:
                if other:
                    raise NotFollowed
                return condition
            condition = t.replace_terms(condition, found)

    def free_span(self, low: int, high: int, array: str) -> bool:
        """Whether nothing is known of these bytes of an object."""
        if array in self._content:
            return False
        if any(run.array == array and run.span[0] < high and low < run.span[1] for run in self.runs):
            return False
        return not any(
            name == array and offset < high and low < offset + size_of(var.type)
            for (name, offset, _), var in self.cells.items()
        )

    # -- conditions ---------------------------------------------------------------------------------------------------

    def demand(self, parts: Iterable[t.Condition]) -> bool:
        """Let conditions hold too; False where that surely cannot be."""
        new: list[t.Condition] = []
        for part in parts:
            placed = self._placed(part)
            if placed is t.FALSE:
                return False
            if placed is not t.TRUE:
                new.append(placed)
        for part in new:
            index = len(self._parts)
            self._parts.append(part)
            for symbol in part.variables:
                self._by_symbol.setdefault(symbol, []).append(index)
                self._trail.append(symbol)
        seen: set[int] = set()
        for part in new:
            group = self._group(part, seen)
            known = not group or self._known_to_hold(group) or self._mended(group)
            if not known and not feasible(_alike(group)[0]):
                return False
        return True

    def _placed(self, part: t.Condition) -> t.Condition:
        """A condition with the values of what has one."""
        given: dict[t.Var, t.Term] = {var: t.const(self.pinned[var]) for var in part.variables if var in self.pinned}
        return t.substitute(part, given) if given else part

    def _known_to_hold(self, group: Sequence[t.Condition]) -> bool:
        """Whether conditions hold with the values that are known, and the nearest ones to 0 of other symbols."""
        values = {var: self._known.get(var, _nearest(var.type)) for part in group for var in part.variables}
        try:
            return all(t.holds(part, values) for part in group)
        except t.EvaluationError:
            return False

    def _mended(self, group: Sequence[t.Condition]) -> bool:
        """Whether conditions hold with another value of one symbol, which is known from then on."""
        values = {var: self._known.get(var, _nearest(var.type)) for part in group for var in part.variables}
        try:
            failing = [part for part in group if not t.holds(part, values)]
            if len(failing) != 1:
                return False
            for symbol in sorted(failing[0].variables, key=_natural, reverse=True):
                about = [part for part in group if symbol in part.variables]
                others = [values[var] + by for var in failing[0].variables if var != symbol for by in (0, 1, -1)]
                for value in dict.fromkeys((*others, *TRIED)):
                    if symbol.type.wrap(value) == value and all(t.holds(p, {**values, symbol: value}) for p in about):
                        self._known[symbol] = value
                        return True
        except t.EvaluationError:
            pass
        return False

    def _solved(self, group: Sequence[t.Condition]) -> Mapping[t.Var, int] | None:
        """Values of the symbols with which conditions hold; None where there are none, or none are found."""
        symbols = {var for part in group for var in part.variables}
        if not self._known_to_hold(group):
            alike, names = _alike(group)
            found = small_model(alike)
            if found is None:
                return None
            self._known |= {var: found.get(name, _nearest(var.type)) for var, name in names.items()}
        return {var: self._known.get(var, _nearest(var.type)) for var in symbols}

    def _group(self, part: t.Condition | t.Var, seen: set[int]) -> list[t.Condition]:
        """The conditions that have to do with one, which were not ``seen`` before; what was given one value connects
        nothing.
        """
        first = {part} if isinstance(part, t.Var) else part.variables
        waiting, done = [var for var in first if var not in self.pinned], set(first)
        found: list[int] = []
        while waiting:
            for index in self._by_symbol.get(waiting.pop(), ()):
                if index in seen:
                    continue
                seen.add(index)
                found.append(index)
                more = self._parts[index].variables - done
                done |= more
                waiting.extend(var for var in more if var not in self.pinned)
        return [self._placed(self._parts[index]) for index in sorted(found)]

    def pin(self, symbol: t.Var) -> bool | None:
        """Give a symbol one value that it may have, and say whether it may have others; None where it has none."""
        if symbol in self.pinned:
            return False
        group = self._group(symbol, set())
        found = self._solved(group)
        if found is None:
            return None
        value = found.get(symbol, _nearest(symbol.type))
        others = not group or feasible(t.conjunction((*group, symbol.ne(value))))
        if not self.demand([symbol.eq(value)]):
            return None
        self.pinned[symbol] = value
        return others

    def is_used(self, symbol: t.Var) -> bool:
        """Whether something is demanded of a symbol."""
        return bool(self._by_symbol.get(symbol))

    def forced(self, symbol: t.Var) -> int | None:
        """The value that a symbol must have, where an equation is demanded of it that leaves one."""
        if symbol in self.pinned:
            return self.pinned[symbol]
        equations = [self._parts[index] for index in self._by_symbol.get(symbol, ())]
        equations = [part for part in equations if isinstance(part, t.Compare) and part.relation == "eq"]
        if not equations:
            return None
        group = self._group(symbol, set())
        found = self._solved(group)
        value = found.get(symbol) if found is not None else None
        if value is None or feasible(t.conjunction((*group, symbol.ne(value)))):
            return None
        return value

    def model(self) -> dict[t.Var, int] | None:
        """Values for all symbols of which something is demanded; None where there are none, or none are found."""
        values: dict[t.Var, int] = dict(self.pinned)
        seen: set[int] = set()
        known: dict[t.Condition, Mapping[t.Var, int]] = {}
        for part in self._parts:
            if isinstance(part, t.Truth):
                continue
            group = self._group(part, seen)
            if not group:
                continue
            alike, names = _alike(group)
            if alike not in known:
                found = small_model(alike)
                if found is None and (instead := self._solved(group)) is not None:
                    found = {name: instead[symbol] for symbol, name in names.items()}
                if found is None:
                    return None
                known[alike] = found
            values |= {symbol: known[alike].get(name, _nearest(symbol.type)) for symbol, name in names.items()}
        return values


def _nearest(type: t.IntType) -> int:
    """Zero, or the value of a type that is nearest to it."""
    low, high = type.min, type.max
    return max(low if low is not None else 0, min(0, high if high is not None else 0))


def _alike(parts: Sequence[t.Condition]) -> tuple[t.Condition, dict[t.Var, t.Var]]:
    """The conjunction with names in the order in which symbols come, and which symbol has which name."""
    names: dict[t.Var, t.Var] = {}
    out = []
    for part in parts:
        for symbol in sorted(part.variables, key=_natural):
            if symbol not in names:
                names[symbol] = t.Var(f"s{len(names)}", symbol.type)
        out.append(part)
    return t.conjunction(t.substitute(part, names) for part in out), names


def _natural(symbol: t.Var) -> tuple[int, str]:
    """Elements in the order of their places."""
    return len(symbol.name), symbol.key


def small_model(condition: t.Condition) -> Mapping[t.Var, int] | None:
    """Values that fulfil a condition, such as a reader likes: letters and small numbers where they do."""
    variables = sorted(condition.variables, key=lambda v: v.key)
    if len(variables) == 1:
        (one,) = variables
        letters = one.type == t.IntType(8, signed=True)
        for value in (0, *(LETTERS if letters else ()), 1, 2, *LETTERS[:2], 3, 10, *LETTERS[2:], -1):
            low, high = one.type.min, one.type.max
            inside = (low is None or low <= value) and (high is None or value <= high)
            if inside and t.substitute(condition, {one: t.const(value)}) is t.TRUE:
                return {one: value}
    found = satisfiable(condition, INPUTS_MS)
    if found.answer is SmtAnswer.YES and found.model is not None:
        return found.model.values
    return None
