"""Places that runs are to get to, from Python."""

from __future__ import annotations

import pytest

import loopless
from loopless.errors import UsageError

TEXT = """int f(int n) {
    int i = 0;
    while (i < n)
        i += 4;
    if (i == 12)
        return 1;
    if (i == 15)
        return 2;
    return 0;
}
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(TEXT, encoding="utf-8")
    return loopless.load(file)


def test_what_is_reached_has_its_inputs_and_a_test(program, tmp_path):
    found = program.reach(6)
    assert found
    assert found.verdict == "reached"
    assert 8 < found.inputs.arguments[0].value <= 12
    assert "f(n);" in found.c_test(tmp_path)
    assert repr(found) == f"<{program.files[0]}:6: reached>"
    assert found.as_json()["verdict"] == "reached"
    assert "reached" in found._repr_html_()


def test_what_nothing_reaches_has_its_certificate(program, tmp_path):
    found = program.reach(8, timeout_s=30.0)
    assert not found
    assert found.verdict == "unreachable"
    assert found.inputs is None
    with pytest.raises(UsageError, match="no test to write"):
        found.c_test(tmp_path)


@pytest.mark.parametrize(
    ("asked", "said"),
    [({}, "give one of them"), ({"line": 99}, "has 10 lines"), ({"line": 6, "minimize": "x"}, "nothing to minimize")],
)
def test_what_is_no_place_is_an_error(program, asked, said):
    with pytest.raises(UsageError, match=said):
        program.reach(**asked)
