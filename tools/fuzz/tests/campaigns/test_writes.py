"""The judge of what calls write finds what effects leave out."""

from dataclasses import replace

import pytest

from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless_fuzz.campaigns import writes
from loopless_fuzz.judging.counting import Activation

TEXT = """\
static int a, b;
static void g(int *p, int n) { p[0] += n; b ^= n; }
int main(void) { g(&a, 2); return a; }
"""
REGIONS = {"a": (1000, 4), "b": (1004, 4), "p": (1000, 4)}


def judged(changed, tmp_path):
    file = tmp_path / "case.c"
    file.write_text(TEXT, encoding="utf-8")
    module = load([file], Settings()).source.module
    call = Activation("g", True, {}, REGIONS, {}, 0, 1, 1, frozenset(changed))
    return dict(writes.written_by((module,), call))


def test_what_a_call_writes_by_any_name_of_it(tmp_path):
    assert judged({"a", "b", "p"}, tmp_path) == {"a": True, "b": True, "p": True}


@pytest.mark.parametrize(("dropped", "missing"), [("p", {"a", "p"}), ("b", {"b"})])
def test_a_place_that_effects_leave_out(dropped, missing, tmp_path, monkeypatch):
    known = writes.facts_of

    def faulty(module):
        facts = known(module)
        own = facts.effects["g"]
        fewer = replace(own, writes=frozenset(cell for cell in own.writes if cell.base.name != dropped))
        assert fewer != own
        return replace(facts, effects={**facts.effects, "g": fewer})

    monkeypatch.setattr(writes, "facts_of", faulty)
    assert {name for name, has in judged({"a", "b", "p"}, tmp_path).items() if not has} == missing
