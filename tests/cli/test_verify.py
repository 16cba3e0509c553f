"""``loopless verify``: verdicts, exit statuses, evidence on disk, task definitions, and what is no program with a property."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from loopless.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "verify"
SCHEMA = json.loads((ROOT / "src" / "loopless" / "report" / "schema.json").read_text(encoding="utf-8"))
HEAD = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n"
RIGHT = HEAD + "int main(void) { int x = 0; while (x < 10) x++; if (x != 10) reach_error(); return 0; }\n"
WRONG = (
    HEAD
    + "int main(void) {\n  int k = 0;\n  for (int n = __VERIFIER_nondet_int(); n > 0; n -= 3) k++;\n  if (k == 7) reach_error();\n  return 0;\n}\n"
)
HASHED = (
    HEAD
    + "int main(void) { unsigned h = __VERIFIER_nondet_int(); for (int i = 0; i < 900; i++) h = h * h ^ (h >> 5) ^ 2654435769u;"
    + " if (h == 12345u) reach_error(); return 0; }\n"
)
"""Whether some input comes to 12345 after 900 rounds of squaring is nothing that is found in a second."""


@pytest.fixture
def asked(capsys):
    """Status, JSON and what was said beside, of the command in this process."""

    def command(*words):
        status = main(["verify", *map(str, words), "--format", "json"])
        said = capsys.readouterr()
        found = json.loads(said.out)
        jsonschema.validate(found, SCHEMA)
        return status, found, said.err

    return command


def written(folder, text, name="a.c"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def built(files, folder, *flags):
    """A program of these files, by the compiler that is shipped."""
    out = folder / "program"
    command = [sys.executable, "-m", "ziglang", "cc", *flags, *map(str, files), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out


def judged(certificate):
    """The status of the judge on a file."""
    command = [sys.executable, "-m", "loopless.check.certificates", str(certificate)]
    return subprocess.run(command, cwd=ROOT / "src", capture_output=True, check=False).returncode


@pytest.mark.slow
def test_a_right_program_is_true_with_a_certificate_and_a_witness(answer, tmp_path):
    file, certificate, witness = written(tmp_path, RIGHT), tmp_path / "c.json", tmp_path / "w.yml"
    status, found = answer("verify", file, "--certificate", certificate, "--witness", witness)
    assert (status, found["verdict"], found["property"]) == (0, "true", "unreach-call")
    assert found["certificate"] == json.loads(certificate.read_text())
    assert found["judged"]["accepted"] is True
    assert [(one["file"], one["line"]) for one in found["invariants"]] == [(str(file), 2)]
    assert (found["reason"], found["inputs"], found["replayed"]) == (None, None, None)
    assert judged(certificate) == 0
    document = json.loads(certificate.read_text())
    document["invariants"][0]["conjuncts"] = []
    certificate.write_text(json.dumps(document))
    assert judged(certificate) == 1
    (entry,) = yaml.safe_load(witness.read_text())
    assert entry["entry_type"] == "invariant_set"
    assert entry["metadata"]["format_version"] == "2.0"
    assert entry["metadata"]["task"]["specification"] == "CHECK( init(main()), LTL(G ! call(reach_error())) )"
    (one,) = entry["content"]
    assert one["invariant"]["location"]["line"] == 2
    check_in_c(one["invariant"]["value"], tmp_path)


def check_in_c(invariant, folder):
    """The invariant holds whenever the loop of RIGHT is reached, and with its exit says that x is 10."""
    text = (
        f"#include <stdlib.h>\nint main(void) {{ for (int x = 0; x <= 10; x++) if (!({invariant})) abort();\n"
        f"for (int x = 11; x < 1000; x++) if ({invariant}) abort(); return 0; }}\n"
    )
    assert subprocess.run([built([written(folder, text, "check.c")], folder)], check=False).returncode == 0


def test_a_wrong_program_is_false_with_inputs_and_a_harness(answer, tmp_path):
    file, harness = written(tmp_path, WRONG), tmp_path / "h.c"
    status, found = answer("verify", file, "--harness", harness)
    assert (status, found["verdict"]) == (1, "false(unreach-call)")
    assert found["inputs"][0] in (19, 20, 21)  # 7 iterations
    assert found["replayed"]
    assert (found["certificate"], found["reason"]) == (None, None)
    done = subprocess.run([built([file, harness], tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode < 0
    assert "reach_error was called" in done.stderr


@pytest.mark.slow
def test_an_overflow_is_false_and_its_harness_overflows(answer, tmp_path):
    file, harness = tmp_path / "midpoint.c", tmp_path / "h.c"
    shutil.copy(EXAMPLES / "midpoint.c", file)
    status, found = answer("verify", file, "--property", "no-overflow", "--harness", harness)
    assert (status, found["verdict"]) == (1, "false(no-overflow)")
    low, high = found["inputs"][:2]
    assert 0 <= low < high
    assert "overflow" in found["replayed"]
    flags = ("-fsanitize=signed-integer-overflow", "-fsanitize-trap=all")
    assert subprocess.run([built([file, harness], tmp_path, *flags)], check=False).returncode < 0
    # The range becomes smaller with each iteration, unless the sum overflows.
    status, found = answer("verify", file, "--property", "termination")
    assert (status, found["verdict"]) in ((0, "true"), (3, "unknown"))
    assert "overflow" in (found["reason"] or "".join(found["assumptions"]))


def test_what_a_run_that_overflows_does_then_is_not_said(asked, tmp_path):
    text = "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 0) x++; return 0; }\n"
    status, found, _ = asked(written(tmp_path, HEAD + text), "--property", "termination", "--timeout", 60)
    assert (status, found["verdict"]) == (3, "unknown")
    assert "overflow" in found["reason"]


@pytest.mark.slow
def test_what_is_not_found_in_time_is_unknown(answer, run, tmp_path):
    file = written(tmp_path, HASHED)
    status, found = answer("verify", file, "--timeout", 6)
    assert (status, found["verdict"], found["certificate"]) == (3, "unknown", None)
    assert found["reason"]
    done = run("verify", file, "--timeout", 2, "--unknown-ok")
    assert done.returncode == 0
    assert done.stdout.startswith("unknown: ")


@pytest.mark.slow
def test_every_run_of_an_example_ends(answer, tmp_path):
    certificate = tmp_path / "c.json"
    status, found = answer(
        "verify", EXAMPLES / "two_counters.c", "--property", "termination", "--certificate", certificate
    )
    assert (status, found["verdict"]) == (0, "true")
    assert all(one["rank"] for one in found["invariants"])
    document = json.loads(certificate.read_text())
    (cutpoint,) = {one["cutpoint"] for one in document["ranks"]}
    document["ranks"] = [{"cutpoint": cutpoint, "components": ["y", "x"]}]
    certificate.write_text(json.dumps(document))
    assert judged(certificate) == 1


@pytest.mark.slow
def test_a_run_of_an_example_never_ends(answer):
    status, found = answer("verify", EXAMPLES / "odd_start.c", "--property", "termination")
    assert (status, found["verdict"]) == (1, "false(termination)")
    assert found["inputs"][0] % 2 == 1
    assert found["certificate"]["recurrent"]
    assert found["judged"]["accepted"] is True


REPEATING = {
    "by the contents of an array": """int main(void) {
    int i = __VERIFIER_nondet_int(), a[6];
    for (int n = 0; n < 6; n++) a[n] = __VERIFIER_nondet_int();
    while (0 <= i && i < 6 && a[i] >= 0) { a[i] = 0; i = __VERIFIER_nondet_int(); }
    return 0; }""",
    "in calls that go deeper": """
