"""Programs whose runs are clean: the campaign draws the same each time, finds none wrong, and finds what is planted."""

from __future__ import annotations

import random
import re
import resource
from pathlib import Path

import pytest

from loopless.check.oracle.native import NativeOracle
from loopless.flowgraph.memory import lifetimes
from loopless_fuzz.campaigns import clean
from loopless_fuzz.campaigns.plan import Plan
from loopless_fuzz.campaigns.rows import CleanRow, Row, read_rows, write_rows
from loopless_fuzz.campaigns.table import report
from loopless_fuzz.generator.clean.generate import generate_clean
from loopless_fuzz.generator.clean.pieces import CleanProgram, Piece, reduce, text_of
from loopless_fuzz.generator.clean.shapes import Member, Shape
from loopless_fuzz.judging.sanitized import has_sanitizers, sanitized

PLAN = Plan("clean", inputs=3, limit_s=1.0)


def judged(seed: int, folder: Path, many: int = 4) -> CleanRow:
    """The row of some programs, which no command is asked about."""
    row = CleanRow(clean.language_of(seed))
    programs = [generate_clean(each, clean.language_of(seed)) for each in range(seed, seed + many)]
    clean._judge(programs, row, PLAN, folder)
    return row


@pytest.mark.parametrize("language", ["c", "c++"])
def test_a_seed_draws_one_program(language) -> None:
    texts = [text_of(generate_clean(7, language)) for _ in range(2)]
    assert texts[0] == texts[1] != text_of(generate_clean(8, language))
    assert f"int {generate_clean(7, language).entry}(int a, int b)" in texts[0]
    entered = [int(found) for found in re.findall(r"/\*enter (\d+)\*/", texts[0])]
    assert entered == sorted(set(entered))


def test_the_address_of_bits_is_taken_nowhere() -> None:
    bits = Shape("struct", "B", (Member("low", "bits", "int", 7), Member("one", "integer", "int")), 8)
    outer = Shape("struct", "O", (Member("in", "nested", "struct B", shape=bits),), 8)
    found = {outer.addressed(random.Random(seed), "o", lambda _: "0") for seed in range(50)}
    assert found - {None} == {("o.in.one", "int")}  # None: four members in a row were bits


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 20, 30])  # 20: in C++
def test_clean_runs_are_clean_in_the_model(seed: int, tmp_path: Path) -> None:
    row = judged(seed, tmp_path)
    assert row.mismatches == []
    assert row.clean >= row.runs // 2 > 0
    assert sum(row.compared.values()) > row.clean // 2, row.unknown


@pytest.mark.slow
def test_lives_that_end_with_the_callee_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault that this campaign was made for: a record of the callee ended the life of the caller's object."""

    def first(function, fixed):
        found = {}
        for i in function.instructions():
            name = lifetimes._declared(i)
            if name is not None and name in fixed and i.loc is not None and i.loc.scopes:
                found.setdefault(name, i.loc.scopes)
        return found

    monkeypatch.setattr(lifetimes, "_own_scopes", first)
    found = [said for seed in (0, 30) for _, said in judged(seed, tmp_path).mismatches]
    assert any("undefined" in said for said in found), found


@pytest.mark.slow
def test_a_row_of_commands_is_written_and_read(tmp_path: Path) -> None:
    row = clean.judge_clean(PLAN, 40, tmp_path)
    assert row.status == "done" and not row.wrong, row.note or row.clean
    assert row.clean is not None and any(name.startswith("verify") for name in row.clean.asked)
    write_rows(tmp_path / "log", [row])
    (again,) = read_rows(tmp_path / "log")
    assert again.clean == row.clean and "10 programs (10 c, 0 c++)" in report([again])


def test_a_mismatch_is_told() -> None:
    row = Row("clean", 0, status="done", clean=CleanRow(mismatches=[(["run3", 1, 2], "as written: it returns 4")]))
    assert row.wrong and "clean 0, run ['run3', 1, 2]: as written: it returns 4" in report([row])


def test_pieces_go_until_none_can_go() -> None:
    inside = (Piece("a;"), Piece("if (x) {", (Piece("b;"), Piece("c;")), "}"), Piece("d;", needed=True))
    program = CleanProgram(
        0, "c", "f", (Piece("void g(void) {", (Piece("e;"),), "}"), Piece("f {", inside, "}", needed=True))
    )
    small = reduce(program, lambda each: "c;" in text_of(each))
    assert text_of(small).endswith("f {\n    c;\n    d;\n}\n")


@pytest.mark.slow
@pytest.mark.skipif(not has_sanitizers("c"), reason="there is no gcc with sanitizers")
def test_sanitizers_tell_clean_runs_from_others(tmp_path: Path) -> None:
    text = """
    int gone(int a, int b) { int *p = &a; if (b) { int x = 5; p = &x; } return *p; }
    int sum(int a, int b) { return a + b; }
    static inline __attribute__((always_inline)) int up(int n) { return n < 1 ? 0 : up(n - 1) + 1; }
    int grown(int a, int b) { return up(a) + b; }
    """
    calls = [("grown", 5, 1), ("gone", 3, 0), ("gone", 3, 1), ("sum", 2147483647, 1), ("sum", 2, 1)]
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 36, hard))  # as workers have limits
    try:
        assert sanitized(text, "c", calls, tmp_path) == [6, 3, None, None, 3]
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert sanitized("no program", "c", calls, tmp_path) is None


CPP = """
struct Counted { int v; Counted(int a) : v(a) {} ~Counted() { v = 0; } int get() const { return v; } };
static Counted made(int n) { Counted r(n); if (n > 3) r.v++; return r; }
extern "C" int built(int a) { const Counted &k = made(a); Counted v[2] = {made(1), Counted(2)}; return k.get() + v[1].get(); }
struct Two { int x, y; };
extern "C" int bound(int a) { auto [p, q] = Two{a, 3}; return p * q; }
"""


@pytest.mark.slow
@pytest.mark.parametrize(("function", "expected"), [("built", 8), ("bound", 15)])
def test_programs_with_destructors_and_bindings_run_natively(function: str, expected: int, tmp_path: Path) -> None:
    """Calls that may throw are invocations with landing pads, and the object of a binding has no name."""
    file = tmp_path / "a.cpp"
    file.write_text(CPP, encoding="utf-8")
    with NativeOracle([file]) as oracle:
        run = oracle.run(function, (5,))
    assert (run.status, run.return_value) == ("ok", expected)
