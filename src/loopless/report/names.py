"""The names that answers show: those of the source where that is unambiguous within the loop."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from itertools import chain

from loopless import terms as t
from loopless.flowgraph.model import NULL_PART, OBJECT_PART, MemoryObject
from loopless.patterns import pattern
from loopless.queries.loops.answer import LoopAnswer
from loopless.report.brevity import WHOLE, Extent
from loopless.summary import Approximation, CallSummary, Cycle, Step
from loopless.terms.contents import nodes_in

_NAMED = frozenset(("first_positive", "first_zero"))
_FUNCTIONS = ("F", "G", "H", *(f"F{number}" for number in range(1, 20)))
"""Names for folds, which no variable of the lines may have."""
_SHORT = ("N", "M", *(f"N{number}" for number in range(2, 20)))
"""Names for exit times, which no variable of the lines may have."""


_INDICES = ("j", "k", "m", "p", "q")
"""Names for the index of an element, which no variable of the lines may have; then j1, j2, ..."""

_NULL = t.Var("NULL", t.INTEGERS)

_WORD = pattern(r"\w+")


class Names:
    """Prints the terms of one answer, about a loop or a function, with the names that users know.

    Inside, a second ``x`` of a function is ``x#2``; where it is the only ``x`` that occurs in the answer it is shown
    as ``x``.
    """

    def __init__(
        self,
        answer: LoopAnswer | CallSummary | None,
        more: Iterable[t.Node] = (),
        shown: Mapping[t.Var, str] | None = None,
        *,
        extent: Extent = WHOLE,
        layouts: Mapping[str, t.Layout] | None = None,
    ) -> None:
        """``more``: further terms and conditions that are printed beside the answer; ``shown``: their names;
        ``extent``: how much is printed; ``layouts``: what is declared in objects, beside what the answer says.
        """
        self.extent = extent
        self.shown: Mapping[t.Var, str] = {**(answer.shown if answer is not None else {}), **(shown or {})}
        spoken = _nodes_of_function(answer) if isinstance(answer, CallSummary) else nodes_of(answer)
        nodes = [*spoken, *more]
        occurring = sorted({var for node in nodes for var in node.variables}, key=lambda var: var.key)
        wanted = {var: self.shown.get(var, var.name) for var in occurring}
        count = Counter(wanted.values())
        taken = {var.name for var in occurring}
        self.short: Mapping[str, str] = {}
        self._renamed: dict[t.Var, t.Term] = {
            var: t.Var(name, var.type)
            for var, name in wanted.items()
            if name != var.name and count[name] == 1 and name not in taken
        }
        words = (t.words_in(name) for name in wanted.values())
        self._words = t.words_of(nodes).union(*words, *map(t.words_in, _written_by(answer)))
        """What no name may be that is given here, of a bound variable, of a part or of a function."""
        declared = {**(layouts or {}), **(answer.layouts if answer is not None else {})}
        if t.INDEX in wanted:
            taken = self._words.union(*map(t.words_in, declared))
            letter = next(name for name in chain(_INDICES, t.bound_names(taken, "j")) if name not in taken)
            self._renamed[t.INDEX] = t.Var(letter, t.INDEX.type)
            self._words = self._words | {letter}
        self._taken = self._words | set(_SHORT)
        self.quantified = False
        self._objects = {} if answer is None else _called(answer.objects)
        pointers = answer.pointers if isinstance(answer, LoopAnswer) else {}
        known = {self._written(var) for var in occurring}
        written = pointers_among(known) | {self._written(var): pointer for var, pointer in pointers.items()}
        halves = _halves(known, written)
        self._style = t.Style(numerals=True, taken=self._taken, pointers=written, halves=halves, layouts=declared)
        self._definitions = t.Definitions(self._taken, self._style)

    def name_folds(self, nodes: Iterable[t.Node]) -> None:
        """From here on print names for folds that stand in ``nodes`` more than once, of any length and for any of their
        variables; :meth:`where` says what they stand for.
        """
        count: Counter[t.Folding] = Counter()
        for node in dict.fromkeys(nodes):
            if any(isinstance(part, t.Aggregate) for part in t.walk_inside(node)):
                named = self._named(node)
                uses = chain([(named, 1)], *(t.operands(part) for part in t.walk_inside(named)))
                for part, times in uses:
                    shared = t.folding(part)
                    count.update({} if shared is None else {shared: times})
        free = (name for name in _FUNCTIONS if name not in self._taken)
        folds = dict(zip((shared for shared, times in count.items() if times > 1), free, strict=False))
        self._style = replace(self._style, folds=folds)
        self._definitions = t.Definitions(self._taken, self._style)

    def name(self, var: t.Var) -> str:
        """The name of a variable."""
        return t.text(self._renamed.get(var, var))

    def becomes(self, var: t.Var, term: t.Term) -> str:
        """What a variable is afterwards: ``x' = x + 1``."""
        pointer = self._style.pointers.get(self._written(var))
        if pointer and term is t.ZERO:
            return f"{pointer}' = NULL"
        return f"{f'object({pointer})' if pointer else self.name(var)}' = {self.text(term)}"

    def element(self, array: str, offset: t.Term, type: t.IntType) -> str:
        """What an element is called as it is afterwards: ``a'[j]``."""
        shown = self._named(t.Read(array, offset, type))
        assert isinstance(shown, t.Read)
        return self._abbreviated(t.text_afterwards(shown, self._style))

    def member(self, array: str, place: t.Place, indices: Iterable[t.Term]) -> str:
        """What a declared element at these indices is called as it is afterwards: ``m'[j / 4][j % 4]``."""
        return t.element_called(array.removeprefix("*"), place, [self.text(index) for index in indices], "'")

    def place(self, array: str, offset: t.Term, type: t.IntType) -> t.Place | None:
        """The scalar that is declared where an element is, of any type; None where none is declared, or one of other
        bytes.
        """
        shown = self._named(t.Read(array, offset, type))
        assert isinstance(shown, t.Read)
        return t.scalar_at(shown, t.polynomial(shown.offset), self._style.layouts)

    def effects(self, then: Iterable[tuple[t.Var, t.Term]]) -> list[str]:
        """What variables that users know are afterwards. Of a pointer that becomes another one, or null, that is said
        once of both its halves.
        """
        values = {var: term for var, term in then if self.is_source(var)}
        whole = {self._written(var): var for var in values}
        left_out: set[t.Var] = set()
        shown: dict[t.Var, t.Term] = {}
        for var, term in values.items():
            offset = self._style.halves.get(self._written(var))
            if offset is None or offset not in whole:
                continue
            place = values[whole[offset]]
            if term is t.ZERO and place is t.ZERO:
                left_out.add(whole[offset])
            elif self.is_told_by(term, place):
                left_out.add(var)
                shown[whole[offset]] = self._pointer(term, place)
        return [self.becomes(var, shown.get(var, term)) for var, term in values.items() if var not in left_out]

    def is_told_by(self, owner: t.Node, offset: t.Node) -> bool:
        """Whether the offset of a pointer as it is printed says into which object it points, too."""
        owner, offset = self._named(owner), self._named(offset)
        if owner is offset is t.ZERO:
            return True
        if isinstance(owner, t.Ite):
            return all(self.is_told_by(one, other) for one, other in _sides(owner, offset))
        if offset is t.ZERO and (t.is_made(owner) or (isinstance(owner, t.Const) and owner.value in self._objects)):
            return True
        if t.offset_in_list(owner) == _place(offset):
            return True
        return isinstance(owner, t.Var) and self._style.halves.get(owner, owner) in offset.variables

    def pointer(self, owner: t.Node, offset: t.Node) -> str:
        """A pointer, where :meth:`is_told_by` says that its offset tells it."""
        return self.text(self._pointer(owner, offset))

    def _pointer(self, owner: t.Node, offset: t.Node) -> t.Term:
        """The offset of a pointer, or how C calls the pointer where that does not tell it."""
        assert isinstance(offset, t.Term)
        if owner is offset is t.ZERO:
            return _NULL
        if isinstance(owner, t.Ite):
            return t.ite(owner.condition, *(self._pointer(one, other) for one, other in _sides(owner, offset)))
        if isinstance(owner, t.Const):
            return t.Var(self._objects[owner.value], t.INTEGERS)
        place = t.offset_in_list(owner) if t.is_made(owner) else None
        return offset if place is None else t.read(*place, t.INTEGERS)

    def listed(self, variables: Iterable[t.Var]) -> list[str]:
        """The names of variables, of a pointer one of both its halves."""
        written = [self._written(var) for var in variables]
        owners = {var for var in written if self._style.halves.get(var) in written}
        return [t.text(var) for var in written if var not in owners]

    def alternatives(self, condition: t.Condition) -> list[str]:
        """The disjuncts of a condition; that two pointers differ is one of them."""
        parts = [self._named(part) for part in t.disjuncts(condition)]
        conditions = [part for part in parts if isinstance(part, t.Condition)]
        pairs = t.about_pointers(conditions, self._style.halves, self._style.pointers, all_of=False)
        second = {other for _, other in pairs.values()}
        return [
            pairs[at][0] if at in pairs else self.text(part)
            for at, part in enumerate(t.disjuncts(condition))
            if at not in second
        ]

    def _written(self, var: t.Var) -> t.Var:
        written = self._renamed.get(var, var)
        assert isinstance(written, t.Var)
        return written

    def is_source(self, var: t.Var) -> bool:
        """Whether users know the variable."""
        return var in self.shown

    def text(self, node: t.Node) -> str:
        """A term or condition in C syntax with the numerals that people use (``INT_MAX``, ``2^31``); parts of a long
        one have names, which :meth:`where` explains.
        """
        style = replace(self._style, quantified=True) if self.quantified else self._style
        return self._abbreviated(self._definitions.text(self._named(node), style))

    def _abbreviated(self, shown: str) -> str:
        for long, short in self.short.items():
            shown = _replaced(shown, long, short)
        return shown

    def shortened(self, lines: Callable[[Names], list[str]], nodes: Iterable[t.Node]) -> list[str]:
        """The ``lines`` about ``nodes``, with names for exit times that stand there more than once, and what these are
        in lines behind them.
        """
        other, short = self.abbreviated(lines, nodes)
        return [*lines(other), *(f"    where {name} = {_shortened(long, short)}" for long, name in short.items())]

    def abbreviated(
        self, lines: Callable[[Names], list[str]], nodes: Iterable[t.Node]
    ) -> tuple[Names, Mapping[str, str]]:
        """With names for exit times that stand more than once in the ``lines`` about ``nodes``: what prints with them,
        and the name of each first time.
        """
        plain = lines(self)
        parts = dict.fromkeys(part for node in nodes for part in t.walk(node))
        long = (part for part in parts if _has_name(part) and t.folding(part) not in self._style.folds)
        found = [shown for part in long if not (shown := self.text(part)).isidentifier()]
        whole = " ".join(line.strip() for line in plain)
        free = (name for name in _SHORT if name not in self._words)
        short = dict(zip((long for long in found if whole.count(long) > 1), free, strict=False))
        other = copy(self)
        if not short:
            other.quantified = True  # nothing speaks of where something is found
            return other, {}
        other.short = dict(sorted(short.items(), key=lambda pair: -len(pair[0])))  # one may stand in another
        return other, short

    def where(self) -> list[str]:
        """What the names of parts stand for that were printed so far, one line each."""
        return [f"    {shown}" for _, shown in self._meanings()]

    def _meanings(self) -> list[tuple[str, str]]:
        """Each name of a part with what it stands for; it speaks of names before it."""
        folds = [(name, t.fold_text(name, shared, self._style)) for shared, name in self._style.folds.items()]
        return [*folds, *((name, f"{name} = {value}") for name, value in self._definitions.values)]

    def where_in(self, lines: Iterable[str]) -> list[str]:
        """The same of those names alone that stand in the lines, or in what such names stand for."""
        wanted = set(_WORD.findall(" ".join(lines)))
        found: list[str] = []
        for name, shown in reversed(self._meanings()):
            if name in wanted:
                wanted |= set(_WORD.findall(shown))
                found.append(f"    {shown}")
        return found[::-1]

    def alone(self, node: t.Node) -> tuple[str, list[tuple[str, str]], set[t.ReadAs]]:
        """A term or condition in C syntax, with names for parts that are its own, what these stand for, and what is
        read of memory.
        """
        told: set[t.ReadAs] = set()
        own = t.Definitions(self._taken, replace(self._style, numerals=False, folds={}, told=told))
        return own.text(self._named(node)), own.values, told

    def brief(self, node: t.Node) -> str:
        """A term or condition in C syntax; only said to be long where that needs names for its parts."""
        named = self._named(node)
        return t.text(named, self._style) if t.is_plain(named) else t.brief(named)

    def smt(self, node: t.Node) -> str | None:
        """A term or condition in SMT-LIB; None where there is no counterpart."""
        return t.smt(self._named(node))

    def _named(self, node: t.Node) -> t.Node:
        if not self._renamed:
            return node
        assert isinstance(node, t.Term | t.Condition)
        try:
            if isinstance(node, t.Term):
                return t.substitute(node, self._renamed)
            return t.substitute(node, self._renamed)
        except t.TermTooLarge:
            return node


