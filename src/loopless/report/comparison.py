"""Two answers of ``bound`` compared: which loops got worse, for gates in review."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from loopless.errors import UsageError
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.report.growth import Growth, grown

_CLASS: Final = pattern(r"O\(.+\)")
_FACTORS: Final = pattern(r"(?<=[\w)\]])\*")
"""Between factors; what a pointer leads to has a star before its name."""
_DEGREES: Final = pattern(r"\^(\d+)")
_NUMBER: Final = pattern(r"\d{1,4000}")


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """One difference. ``worse``: a bound is lost, grows faster, or is larger at some inputs; None where that is not
    known. ``growth``: such inputs, and how much larger it is there.
    """

    name: str
    what: str
    worse: bool | None
    growth: Growth | None = None


def read_answer(file: Path) -> dict[str, Any]:
    """The document that ``loopless bound --format json`` wrote into ``file``. Raises ``UsageError``."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no file {file}") from None
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not _is_answer(document):
        raise UsageError(f"{file} was not written by loopless bound --format json")
    if document.get("errors"):
        raise UsageError(f"{file} has no answer but an error: {document['errors'][0].get('message')}")
    return document


def _is_answer(document: Mapping[str, Any]) -> bool:
    """Whether all is there that a comparison looks at."""
    loops, functions, errors = (document.get(key, []) for key in ("loops", "functions", "errors"))
    run = document.get("run", {"entry": "", "loops": []})
    if document.get("command") != "bound" or "loops" not in document:
        return False
    if not isinstance(run, dict) or not isinstance(run.get("entry"), str):
        return False
    if not all(isinstance(part, list) for part in (loops, functions, errors, run.get("loops"))):
        return False
    return (
        all(isinstance(error, dict) for error in errors)
        and all(_has_bound(loop, "name", "file", "function") for loop in loops)
        and all(_has_bound(function, "name") for function in functions)
        and all(_has_bound(loop, "name", "file", "function") and _has_bound(_any(loop)) for loop in run["loops"])
    )


def _has_bound(row: Any, *names: str) -> bool:
    if not isinstance(row, dict) or not {"upper", "value", "big_o"} <= row.keys():
        return False
    upper, value, big_o = row["upper"], row["value"], row["big_o"]
    return (
        all(isinstance(row.get(key), str) for key in names)
        and (upper is None or (isinstance(upper, dict) and isinstance(upper.get("text"), str) and _has_names(upper)))
        and (value is None or isinstance(value, int))
        and (big_o is None or (isinstance(big_o, str) and _has_degree(big_o)))
    )


def _has_names(upper: Mapping[str, Any]) -> bool:
    parts = upper.get("definitions", [])
    return isinstance(parts, list) and all(isinstance(part, dict) and {"name", "is"} <= part.keys() for part in parts)


def _has_degree(big_o: str) -> bool:
    try:
        return _CLASS.fullmatch(big_o) is not None and _degree(big_o) >= 0
    except (ValueError, ZeroDivisionError):
        return False


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[AnswerChange]:
    """The differences between two documents of ``loopless bound``, see :func:`read_answer`."""
    before, after = _by_place(old), _by_place(new)
    keys = dict.fromkeys((*before, *after))
    found = [change for key in keys for change in _changes(before.get(key), after.get(key))]
    return [*found, *_of_functions(old, new), *_of_runs(old, new)]


def change_text(change: AnswerChange) -> str:
    """One difference, in a line."""
    word = {True: "worse", False: "changed", None: "changed"}[change.worse]
    return f"{word}: {change.name}: {change.what}"


def change_json(change: AnswerChange) -> dict[str, Any]:
    """The same in JSON."""
    growth = change.growth
    at = None if growth is None else {"inputs": dict(growth.at), "old": growth.old, "new": growth.new}
    return {"name": change.name, "what": change.what, "worse": change.worse, "at": at}


def _of_runs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[AnswerChange]:
    """What got worse of loops in a run of the program, where both are about runs from the same function."""
    was, now = (document.get("run", {"entry": None}) for document in (old, new))
    if was["entry"] != now["entry"] or was["entry"] is None:
        return
    before, after = _by_place(was), _by_place(now)
    for key, loop in after.items():
        run, entry = f"{loop['name']} in a run", f"{loop['name']} in an entry"
        if key not in before:
            found = list(_changes(None, {**loop, "name": run}))
        else:
            found = list(_changes(before[key], {**loop, "name": run}))
            found += _changes(_any(before[key]), {**_any(loop), "name": entry})
        yield from (change for change in found if change.worse is not False)


def _any(row: Any) -> dict[str, Any]:
    """The bound on any one entry of a loop of a run, as a row of its own."""
    names = {"any": "upper", "any_big_o": "big_o", "any_value": "value", "inputs": "inputs"}
    return {own: row[name] for name, own in names.items() if isinstance(row, dict) and name in row}


def _of_functions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[AnswerChange]:
    """What got worse of all loops of a function together: each alone may be as it was, and there be more of them."""
    before, after = _by_name(old), _by_name(new)
    for key in (key for key in before if key in after):
        was, now = before[key], after[key]
        for change in _difference(f"{was['name']} in all", was, now):
            if change.worse is not False:
                yield change


