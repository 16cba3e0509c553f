"""The sweep over values of limits: what it counts, and that values of limits reach the command."""

from __future__ import annotations

import pytest
import sweep

LOOP = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += 2; return s; }\n"
TWO_PATHS = "int g(int n, int m) { while (n > 0) { if (n > m) n -= 2; else n -= 1; } return n; }\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "loop.c").write_text(LOOP)
    (tmp_path / "two.c").write_text(TWO_PATHS)
    return tmp_path


def cells(printed):
    """The table without seconds, by limit and value."""
    rows = (line.strip("| ").split(" | ") for line in printed.splitlines() if line.startswith("|"))
    return {(row[0], row[1]): row[2:6] for row in list(rows)[2:]}


@pytest.mark.parametrize(
    ("command", "answer", "kind"),
    [
        ("bound", {"exact": True, "upper": {"text": "n"}, "refused": None}, ("exact", "")),
        ("bound", {"exact": False, "upper": {"text": "n"}, "refused": None}, ("bounded", "")),
        ("bound", {"exact": False, "upper": None, "refused": {"code": "L301"}}, ("refused", "L301")),
        ("summarize", {"status": "exact", "complete": True, "refused": None}, ("exact", "")),
        ("summarize", {"status": "exact", "complete": False, "refused": None}, ("bounded", "")),
        ("summarize", {"status": "over-approximate", "complete": True, "refused": None}, ("bounded", "")),
        ("classify", {"status": "exact", "complete": None, "refused": None}, ("exact", "")),
        ("classify", {"status": "refused", "complete": None, "refused": {"code": "L203"}}, ("refused", "L203")),
        ("verify", {"verdict": "false"}, ("exact", "")),
        ("verify", {"verdict": "unknown"}, ("refused", "unknown")),
        ("summarize", None, ("refused", "not read")),
    ],
)
def test_what_an_answer_counts_as(command, answer, kind):
    assert sweep.judged(command, answer) == kind


def test_answers_of_a_value_stand_beside_those_of_the_defaults(folder, monkeypatch, capsys):
    def asked(command, file, assignment, more):
        assert (command, more) == ("bound", [])
        exact = assignment != "bounds.MAX_WAYS=2" or file.name == "loop.c"
        found = {"line": 1, "exact": exact, "upper": None, "refused": {"code": "L301"}}
        return {"loops": [found], "functions": [{"name": "f"}]}, 3.0 if assignment else 2.0

    monkeypatch.setattr(sweep, "asked", asked)
    assert sweep.main([str(folder), "--limit", "bounds.MAX_WAYS", "--values", "2,16,24", "--verbose"]) == 0
    printed = capsys.readouterr().out
    assert cells(printed) == {
        ("all", "default"): ["2", "0", "0", "0"],
        ("bounds.MAX_WAYS", "2"): ["1", "0", "1 (L301 1)", "1"],  # 16 is the default
        ("bounds.MAX_WAYS", "24"): ["2", "0", "0", "0"],
    }
    assert "1.50" in printed
    assert "bounds.MAX_WAYS=2: two.c: loop 1 in line 1\n    .exact: true | false" in printed


@pytest.mark.parametrize("limit", ["bounds.NONE", "none.MAX_WAYS", "bounds.Annotated"])
def test_a_name_that_is_no_limit_is_said(folder, limit, capsys):
    with pytest.raises(SystemExit):
        sweep.main([str(folder), "--limit", limit, "--values", "1"])
    assert f"there is no limit {limit}" in capsys.readouterr().err


@pytest.mark.slow
def test_values_reach_the_command(folder, capsys):
    limits = ["--limit", "automaton.MAX_PATHS", "--values", "1", "--limit", "automaton.PICTURE_LINE", "--values", "61"]
    assert sweep.main([str(folder), *limits, "--command", "classify"]) == 0
    found = cells(capsys.readouterr().out)
    assert found["all", "default"] == ["2", "0", "0", "0"]
    assert found["automaton.PICTURE_LINE", "61"] == ["2", "0", "0", "0"]
    assert found["automaton.MAX_PATHS", "1"] == ["2", "0", "0", "1"]  # of two paths in an unknown order the type is 2
