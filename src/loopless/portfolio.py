"""One interface for methods: values in ordered tuples, one driver that gives each its budget, one kind of failure.

A question (what does this loop do, how often does it run at most) is answered by a portfolio: a tuple of
:class:`Method`, cheap ones before costly ones. :func:`answered` asks them in turn, keeps the best answer so far, and
says which method gave it. What a method cannot answer it says by :class:`NoAnswer`; a limit of the logic is turned into
one here, so that no method has to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from loopless import terms as t
from loopless.logic import BudgetExceeded, budget
from loopless.refusals import Reason, Refused

Q = TypeVar("Q")
A = TypeVar("A")

LIMITS = (BudgetExceeded, t.TermTooLarge)
"""What ends a method's work where it meets a limit of the logic or of terms."""


class NoAnswer(Exception):
    """A method does not answer this question; carries the reason, or None where the method is for other questions."""

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


def answered(
    methods: Sequence[Method[Q, A]],
    question: Q,
    place: str,
    *,
    complete: Callable[[A], bool],
    operations: int | None = None,
    better: Callable[[A, A], bool] = lambda _new, _old: False,
    heard: Callable[[A], None] = lambda _answer: None,
) -> Tried[A]:
    """The first ``complete`` answer; else the first one than which none is ``better``; else none, and why.

    ``place``: the place in the source for refusals. ``operations``: for each method that says none itself. ``heard`` is
    told of each answer that is the best so far.
    """
    tried: Tried[A] = Tried()
    for method in methods:
        if not method.applies(question, tried):
            continue
        allowed = method.operations if method.operations is not None else operations
        try:
            with budget(allowed) if allowed is not None else nullcontext():
                answer = method.run(question, tried)
        except NoAnswer as failure:
            if failure.refused is not None:
                tried = Tried(tried.answer, tried.method, (*tried.refused, failure.refused))
            continue
        except LIMITS as error:
            tried = Tried(tried.answer, tried.method, (*tried.refused, over_limit(error, place)))
            continue
        if tried.answer is None or complete(answer) or better(answer, tried.answer):
            tried = Tried(answer, method.name, tried.refused)
            heard(answer)
        if complete(answer):
            break
    return tried
