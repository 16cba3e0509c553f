"""Loops that forget: a variable becomes an input, so that the loop's own run is one of those that it may make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopless.flowgraph.model import Origin
from loopless.paths import LoopPaths, Path, Unknown
from loopless.refusals import Reason, Refused
from loopless.summary import LoopSummary
from loopless.summary.approximation.method import approximated
from loopless.terms import Var, substitute


def without(paths: LoopPaths, var: Var) -> LoopPaths:
    """The paths with any value for ``var`` whenever it is read."""

    def path_without(path: Path) -> Path:
        unknown = Var(f"any()'{path.id}", var.type)
        fixed = {var: unknown}
        return replace(
            path,
            condition=substitute(path.condition, fixed),
            update={v: substitute(term, fixed) for v, term in path.update.items() if v is not var},
            result=substitute(path.result, fixed) if path.result is not None else None,
            outputs=path.outputs - {var},
            unknowns=(*path.unknowns, Unknown(unknown, Origin.NONDET, "any", None)),
        )

    return replace(
        paths,
        iterative=tuple(map(path_without, paths.iterative)),
        exits=tuple(map(path_without, paths.exits)),
        state=tuple(v for v in paths.state if v is not var),
        invariants=tuple(v for v in paths.invariants if v is not var),
        shown=tuple(v for v in paths.shown if v is not var),
    )


def forgetful(paths: LoopPaths) -> Iterator[LoopPaths]:
    """The paths themselves, and without each variable."""
    yield paths
    for var in (*paths.state, *paths.invariants):
        yield without(paths, var)


def shadow(paths: LoopPaths) -> LoopSummary:
    """The approximation of all states, as if nothing exact were known."""
    found = approximated(paths, Refused(Reason.INPUT_DEPENDENT, "here", "for the test"))
    assert isinstance(found, LoopSummary)
    return found
