"""The Python interface: the same answers as the command line's, kept, and shown in notebooks."""

from __future__ import annotations

import functools
import json
import os
import pickle
import subprocess
import sys
import textwrap
import time
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

import loopless
from loopless.interface import calls as calls_module
from loopless.queries import calls as query_calls
from loopless.queries import session
from loopless.report.html import box, heading, note, row, table

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = json.loads((Path(loopless.__file__).parent / "report" / "schema.json").read_text(encoding="utf-8"))
FILES = (
    "examples/looperman/fig1.c",
    "examples/looperman/fig3.c",
    "examples/proteus/fig1a.c",
    "examples/cases/unsigned_wrap.c",
    "examples/cases/read_until.c",
    "examples/cases/never_ends.c",
)
NEST = """int total;
int f(int n, int m) {
    int c = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            c += 2;
    return c;
}
int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int length(const char *s) { int n = 0; while (s[n]) n++; return n; }
void count(int n) { while (n-- > 0) total += 3; }
int plain(int n) { return n / 2; }
int twice(int n) { while (n > 9) n -= 2; while (n < -9) n += 2; return n; }
extern int __VERIFIER_nondet_int(void);
int ask(int n) { while (n > __VERIFIER_nondet_int()) n--; return n; }
"""


@functools.cache
def command(*words: str) -> str:
    line = [sys.executable, "-m", "loopless", *words]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300).stdout


def asked(*words: str) -> dict:
    found = json.loads(command(*words, "--format", "json"))
    jsonschema.validate(found, SCHEMA)
    return untimed(found)


