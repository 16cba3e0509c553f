"""Members of structures that pointers in memory lead to are called as C calls them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from answers_in_c import answers
from loopless.queries import program as session
from loopless.queries.call_values.layouts import layouts_in
from loopless.queries.loops import answers as answers_module
from loopless.queries.loops.answer import LoopAnswer
from loopless.report.json_report import loop
from loopless.report.text import TextLayout, summaries

SCHEMA = json.loads(files("loopless.report").joinpath("schema.json").read_text(encoding="utf-8"))

_DECODER = """
typedef struct { char *next; unsigned left; unsigned total; } source;
typedef struct { source *from; int live; unsigned bits; char used[256]; } decoder;
void more(decoder *d);
int need(decoder *d, int n) {
  more(d);
  d->used[n & 255] = 1;
  while (d->live < n) {
    if (d->from->left == 0) return -1;
    d->bits = (d->bits << 8) | *(unsigned char *) d->from->next;
    d->live += 8;
    d->from->next++;
    d->from->left--;
    d->from->total++;
  }
  return 0;
}
"""


def test_what_pointers_loaded_in_front_of_loops_point_to_is_declared(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(_DECODER, encoding="utf-8")
    found = layouts_in(session.load([file])["need"])
    assert found["d->from"].array is not None
    assert found["d->from"].array.members[8, 4].name == ".left"
    assert found["d->from->next"].array is not None
    assert found["d->from->next"].array.size == 1


def test_the_decoder_tells_its_pointer_and_all_members() -> None:
    (found,) = answers(_DECODER)
    shown = summaries([found], TextLayout(all_states=True))
    assert found.status == "exact"
    assert not found.untold
    assert "d->from->next' = d->from->next + ceil_div(n - d->live, 8)" in shown
    assert "d->from'[0].left = (uint32_t)(d->from[0].left - ceil_div(n - d->live, 8))" in shown
    assert "not told" not in shown
    assert "char *)" not in shown


def test_json_tells_the_pointer_that_a_place_holds() -> None:
    (found,) = answers(_DECODER)
    case = next(case for case in loop(found)["cases"] if case["iterations"]["text"] == "ceil_div(n - d->live, 8)")
    (layer,) = (layer for layer in case["contents"] if "pointer" in layer)
    jsonschema.validate(layer, {"$ref": "#/$defs/layer", "$defs": SCHEMA["$defs"]})
    assert layer["value"] is None
    assert layer["pointer"]["object"]["text"] == "object(d->from->next)"
    assert layer["pointer"]["offset"]["text"] == "d->from->next + ceil_div(n - d->live, 8)"


def test_elements_of_a_member_that_data_chooses_are_elements_of_the_member() -> None:
    head = "struct s { int n; unsigned char used[256]; unsigned map[16]; };\n"
    for place, value, told in (
        ("used[b[i]]", "1", "p->used'[j] = 1 for last(k < n - i: b[i + k] == j) >= 0"),
        ("map[b[i] & 15]", "i", "p->map'[j] = (uint32_t)("),
        ("map[b[i] & 7]", "p->map[b[i] & 7] + 1", "p->map'[j] = "),
    ):
        loop = f"for (int i = 0; i < n; i++) p->{place} = {value};"
        (found,) = answers(f"{head}void f(struct s *p, const unsigned char *b, int n) {{ {loop} }}")
        assert told in summaries([found], TextLayout(all_states=True))


def test_what_is_noted_before_a_limit_has_the_names_too(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[LoopAnswer] = []
    monkeypatch.setattr(answers_module, "note", noted.append)
    monkeypatch.setattr(answers_module, "LOOP_NOTED_AFTER_S", -1.0)
    answers(_DECODER.replace("total", "count"))  # what is kept of the other tests is no answer here
    shown = [summaries([found], TextLayout(all_states=True)) for found in noted if found.summary is not None]
    assert any("d->from[0].left" in text for text in shown)
    assert not any("char *)" in text for text in shown)
