"""Runs into a violation that counters of paths guide: with inputs that loops read, so many of each kind."""

from __future__ import annotations

from loopless import clock
from loopless.check.certificates.property import graph_of
from loopless.errors import LooplessError
from loopless.limits.queries import MAX_REACH_WAYS
from loopless.logic.smt import SmtAnswer
from loopless.navigation.counters import CounterSystem
from loopless.navigation.search import Navigator
from loopless.navigation.splitting import without_wraps
from loopless.queries.call_values.route_inputs import NotDriven, inputs_of
from loopless.queries.guided import begun_globals, counters_of
from loopless.queries.verification.question import VerificationQuestion
from loopless.queries.verification.replays import Replays
from loopless.refusals import Refused
from loopless.verification.proofs import Suspect
from loopless.verification.transitions import system_of


def guided(question: VerificationQuestion, replays: Replays, until: float) -> Suspect | None:
    """A run that may violate the property of ``question``, found until a moment of counted work."""
    settings = question.settings
    graph = graph_of(
        question.program.source,
        question.entry,
        question.property,
        mathematical=settings.mathematical,
        wrapv=settings.wrapv,
        cells=False,
    )
    made = system_of(graph, question.violates, question.refused_call, ways=MAX_REACH_WAYS, accesses=True)
    if isinstance(made, Refused):
        return None
    system = without_wraps(made)
    counters = counters_of(system, trips=True)
    if counters is SmtAnswer.NO or clock.counted() > until:
        return None
    general = counters if isinstance(counters, CounterSystem) else None
    begun = begun_globals(question.program, question.entry)
    found = Navigator(system, {}, until, trips=True, begun=begun, general=general).run()
    if found.route is None:
        return None
    try:
        inputs = inputs_of(found.route, system, question.entry, replays.signature())
    except (NotDriven, LooplessError):
        return None
    read = tuple(run.value for run in inputs.nondet for _ in range(run.count))
    return Suspect(read, inputs.uninitialised, "guided search", {})
