"""Composing an update with itself, and the order at which it becomes a translation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopless import terms as t
from loopless.graphs import reachable
from loopless.records import dataclass
from loopless.terms.relation import followed


def iterate(update: Mapping[t.Var, t.Term], n: int) -> dict[t.Var, t.Term]:
    """The update that does ``update`` n ≥ 0 times. Raises :class:`loopless.terms.TermTooLarge`."""
    assert n >= 0, n
    result: dict[t.Var, t.Term] = {var: var for var in update}
    power = dict(update)
    while n:
        if n & 1:
            result = followed(power, result)
        n >>= 1
        if n:
            power = followed(power, power)
    return result


@dataclass(frozen=True, slots=True)
class FiniteOrder:
    """The order of an update U: U^(start + period) = U^start + translation on the control variables.

    Hence U^(start + r + k·period) = U^(start + r) + k·translation for all r ≥ 0 and k ≥ 0.
    ``iterates`` are U^0 … U^(start + period - 1) on the control variables and what they depend on.
    """

    start: int
    period: int
    translation: Mapping[t.Var, t.Term]
    iterates: tuple[Mapping[t.Var, t.Term], ...]

    def at(self, residue: int, k: t.Term) -> dict[t.Var, t.Term]:
        """The control variables after start + residue + k·period iterations, 0 ≤ residue < period, k ≥ 0."""
        base = self.iterates[self.start + residue]
        return {v: base[v] + k * d for v, d in self.translation.items()}


def finite_order(
    update: Mapping[t.Var, t.Term],
    control: Iterable[t.Var],
    max_start: int = 4,
    max_period: int = 12,
    *,
    symbolic: bool = False,
) -> FiniteOrder | None:
    """The least (m, p), by m first, with U^(m+p) - U^m constant on ``control``; else None.

    With ``symbolic`` the difference may also be a term over invariants. Control variables outside ``update`` are
    invariant. What ``update`` needs of other variables is followed; these need not be translated.
    """
    controls = [v for v in dict.fromkeys(control) if v in update]
    part = _closure(update, controls)
    iterates: list[dict[t.Var, t.Term]] = [{v: v for v in part}]
    try:
        for start in range(max_start + 1):
            for period in range(1, max_period + 1):
                while len(iterates) <= start + period:
                    iterates.append(followed(iterates[-1], part))
                shift = {v: iterates[start + period][v] - iterates[start][v] for v in controls}
                if all(isinstance(d, t.Const) or (symbolic and not d.variables & part.keys()) for d in shift.values()):
                    return FiniteOrder(start, period, shift, tuple(iterates[: start + period]))
    except t.TermTooLarge:
        return None
    return None


def _closure(update: Mapping[t.Var, t.Term], roots: Iterable[t.Var]) -> dict[t.Var, t.Term]:
    found = reachable(roots, lambda var: sorted(v for v in update[var].variables if v in update))
    return {var: update[var] for var in found}
