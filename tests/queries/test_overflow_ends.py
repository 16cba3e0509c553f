"""Loops that only the signed overflow of a counter beside them ends."""

from __future__ import annotations

import random

import pytest
from tests.support.command import run_command

from loopless import terms as t
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.answers import FunctionBound, LoopIterations, OverflowEnd
from loopless.queries.bounds.rules import bounded_loops, verdict_of
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.report.loop_rules import rule_json, rule_text

BESIDE = (("", "", "0"), ("int n = 0;", "n++;", "n"), ("", "g++;", "g"), ("int n = 0, m = 1;", "n++; m += n;", "n - m"))
"""Counters beside control: how they are declared, counted and returned."""


def bounds(tmp_path, source: str) -> dict[str, FunctionBound]:
    file = tmp_path / "a.c"
    file.write_text(source, encoding="utf-8")
    return {found.name: found for found in answer_bounds(load([file]).functions, "all", Settings())}


def end_of(found: FunctionBound) -> OverflowEnd | None:
    (loop,) = found.counts
    return loop.ends_by_overflow


def ruled(tmp_path, source: str):
    file = tmp_path / "a.c"
    file.write_text(source, encoding="utf-8")
    return bounded_loops(load([file]), (), Settings())


REAL = {
    "a counter to an unsigned number": "int f(unsigned n) { int c = 0; for (unsigned i = 0; i < n; i++) c++; return c; }",
    "to the largest number": "int f(int i) { while (i < 2147483647) i++; return i; }",
    "to a long number": "int f(long n) { int c = 0; for (long i = 0; i < n; i++) c++; return c; }",
    "down to zero, which a negative number does not meet": "int f(int n) { while (n != 0) n--; return n; }",
    "a product": "int f(int n) { int p = 1; for (int i = 0; i < n; i++) p *= 3; return p; }",
    "doubled until it is large": "int f(int x) { if (x <= 0) return 0; while (x < 1000000) x *= 2; return x; }",
}


@pytest.mark.parametrize("kind", REAL)
def test_a_bound_of_its_own_stays_one(tmp_path, kind):
    found = bounds(tmp_path, REAL[kind])["f"]
    assert end_of(found) is None
    assert verdict_of(ruled(tmp_path, REAL[kind])) == "true"


def test_a_loop_without_exit_ends_by_its_counter_only(tmp_path):
    end = end_of(bounds(tmp_path, "int f(void) { int c = 0; for (;;) c++; }")["f"])
    assert end is not None
    assert (end.entry, end.call, end.entered, end.counters) == (t.TRUE, t.TRUE, True, ("c",))


def test_what_control_depends_on_is_no_counter_beside_it(tmp_path):
    # Behind 2^31 - 1 steps the index wraps where the compiler lets it, and the loop is left: no hang is told.
    assert end_of(bounds(tmp_path, "int f(int n) { int i = 0; while (i != n) i++; return i; }")["f"]) is None


def drawn(draw: random.Random) -> tuple[str, int, int, int, str]:
    """A loop over one byte: its text, and how its byte moves and is compared."""
    factor, step, last = draw.choice((1, 1, 3, 2, 255)), draw.randrange(1, 9), draw.randrange(256)
    relation = draw.choice(("!=", "<", ">"))
    declared, counts, result = draw.choice(BESIDE[1:])
    text = f"int g; int f(unsigned char x) {{ {declared} while (x {relation} {last}) {{ x = x * {factor} + {step}; "
    return f"{text}{counts} }} return {result}; }}", factor, step, last, relation


def rounds(x: int, factor: int, step: int, last: int, relation: str) -> int | None:
    """How often a loop over one byte runs; None: for ever, since it has 256 states."""
    holds = {"!=": x != last, "<": x < last, ">": x > last}
    count = 0
    while holds[relation]:
        x, count = (x * factor + step) % 256, count + 1
        if count > 256:
            return None
        holds = {"!=": x != last, "<": x < last, ">": x > last}
    return count