static int one(int n) { return n <= 0 ? 0 : one(one(one(n - 2) - 1)) + 1; }
static int deeper(int n) { return n <= 0 ? 0 : deeper(one(n + 1)) - 1; }
int main(void) { int n = __VERIFIER_nondet_int(); if (n > 1000) return 0; return deeper(n); }""",
}


@pytest.mark.parametrize("name", REPEATING)
@pytest.mark.slow
def test_a_run_that_repeats_a_state_never_ends(answer, name, tmp_path):
    file = written(tmp_path, HEAD + REPEATING[name])
    status, found = answer("verify", file, "--property", "termination")
    assert (status, found["verdict"], found["method"]) == (1, "false(termination)", "repeated state")
    assert found["last_input_repeats"]
    assert found["certificate"]["repeating"] == found["inputs"]
    assert found["judged"]["accepted"] is True


@pytest.mark.slow
def test_a_nest_has_an_invariant_for_each_loop(answer):
    status, found = answer("verify", EXAMPLES / "pairs.c", "--property", "termination")
    assert (status, found["verdict"]) == (0, "true")
    assert [one["line"] for one in found["invariants"]] == [15, 16]


def test_without_running_no_violation_is_claimed(asked, tmp_path):
    status, found, _ = asked(written(tmp_path, WRONG), "--no-run", "--timeout", 15)
    assert (status, found["verdict"]) == (3, "unknown")
    assert "--no-run" in found["reason"]
    status, found, _ = asked(written(tmp_path, RIGHT), "--no-run")
    assert (status, found["verdict"]) == (0, "true")


def test_what_there_is_nothing_of_is_not_written(asked, tmp_path):
    status, _, said = asked(written(tmp_path, RIGHT), "--harness", tmp_path / "h.c")
    assert status == 0
    assert said == "loopless: the answer is true: there is no harness to write\n"
    assert not (tmp_path / "h.c").exists()


TASK = """format_version: '2.0'
input_files: {files}
properties:
  - property_file: ../properties/{name}.prp
    expected_verdict: true
