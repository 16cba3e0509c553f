"""Native runs: steps out of objects."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loopless.check.oracle.native import NativeHost, NativeOracle


@pytest.fixture(scope="module")
def host() -> Iterator[NativeHost]:
    with NativeHost() as shared:
        yield shared


@pytest.mark.parametrize("index", [6, 13, 14, 15, 63, 4096, 10**6])
@pytest.mark.parametrize("array", ["g.last", "h.a", "k"])
def test_no_step_out_of_a_global_reaches_another(host: NativeHost, array: str, index: int) -> None:
    """However far it goes: where no address of the step is kept, and for arrays that clang takes to be flexible."""
    text = "struct { int n; int last[5]; } g; struct { int n; struct { int x; } a[1]; } h; int k[5], room[10000];\n"
    field = f"{array}[a]" + (".x" if array == "h.a" else "")
    with NativeOracle(text + f"int f(int a) {{ room[0]++;\n return {field}; }}", host=host) as oracle:
        outcome = oracle.run("f", [index])
    assert (outcome.status, "line 3" in outcome.detail) == ("undefined", True), outcome