def pointers_among(variables: Iterable[t.Var]) -> dict[t.Var, str]:
    """Those of the variables that say where a pointer points to, or whether an argument is null, with the pointers."""
    found = {}
    for var in variables:
        part = NULL_PART if var.type.width == 1 else OBJECT_PART if var.type.width is None else None
        if part is not None and var.name.endswith(part):
            found[var] = var.name.removesuffix(part)
    return found


def _halves(known: Collection[t.Var], pointers: Mapping[t.Var, str]) -> dict[t.Var, t.Var]:
    """By variables that say which object a pointer points into, those of its offset there."""
    named = {var.name: var for var in known}
    owners = ((var, named.get(var.name.removesuffix(OBJECT_PART))) for var in pointers if var.type.width is None)
    return {owner: offset for owner, offset in owners if offset is not None}


def _called(objects: Mapping[int, MemoryObject]) -> dict[int, str]:
    """How C calls pointers to the beginning of objects."""
    outside = {number for number, held in objects.items() if held.kind == "parameter" and held.size is None}
    return {number: held.name if number in outside else f"&{held.name}" for number, held in objects.items()}


def _sides(owner: t.Ite, offset: t.Node) -> tuple[tuple[t.Node, t.Node], tuple[t.Node, t.Node]]:
    """The halves of a pointer, by the condition on which its object depends."""
    same = isinstance(offset, t.Ite) and owner.condition is offset.condition
    then, otherwise = (offset.then, offset.otherwise) if same and isinstance(offset, t.Ite) else (offset, offset)
    return (owner.then, then), (owner.otherwise, otherwise)


