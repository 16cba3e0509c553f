"""`loopless bound`: the classes of counts, and the inputs along which they grow."""

from __future__ import annotations

import pytest


def test_exact_counts_have_a_lower_class(answer, tmp_path):
    file = tmp_path / "classes.c"
    file.write_text(
        "int f(int n, int m) { int c = 0; while (n > 0) { if (m > 0) m--; else n--; c++; } return c; }\n"
        "int h(int n) { int c = 0; for (int i = 0; i < n; i += 3) c++; return c; }\n"
        "int g(int n, const int *a) { int i = 0; while (i < n && a[i]) i++; return i; }\n",
        encoding="utf-8",
    )
    _, document = answer("bound", file)
    classes = {found["name"]: (found["big_o"], found["big_omega"]) for found in document["functions"]}
    assert classes == {"f": ("O(m + n)", "Omega(size)"), "h": ("O(n)", "Omega(n)"), "g": ("O(n)", None)}


@pytest.mark.slow
def test_inputs_along_which_a_count_grows_as_fast_as_its_class(answer, run, tmp_path):
    file = tmp_path / "worst.c"
    file.write_text(
        "int f(int n, int m, int k) { int c = 0; for (int i = m; i < n; i++) for (int j = k; j < 0; j++) c++; return c; }\n"
        "int h(int n, int m) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++); return n; }\n"
        "int g(int n) { int c = 0; while (c < 9 && c < n) c++; return c; }\n",
        encoding="utf-8",
    )
    _, document = answer("bound", file)
    worst = {found["name"]: found["worst_inputs"] for found in document["functions"]}
    assert worst["g"] is None
    assert worst["f"] == {"k": "-N", "m": "-N", "n": "N"}
    counts = []
    for size in (20, 40, 80):
        values = {name: {"N": size, "-N": -size, "0": 0}[sign] for name, sign in worst["f"].items()}
        _, evaluated = answer("eval", file, "f", values["n"], values["m"], values["k"])
        counts.append(evaluated["return"])
    assert counts[1] >= 3 * counts[0] > 0
    assert counts[2] >= 3 * counts[1]
    until = next(found["worst_until"] for found in document["functions"] if found["name"] == "f")
    assert 1 << 14 <= until < 32768  # c comes to 2·N·N, which is beyond an int from N = 32768 on
    shown = f"worst inputs seen: k=-N, m=-N, n=N (Omega(size^2) up to N={until}, beyond which"
    assert shown in run("bound", file, "--function", "f").stdout
    assert "worst inputs seen: m=N, n=N (Omega(m*n) as N grows)" in run("bound", file, "--function", "h").stdout
