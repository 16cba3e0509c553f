"""Calls that may end the run, as the command tells of them."""

from __future__ import annotations

import pytest


def test_the_loops_of_a_run_are_no_counts_where_a_call_may_end_it(answer, tmp_path):
    file = tmp_path / "a.c"
    file.write_text(
        "void exit(int);\nstatic void g(int x, ...) { if (x == 3) exit(0); }\n"
        "int main(void) { int s = 0; for (int i = 0; i < 10; i++) { s++; g(s); } return 0; }\n",
        encoding="utf-8",
    )
    _, document = answer("bound", file)
    (loop,) = document["loops"]
    assert loop["status"] == "over-approximate"
    assert not loop["exact"]
    assert loop["lower"]["text"] == "0"
    sentence = f"calls of g need not return: exit is called at {file}:2:41; a run that ends there may take fewer"
    assert sentence in loop["assumptions"]
    (function,) = document["functions"]
    assert (function["exact"], function["lower"]["text"], function["big_omega"]) == (False, "0", None)
    assert sentence in function["assumptions"]


@pytest.mark.slow
def test_numbers_for_tools_are_not_exact_where_a_call_may_end_the_run(run, tmp_path):
    file = tmp_path / "a.c"
    file.write_text(
        "void exit(int);\nstatic void g(int x, ...) { if (x == 3) exit(0); }\n"
        "int main(void) { int s = 0; for (int i = 0; i < 10; i++) { s++; g(s); } return 0; }\n",
        encoding="utf-8",
    )
    for more in ((), ("--entry", "main")):
        done = run("bound", file, *more, "--flow-facts", "ffx")
        assert 'maxcount="10" totalcount="10" exact="false"' in done.stdout
    assert "loopbound min 0 max 10" in run("bound", file, "--flow-facts", "pragma").stdout
    text = run("bound", file).stdout
    assert f"  calls of g need not return: exit is called at {file}:2:41; a run that ends there may take fewer" in text
    assert "exactly" not in text.replace("exactly that many, if the function goes on behind the loop", "")
    done = run("eval", file, "main")
    assert "ends the program: exit" in done.stdout
    assert f"2 iterations of {file}:main:3:29" in done.stdout


def test_a_summary_says_that_it_holds_where_calls_return(answer, run, tmp_path):
    file = tmp_path / "a.c"
    file.write_text(
        "void exit(int);\nstatic void g(int x, ...) { if (x == 3) exit(0); }\n"
        "int f(int n) { int i; for (i = 0; i < n; i++) g(i); return i; }\n"
        "int h(int n) { int i; for (i = 0; i < n; i++) ; return i; }\n",
        encoding="utf-8",
    )
    _, document = answer("summarize", file)
    ended, other = document["loops"]
    assert (ended["status"], ended["complete"]) == ("exact", True)
    assert ended["past_calls"]["code"] == "L107"
    assert "past_calls" not in other
    text = run("summarize", file).stdout
    assert "f:3:23: exact where calls return, complete" in text
    assert "h:4:23: exact, complete" in text
    assert f"assuming calls of g return, which they need not: exit is called at {file}:2:41" in text
    _, types = answer("classify", file)
    assert all("past_calls" not in loop for loop in types["loops"])
