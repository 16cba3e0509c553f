"""Programs whose answers are small as shared parts and exponential as trees: every command, every format."""

from __future__ import annotations

import random
from typing import Any

import pytest
import z3

STEPS = 30
GENERATOR = f"""static unsigned seed;
unsigned steps(void) {{
    unsigned i;
    for (i = 0; i < {STEPS}; i++)
        seed = (seed * 133 + 81) % 8095 + seed / 7;
    return seed;
}}
"""
DIVISIONS = "int f(int x) {\n    int i = 0;\n"
DIVISIONS += "".join(f"    x = x / 3 + x / 5 + {k};\n" for k in range(STEPS))
DIVISIONS += "    while (i < x) i += 3;\n    return i;\n}\n"
PROGRAMS = {"generator": GENERATOR, "divisions": DIVISIONS}
FORMATS = [
    ("bound",),
    ("bound", "--format", "json"),
    ("summarize",),
    ("summarize", "--format", "json"),
    ("summarize", "--format", "smtlib"),
    ("summarize", "--format", "dot"),
    ("summarize", "--whole"),
    ("summarize", "--whole", "--format", "json"),
    ("loops", "--format", "json"),
]


def after_steps(seed: int) -> int:
    for _ in range(STEPS):
        seed = (((seed * 133 + 81) % (1 << 32)) % 8095 + seed // 7) % (1 << 32)
    return seed


def value(shown: dict[str, Any], values: dict[str, int]) -> int:
    """What a text in C says, of numbers that are never negative: by its definitions, one after the other."""
    names: dict[str, Any] = {**values, "uint32_t": lambda value: value % (1 << 32)}
    for part in shown["definitions"]:
        assert part["name"] not in names
        names[part["name"]] = eval(_python(part["is"]), names)
    return int(eval(_python(shown["text"]), names))


def _python(text: str) -> str:
    return text.replace("(uint32_t)", "uint32_t").replace("/", "//")


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request, tmp_path_factory):
    file = tmp_path_factory.mktemp("shared") / f"{request.param}.c"
    file.write_text(PROGRAMS[request.param], encoding="utf-8")
    return file


@pytest.mark.slow
@pytest.mark.parametrize("words", FORMATS, ids=" ".join)
def test_no_answer_grows_with_the_tree(run, program, words):
    done = run(words[0], program, *words[1:])
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert 50 < len(done.stdout) < 100_000
    assert "too large" not in done.stdout


def test_definitions_say_what_the_loop_does(answer, tmp_path):
    (tmp_path / "a.c").write_text(GENERATOR, encoding="utf-8")
    _, document = answer("summarize", tmp_path / "a.c")
    (case,) = document["loops"][0]["cases"]
    shown = case["then"]["seed"]
    assert len(shown["definitions"]) > STEPS
    chance = random.Random(3)
    for seed in (0, 1, 8094, (1 << 32) - 1, *(chance.randrange(1 << 32) for _ in range(20))):
        assert value(shown, {"seed": seed}) == after_steps(seed)
        solver = z3.Solver()
        solver.from_string(
            f"(declare-const seed Int)(assert (= seed {seed}))(assert (not (= {shown['smt']} {after_steps(seed)})))"
        )
        assert solver.check() == z3.unsat


def test_the_text_has_the_same_definitions(run, answer, tmp_path):
    (tmp_path / "a.c").write_text(GENERATOR, encoding="utf-8")
    _, document = answer("summarize", tmp_path / "a.c")
    shown = document["loops"][0]["cases"][0]["then"]["seed"]
    lines = run("summarize", tmp_path / "a.c").stdout.splitlines()
    assert f"    seed' = {shown['text']}" in lines
    place = lines.index("  where")
    assert lines[place + 1 :] == [f"    {part['name']} = {part['is']}" for part in shown["definitions"]]


def test_the_document_of_smt_lib_is_read_and_says_the_same(run, tmp_path):
    (tmp_path / "a.c").write_text(GENERATOR, encoding="utf-8")
    document = run("summarize", tmp_path / "a.c", "--format", "smtlib").stdout
    for seed in (5, 4_000_000_000):
        for wrong in (0, 1):
            solver = z3.Solver()
            solver.from_string(f"{document}\n(assert (steps_4 0 {seed} {STEPS} {after_steps(seed) + wrong}))")
            assert solver.check() == (z3.unsat if wrong else z3.sat)


def test_evaluation_agrees(run, tmp_path):
    (tmp_path / "a.c").write_text(GENERATOR, encoding="utf-8")
    done = run("eval", tmp_path / "a.c", "steps")
    assert done.stdout.splitlines()[0] == f"returns {after_steps(0)}"


@pytest.mark.slow
def test_bounds_that_differ_in_a_definition_only_are_told_apart(run, tmp_path):
    for name, source in (("old", DIVISIONS), ("new", DIVISIONS.replace("+ 7;", "+ 700;"))):
        (tmp_path / "a.c").write_text(source, encoding="utf-8")
        (tmp_path / f"{name}.json").write_text(run("bound", "a.c", "--format", "json", cwd=tmp_path).stdout)
    assert "changed: " in run("bound", "--compare", "old.json", "new.json", cwd=tmp_path).stdout
    assert run("bound", "--compare", "old.json", "old.json", cwd=tmp_path).stdout == "no changes\n"


@pytest.mark.slow
def test_three_thousand_steps_one_inside_the_other_end_in_no_traceback(run, tmp_path):
    body = "".join(f"    x = (x * 7 + {k % 13}) % 8095;\n" for k in range(3000))
    (tmp_path / "a.c").write_text(f"int f(int x) {{\n{body}    return x;\n}}\n", encoding="utf-8")
    done = run("summarize", tmp_path / "a.c", "--whole")
    assert done.returncode == 0, done.stdout[:500] + done.stderr
    assert done.stderr == ""
    assert "Recursion" not in done.stdout and "inside Loopless" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 2000
