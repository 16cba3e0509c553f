"""How ``bench/parsers.py`` judges answers about parsers with and without a hang."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from parsers import Parser, hanging, parsers, row

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="native runs are compiled by cc")


def _named(name: str) -> tuple[Parser, Parser]:
    with_hang, fixed = parsers([name])
    assert (with_hang.fixed, fixed.fixed) == (False, True)
    return with_hang, fixed


def test_there_are_ten_parsers() -> None:
    assert len(parsers([])) == 20


def test_random_inputs_show_a_hang(tmp_path: Path) -> None:
    """A line without a colon hangs the one, and what is no number the other: most inputs have these."""
    for name in ("header", "calculator"):
        with_hang, fixed = _named(name)
        assert hanging(with_hang, 4, tmp_path) > 0
        assert hanging(fixed, 40, tmp_path) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tlv", "words", "rle"])
def test_answers_are_right(name: str) -> None:
    for parser in _named(name):
        assert row(parser, 40.0, 20).right
