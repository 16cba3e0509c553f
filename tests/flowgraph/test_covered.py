"""Which steps of pointers an access vouches for: those to right behind what the same iteration surely reads or writes."""

from __future__ import annotations

import pytest

from loopless.flowgraph.model import Check
from runs_of_text import flowgraph, statements


@pytest.mark.parametrize(
    ("body", "open_steps"),
    [
        ("while (*p) s += *p++;", 0),
        ("for (; *p; p++) s++;", 0),
        ("while (n-- > 0) *p++ = 7;", 0),
        ("if (!p) p = r; while (n-- > 0) *p++ = 7;", 0),
        ("while (n-- > 0) { s += *p; if (s > 9) s = 0; p++; }", 0),
        ("while (n-- > 0) { if (s > 9) s += *p; else *p = 1; p++; }", 0),
        ("while (n-- > 0) { s += *w; w++; }", 0),
        ("while (n-- > 0) { s += *p; p += 2; }", 1),  # one byte is read
        ("while (n-- > 0) { s += *w; w += 2; }", 1),
        ("while (n-- > 0) { s += *p; p--; }", 1),
        ("while (n-- > 0) p++;", 1),
        ("s = *p; while (n-- > 0) { q = p + 1; s += q == r; }", 1),  # what was read before the loop is not its own
        ("while (n-- > 0) { s += *p; p = r; p++; }", 1),
        ("while (n-- > 0) { if (s > 9) s += *p; p++; }", 1),
        ("while (n-- > 0) { s += *r; p++; }", 1),
        ("while (n-- > 0) { q = p; p++; g(); s += *q; }", 1),  # the call may end the run
        ("while (n-- > 0) { p++; s += *p; }", 0),
    ],
)
def test_a_step_behind_what_is_accessed_needs_no_check_of_its_own(body: str, open_steps: int) -> None:
    head = "void g(void); int f(char *p, short *w, char *r, int n) { int s = 0; char *q = 0;"
    checks = statements(flowgraph(f"{head} {body} return s + (q != 0); }}"), Check)
    assert len([check for check in checks if check.place is not None and not check.of_access]) == open_steps
