"""With LOOPLESS_DEBUG=methods standard error has a line about each method that was asked, and otherwise none."""

from __future__ import annotations

import subprocess

import pytest

from loopless.logic import BudgetExceeded
from loopless.portfolio import Method, NoAnswer, Tried, answered
from loopless.queries.reach.answering import REACH
from loopless.refusals import Reason, Refused
from loopless.verification.portfolio import TERMINATION

CUT = """struct node { struct node *next; int value; };
unsigned cut(struct node *n) {
    unsigned s = 0;
    while (n) {
        struct node *behind = n->next;
        n->next = 0;
        n = behind;
        s++;
    }
    return s;
}
"""
NEST = "int f(int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) s++; return s; }\n"
OTHER = "int g(int n) { int s = 0; while (n > 0) { n -= 3; s++; } return s; }\n"


def giving(number: int):
    return lambda _question, _tried: number


def other(_question: str, _tried: Tried[int]) -> int:
    raise NoAnswer


def refuse(_question: str, _tried: Tried[int]) -> int:
    raise NoAnswer(Refused(Reason.NO_CLOSED_FORM, "a.c:3:4", "made for\n  this test"))


def exhausted(_question: str, _tried: Tried[int]) -> int:
    raise BudgetExceeded("made for this test")


METHODS = (
    Method("never", "", giving(1), lambda _question, _tried: False),
    Method("other", "", other),
    Method("refuses", "", refuse),
    Method("exhausted", "", exhausted),
    Method("first", "", giving(1)),
    Method("second", "", giving(2)),
    Method("third", "", giving(3)),
    Method("fourth", "", giving(4)),
)
TOLD = """\
loopless: str at a.c:1:2: never: not applicable
loopless: str at a.c:1:2: other: no answer
loopless: str at a.c:1:2: refuses: refused[L203 no-closed-form] at a.c:3:4: made for this test
loopless: str at a.c:1:2: exhausted: refused[L301 budget-exceeded] at a.c:1:2: the logic needs more steps than its \
budget for this loop
loopless: str at a.c:1:2: first: answered: a 1
loopless: str at a.c:1:2: second: answered, no better than first: a 2
loopless: str at a.c:1:2: third: answered completely: a 3
"""


def ask() -> Tried[int]:
    return answered(METHODS, "", "a.c:1:2", complete=lambda found: found == 3, in_words=lambda found: f"a {found}")


def test_each_method_that_is_asked_has_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setenv("LOOPLESS_DEBUG", "methods")
    found = ask()
    assert capsys.readouterr() == ("", TOLD)
    monkeypatch.delenv("LOOPLESS_DEBUG")
    assert ask() == found


@pytest.mark.parametrize("value", ["", "1"])
def test_nothing_is_told_where_nobody_asked(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("LOOPLESS_DEBUG", value)
    assert ask().answer == 3
    assert capsys.readouterr() == ("", "")


def test_bound_tells_what_each_method_said_of_a_list(run, tmp_path) -> None:
    (tmp_path / "a.c").write_text(CUT, encoding="utf-8")
    quiet = run("bound", "a.c", cwd=tmp_path)
    loud = run("bound", "a.c", cwd=tmp_path, env={"LOOPLESS_DEBUG": "methods"})
    assert (quiet.stderr, quiet.stdout) == ("", loud.stdout)
    lines = loud.stderr.splitlines()
    assert all(line.startswith("loopless: ") for line in lines)
    first, *others = (line.removeprefix("loopless: ") for line in lines)
    why = "memory that it may write decides how long it runs, which is not followed: n->next at a.c:5:34"
    assert first == f"Inductions at a.c:4:5: induction: no answer, since {why}"
    assert why in quiet.stdout
    bounds = [line.split(": ")[1:3] for line in others if line.startswith("BoundQuestion at ")]
    assert [name for name, _ in bounds] == ["looperman", "ranking", "summaries", "ranking of components"]
    assert "refused[L208 no-ranking-function] at a.c" in [said for _, said in bounds][1]


def test_more_processes_tell_the_same_lines(run, tmp_path) -> None:
    (tmp_path / "a.c").write_text(NEST + OTHER, encoding="utf-8")
    one, two = (
        run("bound", "a.c", "-j", jobs, cwd=tmp_path, env={"LOOPLESS_DEBUG": "methods", "PYTHONHASHSEED": str(jobs)})
        for jobs in (1, 2)
    )
    lines = one.stderr.splitlines()
    assert sorted(lines) == sorted(two.stderr.splitlines())
    assert {line.split()[1] for line in lines} >= {"Inductions", "LoopPaths", "BoundQuestion"}


def test_looperman_alone_asks_no_other_method(run, tmp_path) -> None:
    (tmp_path / "a.c").write_text(NEST, encoding="utf-8")
    told = run("bound", "a.c", "--method", "looperman", cwd=tmp_path, env={"LOOPLESS_DEBUG": "methods"})
    asked = [line.split(": ")[2] for line in told.stderr.splitlines() if line.startswith("loopless: BoundQuestion at ")]
    assert asked == ["looperman"]


def told_by(done: subprocess.CompletedProcess[str], question: str) -> list[str]:
    """The methods that have lines about this type of question, in their order."""
    parts = [line.removeprefix("loopless: ").split(": ") for line in done.stderr.splitlines()]
    return [f"{name}: {said}" for where, name, said, *_ in parts if where.startswith(f"{question} at ")]


def test_verify_tells_the_methods_for_termination(run, tmp_path) -> None:
    text = "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 0) x -= 2; return 0; }\n"
    (tmp_path / "a.c").write_text("extern int __VERIFIER_nondet_int(void);\n" + text, encoding="utf-8")
    done = run("verify", "a.c", "--property", "termination", cwd=tmp_path, env={"LOOPLESS_DEBUG": "methods"})
    lines = told_by(done, "TerminationQuestion")
    assert lines[0] == "no cycles: no answer"
    assert lines[-1].endswith(": answered completely")
    assert [line.split(": ")[0] for line in lines] == [method.name for method in TERMINATION][: len(lines)]


def test_reach_tells_its_methods(run, tmp_path) -> None:
    (tmp_path / "a.c").write_text(OTHER.replace("return s", "\nreturn s"), encoding="utf-8")
    done = run("reach", "a.c", "--line", "2", cwd=tmp_path, env={"LOOPLESS_DEBUG": "methods"})
    lines = told_by(done, "ReachSearch")
    assert lines[-1].endswith(": answered completely")
    assert [line.split(": ")[0] for line in lines] == [method.name for method in REACH][: len(lines)]
