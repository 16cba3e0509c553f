"""The SMT-LIB document: Z3 reads it and finds in it what the summary says."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
import z3

from answers_in_c import answers
from loopless.paths import Exit
from loopless.queries.loops.answer import LoopAnswer
from loopless.report.json_report import loop
from loopless.report.smtlib import smtlib
from loopless.report.text import summaries
from loopless.terms import (
    INTEGERS,
    TRUE,
    Term,
    Var,
    add,
    bit_and,
    conjuncts,
    const,
    disjunction,
    equals_zero,
    evaluate,
    holds,
    minimum,
    mod,
    smt,
    symbol,
)
from loopless.terms.types import IntType

INT = IntType(32)
STEP = """int f(int i, int x) {
    while (i < x) i = i + 2;
    return i;
}
"""
COUNT = """int f(unsigned char b, int c, int n) {
    while (b != 3) { b = b + 5; c += 2; if (c > n) return c - 1; }
    return b + c;
}
"""
DOWN = """long f(long mod, int div) {
    while (mod > div) { mod -= 7; if (mod < -100) return mod; }
    return mod;
}
"""
SEVERAL = STEP + STEP.replace("f(", "g(").replace("i + 2", "i + 3") + COUNT.replace("f(", "h(")
JUMPING = "int f(int n) { if (n > 5) goto in; while (n > 0) { n--; in: n--; } return n; }\n"


def points(variables: list[Var], seed: int) -> list[dict[Var, int]]:
    chance = random.Random(seed)
    small = [-1, 0, 1, 2, 3, 7, 100]

    def values(var: Var) -> int:
        low, high = var.type.min, var.type.max
        assert low is not None and high is not None
        fit = [value for value in (*small, low, low + 1, high - 2, high - 1, high) if low <= value <= high]
        return chance.choice([*fit, chance.randint(low, high), chance.randint(max(low, -20), min(high, 20))])

    return [{var: values(var) for var in variables} for _ in range(80)]


def number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def ask(document: str, questions: list[str], sort: str) -> list[object]:
    """The values of closed expressions in a document."""
    script = document + "".join(
        f"(declare-const q{k} {sort})(assert (= q{k} {text}))\n" for k, text in enumerate(questions)
    )
    solver = z3.Solver()
    solver.from_string(script)
    assert solver.check() == z3.sat
    model = solver.model()
    found = [
        model.eval(z3.Const(f"q{k}", z3.BoolSort() if sort == "Bool" else z3.IntSort())) for k in range(len(questions))
    ]
    return [z3.is_true(value) if sort == "Bool" else value.as_long() for value in found]


def parameters(document: str, name: str) -> list[str]:
    """The parameters of a definition."""
    found = re.search(rf"^\(define-fun {re.escape(name)} \((.*)\) \w+$", document, re.MULTILINE)
    assert found is not None, name
    return re.findall(r"\((\S+|\|[^|]*\|) Int\)", found[1])


def check(answer: LoopAnswer, name: str, document: str) -> None:
    """All that the document says of the loop agrees with the summary, on points."""
    summary = answer.summary
    assert summary is not None
    entry = parameters(document, f"{name}.entry")
    names = {**{symbol(v.name): v for v in summary.paths.state + summary.paths.invariants}}
    variables = [names[text] for text in entry]
    samples = points(variables, len(document))

    def call(part: str, point: Mapping[Var, int], *more: str) -> str:
        return f"({name}{part} {' '.join([*(number(point[v]) for v in variables), *more])})"

    regions: list[tuple[str, Callable[[Mapping[Var, int]], bool]]] = [
        (".diverges", lambda p: holds(summary.diverges, p)),
        (".undefined", lambda p: holds(disjunction(u.when for u in summary.undefined), p)),
        (".residual", lambda p: holds(disjunction(r.when for r in summary.residual), p)),
        (".entry", lambda p: holds(summary.entered, p)),
    ]
    for part, truth in regions:
        assert ask(document, [call(part, p) for p in samples], "Bool") == [truth(p) for p in samples]
    outs = [text for text in parameters(document, name) if text not in entry]
    for index, case in enumerate(summary.cases, start=1):
        inside = [holds(case.when, p) for p in samples]
        assert ask(document, [call(f".case{index}.when", p) for p in samples], "Bool") == inside
        times = ask(document, [call(f".case{index}.iterations", p) for p in samples], "Int")
        assert times == [evaluate(case.iterations, p) for p in samples]
        known = {f"|{symbol(v.name)}'|": term for v, term in summary.known(case).items()}
        if case.result is not None:
            known["|return'|"] = case.result
        right, wrong, loop = [], [], []
        for p in samples:
            values = {out: evaluate(known[out], p) if out in known else 5 for out in outs}
            right.append(call(f".case{index}.effect", p, *map(number, values.values())))
            loop.append(call("", p, *map(number, values.values())))
            broken = {out: value + (1 if out in known else 0) for out, value in values.items()}
            wrong.append(call(f".case{index}.effect", p, *map(number, broken.values())))
        assert all(ask(document, right, "Bool"))
        assert not known or not any(ask(document, wrong, "Bool"))
        held = ask(document, loop, "Bool")
        entered = [holds(summary.entered, p) for p in samples]
        for value, here, there in zip(held, inside, entered, strict=True):
            assert value if here and there else there or not value


ENTERED = """signed char f(signed char n) { signed char step = 3; signed char s = n; int k = 0;
while (k < 12 && (step < 5 || s > 90) && (n & 4)) { n += step + 2; k++; } return n; }"""


def test_what_is_known_where_the_loop_is_entered_is_said() -> None:
    (answer,) = answers(ENTERED)
    assert answer.summary is not None
    assert answer.complete
    assert {str(part) for part in conjuncts(answer.summary.entered)} == {"k == 0", "step == 3"}
    check(answer, "f_2", smtlib([answer]))
    assert "  entered only with k == 0 && step == 3\n" in summaries([answer])
    assert [part["text"] for part in loop(answer)["entered"]] == ["k == 0", "step == 3"]


@pytest.mark.parametrize("source", [STEP, COUNT, DOWN], ids=["step", "count", "down"])
def test_z3_finds_what_the_summary_says(source: str) -> None:
    (answer,) = answers(source)
    check(answer, "f_2", smtlib([answer]))


def test_the_relation_is_the_loop() -> None:
    """From each entry the relation has the one exit state that running the loop gives."""
    document = smtlib(answers(STEP))
    solver = z3.Solver()
    solver.from_string(document + "(declare-const i Int)(declare-const x Int)(declare-const o Int)(assert (f_2 i x o))")
    i, x, o = z3.Ints("i x o")
    edge = 2**31
    starts = [
        (0, 0),
        (0, 1),
        (-5, 4),
        (7, 3),
        (edge - 4, edge - 1),
        (edge - 3, edge - 1),
        (-edge, -edge + 9),
        (0, edge),
    ]
    for start, limit in starts:
        value = start
        while value < limit and value < edge:
            value += 2 * max(1, (limit - value) // 2 - 3)
        solver.push()
        solver.add(i == start, x == limit)
        if value >= edge or limit >= edge:
            assert solver.check() == z3.unsat
        else:
            assert solver.check() == z3.sat
            assert solver.model()[o].as_long() == value
            solver.add(o != value)
            assert solver.check() == z3.unsat
        solver.pop()


def test_each_exit_has_its_relation() -> None:
    (answer,) = answers(COUNT)
    document = smtlib([answer])
    ways = {case.exit for case in answer.summary.cases}
    assert len(ways) == 2
    names = parameters(document, "f_2")
    assert names == parameters(document, "f_2.exit1") == parameters(document, "f_2.exit2")
    constants = "".join(f"(declare-const {name} Int)" for name in names)
    both = " ".join(names)
    solver = z3.Solver()
    solver.from_string(
        f"{document}{constants}(assert (distinct (f_2 {both}) (or (f_2.exit1 {both}) (f_2.exit2 {both}))))"
    )
    assert solver.check() == z3.unsat


def test_words_of_the_language_and_several_loops() -> None:
    document = smtlib(answers(SEVERAL))
    for name in ("f_2", "g_6", "h_10"):
        assert parameters(document, f"{name}.entry")
    assert parameters(smtlib(answers(DOWN)), "f_2.entry") == ["div.", "mod."]
    z3.Solver().from_string(document)


def test_a_refused_loop_is_a_comment_with_the_reason() -> None:
    (refused,) = answers(JUMPING)
    lines = smtlib([refused]).splitlines()
    assert [line for line in lines if line and not line.startswith(";")] == [
        "(set-info :smt-lib-version 2.6)",
        "(set-logic ALL)",
    ]
    assert any("L101" in line for line in lines)
    assert "define-fun" in smtlib([refused, *answers(DOWN)])


def test_the_example_of_use_works() -> None:
    document = smtlib(answers(COUNT))
    commands = [line.removeprefix(";   ") for line in document.splitlines() if line.startswith(";   (")]
    assert commands[-1] == "(check-sat)"
    solver = z3.Solver()
    solver.from_string(document + "\n".join(commands[:-1]))
    assert solver.check() == z3.sat


def changed(answer: LoopAnswer, **what: object) -> LoopAnswer:
    assert answer.summary is not None
    first, *rest = answer.summary.cases
    return replace(answer, summary=replace(answer.summary, cases=(replace(first, **what), *rest)))


def test_what_has_no_form_is_a_comment_and_takes_the_relation_with_it() -> None:
    (answer,) = answers(STEP)
    x = next(v for v in answer.summary.paths.invariants if v.name == "x")
    i = next(v for v in answer.summary.paths.state if v.name == "i")
    for what in (
        {"when": equals_zero(bit_and(x, const(6)))},
        {"then": {i: add(i, bit_and(i, const(6)))}},
    ):
        document = smtlib([changed(answer, **what)])
        z3.Solver().from_string(document)
        assert "no form in the theory of integers" in document
        assert "(define-fun f_2 (" not in document
        assert "(define-fun f_2.case2.when" in document
    document = smtlib([changed(answer, iterations=bit_and(x, const(6)))])
    assert "(define-fun f_2 (" in document
    assert "(define-fun f_2.case1.iterations" not in document


def test_no_text_of_the_source_leaves_its_comment() -> None:
    (answer,) = answers(STEP)
    name = 'a\n(assert false)\r(check-sat)\x85"|\u2028;.c'
    evil = replace(answer, loop=replace(answer.loop, name=name, function="f|)\n"), granted=("x\n(assert false)",))
    document = smtlib([evil])
    assert all(line.startswith((";", "(", " ")) or not line for line in document.splitlines())
    solver = z3.Solver()
    solver.from_string(document)
    assert solver.check() == z3.sat
    assert not solver.assertions()


def test_exits_that_are_no_runs_are_not_in_the_relation() -> None:
    (answer,) = answers(STEP)
    document = smtlib([changed(answer, when=TRUE, exit=Exit("assumption", 2, "b"))])
    solver = z3.Solver()
    solver.from_string(document + "(assert (f_2 5 3 5))")  # only the first case, where no iteration is taken
    assert solver.check() == z3.unsat


def test_symbols_are_distinct_and_legal() -> None:
    strange = ["mod", "x#2", "let", "a'b", "nondet_int()'1", "s[3].f", "é", "a|b\\c", "_", "x"]
    shown = [symbol(name) for name in strange]
    assert len(set(shown)) == len(strange)
    for text in shown:
        solver = z3.Solver()
        solver.from_string(f"(declare-const {text} Int)(assert (> (mod {text} 3) (div 4 2)))")
    assert smt(add(Var("mod", INTEGERS), const(-1))) == "(- mod. 1)"


def test_long_expressions_are_written_with_names_for_their_parts() -> None:
    x = Var("x", INTEGERS)
    term: Term = x
    for k in range(2, 40):
        term = minimum(mod(add(term, const(k)), const(2**k + 1)), add(term, const(1)))
    text = smt(term)
    assert text is not None
    assert len(text) < 10_000
    for value in (-(10**12), -1, 0, 77, 10**12):
        solver = z3.Solver()
        solver.add(z3.Int("x") == value)
        solver.from_string(f"(declare-const x Int)(assert (not (= {text} {evaluate(term, {x: value})})))")
        assert solver.check() == z3.unsat


def test_loops_of_one_place_get_names_of_their_own() -> None:
    (answer,) = answers(STEP)
    document = smtlib([answer, answer, replace(answer, loop=replace(answer.loop, column=99)), answer])
    defined = re.findall(r"^\(define-fun (\S+)", document, re.MULTILINE)
    assert len(set(defined)) == len(defined)
    z3.Solver().from_string(document)


READING = {
    "find": ("int find(const int *a, int n, int x) { int i = 0; while (i < n && a[i] != x) i++; return i; }", 4),
    "sum": ("int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }", 4),
    "count": ("int count(const int *a, int n) { int c = 0; for (int i = 0; i < n; i++) if (a[i] > 2) c++; return c; }", 4),
    "last": ("int last(const int *a, int n) { int r = -1; for (int i = 0; i < n; i++) if (a[i] > 2) r = i; return r; }", 4),
    "most": ("int most(const int *a, int n) { int m = 2; for (int i = 0; i < n; i++) if (a[i] > m) m = a[i]; return m; }", 4),
    "hash": ("unsigned hash(const unsigned char *a, int n) { unsigned h = 7; for (int i = 0; i < n; i++) h = h * 33 + a[i]; return h; }", 1),
    "adler": ("unsigned adler(const unsigned char *a, int n) { unsigned x = 1, y = 0; for (int i = 0; i < n; i++) {"
              " x = (x + a[i]) % 7; y = (y + x) % 7; } return y * 8 + x; }", 1),
    "in_a_row": ("int in_a_row(const int *a, int n) { int c = 0; for (int i = 0; i < n; i++) { int k = 0; while (k < 2 && a[k] == a[i]) k++;"
                 " c += k; } return c; }", 4),
}  # fmt: skip
CONTENT = (1, 5, 2, 5, 0, 3)


def after_four(name: str) -> dict[str, int]:
    """What the variables are behind a loop over the first four elements, from what the functions begin with."""
    first = CONTENT[:4]
    h, x, y = 7, 1, 0
    for element in first:
        h, x = (h * 33 + element) % 2**32, (x + element) % 7
        y = (y + x) % 7
    return {
        "find": {"i": 1},
        "sum": {"s": 13},
        "count": {"c": 2},
        "last": {"r": 3},
        "most": {"m": 5},
        "hash": {"h": h},
        "adler": {"x": x, "y": y},
        "in_a_row": {"c": 1},  # only the first element is one of a row, of itself
    }[name]


@pytest.mark.parametrize("name", READING)
def test_what_loops_read_are_functions(name: str) -> None:
    """With what is read given, the relation has the values of a run, and no others."""
    source, size = READING[name]
    answer = answers(source)[0]
    script = smtlib([answer])
    line = next(line for line in script.splitlines() if line.startswith("(declare-fun |"))
    element = line[len("(declare-fun ") : line.index(" (Int)")]
    given = "".join(f"(assert (= ({element} {size * at}) {value}))" for at, value in enumerate(CONTENT))
    begins = {"n": 4, "x": 1 if name == "adler" else 5, "m": 2, "h": 7, "r": -1}
    head = next(line for line in script.splitlines() if line.startswith(f"(define-fun {name}_1 ("))
    parameters = re.findall(r"\((\|[^|]*\||[^ ()]+) Int\)", head)
    exits = {p.strip("|'"): p for p in parameters if p.endswith("'|")}
    expected = after_four(name)
    assert expected.keys() <= exits.keys()

    def possible(wanted: Mapping[str, int]) -> bool:
        constants = "".join(f"(declare-const {p} Int)" for p in parameters)
        entry = "".join(f"(assert (= {p} {smt(const(begins.get(p, 0)))}))" for p in parameters if not p.endswith("'|"))
        exit = "".join(f"(assert (= {exits[p]} {smt(const(value))}))" for p, value in wanted.items())
        solver = z3.Solver(ctx=z3.Context())  # recursive functions stay defined in theirs
        solver.set("timeout", 20_000)
        solver.from_string(f"{script}{given}{constants}{entry}{exit}(assert ({name}_1 {' '.join(parameters)}))")
        result = solver.check()
        assert result != z3.unknown
        return result == z3.sat

    assert possible(expected)
    for changed_one, value in expected.items():
        assert not possible({**expected, changed_one: value + 1})


def test_facts_about_what_is_read_are_found_by_solvers() -> None:
    """However long the array is, the search ends inside and before it nothing is what is searched."""
    (answer,) = answers(READING["find"][0])
    script = smtlib([answer])

    def excluded(what: str) -> bool:
        solver = z3.Solver(ctx=z3.Context())
        solver.set("timeout", 20_000)
        constants = " ".join(f"(declare-const {name} Int)" for name in ("i", "n", "x", "|i'|"))
        solver.from_string(f"{script}{constants}(assert find_1.facts)(assert (find_1 i n x |i'|)){what}")
        return solver.check() == z3.unsat

    element = "|find_1.a: signed 32|"
    assert excluded("(assert (< |i'| i))")
    assert excluded("(assert (and (<= i n) (> |i'| n)))")
    assert excluded(f"(assert (and (< |i'| n) (distinct ({element} (* 4 |i'|)) x)))")
    assert excluded(f"(assert (and (= i 0) (> |i'| 2) (= ({element} (* 4 2)) x)))")


def test_a_search_without_an_end_is_axioms() -> None:
    (answer,) = answers("int in(void); int f(int x) { while (in() != 5) x = !x; return x; }")
    script = smtlib([answer])
    assert "declare-fun |f_1.earliest" in script
    stream = next(line for line in script.splitlines() if line.startswith("(declare-fun |f_1.in()"))
    name = stream[len("(declare-fun ") : stream.index(" (Int)")]
    solver = z3.Solver(ctx=z3.Context())
    solver.from_string(
        f"{script}(declare-const x Int)(assert f_1.facts)(assert (f_1.diverges x))(assert (= ({name} 3) 5))"
    )
    assert solver.check() == z3.unsat


BOUNDED = """int f(unsigned x) { int n = 0; while (x) { x &= x - 1; n++; } return n; }
unsigned g(unsigned a, unsigned b) { while (b) { unsigned t = a % b; a = b; b = t; } return a; }
"""


def test_bounds_stand_beside_a_summary_that_is_not_exact() -> None:
    """Z3 finds no more than 32 bits, and no fewer iterations than native ones: Fibonacci numbers take the most."""
    text = smtlib(answers(BOUNDED, approximate=True))
    bits, steps = "(f_1.bound1.iterations n x)", "(g_2.bound1.iterations a b)"
    declared = "".join(f"(declare-const {name} Int)" for name in "nxab")
    within = "(assert (and (f_1.entry n x) (f_1.bound1.when n x) (g_2.entry a b) (g_2.bound1.when a b)))"

    def holds_with(more: str) -> bool:
        asked = z3.Solver()
        asked.from_string(text + declared + within + more)
        return asked.check() == z3.sat

    assert not holds_with(f"(assert (> {bits} 32))")
    assert not holds_with(f"(assert (= x 4294967295)) (assert (< {bits} 32))")
    assert not holds_with(f"(assert (= a 1836311903)) (assert (= b 1134903170)) (assert (< {steps} 43))")
    assert holds_with(f"(assert (< {steps} 100))")


def test_an_exact_summary_needs_no_bounds() -> None:
    assert ".bound1" not in smtlib(answers(STEP, approximate=True))
