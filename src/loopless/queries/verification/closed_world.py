"""A program as a run of it from one function sees it: a closed world.

Nothing but the run calls its functions. So globals that nothing writes have the values of their definitions everywhere,
all globals have them where ``main`` begins, and a call of a function whose loops are counted over its inputs stands for
loops of as many iterations (:mod:`loopless.flowgraph.callees.call_sites`).
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Final, NamedTuple

from loopless import terms as t
from loopless.bounds.model import size
from loopless.flowgraph.callees.call_graph import NOT_BY_NAME
from loopless.flowgraph.callees.call_sites import MARK, Handed, with_sites
from loopless.flowgraph.callees.dispatch import dispatched
from loopless.flowgraph.callees.summaries import Fact
from loopless.flowgraph.memory.initial_memory import begins_at, begun, never_written
from loopless.flowgraph.memory.mod_ref import NOT_MAIN
from loopless.flowgraph.model import Call, Flowgraph
from loopless.limits.queries import MAX_CARRIED_SIZE, MAX_SITES
from loopless.patterns import pattern
from loopless.queries.loops.name import LoopName
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram
from loopless.records import dataclass
from loopless.refusals import Refused

_ROOT: Final = pattern(r"\w+")
HARMLESS: Final = frozenset((NOT_BY_NAME, NOT_MAIN))
"""What is taken for granted of the whole program, and not of what a call is given."""


@dataclass(frozen=True, slots=True)
class LoopCount:
    """How often a written loop runs in one call of a function and of what that calls, over the function's inputs.

    ``total`` and ``entry``: at most so many iterations in all, and in one entry; None where that is not known.
    ``exact``: in calls that end there are ``total``.
    """

    total: t.Term | None = None
    entry: t.Term | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class CallCounts:
    """What is known of calls of a function: by the names of written loops their counts. ``assumptions``: what is taken
    for granted of the inputs; ``graph``: the function, None where it is refused.
    """

    loops: Mapping[str, LoopCount] = field(default_factory=dict)
    graph: Flowgraph | None = None
    bits: tuple[int | None, ...] = ()
    assumptions: tuple[str, ...] = ()


COUNTS: Final[Fact[CallCounts | None]] = Fact("counts", None)
"""How many iterations calls of a function take."""


def resolved(program: AnalyzedProgram) -> AnalyzedProgram:
    """The program in which calls through pointers are branches, where nothing can write what they come to."""
    found = program.source
    module = dispatched(found.module, never_written(found.module, whole=True))
    if module is found.module:
        return program
    inlined = module
    if found.inlined is not found.module:
        inlined = dispatched(found.inlined, never_written(found.inlined, whole=True))
    return AnalyzedProgram(replace(found, module=module, inlined=inlined), program.settings)


class Use(NamedTuple):
    """How a loop that stands for a call adds to a written loop: ``site`` is its name, or empty where nothing is known
    of the call; each iteration stands for ``times`` of them. ``what``: "total" or "entry".
    """

    loop: str
    what: str
    site: str
    times: int = 1
    exact: bool = False


class RunProgram(AnalyzedProgram):
    """A program as a run from the function with the name ``entry`` in the IR sees it.

    :data:`COUNTS` are told from callees to callers, first ``counts``, by the names of functions in the IR: a function's
    flowgraph must be asked for when what it calls is counted. ``given``: names in the source of globals that are inputs
    all the same.
    """

    def __init__(
        self,
        program: AnalyzedProgram,
        entry: str,
        given: Collection[str] = (),
        counts: Mapping[str, CallCounts | None] | None = None,
    ) -> None:
        # Nobody is there who could see to it that pointers in memory point to objects of their own.
        settings = replace(program.settings, apart=False)
        super().__init__(program.source, settings)
        self.open = program if program.settings == settings else AnalyzedProgram(program.source, settings)
        self.entry, self.given = entry, frozenset(given)
        self.__dict__["call_graph"] = program.call_graph
        self.__dict__["returning"] = program.returning
        for name, count in (counts or {}).items():
            self.callees.tell(name, COUNTS, count)

    @functools.cached_property
    def functions(self) -> tuple[AnalyzedFunction, ...]:
        """The defined functions, in the order of the program's."""
        return tuple(RunFunction(self, function) for function in self.open.functions)

    @functools.cached_property
    def fixed(self) -> frozenset[str]:
        """The globals that are never written."""
        return never_written(self.source.inlined, whole=True) - self.free

    @functools.cached_property
    def free(self) -> frozenset[str]:
        """The globals whose first value is an input."""
        roots = {found[0] for name in self.given if (found := _ROOT.match(name))}
        names = {n: v.debug.name if v.debug is not None else n for n, v in self.source.inlined.globals.items()}
        return frozenset(name for name, shown in names.items() if shown in roots)

    @functools.cached_property
    def begins(self) -> bool:
        """Whether the run begins with the entry function, which is not called again."""
        module = self.source.module
        called = {name for function in module.defined() for name in self.call_graph.calls(function)[0]}
        return begins_at(module, self.entry) and self.entry not in called and self.entry not in self.call_graph.taken

    def __getstate__(self) -> dict[str, Any]:
        return {"open": self.open, "entry": self.entry, "given": self.given, "counts": self.callees.told(COUNTS)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        RunProgram.__init__(self, state["open"], state["entry"], state["given"], state["counts"])


class RunFunction(AnalyzedFunction):
    """A function as a run sees it. ``uses``: what the loops that stand for calls stand for."""

    def __init__(self, program: RunProgram, plain: AnalyzedFunction) -> None:
        super().__init__(program, plain.code)
        self.plain, self.world = plain, program
        self.uses: tuple[Use, ...] = ()

    def _build(self) -> None:
        self.plain.graph()
        self._graph, self._untold = self.plain._graph, self.plain._untold  # noqa: SLF001  of the same class
        self._written, self._recursion = self.plain._written, self.plain._recursion  # noqa: SLF001
        if not isinstance(self._graph, Flowgraph):
            return
        world, module = self.world, self.program.source.inlined
        first = self.code.name == world.entry and world.begins
        graph = begun(self._graph, module, first=first, fixed=world.fixed, free=world.free)
        plan = _Plan(world, graph)
        self._graph, sites = with_sites(graph, plan.wanted)
        named = {(id(site.call), site.term): site.name for site in sites}
        self.uses = tuple(plan.uses(named))

    def _names(self) -> Iterator[LoopName]:
        graph = self.graph()
        if isinstance(graph, Refused) or not self.uses:
            yield from super()._names()
            return
        yield from self._loops_of(graph)
        for refused in graph.irreducible:
            yield self._placeholder(refused)

    @functools.cached_property
    def reached(self) -> Any:
        """The functions that a call may come to."""
        return self.plain.reached


def is_site(loop: LoopName) -> bool:
    """Whether a loop stands for a call."""
    return loop.name.startswith(MARK)


class _Plan:
    """Which loops stand for the calls of a function."""

    def __init__(self, world: RunProgram, graph: Flowgraph) -> None:
        self.world, self.graph = world, graph
        self._made = 0
        self._found: list[tuple[Call | None, t.Term, Use]] = []

    def wanted(self, call: Call, label: str) -> list[t.Term]:
        """The numbers of iterations that a call stands for."""
        del label
        name = self.world.returning.body(call.callee)
        known = self.world.callees.ask(name, COUNTS) if name is not None else None
        if known is None:
            return []
        terms: dict[t.Term, None] = {}
        handed = Handed(self.graph, known.graph, known.bits) if known.graph is not None else None
        granted = all(text in HARMLESS for text in known.assumptions)
        # What is taken for granted of pointers has to hold at this call, for numbers as for terms.
        carried = granted or (handed is not None and handed.apart(call))
        for loop, count in known.loops.items():
            for what, term in (("total", count.total), ("entry", count.entry)):
                here = _at(handed, call, term) if carried else None
                parts = [(t.ZERO, 0)] if here is None else _summands(here) if what == "total" else _units(here)
                for unit, times in parts:
                    full = unit not in terms and self._made + len(terms) >= MAX_SITES
                    if here is None or full:
                        self._found.append((None, t.ZERO, Use(loop, what, "")))
                        continue
                    terms[unit] = None
                    exact = count.exact and not call.leaves
                    self._found.append((call, unit, Use(loop, what, "", times, exact)))
        self._made += len(terms)
        return list(terms)

    def uses(self, named: Mapping[tuple[int, t.Term], str]) -> Iterator[Use]:
        """What the loops stand for, once they have names."""
        for call, term, use in self._found:
            yield use if call is None else use._replace(site=named[id(call), term])


def _at(handed: Handed | None, call: Call, term: t.Term | None) -> t.Term | None:
    if isinstance(term, t.Const):
        return term if term.value > 0 else t.ZERO
    if handed is None or term is None or size(term) > MAX_CARRIED_SIZE:
        return None
    here = handed.at(call, term)
    if here is not None and any(isinstance(node, t.Op) and node.op == "pow" for node in t.walk(here)):
        return None  # no sums over such terms are known
    if isinstance(here, t.Const) and here.value <= 0:
        return t.ZERO
    return here if here is not None and size(here) <= MAX_CARRIED_SIZE else None


def _units(term: t.Term) -> list[tuple[t.Term, int]]:
    """A number of iterations as one term so many times."""
    if isinstance(term, t.Const):
        return [(t.ONE, term.value)] if term.value > 0 else []
    return [(term, 1)]


def _summands(term: t.Term) -> list[tuple[t.Term, int]]:
    """The same as the sum of several terms, none of which is negative: each is easier to sum over calls."""
    parts: list[tuple[t.Term, int]] = []
    for monomial, coefficient in t.polynomial(term).items():
        unit = t.from_polynomial({monomial: 1})
        low = t.range_of(unit)[0]
        if coefficient < 0 or low is None or low < 0:
            return _units(term)
        parts.append((unit, coefficient))
    return parts
