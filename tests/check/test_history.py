"""History variables of certificates: they tell what was, constrain nothing, and are refused where they mean nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from loopless.check.certificates.document import judged_document
from loopless.check.certificates.history import BEGIN, HistoryVariable, history_json, history_of, with_history
from loopless.check.certificates.judge import CertifiedClaim, judged
from loopless.check.certificates.property import Follows, Property, violates
from loopless.errors import UsageError
from loopless.flowgraph.model import Assign, Block, Edge, Kind, VariableInfo
from loopless.terms import INTEGERS, TRUE, Var
from loopless.verification.runs import Runner
from programs_in_c import HEAD, graph, program

DOUBLED = """int main(void) {
    unsigned n = __VERIFIER_nondet_int() & 1023, x = 3, i = 0;
    while (i < n) { x += 2; i++; }
    if (x != 3 + 2 * n) reach_error();
    return 0;
}"""
BRANCHES = """int main(void) {
    int n = __VERIFIER_nondet_int() & 255, a = 0, b = 0, i = 0;
    while (i < n) { if (__VERIFIER_nondet_int()) a += 3; else b += 3; i++; }
    if (a + b != 3 * n) reach_error();
    return 0;
}"""
WRONG = DOUBLED.replace("!= 3", "== 3")
NEST = """int main(void) {
    int n = __VERIFIER_nondet_int() & 15, c = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 4; j++)
            c++;
    if (c != 4 * n) reach_error();
    return 0;
}"""


def headers(source):
    return [loop.header for loop in graph(source).loops]


def judgement(source, history, *conjuncts, of=None):
    """What the judge says of these at the loops of the program, in their order."""
    part = of or graph(source)
    claim = CertifiedClaim(dict(zip((loop.header for loop in part.loops), conjuncts, strict=True)))
    property_ = Property.UNREACH_CALL
    return judged(with_history(part, history), claim, violates(property_), Follows(property_, program(source).module))


def of_loop(source, number=0, *variables):
    """The iterations of a loop as ``history:k``, and variables at its entry as ``history:x0`` and so on."""
    header = headers(source)[number]
    values = (HistoryVariable(f"history:{name}0", loop=header, variable=name) for name in variables)
    return (HistoryVariable("history:k", loop=header), *values)


CLOSED = (
    "(= i |history:k|)",
    "(= x (+ |history:x0| (* 2 |history:k|)))",
    "(= |history:x0| 3)",
    "(<= i n)",
    "(<= n 1023)",
)


def test_a_closed_form_over_the_count_and_the_entry_is_inductive():
    assert judgement(DOUBLED, of_loop(DOUBLED, 0, "x"), CLOSED).accepted


CHANGES = [(0, "(= i (+ |history:k| 1))"), (1, "(= x (+ |history:x0| (* 3 |history:k|)))"), (2, "(= |history:x0| 2)"),
           (0, "true"), (1, "true"), (2, "true"), (3, "true")]  # fmt: skip


@pytest.mark.parametrize(("number", "text"), CHANGES, ids=str)
def test_nothing_of_it_may_be_changed_or_left_out(number, text):
    changed = [*CLOSED[:number], text, *CLOSED[number + 1 :]]
    assert not judgement(DOUBLED, of_loop(DOUBLED, 0, "x"), changed).accepted


def test_the_entry_of_another_variable_is_refused():
    count, _ = of_loop(DOUBLED, 0, "x")
    for other in ("i", "n"):
        history = (count, HistoryVariable("history:x0", loop=headers(DOUBLED)[0], variable=other))
        assert not judgement(DOUBLED, history, CLOSED).accepted


def test_a_program_that_is_wrong_has_no_certificate():
    history = of_loop(WRONG, 0, "x")
    assert not judgement(WRONG, history, CLOSED).accepted
    assert not judgement(WRONG, history, ("(< |history:k| 0)",)).accepted
    assert not judgement(WRONG, history, ("false",)).accepted


def branches():
    """Visits of the two branches since the loop was entered."""
    part = graph(BRANCHES)
    (loop,) = part.loops
    (fork,) = (label for label in loop.blocks - {loop.header} if len(part.blocks[label].successors) == 2)
    return loop.header, part.blocks[fork].successors


def test_equations_between_counts_of_blocks_are_a_proof():
    header, sides = branches()
    history = [HistoryVariable(f"history:{x}", loop=header, block=b) for x, b in zip("ab", sides, strict=True)]
    held = ("(= a (* 3 |history:a|))", "(= b (* 3 |history:b|))", "(= i (+ |history:a| |history:b|))", "(<= i n)", "(<= n 255)",
            "(<= 0 |history:a|)", "(<= 0 |history:b|)")  # fmt: skip
    assert judgement(BRANCHES, history, held).accepted
    swapped = [replace(one, block=other) for one, other in zip(history, reversed(sides), strict=True)]
    assert not judgement(BRANCHES, swapped, held).accepted
    once = [history[0], replace(history[1], block=sides[0])]
    assert not judgement(BRANCHES, once, held).accepted
    whole = [replace(one, loop=None) for one in history]
    assert judgement(BRANCHES, whole, held).accepted  # the loop is entered once


OUTER = ("(= i |history:outer|)", "(= c (* 4 |history:outer|))", "(<= i n)", "(<= 0 i)", "(<= n 15)")
INNER = ("(= i |history:outer|)", "(= j |history:inner|)", "(= c (+ (* 4 |history:outer|) |history:inner|))", "(<= j 4)", "(<= 0 j)",
         "(< i n)", "(<= 0 i)", "(<= n 15)")  # fmt: skip


def test_counts_of_a_nest_are_told_apart():
    first, second = headers(NEST)
    outer, inner = (first, second) if graph(NEST).loops[0].depth < graph(NEST).loops[1].depth else (second, first)
    parts = (OUTER, INNER) if outer == first else (INNER, OUTER)
    named = {"history:outer": outer, "history:inner": inner}
    assert judgement(NEST, [HistoryVariable(name, loop=at) for name, at in named.items()], *parts).accepted
    crossed = [HistoryVariable(n, loop=at) for n, at in zip(named, reversed(named.values()), strict=True)]
    assert not judgement(NEST, crossed, *parts).accepted
    # The inner loop is entered anew each time, so that its count is not the one since the beginning.
    latch = next(loop for loop in graph(NEST).loops if loop.header == inner).latches[0]
    total = [HistoryVariable("history:outer", loop=outer), HistoryVariable("history:inner", block=latch)]
    assert not judgement(NEST, total, *parts).accepted


def test_runs_count_what_history_tells():
    """The runner carries out the flowgraph with history: 5 iterations, each of two visits of the header but the last."""
    header = headers(DOUBLED)[0]
    inside = graph(DOUBLED).loops[0].latches[0]
    history = (
        *of_loop(DOUBLED, 0, "x"),
        HistoryVariable("history:in", loop=header, block=inside),
        HistoryVariable("history:at", block=header),
    )
    part = with_history(graph(DOUBLED), history)
    run = Runner(part, lambda _: False, {header: tuple(part.variables)}).run(lambda *_: 5, 1000)
    told = [
        {var.name[8:]: value for var, value in values.items() if var.name[:8] == "history:"} for _, values in run.visits
    ]
    assert told == [{"k": k, "x0": 3, "in": k, "at": k + 1} for k in range(6)]


def test_a_loop_that_begins_with_the_program_is_entered_once():
    part = graph(DOUBLED)
    (loop,) = part.loops
    at_once = replace(part, entry=loop.header)
    history = (HistoryVariable("history:k", loop=loop.header), HistoryVariable("history:all", block=loop.header))
    made = with_history(at_once, history)
    run = Runner(made, lambda _: False, {loop.header: tuple(made.variables)}).run(lambda *_: 0, 3)
    first = {var.name: value for var, value in run.visits[0][1].items() if var.name.startswith("history:")}
    assert first == {"history:k": 0, "history:all": 1}


STRANGE = [
    {"name": "x", "loop": "L"}, {"name": "history:", "loop": "L"}, {"name": "history:k", "loop": "none"}, {"name": "history:k|", "loop": "L"},
    {"name": "history:k", "loop": "L", "block": "none"}, {"name": "history:k", "block": "none"}, {"name": "history:k"},
    {"name": "history:k", "variable": "x"}, {"name": "history:k", "loop": "L", "variable": "none"}, {"name": "history:k", "loop": 1},
    {"name": "history:k", "loop": "L", "variable": "history:k"}, {"name": "history:k", "loop": "L", "block": "L", "variable": "x"},
    {"name": "history:k", "loop": "L", "start": 1}, {"name": "history:k", "loop": "entry"},
]  # fmt: skip


@pytest.mark.parametrize("one", STRANGE, ids=str)
def test_what_tells_nothing_is_refused(one):
    known = {"L": headers(DOUBLED)[0], "entry": graph(DOUBLED).entry}
    document = {"history": [{part: known.get(value, value) for part, value in one.items()}]}
    with pytest.raises(UsageError):
        with_history(graph(DOUBLED), history_of(document))


def test_names_are_their_own():
    count = of_loop(DOUBLED)
    with pytest.raises(UsageError, match="of one name"):
        with_history(graph(DOUBLED), (*count, *count))
    for name in ("history:k", "history:other", "history:k|"):
        var = Var(name, INTEGERS)
        part = replace(graph(DOUBLED), variables={**graph(DOUBLED).variables, var: VariableInfo(var, name, Kind.LOCAL)})
        with pytest.raises(UsageError, match="only history variables may"):
            with_history(part, count)
    blocks = {**graph(DOUBLED).blocks, BEGIN: Block(BEGIN, (), (Edge(TRUE, BEGIN),))}
    with pytest.raises(UsageError, match="only history variables may"):
        with_history(replace(graph(DOUBLED), blocks=blocks), count)


def test_a_cycle_of_two_entries_is_no_loop():
    source = """int main(void) {
        int x = __VERIFIER_nondet_int() & 7;
        if (x > 3) goto two;
        one: x++; if (x > 100) return 0;
        two: x += 2; if (x > 200) reach_error(); goto one;
    }"""
    for label in graph(source).blocks:
        if label not in headers(source):
            with pytest.raises(UsageError, match="history of a loop"):
                with_history(graph(source), (HistoryVariable("history:k", loop=label),))


def test_the_program_does_not_see_history():
    """Without the assignments to history variables the flowgraph is the one from before, behind a block of none."""
    history = (*of_loop(NEST, 0, "c", "i"), HistoryVariable("history:b", block=headers(NEST)[1]))
    made = with_history(graph(NEST), history)
    own = {Var(one.name, INTEGERS) for one in history} | {v for v in made.variables if v.name.startswith("history:")}
    begin = made.blocks[BEGIN]
    assert all(isinstance(one, Assign) and one.target in own for one in begin.statements)
    assert (made.entry, begin.successors) == (BEGIN, (graph(NEST).entry,))
    for label, block in graph(NEST).blocks.items():
        plain = tuple(
            replace(edge, assigns=tuple((v, e) for v, e in edge.assigns if v not in own))
            for edge in made.blocks[label].edges
        )
        assert replace(made.blocks[label], edges=plain) == block


def test_history_is_read_as_it_is_written():
    history = (
        *of_loop(DOUBLED, 0, "x"),
        HistoryVariable("history:b", block="b"),
        HistoryVariable("history:c", "l", "b"),
    )
    assert history_of({"history": history_json(history)}) == history


def shown(tmp_path):
    """The example of the documentation: its certificate, and its program in a file."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "verification.md").read_text(encoding="utf-8")
    found = re.search(r"```text\n(int main.*?)\n\n(\{.*?)\n```", text, re.DOTALL)
    assert found is not None
    (tmp_path / "a.c").write_text(HEAD + found[1], encoding="utf-8")
    document = json.loads(found[2])
    document["program"]["files"] = [str(tmp_path / "a.c")]
    return document


def test_the_example_of_the_documentation_is_accepted(tmp_path):
    document = shown(tmp_path)
    assert document["version"] == 2
    assert judged_document(document, 60.0)["accepted"]
    document["history"][1]["variable"] = "i"
    assert not judged_document(document, 60.0)["accepted"]


CHANGED = [
    {"version": 1},
    {"version": 3},
    {"history": None},
    {"history": []},
    {"recurrent": [], "chosen": []},
    {"repeating": [1]},
]


@pytest.mark.parametrize("changes", CHANGED, ids=str)
def test_history_belongs_to_version_2_and_to_what_holds_of_all_runs(tmp_path, changes):
    document = shown(tmp_path) | changes
    if document["history"] is None:
        del document["history"]
    with pytest.raises(UsageError):
        judged_document(document, 60.0)
