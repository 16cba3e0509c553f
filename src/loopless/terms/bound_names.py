"""Names of bound variables, which nothing else has that is printed with them: no variable, no array, no pointer."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import count, islice
from typing import Final

from loopless.patterns import pattern
from loopless.terms.nodes import OBJECT_IN_LIST, Aggregate, Node, Read, Var, walk_inside

_WORD: Final = pattern(r"(?<![\w.>])[^\W\d]\w*")


def words_in(name: str) -> set[str]:
    """The words of a name but for members, which stand behind a point or an arrow: p of ``p->next``."""
    return set(_WORD.findall(name))


def words_of(nodes: Iterable[Node]) -> set[str]:
    """The words by which the variables and arrays in ``nodes`` are called."""
    done: set[Node] = set()
    names: set[str] = set()
    for node in nodes:
        for part in walk_inside(node, done.__contains__):
            done.add(part)
            if isinstance(part, Var):
                names.add(part.name)
            elif isinstance(part, Read):
                names.add(part.array.removesuffix(OBJECT_IN_LIST))
    return {word for name in names for word in words_in(name)}


def bound_names(taken: Container[str], letter: str = "k") -> Iterator[str]:
    """k, k1, k2, ... but for those that are taken."""
    if letter not in taken:
        yield letter
    yield from (name for number in count(1) if (name := f"{letter}{number}") not in taken)


def value_names(fold: Aggregate, taken: Container[str]) -> list[str]:
    """The names of the variables of a fold that has a name of its own."""
    own = words_of((*fold.outside[2:], *fold.inside))
    free = (name for name in bound_names(own, "v") if name not in taken)
    return list(islice(free, len(fold.inside)))
