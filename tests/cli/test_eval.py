"""``loopless eval``: single calls and the stream."""

from __future__ import annotations

import json

import jsonschema
import pytest

from loopless.report.document import SCHEMA_VERSION

PROGRAM = """extern int __VERIFIER_nondet_int(void);
int down(int i) {
    long s = 0;
    while (i >= 0) { s += i; i--; }
    return (int)(s % 1000);
}
int total(const int *a, int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return s;
}
void fill(int *a, int n) {
    for (int i = 0; i < n; i++) a[i] = 2 * i;
}
int forever(int x) {
    while (x > 0) { }
    return 7;
}
int up(int x) {
    while (x > 0) x++;
    return x;
}
int inputs(void) {
    return __VERIFIER_nondet_int() - __VERIFIER_nondet_int();
}
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "program.c"
    file.write_text(PROGRAM, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("words", "status", "value"),
    [
        (["down", "10"], "ok", 55),
        (["down", "-5"], "ok", 0),
        (["down", "-5", "--", "-DX=1"], "ok", 0),
        (["total", "[1, -2, 30]", "3"], "ok", 29),
        (["forever", "0"], "ok", 7),
        (["forever", "1"], "diverges", None),
        (["up", "0x10"], "undefined", None),
        (["inputs", "--nondet", "9,-4"], "ok", 13),
    ],
)
def test_calls(answer, program, words, status, value):
    found, document = answer("eval", program, *words)
    assert found == 0
    assert (document["status"], document["return"]) == (status, value)


def test_a_loop_of_many_iterations_is_jumped_over(answer, program):
    _, document = answer("eval", program, "down", "2000000000")
    # 2000000000 * 2000000001 / 2 = 2000000001000000000
    assert (document["return"], document["by"]) == (0, "summary")
    assert list(document["iterations"].values()) == [2000000001]
    assert list(document["iterations"]) == [f"{program}:down:4:5"]


def test_outputs_are_what_pointers_point_to(answer, program, run):
    _, document = answer("eval", program, "fill", "[9, 9, 9, 9]", "3")
    assert document["outputs"] == [[0, 2, 4, 9]]
    assert document["return"] is None
    assert "[0, 2, 4, 9]" in run("eval", program, "fill", "[9, 9, 9, 9]", "3").stdout


def test_text_has_the_answer_first(run, program):
    assert run("eval", program, "down", "10").stdout.splitlines()[0] == "returns 55"
    assert run("eval", program, "forever", "3").stdout.splitlines()[0].startswith("never returns")


def test_a_stream_is_answered_line_by_line(run, program, answer):
    lines = ['{"args": [10]}', "", '{"args": [-1]}', '{"args": [1, 2]}', "nonsense", '{"args": [true]}', '{"arg": [1]}']
    done = run("eval", program, "down", stdin="\n".join(lines) + "\n")
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(a["status"], a["return"]) for a in answers] == [("ok", 55), ("ok", 0), *[("unknown", None)] * 4]
    assert "2" in answers[2]["reason"]
    assert "JSON" in answers[3]["reason"]
    _, document = answer("eval", program, "down", "10")
    fields = set(document) - {"schema_version", "tool", "command", "errors", "time_ms"}
    assert all(set(a) == fields for a in answers)
    assert document["schema_version"] == SCHEMA_VERSION


def test_a_stream_for_a_function_without_parameters(run, program):
    done = run("eval", program, "inputs", "--stream", stdin='{"nondet": [1, 2]}\n{"nondet": [5, 2]}\n')
    assert [json.loads(line)["return"] for line in done.stdout.splitlines()] == [-1, 3]


def test_a_call_without_end_meets_its_limit(run, tmp_path):
    (tmp_path / "p.c").write_text(
        "unsigned f(unsigned x) { unsigned n = 0; while (x != 1) { x = x * x + 1; n++; } return n; }\n",
        encoding="utf-8",
    )
    done = run("eval", "p.c", "f", stdin='{"args": [2]}\n{"args": [1]}\n', cwd=tmp_path)
    assert done.returncode == 0
    done = run("eval", "p.c", "f", "7", "--timeout", "3", cwd=tmp_path)
    assert done.returncode in (0, 3)
    assert done.stdout


def test_answers_fit_the_schema(answer, program):
    _, document = answer("eval", program, "down", "3")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "status": "perhaps"}, _schema())


def _schema():
    from importlib.resources import files

    return json.loads(files("loopless.report").joinpath("schema.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_what_a_stub_says_is_listed(answer, run, tmp_path):
    """By a single call, on a stream, and in the text."""
    file, stubs = tmp_path / "p.c", tmp_path / "stubs.c"
    file.write_text("extern int half(int); int f(int n) { int k = 0; while (n > 0) { n = half(n); k++; } return k; }")
    stubs.write_text("\nint half(int x) { return x / 2; }")
    status, document = answer("eval", file, "f", "9", "--stubs", stubs)
    assert (status, document["return"]) == (0, 4)
    assert document["assumptions"] == [f"half is as defined in {stubs}:2"]
    assert f"  assuming\n    half is as defined in {stubs}:2\n" in run("eval", file, "f", "9", "--stubs", stubs).stdout
    line = json.loads(run("eval", file, "f", "--stubs", stubs, stdin='{"args": [8]}\n').stdout)
    assert (line["return"], line["assumptions"]) == (4, document["assumptions"])
    status, document = answer("eval", file, "f", "9")
    assert (document["status"], document["assumptions"]) == ("unknown", [])


def test_arguments_that_a_function_does_not_name_are_said_not_to_be_followed(run, tmp_path):
    file = tmp_path / "a.c"
    file.write_text(
        "#include <stdarg.h>\n"
        "static int sum(int n, ...) { va_list a; va_start(a, n); int s = va_arg(a, int); va_end(a); return s + n; }\n"
        "int f(int x) { return sum(3, x, 2, 3); }\n",
        encoding="utf-8",
    )
    told = run("eval", str(file), "f", "3").stdout
    assert "sum is called with 4 arguments, of which it names 1; the others are not followed" in told
