"""Loops with several iterative paths: so far only the entry values that leave at once."""

from __future__ import annotations

from loopless.paths.model import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.summary.model import Case, Residual, Summary, Undefined
from loopless.summary.single import where
from loopless.terms import FALSE, ZERO, disjunction


def summarize_exits_only(paths: LoopPaths) -> Summary:
    """Exact where the loop is left in the first iteration; all other entry values are residual."""
    cases: list[Case] = []
    undefined: list[Undefined] = []
    residual: list[Residual] = []
    for path in paths.exits:
        assert path.exit is not None
        if path.exit.kind == "undefined":
            undefined.append(Undefined(path.condition, path.exit.detail, path.exit.line))
        elif path.exit.kind == "unsupported":
            refused = Refused(Reason.UNSUPPORTED_INSTRUCTION, where(paths), path.exit.detail)
            residual.append(Residual(path.condition, refused))
        else:
            cases.append(Case(path.condition, dict(path.update), path.exit, path.id, ZERO, {}, (), path.result))
    detail = f"{len(paths.iterative)} paths interleave: " + "; ".join(
        f"s{p.id}: {p.condition}" for p in paths.iterative
    )
    refused = Refused(Reason.MULTI_PATH, where(paths), detail)
    residual.append(Residual(disjunction(p.condition for p in paths.iterative), refused))
    return Summary(
        paths.loop, paths, tuple(cases), FALSE, tuple(undefined), tuple(residual), "exits", paths.assumptions
    )
