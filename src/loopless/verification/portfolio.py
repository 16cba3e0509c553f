"""The methods for safety in the order in which they are tried: cheap first, and again with more time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from loopless.verification.proofs import Search


def safety_methods(
    search: Search,
    native: Callable[[float], Any],
    guided: Callable[[float], Any] = lambda _: None,
) -> Sequence[tuple[str, Callable[[], Any]]]:
    """By their names. ``native`` runs the compiled program for so many seconds; once Spacer has said that there is a
    violation, only what looks for one is asked. ``guided`` looks for a run into one by counters of
    paths.
    """
    refuted: list[bool] = []

    def horn(seconds: float) -> Any:
        if refuted:
            return None
        found = search.by_horn(seconds)
        if found is False:
            refuted.append(True)
        return found

    def proof(method: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: None if refuted else method()

    return (
        ("no invariant needed", search.trivially),
        ("summaries", lambda: search.by_summaries(1.0)),
        ("single runs", lambda: search.sampled(0.3)),
        ("equations", proof(lambda: search.by_plain_equations(2.0) if search.multiplies else None)),
        ("Houdini", proof(lambda: search.by_candidates(2.0))),
        ("equations", proof(lambda: search.by_plain_equations(3.0) if search.asserts_sums else None)),
        ("guided search", lambda: guided(1.0)),
        ("equations", proof(lambda: search.by_equations(1.5, 2) if search.multiplies else None)),
        ("Spacer", lambda: horn(1.0)),
        ("paths", lambda: search.by_paths(1.0)),
        ("summaries", lambda: search.by_summaries(8.0)),
        ("native runs", lambda: native(1.0)),
        ("guided search", lambda: guided(5.0)),
        ("cases", proof(lambda: search.by_cases(2.0))),
        ("equations", proof(lambda: search.by_equations(4.0, 2))),
        ("k-induction", proof(lambda: search.by_steps(2.0))),
        ("equations", proof(lambda: search.by_plain_equations(15.0) if search.multiplies else None)),
        ("Spacer", lambda: horn(5.0)),
        ("paths", lambda: search.by_paths(5.0)),
        ("cases", proof(lambda: search.by_cases(8.0))),
        ("equations", proof(lambda: search.by_equations(8.0, 3))),
        ("Spacer", lambda: horn(15.0)),
        ("paths", lambda: search.by_paths(20.0, 2000)),
        ("native runs", lambda: native(12.0)),
    )
