"""The comparison of two versions: what counts as lost, and that a version loses nothing beside itself."""

from __future__ import annotations

from pathlib import Path

import before_after
import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = """\
unsigned ten(int n) {
    unsigned s = 0;
    for (int i = 0; i < 10; i++) s += 3u;
    for (int i = 0; i < n; i++) s += 5u;
    return s;
}
"""


def summary(kind, *, parts=False, of_type=1):
    return {"kind": kind, "parts": parts, "type": of_type, "codes": [], "seconds": 0.1}


def bound(kind="at most", values=(), **others):
    plain = {"always": True, "never": False, "completed": False, "upper": "n", "when": "true", "why": []}
    return {"kind": kind, "values": list(values), **plain, **others}


@pytest.mark.parametrize(
    ("one", "other", "lost"),
    [
        (summary("complete"), summary("complete"), []),
        (summary("in part", parts=True), summary("complete"), ["complete, here in part"]),
        (summary("refused", of_type=None), summary("complete"), ["complete, here refused", "type 1, here none"]),
        (summary("over-approximate", parts=True), summary("in part", parts=True), []),
        (summary("over-approximate"), summary("in part", parts=True), ["in part, here over-approximate"]),
        (summary("complete"), summary("refused", of_type=None), []),
        (bound("exact"), bound("exact"), []),
        (bound("at most"), bound("exact"), ["exact"]),
        (bound("at most", completed=True), bound("exact"), []),
        (bound("none", always=False), bound("at most"), ["a bound"]),
        (bound("at most", always=False), bound("at most"), ["a bound for all inputs"]),
        (bound("at most"), bound("at most", never=True), ["inputs for which it never ends"]),
        (bound(degree="3/2"), bound(degree="1"), ["degree 1, here 3/2"]),
        (bound(degree="1"), bound(degree="3/2"), []),
        (bound(degree=None), bound(degree="2"), ["degree 2, here None"]),
        (bound(lower_degree=1), bound(lower_degree=2), ["lower_degree 2, here 1"]),
        (bound(lower_degree=2), bound(lower_degree=1), []),
    ],
)
def test_what_is_lost(one, other, lost):
    assert list(before_after.worse(one, other)) == lost


def test_a_bound_is_looser_where_one_value_is_larger_or_missing():
    assert before_after.looser(bound(values=[1, 3]), bound(values=[1, 2]))
    assert before_after.looser(bound(values=[1, None]), bound(values=[1, 2]))
    assert not before_after.looser(bound(values=[1, 2]), bound(values=[1, None]))
    assert not before_after.looser(bound(values=[0, 2]), bound(values=[1, 2]))


def test_an_exact_count_is_no_looser_than_a_bound_below_it():
    assert not before_after.looser(bound("exact", values=[1, 3]), bound(values=[1, 2]))
    assert before_after.looser(bound("exact", values=[1, None]), bound(values=[1, 2]))


def test_half_of_the_files_is_a_fixed_half(tmp_path):
    for name in "abcdefg":
        (tmp_path / f"{name}.c").write_text("")
    every = before_after.files_of(tmp_path, half=False)
    half = before_after.files_of(tmp_path, half=True)
    assert (len(every), half) == (7, every[:4])
    assert [file.name for file in half] != sorted(file.name for file in half)


def test_answers_are_counted_once_for_each_reason():
    old = summary("refused") | {"codes": ["L109: reads a", "L109: reads b", "L201: reads c"]}
    new = summary("in part", parts=True) | {"codes": ["L201: reads c"]}
    suite = before_after.Compared(rows=[("a.c f", old, new), ("a.c g", summary("complete"), new)])
    assert list(before_after.by_code({"functions": suite})) == ["functions: L109: 1 → 0", "functions: L201: 1 → 2"]


@pytest.mark.slow
@pytest.mark.parametrize("question", ["summaries", "functions", "bounds", "integers"])
def test_a_version_loses_nothing_beside_itself_and_is_asked_once(tmp_path, question):
    (tmp_path / "ten.c").write_text(CODE)
    keep = tmp_path / "kept"
    parser = before_after.arguments()
    same = ["--before", str(ROOT), "--after", str(ROOT), "--keep", str(keep), f"{question}:{tmp_path}/ten.c"]
    for _ in range(2):
        before_after.work(parser.parse_args(same))
    (row,) = before_after.kept_rows(keep)
    (suite,) = before_after.compared([row]).values()
    # Two loops; of bounds an entry and a call of each, and the whole call.
    told = {"summaries": 2, "functions": 1}
    assert len(suite.rows) == told.get(question, 5)
    assert not suite.alone
    for name, old, new in suite.rows:
        assert old["kind"] == new["kind"] == ("complete" if question in told else "exact"), name
        assert not list(before_after.worse(new, old))
        assert not before_after.looser(new, old)
    if question not in told:
        first = next(new for name, _, new in suite.rows if ":3:5, a call" in name)
        assert first["values"] == [10] * before_after.POINTS
