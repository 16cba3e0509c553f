"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import pickle
import re

import pytest

from loopless.patterns import pattern


def test_a_pattern_answers_as_a_compiled_one() -> None:
    text, flags = r"^(\w+): (?P<value>\d+)$", re.MULTILINE
    late, early = pattern(text, flags), re.compile(text, flags)
    for line in ("a: 1\nbc: 22", "a: x", ""):
        assert [m.groups() for m in late.finditer(line)] == [m.groups() for m in early.finditer(line)]
        assert late.sub(r"\2", line) == early.sub(r"\2", line)
        assert bool(late.fullmatch(line)) == bool(early.fullmatch(line))
    assert (late.pattern, late.flags) == (early.pattern, early.flags)


def test_a_pattern_of_bytes_is_one_of_bytes() -> None:
    assert pattern(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_a_wrong_expression_is_told_at_its_first_use() -> None:
    wrong = pattern("(")
    with pytest.raises(re.error, match="unterminated"):
        wrong.match("")


def test_an_attribute_that_patterns_lack_is_an_error() -> None:
    with pytest.raises(AttributeError):
        pattern("a").no_such_method  # type: ignore[attr-defined]  # noqa: B018


def test_a_pattern_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(pattern("a+"))).fullmatch("aa")