options:
  language: C
  data_model: {model}
"""
SIZE = "extern void reach_error(void); int main(void) { if (sizeof(long) == 4) reach_error(); return 0; }\n"


@pytest.fixture
def task(tmp_path):
    """A task definition beside its program, with its property file."""

    def made(
        files="a.c", name="unreach-call", model="ILP32", content="CHECK( init(main()), LTL(G ! call(reach_error())) )"
    ):
        for folder in ("properties", "c"):
            (tmp_path / folder).mkdir(exist_ok=True)
        written(tmp_path / "properties", content + "\n", f"{name}.prp")
        written(tmp_path / "c", SIZE)
        return written(tmp_path / "c", TASK.format(files=files, name=name, model=model), "a.yml")

    return made


@pytest.mark.slow
def test_a_task_names_its_file_data_model_and_property(asked, task):
    status, found, _ = asked(task())
    assert (status, found["verdict"]) == (1, "false(unreach-call)")
    assert asked(task(model="LP64"))[0] == 0
    assert asked(task(), "--data-model", "LP64")[0] == 0
    status, found, _ = asked(task(name="other", content="CHECK( init(main()), LTL(G ! overflow) )"))
    assert (status, found["property"], found["verdict"]) == (0, "no-overflow", "true")


def test_a_property_file_says_what_is_asked(asked, tmp_path):
    file = written(tmp_path, "CHECK( init(main()), LTL(F end) )\n", "p.prp")
    status, found, _ = asked(written(tmp_path, "int main(void) { return 0; }\n"), "--property", file)
    assert (status, found["property"], found["verdict"]) == (0, "termination", "true")


def wrong(folder):
    """Words of a command by what is wrong in them, and what the message says."""
    right = written(folder, RIGHT)
    task = written(folder, "input_files: [none.c]\n", "missing.yml")
    return {
        "no main": ([written(folder, "int f(int x) { return x; }\n", "f.c")], "no main"),
        "no such property": ([right, "--property", "no-such"], "there is no property no-such"),
        "no such property file": ([right, "--property", folder / "none.prp"], "cannot read"),
        "a property file without one": (
            [right, "--property", written(folder, "CHECK( init(main()), FQL(x) )", "x.prp")],
            "no property",
        ),
        "a missing file": ([folder / "none.c"], "none.c"),
        "a missing file in a task": ([task], "none.c"),
        "a missing task": ([folder / "none.yml"], "cannot read"),
        "no task": ([written(folder, "just text\n", "text.yml")], "no task definition"),
        "no YAML": ([written(folder, "a: [\n", "broken.yml")], "no task definition"),
        "no input files": ([written(folder, "properties: []\n", "empty.yml")], "input_files"),
        "no such data model": (
            [written(folder, "input_files: a.c\noptions: {data_model: LLP64}\n", "model.yml")],
            "LLP64",
        ),
        "several tasks": ([task, task], "stands alone"),
        "a task and a file": ([right, task], "stands alone"),
        "C that does not compile": ([written(folder, "int main(void) { return }\n", "c.c")], "c.c"),
        "files that are no list": ([written(folder, "input_files: 7\n", "seven.yml")], "input_files"),
        "entries that are no list": ([written(folder, "input_files: a.c\nproperties: 3\n", "three.yml")], "properties"),
    }


WRONG_WORDS = (
    "no main", "no such property", "no such property file", "a property file without one", "a missing file",
    "a missing file in a task", "a missing task", "no task", "no YAML", "no input files", "no such data model",
    "several tasks", "a task and a file", "C that does not compile", "files that are no list", "entries that are no list",
)  # fmt: skip


@pytest.mark.parametrize("what", WRONG_WORDS)
def test_bad_input_is_status_2_with_one_sentence(asked, tmp_path, what):
    words, message = wrong(tmp_path)[what]
    status, found, _ = asked(*words)
    assert status == 2
    (error,) = found["errors"]
    assert message in error["message"]
    assert error["kind"] in ("usage", "source")
    assert "verdict" not in found


def test_a_folder_that_is_not_there_is_no_place_for_a_certificate(asked, tmp_path):
    status, found, _ = asked(
        written(tmp_path, "int main(void) { return 0; }\n"), "--certificate", tmp_path / "no" / "c.json"
    )
    assert status == 2
    assert "cannot write" in found["errors"][0]["message"]


ENDLESS = """int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
unsigned g(unsigned n) { while (n != 0) n -= 2; return n; }
int main(void) {
    for (;;) f(3);
}
"""


@pytest.mark.slow
def test_every_loop_has_a_bound_or_a_reason_why_not(answer, run, tmp_path):
    file = written(tmp_path, ENDLESS, "rule.c")
    status, found = answer("verify", file, "--rule", "bounded-loops")
    assert (status, found["verdict"], found["rule"]) == (1, "false(bounded-loops)", "bounded-loops")
    by_line = {loop["name"].split(":")[-2]: loop for loop in found["loops"]}
    assert by_line["1"]["bound"] == "max(0, n - i)"
    assert by_line["2"]["bound"] is by_line["4"]["bound"] is None
    assert by_line["2"]["never_ends"] == "n % 2 == 1"
    assert by_line["4"]["never_ends"] == "true"
    meant = ("--endless", f"{file}:4", "--endless", f"{file}:2")
    assert answer("verify", file, "--rule", "bounded-loops", *meant)[0] == 0
    assert run("verify", file, "--rule", "bounded-loops", "--endless", f"{file}:3").returncode == 2
    assert run("verify", file, "--endless", f"{file}:4").returncode == 2
    assert run("verify", file, "--rule", "bounded-loops", "--property", "termination").returncode == 2


@pytest.mark.slow
def test_what_is_taken_for_granted_of_unknown_functions_is_listed(answer, tmp_path):
    text = "extern int sensor(int *); int main(void) { int n; for (int i = 0; i < 5; i++) sensor(&n); return 0; }\n"
    file = written(tmp_path, text, "calls.c")
    for name, returns in (("termination", True), ("unreach-call", False)):
        status, found = answer("verify", file, "--property", name)
        assert status == 0
        assert any("calls no function of the program" in one for one in found["assumptions"])
        assert ("calls of sensor return" in found["assumptions"]) == returns
    known = written(
        tmp_path, '#include <stdio.h>\nint main(void) { for (int i = 0; i < 5; i++) puts("x"); return 0; }\n', "known.c"
    )
    assert answer("verify", known, "--property", "termination")[1]["assumptions"] == []


@pytest.mark.slow
def test_a_violation_behind_more_iterations_than_a_run_makes_is_foreseen(asked, tmp_path):
    text = (
        "int main(void) { unsigned last = 0xffffffff; for (unsigned a = 0; a < last; a++) for (unsigned b = 0; b < last; b++)"
        " if (a == b && b == last - 1) reach_error(); return 0; }\n"
    )
    status, found, _ = asked(written(tmp_path, HEAD + text), "--timeout", 60)
    assert (status, found["verdict"]) == (3, "unknown")
    # each of almost 2^32 outer iterations has as many inner ones: 1.8 times ten to the 19
    assert "comes to the error in line 2, but behind at least 10^19 iterations" in found["reason"]


def test_what_uninitialised_arrays_hold_is_part_of_a_violation(asked, capsys, tmp_path):
    source = (
        HEAD
        + """int main(void) {
  int b[5], a[20], last = 0;
  for (int i = 0; i < 5; i++) b[i] = i;
  for (;;) { int i = __VERIFIER_nondet_int(); if (i < 0 || i >= 20) break; a[i] = i; last = i; }
  if (a[last] != last) reach_error();
  return b[last % 5];
}
"""
    )
    file = written(tmp_path, source)
    harness = tmp_path / "h.c"
    status, found, _ = asked(file, "--harness", harness)
    assert (status, found["verdict"]) == (1, "false(unreach-call)")
    program = built([file, harness], tmp_path, "-ftrivial-auto-var-init=pattern", "-w")
    assert subprocess.run([str(program)], check=False, capture_output=True).returncode != 0
    ((name, value),) = found["uninitialised"].items()
    assert name.endswith("a[]")
    assert value != 0
    main(["verify", str(file)])
    assert "uninitialised variables hold: each byte of main.a = " in capsys.readouterr().out