def hides(loop: LoopIterations, x: int) -> bool:
    end, call = loop.ends_by_overflow, loop.call
    hidden = end.call if end is not None and end.entered else t.FALSE
    return any(t.holds(region, dict.fromkeys(region.variables, x)) for region in (hidden, call.never))


@pytest.mark.parametrize("seed", range(8))
def test_random_loops_over_a_byte(tmp_path, seed):
    text, *moves = drawn(random.Random(seed))
    (loop,) = bounds(tmp_path, text)["f"].counts
    hidden = 0
    for x in range(256):
        count = rounds(x, *moves)
        if count is None:
            hidden += hides(loop, x)
            continue
        assert not hides(loop, x), (text, x)
        call = loop.call
        if call.upper is not None and t.holds(call.when, dict.fromkeys(call.when.variables, x)):
            most = t.evaluate(call.upper, dict.fromkeys(call.upper.variables, x))
            assert count <= most, (text, x)
    endless = sum(rounds(x, *moves) is None for x in range(256))
    assert hidden == endless, text


def test_the_rule_names_the_inputs_of_the_hang(tmp_path):
    source = "int f(unsigned char x) { int count = 0; while (x != 1) { x += 2; count++; } return count; }"
    loops = ruled(tmp_path, source)
    assert verdict_of(loops) == "false(bounded-loops)"
    (loop,) = loops
    assert [x for x in range(256) if t.holds(loop.never, dict.fromkeys(loop.never.variables, x))] == [*range(0, 256, 2)]
    assert "never ends if x % 2 == 0, but for the signed overflow of count at 1:" in rule_text(loops)
    (fields,) = rule_json(loops)["loops"]
    assert fields["by_overflow"] is True
    assert fields["bound"] is None


def test_the_rule_does_not_take_an_overflow_for_a_bound(tmp_path):
    source = "int f(const int *p, int n) { int c = 0, i = 0; while (i < n) { i += p[i]; c++; } return c; }"
    loops = ruled(tmp_path, source)
    assert verdict_of(loops) == "false(bounded-loops)"  # by a call that adds 0 again and again
    (run,) = (loop.run for loop in loops)
    assert run is not None
    assert "but for the signed overflow of c at 1:" in rule_text(loops)


def test_a_limit_that_is_jumped_over_is_no_hang_of_the_rule(tmp_path):
    source = "int f(int n) { int i = 1; while (i != n) i += 2; return i; }"
    end = end_of(bounds(tmp_path, source)["f"])
    assert end is not None
    assert end.of_control
    for n in range(-9, 10):
        assert t.holds(end.call, dict.fromkeys(end.call.variables, n)) == (n % 2 == 0 or n < 1), n
    loops = ruled(tmp_path, source)
    assert verdict_of(loops) == "unknown"
    assert "no bound but by the signed overflow of i at 1:" in rule_text(loops)


def test_an_overflow_before_the_loop_hides_no_hang(tmp_path):
    source = """int f(int a, int b) { int s = a * b, c = 0; unsigned char x = a;
        while (x != 1) { x += 2; c++; } return s ^ c; }"""
    end = end_of(bounds(tmp_path, source)["f"])
    assert end is not None
    for a in (0, 1, 2, 7, 65536, 65537, -70000):
        for b in (0, 3, 32767, 32768, -40000):
            values = {var: {"a": a, "b": b}[var.name] for var in end.call.variables}
            assert t.holds(end.call, values) == (a % 2 == 0 and -(2**31) <= a * b < 2**31), (a, b)


