"""What a change makes of a class, by its text."""

from __future__ import annotations

import pytest

from loopless.report.comparison import _degree, compare


@pytest.mark.parametrize(
    ("text", "degree"),
    [("O(1)", 0), ("O(n)", 1), ("O(*p)", 1), ("O(n**p)", 2), ("O(n*m + k^3)", 3), ("O(a^(1/2))", 0.5), ("O(log(n)^2)", 0.02)],
)
def test_a_star_before_a_name_is_no_factor(text, degree):
    assert _degree(text) == degree


def test_no_class_is_worse_than_any_and_a_logarithm_less_than_a_power():
    assert _degree(None) > _degree("O(n^9)")
    assert 0 < _degree("O(log(*p))") < _degree("O(a^(1/2))")


def row(upper: str | None, big_o: str | None, value: int | None = None) -> dict:
    return {"upper": None if upper is None else {"text": upper, "smt": None}, "big_o": big_o, "value": value}


def document(*loops: dict, whole: dict | None = None) -> dict:
    own = [{"name": f"a.c:f:{n}:1", "file": "a.c", "function": "f", **loop} for n, loop in enumerate(loops)]
    return {"loops": own, "functions": [] if whole is None else [{"name": "f", **whole}]}


def worse(old: dict, new: dict) -> list[str]:
    return [change.name for change in compare(old, new) if change.worse]


def test_a_larger_number_is_worse_whatever_the_inputs():
    old, new = document(row("10", "O(1)")), document(row("1000", "O(1)"))
    assert worse(old, new) == ["a.c:f:0:1"]
    assert worse(new, old) == []


def test_more_loops_may_make_a_function_worse():
    """A loop of the same class around the old one: each of them is as good as what was there."""
    old = document(row("n", "O(n)"), whole=row("n", "O(n)"))
    new = document(row("n", "O(n)"), row("n*n", "O(n^2)"), whole=row("n*n + n", "O(n^2)"))
    assert worse(old, new) == ["f in all"]
    assert worse(new, old) == []
    lost = document(row("n", "O(n)"), row(None, None), whole=row(None, None))
    assert worse(old, lost) == ["a.c:f:1:1", "f in all"]


def run_of(*loops: tuple[dict, dict], entry: str = "main") -> dict:
    rows = [
        {"name": f"a.c:g:{n}:1", "file": "a.c", "function": "g", **total, **{f"any_{k}": v for k, v in each.items()}}
        | {"any": each["upper"]}
        for n, (total, each) in enumerate(loops)
    ]
    return {"loops": [], "functions": [], "run": {"entry": entry, "loops": rows}}


def test_what_got_worse_in_a_run():
    n, square, lost = row("n", "O(n)"), row("n*n", "O(n^2)"), row(None, None)
    old = run_of((n, n))
    assert worse(old, old) == []
    assert worse(old, run_of((square, n))) == ["a.c:g:0:1 in a run"]
    assert worse(run_of((square, n)), old) == []
    assert worse(old, run_of((square, square))) == ["a.c:g:0:1 in a run", "a.c:g:0:1 in an entry"]
    assert worse(old, run_of((lost, n))) == ["a.c:g:0:1 in a run"]
    assert worse(old, run_of((n, n), (lost, lost))) == ["a.c:g:1:1 in a run"]
    assert worse(old, run_of((n, n), (n, n))) == []
    assert worse(run_of((row("3", "O(1)"), n)), run_of((row("4", "O(1)"), n))) == ["a.c:g:0:1 in a run"]
    assert worse(run_of((row("n", "O(n)", 5), n)), run_of((row("2*n", "O(n)", 10), n))) == ["a.c:g:0:1 in a run"]


def test_runs_from_other_functions_are_not_compared():
    n, square = row("n", "O(n)"), row("n*n", "O(n^2)")
    assert worse(run_of((n, n)), run_of((square, square), entry="other")) == []
    assert worse(document(n), run_of((square, square))) == []
