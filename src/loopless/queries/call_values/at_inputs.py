"""Numbers that bounds come to at given inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from loopless import terms as t
from loopless.bounds import Claim
from loopless.bounds.reads.without_data import without_data
from loopless.queries.call_values.given_memory import GivenMemory
from loopless.queries.call_values.inputs import Given, unnumbered
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class InputNames:
    """What the names of inputs mean in the bounds of one function.

    ``spoken_of``: the variables that bounds over inputs are about; ``shown``: the source names of variables;
    ``ambiguous``: source names of several of them, by which none is meant; ``layouts``: what is declared in objects, by
    their names.
    """

    function: str
    spoken_of: frozenset[t.Var]
    shown: Mapping[t.Var, str]
    ambiguous: frozenset[str]
    layouts: Mapping[str, t.Layout]

    def of(self, var: t.Var) -> tuple[str, ...]:
        """What users may call a variable."""
        return var.name, self.shown.get(var, var.name), unnumbered(var.name)


@dataclass(frozen=True, slots=True)
class AtValues:
    """What a claim comes to at given values.

    ``value``: the number of iterations; ``whatever``: a maximum for all contents of memory. ``never``: the loop never
    ends. ``late``: the evaluation exceeds its limit. Without these the value is unknown. ``needs``: inputs whose values
    are missing. ``contents``: names of arrays and pointers whose elements are missing. If nothing is missing, no bound
    holds at these values.
    """

    value: int | None = None
    whatever: bool = False
    never: bool = False
    needs: tuple[t.Var, ...] = ()
    contents: tuple[str, ...] = ()
    late: bool = False


def _most_read(given: int) -> int:
    """How often elements are looked at, of which so many are given: some searches go on for ever, and each step of one
    may look at all elements. A guess.
    """
    return 200 + 4 * given * given


def at_values(names: InputNames, claim: Claim, given: Given, over_inputs: t.Term | None = None) -> AtValues:
    """What a claim about a call comes to. ``over_inputs``: a bound on the same, whatever the call reads."""
    here = _Here(names, given)
    if here.holds(claim.never):
        return AtValues(never=True)
    value = here.number(claim.upper, claim.when)
    if value is not None:
        return AtValues(value, whatever=claim.upper is not None and here.number(claim.upper, exactly=True) is None)
    if here.left < 0:
        return AtValues(late=True)
    most = here.number(over_inputs)
    if most is not None:
        return AtValues(most, whatever=True)
    if claim.upper is None or here.holds(~claim.when):
        return AtValues()
    nodes = (claim.upper, claim.when)
    missing = {var for node in nodes for var in node.variables if var not in here.values}
    reads = [part.array for node in nodes for part in t.walk_inside(node) if isinstance(part, t.Read)]
    contents = [array.removeprefix("*") for array in reads]
    needs = [var for var in missing if not set(names.of(var)) & set(contents)]  # elements count from pointers
    return AtValues(needs=tuple(sorted(needs, key=lambda var: var.key)), contents=tuple(dict.fromkeys(contents)))


def most_at(names: InputNames, term: t.Term, given: Given) -> int | None:
    """The most that a term comes to, whatever the inputs are whose values are not given; None where that has no end."""
    values = _Here(names, given).values
    return t.range_of(t.substitute(term, {var: t.const(value) for var, value in values.items()}))[1]


class _Here:
    """The values of variables and of elements of memory that are given."""

    def __init__(self, names: InputNames, given: Given) -> None:
        meant = {name: value for name, value in given.items() if name not in names.ambiguous}
        self.memory = GivenMemory(names.layouts, meant)
        shared = Counter(unnumbered(var.name) for var in names.spoken_of)
        self.values: dict[t.Var, int] = {}
        for var in names.spoken_of:
            for name in names.of(var):
                number = meant.get(name)
                if isinstance(number, int) and (name in names.of(var)[:2] or shared[name] == 1):
                    self.values[var] = number
                    break
            else:
                if any(name in self.memory for name in names.of(var)):
                    self.values[var] = 0  # elements count from where the pointer of this name points to
        self._names, self._given = names, meant
        self.left = _most_read(len(self.memory))
        """How often elements of memory may still be looked at."""

    def number(self, term: t.Term | None, when: t.Condition = t.TRUE, *, exactly: bool = False) -> int | None:
        """The value of a bound. ``exactly``: a bound that depends on unknown elements has none; else the value is a
        maximum for all of them. None where the bound does not hold, or other inputs are missing.
        """
        for upper in (term,) if exactly or term is None else (term, without_data(term)):
            try:
                if upper is not None and t.holds(when, self._of(when), self._read):
                    return t.evaluate(upper, self._of(upper), self._read)
            except t.EvaluationError:
                continue
        return None

    def holds(self, condition: t.Condition) -> bool:
        """Whether the condition surely holds."""
        try:
            return t.holds(condition, self._of(condition), self._read)
        except t.EvaluationError:
            return False

    def _of(self, node: t.Node) -> dict[t.Var, int]:
        """The values of the variables of a node: those of bounds of one entry, or on costs, may be others."""
        others = (var for var in node.variables if var not in self.values)
        named = {var: self._given.get(self._names.shown.get(var, var.name)) for var in others}
        return self.values | {var: value for var, value in named.items() if isinstance(value, int)}

    def _read(self, array: str, offset: int, type: t.IntType) -> int:
        self.left -= 1
        if self.left < 0:
            raise t.EvaluationError("this takes too long")
        return self.memory.read(array, offset, type)


def number_at(
    names: InputNames, term: t.Term | None, when: t.Condition, given: Given | None, *, exactly: bool = False
) -> int | None:
    """The value of a bound at the given inputs; None where it does not hold, or inputs are missing.

    ``exactly``: a bound that depends on unknown elements has no value; else the value is a maximum for all of them. A
    name of several variables gives none of them a value.
    """
    return _Here(names, given or {}).number(term, when, exactly=exactly)


def names_in_bounds(answers: Iterable[InputNames]) -> set[str]:
    """What users may call the variables that bounds speak of."""
    return {name for names in answers for var in names.spoken_of for name in names.of(var)}


def not_meant(answers: Iterable[InputNames], given: Iterable[str] | None) -> list[str]:
    """What to say of the names in ``given`` that several variables have."""
    return [
        f"several variables of {names.function} are called {name}, so --at gives a value to none of them"
        for names in answers
        for name in given or ()
        if name in names.ambiguous
    ]
