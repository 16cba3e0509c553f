"""Answers of ``reach`` as text, as JSON and as tests; the tests are compiled, run, and get to the place."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import loopless
from loopless.errors import UsageError
from loopless.queries.call_values.reached import (
    Field,
    GivenValue,
    Inputs,
    MemoryContent,
    PointerIn,
    Reached,
    RepeatedValue,
    runs_of,
)
from loopless.queries.call_values.surroundings import surroundings
from loopless.queries.reach.coverage import Coverage, Covered, CoveringTest
from loopless.report.coverage import coverage_json, coverage_text
from loopless.report.document import document
from loopless.report.reach import reach_json, reach_text
from loopless.report.reach_python import python_test
from loopless.report.reach_tests import c_test
from loopless.report.testcomp import xml_metadata, xml_test
from loopless.source.compile import SourceOptions
from loopless.source.targets import Side, SourceTarget

SCHEMA = json.loads((Path(loopless.__file__).parent / "report" / "schema.json").read_text(encoding="utf-8"))

COUNTS = """#include <stdbool.h>
static int f(const int *a, int n, const char *s, long long *p, bool odd, const unsigned char *end) {
  int ones = 0;
  for (int i = 0; i < n; i++) if (a[i] == 1) ones++;
  if (ones == 13 && n == 50 && s[0] == 'H' && s[1] == '"' && s[2] == 0 && !p && odd && end)
    return 1; /* target */
  return 0;
}
int main(void) { return f(0, 0, "", 0, 0, 0); }
"""
GIVEN = Inputs("f", (
    GivenValue("a", "int", elements=(RepeatedValue(13, 1), RepeatedValue(37, -2147483648))), GivenValue("n", "int", 50),
    GivenValue("s", "char", elements=runs_of([72, 34])), GivenValue("p", "long long"), GivenValue("odd", "_Bool", 1),
    GivenValue("end", "unsigned char", elements=()),
))  # fmt: skip

READS = """extern int __VERIFIER_nondet_int(void); extern long sensor(const char *); extern _Bool flag(void);
extern void told(int), __VERIFIER_assume(int), reach_error(void);
int main(void) {
  unsigned n = 0;
  while (__VERIFIER_nondet_int() == 3) { n++; told(n); }
  __VERIFIER_assume(n > 5);
  if (n == 1000 && sensor("x") == -9223372036854775807L - 1 && flag())
    reach_error(); /* target */
  return 0;
}
"""
READ = Inputs(
    "main", nondet=(RepeatedValue(1000, 3), RepeatedValue(1, 0), RepeatedValue(1, -(1 << 63)), RepeatedValue(1, 1))
)

SETS = """static int level, seen;
int g(int g) {
  static int calls;
  if (level == -7 && g == 2)
    seen = ++calls; /* target */
  return seen;
}
"""
SET = Inputs("g", (GivenValue("g", "int", 2),), globals={"level": -7})

RECORDS = """struct node { int value; struct node *next; };
struct list { struct node *head; unsigned char tag[8]; short count; const char *name; const char *text; };
int g(const struct list *l, const struct node *n, int l_0) {
  int zs = 0;
  for (const char *at = l->text; *at == 'z'; at++) zs++;
  if (l->head->next->value == 5 && l->tag[3] == 9 && l->count == -2 && l->name[-1] == 'h' && l->name[0] == 'i')
    if (n[-1].value == -1 && n[0].value == 1 && n[0].next && zs == 500 && l_0 == 3)
      return 1; /* target */
  return 0;
}
"""
RECORD = Inputs("g", (
    GivenValue("l", "void", memory=MemoryContent(
        bytes(11) + b"\x09" + bytes(4) + b"\xfe\xff" + bytes(22),
        (
            PointerIn("l->head", 0, MemoryContent(bytes(16), (PointerIn("l->head->next", 8, MemoryContent(b"\x05\0\0\0")),))),
            PointerIn("l->name", 24, MemoryContent(b"hi"), 1),
            PointerIn("l->text", 32, MemoryContent(b"z" * 500 + bytes(70_000))),
        ),
        (Field("l->count", 16, 2, -2),),
    )),
    GivenValue("n", "void", memory=MemoryContent(
        b"\xff" * 4 + bytes(12) + b"\x01" + bytes(15), (PointerIn("n->next", 24, MemoryContent(b"")),), (Field("n->value", 16, 4, 1),), 16
    )),
    GivenValue("l_0", "int", 3),
))  # fmt: skip

APART = """int sensor(void); extern int shared, both; int here(void) { return sensor() + shared + both; }
int main(void) { return here(); }
"""
PART = """int here(void); extern int both;
int h(unsigned n) {
  if (n == 4000000000u && here() == 5 && both == 0)
    return 1; /* target */
  return 0;
}
"""
PARTED = Inputs("h", (GivenValue("n", "unsigned int", 4000000000),), nondet=(RepeatedValue(1, 5),))


def compiler(folder):
    """A folder in which ``cc`` is a compiler, to stand first in the path."""
    if shutil.which("cc") is None:
        (folder / "cc").write_text(f'#!/bin/sh\nexec {sys.executable} -m ziglang cc "$@"\n')
        (folder / "cc").chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def told(tmp_path):
    """The answer that these inputs lead to the target of a program, its surroundings, and the folder for tests."""

    def made(texts, inputs, flags=()):
        files = [tmp_path / f"part{number}.c" for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text, encoding="utf-8")
        (file, line) = next(
            (f, n) for f in files for n, row in enumerate(f.read_text().splitlines(), 1) if "/* target */" in row
        )
        found = Reached(
            SourceTarget(str(file), line),
            inputs.function,
            "reached",
            "guided search",
            inputs,
            "the native run came to it",
        )
        program = surroundings(files, inputs.function, SourceOptions(flags=flags))
        text = file.read_text().splitlines()
        text[line - 1] = f'{{ extern int puts(const char *); puts("HIT"); {text[line - 1]} }}'
        file.write_text("\n".join(text) + "\n")
        (tmp_path / "tests").mkdir()
        return found, program, tmp_path / "tests"

    return made


OUTSIDE = """extern const int limit; extern unsigned short level; extern struct { int a[3]; } table; extern char text[];
int k(int x) {
  if (x == 3 + limit && level == 7 && table.a[2] == 0 && text)
    return 1; /* target */
  return 0;
}
"""
OUTER = Inputs("k", (GivenValue("x", "int", 3),), globals={"level": 7})

CASES = {
    "arguments": ([COUNTS], GIVEN), "structures": ([RECORDS], RECORD), "inputs": ([READS], READ), "globals": ([SETS], SET),
    "two files": ([APART, PART], PARTED), "variables": ([OUTSIDE], OUTER),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_test_in_c_gets_there(told, name):
    found, program, folder = told(*CASES[name])
    text = c_test(found.inputs, f"Leads to {found.target}.", program, folder)
    assert f"/* Leads to {found.target}.\n" in text
    assert max(map(len, text.splitlines())) < 200
    assert len(text.splitlines()) < 50
    (folder / "test.c").write_text(text, encoding="utf-8")
    command = text.split("In this folder: ")[1].split(" */")[0]
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=compiler(folder), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "HIT"


@pytest.mark.parametrize("name", CASES)
def test_a_test_in_python_gets_there(told, name):
    found, program, folder = told(*CASES[name])
    (folder / "test.py").write_text(
        python_test(found.inputs, f"Leads to {found.target}.", program, folder), encoding="utf-8"
    )
    command = [sys.executable, "test.py"]
    done = subprocess.run(command, cwd=folder, env=compiler(folder), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines().count("HIT") == 1  # before or behind what Python prints, which has its own buffer


def test_without_the_right_inputs_the_tests_do_not_get_there(told):
    wrong = Inputs(
        "main", nondet=(RepeatedValue(999, 3), RepeatedValue(1, 0), RepeatedValue(1, -(1 << 63)), RepeatedValue(1, 1))
    )
    found, program, folder = told([READS], wrong)
    (folder / "test.c").write_text(c_test(found.inputs, f"Leads to {found.target}.", program, folder), encoding="utf-8")
    done = subprocess.run(
        "cc test.c -o test && ./test", shell=True, cwd=folder, env=compiler(folder), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_what_is_long_is_written_by_loops(told):
    found, program, folder = told([COUNTS], GIVEN)
    text = c_test(found.inputs, f"Leads to {found.target}.", program, folder)
    assert "for (unsigned long i = 0; i < 13; i++) a[i] = 1;" in text
    assert 'static char s[3] = "H\\"";' in text
    assert "f(a, n, s, 0 /* p */, odd, end + 1);" in text
    assert "[1] * 13 + [-2147483648] * 37" in python_test(found.inputs, f"Leads to {found.target}.", program, folder)


def test_a_test_case_of_the_competition(told):
    inputs = Inputs("main", nondet=(RepeatedValue(2, 3), RepeatedValue(1, -5)))
    found, _, folder = told([READS], inputs)
    text = xml_test(found.inputs)
    assert (
        '"+//IDN sosy-lab.org//DTD test-format testcase 1.1//EN" "https://sosy-lab.org/test-format/testcase-1.1.dtd"'
        in text
    )
    root = ET.fromstring(text)
    assert (root.tag, [(one.tag, one.text) for one in root]) == (
        "testcase",
        [("input", "3"), ("input", "3"), ("input", "-5")],
    )
    file = folder.parent / "part0.c"
    about = ET.fromstring(xml_metadata(found.target, "main", [file], 32))
    assert [one.tag for one in about] == [
        "sourcecodelang", "producer", "specification", "programfile", "programhash", "entryfunction", "architecture", "creationtime",
    ]  # fmt: skip
    values = {one.tag: one.text for one in about}
    assert values["specification"] == f"COVER( init(main()), FQL(COVER EDGES(@LINE({found.target.line}))) )"
    assert (values["architecture"], values["entryfunction"]) == ("32bit", "main")
    assert values["programhash"] == hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("texts", "inputs", "write", "message"),
    [
        ([COUNTS], GIVEN, lambda i, w, p, d: xml_test(i), "f was called"),
        (
            [READS],
            Inputs("main", nondet=(RepeatedValue(1 << 21, 3),)),
            lambda i, w, p, d: xml_test(i),
            "more than 1,048,576 inputs",
        ),
        ([READS], Inputs("main", uninitialised={"x": 3}), c_test, "what uninitialised variables hold (x)"),
        (
            [SETS],
            Inputs("g", (GivenValue("g", "int", 2),), globals={"g.calls": 1}),
            python_test,
            "g.calls is static in a function",
        ),
    ],
)
def test_what_a_test_cannot_give_is_said(told, texts, inputs, write, message):
    with pytest.raises(UsageError) as said:
        write(inputs, "", *told(texts, inputs)[1:])
    assert message in str(said.value)


# -- text and JSON ----------------------------------------------------------------------------------------------------

JUDGED = {"accepted": True, "failed": [], "undefined": [], "questions": 1, "theories": ["integers"], "seconds": 0.1}


def test_what_is_reached_as_text():
    found = Reached(
        SourceTarget("a.c", 5, when="n > 3"),
        "f",
        "reached",
        "guided search",
        GIVEN,
        "the native run came to the target",
    )
    assert reach_text(found) == (
        "reached: a.c:5 with n > 3\n"
        "  by guided search; replayed on the compiled program: the native run came to the target\n"
        "  f(a, n, s, p, odd, end)\n"
        "    a = [1 (13 times), -2147483648 (37 times)]\n"
        "    n = 50\n"
        "    s = ['H', '\"']\n"
        "    p = the null pointer\n"
        "    odd = 1\n"
        "    end = []"
    )
    assert "  inputs in their order: 3 (1,000 times), 0, -9223372036854775808, 1" in reach_text(
        Reached(SourceTarget(callee="reach_error"), "main", "reached", "guided search", READ, "it did")
    )


def test_structures_as_text():
    found = Reached(SourceTarget("a.c", 8), "g", "reached", "guided search", RECORD, "it did")
    assert reach_text(found).splitlines()[3:] == [
        "    l -> l->count = -2, byte 11 = 9",
        "      l->head -> nothing but pointers and zeros",
        "        l->head->next -> [5, 0 (3 times)]",
        "      l->name -> byte 1 of ['h', 'i']",
        "      l->text -> ['z' (500 times), '\\0' (70,000 times)]",
        "    n -> n->value = 1, bytes -16 to -13 = [255 (4 times)]",
        "      n->next -> memory that is not read",
        "    l_0 = 3",
    ]


def test_what_nothing_reaches_as_text():
    found = Reached(
        SourceTarget(callee="bad"), "main", "unreachable", "counters of paths", judged=JUDGED, assumptions=("x",)
    )
    assert reach_text(found) == (
        "unreachable: a call of bad: no run of the program gets there\n"
        "  by counters of paths\n"
        "  certificate: accepted by the judge, which knows no method (1 question, over integers)\n"
        "  assumes: x"
    )
    bare = Reached(SourceTarget("a.c", 5), "f", "unreachable", "counters of paths")
    assert reach_text(bare).splitlines()[0] == "unreachable: a.c:5: no call of f gets there"
    assert "without a certificate" in reach_text(bare)
    unknown = Reached(SourceTarget("a.c", 5), "f", "unknown", reason="time", tried={"counters": 1.0, "proofs": 2.0})
    assert reach_text(unknown) == "unknown: a.c:5: time\n  tried: counters, proofs"


@pytest.mark.parametrize(
    ("type_", "values", "shown"),
    [
        ("char", [65, 0, -1], "'A', '\\0', -1"),
        ("unsigned char", [65, 0, 10], "'A', '\\0', '\\n'"),
        ("unsigned char", [65, 0, 200], "65, 0, 200"),
        ("unsigned char", [0, 9], "0, 9"),
        ("int", [65], "65"),
    ],
)
def test_what_is_shown_as_characters(type_, values, shown):
    inputs = Inputs("f", (GivenValue("s", type_, elements=runs_of(values)),))
    found = Reached(SourceTarget("a.c", 5), "f", "reached", "guided search", inputs, "it did")
    assert f"s = [{shown}]" in reach_text(found)


ANSWERS = {
    "structures": Reached(SourceTarget("a.c", 8), "g", "reached", "guided search", RECORD, "it did"),
    "reached": Reached(SourceTarget("a.c", 5), "f", "reached", "guided search", GIVEN, "it did"),
    "unreachable": Reached(SourceTarget(callee="bad"), "main", "unreachable", "counters of paths"),
    "unknown": Reached(SourceTarget("a.c", 5, when="n > 3"), "f", "unknown", reason="time", tried={"counters": 1.0}),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_fit_the_schema_and_only_with_their_evidence(name):
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid
    fields = reach_json(ANSWERS[name])
    right = document("reach", **fields)
    assert fits(right)
    for change in (
        {"verdict": "true"},
        {"reason": None if fields["reason"] else "why"},
        {"inputs": 3},
        {"target": None},
    ):
        assert not fits({**right, **change})
    for field in fields:
        assert not fits({key: value for key, value in right.items() if key != field})
    if name == "structures":
        first, second, _ = fields["inputs"]["arguments"]
        assert (first["value"], first["elements"], second["memory"]["start"]) == (None, None, 16)
        assert second["memory"]["bytes"][0] == {"count": 4, "value": 255}
        assert first["memory"]["fields"] == [{"name": "l->count", "offset": 16, "size": 2, "value": -2}]
        name_ = first["memory"]["pointers"][1]
        assert (name_["name"], name_["offset"], name_["at"], name_["memory"]["pointers"]) == ("l->name", 24, 1, [])
        del name_["memory"]["start"]
        assert not fits(right)
    if name == "reached":
        assert not fits({**right, "inputs": None})
        assert not fits({**right, "replayed": None})
        assert fields["inputs"]["arguments"][0]["elements"] == [
            {"count": 13, "value": 1},
            {"count": 37, "value": -2147483648},
        ]


PROOF = Reached(SourceTarget(within="h", branch=(1, 0)), "h", "unreachable", "counters of paths", assumptions=("x",))
COVERAGE = Coverage(
    "h", ("a.c",),
    (CoveringTest(Inputs("h", (GivenValue("n", "int", 3),)), frozenset((1, 3))), CoveringTest(Inputs("h"), frozenset((3, 6)), "undefined overflow")),
    (
        Covered(Side(0, 0, 9, 2), "true", "unknown", reason="time"), Covered(Side(0, 1, 9, 2), "false", "covered", (0,)),
        Covered(Side(1, 0, 5, 2), "true", "unreachable", proof=PROOF), Covered(Side(1, 1, 5, 2), "false", "covered", (0, 1)),
        Covered(Side(2, 0, 9, 3, None, True), "default", "unknown", reason="size"),
        Covered(Side(2, 1, 9, 3, -2, True), "case -2", "unreachable", proof=replace(PROOF, judged=JUDGED)),
        Covered(Side(2, 2, 9, 3, 4, True), "case 4", "covered", (1,)),
    ),
)  # fmt: skip


def test_coverage_as_text():
    assert coverage_text(COVERAGE).splitlines() == [
        "3 of 7 sides of branches covered by 2 tests, 2 cannot be taken, 2 unknown",
        "  line 5, true: cannot be taken, by counters of paths, with no certificate",
        "  line 9, branch 1 of 2, true: unknown: time",
        "  line 9, branch 2 of 2, default: unknown: size",
        "  line 9, branch 2 of 2, case -2: cannot be taken, by counters of paths, with a certificate that the judge accepted",
        "  assumes: x",
        "test 1: 2 sides",
        "  h(n)",
        "    n = 3",
        "test 2: 2 sides, ends: undefined overflow",
        "  h()",
    ]
    bare = coverage_text(Coverage("h", ("a.c",), (), ()))
    assert bare == "0 of 0 sides of branches covered by 0 tests, 0 cannot be taken, 0 unknown\n  h has no branches"


def test_coverage_fits_the_schema_and_only_with_its_evidence():
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid
    right = document("reach", **coverage_json(COVERAGE))
    assert fits(right)
    sides = right["sides"]
    assert [(one["branch"], one["side"], one["tests"]) for one in sides if one["tests"]] == [
        (0, "false", [1]), (1, "false", [1, 2]), (2, "case 4", [2])
    ]  # fmt: skip
    for field in coverage_json(COVERAGE):
        assert not fits({key: value for key, value in right.items() if key != field})
    wrong = (
        (0, "reason", None),
        (1, "tests", []),
        (2, "method", None),
        (0, "tests", [1]),
        (1, "reason", "time"),
        (4, "verdict", "true"),
    )
    for at, field, value in wrong:
        assert not fits({**right, "sides": [*sides[:at], {**sides[at], field: value}, *sides[at + 1 :]]})