def _place(node: t.Node) -> tuple[str, t.Term] | bool:
    """What is read, whatever its type; False where nothing is."""
    return (node.array, node.offset) if isinstance(node, t.Read) else False


def _shortened(long: str, short: Mapping[str, str]) -> str:
    """What a name stands for, by the other names."""
    for other, name in sorted(short.items(), key=lambda pair: -len(pair[0])):
        if len(other) < len(long):
            long = _replaced(long, other, name)
    return long


def _replaced(text: str, long: str, short: str) -> str:
    """The text with a name for a part of it, where that is not the beginning of a longer word."""
    return re.sub(re.escape(long) + r"(?!\w)", lambda _: short, text)


def _has_name(part: t.Node) -> bool:
    """Whether the part gets a name where it stands more than once: exit times, what loops find in memory, and quotients
    by what is no number.
    """
    if isinstance(part, t.Op) and part.op in ("floor_div", "mod"):
        return not isinstance(part.args[1], t.Const)
    if isinstance(part, t.Aggregate):
        return t.length_in_words(part) is None
    return isinstance(part, t.Op) and part.op in _NAMED


def nodes_of(answer: LoopAnswer | None) -> Iterator[t.Node]:
    """All terms and conditions that the reports print."""
    if answer is None:
        return
    if answer.paths is not None:
        yield from (*answer.paths.state, *answer.paths.invariants, *answer.paths.shown)
        for path in answer.paths.all:
            yield path.condition
            yield from path.update
            yield from path.update.values()
            yield from (unknown.var for unknown in path.unknowns)
            yield from _some(path.result)
    if answer.summary is not None:
        for case in answer.summary.cases:
            yield from (case.when, case.iterations, *case.then, *case.then.values(), *case.per_path.values())
            yield from case.totals.values()
            yield from _times(case.trace)
            yield from _some(case.result)
            yield from nodes_in(case.contents or {})
        yield from (answer.summary.entered, answer.summary.diverges)
        yield from (undefined.when for undefined in answer.summary.undefined)
        yield from (residual.when for residual in answer.summary.residual)
        if answer.summary.approximation is not None:
            yield from _nodes_of_approximation(answer.summary.approximation)