@pytest.mark.slow
def test_a_bound_that_rests_on_the_overflow_of_control_stands_apart(tmp_path):
    # The shape of CVE-2022-0778: behind i++ the limit is jumped over, and t need not become 1.
    source = """int f(unsigned char t, int e) { int i = 1;
        while (t != 1) { i++; if (i == e) return 0; t = t * t; }
        return i; }"""
    end = end_of(bounds(tmp_path, source)["f"])
    assert end is not None
    assert end.of_control
    assert end.counters == ("i",)
    loops = ruled(tmp_path, source)
    assert verdict_of(loops) == "unknown"
    assert "no bound but by the signed overflow of i at 2:" in rule_text(loops)


def test_the_rule_gives_inputs_of_a_run_behind_a_counter(tmp_path):
    source = """extern int __VERIFIER_nondet_int(void);
    int main(void) {
        int seen = 0;
        unsigned char left = __VERIFIER_nondet_int();
        while (left != 0) { unsigned char step = __VERIFIER_nondet_int(); left -= step > left ? left : step; seen++; }
        return seen;
    }"""
    (loop,) = ruled(tmp_path, source)
    assert loop.broken
    assert loop.run is not None
    first, *_, last = loop.run.inputs
    assert first % 256 != 0
    assert last % 256 == 0


def test_the_command_tells_it_once(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("int f(void) { int c = 0; for (;;) c++; }", encoding="utf-8")
    done = run_command("bound", file)
    assert "  never ends, but for the signed overflow of c at 1:" in done.stdout
    assert "a signed overflow may be all that ends the loop at 1:" in done.stdout


def test_an_iteration_that_moves_on_by_what_it_reads_may_move_by_nothing(tmp_path):
    """No closed form says whether the sum of what is read comes to the end; an iteration that adds 0 never does."""
    source = """int f(const unsigned char *p, unsigned n) {
        unsigned i = 0;
        int count = 0;
        while (i < n) { i += p[i]; count++; }
        return count;
    }"""
    end = end_of(bounds(tmp_path, source)["f"])
    assert end is not None
    assert end.entered
    assert end.counters == ("count",)
    (read,) = {node for node in t.walk(end.entry) if isinstance(node, t.Read)}
    told = t.replace_terms(end.entry, {read: t.Var("read", read.type)})
    for i, n, value in ((0, 1, 0), (0, 1, 1), (1, 1, 0), (4, 7, 0), (4, 7, 255)):
        state = {var: {"i": i, "n": n, "read": value}[var.name.split(".")[0]] for var in told.variables}
        assert t.holds(told, state) == (i < n and value == 0)


TABLES = {
    "constant": "static const unsigned char t[4] = {1, 2, 3, 1};",
    "written by nobody": "static unsigned char t[4] = {1, 2, 3, 1};",
    "of everybody": "unsigned char t[4] = {1, 2, 3, 1};",
}


@pytest.mark.parametrize("counted", [False, True], ids=["alone", "counted"])
@pytest.mark.parametrize("table", TABLES)
def test_a_table_without_zeros_moves_the_loop_on(tmp_path, table, counted):
    """Each step is 1 to 3, so the loop ends; that an element is 0 is no input of a call."""
    source = f"""{TABLES[table]}
    unsigned f(unsigned n) {{
        unsigned i = 0;
        int c = 0;
        while (i < n) {{ i += t[i & 3]; {"c++;" if counted else ""} }}
        return i + c;
    }}"""
    loops = ruled(tmp_path, source)
    assert verdict_of(loops) == "unknown"
    (loop,) = bounds(tmp_path, source)["f"].counts
    assert loop.entry.never is t.FALSE or not loop.entry.entered
    assert loop.ends_by_overflow is None or not loop.ends_by_overflow.entered


def test_what_a_call_is_given_may_hold_a_zero(tmp_path):
    source = "unsigned f(const unsigned char *p, unsigned n) { unsigned i = 0; while (i < n) i += p[i]; return i; }"
    (loop,) = bounds(tmp_path, source)["f"].counts
    assert loop.entry.entered
    (told,) = loop.recurrent
    assert not told.chosen
    assert verdict_of(ruled(tmp_path, source)) == "false(bounded-loops)"
