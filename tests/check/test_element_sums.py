"""Sums over elements in certificates: they are what their definition says, constrain nothing, and prove nothing wrong."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from loopless.check.certificates.document import judged_document
from loopless.check.certificates.element_sums import ElementSum, ElementSums, sums_json, sums_of, with_sums
from loopless.check.certificates.formulas import symbols_of, term_of
from loopless.check.certificates.judge import CertifiedClaim, judged
from loopless.check.certificates.property import Follows, Property, violates
from loopless.errors import UsageError
from loopless.flowgraph.model import Kind, Origin, VariableInfo
from loopless.terms import INTEGERS, Var, evaluate
from loopless.verification.runs import Runner
from programs_in_c import graph, program

COUNT = "(ite (= |a[k]| v) 1 0)"

# -- what statements do to sums is what their definition says ----------------------------------------------------------

MOVES = {
    "writes": "for (j = 0; j < 9; j++) a[(unsigned)__VERIFIER_nondet_int() & 7] = __VERIFIER_nondet_int() & 3;",
    "swaps": "for (j = 0; j < 9; j++) { int p = (unsigned)__VERIFIER_nondet_int() & 7, x = a[p]; a[p] = a[j & 7]; a[j & 7] = x; }",
    "goes down": "for (j = 0; j < 4; j++) { a[j] = 1; n--; }",
    "goes down by two": "for (j = 0; j < 3; j++) { n -= 2; a[j + 1] = v; }",
    "goes back and up": "n = 0; for (j = 0; j < 3; j++) { n = n + 2; a[j] = j; }",
    "goes to a number": "n = 3; for (j = 0; j < 3; j++) a[j + 1] = v;",
    "goes either way": "for (j = 0; j < 4; j++) { if (__VERIFIER_nondet_int() & 1) n++; else n--; a[j] = 2; }",
    "goes where another is": "m = 0; for (j = 0; j < 3; j++) m++; for (j = 0; j < 3; j++) { n = m; a[j] = j & v; m++; }",
    "shifts": "for (j = 0; j < 6; j++) a[j] = a[j + 1];",
}
TERMS = [COUNT, "|a[k]|", "(+ (* 3 |a[k]|) v)", "(* a.k |a[k]|)", "(ite (< |a[k]| 2) a.k (- |a[k]|))"]
BITS = {"|a[k]|": (None, 3), "(* a.k |a[k]|)": (None, 2)}


def moving(move: str) -> str:
    return f"""int a[16];
        int main(void) {{
            int v = __VERIFIER_nondet_int() & 3, j, n = 0, m = 0;
            for (j = 0; j < 16; j++) a[j] = __VERIFIER_nondet_int() & 3;
            for (; n < 7; n++) a[n] = __VERIFIER_nondet_int() & 3;
            {MOVES[move]}
            for (j = 0; j < n; j++) if (a[j] > 9 + m) reach_error();
            return 0;
        }}"""


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("move", MOVES)
def test_a_sum_is_that_of_the_elements_wherever_a_run_is(move, term):
    part = graph(moving(move))
    (cell,) = part.cells.values()
    counted = term_of(term, symbols_of(part.variables))
    for bits in BITS.get(term, (None,)):
        places = ("n", "m", *(("(+ n 1)",) if "another" not in move else ()))
        told = [ElementSum(f"history:{at}", "a.k", term, below, bits) for at, below in enumerate(places)]
        made = with_sums(part, ElementSums(tuple(told)))
        named = {var.name: var for var in made.variables}
        compared = 0
        for values, elements in states(made, cell):
            for at, below in enumerate((values[named["n"]], values[named["m"]], values[named["n"]] + 1)[: len(told)]):
                if not 0 <= below <= 16 or len(elements) < 16:
                    continue
                each = ({**values, cell.number: place, cell.cell: elements[place]} for place in range(below))
                whole = sum(evaluate(counted, one) for one in each)
                assert values[named[f"history:{at}"]] == (whole if bits is None else whole % (1 << bits))
                compared += 1
        assert compared > 100


def states(made, cell):
    """States of runs at loops: all variables, and the elements by number."""
    every = {loop.header: tuple(made.variables) for loop in made.loops}
    for seed in range(8):
        random_, held = random.Random(seed), []
        runner = Runner(made, violates(Property.UNREACH_CALL), every)

        def choose(target, origin, *_, random_=random_):
            if origin is Origin.MEMORY:
                return 0  # as the array begins
            return random_.randint(-9, 40) if target.type.signed else random_.randint(0, 15)

        run = runner.run(choose, 400, lambda _, held=held, runner=runner: held.append(dict(runner.memory)))
        assert run.end in ("return", "steps"), run.end
        for (_, values), memory in zip(run.visits, held, strict=True):
            yield values, {offset // cell.size: value for (_, offset), value in memory.items()}


# -- certificates by hand ----------------------------------------------------------------------------------------------

INSERTION = """int a[100];
int main(void) {
    int i, j, x, n = __VERIFIER_nondet_int();
    if (n < 0 || n > 100) return 0;
    for (i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
    int v = __VERIFIER_nondet_int(), c = 0, d = 0;
    for (i = 0; i < n; i++) if (a[i] == v) c++;
    for (i = 1; i < n; i++) {
        x = a[i]; j = i - 1;
        while (j >= 0 && a[j] > x) { a[j + 1] = a[j]; j--; }
        a[j + 1] = x;
    }
    for (i = 0; i < n; i++) if (a[i] == v) d++;
    if (c != d) reach_error();
    return 0;
}"""
SUMS = (ElementSum("history:n", "a.k", COUNT, "n"), ElementSum("history:i", "a.k", COUNT, "i"))
BOUNDS = ("(<= n 100)", "(>= n 0)", "(>= i 0)", "(<= i n)")
FREE = "(=> (= a.k (+ j 1)) (= (+ c (ite (= |a[k]| v) 1 0)) (+ |history:n| (ite (= x v) 1 0))))"
KEPT = (
    BOUNDS,
    (*BOUNDS, "(= c |history:i|)", "(= d 0)"),
    (*BOUNDS[:3], "(= c |history:n|)", "(= d 0)"),
    (*BOUNDS[:2], "(< i n)", "(< j i)", "(= d 0)", FREE),
    (*BOUNDS, "(= c |history:n|)", "(= d |history:i|)"),
)


def by_line(source):
    """The headers of loops as they follow in the source."""
    return [loop.header for loop in sorted(graph(source).loops, key=lambda loop: (loop.line, loop.column))]


def accepted(source, invariants, sums=SUMS, *, elements=True, any_=None):
    part = with_sums(graph(source), ElementSums(tuple(sums), any_))
    claim = CertifiedClaim(dict(zip(by_line(source), invariants, strict=True)), elements=elements)
    property_ = Property.UNREACH_CALL
    return judged(part, claim, violates(property_), Follows(property_, program(source).module)).accepted


def test_a_sort_that_keeps_counts_has_a_certificate():
    assert accepted(INSERTION, KEPT)
    assert not accepted(INSERTION, KEPT, elements=False)


NEEDED = [(1, 4), (1, 5), (2, 3), (2, 4), (3, 2), (3, 3), (3, 4), (3, 5), (4, 3), (4, 4), (4, 5)]


@pytest.mark.parametrize(("loop", "number"), NEEDED, ids=str)
def test_nothing_may_be_left_out_or_changed(loop, number):
    text = KEPT[loop][number]
    other = text.replace("(= d 0)", "(= d 1)").replace("(= c |", "(= (+ c 1) |").replace("(= d |", "(= (+ d 1) |")
    other = (
        other.replace("(<= i n)", "(<= i (+ n 1))")
        .replace("(< i n)", "(<= i n)")
        .replace("(< j i)", "(<= j i)")
        .replace("(= (+ c (", "(= (+ d (")
    )
    assert other != text
    for changed in ((), (other,)):
        conjuncts = (*KEPT[loop][:number], *changed, *KEPT[loop][number + 1 :])
        assert not accepted(INSERTION, (*KEPT[:loop], conjuncts, *KEPT[loop + 1 :]))


@pytest.mark.parametrize(
    "change",
    [{"sum": "(ite (= |a[k]| v) 2 0)"}, {"sum": "(ite (= |a[k]| c) 1 0)"}, {"sum": "(ite (= |a[k]| n) 1 0)"},
     {"sum": "(ite (= a.k v) 1 0)"}, {"below": "(- n 1)"}, {"below": "(+ n 1)"}, {"below": "j"}, {"below": "i"}, {"bits": 3}],
    ids=str,
)  # fmt: skip
def test_the_same_is_not_proved_of_another_sum(change):
    assert not accepted(INSERTION, KEPT, (replace(SUMS[0], **change), SUMS[1]))


@pytest.mark.parametrize(
    "between",
    [
        "if (n > 0) a[0] = v;",
        "a[3] = 0;",
        "if (n > 5) a[n - 1] = a[0];",
        "a[__VERIFIER_nondet_int() & 63]++;",
        "{ int *p = __VERIFIER_nondet_int() ? &a[1] : &b[1]; *p = 4; }",
        "__builtin_memset(a, 0, sizeof a);",
        "__builtin_memset(a + 1, 1, 40);",
        "__builtin_memcpy(a, b, 40);",
        "v++;",
        "n = n > 3 ? n - 1 : n;",
        "if (n > 0) n--;",
    ],
)
def test_counts_change_with_what_is_written_between(between):
    source = INSERTION.replace("int a[100]", "int a[100], b[100]").replace("for (i = 1;", f"{between} for (i = 1;")
    assert "b[100]" in source
    assert between in source
    assert graph(source).cells
    assert not accepted(source, KEPT)


@pytest.mark.parametrize(
    "change",
    [("a[j + 1] = x", "a[j + 1] = x + 1"), ("a[j + 1] = x", "a[j + 1] = a[i]"), ("a[j + 1] = a[j]; j--", "j--"),
     ("j >= 0", "j > 0 || (j == 0 && n > 7)"), ("if (a[i] == v) d++", "if (a[i] >= v) d++"), ("x = a[i]", "x = a[i - 1]")],
    ids=str,
)  # fmt: skip
def test_the_invariants_of_the_right_program_prove_no_other(change):
    source = INSERTION.replace(*change)
    assert source != INSERTION
    if "n > 7" in change[1]:  # sorts less, but keeps all the same
        return
    assert not accepted(source, KEPT)


def test_a_rotation_keeps_the_sum():
    source = """int a[100];
        int main(void) {
            int n = __VERIFIER_nondet_int(), i, x;
            long c = 0, d = 0;
            if (n < 1 || n > 100) return 0;
            for (i = 0; i < n; i++) a[i] = __VERIFIER_nondet_int();
            for (i = 0; i < n; i++) c += a[i];
            x = a[0];
            for (i = 0; i + 1 < n; i++) a[i] = a[i + 1];
            a[n - 1] = x;
            for (i = 0; i < n; i++) d += a[i];
            if (c != d) reach_error();
            return 0;
        }"""
    sums = tuple(ElementSum(f"history:{place}", "a.k", "|a[k]|", place) for place in "in")
    bounds = ("(>= n 1)", "(<= n 100)", "(>= i 0)", "(<= i n)", "(= d 0)")
    free = "(=> (= a.k i) (= (+ c |a[k]|) (+ |history:n| x)))"
    held = (
        (*bounds, "(= c 0)"),
        (*bounds, "(= c |history:i|)"),
        (*bounds, "(< i n)", free),
        (*bounds[:4], "(= c |history:n|)", "(= d |history:i|)"),
    )
    assert accepted(source, held, sums)
    for wrong in (source.replace("i + 1 < n", "i + 2 < n"), source.replace("= x;", "= a[0];")):
        assert not accepted(wrong, held, sums)


def test_what_is_behind_the_array_never_changes_and_is_not_known():
    source = """int a[4]; int main(void) { int i, c = 0, n = 6; for (i = 0; i < 4; i++) a[i] = 1;
        for (i = 0; i < 4; i++) c += a[i]; if (c != 4) reach_error(); return 0; }"""
    sums = (ElementSum("history:i", "a.k", "|a[k]|", "i"), ElementSum("history:n", "a.k", "|a[k]|", "6"))
    filled = ("(>= i 0)", "(<= i 4)", "(= c 0)")
    counted = ("(>= i 0)", "(<= i 4)", "(= c |history:i|)")
    assert not accepted(source, ((*filled, "(= |history:i| i)"), counted), sums)
    held = "(=> (< a.k 4) (= |a[k]| 1))"
    ones = "(=> (< a.k i) (= |a[k]| 1))"
    assert accepted(source, ((*filled, ones), (*counted, held, "(= c i)")), sums)
    assert not accepted(source, ((*filled, ones), (*counted, held, "(= c i)", "(= |history:n| 6)")), sums)


def test_a_program_that_is_wrong_is_not_proved_by_a_contradiction():
    wrong = INSERTION.replace("a[j + 1] = x;", "a[j + 1] = v;")
    for conjunct in ("false", "(< |history:n| 0)", "(distinct |history:n| |history:n|)"):
        assert not accepted(wrong, [(conjunct,)] * 5)


# -- any number --------------------------------------------------------------------------------------------------------

EACH = """int a[100];
int main(void) {
    int i, k, v, c, x, n = __VERIFIER_nondet_int(), b[100];
    if (n < 1 || n > 100) return 0;
    for (i = 0; i < n; i++) { a[i] = __VERIFIER_nondet_int(); b[i] = a[i]; }
    x = a[0]; a[0] = a[n - 1]; a[n - 1] = x;
    for (k = 0; k < n; k++) {
        v = b[k]; c = 0;
        for (i = 0; i < n; i++) if (a[i] == v) c++;
        for (i = 0; i < n; i++) if (b[i] == v) c--;
        if (c != 0) reach_error();
    }
    return 0;
}"""
OF_ANY = tuple(
    ElementSum(f"history:{array}{place}", f"{array}.k", f"(ite (= |{array}[k]| history:any) 1 0)", place)
    for array in "ab"
    for place in "in"
)
ALIKE = "(= |history:an| |history:bn|)"
SIZES = ("(>= n 1)", "(<= n 100)")
OF_EACH = (
    (*SIZES, "(>= i 0)", "(<= i n)", "(= |history:ai| |history:bi|)"),
    (*SIZES, ALIKE),
    (*SIZES, "(<= i n)", ALIKE, "(=> (= history:any v) (= c |history:ai|))"),
    (*SIZES, "(<= i n)", ALIKE, "(=> (= history:any v) (= c (- |history:an| |history:bi|)))"),
)


def test_what_holds_for_any_number_holds_for_the_one_of_the_error():
    assert accepted(EACH, OF_EACH, OF_ANY, any_="v")
    for other in ("c", "k", "(+ v 1)", "0"):
        assert not accepted(EACH, OF_EACH, OF_ANY, any_=other)
    with pytest.raises(UsageError, match="history:any"):
        accepted(EACH, OF_EACH, OF_ANY)


@pytest.mark.parametrize(
    ("loop", "number"), [(0, 3), (0, 4), (1, 2), (2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (3, 4)], ids=str
)
def test_nothing_said_of_any_number_may_be_left_out(loop, number):
    conjuncts = (*OF_EACH[loop][:number], *OF_EACH[loop][number + 1 :])
    assert not accepted(EACH, (*OF_EACH[:loop], conjuncts, *OF_EACH[loop + 1 :]), OF_ANY, any_="v")


@pytest.mark.parametrize(
    "change", [("a[n - 1] = x", "a[n - 1] = v"), ("b[i] = a[i]", "b[i] = a[0]"), ("a[i] == v", "a[i] == v + 1")]
)
def test_no_program_is_proved_by_a_number_that_it_does_not_meet(change):
    source = EACH.replace(*change)
    assert source != EACH
    for any_ in ("v", "c", "x", "n"):
        assert not accepted(source, OF_EACH, OF_ANY, any_=any_)


@pytest.mark.parametrize("any_", ["a.k", "|a[k]|", "a.last", "history:any", "|history:an|", "nobody"])
def test_that_number_is_a_value_of_the_program(any_):
    with pytest.raises(UsageError, match="does not have"):
        with_sums(graph(EACH), ElementSums(OF_ANY, any_))


def test_that_number_is_of_no_place():
    with pytest.raises(UsageError, match="does not have"):
        with_sums(graph(EACH), ElementSums((replace(OF_ANY[0], below="history:any"),), "v"))


@pytest.mark.parametrize("document", [{"any": "v"}, {**sums_json(ElementSums(SUMS)), "any": 3}])
def test_a_certificate_says_which_number_is_any_of_its_sums(document):
    with pytest.raises(UsageError, match="any number"):
        sums_of(document)


# -- names and forms ---------------------------------------------------------------------------------------------------


def test_sums_are_read_as_they_are_written():
    told = (*SUMS, ElementSum("history:b", "a.k", "|a[k]|", "n", 32))
    for any_ in (None, "v"):
        made = ElementSums(told, any_)
        assert sums_of(sums_json(made)) == made
    assert sums_json(ElementSums(told))["sums"][2] == {
        "name": "history:b",
        "over": "a.k",
        "sum": "|a[k]|",
        "below": "n",
        "bits": 32,
    }


@pytest.mark.parametrize(
    "change",
    [{"name": "sum"}, {"name": "history:element 0"}, {"over": "a[k]"}, {"over": "b.k"}, {"over": "n"}, {"below": "a.k"},
     {"below": "|a[k]|"}, {"below": "a.last"}, {"sum": "nobody"}, {"sum": "(+ |a[k]| a.last)"}, {"below": "(= n 1)"},
     {"name": "history:i"}, {"sum": "history:any"}],
    ids=str,
)  # fmt: skip
def test_what_is_no_sum_of_the_program_is_refused(change):
    with pytest.raises(UsageError, match="certificate"):
        with_sums(graph(INSERTION), ElementSums((replace(SUMS[0], **change), SUMS[1])))


def test_what_is_read_elsewhere_is_no_part_of_a_sum():
    part = graph(INSERTION)
    assert part.elsewhere
    for var in part.elsewhere:
        with pytest.raises(UsageError, match="does not have"):
            with_sums(part, ElementSums((replace(SUMS[0], sum=f"(+ |a[k]| |{var.name}|)"),)))


def test_no_sum_has_a_name_of_the_program():
    part, var = graph(INSERTION), Var("history:x", INTEGERS)
    taken = replace(part, variables={**part.variables, var: VariableInfo(var, "x", Kind.LOCAL)})
    with pytest.raises(UsageError, match="history:"):
        with_sums(taken, ElementSums(SUMS))


@pytest.mark.parametrize(
    "change", [{"bits": 0}, {"bits": 65}, {"bits": True}, {"bits": "8"}, {"below": 3}, {"loop": "x"}], ids=str
)
def test_what_says_nothing_is_no_sum(change):
    with pytest.raises(UsageError, match="certificate"):
        sums_of({"sums": [{**sums_json(ElementSums(SUMS))["sums"][0], **change}]})


def test_only_certificates_of_version_2_about_elements_have_sums():
    base = {"format": "loopless-certificate", "property": "unreach-call", **sums_json(ElementSums(SUMS))}
    for version, more, words in (
        (1, {"elements": True}, "version"),
        (2, {}, "all elements"),
        (2, {"elements": True, "history": []}, "no history"),
    ):
        with pytest.raises(UsageError, match=words):
            judged_document({**base, "version": version, **more}, 1.0)