def _nodes_of_approximation(found: Approximation) -> Iterator[t.Node]:
    for case in found.cases:
        yield from (case.when, case.facts, case.iterations, *case.free)
        yield from (*case.then, *case.then.values(), *case.per_path.values())
        yield from _some(case.result)
    yield found.may_diverge
    yield from (part.when for part in found.may_be_undefined)
    yield from (part.when for part in found.may_be_lost)


def _nodes_of_function(summary: CallSummary) -> Iterator[t.Node]:
    yield from (input.var for input in summary.inputs)
    yield from (region.when for region in summary.regions)
    for case in summary.cases:
        yield from (*case.then, *case.then.values(), *case.iterations.values(), *case.inputs)
        yield from _some(case.result)
        yield from nodes_in(case.told)


def _written_by(answer: LoopAnswer | CallSummary | None) -> Iterator[str]:
    """The names of objects of whose contents the cases tell."""
    summary = answer.summary if isinstance(answer, LoopAnswer) else answer
    for case in summary.cases if summary is not None else ():
        yield from (array.removesuffix(t.OBJECT_IN_LIST) for array in case.contents or ())


def _times(trace: Iterable[Step]) -> Iterator[t.Term]:
    for step in trace:
        yield from _some(step.times)
        if isinstance(step, Cycle):
            yield from _times(step.body)


def _some(term: t.Term | None) -> Iterable[t.Term]:
    return () if term is None else (term,)
