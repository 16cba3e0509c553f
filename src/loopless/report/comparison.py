"""Two answers of ``bound`` compared: which loops got worse, for gates in review."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from loopless.errors import UsageError

_DEGREES: Final = re.compile(r"\^(\d+)")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. ``worse``: a bound is lost, grows faster, or is a larger number."""

    name: str
    what: str
    worse: bool


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """The differences between two documents of ``loopless bound``. Raises ``UsageError`` if one is none."""
    for document in (old, new):
        if document.get("command") != "bound" or "loops" not in document:
            raise UsageError("--compare takes two files written by loopless bound --format json")
    before, after = _by_place(old), _by_place(new)
    return [change for key in dict.fromkeys((*before, *after)) for change in _changes(before.get(key), after.get(key))]


def _by_place(document: Mapping[str, Any]) -> dict[tuple[str, str, int], Mapping[str, Any]]:
    """Loops by file, function and number there: lines move when programs are edited."""
    count: dict[tuple[str, str], int] = {}
    found = {}
    for loop in document["loops"]:
        place = (loop["file"], loop["function"])
        number = count[place] = count.get(place, 0) + 1
        found[*place, number] = loop
    return found


def _changes(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[Change]:
    if new is None:
        assert old is not None
        yield Change(old["name"], "is gone", worse=False)
    elif old is None:
        lost = new["upper"] is None
        yield Change(new["name"], f"is new: {_shown(new)}", worse=lost)
    elif _shown(old) != _shown(new) or old["value"] != new["value"]:
        yield Change(new["name"], f"{_shown(old)}, now {_shown(new)}{_values(old, new)}", worse=_is_worse(old, new))


def _shown(loop: Mapping[str, Any]) -> str:
    if loop["upper"] is None:
        return "no bound"
    return f"{loop['upper']['text']}{' [' + loop['big_o'] + ']' if loop['big_o'] else ''}"


def _values(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    return "" if old["value"] == new["value"] else f" ({old['value']}, now {new['value']})"


def _is_worse(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if new["upper"] is None or old["upper"] is None:
        return old["upper"] is not None
    if old["value"] is not None and new["value"] is not None and new["value"] > old["value"]:
        return True
    return _degree(new["big_o"]) > _degree(old["big_o"])


def _degree(big_o: str | None) -> float:
    """The degree of what is printed as O(n*m + k^2); no class is worse than any."""
    if big_o is None:
        return float("inf")
    inside = big_o[big_o.index("(") + 1 : -1]
    return max(sum(_power(factor) for factor in product.split("*")) for product in inside.split(" + "))


def _power(factor: str) -> float:
    if factor == "1":
        return 0.0
    if factor.startswith("log("):
        return 0.01
    if "^(" in factor:
        above, below = factor[factor.index("^(") + 2 : -1].split("/")
        return int(above) / int(below)
    match = _DEGREES.search(factor)
    return float(match[1]) if match else 1.0
