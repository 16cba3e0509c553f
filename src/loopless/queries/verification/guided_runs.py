"""Runs into a violation that counters of paths guide: with inputs that loops read, so many of each kind."""

from __future__ import annotations

from loopless import clock
from loopless.deadline import in_time
from loopless.errors import LimitError, LooplessError
from loopless.limits.queries import MAX_REACH_WAYS, UNCOUNTED_GUIDED_FACTOR
from loopless.logic.solver import SmtAnswer
from loopless.navigation.counters import CounterSystem
from loopless.navigation.routes import Route
from loopless.navigation.search import Navigator
from loopless.navigation.splitting import without_wraps
from loopless.queries.call_values.route_inputs import NotDriven, inputs_of
from loopless.queries.guided import begun_globals, counters_of
from loopless.queries.verification.question import VerificationQuestion
from loopless.queries.verification.replays import Replays
from loopless.refusals import Refused
from loopless.transition.building import system_of
from loopless.transition.relation import TransitionSystem
from loopless.verification.proofs import Suspect


def guided(question: VerificationQuestion, replays: Replays, seconds: float) -> Suspect | None:
    """A run that may violate the property of ``question``, found in so many seconds of counted work.

    Not all that the search does is counted, so twice as many seconds of processor time end it, too.
    """
    graph = question.graph(cells=False)
    made = system_of(graph, question.violates, question.refused_call, ways=MAX_REACH_WAYS, accesses=True)
    if isinstance(made, Refused):
        return None
    system = without_wraps(made)
    try:
        with in_time(clock.now() + UNCOUNTED_GUIDED_FACTOR * seconds):
            route = _route(question, system, min(question.deadline, clock.counted() + seconds))
    except LimitError:
        return None
    if route is None:
        return None
    try:
        inputs = inputs_of(route, system, question.entry, replays.signature())
    except (NotDriven, LooplessError):
        return None
    read = tuple(run.value for run in inputs.nondet for _ in range(run.count))
    return Suspect(read, inputs.uninitialised, "guided search", {})


def _route(question: VerificationQuestion, system: TransitionSystem, until: float) -> Route | None:
    counters = counters_of(system, trips=True)
    if counters is SmtAnswer.NO:
        return None
    general = counters if isinstance(counters, CounterSystem) else None
    begun = begun_globals(question.program, question.entry)
    return Navigator(system, {}, until, trips=True, begun=begun, general=general).run().route