def untimed(value):
    if isinstance(value, dict):
        return {key: untimed(part) for key, part in value.items() if key != "time_ms"}
    return [untimed(part) for part in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    file = tmp_path_factory.mktemp("interface") / "nest.c"
    file.write_text(NEST, encoding="utf-8")
    return loopless.load(file, fenced=False)


@functools.cache
def loaded(file: str) -> loopless.Program:
    return loopless.load(file)


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Names of files are part of answers."""
    monkeypatch.chdir(ROOT)


# -- the answers are those of the command line ------------------------------------------------------------------------


def answer_of(held, loop) -> dict:
    """The JSON of an answer, or what there is of it where it is refused."""
    if isinstance(held, loopless.Refused):
        return {"name": loop.name, "refused": held.to_dict()}
    return untimed(held.to_dict())


@pytest.mark.parametrize("file", FILES)
def test_summaries_are_those_of_the_command(file):
    told = asked("summarize", file)["loops"]
    program = loaded(file)
    assert [loop.name for loop in program.loops] == [entry["name"] for entry in told]
    for loop, held, entry in zip(program.loops, program.summarize(), told, strict=True):
        shown = answer_of(held, loop)
        assert shown == {key: entry[key] for key in shown}
        assert loop.summarize() is held
    assert "\n\n".join(map(str, program.summarize())) + "\n" == command("summarize", file)


@pytest.mark.parametrize("file", FILES)
def test_summaries_of_functions_are_those_of_the_command(file):
    told = asked("summarize", file, "--whole")["functions"]
    for function, entry in zip(loaded(file), told, strict=True):
        held = function.summarize()
        shown = answer_of(held, function)
        assert shown == {key: entry[key] for key in shown}
        assert f"{held}\n" == command("summarize", file, "--whole", "--function", function.name)


@pytest.mark.parametrize("file", FILES)
def test_types_are_those_of_the_command(file):
    for loop, entry in zip(loaded(file).loops, asked("classify", file)["loops"], strict=True):
        held = loop.classify()
        assert entry["type"] == (None if isinstance(held, loopless.Refused) else held.type)


@pytest.mark.parametrize("file", FILES)
def test_bounds_are_those_of_the_command(file):
    told = asked("bound", file)
    program = loaded(file)
    assert [untimed(loop.bound().to_dict()) for loop in program.loops] == told["loops"]
    assert [untimed(function.bound().to_dict()) for function in program] == told["functions"]
    assert [bound.name for bound in program.bound()] == [function["name"] for function in told["functions"]]
    assert "\n\n".join(str(bound) for bound in program.bound()) + "\n" == command("bound", file)
    for loop in program.loops:
        assert f"{loop.bound()}\n" == command("bound", file, "--loop", loop.name)


def test_bounds_at_values_are_those_of_the_command():
    file = "examples/looperman/fig3.c"
    told = asked("bound", file, "--at", "n=100")
    function = loaded(file)["bubble_sort"]
    assert [loop.bound().at(n=100) for loop in function] == [entry["value"] for entry in told["loops"]] == [99, 4950]
    assert function.bound().at(n=100) == told["functions"][0]["value"] == 99 + 4950
    assert untimed(function.bound().to_dict(at={"n": 100})) == told["functions"][0]
    assert function.bound().text(at={"n": 100}) + "\n" == command("bound", file, "--at", "n=100")


def test_bounds_by_the_algorithm_alone_are_those_of_the_command():
    file = "examples/looperman/fig2.c"
    told = asked("bound", file, "--method", "looperman")["loops"]
    assert [untimed(loop.bound("looperman").to_dict()) for loop in loaded(file).loops] == told


def test_pictures_are_those_of_the_command():
    file = "examples/proteus/fig1a.c"
    (loop,) = loaded(file).loops
    automaton = loop.automaton()
    assert automaton.svg() == automaton._repr_svg_() == command("summarize", file, "--format", "svg")
    assert str(automaton) == command("summarize", file, "--format", "dot")
    assert loop.summarize().smtlib() == command("summarize", file, "--format", "smtlib")
    assert len(automaton.states) == 3


def test_variables_and_assumptions_are_those_of_the_command():
    file = "examples/proteus/fig1a.c"
    (loop,) = loaded(file).loops
    (told,) = asked("summarize", file, "--vars", "x", "--assume", "z > n")["loops"]
    assert untimed(loop.summarize(vars="x", assume="z > n").to_dict()) == told
    assert loop.summarize(["x"], "z > n") is loop.summarize(vars="x", assume="z > n")
    assert loop.summarize(["x"], "z > n") is not loop.summarize(["x"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("f", 3, 4), ("3", "4")),
        (("sum", [1, 2, 3], 3), ("[1,2,3]", "3")),
        (("length", "four"), ('"four"',)),
        (("count", 5), ("5",)),
        (("sum", [1], 2), ("[1]", "2")),
        (("f", 2**31 - 1, 2**31 - 1), (str(2**31 - 1), str(2**31 - 1))),
    ],
)
def test_evaluations_are_those_of_the_command(program, arguments, words):
    function, *values = arguments
    told = asked("eval", program.files[0], function, *words)
    held = program[function].evaluate(*values)
    assert held.to_dict() == {key: told[key] for key in held.to_dict()}
    assert f"{held}\n" == command("eval", program.files[0], function, *words)


# -- asking -----------------------------------------------------------------------------------------------------------


def test_a_summary_can_be_called():
    (loop,) = loaded("examples/looperman/fig1.c").loops
    summary = loop.summarize()
    assert set(summary.variables) == {"x", "i"}
    for x, i in [(9, 0), (10, 0), (3, 7), (2_000_000_000, -2_000_000_000)]:
        rounds = max(0, -(-(x - i) // 2))
        assert summary(x=x, i=i) == {"x": x, "i": i + 2 * rounds}
        assert summary.iterations(x=x, i=i) == rounds
    with pytest.raises(ValueError, match=r"undefined behaviour \(signed-overflow\) in line 12"):
        summary(x=2**31 - 1, i=0)
    with pytest.raises(ValueError, match=r"undefined behaviour"):
        summary.iterations(x=2**31 - 1, i=0)


def test_a_summary_of_a_function_can_be_called(program):
    summary = program["f"].summarize()
    assert summary(n=3, m=4)["return"] == 24
    assert summary(n=-3, m=4)["return"] == 0
    with pytest.raises(loopless.UsageError, match="no k in the summary of f; it speaks of n, m"):
        summary(k=1)
    with pytest.raises(loopless.UsageError, match="give a value to m too"):
        summary(n=5)


def test_variables_have_the_names_that_are_shown(tmp_path):
    """Inside, the second i is i#2; where it is the only one that the answer speaks of it is shown as i."""
    file = tmp_path / "names.c"
    file.write_text(
        "int f(int n) { for (int i = 0; i < 2; i++) n++; int c = 0; for (int i = 5; i < n; i++) c++; return c; }\n",
        encoding="utf-8",
    )
    summary = loopless.load(file, fenced=False)["f"].loops[1].summarize()
    assert set(summary.variables) == {"i", "n", "c"}
    assert summary(i=5, n=9, c=1)["c"] == 5


def test_arguments_go_by_place_and_by_name(program):
    total = program["sum"]
    assert total.evaluate([4, 5], n=2) is total.evaluate(a=[4, 5], n=2) is total.evaluate([4, 5], 2)
    assert total.evaluate((4, 5), 2).value == 9
    assert total.evaluate(b"\x04\0\0\0\x05\0\0\0", 2).value == 9
    assert program["ask"].evaluate(3, nondet=[1, 1, 7]).value == 1  # 3 > 1, 2 > 1, 1 <= 7


class Whole:
    """An integer of another library."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


class Array(list):
    """An array of another library, which has the method of an integer, for those with one element."""

    def __index__(self) -> int:
        raise TypeError("only integer scalar arrays can be converted to a scalar index")


def test_numbers_and_arrays_of_other_libraries_will_do(program):
    assert program["sum"].evaluate(Array([Whole(4), Whole(5)]), Whole(2)).value == 9
    assert program["f"].bound().at(n=Whole(2), m=3) == 2 + 6


def test_lines_and_names_lead_to_functions_and_loops(program):
    f = program["f"]
    outer, inner = f.loops
    assert program[4] is f[4] is outer is program.loop(f"{program.files[0]}:4") is f[outer.name]
    assert f[5] is inner
    assert inner.parent is outer
    assert outer.inner == (inner,)
    assert (outer.depth, inner.depth) == (1, 2)
    assert list(f) == [outer, inner]
    assert list(program) == list(program.functions)
    assert [function.name for function in program] == ["f", "sum", "length", "count", "plain", "twice", "ask"]
    assert "f" in program
    assert "g" not in program
    assert 5 in f
    assert 6 not in f
    assert (len(program), len(f), len(program["plain"])) == (7, 2, 0)
    assert program["plain"]
    assert program._ipython_key_completions_()[:2] == ["f", "sum"]


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        (lambda p: p["g"], "UsageError", r"no function g in .*; it has f, sum, length, count, plain, twice, ask"),
        (lambda p: p[3], "UsageError", r"no loop at 3; there are loops at .*nest\.c:4, .*nest\.c:5"),
        (lambda p: p[13], "UsageError", r"several loops at 13: .*13:\d+, .*13:\d+"),
        (lambda p: p["twice"][13], "UsageError", r"several loops of twice start in line 13; name one of .*, "),
        (lambda p: p["f"][6], "UsageError", r"no loop 6 in f; its loops are .*:4:5, .*:5:9"),
        (lambda p: p["plain"][6], "UsageError", r"no loop 6 in plain; its loops are nothing"),
        (lambda p: p[4].summarize(vars="k"), "UsageError", r"no variable k in f; known ones: .*n.*m"),
        (lambda p: p[4].summarize(vars=[]), "UsageError", "vars names no variable"),
        (lambda p: p[4].summarize(assume="k > 1"), "UsageError", r"no variable k in f; known ones"),
        (lambda p: p[4].summarize(assume="i < i"), "UsageError", "no entry state"),
        (lambda p: p[4].automaton(vars="k"), "UsageError", "no variable k in f"),
        (lambda p: p[4].summarize()(k=1), "UsageError", r"there is no k in the summary of .*; it speaks of "),
        (lambda p: p[4].summarize()(i=2**40), "UsageError", "1099511627776 is not in the range of int32_t i"),
        (lambda p: p[4].summarize()(i=1.5), "UsageError", "i must be an integer, not 1.5"),
        (lambda p: p["f"].bound().at(k=1), "UsageError", r"no input k in f; inputs are n, m"),
        (lambda p: p["f"].bound().at(n=2**40), "UsageError", "not in the range of int32_t n"),
        (lambda p: p["f"].bound("magic"), "UsageError", "no method 'magic'; there are all, looperman"),
        (lambda p: p["f"].evaluate(1), "UsageError", r"no value for m: f takes 2 arguments \(int32_t n, int32_t m\)"),
        (lambda p: p["f"].evaluate(1, 2, 3), "UsageError", r"takes 2 arguments \(.*\), not 3"),
        (lambda p: p["f"].evaluate(1, n=2, m=3), "UsageError", "n is given twice: f takes"),
        (lambda p: p["f"].evaluate(1, k=3), "UsageError", "f has no parameter k: f takes"),
        (lambda p: p["f"].evaluate(1, 2.5), "UsageError", r"2\.5 is no value for m"),
        (lambda p: p["f"].evaluate(1, [2]), "UsageError", "m is no pointer"),
        (lambda p: p["sum"].evaluate(7, 1), "UsageError", "a is a pointer"),
        (lambda p: p["sum"].evaluate([1, "x"], 1), "UsageError", "what a points to must be an integer, not 'x'"),
        (lambda p: p["sum"].evaluate({1: 2}, 1), "UsageError", "is no value for a"),
        (lambda p: p["f"].evaluate(1, 2**40), "UsageError", "not in the range of int32_t m"),
        (lambda p: p.with_settings(speed=3), "UsageError", "no setting speed; there are mathematical, wrapv"),
        (lambda p: p.with_settings(clang="clang"), "UsageError", "clang is for the compiler.* load the files again"),
        (lambda p: p.with_settings(loop_timeout_s=0), "UsageError", "loop_timeout_s is 0: give seconds"),
        (lambda p: p.with_settings(loop_memory_mb=1), "UsageError", "loop_memory_mb is 1: give at least 16"),
        (lambda p: p.with_settings(wrapv=True, mathematical=True), "UsageError", "leave out wrapv"),
        (lambda p: loopless.load(p.files, speed=3), "UsageError", "no setting speed; there are .*flags"),
        (lambda p: loopless.load(p.files, flags="-DN=1"), "UsageError", r"flags are a list, as \['-DN=1'\]"),
        (lambda p: loopless.load("nosuch.c"), "SourceError", "no file nosuch.c"),
    ],
)
def test_what_is_wrong_is_said_with_what_there_is(program, ask, kind, words):
    with pytest.raises(loopless.LooplessError, match=words) as caught:
        ask(program)
    assert type(caught.value) is getattr(loopless, kind)
    assert "\n" not in str(caught.value)


# -- settings and what is kept ----------------------------------------------------------------------------------------


def test_a_limit_of_time_is_kept_and_named():
    program = loaded("examples/looperman/fig3.c").with_settings(loop_timeout_s=0.001)
    for refused in (program[9].summarize(), program[9].classify(), program[9].automaton(), *program.summarize()):
        assert isinstance(refused, loopless.Refused)
        assert refused.reason is loopless.Reason.TIME_LIMIT
        assert "0.001 s" in refused.detail
    assert program["bubble_sort"].summarize().reason is loopless.Reason.TIME_LIMIT
    bound = program["bubble_sort"].bound()
    assert bound.upper is None
    assert bound.loops[0].refused.reason is loopless.Reason.TIME_LIMIT
    assert program["bubble_sort"].evaluate(2, [2, 1]).by == "interpretation"


def test_the_limit_of_a_call_is_kept_and_named(tmp_path):
    file = tmp_path / "long.c"
    step = "a[0] = a[0] * 6364136223846793005u + 1442695040888963407u; n = a[0] >> 33 | 1;"
    file.write_text(f"int f(unsigned long *a) {{ unsigned long n = 1; while (n) {{ {step} }} return 1; }}\n", encoding="utf-8")
    found = loopless.load(file, timeout_s=4)["f"].evaluate([0])
    assert (found.status, found.value) == ("unknown", None)
    assert "time" in found.reason


def test_the_limit_of_a_request_is_kept_and_named():
    program = loaded("examples/looperman/fig3.c").with_settings(timeout_s=0.002)
    try:
        refused = program["bubble_sort"].loops[0].summarize()
    except loopless.LimitError as error:
        detail = str(error)
    else:
        detail = refused.detail
    assert "the time for the whole request was over; --timeout raises the limit" in detail


def test_a_limit_of_memory_is_kept_and_named():
    program = loopless.load("examples/cases/triangle.c", loop_memory_mb=16, loop_timeout_s=60)
    kinds = {held.reason for held in program.summarize() if isinstance(held, loopless.Refused)}
    assert kinds == {loopless.Reason.MEMORY_LIMIT}


def test_without_a_fence_there_are_no_children(monkeypatch, program):
    from loopless.queries import limits

    monkeypatch.setattr(limits, "_Child", None)
    again = program.with_settings(loop_timeout_s=5)
    assert again.settings.fenced is False
    assert again[4].summarize().complete
    assert again["f"].evaluate(2, 2).value == 8


def test_the_reading_of_integers_is_of_the_program():
    program = loaded("examples/looperman/fig1.c")
    wide = program.with_settings(mathematical=True)
    assert program.loops[0].summarize().undefined != ()
    assert wide.loops[0].summarize().undefined == ()
    (told,) = asked("summarize", "examples/looperman/fig1.c", "--integers", "mathematical")["loops"]
    assert untimed(wide.loops[0].summarize().to_dict()) == told
    (wrapped,) = program.with_settings(wrapv=True).loops
    (told,) = asked("summarize", "examples/looperman/fig1.c", "--wrapv")["loops"]
    assert untimed(wrapped.summarize().to_dict()) == told


def test_answers_are_kept_and_those_of_other_settings_are_others(monkeypatch, program):
    asked_for = []
    ask = session.answer_all

    def counted(loops, question, settings, until=None):
        asked_for.extend((loop.name, question) for loop in loops)
        return ask(loops, question, settings, until)

    monkeypatch.setattr(session, "answer_all", counted)
    fresh = program.with_settings(loop_timeout_s=7)
    first = fresh[4].summarize()
    assert fresh[4].summarize() is first
    assert fresh["f"].loops[0].summarize(vars=None) is first
    assert len(asked_for) == 1
    everything = fresh.summarize()
    assert everything[0] is first
    assert len(asked_for) == len(fresh.loops) == len(set(asked_for))
    assert fresh.summarize() == everything
    assert len(asked_for) == len(fresh.loops)
    assert fresh[4].classify() is fresh[4].classify()
    assert fresh[4].automaton() is fresh[4].automaton()
    assert fresh["ask"].loops[0].summarize() is fresh["ask"].loops[0].summarize()
    other = fresh.with_settings(wrapv=True)
    assert other[4].summarize() is not first
    assert fresh[4].summarize() is first


def test_bounds_and_calls_are_kept(monkeypatch, program):
    from loopless.interface import program as module

    bounded, called = [], []
    bounds, evaluate = module.answer_bounds, query_calls._evaluate
    monkeypatch.setattr(module, "answer_bounds", lambda *a, **k: bounded.append(a) or bounds(*a, **k))
    monkeypatch.setattr(query_calls, "_evaluate", lambda *a: called.append(a) or evaluate(*a))
    fresh = program.with_settings(loop_timeout_s=8)
    assert fresh["f"].bound() is fresh["f"].bound()
    assert fresh[4].bound() is fresh[4].bound()
    assert fresh[5].bound().found is fresh["f"].bound().found
    assert len(bounded) == 1
    assert fresh["f"].evaluate(2, 3) is fresh["f"].evaluate(n=2, m=3)
    assert len(called) == 1
    assert fresh["f"].evaluate(3, 2).iterations != fresh["f"].evaluate(2, 3).iterations
    assert len(called) == 2


def test_the_oldest_results_of_calls_are_let_go(monkeypatch, program):
    monkeypatch.setattr(calls_module, "MOST_KEPT", 2)
    plain = program.with_settings(loop_timeout_s=9)["plain"]
    kept = [plain.evaluate(n) for n in (2, 4, 6)]
    assert plain.evaluate(6) is kept[2]
    assert plain.evaluate(2) is not kept[0]
    assert plain.evaluate(2).value == 1


def test_the_result_of_a_call_that_was_interrupted_is_not_that_of_the_next_one(monkeypatch, tmp_path):
    file = tmp_path / "slow.c"
    text = "unsigned f(unsigned n) { unsigned s = 1; for (unsigned i = 0; i < n; i++) s = s * s + (s >> 3) * i; return s; }\n"
    file.write_text(text, encoding="utf-8")
    function = loopless.load(file, loop_timeout_s=2)["f"]
    assert function.evaluate(1).value == 1
    pool_type = type(function._calls._calls._pool)
    finished = pool_type.finished

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(pool_type, "finished", interrupted)
    with pytest.raises(KeyboardInterrupt):
        function.evaluate(300)
    time.sleep(1)  # the result is there
    monkeypatch.setattr(pool_type, "finished", finished)
    assert function.evaluate(0).value == 1
    assert sum(function.evaluate(0).iterations.values()) == 0
    assert function.evaluate(2).value == 1


def test_what_is_held_travels_to_another_process(program):
    held = [
        program,
        program["f"],
        program[5],
        program[4].summarize(),
        program["f"].summarize(),
        program["f"].bound(),
        program[5].bound(),
        program[4].automaton(),
        program[4].classify(),
        program["ask"].loops[0].summarize(),
        program["f"].evaluate(2, 3),
    ]
    for one in held:
        copy = pickle.loads(pickle.dumps(one))
        assert type(copy) is type(one)
        assert (repr(copy), str(copy)) == (repr(one), str(one))


# -- what is shown ----------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The tags of an element, checked for being closed in their order, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.styles: list[str] = []
        self.words: list[str] = []
        self.cells: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert {name for name, _ in attrs} <= {"style", "class", "colspan"}
        self.styles += [value for name, value in attrs if name == "style"]
        if tag != "br":
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if "td" in self.open:
            self.cells[-1] += data


def shown_in(program):
    (asking,) = program["ask"].loops
    return {
        "program": program,
        "function": program["f"],
        "loop": program[5],
        "summary": program[5].summarize(),
        "whole": program["f"].summarize(),
        "bound": program["f"].bound(),
        "bound of a loop": program[5].bound(),
        "type": program[5].classify(),
        "refusal": asking.summarize(),
        "refusal of a function": program["ask"].summarize(),
        "call": program["f"].evaluate(2, 3),
    }


def test_everything_shows_itself_in_html(program):
    for name, held in shown_in(program).items():
        page = Page(held._repr_html_())
        assert page.tags[0] == "div", name
        assert not {"script", "style", "link", "img"} & set(page.tags), name
        # No colour is fixed, so pages of any colour will do.
        assert not [style for style in page.styles if "#" in style or "url" in style], name
        assert not [s for style in page.styles for s in style.split(";") if s.startswith("color") and s != "color:inherit"]
        ET.fromstring(held._repr_html_().replace("<br>", "<br/>"))


def test_html_says_what_the_text_says(program):
    summary = program[5].summarize()
    page = Page(summary._repr_html_())
    for case in summary.to_dict()["merged"]:
        assert any(case["iterations"]["text"] in cell for cell in page.cells)
        for value in case["then"].values():
            assert any(value["text"] in cell for cell in page.cells)
    assert any("undefined: signed overflow in line 6" in cell for cell in page.cells)
    bound = program["f"].bound()
    cells = Page(bound._repr_html_()).cells
    for loop in bound.to_dict(), *(loop.to_dict() for loop in bound.loops):
        assert f"exactly {loop['upper']['text']}" in cells
        assert loop["big_o"] in cells
    refused = program["ask"].loops[0].summarize()
    assert refused.detail in " ".join(Page(refused._repr_html_()).words)
    assert "L201" in refused._repr_html_()


def test_conditions_and_names_are_escaped(program):
    page = program[5].summarize()._repr_html_()
    assert "j &lt; m" in page
    assert "&amp;&amp;" in page
    assert "j < m" in "".join(Page(page).words)
    evil = box([heading("<b>&", "<i>"), note("<u>", ["<s>"]), table(["<th>"], [row([["<td>", "a && b"]])])])
    assert "".join(Page(evil).words) == "<b>& <i><u> <s><th><td>a && b"


def test_pictures_are_well_formed_and_have_a_background(program):
    root = ET.fromstring(program[5].automaton()._repr_svg_())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert program[5].automaton()._repr_html_() is None
    assert [polygon for polygon in root.iter() if polygon.get("fill") == "white"]


def test_at_a_prompt_there_is_one_short_line(program):
    lines = {name: repr(held) for name, held in shown_in(program).items()}
    assert all(line.startswith("<") and "\n" not in line and len(line) < 400 for line in lines.values())
    file = program.files[0]
    assert lines["program"] == f"<program {file}: functions f, sum, length, count, plain, twice, ask>"
    assert lines["function"] == f"<function f at {file}:2>"
    assert lines["loop"] == f"<loop {file}:f:5:9 inside {file}:f:4:5>"
    assert "exact, complete, type 1" in lines["summary"]
    assert "exactly" in lines["bound"]
    assert lines["type"] == f"<type 1 of {file}:f:5:9: IV conditions, sequential>"
    assert "L201 input-dependent-condition" in lines["refusal"]
    assert lines["call"] == "<call: returns 12, by summary>"


def test_a_refusal_equals_the_one_that_others_carry(program):
    refused = program["ask"].loops[0].summarize()
    assert refused == program["ask"].loops[0]._answers[next(iter(program["ask"].loops[0]._answers))].refused
    assert len({refused, loopless.Refused(refused.reason, refused.where, refused.detail)}) == 1
    assert refused != loopless.Refused(refused.reason, refused.where, "something else")


# -- the public names -------------------------------------------------------------------------------------------------


def test_what_people_hold_has_a_public_name(program):
    for held in shown_in(program).values():
        assert any(isinstance(held, getattr(loopless, name)) for name in loopless.__all__ if name != "load")
    assert isinstance(program[5].automaton(), loopless.Automaton)
    assert isinstance(program[5].summarize().cases[0], loopless.Case)
    assert isinstance(program["f"].summarize().cases[0], loopless.FunctionCase)
    assert isinstance(program[5].bound(), loopless.Bound)
    assert isinstance(program.settings, loopless.Settings)


def test_public_names_and_what_they_offer_are_documented():
    for name in loopless.__all__:
        public = getattr(loopless, name)
        assert public.__doc__, name
        for attribute, value in vars(public).items():
            if not attribute.startswith("_") and (callable(value) or isinstance(value, property)):
                inherited = (getattr(base, attribute, None) for base in public.__mro__)
                assert any(getattr(one, "__doc__", None) for one in inherited), f"{name}.{attribute}"


def test_a_script_without_a_guard_ends_by_itself(tmp_path):
    """The process that evaluates calls must neither run the script again nor keep it from ending."""
    (tmp_path / "f.c").write_text("int f(int n) { int c = 0; while (n > 0) { n--; c += 2; } return c; }\n", encoding="utf-8")
    (tmp_path / "script.py").write_text(
        textwrap.dedent("""
        import threading, time, loopless
        threading.Thread(target=time.sleep, args=(0.5,), daemon=True).start()
        function = loopless.load("f.c")["f"]
        print(function.evaluate(21).value, function.loops[0].summarize().complete)
        """),
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert (done.stdout, done.returncode, done.stderr) == ("42 True\n", 0, "")
