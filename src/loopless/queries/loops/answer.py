"""What can be asked of one loop, and the answer as a value that travels between processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from loopless import terms as t
from loopless.automaton import LoopClass, PathAutomaton
from loopless.flowgraph.model import MemoryObject
from loopless.paths import LoopPaths
from loopless.queries.call_values.given_memory import Entry
from loopless.queries.loops.name import LoopName
from loopless.queries.loops.unreported import Untold
from loopless.queries.shown import presentation
from loopless.queries.summarized import Summarized
from loopless.records import dataclass
from loopless.refusals import Refused
from loopless.summary import Approximation, AtEntry, Case, LoopSummary, Merged

if TYPE_CHECKING:
    from loopless.bounds import Bounds


@dataclass(frozen=True, slots=True)
class Question:
    """What to find out about each loop.

    ``variables``: the names of the variables of interest, None for the default. ``assume``: a C condition on the entry
    values. ``classify``, ``summarize``, ``draw``: whether to find the type, the summary, the automaton; ``merge``:
    whether to find which cases of the summary come to the same; ``entered``: whether to find what it says of the
    states in which the program enters the loop. ``partly``: whether only an answer without some variables is looked
    for. ``approximate``: whether what no method summarizes exactly is over-approximated. ``exactly``: whether exact
    methods are asked at all; ``coarsely``: whether only what holds whatever the paths are is told. ``streams``: whether
    answers name what loops take from outside, value by value; else it is not known. ``past_calls``: a loop is also
    summarized past calls that need not return, as if they did, which says how often it runs at most. ``hurried``: many
    loops have little time each, so approximations are coarser, and conditions longer, where large sets are worked with.
    """

    variables: tuple[str, ...] | None = None
    assume: str | None = None
    classify: bool = True
    summarize: bool = True
    draw: bool = False
    merge: bool = False
    approximate: bool = False
    entered: bool = False
    partly: bool = False
    exactly: bool = True
    coarsely: bool = False
    streams: bool = True
    past_calls: bool = False
    hurried: bool = False


@dataclass(frozen=True, slots=True)
class Advice:
    """A ``command`` that was tried and answers more about a loop, and in words what it ``tells``."""

    command: str
    tells: str


@dataclass(frozen=True, slots=True, repr=False)
class LoopAnswer(Summarized):
    """All that was found out about one loop: what was asked of its summary, its type and its automaton.

    Called with entry values it gives those at the exit: ``answer(x=0, n=9)["x"]``. ``print`` shows it as the command
    line does: the summary, else the automaton in DOT, else the type.

    ``refused`` says why something that was asked is missing; what is there all the same is shown. ``partly``: why the
    summary leaves out variables that are used behind the loop, where it is complete without these, and ``body`` the
    paths with them. ``past_calls``: why a run may end in a call of the loop; what the summary says exactly is then said
    of runs whose calls return. ``cut``: which limit on time or memory ended the search for more, if any. ``untyped``:
    why the loop has no type. ``absolute``: the summary in which streams count from where the function begins, where
    that is another one. ``merged``: the cases of the summary, those that come to the same together. ``at_entry``: the
    summary for the states in which the program enters the loop, where these are not all. ``bounds``: on the iterations
    from any state at the header, where the summary does not tell their number everywhere. ``untold``: what the loop
    changes and the summary does not tell. ``advice``: commands that answer more. ``shown`` gives the source name of
    each variable that occurs and has one; ``pointers`` that of the pointer, of those that are 0 where one is null and
    of flags that it is; ``layouts``: what is declared in objects, by their names; ``objects``: those that pointers may
    point into, by their numbers. ``granted``: what the user granted for it. ``trouble``: a traceback where an error
    inside Loopless is the reason. ``time_ms``: how long the work on this loop took.
    """

    loop: LoopName
    paths: LoopPaths | None = None
    classification: LoopClass | None = None
    automaton: PathAutomaton | None = None
    summary: LoopSummary | None = None
    absolute: LoopSummary | None = None
    merged: tuple[Merged, ...] = ()
    at_entry: AtEntry | None = None
    bounds: Bounds = ()
    untold: tuple[Untold, ...] = ()
    advice: tuple[Advice, ...] = ()
    refused: Refused | None = None
    partly: Refused | None = None
    body: LoopPaths | None = None
    past_calls: Refused | None = None
    untyped: Refused | None = None
    cut: Refused | None = None
    granted: tuple[str, ...] = ()
    shown: Mapping[t.Var, str] = field(default_factory=dict)
    pointers: Mapping[t.Var, str] = field(default_factory=dict)
    layouts: Mapping[str, t.Layout] = field(default_factory=dict)
    objects: Mapping[int, MemoryObject] = field(default_factory=dict)
    time_ms: float = 0.0
    trouble: str = ""

    @property
    def type(self) -> int | None:
        """1 to 4; None where the loop has no type, for the reason ``untyped``."""
        return self.classification.type if self.classification is not None else None

    @property
    def status(self) -> str:
        """``exact``, ``over-approximate`` or ``refused``, of what was asked."""
        if self.refused is not None:
            return "refused"
        whole = self.summary is None or (self.summary.exact and self.partly is None)
        return "exact" if whole else "over-approximate"

    @property
    def answered(self) -> bool:
        """Whether all that was asked about the loop is answered."""
        return self.refused is None and self.partly is None and self.complete is not False

    def with_cut(self, cut: Refused | None) -> LoopAnswer:
        """The answer with that limit as the one which ended the search for more."""
        return replace(self, cut=cut)

    @property
    def name(self) -> str:
        """The loop's name, ``file:function:line:column``."""
        return self.loop.name

    @property
    def cases(self) -> tuple[Case, ...]:
        """The cases of the summary.

        Each says for which entry values (``when``) the loop leaves where (``exit``), after how many ``iterations``
        (taken back edges), with which values (``then``), by which paths (``trace``). No state is in two of them.
        """
        return self._summarized.cases

    @property
    def diverges(self) -> t.Condition:
        """The entry values from which the loop never ends."""
        return self._summarized.diverges

    @property
    def approximation(self) -> Approximation | None:
        """What runs from the states of ``residual`` may do: relations that contain every one of them. None where
        there is nothing to approximate.
        """
        return self._summarized.approximation

    @property
    def entered(self) -> t.Condition:
        """What holds wherever the program enters the loop; the summary speaks of such states only."""
        return self._summarized.entered

    def iterations(self, /, **entry: Entry) -> int:
        """How many back edges are taken from these values at the entry. Raises as a call does."""
        count: int = presentation().iterations(self, entry)
        return count

    def text(
        self, *, traces: bool = False, paths: bool = False, all_states: bool = False, all_cases: bool = False
    ) -> str:
        """What ``loopless summarize`` prints with the options of these names."""
        told: str = presentation().loop_text(self, traces, paths, all_states, all_cases)
        return told

    def smtlib(self) -> str:
        """The relation of entry and exit for an SMT solver, as ``--format smtlib``."""
        relation: str = presentation().smtlib([self])
        return relation

    def dot(self) -> str:
        """The automaton in DOT, as ``--format dot``."""
        graph: str = presentation().drawing([self])
        return graph

    def svg(self) -> str:
        """The automaton as an SVG document, as ``--format svg``."""
        document: str = presentation().picture([self])
        return document

    def _repr_svg_(self) -> str | None:
        return self.svg() if self.automaton is not None and self.summary is None else None

    @property
    def _summarized(self) -> LoopSummary:
        found = self.told
        assert isinstance(found, LoopSummary)
        return found
