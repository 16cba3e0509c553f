"""The reader of printed formulas, by the notation of the documentation."""

from __future__ import annotations

import pytest

from loopless.errors import UsageError
from loopless_fuzz.judging.printed import Array, Untold, evaluate_text

ARRAYS = {"s": Array(8, signed=True, elements=[-1, 3, 7]), "b": Array(16, signed=False, elements=[513, 3])}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*3 - -4", 11),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("floor_div(-7, 2) + mod(-7, 2)", -3),
        ("n > 2 ? 1 : n == 2 && !(n < 0) ? 5 : 9", 5),
        ("(n & 3) + (n << 4)", 34),
        ("2^31 - 1 == INT_MAX", 1),
        ("(uint8_t)s[0] - s[0]", 256),
        ("(int8_t)(s[2] + 125)", -124),
        ("*(uint8_t *)((char *)b + 1)", 2),
        ("*(uint16_t *)((char *)b + 1)", 2 + 3 * 256),
        ("*(int16_t *)((char *)s + (n - 2))", 1023),
        ("first(k < n: s[k] > 0)", 1),
        ("first(k <= n: s[k] == 9)", 3),
        ("count(k < 3: s[k] > 0)", 2),
        ("sum(k < 3: s[k]*s[k])", 59),
        ("least(5; k < 3: s[k]) + greatest(5; k < 3: s[k])", 6),
        ("least(k: k*k >= 10)", 4),
        ("last(k < 3: s[k] == 3)", 1),
        ("all(k < 3: s[k] >= -1) && some(k < 3: s[k] == 7)", 1),
        ("fold(v = 1; k < 3: v' = 2*v + s[k])", 17),
        ("fold(v = 1, v1 = 0; k < 3: v' = v + v1, v1' = s[k]).v1", 7),
        ("sum(k < 2: first(k1 < 3: s[k1] > k))", 2),
        ("n == 2 || s[5] == 0", 1),
        ("s[5] == 0 || n == 2", 1),
    ],
)
def test_a_text_means_what_the_documentation_says(text: str, value: int) -> None:
    assert evaluate_text(text, {"n": 2}, ARRAYS) == value


def test_what_is_not_given_has_no_value() -> None:
    for text in ("m", "s[3]", "s[-1]", "x[0]", "*(int32_t *)((char *)b + 1)", "1 / (n - 2)", "first(k: s[k] == 9)"):
        with pytest.raises(Untold):
            evaluate_text(text, {"n": 2}, ARRAYS)
    for text in ("1 +", "n n", "?", "first(k < : 1)", "(int)n m"):
        with pytest.raises(UsageError):
            evaluate_text(text, {"n": 2}, ARRAYS)


def test_names_of_parts() -> None:
    assert evaluate_text("t2 + t1", {"n": 2}, ARRAYS, [("t1", "n + 1"), ("t2", "t1*t1")]) == 12
