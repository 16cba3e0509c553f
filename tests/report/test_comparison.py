"""What a change makes of a class, by its text."""

from __future__ import annotations

import pytest

from loopless.report.comparison import _degree, compare


@pytest.mark.parametrize(
    ("text", "degree"),
    [
        ("O(1)", 0),
        ("O(n)", 1),
        ("O(*p)", 1),
        ("O(n**p)", 2),
        ("O(n*m + k^3)", 3),
        ("O(a^(1/2))", 0.5),
        ("O(log(n)^2)", 0.02),
    ],
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


def smt(upper: str, when: str = "true", big_o: str = "O(n)", **inputs: tuple[int, bool]) -> dict:
    """A row with a bound, and where it holds, in SMT-LIB; ``inputs``: bits and sign of what it speaks of."""
    told = {name: {"bits": bits, "signed": signed} for name, (bits, signed) in inputs.items()}
    shown = {"upper": {"text": upper, "smt": upper}, "valid_when": {"text": when, "smt": when}}
    return {**shown, "big_o": big_o, "value": None, "inputs": told}


def only(old: dict, new: dict):
    found = compare(document(old), document(new))
    assert len(found) == 1
    return found[0]


N = "(ite (>= 0 n) 0 n)"


@pytest.mark.parametrize(
    ("old", "new", "at", "was", "now"),
    [
        pytest.param(smt(N), smt(f"(* 10 {N})"), 100, 100, 1000, id="ten times as many, of the same class"),
        pytest.param(
            smt("(div (* n (- n 1)) 2)", "(>= n 0)", "O(n^2)"), smt("(* (- n 1) (- n 1))", "(>= n 0)", "O(n^2)"),
            100, 4950, 9801, id="99*100/2 and 99*99",
        ),
        pytest.param(smt(N), smt(N, "(< n 5)"), 100, 100, None, id="none any more from 5 on"),
        pytest.param(smt(N), smt(f"(ite (= n 123456789) 123456790 {N})"), 123456789, 123456789, 123456790,
                     id="at one input only, which a solver finds"),
        pytest.param(smt("(let ((m n)) (* m m))", "(>= n 0)"), smt("(+ 1 (* n n))", "(>= n 0)"), 100, 10000, 10001,
                     id="one more"),
    ],
)  # fmt: skip
def test_a_bound_that_is_larger_at_some_inputs_is_worse(old, new, at, was, now):
    change = only(old, new)
    assert change.worse is True
    assert change.growth is not None
    assert (dict(change.growth.at), change.growth.old, change.growth.new) == ({"n": at}, was, now)
    assert f"{was} at n={at}, now {'no bound' if now is None else now}" in change.what


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(smt(N, n=(32, False)), smt("n", n=(32, False)), id="the same of an unsigned number"),
        pytest.param(smt(f"(* 10 {N})"), smt(N), id="fewer"),
        pytest.param(smt(N), smt("n"), id="below 0 neither is anything"),
        pytest.param(smt("(* 3 n)", n=(8, True)), smt("(ite (> n 127) (* 9 n) (* 2 n))", n=(8, True)),
                     id="more only beyond the type's end"),
    ],
)  # fmt: skip
def test_a_bound_that_is_nowhere_larger_is_not_worse(old, new):
    assert only(old, new).worse is False


@pytest.mark.parametrize("text", ["(bvadd n 1)", "(+ n", "((n))", "(ite n 1 2)", "(div n m)", ")"])
def test_of_what_is_not_read_it_is_not_known_whether_it_is_larger(text):
    change = only(smt(N), smt(text))
    assert change.worse is None
    assert "not known" in change.what
    assert only(smt(N), smt(text, big_o="O(n^2)")).worse is True


def test_a_bound_on_an_entry_is_compared_where_calls_have_none():
    lost = {"upper": None, "big_o": None, "value": None}
    old, new = ({**lost, "per_entry": smt(upper)} for upper in (N, f"(+ 1 {N})"))
    assert only(old, new).name.endswith(" in an entry")
    assert (only(old, new).worse, only(new, old).worse) == (True, False)


WIDE = "(ite (> n 5000000000) (* 2 n) n)"


@pytest.mark.parametrize(
    ("inputs", "is_worse"),
    [
        pytest.param({}, None, id="not told"),
        pytest.param({"n": (32, True)}, False, id="never so large"),
        pytest.param({"n": (64, True)}, True, id="as large as that"),
    ],
)
def test_a_bound_is_surely_no_larger_only_within_the_range_that_is_told(inputs, is_worse):
    """2*n beyond 5000000000, which no int reaches: that may be said where it is known that n is an int."""
    old, new = smt("n", "(>= n 0)", **inputs), smt(WIDE, "(>= n 0)", **inputs)
    assert only(old, new).worse is is_worse
    lost = {"upper": None, "big_o": None, "value": None}
    assert only({**lost, "per_entry": old}, {**lost, "per_entry": new}).worse is is_worse
    found = compare(run_of((old, old)), run_of((old, new)))
    entries = [change for change in found if change.name.endswith(" in an entry")]
    assert [change.worse for change in entries] == ([] if is_worse is False else [is_worse])
