"""One interface for methods: values in ordered tuples, one driver that gives each its budget, one kind of failure.

A question (what does this loop do, how often does it run at most) is answered by a portfolio: a tuple of
:class:`Method`, cheap ones before costly ones. :func:`answered` asks them in turn, keeps the best answer so far, and
says which method gave it. What a method cannot answer it says by :class:`NoAnswer`; a limit of the logic is turned into
one here, so that no method has to. With LOOPLESS_DEBUG=methods standard error has a line about each method
(:mod:`loopless.debugging`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import field
from typing import Any, Generic, TypeVar

from loopless import terms as t
from loopless.debugging import tell_method, tells_methods
from loopless.logic import BudgetExceeded, budget
from loopless.records import dataclass
from loopless.refusals import Reason, Refused

Q = TypeVar("Q")
A = TypeVar("A")

LIMITS = (BudgetExceeded, t.TermTooLarge)
"""What ends a method's work where it meets a limit of the logic or of terms."""


class NoAnswer(Exception):
    """A method does not answer this question; carries the reason, or None where it has none to tell, as where it is for
    other questions.
    """

    def __init__(self, refused: Refused | None = None) -> None:
        super().__init__(str(refused or ""))
        self.refused = refused


def over_limit(error: Exception, place: str) -> Refused:
    """The refusal for one of :data:`LIMITS`."""
    if isinstance(error, t.TermTooLarge):
        return Refused(Reason.BUDGET, place, f"an expression grows too large: {error}")
    return Refused(Reason.BUDGET, place, "the logic needs more steps than its budget for this loop")


@dataclass(frozen=True, slots=True)
class Tried(Generic[A]):
    """What the methods so far have found: the best ``answer`` and the ``method`` that gave it, and why others gave
    none, in their order.
    """

    answer: A | None = None
    method: str = ""
    refused: tuple[Refused, ...] = ()


@dataclass(frozen=True, slots=True)
class Method(Generic[Q, A]):
    """One method for one kind of question.

    ``name``: what an answer calls it. ``source``: paper and section, or "ours". ``run`` answers a question, given what
    the methods before it have found; raises :class:`NoAnswer`, or one of :data:`LIMITS`. ``applies``: a cheap test
    whether it is worth asking. ``operations``: what the logic may do for it, in isl's operations; None: what the
    question allows.
    """

    name: str
    source: str
    run: Callable[[Q, Tried[A]], A]
    applies: Callable[[Q, Tried[A]], bool] = field(default=lambda _question, _tried: True)
    operations: int | None = None


def _telling(
    question: object, place: str, in_words: Callable[[A], str]
) -> Callable[[Method[Any, A], str | Refused, A | None], None]:
    """Tells developers what a method said, with its answer; does nothing where they did not ask."""
    if not tells_methods():
        return lambda _method, _said, _answer: None
    asked = f"{type(question).__name__} at {place}"

    def tell(method: Method[Any, A], said: str | Refused, answer: A | None) -> None:
        words = in_words(answer) if answer is not None else ""
        tell_method(asked, method.name, f"{said}: {words}" if words else str(said))

    return tell


def answered(  # noqa: PLR0913  the last ones have defaults, and each is about another step
    methods: Sequence[Method[Q, A]],
    question: Q,
    place: str,
    *,
    complete: Callable[[A], bool],
    operations: int | None = None,
    better: Callable[[A, A], bool] = lambda _new, _old: False,
    heard: Callable[[A], None] = lambda _answer: None,
    in_words: Callable[[A], str] = lambda _answer: "",
) -> Tried[A]:
    """The first ``complete`` answer; else the first one than which none is ``better``; else none, and why.

    ``place``: the place in the source for refusals. ``operations``: for each method that says none itself. ``heard`` is
    told of each answer that is the best so far. ``in_words``: what developers see of an answer, in one line.
    """
    tried: Tried[A] = Tried()
    tell = _telling(question, place, in_words)
    for method in methods:
        if not method.applies(question, tried):
            tell(method, "not applicable", None)
            continue
        allowed = method.operations if method.operations is not None else operations
        try:
            with budget(allowed) if allowed is not None else nullcontext():
                answer = method.run(question, tried)
        except NoAnswer as failure:
            tell(method, failure.refused or "no answer", None)
            if failure.refused is not None:
                tried = Tried(tried.answer, tried.method, (*tried.refused, failure.refused))
            continue
        except LIMITS as error:
            limit = over_limit(error, place)
            tell(method, limit, None)
            tried = Tried(tried.answer, tried.method, (*tried.refused, limit))
            continue
        whole = complete(answer)
        taken = tried.answer is None or whole or better(answer, tried.answer)
        told = "answered" if taken else f"answered, no better than {tried.method}"
        tell(method, f"{told} completely" if whole else told, answer)
        if taken:
            tried = Tried(answer, method.name, tried.refused)
            heard(answer)
        if whole:
            break
    return tried
