"""The judge of certificates: it accepts invariants that are right by reasoning, and nothing that was made wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import z3

from loopless import terms as t
from loopless.check.certificates.document import FORMAT, VERSION, Subject, document_of, judged_document
from loopless.check.certificates.formulas import condition_of, symbols_of, term_of
from loopless.check.certificates.judge import CertifiedClaim, judged, judged_recurrent
from loopless.check.certificates.property import Follows, Property, violates
from loopless.check.certificates.theories import Bits, Integers
from loopless.errors import SourceError, UsageError
from loopless.source import SourceOptions
from loopless.terms import INTEGERS, Valuation, Var
from loopless.transition.building import cutpoints_of
from programs_in_c import HEAD, graph, program

SOURCES = Path(__file__).resolve().parents[2] / "src"
TWO_PHASES = "int main(void) { int x = 0, y = 50; while (x < 100) { x++; if (x > 50) y++; } if (y != 100) reach_error(); return y; }"
PHASES = ("(<= 0 x)", "(<= x 100)", "(=> (<= x 50) (= y 50))", "(=> (>= x 50) (= y x))")
"""What holds at the loop of it: nothing of this can be left out but the first one, which only excludes overflow."""
NEST = """int main(void) {
    int n = __VERIFIER_nondet_int(), c = 0;
    if (n < 0 || n > 1000) return 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            c++;
    if (c > n * n) reach_error();
    return 0;
}"""
OUTER = ("(<= 0 i)", "(<= i n)", "(<= 0 n)", "(<= n 1000)", "(<= (* 2 c) (* i (- i 1)))")
INNER = ("(<= 0 j)", "(<= j i)", "(<= 0 i)", "(< i n)", "(<= n 1000)", "(<= (* 2 c) (+ (* i (- i 1)) (* 2 j)))")
DOWN = "int main(void) { int n = __VERIFIER_nondet_int(); while (n > 0) n = n - 2; return n; }"
PAIR = "int main(void) { int x = __VERIFIER_nondet_int(), y = 7; while (x > 0) { if (y > 0) y--; else { x--; y = __VERIFIER_nondet_int(); } } return 0; }"


def cuts(source):
    return [loop.header for loop in graph(source).loops]


def judgement(source, *conjuncts, ranks=None, property_=Property.UNREACH_CALL):
    """What the judge says of these at the loops of the program, in their order."""
    labels = cuts(source)
    claim = CertifiedClaim(
        dict(zip(labels, conjuncts, strict=True)), None if ranks is None else dict(zip(labels, ranks, strict=True))
    )
    return judged(graph(source), claim, violates(property_), Follows(property_, program(source).module))


def test_an_inductive_invariant_is_accepted():
    found = judgement(TWO_PHASES, PHASES)
    assert (found.accepted, found.failed, found.undefined) == (True, (), ())
    assert found.questions > 4


@pytest.mark.parametrize("left_out", range(1, len(PHASES)))
def test_without_a_conjunct_that_is_needed_it_is_refused(left_out):
    found = judgement(TWO_PHASES, [text for index, text in enumerate(PHASES) if index != left_out])
    assert not found.accepted
    assert found.failed


def test_a_conjunct_that_only_excludes_overflow_is_needed_for_that():
    """Nothing is above x but its limit; from far below, y would be 50 for long."""
    without = judgement(TWO_PHASES, PHASES[1:])
    assert without.accepted
    overflowing = judgement(TWO_PHASES, ("(>= y 0)",), property_=Property.NO_OVERFLOW)
    assert not overflowing.accepted
    assert judgement(TWO_PHASES, ("(<= 0 x)", "(<= y (+ x 50))"), property_=Property.NO_OVERFLOW).accepted


WRONG = [
    (0, "(>= 0 x)", "a relation the other way"),
    (0, "(< 0 x)", "not at first"),
    (1, "(< x 100)", "not at the end"),
    (1, "(<= x 99)", "a constant less"),
    (1, "(<= x 101)", "a constant more, which is not enough"),
    (2, "(=> (<= x 51) (= y 50))", "a border moved"),
    (2, "(=> (<= x 50) (= y 51))", "a value moved"),
    (3, "(=> (>= x 50) (= y (+ x 1)))", "one too much"),
    (3, "(=> (>= x 50) (>= y x))", "an inequality, which is not enough"),
    (3, "(= y x)", "without its condition"),
    (3, "(=> (> x 50) (distinct y x))", "negated"),
    (3, "true", "nothing"),
]


@pytest.mark.parametrize(("place", "text"), [case[:2] for case in WRONG], ids=[case[2] for case in WRONG])
def test_what_was_changed_is_refused(place, text):
    changed = [text if index == place else own for index, own in enumerate(PHASES)]
    assert not judgement(TWO_PHASES, changed).accepted


@pytest.mark.parametrize(
    "other",
    [TWO_PHASES.replace("x > 50", "x > 49"), TWO_PHASES.replace("y = 50", "y = 51"), TWO_PHASES.replace("x < 100", "x <= 100"),
     TWO_PHASES.replace("y != 100", "y == 100"), TWO_PHASES.replace("y++", "y += 2")],
)  # fmt: skip
def test_of_another_program_it_is_refused(other):
    assert not judgement(other, PHASES).accepted


def test_what_is_false_everywhere_is_not_initiated():
    found = judgement(TWO_PHASES, ("false",))
    assert not found.accepted
    assert any("from the beginning" in text for text in found.failed)


def test_a_nest_has_an_invariant_for_each_loop():
    assert judgement(NEST, OUTER, INNER).accepted
    assert not judgement(NEST, OUTER, INNER[:-1]).accepted
    assert not judgement(NEST, OUTER[:-1], INNER).accepted
    assert not judgement(NEST, [*OUTER[:-1], "(<= c (* i (- i 2)))"], INNER).accepted


@pytest.mark.parametrize("missing", [0, 1])
def test_each_cycle_needs_a_cutpoint(missing):
    label = cuts(NEST)[1 - missing]
    claim = CertifiedClaim({label: (OUTER, INNER)[1 - missing]})
    check = violates(Property.UNREACH_CALL), Follows(Property.UNREACH_CALL, program(NEST).module)
    if missing == 0:  # all cycles go through the header of the inner loop
        assert judged(graph(NEST), claim, *check).accepted
    else:
        with pytest.raises(UsageError, match="no invariant on the cycle"):
            judged(graph(NEST), claim, *check)
    with pytest.raises(UsageError, match="no invariant on the cycle"):
        judged(graph(NEST), CertifiedClaim({}), *check)
    with pytest.raises(UsageError, match="no place of the program"):
        judged(graph(NEST), CertifiedClaim({"nowhere": ("true",)}), *check)


MALFORMED = [
    "(<= 0 z)", "(<= 0 x", "<= 0 x)", "(<= 0)", "(<= x)", "", "x", "(+ x 1)", "(foo x 1)", "(and x y)", "(not 3)", "((x))",
    "(<= 0 x) (<= x 1)", "(<= |x 3)", "(let ((a 1) (<= a x))", "(let x (<= 0 x))", "(let ((a)) (<= 0 x))", "(ite true x)",
    "(/ x 2)", "(forall ((k Int)) (<= k x))", "()", "(<= 0 1.5)", "(= (<= 0 x) 1)", "(- )", "(div x)", "(ite (<= 0 x) x true)",
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED)
def test_what_cannot_be_read_is_an_error(text):
    with pytest.raises(UsageError):
        judgement(TWO_PHASES, [*PHASES, text])


def test_expressions_mean_what_smtlib_says():
    x, y = Var("x", INTEGERS), Var("y", INTEGERS)
    symbols = symbols_of({x: None, y: None})
    for a in range(-7, 8):
        for b in (-3, -1, 1, 2):
            here = Valuation({x: a, y: b}, lambda *_: 0)
            quotient = here.evaluate(term_of("(div x 3)", symbols))
            assert 0 <= a - 3 * quotient < 3
            assert here.evaluate(term_of("(mod x 3)", symbols)) == a - 3 * quotient
            assert here.evaluate(term_of("(- (* x y y) 2 x)", symbols)) == a * b * b - 2 - a
            assert here.evaluate(term_of("(ite (< x y) (- x) (let ((k (+ x 1))) (* k k)))", symbols)) == (
                -a if a < b else (a + 1) ** 2
            )
            assert here.holds(
                condition_of("(=> (and (> x 0) (not (= y 2))) (or (distinct x 3) (>= y 1)))", symbols)
            ) == (not (a > 0 and b != 2) or (a != 3 or b >= 1))


GCD = """extern unsigned __VERIFIER_nondet_uint(void);
int main(void) {
    unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
    unsigned x = a, y = b, u = b, v = a;
    while (1) {
        if (x * u + y * v != 2 * a * b) reach_error();
        if (x == y) break;
        if (x > y) { x = x - y; v = v + u; } else { y = y - x; u = u + v; }
    }
    return 0;
}"""


@pytest.mark.parametrize(("right", "accepted"), [("(* 2 a b)", True), ("(+ 1 (* 2 a b))", False)])
def test_products_that_wrap_around_are_judged_as_polynomials(right, accepted):
    """Products of values that wrap around are much for a solver; modulo a power of two they are equal as polynomials."""
    found = judgement(GCD, (f"(= (mod (+ (* u x) (* v y)) 4294967296) (mod {right} 4294967296))",))
    assert found.accepted == accepted


@pytest.mark.parametrize("divisor", [1, 2, 3, 4, 6, 256, 1 << 32])
def test_a_remainder_is_not_negative(divisor):
    x, y = Var("x", INTEGERS), Var("y", INTEGERS)
    term = term_of(f"(mod (+ x (* 3 x y)) {divisor})", symbols_of({x: None, y: None}))
    for a, b in ((0, 0), (-1, 5), (7, -9), (-(1 << 31), 3), (5, 1 << 40)):
        assert Valuation({x: a, y: b}, lambda *_: 0).evaluate(term) == (a + 3 * a * b) % divisor


@pytest.mark.parametrize(
    ("ranks", "accepted"),
    [
        (("(ite (< n 0) 0 n)",), True),
        (("n",), True),
        (("(div (+ n 3) 2)",), True),
        (("(- n)",), False),  # rises
        (("(mod n 2)",), False),  # stays
        (("0",), False),
        (("(- n 2)",), False),  # may have been below 0 before
        (("(- n 1)",), True),  # n is 1 at least in an iteration
    ],
)
def test_a_rank_falls_with_each_iteration_and_was_not_negative(ranks, accepted):
    found = judgement(DOWN, ("true",), ranks=[ranks], property_=Property.TERMINATION)
    assert found.accepted is accepted
    assert accepted or found.failed == (f"from {cuts(DOWN)[0]} to {cuts(DOWN)[0]}: the rank is not shown to fall",)


@pytest.mark.parametrize(
    ("ranks", "accepted"),
    [
        (("x", "y"), True),
        (("y", "x"), False),  # y is drawn anew
        (("(+ x y)",), False),
        (("x",), False),  # while y falls x stays
        (("y",), False),
        (("x", "(+ y 1)"), True),
        (("x", "(- y 1)", "y"), True),  # y - 1 was 0 at least where y fell
        (("x", "(- y 2)"), False),
    ],
)
def test_ranks_are_lexicographic(ranks, accepted):
    assert judgement(PAIR, ("true",), ranks=[ranks], property_=Property.TERMINATION).accepted is accepted


def test_ranks_are_compared_within_a_loop_only():
    """From the first loop to the second one nothing need fall, since no run comes back."""
    source = "int main(void) { int n = __VERIFIER_nondet_int(); if (n > 9) return 0; while (n > 0) n--; while (n > -5) n--; while (n < 7) n++; return 0; }"
    none = ("true",)
    ranks = [("n",), ("(+ n 5)",), ("(- 7 n)",)]
    assert judgement(source, none, none, none, ranks=ranks, property_=Property.TERMINATION).accepted
    assert not judgement(source, none, none, none, ranks=ranks[::-1], property_=Property.TERMINATION).accepted


def without_conjuncts(source):
    """The judgement of nothing at all cutpoints, of calls too."""
    part, property_ = graph(source), Property.UNREACH_CALL
    claim = CertifiedClaim(dict.fromkeys(cutpoints_of(part), ()))
    return judged(part, claim, violates(property_), Follows(property_, program(source).module))


def test_a_call_that_may_violate_is_not_passed_over():
    source = (
        "void f(int n) { if (n > 0) { f(n - 1); f(n - 2); } else reach_error(); } int main(void) { f(5); return 0; }"
    )
    assert not without_conjuncts(source).accepted
    assert without_conjuncts(source.replace(" else reach_error();", "")).accepted


def test_undefined_behaviour_that_is_not_excluded_is_told():
    source = (
        "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 0) x++; if (x > 0) reach_error(); return 0; }"
    )
    found = judgement(source, ("true",))
    assert found.accepted
    assert found.undefined == ("signed-overflow",)


def test_memory_that_is_written_is_any_value():
    source = "int a[2]; int main(void) { int i = 0; while (i < 2) { a[i] = 1; i++; } if (a[0] != 1) reach_error(); return 0; }"
    assert not judgement(source, ("(<= 0 i)", "(<= i 2)")).accepted
    table = "int a[2] = {1, 1}; int main(void) { int i = 0; while (i < 2) { i++; } if (a[0] != 1) reach_error(); return 0; }"
    assert not judgement(table.replace("{1, 1}", "{2, 1}"), ("(<= 0 i)",)).accepted


def test_a_run_ends_where_it_meets_undefined_behaviour():
    found = judgement(
        "int main(void) { int x = __VERIFIER_nondet_int(); int y = 10 / x; if (x == 0) reach_error(); return y; }"
    )
    assert found.accepted
    assert len(found.undefined) == 1
    found = judgement("int main(void) { int x = __VERIFIER_nondet_int(); if (x == 0) reach_error(); return 10 / x; }")
    assert not found.accepted


TWICE = "extern void keep(int *); int a[4] = {{1, 2, 3, 4}}; int main(void) {{ unsigned i = (unsigned)__VERIFIER_nondet_int() % 4; int v = a[i]; {} if (a[i] != v) reach_error(); return 0; }}"


@pytest.mark.parametrize(
    ("between", "accepted"),
    [("", True), ("v = v + 0;", True), ("a[i] = 9;", False), ("a[i / 2] = 9;", False), ("keep(a);", False)],
)
def test_an_element_is_read_twice_as_the_same_where_nothing_writes(between, accepted):
    assert judgement(TWICE.format(between)).accepted is accepted


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("unsigned char h = x >> 4, l = x & 15; if ((unsigned char)((h << 4) | l) != x) reach_error();", True),
        ("unsigned char h = x >> 3, l = x & 15; if ((unsigned char)((h << 4) | l) != x) reach_error();", False),
        ("unsigned char y = x + 100; if ((y & 127) + (y & 128) != y) reach_error();", True),
        ("signed char y = x + 100; if ((y & 127) + (y & 128) != y) reach_error();", False),  # y may be negative
        ("signed char y = x + 100; if ((y & 127) - (y & 128 ? 128 : 0) != y) reach_error();", True),
        ("unsigned s = (unsigned)__VERIFIER_nondet_int() % 4; if ((x >> s) > x) reach_error();", True),
        ("unsigned s = (unsigned)__VERIFIER_nondet_int() % 4; if ((x >> s) >= 128 && s) reach_error();", True),
        ("unsigned s = (unsigned)__VERIFIER_nondet_int() % 4; if ((x >> s) > 63 && s) reach_error();", False),
        ("if (((x | 12) ^ 12) != (x & ~12)) reach_error();", True),
        ("if (((x & 12) ^ 12) != (x & ~12)) reach_error();", False),
    ],
)
def test_bits_of_values(text, accepted):
    source = f"int main(void) {{ unsigned char x = __VERIFIER_nondet_int(); {text} return 0; }}"
    assert judgement(source).accepted is accepted


BITS = "int main(void) { unsigned char x = 1; while (__VERIFIER_nondet_int()) x = (x << 1) | (x & 1); if ((x & 1) == 0) reach_error(); return 0; }"


def test_operations_on_bits_are_judged_as_bits():
    found = judgement(BITS.replace("| (x & 1)", "^ x ^ (x << 1)"), ("(= x 1)",))
    assert found.accepted  # (x << 1) ^ x ^ (x << 1) is x
    assert "bits" in found.theories
    assert not judgement(BITS.replace("| (x & 1)", "^ x"), ("(= x 1)",)).accepted  # 3


ENDLESS = "int main(void) { unsigned x = __VERIFIER_nondet_int(); while (x != 10) { if (__VERIFIER_nondet_int() == 5) x += 2; else x = 10; } return 0; }"


TABLE = """int main(void) {
    static const unsigned char most[8] = {3, 7, 1, 9, 200, 5, 6, 7};
    unsigned x = __VERIFIER_nondet_int() & 255, i = 0;
    while (i < 8 && most[i] < x) i++;
    if (i < 8 && i > 4 && x < %d) reach_error();
    return 0;
}"""


@pytest.mark.parametrize(("least", "accepted"), [(201, True), (202, False)])
def test_the_judge_knows_what_tables_of_constants_hold(least, accepted):
    """The fifth entry is passed by x > 200 only."""
    source = TABLE % least
    assert judgement(source, (f"(or (<= i 4) (>= x {least}))",)).accepted is accepted


@pytest.mark.parametrize("index", [t.Var("i", t.IntType(2, signed=False)), t.Var("i", t.IntType(5))])
@pytest.mark.parametrize("theory", [Integers, Bits])
def test_an_entry_of_a_table_is_the_one_at_the_index(theory, index):
    entries = (3, 0, 1, 1, -2, 0, 3, 1, 2)
    term = t.table(index, entries)
    made = theory.wide([term], z3.Context())
    for at in range(index.type.min, index.type.max + 1):
        found = z3.simplify(made.node(term, {index: made.number(at)}))
        assert (found.as_signed_long() if theory is Bits else found.as_long()) == t.evaluate(term, {index: at})


def test_a_recurrent_set_is_one_that_is_never_left():
    (cut,) = cuts(ENDLESS)
    place = next(
        (block.label, index)
        for block in graph(ENDLESS).blocks.values()
        for index, statement in enumerate(block.statements)
        if type(statement).__name__ == "Havoc" and block.label != graph(ENDLESS).entry
    )

    def closed(text, chosen):
        return judged_recurrent(graph(ENDLESS), CertifiedClaim({cut: ()}, None, {cut: (text,)}, chosen)).accepted

    assert closed("(= (mod x 2) 1)", {place: 5})
    assert not closed("(= (mod x 2) 1)", {place: 4})  # leaves
    assert not closed("(= (mod x 2) 1)", {})  # may leave
    assert not closed("(= (mod x 2) 0)", {place: 5})  # 8 leads to 10
    assert not closed("true", {place: 5})  # 10 is an exit
    assert not closed("(= x 3)", {place: 5})  # 5 is outside
    with pytest.raises(UsageError, match="takes none"):
        closed("(= (mod x 2) 1)", {(place[0], place[1] + 77): 5})
    with pytest.raises(UsageError, match="takes none"):
        closed("(= (mod x 2) 1)", {place: 1 << 40})


def test_a_run_that_meets_undefined_behaviour_does_not_stay_in_a_recurrent_set():
    source = "int main(void) { int x = 1; while (x > 0) x++; return 0; }"
    (cut,) = cuts(source)
    assert not judged_recurrent(graph(source), CertifiedClaim({cut: ()}, None, {cut: ("(> x 0)",)})).accepted


READ_TWICE = "int *p; int main(void) { int a[9], b[9], k = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int(); for (int i = 0; i < 9; i++) { a[i] = __VERIFIER_nondet_int(); b[i] = 0; } if (k < 0 || k > 8) return 0; if (n) p = a; else p = b; if (%s != 23) return 0; %s if (%s != 42) return 0; while (k == 0) ; return 0; }"
SAME, OTHER = ("a[0]", "", "a[k]"), ("a[0]", "b[k] = 7;", "a[k]")
DIFFERENT = {
    "written": ("a[0]", "a[k] = 7;", "a[k]"),
    "written at another place": ("a[0]", "a[3] = 7;", "a[k]"),  # what is written where is not looked at
    "written on one way": ("a[0]", "if (n) a[k] = 7;", "a[k]"),
    "written through a pointer": ("a[0]", "p[k] = 7;", "a[k]"),
    "of another object": ("b[0]", "", "a[k]"),
    "of another type": ("*(unsigned char *)a", "", "a[k]"),
}


@pytest.mark.parametrize("parts", [SAME, OTHER], ids=["nothing", "another object"])
def test_what_is_read_twice_at_one_place_is_the_same_where_nothing_wrote_it(parts):
    source = READ_TWICE % parts
    found = judgement(source, ("(>= i 0)",), ("(> k 0)",), ranks=(("(- 9 i)",), ("0",)), property_=Property.TERMINATION)
    assert found.accepted, found.failed


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_may_have_been_written_in_between_may_be_another_value(name):
    source = READ_TWICE % DIFFERENT[name]
    found = judgement(source, ("(>= i 0)",), ("(> k 0)",), ranks=(("(- 9 i)",), ("0",)), property_=Property.TERMINATION)
    assert not found.accepted


def test_a_recurrent_set_may_read_a_place_twice():
    source = "int main(void) { int a[9]; for (int i = 0; i < 9; i++) a[i] = i; int k = 1; while (k < 9) if (a[k] > a[0]) k = 8; else k = 3; return 0; }"
    first, cut = cuts(source)
    assert judged_recurrent(
        graph(source), CertifiedClaim({first: ()}, None, {cut: ("(and (<= 0 k) (< k 9))",)})
    ).accepted


SWAPPED = "int main(void) { int a[4] = {2, 2, 1, 0}, i = __VERIFIER_nondet_int() & 3; while (a[i] > 1) { a[i] = a[i] + 0; i = __VERIFIER_nondet_int() & 3; } return 0; }"


def test_a_run_that_repeats_a_state_is_run_by_the_judge(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(HEAD + SWAPPED, encoding="utf-8")
    subject = Subject((str(file),), SourceOptions(data_model="LP64"))

    def judgement_of(*inputs, property_=Property.TERMINATION, **changes):
        return judged_document(
            {**document_of(subject, property_, CertifiedClaim({}, repeating=inputs), {}), **changes}, 60.0
        )

    assert judgement_of(1)["accepted"]
    assert judgement_of(1, 0, 1, 0)["accepted"]
    assert not judgement_of(2)["accepted"]  # ends
    assert not judgement_of(1, 0, 3)["accepted"]
    assert "inputs are used up" in judgement_of()["failed"][0]
    with pytest.raises(UsageError, match="about termination"):
        judgement_of(1, property_=Property.UNREACH_CALL)
    with pytest.raises(UsageError, match="has its inputs"):
        judgement_of(1, repeating=[1.5])


@pytest.fixture
def written(tmp_path):
    """A certificate on disk of a program on disk; with changes."""
    file = tmp_path / "a.c"
    file.write_text(HEAD + TWO_PHASES, encoding="utf-8")
    subject = Subject((str(file),), SourceOptions(data_model="LP64"))
    (cut,) = cuts(TWO_PHASES)

    def document(**changes):
        made = {
            **document_of(subject, Property.UNREACH_CALL, CertifiedClaim({cut: PHASES}), {cut: (str(file), 2)}),
            **changes,
        }
        out = tmp_path / "certificate.json"
        out.write_text(json.dumps({key: value for key, value in made.items() if value is not None}), encoding="utf-8")
        return out

    return document


def apart(*words):
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    return subprocess.run(
        [sys.executable, *map(str, words)], capture_output=True, text=True, check=False, env=environment
    )


def test_a_certificate_is_judged_in_a_process_of_its_own(written):
    done = apart("-m", "loopless.check.certificates", written())
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["accepted"] is True
    (one,) = json.loads(written().read_text())["invariants"]
    assert (one["line"], one["conjuncts"]) == (2, list(PHASES))
    done = apart("-m", "loopless.check.certificates", written(invariants=[{**one, "conjuncts": list(PHASES[:-1])}]))
    assert done.returncode == 1
    assert json.loads(done.stdout)["accepted"] is False


CHANGES = [
    {"format": "other"}, {"version": VERSION + 1}, {"invariants": None}, {"program": None}, {"property": "no-such"},
    {"property": "termination"}, {"invariants": []}, {"invariants": [{"cutpoint": "entry.1", "conjuncts": []}]}, {"format": None},
]  # fmt: skip


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_what_is_no_certificate_is_status_2(written, changes, capsys):
    from loopless.check.certificates.__main__ import main

    assert main([str(written(**changes))]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("loopless: the certificate cannot be judged: ")
    assert said.err.count("\n") == 1


def test_without_a_file_there_is_nothing_to_judge(tmp_path, capsys):
    from loopless.check.certificates.__main__ import main

    (tmp_path / "text").write_text("no JSON", encoding="utf-8")
    assert [main([]), main([str(tmp_path / "none.json")]), main([str(tmp_path / "text")])] == [2, 2, 2]
    assert capsys.readouterr().out == ""


def test_the_program_of_a_certificate_is_read_as_it_says(written):
    """Over unbounded integers nothing overflows; the judge reads the program so where the certificate says so."""
    document = json.loads(written(property="no-overflow").read_text())
    (one,) = document["invariants"]
    document["invariants"] = [{**one, "conjuncts": []}]
    assert document["format"] == FORMAT
    assert not judged_document(document, 60.0)["accepted"]
    document["program"]["integers"] = "mathematical"
    assert judged_document(document, 60.0)["accepted"]
    document["program"]["flags"] = ["-Dy=1+"]
    with pytest.raises(SourceError):
        judged_document(document, 60.0)


METHODS = (
    "logic",
    "recurrences",
    "paths",
    "portfolio",
    "automaton",
    "summary",
    "bounds",
    "verification",
    "queries",
    "report",
    "cli",
)


def test_the_judge_of_certificates_imports_no_method(written):
    program = (
        "import sys\n"
        "from loopless.check.certificates.__main__ import main\n"
        "status = main(sys.argv[1:])\n"
        "print(*sorted(sys.modules))\n"
        "sys.exit(status)\n"
    )
    done = apart("-c", program, written())
    assert done.returncode == 0, done.stderr
    verdict, modules = done.stdout.splitlines()
    assert json.loads(verdict)["accepted"] is True
    imported = {name.split(".")[1] for name in modules.split() if name.startswith("loopless.")}
    assert {"check", "terms", "flowgraph", "source"} <= imported
    assert not imported.intersection(METHODS)
    assert all(
        (SOURCES / "loopless" / name).is_dir() or (SOURCES / "loopless" / f"{name}.py").exists() for name in METHODS
    )
