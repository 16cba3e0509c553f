"""Which of several paths an iteration takes, by as few conditions as tell them apart.

What a variable becomes depends on the path; a path's condition says much that does not matter for it, such as that
another variable does not overflow. Without that a variable seems to depend on all others.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.limits.summary import MAX_DISTINCTION_QUESTIONS
from loopless.paths.joining import join
from loopless.paths.model import Path
from loopless.records import dataclass
from loopless.summary.data.possible import possible
from loopless.terms.knowing import Known


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several things that an iteration may do: ``then``, on the paths ``paths``, where ``when`` holds."""

    when: t.Condition
    then: t.Term
    paths: tuple[Path, ...]


class PathChoices:
    """The paths of a loop, told apart. ``common``: what holds in every iteration."""

    def __init__(self, paths: Sequence[Path], common: t.Condition) -> None:
        self.paths = tuple(paths)
        self.common = common
        shared = frozenset(t.conjuncts(common))
        known = Known(shared)
        self.rest: dict[str, tuple[t.Condition, ...]] = {}
        for path in paths:
            left = [known.decide(part) for part in t.conjuncts(path.condition) if part not in shared]
            self.rest[path.id] = tuple(dict.fromkeys(part for part in left if part is not t.TRUE))
        self._asked = 0
        self._apart: dict[tuple[frozenset[t.Condition], str], bool] = {}

    def of(self, var: t.Var) -> tuple[Choice, ...]:
        """What an iteration makes of ``var``: exactly one condition holds in an iteration that is completed."""
        by_term: dict[t.Term, list[Path]] = {}
        for path in self.paths:
            by_term.setdefault(path.update.get(var, var), []).append(path)
        conditions = self.conditions(list(by_term.values()), avoided=var)
        return tuple(
            Choice(when, term, tuple(group)) for when, (term, group) in zip(conditions, by_term.items(), strict=True)
        )

    def conditions(self, groups: Sequence[Sequence[Path]], avoided: t.Var | None = None) -> list[t.Condition]:
        """For each group of paths a condition that tells it from the others, as small as is found; exactly one of them
        holds in an iteration that is completed. Conjuncts that speak of ``avoided`` go first.
        """
        if len(groups) == 1:
            return [t.TRUE]
        found: list[t.Condition] = []
        for number, group in enumerate(groups):
            others = [path for at, other in enumerate(groups) if at != number for path in other]
            alternatives = [self._small(path, others, avoided) for path in group]
            found.append(t.conjunction(join(alternatives)))
        return found

    def _small(self, path: Path, others: Sequence[Path], avoided: t.Var | None) -> tuple[t.Condition, ...]:
        """Conjuncts of the path's condition that no other path fulfils."""
        kept = list(self.rest[path.id])
        order = sorted(range(len(kept)), key=lambda at: (avoided not in kept[at].variables, -len(kept[at].variables)))
        for part in [kept[at] for at in order]:
            without = [other for other in kept if other is not part]
            if all(self._excludes(without, other) for other in others):
                kept = without
        return tuple(kept)

    def _excludes(self, parts: Sequence[t.Condition], other: Path) -> bool:
        key = frozenset(parts), other.id
        found = self._apart.get(key)
        if found is None:
            if self._asked >= MAX_DISTINCTION_QUESTIONS:
                return False
            self._asked += 1
            whole = t.conjunction((self.common, *parts, *self.rest[other.id]))
            found = self._apart[key] = not possible(whole)
        return found


def chosen(choices: Sequence[tuple[t.Condition, t.Term]]) -> t.Term:
    """The term whose condition holds; the last one where no other does."""
    result = choices[-1][1]
    for when, then in reversed(choices[:-1]):
        result = t.ite(when, then, result)
    return result
