"""What is held shows itself, and has a public name."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import loopless
from asked_both_ways import ROOT
from loopless.report.html import box, heading, note, row, table


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


def refused_loop(program):
    """A refusal of a loop: jumps come into the middle of it."""
    file = Path(program.files[0]).with_name("jumping.c")
    file.write_text(
        "int f(int n) { if (n > 5) goto in; while (n > 0) { n--; in: n--; } return n; }\n", encoding="utf-8"
    )
    return loopless.load(file, sandboxed=False).loops[0].summarize()


def shown_in(program):
    return {
        "program": program,
        "function": program["f"],
        "loop": program[5],
        "summary": program[5].summarize(),
        "whole": program["f"].summarize(),
        "bound": program["f"].bound(),
        "bound of a loop": program[5].bound(),
        "type": program[5].classify(),
        "approximation": program["drop"].loops[0].summarize(),
        "refusal": refused_loop(program),
        "refusal of a function": program["drop"].summarize(),
        "call": program["f"].evaluate(2, 3),
    }


def test_everything_shows_itself_in_html(program):
    for name, held in shown_in(program).items():
        page = Page(held._repr_html_())
        assert page.tags[0] == "div", name
        assert not {"script", "style", "link", "img"} & set(page.tags), name
        # No colour is fixed, so pages of any colour will do.
        assert not [style for style in page.styles if "#" in style or "url" in style], name
        assert not [
            s for style in page.styles for s in style.split(";") if s.startswith("color") and s != "color:inherit"
        ]
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
    refused = program["drop"].summarize()
    assert refused.detail in " ".join(Page(refused._repr_html_()).words)
    assert refused.reason.code in refused._repr_html_()
    approximate = program["drop"].loops[0].summarize()
    words = " ".join(Page(approximate._repr_html_()).words)
    assert all(part.why.detail in words for part in approximate.residual)
    assert "over-approximate: may leave so" in words
    assert "L201" in words


def test_first_times_have_short_names_in_html_too(tmp_path):
    """The least k from which (i+k)^3 + i + k >= n is told once, below the case that speaks of it several times."""
    file = tmp_path / "cube.c"
    file.write_text(
        "int f(int n, int s) { int i = 0; while ((long)i*i*i + i < n) { i++; s = 2 * i; } return s + i; }\n",
        encoding="utf-8",
    )
    summary = loopless.load(file, sandboxed=False).loops[0].summarize()
    cells = Page(summary._repr_html_()).cells
    told = next(
        line.strip()
        for line in summary.text(all_states=True).splitlines()
        if line.strip().startswith("where N = least(")
    )
    assert told in cells
    assert "i' = i + Ns' = 2*i + 2*N" in cells


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
    assert lines["program"] == f"<program {file}: functions f, sum, length, count, plain, twice, ask, drop>"
    assert lines["function"] == f"<function f at {file}:2>"
    assert lines["loop"] == f"<loop {file}:f:5:9 inside {file}:f:4:5>"
    assert "exact, complete, type 1" in lines["summary"]
    assert "exactly" in lines["bound"]
    assert lines["type"] == f"<type 1 of {file}:f:5:9: IV conditions, sequential>"
    assert "L101 irreducible-control-flow" in lines["refusal"]
    assert "over-approximate, type 3, by path counters, 2 ways to leave" in lines["approximation"]
    assert lines["call"] == "<call: returns 12, by interpretation>"


def test_a_refusal_equals_the_one_that_others_carry(program):
    refused = refused_loop(program)
    assert refused == loopless.Refused(refused.reason, refused.where, refused.detail)
    assert len({refused, loopless.Refused(refused.reason, refused.where, refused.detail)}) == 1
    assert refused != loopless.Refused(refused.reason, refused.where, "something else")


def test_what_people_hold_has_a_public_name(program):
    for held in shown_in(program).values():
        assert any(isinstance(held, getattr(loopless, name)) for name in loopless.__all__ if name != "load")
    assert isinstance(program[5].automaton(), loopless.LoopAnswer)
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
    (tmp_path / "f.c").write_text(
        "int f(int n) { int c = 0; while (n > 0) { n--; c += 2; } return c; }\n", encoding="utf-8"
    )
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
