"""What memory holds behind loops, as text, JSON, HTML and SMT-LIB."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from importlib.resources import files

import jsonschema
import z3

from answers_in_c import answers
from contents_by_hand import BYTE, INT, J, answer, row
from loopless import terms as t
from loopless.queries.functions import FunctionAnswer
from loopless.queries.loops.answer import LoopAnswer
from loopless.report.contents import only_index, shown_layers
from loopless.report.json_report import loop as loop_json
from loopless.report.names import Names
from loopless.report.shown import page
from loopless.report.smtlib import smtlib
from loopless.report.text import TextLayout, summaries
from loopless.summary import CallSummary, FunctionCase, SummaryInput
from loopless.terms.contents import reader_behind

COPY = "void f(int *a, const int *b, int n) { for (int i = 0; i < n; i++) a[i] = b[i]; }\n"
OTHERS = """struct part { int x, y; };
struct line { int length; char text[16]; };
struct line held;
"""
Variables = Mapping[str, t.Var]


def lines(found: LoopAnswer) -> list[str]:
    """The lines with a prime, and those of what is not told."""
    shown = summaries([found], TextLayout(all_states=True)).splitlines()
    return [line.strip() for line in shown if "'[" in line or "' +" in line or "not told" in line or "held." in line]


def told(source: str, *layers: t.Layer, of: str = "a") -> list[str]:
    return lines(answer(source, lambda _: {of: layers}))


AT, N = (t.Var(name, INT) for name in "in")


def test_a_layer_is_a_line_of_the_case():
    assert told(COPY, row(2 * t.read("b", 4 * J, INT), J.ge(AT) & J.lt(N))) == ["a'[j] = 2*b[j] for i <= j < n"]


def test_elements_count_from_the_beginning_of_the_array():
    layer = row(t.read("b", 4 * (J + AT), INT), J.ge(0) & J.lt(N - AT), 4 * AT + 8)
    assert told(COPY, layer) == ["a'[j] = b[j - 2] for i + 2 <= j < n + 2"]


def test_bounds_are_those_of_c():
    def shown(where: t.Condition) -> str:
        (line,) = told(COPY, row(t.ZERO, where))
        return line.removeprefix("a'[j] = 0 ")

    assert shown(J.ge(0) & J.le(N)) == "for 0 <= j <= n"
    assert shown(J.gt(AT) & J.lt(10)) == "for i < j < 10"
    assert shown(J.ge(AT - 1) & J.le(N + 2)) == "for i - 1 <= j < n + 3"
    assert shown(J.ge(0)) == "for j >= 0"
    assert shown(J.ge(0) & (2 * J).lt(N)) == "for 0 <= 2*j < n"
    assert shown((2 * J).ge(N) & J.lt(N)) == "for n <= 2*j && j < n"
    assert shown((J.ge(AT) & J.lt(N)) | (J.ge(N + 2) & J.lt(N + 9))) == "for i <= j < n or n + 2 <= j < n + 9"


def test_one_element_is_told_without_its_row():
    assert told(COPY, row(t.const(5), J.eq(2))) == ["a'[2] = 5"]
    assert told(COPY, row(J + 1, J.eq(N))) == ["a'[n] = n + 1"]
    assert told(COPY, row(t.ZERO, J.eq(0) & N.gt(7), 4 * N)) == ["a'[n] = 0 if n >= 8"]


def test_newer_layers_are_told_first_and_others_are_else():
    fill = row(t.ZERO, J.ge(AT) & J.lt(N))
    assert told(COPY, row(t.const(5), J.eq(2)), fill) == ["a'[2] = 5", "else a'[j] = 0 for i <= j < n"]
    assert told(COPY, row(t.const(5), J.eq(N)), fill) == ["a'[n] = 5", "a'[j] = 0 for i <= j < n"]


def test_what_is_not_told_says_where():
    assert told(COPY, row(None, J.ge(AT) & J.lt(N))) == ["not told: a'[j] for i <= j < n"]
    assert told(COPY, row(None, J.eq(N))) == ["not told: a'[n]"]
    assert told(COPY, t.Layer(BYTE, t.ZERO, 1, J.ge(0) & J.lt(6), None)) == ["not told: byte j of a for 0 <= j < 6"]
    numbers = "void f(double *a, int n) { for (int i = 0; i < n; i++) a[i] = n; }\n"
    layer = t.Layer(t.IntType(64), t.ZERO, 8, J.ge(AT) & J.lt(N), None)
    assert told(numbers, layer) == ["not told: a'[j] for i <= j < n"]
    one, all_others = row(t.ONE, J.eq(0)), t.Layer(BYTE, t.ZERO, 1, t.TRUE, None)
    assert told(COPY, one, all_others) == ["a'[0] = 1", "else not told: a[]"]


def test_the_index_has_a_name_that_nothing_else_has():
    source = "void f(int *a, int *j, int n) { for (int i = 0; i < n; i++) a[i] = j[i]; }\n"
    assert told(source, row(t.ZERO, J.ge(AT) & J.lt(N))) == ["a'[k] = 0 for i <= k < n"]
    position = t.position()
    prefix = t.total(position, J + 1, t.read("j", 4 * position, INT))
    assert told(source, row(prefix, J.ge(AT) & J.lt(N))) == ["a'[k] = sum(k1 <= k: j[k1]) for i <= k < n"]


def test_members_of_structures_have_their_names():
    source = OTHERS + "void f(struct part *p, int n) { for (int i = 0; i < n; i++) p[i].y = p[i].x; }\n"
    layer = row(t.read("p", 8 * J, INT), J.ge(AT) & J.lt(N), t.const(4), stride=8)
    assert told(source, layer, of="p") == ["p'[j].y = p[j].x for i <= j < n"]
    source = OTHERS + "void f(struct line *p, int n) { for (int i = 0; i < n; i++) p->text[i] = p->length; }\n"
    layer = t.Layer(t.IntType(8), t.ZERO, 1, J.ge(AT + 4) & J.lt(N + 4), J - AT)
    assert told(source, layer, of="p") == ["p->text'[j] = j - i + 4 for i <= j < n"]


def test_elements_of_rows_count_from_the_row():
    source = "int m[9][4]; void f(int n) { for (int i = 0; i < n; i++) m[2][i] = n; }\n"
    assert told(source, row(N, J.ge(AT + 8) & J.lt(N + 8)), of="m") == ["m'[2][j] = n for i <= j < n"]


def test_elements_of_several_rows_have_all_their_indices():
    source = "int m[9][4]; void f(int n) { for (int i = 0; i < n; i++) m[2][i] = n; }\n"
    assert told(source, row(N, J.ge(0) & J.lt(36)), of="m") == ["m'[j / 4][j % 4] = n for 0 <= j < 36"]
    assert told(source, row(J, J.ge(8) & J.lt(16)), of="m") == ["m'[(j / 4) + 2][j % 4] = j + 8 for 0 <= j < 8"]
    source = "int m[3][4][5]; void f(int n) { for (int i = 0; i < n; i++) m[2][1][i] = n; }\n"
    shown = told(source, row(N, J.ge(0) & J.lt(60)), of="m")
    assert shown == ["m'[j / 20][(j / 5) % 4][j % 5] = n for 0 <= j < 60"]


def test_remainders_of_an_index_that_is_not_negative_are_those_of_c():
    even = t.mod(J, t.const(2)).eq(0)
    assert told(COPY, row(J, J.ge(0) & J.lt(N) & even)) == ["a'[j] = j for 0 <= j < n && j % 2 == 0"]
    (shown,) = told(COPY, row(t.mod(J, t.const(3)), J.ge(AT) & J.lt(N)))
    assert shown == "a'[j] = mod(j, 3) for i <= j < n"  # i may be negative


def test_what_is_no_element_as_declared_is_told_by_its_bytes():
    layer = t.Layer(t.IntType(16), t.const(2), 3, J.ge(AT) & J.lt(N), t.ONE)
    assert told(COPY, layer) == ["*(int16_t *)((char *)a' + (3*j + 2)) = 1 for i <= j < n"]


def test_values_are_of_the_declared_type():
    """-1 written into unsigned characters is 255 there."""
    source = "void f(unsigned char *a, int n) { for (int i = 0; i < n; i++) a[i] = 255; }\n"
    assert told(source, t.Layer(t.IntType(8), t.ZERO, 1, J.ge(AT) & J.lt(N), t.const(-1))) == [
        "a'[j] = 255 for i <= j < n"
    ]


def test_inputs_are_counted_from_where_the_loop_begins():
    source = "int __VERIFIER_nondet_int(void);\n" + COPY.replace("b[i]", "__VERIFIER_nondet_int()")
    (found,) = answers(source)
    assert "a'[j] = nondet()[j - i] for i <= j < n" in lines(found)


def test_functions_tell_of_memory_what_loops_do():
    layers = {"a": (row(N, J.ge(0) & J.lt(N)),), "b": (t.Layer(BYTE, t.ZERO, 1, t.TRUE, None),)}
    case = FunctionCase(t.TRUE, "return", 3, None, "", {}, {}, (), (), (), contents=layers)
    inputs = (SummaryInput(N, "parameter"),)
    found = FunctionAnswer("f", "a.c:1:1", CallSummary("f", "a.c:1:1", (), inputs, (case,), (), (), (), (), {N: "n"}))
    shown = [line.strip() for line in str(found).splitlines()]
    assert "*(int32_t *)((char *)a' + 4*j) = n for 0 <= j < n" in shown
    assert "not told: b[]" in shown  # no line below says so
    assert [layer["array"] for layer in found.to_dict()["cases"][0]["contents"]] == ["a", "b"]
    assert "not told: b[]" in (page(found) or "")


def test_json_has_the_layers_and_fits_the_schema():
    schema = json.loads(files("loopless.report").joinpath("schema.json").read_text(encoding="utf-8"))
    first, second = row(None, J.eq(0)), row(2 * t.read("b", 4 * J, INT), J.ge(AT) & J.lt(N))
    fields = loop_json(answer(COPY, lambda _: {"a": (first, second)}))
    jsonschema.validate(fields, {**schema["$defs"]["loop"], "$defs": schema["$defs"]})
    kept, changed = fields["cases"]
    assert kept["contents"] == []
    newer, older = changed["contents"]
    assert (newer["value"], newer["under"], older["under"]) == (None, False, True)
    assert (older["array"], older["element"], older["index"], older["stride"]) == ("a", "a'[j]", "j", 4)
    assert (older["type"], older["width"], older["signed"]) == ("int32_t", 32, True)
    assert (older["start"]["text"], older["where"]["text"]) == ("0", "j < n && i <= j")
    assert older["value"]["text"] == "2*b[j]"
    assert older["value"]["reads"][0]["element"] == "b[]"
    assert any(group.get("contents") == changed["contents"] for group in fields["merged"])


def test_json_has_no_contents_where_nothing_is_told_of_memory():
    (found,) = answers("int f(int n) { int i = 0; while (i < n) i++; return i; }\n", merge=True)
    assert all("contents" not in case for case in (*loop_json(found)["cases"], *loop_json(found)["merged"]))


def test_a_page_has_the_lines():
    shown = page(answer(COPY, lambda _: {"a": (row(t.ZERO, J.ge(AT) & J.lt(N)),)}))
    assert shown is not None
    assert "a&#x27;[j] = 0 for i &lt;= j &lt; n" in shown


def test_the_only_index_is_found_and_where_it_is():
    assert only_index(J.eq(3)) == (t.const(3), t.TRUE)
    assert only_index(J.eq(N) & N.gt(2)) == (N, N.gt(2))
    assert only_index((2 * J).eq(N)) is None
    assert only_index(J.ge(3)) is None


# -- SMT-LIB ----------------------------------------------------------------------------------------------------------


def before(array: str, offset: int, type: t.IntType) -> int:
    return type.wrap(1000 * len(array) + 17 * offset + ord(array[0]))


def smt_value(document: str, name: str, arguments: list[int], memory: Mapping[str, str]) -> int:
    """The value of a function of the document where reads are these functions of ``x``."""
    solver = z3.Solver()
    for read, body in memory.items():
        declared = f"(declare-fun {read} (Int) Int)"
        assert declared in document
        document = document.replace(declared, f"(define-fun {read} ((x Int)) Int {body})")
    shown = " ".join(str(value) if value >= 0 else f"(- {-value})" for value in arguments)
    solver.from_string(f"{document}\n(declare-const found Int)\n(assert (= found ({name} {shown})))")
    assert solver.check() == z3.sat
    return solver.model()[z3.Int("found")].as_long()


def test_z3_finds_the_elements_that_the_contents_have():
    """Four layers, one under the other, of a plain array; the judge is the evaluation of the contents."""

    def contents(v: Variables) -> t.Contents:
        i, n = v["i"], v["n"]
        return {
            "a": (
                row(t.const(5), J.eq(2)),
                row(t.const(9), J.eq(0) & n.gt(7), 4 * n),
                row(2 * t.read("b", 4 * J, INT) + i, J.ge(0) & J.lt(n), stride=8),
                row(J, J.ge(i) & J.lt(n)),
            )
        }

    found = answer(COPY, contents)
    document = smtlib([found])
    assert found.summary is not None
    reader_of = {number: case.contents for number, case in enumerate(found.summary.cases, 1)}
    variables = {var.name: var for var in (*found.summary.paths.state, *found.summary.paths.invariants)}
    memory = {"|f_1.a: signed 32|": "(+ 1097 (* 17 x))", "|f_1.b: signed 32|": "(+ 1098 (* 17 x))"}
    (number,) = (number for number, told_of in reader_of.items() if told_of)
    chance = random.Random(5)
    for _ in range(25):
        i, n, at = chance.randint(-2, 4), chance.randint(4, 12), chance.randint(-3, 20)
        held = reader_behind(reader_of[number] or {}, {variables["i"]: i, variables["n"]: n}, before)
        assert smt_value(document, f"|f_1.case{number}.a'[j]|", [i, n, at], memory) == held("a", 4 * at, INT)


def test_z3_proves_of_a_fill_what_it_does():
    """A proof for all entry values and elements: inside the row all are x, outside all are as before."""
    (found,) = answers("void f(int *a, int n, int x) { for (int i = 0; i < n; i++) a[i] = x; }\n")
    assert found.summary is not None
    (number,) = (number for number, case in enumerate(found.summary.cases, 1) if case.contents)
    element, read = f"(|f_1.case{number}.a'[j]| i n x j)", "(|f_1.a: signed 32| (* 4 j))"
    claim = f"(= {element} (ite (and (<= i j) (< j n)) x {read}))"
    solver = z3.Solver()
    constants = "".join(f"(declare-const {name} Int)" for name in "inxj")
    solver.from_string(f"{smtlib([found])}\n{constants}(assert (f_1.case{number}.when i n x))(assert (not {claim}))")
    assert solver.check() == z3.unsat


def test_smtlib_says_what_has_no_function():
    fill, bytes_of_it = row(t.ZERO, J.ge(AT) & J.lt(N)), t.Layer(BYTE, t.ONE, 3, J.ge(AT) & J.lt(N), t.ONE)
    document = smtlib([answer(COPY, lambda _: {"a": (bytes_of_it, fill)})])
    assert "is not told: elements lie across one another" in document
    z3.Solver().from_string(document)


def test_smtlib_leaves_open_what_is_not_told():
    """Some value: both 1 and 2 are possible where a layer has none; elsewhere it is the one before."""
    found = answer(COPY, lambda _: {"a": (row(None, J.eq(3)),)})
    assert found.summary is not None
    (number,) = (number for number, case in enumerate(found.summary.cases, 1) if case.contents)
    document = smtlib([found])
    for index, value, expected in ((3, 1, z3.sat), (3, 2, z3.sat), (4, 1, z3.unsat)):
        solver = z3.Solver()
        claim = f"(= (|f_1.case{number}.a'[j]| 0 5 {index}) {value})"
        solver.from_string(f"{document}\n(assert (= (|f_1.a: signed 32| 16) 7))(assert {claim})")
        assert solver.check() == expected


def test_shown_layers_mean_the_same():
    """Moved to where the array begins, with another index: each element holds the same."""
    layers = (row(J + AT, J.ge(0) & J.lt(N), 16 * AT + 4),)
    found = answer(COPY, lambda _: {"a": layers})
    shown = tuple(one.layer for one in shown_layers({"a": layers}, t.TRUE, Names(found)))
    assert shown[0].start is t.ZERO
    one, other = (reader_behind({"a": some}, {AT: 3, N: 4}, before) for some in (layers, shown))
    assert [one("a", at, INT) for at in range(120)] == [other("a", at, INT) for at in range(120)]
