"""Properties of programs from Python."""

from __future__ import annotations

import pytest

import loopless
from loopless.errors import UsageError

RIGHT = "int main(void) { int i = 0; while (i < 60) i += 3; if (i != 60) reach_error(); return 0; }\n"
WRONG = "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 100) x -= 7; if (x == 97) reach_error(); return 0; }\n"
HEAD = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\n"


@pytest.fixture
def program(tmp_path):
    def made(text):
        file = tmp_path / "a.c"
        file.write_text(HEAD + text, encoding="utf-8")
        return loopless.load(file)

    return made


def test_a_proof_holds_and_has_its_certificate(program):
    found = program(RIGHT).verify()
    assert found
    assert found.holds is True
    assert found.certificate["property"] == "unreach-call"
    assert list(found.invariants) == [f"{program(RIGHT).files[0]}:2:29"]
    assert str(found).startswith("true: ")
    assert found.as_json()["verdict"] == "true"
    assert "true" in found._repr_html_()


def test_a_violation_has_its_inputs(program):
    found = program(WRONG).verify()
    assert found.holds is False
    assert not found
    assert found.inputs[0] % 7 == 97 % 7
    assert found.inputs[0] >= 97
    assert str(found.inputs[0]) in found.harness
    assert repr(found) == "<unreach-call: false(unreach-call)>"


def test_what_is_asked_has_to_be_a_property(program):
    with pytest.raises(UsageError, match="no property 'ends'"):
        program(RIGHT).verify("ends")


SUMS = """extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) { int t = 0; for (int i = 0; i < 100; i++) t += __VERIFIER_nondet_uchar();
    if (t > 25500) reach_error(); return 0; }
"""
TOGGLES = """int main(void) { int q = 0, t = 0;
    while (__VERIFIER_nondet_int()) { if (__VERIFIER_nondet_int() == 34) { q = 1 - q; t++; } if (t > 1000) break; }
    if (t == 15 && q == 0) reach_error(); return 0; }
"""


@pytest.mark.parametrize("text", [SUMS, TOGGLES])
def test_sums_of_data_and_flags_that_turn_with_a_counter_are_proved(program, text):
    assert program(text).verify(timeout_s=30.0)


@pytest.mark.parametrize("text", [SUMS.replace("t > 25500", "t > 25499"), TOGGLES.replace("t == 15", "t == 16")])
def test_what_is_one_off_is_not_proved(program, text):
    assert program(text).verify(timeout_s=1.5).holds is not True