def _by_name(document: Mapping[str, Any]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Functions by name and number: static ones may share theirs."""
    count: dict[str, int] = {}
    found = {}
    for function in document.get("functions", []):
        name = function["name"]
        number = count[name] = count.get(name, 0) + 1
        found[name, number] = function
    return found


def _by_place(document: Mapping[str, Any]) -> dict[tuple[str, str, int], Mapping[str, Any]]:
    """Loops by file, function and number there: lines move when programs are edited."""
    count: dict[tuple[str, str], int] = {}
    found = {}
    for loop in document["loops"]:
        place = (loop["file"], loop["function"])
        number = count[place] = count.get(place, 0) + 1
        found[*place, number] = loop
    return found


def _changes(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> Iterator[AnswerChange]:
    if new is None:
        assert old is not None
        yield AnswerChange(old["name"], "is gone", worse=False)
    elif old is None:
        lost = new["upper"] is None
        yield AnswerChange(new["name"], f"is new: {_shown(new)}", worse=lost)
    else:
        yield from _difference(new["name"], old, new)


def _difference(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[AnswerChange]:
    """What is different in the bounds on the same."""
    per_entry = old.get("per_entry"), new.get("per_entry")
    if old["upper"] is None and new["upper"] is None and all(isinstance(part, dict) for part in per_entry):
        was, now = ({"big_o": None, "value": None, "upper": None, **(part or {})} for part in per_entry)
        if was["upper"] is not None or now["upper"] is not None:
            yield from _difference(f"{name} in an entry", was, now)
    elif _same(old) != _same(new) or old["value"] != new["value"]:
        worse, growth = _is_worse(old, new)
        by = f": {growth.text()}" if growth is not None else ""
        by = by or (": whether it is more at some inputs is not known" if worse is None else "")
        yield AnswerChange(name, f"{_shown(old)}, now {_shown(new)}{_values(old, new)}{by}", worse, growth)


def _same(row: Mapping[str, Any]) -> tuple[str, Any]:
    """What is the same in two rows whose bounds do not differ."""
    when = row.get("valid_when")
    return _shown(row), when.get("text") if isinstance(when, dict) else when


def _shown(loop: Mapping[str, Any]) -> str:
    if loop["upper"] is None:
        return "no bound"
    return f"{loop['upper']['text']}{' [' + loop['big_o'] + ']' if loop['big_o'] else ''}{_where(loop['upper'])}"


def _where(upper: Mapping[str, Any]) -> str:
    """What the names of its parts stand for: two bounds may differ in nothing else."""
    parts = [f"{part['name']} = {part['is']}" for part in upper.get("definitions", ())]
    return f" where {', '.join(parts)}" if parts else ""


def _values(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    return "" if old["value"] == new["value"] else f" ({old['value']}, now {new['value']})"


def _is_worse(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[bool | None, Growth | None]:
    """Whether a bound got worse, and where; None where that is not known."""
    if new["upper"] is None or old["upper"] is None:
        return old["upper"] is not None, None
    found = grown(old, new)
    growth = found if isinstance(found, Growth) else None
    was, now = _number(old), _number(new)
    if was is not None and now is not None and (now > was or (growth is None and _is_number(old, new))):
        return now > was, growth
    if growth is not None or _grows_faster(old, new, surely_not=found is False):
        return True, growth
    return (False if found is False or _degree(new["big_o"]) < _degree(old["big_o"]) else None), None


def _is_number(*rows: Mapping[str, Any]) -> bool:
    """Whether the bounds are numbers, whatever the inputs."""
    return all(_NUMBER.fullmatch(row["upper"]["text"]) is not None for row in rows)


def _grows_faster(old: Mapping[str, Any], new: Mapping[str, Any], *, surely_not: bool) -> bool:
    """Whether the class is larger; having none says nothing where the bound is ``surely_not`` larger anywhere."""
    if new["big_o"] is None and surely_not:
        return False
    return _degree(new["big_o"]) > _degree(old["big_o"])


def _number(row: Mapping[str, Any]) -> int | None:
    """What the bound comes to, at the values that were given, or whatever the inputs."""
    value, text = row["value"], row["upper"]["text"]
    if value is None and _NUMBER.fullmatch(text) is not None:
        return int(text)
    return value if isinstance(value, int) else None


def _degree(big_o: str | None) -> float:
    """The degree of what is printed as O(n*m + k^2); no class is worse than any."""
    if big_o is None:
        return float("inf")
    inside = big_o[big_o.index("(") + 1 : -1]
    return max(sum(_power(factor) for factor in _FACTORS.split(product)) for product in inside.split(" + "))


def _power(factor: str) -> float:
    if factor == "1":
        return 0.0
    if factor.startswith("log("):
        return 0.01 * _exponent(factor)
    return _exponent(factor)


def _exponent(factor: str) -> float:
    if "^(" in factor:
        above, below = factor[factor.index("^(") + 2 : -1].split("/")
        return int(above) / int(below)
    match = _DEGREES.search(factor)
    return float(match[1]) if match else 1.0
