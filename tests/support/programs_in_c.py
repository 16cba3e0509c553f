"""Whole programs in C for tests of proofs: compiled once per source, as flowgraphs that begin with ``main``."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from loopless import clock
from loopless.check.certificates.property import Follows, Property, graph_of, violates
from loopless.flowgraph.model import Flowgraph
from loopless.logic.induction import entailed
from loopless.portfolio import answered
from loopless.refusals import Reason, Refused
from loopless.source import SourceProgram, load
from loopless.terms import Var
from loopless.transition.building import system_of
from loopless.transition.relation import TransitionSystem
from loopless.verification.portfolio import TERMINATION, TerminationMethod, TerminationQuestion
from loopless.verification.proofs import Proof, Search
from loopless.verification.termination import Ranked, TerminationSearch, Trap

HEAD = "extern void reach_error(void); extern int __VERIFIER_nondet_int(void);\n"


@functools.cache
def program(source: str) -> SourceProgram:
    """The program with this ``main``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.c"
        file.write_text(HEAD + source, encoding="utf-8")
        return load([file])


@functools.cache
def graph(source: str, property_: Property = Property.UNREACH_CALL) -> Flowgraph:
    """Its run from the beginning, as the judge reads it."""
    return graph_of(program(source), "main", property_)


def system(source: str, property_: Property = Property.UNREACH_CALL) -> TransitionSystem:
    """Its transitions."""
    follows = Follows(property_, program(source).module)

    def calls(call):
        return None if follows(call) else Refused(Reason.UNKNOWN_CALL, "", call.callee)

    made = system_of(graph(source, property_), violates(property_), calls)
    assert isinstance(made, TransitionSystem), made
    return made


def search(source: str, property_: Property = Property.UNREACH_CALL, seconds: float = 60.0) -> Search:
    """What looks for proofs and violations in it."""
    return Search(system(source, property_), violates(property_), clock.counted() + seconds)


def termination(source: str, seconds: float = 60.0) -> TerminationSearch:
    """What looks for ranks and recurrent sets in it."""
    return TerminationSearch(system(source, Property.TERMINATION), clock.counted() + seconds)


def termination_by(
    made: TerminationSearch, methods: Sequence[TerminationMethod] = TERMINATION, *, every: bool = False
) -> list[Ranked | Trap]:
    """What methods find, in their order: the first answer, which nobody judges, or ``every`` one."""
    heard: list[Ranked | Trap] = []
    asked = TerminationQuestion(made, lambda found: found, lambda _: nullcontext(), lambda: False, lambda _: None)
    answered(
        [replace(method, applies=lambda _question, _tried: True) for method in methods],
        asked,
        "main",
        complete=lambda _: not every,
        better=lambda _new, _old: True,
        heard=heard.append,
    )
    return heard


def named(part: Flowgraph, name: str) -> Var:
    """The variable that users call ``name``."""
    return next(v for v, info in part.variables.items() if info.shown == name and not info.pointer_part)


def proves(made: Search, found: object) -> bool:
    """Whether it is a proof: the judge of tests, by the engine that says what a step entails."""
    assert isinstance(found, Proof)
    known = found.invariants
    for step in made.system.transitions:
        if step.target in made.system.cutpoints:
            for condition in known.get(step.target, ()):
                assert entailed(step, known.get(step.source, ()), condition, 10_000), condition
        else:
            assert made.excluded(step, known, 10_000)
    return True
