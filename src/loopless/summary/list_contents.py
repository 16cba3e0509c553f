"""What nodes of linked lists hold behind a loop that goes along one and writes their members.

A member that is written is an array with one element for each node of the list: the k-th node has number k as long as
the list is in no circle, for then no node has two numbers. So reads and writes of nodes are those of elements
(:mod:`loopless.summary.memory`), and what nodes hold behind the loop is told as layers over their numbers. Where the
loop reads what it wrote, it is summarized for lists in no circle only; where it only writes, nothing is told of nodes
in a circle.

Links and other pointers are written as two members, for both halves, as long as the walk is that of the list at the
entry. Objects that the loop makes have numbers, too, and that a node is freed is a member.

A member as an array by which nodes are its indices is Burstall's, Some Techniques for Proving Correctness of Programs
which Alter Data Structures, Machine Intelligence 7, 1972, section 3.
"""

from __future__ import annotations

from dataclasses import replace

from loopless import terms as t
from loopless.limits.summary import CONTENTS_OPERATIONS
from loopless.logic import budget
from loopless.paths.model import LoopPaths, NoPaths
from loopless.portfolio import LIMITS
from loopless.refusals import Reason, Refused
from loopless.summary.lists import SCALE, Walking, Writer, along_lists
from loopless.summary.memory.elements import Resolved, resolved
from loopless.summary.memory.telling import of_entry_elements, told_contents
from loopless.summary.model import Case, LoopSummary, Outcome, Residual
from loopless.summary.portfolio import summarize
from loopless.summary.transitions.system import place_of
from loopless.terms.contents import mapped, unknown


def with_node_contents(
    paths: LoopPaths, outcome: Outcome, writing: LoopPaths | NoPaths
) -> tuple[LoopPaths, LoopSummary] | None:
    """The paths and the summary of a loop that goes along lists, with what memory holds behind it, by ``writing``, the
    paths that tell what they write to nodes. None where that is not told so.
    """
    if isinstance(writing, NoPaths) or not writing.iterative or (writing.may_free and not writing.tells_freed):
        return None
    walking = along_lists(writing)
    if walking is None or not any(path.writes for path in walking.paths.all):
        return None
    try:
        with budget(CONTENTS_OPERATIONS):
            found = resolved(walking.paths)
        if not (isinstance(outcome, LoopSummary) and outcome.complete):
            again = _anew(walking, found)
            if again is None:
                return None
            paths, outcome = again.paths, again
        if any(walking.values.get(name, value) != value for name, value in outcome.lists.items()):
            return None
        with budget(CONTENTS_OPERATIONS):
            told = told_contents(outcome, [found])
            return paths, replace(
                told,
                cases=tuple(_in_numbers(case, walking) for case in told.cases),
                lists={**walking.values, **outcome.lists},
                assumptions=tuple(dict.fromkeys((*told.assumptions, *walking.granted))),
            )
    except LIMITS:
        return None


# -- the loop by what it has written -----------------------------------------------------------------------------------


def _anew(walking: Walking, found: Resolved) -> LoopSummary | None:
    """The summary of a loop that reads what it wrote to nodes; None where there is none."""
    if found.open:
        return None
    closed = found.closed
    outcome = summarize(replace(closed, carried={**walking.paths.carried, **closed.carried}))
    if isinstance(outcome, Refused):
        return None
    if walking.writer is not None and walking.writer.moves_on:
        outcome = replace(outcome, diverges=t.FALSE)  # in no circle it would read a node behind the end
    told = walking.told(of_entry_elements(outcome))
    return told if walking.writer is None else _in_no_circle(told, walking.writer)


def _in_no_circle(summary: LoopSummary, writer: Writer) -> LoopSummary:
    """What the summary says of lists that are in no circle, and of runs that end where they begin."""
    cases: list[Case] = []
    left = ~writer.ends
    for case in summary.cases:
        if _begins_and_ends(case, writer):
            left = left & ~case.when
        elif case.exit not in writer.null:
            case = replace(case, when=case.when & writer.ends)
        cases.append(case)
    diverges = summary.diverges & writer.ends
    undefined = (replace(part, when=part.when & writer.ends) for part in summary.undefined)
    freed = any(name.endswith(t.FREED) for name in writer.names.values())
    detail = f"the list may go round in a circle, and it comes again to what it {'freed' if freed else 'wrote'}"
    why = Refused(Reason.MEMORY, place_of(summary.paths), detail)
    residual = (*(replace(part, when=part.when & writer.ends) for part in summary.residual), Residual(left, why))
    return replace(
        summary,
        cases=tuple(case for case in cases if case.when is not t.FALSE),
        diverges=diverges,
        undefined=tuple(part for part in undefined if part.when is not t.FALSE),
        residual=tuple(part for part in residual if part.when is not t.FALSE),
    )


def _begins_and_ends(case: Case, writer: Writer) -> bool:
    """Whether a run of the case comes to one node at most that it writes, or reads where it may have written."""
    return case.iterations is t.ZERO and len(writer.ahead) <= 1


# -- numbers of nodes --------------------------------------------------------------------------------------------------


def _in_numbers(case: Case, walking: Walking) -> Case:
    """The case with contents over the numbers of nodes."""
    if case.contents is None:
        return case
    writer = walking.writer
    contents = {array: mapped(layers, walking.at_entry) for array, layers in case.contents.items()}
    if writer is None:
        return replace(case, contents=contents)
    for array in writer.names.keys() & contents.keys():
        found = [_by_number(layer) for layer in contents.pop(array)]
        contents[writer.names[array]] = tuple(layer or unknown() for layer in found)
    known = _begins_and_ends(case, writer) or case.exit in writer.null or writer.ends is t.TRUE
    known = known or writer.ends in t.conjuncts(case.when)
    if not known:
        numbered = frozenset(writer.names.values())
        for array, layers in contents.items():
            lost = replace(unknown(), where=~writer.ends)
            contents[array] = (replace(lost, type=layers[0].type) if array in numbered else lost, *layers)
    return replace(case, contents=contents)


def _by_number(layer: t.Layer) -> t.Layer | None:
    """A layer of nodes that count :data:`SCALE` bytes, over the numbers of nodes; None where it has others."""
    start = t.polynomial(layer.start)
    if any(factor % SCALE for factor in start.values()):
        return None
    begin = t.from_polynomial({monomial: factor // SCALE for monomial, factor in start.items()})
    if layer.stride % SCALE == 0:
        return replace(layer, start=begin, stride=layer.stride // SCALE)
    if SCALE % layer.stride:
        return None
    index: dict[t.Var, t.Term] = {t.INDEX: SCALE // layer.stride * t.INDEX}
    where = t.substitute(layer.where, index)
    value = None if layer.value is None else t.substitute(layer.value, index)
    return replace(layer, start=begin, stride=1, where=where, value=value)
