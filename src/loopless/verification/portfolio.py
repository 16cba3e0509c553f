"""The methods for safety, and those for termination, in the order in which they are tried: cheap ones first, and again
with more time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Generic, TypeVar

from loopless.flowgraph.model import Flowgraph
from loopless.limits.check import MAX_ENUMERATED_STEPS
from loopless.limits.verification import FEW_STEPS
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.records import dataclass
from loopless.verification.pair_proofs import compares_elements, proved_by_pairs
from loopless.verification.proofs import Search
from loopless.verification.sum_proofs import proved_by_sums
from loopless.verification.termination import BOUNDS, TerminationSearch

S = TypeVar("S", Search, TerminationSearch)


@dataclass(slots=True)
class PropertyQuestion(Generic[S]):
    """A property of all runs, as methods are asked it, which share what a ``search`` knows.

    ``settle``: what an answer of a method comes to, None where it settles nothing. ``timed``: times a method by its
    name. ``is_late``: whether the time is over. ``all_runs``: takes all runs of the program
    one by one, of so many steps in all.
    """

    search: S
    settle: Callable[[Any], Any]
    timed: Callable[[str], AbstractContextManager[None]]
    is_late: Callable[[], bool]
    all_runs: Callable[[int], Any]


@dataclass(slots=True)
class SafetyQuestion(PropertyQuestion[Search]):
    """Whether a violation is out of reach.

    ``native``: runs the compiled program for so many seconds. ``guided``: looks for a run into a violation by counters
    of paths. ``refuted``: whether Spacer has said that there is a violation; from then on only what looks for one is
    asked. ``plain``: the flowgraph without the cells of arrays that are followed; None where nothing is asked of it.
    """

    native: Callable[[float], Any] = lambda _: None
    guided: Callable[[float], Any] = lambda _: None
    refuted: bool = False
    plain: Callable[[], Flowgraph | None] = lambda: None


@dataclass(slots=True)
class TerminationQuestion(PropertyQuestion[TerminationSearch]):
    """Whether every run ends.

    ``repeating``: runs the program with these inputs and others, for so many seconds, to see whether it repeats a
    state.
    """

    repeating: Callable[[Sequence[tuple[int, ...]], float], Any] = lambda _long, _seconds: None


SafetyMethod = Method[SafetyQuestion, Any]
TerminationMethod = Method[TerminationQuestion, Any]
Q = TypeVar("Q", SafetyQuestion, TerminationQuestion)


def _asking(name: str, ask: Callable[[Q], Any]) -> Callable[[Q, Tried[Any]], Any]:
    """What a method runs: its answer is what the found comes to."""

    def run(question: Q, _: Tried[Any]) -> Any:
        with question.timed(name):
            found = ask(question)
        answer = question.settle(found)
        if answer is None:
            raise NoAnswer
        return answer

    return run


def _method(
    name: str,
    source: str,
    ask: Callable[[SafetyQuestion], Any],
    *,
    proves: bool = False,
    where: Callable[[Search], bool] = lambda _: True,
) -> SafetyMethod:
    """A method that is asked ``where`` that holds; one that only ``proves`` is not asked once there is a violation."""

    def applies(question: SafetyQuestion, _: Tried[Any]) -> bool:
        return not question.is_late() and not (proves and question.refuted) and where(question.search)

    return Method(name, source, _asking(name, ask), applies)


def _trivially() -> SafetyMethod:
    return _method("no invariant needed", "ours", lambda question: question.search.trivially())


def _summaries(seconds: float) -> SafetyMethod:
    source = "ours; summaries of loops (Xie et al., Proteus, FSE 2016) as accelerated transitions"
    return _method("summaries", source, lambda question: question.search.by_summaries(seconds))


def _contents(seconds: float, *, simple: bool = False) -> SafetyMethod:
    def ask(question: SafetyQuestion) -> Any:
        plain = question.plain()
        return None if plain is None else question.search.by_contents(plain, seconds, simple=simple)

    source = "ours; contents as layers (LoAT, 2026), read at one cell (Monniaux and Gonnord, SAS 2016)"
    return _method("contents of arrays", source, ask, where=_follows_cells)  # more than Spacer knows


def _element_pairs(seconds: float) -> SafetyMethod:
    source = "ours; cells of arrays in pairs (Monniaux and Gonnord, SAS 2016), Houdini on what held in runs"

    def ask(question: SafetyQuestion) -> Any:
        return proved_by_pairs(question.search, seconds)

    # What Spacer refutes is the system with one element of each array, of which less is known.
    return _method("elements in pairs", source, ask, where=_compares_elements)


def _element_sums(seconds: float) -> SafetyMethod:
    def ask(question: SafetyQuestion) -> Any:
        plain = question.plain()
        return None if plain is None else proved_by_sums(question.search, plain, seconds)

    source = "ours; sums over elements as history, counts as of Perrelle and Halbwachs (VMCAI 2010)"
    return _method("sums over elements", source, ask, where=_follows_cells)


def _single_runs(seconds: float) -> SafetyMethod:
    return _method("single runs", "ours", lambda question: question.search.sampled(seconds))


def _all_runs(steps: int) -> SafetyMethod:
    return _method("all runs", "ours", lambda question: question.all_runs(steps))


def _native_runs(seconds: float) -> SafetyMethod:
    return _method("native runs", "ours", lambda question: question.native(seconds))


def _guided(seconds: float) -> SafetyMethod:
    return _method("guided search", "ours; counters of paths (navigation)", lambda question: question.guided(seconds))


_EQUATIONS: Final = "Müller-Olm and Seidl, Computing polynomial program invariants (Inf. Process. Lett. 91, 2004)"


def _equations(seconds: float, degree: int, where: Callable[[Search], bool] = lambda _: True) -> SafetyMethod:
    def ask(question: SafetyQuestion) -> Any:
        return question.search.by_equations(seconds, degree)

    return _method("equations", _EQUATIONS, ask, proves=True, where=where)


def _fewest_equations(seconds: float) -> SafetyMethod:
    def ask(question: SafetyQuestion) -> Any:
        return question.search.by_fewest_equations(seconds)

    return _method("equations alone", _EQUATIONS, ask, proves=True, where=_multiplies)


def _plain_equations(seconds: float, where: Callable[[Search], bool]) -> SafetyMethod:
    def ask(question: SafetyQuestion) -> Any:
        return question.search.by_plain_equations(seconds)

    return _method("equations", _EQUATIONS, ask, proves=True, where=where)


def _houdini(seconds: float) -> SafetyMethod:
    source = "Flanagan and Leino, Houdini (FME 2001)"
    return _method("Houdini", source, lambda question: question.search.by_candidates(seconds), proves=True)


def _linear(seconds: float) -> SafetyMethod:
    source = "Colón, Sankaranarayanan and Sipma, linear invariants by Farkas' lemma (CAV 2003)"

    def ask(question: SafetyQuestion) -> Any:
        return question.search.by_linear_invariants(seconds)

    return _method("Farkas", source, ask, proves=True, where=lambda search: not search.multiplies)


def _cases(seconds: float) -> SafetyMethod:
    source = "ours; Houdini on what holds case by case of the states of long runs"
    return _method("cases", source, lambda question: question.search.by_cases(seconds), proves=True)


def _k_induction(seconds: float) -> SafetyMethod:
    source = "Sheeran, Singh and Stålmarck, induction and a SAT-solver (FMCAD 2000)"
    return _method("k-induction", source, lambda question: question.search.by_steps(seconds), proves=True)


def _spacer(seconds: float) -> SafetyMethod:
    def ask(question: SafetyQuestion) -> Any:
        found = question.search.by_horn(seconds)
        question.refuted = found is False
        return found or None

    return _method("Spacer", "Komuravelli, Gurfinkel and Chaki, SMT-based model checking (CAV 2014)", ask, proves=True)


def _paths(seconds: float, most: int | None = None) -> SafetyMethod:
    def ask(question: SafetyQuestion) -> Any:
        return question.search.by_paths(seconds) if most is None else question.search.by_paths(seconds, most)

    return _method("paths", "bounded model checking (Biere et al., TACAS 1999), path by path", ask)


def _follows_cells(search: Search) -> bool:
    graph = search.system.graph
    return bool(graph.cells and graph.loops and not graph.signatures)


def _compares_elements(search: Search) -> bool:
    return _follows_cells(search) and compares_elements(search.system)


def _multiplies(search: Search) -> bool:
    return search.multiplies


SAFETY: Final[tuple[SafetyMethod, ...]] = (
    _trivially(),
    _summaries(1.0),
    _single_runs(0.3),
    _all_runs(FEW_STEPS),
    _contents(2.0),
    _fewest_equations(8.0),
    _plain_equations(2.0, _multiplies),
    _houdini(2.0),
    _element_sums(10.0),
    _plain_equations(3.0, lambda search: search.asserts_sums),
    _linear(1.0),
    _guided(1.0),
    _equations(1.5, 2, _multiplies),
    _spacer(1.0),
    _cases(1.0),
    _all_runs(MAX_ENUMERATED_STEPS),
    _contents(8.0, simple=True),
    _paths(1.0),
    _element_pairs(5.0),
    _summaries(8.0),
    _native_runs(1.0),
    _guided(5.0),
    _cases(2.0),
    _equations(4.0, 2),
    _element_pairs(15.0),
    _k_induction(2.0),
    _fewest_equations(15.0),
    _plain_equations(15.0, _multiplies),
    _spacer(5.0),
    _paths(5.0),
    _cases(8.0),
    _equations(8.0, 3),
    _spacer(15.0),
    _paths(20.0, 2000),
    _native_runs(12.0),
)
"""The seconds are of counted work (:func:`loopless.clock.counted`)."""


def _ending(
    name: str, source: str, ask: Callable[[TerminationQuestion], Any], *, improves: bool = False
) -> TerminationMethod:
    """A method for termination. One that ``improves`` is asked also where there is an answer that may be improved."""

    def applies(question: TerminationQuestion, tried: Tried[Any]) -> bool:
        return not question.is_late() and (improves or tried.answer is None)

    return Method(name, source, _asking(name, ask), applies)


def _ranks(seconds: float, *, patient: bool = False, improves: bool = False) -> TerminationMethod:
    source = "Bradley, Manna and Sipma (CAV 2005); Alias et al., Multi-dimensional rankings (SAS 2010)"
    return _ending("ranks", source, lambda asked: asked.search.ranked(seconds, patient=patient), improves=improves)


def _recurrent_sets(seconds: float) -> TerminationMethod:
    source = "Chen et al., Proving nontermination via safety (TACAS 2014)"
    return _ending("recurrent sets", source, lambda asked: asked.search.trapped(seconds))


TERMINATION: Final[tuple[TerminationMethod, ...]] = (
    _ending("no cycles", "ours", lambda asked: asked.search.acyclic()),
    _ending(
        "summaries",
        "ours; summaries of loops (Xie et al., Proteus, FSE 2016) as accelerated transitions",
        lambda asked: asked.search.by_summaries(1.0),
    ),
    _ending(BOUNDS, "ours; bounds by induction variables as ranks", lambda asked: asked.search.by_bounds(1.5)),
    _ending("single runs", "ours", lambda asked: asked.search.sampled(0.3), improves=True),
    _ranks(3.0, improves=True),
    _recurrent_sets(3.0),
    _ending("repeated states", "ours", lambda asked: asked.repeating(asked.search.steady(), 2.0)),
    _ending("all runs", "ours", lambda asked: asked.all_runs(MAX_ENUMERATED_STEPS)),
    _ending(
        "linear ranks",
        "Podelski and Rybalchenko (VMCAI 2004); Alias et al. (SAS 2010)",
        lambda asked: asked.search.linear(),
    ),
    _ending("invariants", "ours; Houdini case by case", lambda asked: asked.search.by_cases(5.0)),
    _ranks(20.0, patient=True),
    _recurrent_sets(10.0),
)
"""The seconds are of counted work. A proof by bounds in which runs may end by an overflow is kept, and single runs and
ranks are asked for one without; what comes after these costs more than that is worth.
"""
