"""Disjunction of path conditions, kept small: common conjuncts factored out, complementary ones resolved."""

from __future__ import annotations

from loopless import terms as t

Conjuncts = tuple[t.Condition, ...]


def join(alternatives: list[Conjuncts]) -> Conjuncts:
    """Conjuncts equivalent to "some of ``alternatives`` holds"."""
    current = [tuple(dict.fromkeys(parts)) for parts in alternatives]
    apart: set[tuple[Conjuncts, Conjuncts]] = set()
    while True:
        resolved = _resolve_some(current, apart)
        if resolved is None:
            break
        current = resolved
    if len(current) == 1:
        return current[0]
    common = [part for part in current[0] if all(part in other for other in current[1:])]
    rests = [tuple(part for part in parts if part not in common) for parts in current]
    if any(not rest for rest in rests):
        return tuple(common)
    either = t.disjunction(t.conjunction(rest) for rest in _absorbed(rests))
    return (*common, *t.conjuncts(either))


def _resolve_some(alternatives: list[Conjuncts], apart: set[tuple[Conjuncts, Conjuncts]]) -> list[Conjuncts] | None:
    """Combine one pair that differs in a single complementary conjunct; None where there is none. ``apart``: the pairs
    that are known not to be one; it grows.
    """
    sets = [frozenset(parts) for parts in alternatives]
    for i, a in enumerate(alternatives):
        for j in range(i + 1, len(alternatives)):
            b = alternatives[j]
            if (a, b) in apart:
                continue
            combined = _resolve(a, b, sets[i] - sets[j], sets[j] - sets[i])
            if combined is not None:
                return [*alternatives[:i], combined, *alternatives[i + 1 : j], *alternatives[j + 1 :]]
            apart.add((a, b))
    return None


def _resolve(
    a: Conjuncts, b: Conjuncts, only_a: frozenset[t.Condition], only_b: frozenset[t.Condition]
) -> Conjuncts | None:
    if not only_a:
        return a
    if not only_b:
        return b
    if len(only_a) > 1 and len(only_b) > 1:
        return None  # the negation of several is one
    first = t.conjunction(part for part in a if part in only_a)
    if ~first is t.conjunction(part for part in b if part in only_b):
        return tuple(part for part in a if part not in only_a)
    return None


def _absorbed(rests: list[Conjuncts]) -> list[Conjuncts]:
    """P or (not p and q) is p or q: a single conjunct removes its negation from the other alternatives."""
    singles = [rest[0] for rest in rests if len(rest) == 1 and not isinstance(rest[0], t.Or)]
    result: list[Conjuncts] = []
    for rest in rests:
        if len(rest) == 1:
            result.append(rest)
            continue
        kept = tuple(part for part in rest if not any(~single is part for single in singles))
        result.append(kept)
    return [rest for rest in result if t.conjunction(rest) is not t.FALSE]
