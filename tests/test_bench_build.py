"""The benchmark of real builds, on a build of two files whose loops are counted by hand."""

from __future__ import annotations

import copy
import json
import shutil

import build
import build_table
import pytest

HEADER = """\
static inline unsigned halved(unsigned n) {
    unsigned times = 0;
    for (unsigned i = 0; i < n; i++) times += i & 1u;
    return times;
}
"""
FIRST = """\
#include "shared.h"
int ten(int x) {
    for (int i = 0; i < 10; i++) x ^= i;
    return x;
}
unsigned first(unsigned n) { return halved(n); }
"""
SECOND = """\
#include "shared.h"
int next(void);
int data(void) {
    int sum = 0;
    while (next() != 0) sum ^= 1;
    return sum;
}
unsigned second(unsigned n) { return halved(n + 1u) ^ halved(n); }
"""
SHARED, TEN, DATA = "shared.h:3:5", "first.c:3:5", "second.c:5:5"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("build")
    files = {"shared.h": HEADER, "first.c": FIRST, "second.c": SECOND}
    for name, text in files.items():
        (folder / name).write_text(text)
    entries = [
        {"directory": str(folder), "file": name, "arguments": ["cc", "-O2", "-c", name]}
        for name in files
        if name.endswith(".c")
    ]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return build.measured(folder, [], 1, ("bound", "summarize"), "tiny")


def test_each_loop_of_the_source_is_counted_once(run):
    assert list(run["rows"]) == [TEN, DATA, SHARED]
    assert (run["files"], run["programs"], run["unread"]) == (2, 1, {})


def test_the_loops_are_what_their_text_says(run):
    bounds = {key: row["bound"] for key, row in run["rows"].items()}
    assert (bounds[TEN]["class"], bounds[TEN]["upper"]) == (build_table.EXACT, "10")
    assert (bounds[SHARED]["class"], bounds[SHARED]["upper"]) == (
        build_table.EXACT,
        "max(0, n - i)",
    )  # i as it is there
    assert bounds[DATA]["class"] not in (build_table.EXACT, build_table.BOUNDED, build_table.SOMETIMES)
    assert [row["summarize"]["class"] == build_table.COMPLETE for row in run["rows"].values()] == [True, True, True]


def test_the_table_has_the_counts(run):
    lines = build_table.table([run]).splitlines()
    assert "| **loops** | 3 |" in lines
    assert "| **exact count** | 2 (67 %) |" in lines
    assert "| complete summaries | 3 (100 %) |" in lines  # what it does with each value of next()
    assert "| **exact count, by a bound or by a complete summary** | 3 (100 %) |" in lines
    assert run["times"]["bound"]["cpu"] > run["times"]["clang"]["cpu"] > 0


@pytest.mark.skipif(shutil.which("opt") is None, reason="LLVM's opt is not installed")
def test_scalar_evolution_is_asked_about_the_same_loops(run):
    said = {key: row["scev"] for key, row in run["rows"].items()}
    assert said[TEN]["exact"] == "10"
    assert "%n" in said[SHARED]["exact"]
    assert "exact" not in said[DATA]


def test_what_is_gained_and_lost_is_told(run):
    worse = copy.deepcopy(run)
    worse["rows"][TEN]["bound"] |= {"class": build_table.REFUSED, "upper": "", "code": "L302", "detail": "no time"}
    worse["rows"][SHARED]["bound"]["upper"] = "n + 1"
    told = build_table.compared(run, worse)
    assert "`bound`, lost: 1" in told
    assert f"- {TEN}: exact count: 10 → refused, L302" in told
    assert f"- {SHARED}: exact count: max(0, n - i) → exact count: n + 1" in told
    assert "`bound`, gained: 1" in build_table.compared(worse, run)
    assert f"- {TEN}: L302" in build_table.lists(worse)
    assert "L302" not in build_table.lists(run)


def test_files_that_define_the_same_are_two_programs(tmp_path):
    for name, text in {
        "a.c": "int same = 2;",
        "b.c": "int same(void) { return 1; } int more(int n) { return n * n - same(); }",
        "c.c": "static int same(void) { return 3; }\nint c(int n) { return n > same() ? n * n * n : n + same() * n; }",
    }.items():
        (tmp_path / name).write_text(text)
    entries = [
        {"directory": str(tmp_path), "file": f"{name}.c", "arguments": ["cc", "-c", f"{name}.c"]} for name in "abc"
    ]
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries))
    units, unread = build.units_of(tmp_path, [])
    assert not unread
    sizes = [len(unit.text) for unit in units]
    assert sizes == sorted(sizes), "the files grow, so that the order of the answer is not that of the files"
    assert [[unit.file.name for unit in part] for part in build.programs(units)] == [["c.c", "b.c"], ["a.c"]]


@pytest.mark.parametrize(
    ("bound", "by_type"),
    [
        ("4294967295", True),
        ("max(0, 2147483647 - n)", True),
        ("n == 4294967295 ? 0 : n + 1", False),
        ("n > 3 ? 4294967295 : n", True),
        ("n > 3 ? n : m > 2 ? m : 18446744073709551615", True),
        ("min(n, 4294967295)", False),
        ("(min(18446744073709551615, 4294967295 - n))", True),
        ("max(0, n) + x16777216", False),
        ("65535", False),
        ("max(0, ((len + 4294967294) / 4294967295) - 1)", False),
        ("(len + 8589934590) / 4294967295", True),
        ("len / 4294967295 + 4294967295", True),
        ("t1 + n", True),
        ("t2", False),
    ],
)
def test_a_bound_by_the_end_of_a_type_is_told_from_others(bound, by_type):
    assert build_table.owes_to_types(bound, {"t1": "4294967295 - m", "t2": "min(n, t1)"}) is by_type


def _loop(**given):
    never = {
        "upper": None,
        "any": None,
        "exact": False,
        "valid_when": {"text": "true"},
        "method": None,
        "never_ends": [],
    }
    entry = never | given.pop("per_entry", {})
    bound = {"upper": None, "valid_when": {"text": "true"}, "refused": None, "diverges": [], "method": None}
    return bound | {"per_entry": entry} | given


@pytest.mark.parametrize(
    ("loop", "kind"),
    [
        (_loop(per_entry={"upper": {"text": "n"}, "exact": True}), build_table.EXACT),
        (_loop(per_entry={"upper": {"text": "n"}}), build_table.BOUNDED),
        (_loop(per_entry={"upper": {"text": "n"}, "completed": {"text": "n"}}), build_table.COMPLETED),
        (_loop(per_entry={"upper": {"text": "n"}, "valid_when": {"text": "n > 0"}}), build_table.SOMETIMES),
        (_loop(per_entry={"any": {"text": "n"}}), build_table.BOUNDED),
        (_loop(upper={"text": "n"}), build_table.BOUNDED),
        (_loop(upper={"text": "4294967295"}), build_table.BY_TYPE),
        (_loop(upper={"text": "0"}, valid_when={"text": "n == 0"}), build_table.REFUSED),
        (_loop(per_entry={"never_ends": [{"when": {"text": "true"}, "chosen": ["next()"]}]}), build_table.CHOSEN),
        (_loop(per_entry={"never_ends": [{"when": {"text": "true"}, "chosen": []}]}), build_table.ENDLESS),
        (_loop(diverges=[{"text": "n > 0"}]), build_table.ENDLESS),
        (_loop(refused={"code": "L201", "detail": "why"}), build_table.REFUSED),
    ],
)
def test_each_loop_is_of_one_class(loop, kind):
    assert build_table.bound_row(loop)["class"] == kind
