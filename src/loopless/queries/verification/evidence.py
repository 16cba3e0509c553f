"""Evidence of a verdict: what a proof says, for the judge and for readers, and the judge in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from loopless import clock
from loopless import terms as t
from loopless.check.certificates.judge import CertifiedClaim
from loopless.errors import LimitError
from loopless.flowgraph.model import Flowgraph, LoopInfo, VariableInfo
from loopless.limits.queries import JUDGE_GRACE_S, JUDGE_QUESTION_S, WITHOUT_HISTORY_OPERATIONS
from loopless.logic import BudgetExceeded, NotPresburger, Region, budget, is_quasi_affine
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.transition.relation import TransitionSystem


@dataclass(frozen=True, slots=True)
class ToldInvariant:
    """What a proof says holds at a loop, for readers: in C syntax over unbounded integers (``text``), as C that cannot
    overflow itself (``c``; empty where C has no words), and what falls with each iteration (``rank``).
    """

    file: str
    line: int
    column: int
    function: str
    text: str
    c: str = ""
    rank: str = ""


def claim_of(invariants: Mapping[str, Sequence[t.Condition]], system: TransitionSystem) -> CertifiedClaim:
    """The invariants as SMT-LIB, those that it has words for; every cutpoint has some, if only what always holds."""
    found: dict[str, tuple[str, ...]] = {}
    for label in system.cutpoints:
        parts = [part for condition in invariants.get(label, ()) for part in t.conjuncts(condition)]
        found[label] = tuple(text for text in (t.smt(part) for part in parts) if text is not None)
    return CertifiedClaim(found)


def without_history(
    invariants: Mapping[str, Sequence[t.Condition]], system: TransitionSystem
) -> dict[str, tuple[t.Condition, ...]]:
    """What the invariants say without history variables, for readers who have none: that there are values of these,
    where that is linear; else the conjuncts without them.
    """
    variables = system.graph.variables.keys()
    found: dict[str, tuple[t.Condition, ...]] = {}
    for label, conditions in invariants.items():
        plain = tuple(part for part in conditions if part.variables <= variables)
        linear = t.conjunction(part for part in conditions if is_quasi_affine(part))
        history = linear.variables - variables
        if history and linear.variables & variables:
            try:
                with budget(WITHOUT_HISTORY_OPERATIONS):
                    plain = (*plain, *t.conjuncts(Region.of(linear).project_out(history).condition()))
            except (NotPresburger, BudgetExceeded, t.TermTooLarge):
                pass  # readers are told less, which is true all the same
        found[label] = tuple(dict.fromkeys(plain))
    return found


_WORDS_OF_C: Final = (t.Var, t.Const, t.Sum, t.Compare, t.And, t.Or, t.Truth)


def told(
    system: TransitionSystem,
    invariants: Mapping[str, Sequence[t.Condition]],
    ranks: Mapping[str, Sequence[t.Term]] | None = None,
) -> tuple[ToldInvariant, ...]:
    """What holds at the loops of a program."""
    found: list[ToldInvariant] = []
    graph = system.graph
    for loop in graph.loops:
        source = _seen_at(graph, loop)
        known = (var for var, info in graph.variables.items() if info.is_source)
        names = {var: t.Var(source.get(var, var.name), var.type) for var in known}
        cast_names = {var: t.Var(f"(__int128){shown}", var.type) for var, shown in source.items()}
        parts = [part for condition in invariants.get(loop.header, ()) for part in t.conjuncts(condition)]
        shown = t.text(t.substitute(t.conjunction(parts), names)) if parts else "true"
        plain = [part for part in parts if part.variables <= source.keys() and all(map(_is_c, t.walk(part)))]
        c = t.text(t.substitute(t.conjunction(plain), cast_names)) if plain and loop.inlined_from is None else ""
        falling = () if ranks is None else ranks.get(loop.header, ())
        components = [term for term in falling if not isinstance(term, t.Const)]
        rank = ", then ".join(t.text(t.substitute(term, names)) for term in components)
        found.append(ToldInvariant(loop.file, loop.line, loop.column, graph.source_name, shown, c, rank))
    return tuple(found)


def told_contracts(graph: Flowgraph, contracts: Mapping[str, Sequence[t.Condition]]) -> dict[str, str]:
    """By function what its contract says, in C syntax with the words of ACSL: parameters are what was given."""
    found: dict[str, str] = {}
    for name, parts in contracts.items():
        if not parts:
            continue
        signature = graph.signatures[name]
        shown: dict[t.Var, t.Term] = {}
        for var, held in signature.given.items():
            word = graph.variables[var].shown
            shown[held] = t.Var(f"\\old({word})" if var in signature.globals else word, held.type)
        shown |= {var: t.Var(graph.variables[var].shown, var.type) for var in signature.globals}
        if signature.result is not None:
            shown[signature.result] = t.Var("\\result", signature.result.type)
        found[name] = t.text(t.substitute(t.conjunction(parts), shown))
    return found


def _seen_at(graph: Flowgraph, loop: LoopInfo) -> dict[t.Var, str]:
    """The variables that C names at a loop, with what it calls them: not those behind others of their name, nor those
    of other functions.
    """
    named: dict[str, list[VariableInfo]] = {}
    for info in graph.variables.values():
        if info.is_source and _C_NAME.fullmatch(info.shown):
            named.setdefault(info.shown, []).append(info)
    return {info.var: shown for shown, infos in named.items() for info in infos if _is_seen(info, infos, loop.line)}


_C_NAME: Final = pattern(r"[^:@#' ]+")
"""What C can say; names of what is elsewhere have marks of ours."""


def _is_seen(info: VariableInfo, others: Sequence[VariableInfo], line: int) -> bool:
    """Whether in a line the name of a variable means it: it is declared there, and none of this name since."""
    begun = info.declared.line if info.declared is not None else 0
    lines = (other.declared.line if other.declared is not None else 0 for other in others if other is not info)
    return begun <= line and all(there < begun or there > line for there in lines)


def _is_c(node: t.Node) -> bool:
    return isinstance(node, _WORDS_OF_C)


def places(graph: Flowgraph) -> dict[str, tuple[str, int]]:
    """File and line of the headers of loops."""
    return {loop.header: (loop.file, loop.line) for loop in graph.loops}


_GLANCE_S: Final = 0.2
"""So often it is looked how much the judge works."""


class WaitingJudge:
    """The judge in a process that imports no method, which starts while there is nothing to judge yet: that a third
    of its time is gone when a certificate comes.
    """

    def __init__(self) -> None:
        root = str(Path(__file__).resolve().parents[2])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "loopless.check.certificates"],
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def judge(self, document: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """What the judge says of the certificate; it judges one."""
        request = f"{seconds:.1f}\n{json.dumps(document)}"
        before = clock.of_ended_children()
        try:
            out, err = self._answer(request, seconds + JUDGE_GRACE_S)
        except LimitError as error:
            self.close()
            return {"accepted": False, "failed": [str(error)], "undefined": []}
        clock.others(clock.of_ended_children() - before)
        if self._process.returncode not in (0, 1) or not out:
            words = err.strip().splitlines() or ["it ended without a word"]
            return {"accepted": False, "failed": [words[-1]], "undefined": []}
        answer: dict[str, Any] = json.loads(out)
        clock.count(JUDGE_QUESTION_S * answer.get("questions", 1))
        return answer

    def _answer(self, request: str, seconds: float) -> tuple[str, str]:
        """What the process prints, and its errors. Raises :class:`LimitError` where it works longer than that."""
        watch, given = clock.Watch(self._process.pid), [request]
        while True:
            try:
                return self._process.communicate(given.pop() if given else None, timeout=_GLANCE_S)
            except subprocess.TimeoutExpired:
                over = watch.over(seconds)
            if over is not None:
                why = "" if over == "work" else f": {clock.CUT_BY_WALL}"
                raise LimitError(f"the judge met its limit of time{why}")

    def close(self) -> None:
        """End the process, where it has not ended itself."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


def judge_apart(document: Mapping[str, Any], seconds: float, waiting: WaitingJudge | None = None) -> dict[str, Any]:
    """What the judge says of a certificate, in a process that imports no method: ``waiting``, or a new one."""
    return (waiting or WaitingJudge()).judge(document, seconds)
