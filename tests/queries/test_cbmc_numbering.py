"""Numbers of loops as CBMC gives them, by the text of the file as it is now."""

from __future__ import annotations

from pathlib import Path

from loopless.queries.bounds.cbmc_numbering import numbered_otherwise
from loopless.queries.program import load

ONE = "int f(int n) { int k = 0; while (k < n) k++; return k; }\n"
TWO = "int f(int n) { int k = 0; while (k < n) k++; while (k > 0) k -= 2; return k; }\n"


def test_a_file_that_changed_is_read_anew(tmp_path: Path) -> None:
    """A process may ask about a file, and again when it was edited."""
    file = tmp_path / "a.c"
    for text in (ONE, TWO, ONE):
        file.write_text(text)
        assert numbered_otherwise(load([file])["f"]) is None
