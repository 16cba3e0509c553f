"""How often loops run in a run of the whole program from one function.

Functions are asked from callees to callers: what a call of one takes, over its inputs, becomes loops at the calls of it
(:mod:`loopless.queries.verification.closed_world`), whose bounds in the caller are sums and greatest values over all
calls. The scheme is that of summary-based interprocedural analysis (Sharir and Pnueli, 1981), with counts for
summaries.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.bounds.callees.activations import activations_of
from loopless.bounds.claims.joint import always
from loopless.flowgraph.callees.call_sites import widths
from loopless.graphs import bottom_up, cycles, reachable
from loopless.limits.bounds import LARGE_CONSTANT
from loopless.queries.bounds.answering import answers_by_themselves
from loopless.queries.bounds.answers import FunctionBound, LoopIterations
from loopless.queries.bounds.callee_termination import awaited, settled
from loopless.queries.bounds.runs import Homes, RunBound, by_end, is_recursion, of_entry
from loopless.queries.call_values.call_inputs import inputs_of
from loopless.queries.jobs.effort import Effort, effort_for
from loopless.queries.program import AnalyzedFunction, AnalyzedProgram
from loopless.queries.returning import calls_in
from loopless.queries.settings import Settings
from loopless.queries.verification.closed_world import (
    COUNTS,
    HARMLESS,
    CallCounts,
    LoopCount,
    RunFunction,
    RunProgram,
    Use,
    is_site,
    resolved,
)
from loopless.records import dataclass
from loopless.refusals import Reason, Refused


@dataclass(frozen=True, slots=True)
class ProgramBounds:
    """The bounds of a run: ``entry`` has those of the entry function's own loops, ``loops`` those of all that the run
    may come to, in the order of the source.
    """

    entry: FunctionBound
    loops: tuple[RunBound, ...]


def answer_run(
    program: AnalyzedProgram,
    entry: AnalyzedFunction,
    method: str,
    settings: Settings,
    until: float | None = None,
    given: Collection[str] = (),
) -> ProgramBounds:
    """How often loops run in a run of the program from ``entry``, each function under its limits.

    ``given``: the names of globals whose first values are inputs, whatever their definitions say.
    """
    program = resolved(program)
    name = entry.code.name
    entry = next(function for function in program.functions if function.code.name == name)
    return _Asked(RunProgram(program, name, given), entry, method, settings, until).run()


class _Asked:
    """The functions of a run, asked one after the other."""

    def __init__(
        self, world: RunProgram, entry: AnalyzedFunction, method: str, settings: Settings, until: float | None
    ) -> None:
        self.world = world
        self.method, self.until = method, until
        self.functions = {f.code.name: f for f in self.world.functions if isinstance(f, RunFunction)}
        self.calls: dict[str, list[str]] = {}
        reachable((entry.code.name,), self._called)
        self.effort: Effort = effort_for([self.functions[name].plain for name in self.calls], settings)
        self.homes = Homes(world.open)
        self.entry = entry
        self.alone: dict[str, FunctionBound] = {}
        self.copies: dict[str, dict[int, LoopIterations]] = {}

    def _called(self, name: str) -> list[str]:
        graph = self.functions[name].plain.graph()
        self.calls[name] = []
        if not isinstance(graph, Refused):
            bodies = (self.world.returning.body(call.callee) for call in calls_in(graph, graph.blocks))
            self.calls[name] = list(dict.fromkeys(body for body in bodies if body is not None))
        return self.calls[name]

    def run(self) -> ProgramBounds:
        """The bounds of the whole run."""
        bounds = bottom_up(self.calls, self._counted, recursive=self._recursive, unknown=None)
        bound = bounds[self.entry.code.name]
        assert bound is not None
        loops = tuple(self._loops(bound))
        return ProgramBounds(self._shown(bound, loops), loops)

    def _tell(self, name: str, counts: CallCounts) -> None:
        self.world.callees.tell(name, COUNTS, counts)

    def _told(self, name: str) -> CallCounts:
        found = self.world.callees.ask(name, COUNTS)
        assert found is not None  # callees are counted before callers
        return found

    def _counted(self, name: str, _: object) -> FunctionBound | None:
        """The bounds of a function, which leaves its counts to its callers."""
        return self._count(self.functions[name], keep=True)

    def _recursive(self, names: Sequence[str], _: object) -> dict[str, FunctionBound | None]:
        """The bounds of the entry function, where it is among these that call one another."""
        entry = self.entry.code.name
        for name in names:
            tree = self._tree(name) if len(names) == 1 and name != entry else None
            self._tell(name, tree or self._uncounted(names))
        return {name: self._count(self.functions[name], keep=False) if name == entry else None for name in names}

    # -- one function -------------------------------------------------------------------------------------------------

    def _count(self, function: RunFunction, *, keep: bool) -> FunctionBound:
        """The bounds of a function; what they say of calls is kept for its callers."""
        graph = function.graph()
        if not function.loops and function.code.name != self.entry.code.name and keep:
            plain_graph = None if isinstance(graph, Refused) else graph
            found = CallCounts({}, plain_graph) if plain_graph is not None else self._uncounted([function.code.name])
            self._tell(function.code.name, found)
            return FunctionBound(function.name, function.place)
        alone = self._answers([function])
        others = awaited([function], alone)
        (bound,) = settled([function], alone, dict(zip(others, self._answers(others), strict=True)))
        if not keep:
            return bound
        plain = replace(bound, counts=tuple(loop for loop in bound.counts if not is_site(loop.answer.loop)))
        copies = self.homes.copies(function, plain)
        for name, own in copies.items():
            self.copies.setdefault(name, {}).update({id(copy): copy for copy in own})
        if isinstance(graph, Refused):
            self._tell(function.code.name, self._uncounted([function.code.name]))
            return bound
        sites = {loop.answer.loop.name: loop for loop in bound.counts if is_site(loop.answer.loop)}
        uses: dict[str, list[Use]] = {}
        for use in function.uses:
            uses.setdefault(use.loop, []).append(use)
        loops = {
            name: _over_inputs(_summed(copies.get(name, ()), uses.get(name, ()), sites), inputs_of(graph))
            for name in dict.fromkeys((*copies, *uses))
        }
        code = self.world.source.inlined.functions[function.code.name]
        # What users say of functions holds wherever they are called; the entry function lists it.
        granted = tuple(text for text in bound.granted if text not in function.stubs)
        self._tell(function.code.name, CallCounts(loops, graph, widths(code), granted))
        return bound

    def _tree(self, name: str) -> CallCounts | None:
        """What a call of a function that calls itself takes, by what one activation takes; None where there is no
        measure of its activations.
        """
        function = self.functions[name]
        self._tell(name, CallCounts())  # what it takes apart from its calls of itself
        graph = function.graph()
        if isinstance(graph, Refused):
            return None
        bits = widths(self.world.source.inlined.functions[name])
        found = activations_of(graph, lambda call: self.world.returning.body(call.callee) == name, bits)
        if found is None:
            return None
        before = {loop: dict(copies) for loop, copies in self.copies.items()}
        self._count(function, keep=True)
        one = self._told(name)
        if any(text not in HARMLESS for text in one.assumptions):
            self.copies = before
            return None
        loops = {
            loop: LoopCount(
                None if count.total is None else found.total(count.total),
                None if count.entry is None else found.largest(count.entry),
            )
            for loop, count in one.loops.items()
        }
        return replace(one, loops=loops)

    def _answers(self, functions: Sequence[AnalyzedFunction]) -> list[FunctionBound]:
        missing = [function for function in functions if function.code.name not in self.alone]
        if missing:
            found = answers_by_themselves(missing, self.method, self.effort, self.until)
            self.alone |= zip((function.code.name for function in missing), found, strict=True)
        return [self.alone[function.code.name] for function in functions]

    def _uncounted(self, component: Sequence[str]) -> CallCounts:
        """That nothing is known of the loops that calls of these functions may come to."""
        inside = {*component, *self.world.call_graph.of(component).names}
        names = {loop.name for function, loops in self.homes.written if function.code.name in inside for loop in loops}
        return CallCounts({name: LoopCount() for name in sorted(names)})

    # -- the whole ----------------------------------------------------------------------------------------------------

    def _loops(self, bound: FunctionBound) -> list[RunBound]:
        """The loops of the run in the order of the source."""
        counts = self._told(self.entry.code.name).loops
        reached = {*self.entry.reached.names, self.entry.code.name}
        unseen = self._unseen()
        runs: dict[str, RunBound] = {}
        for function, loops in self.homes.written:
            for loop in loops:
                if loop.name in runs or not (loop.name in counts or function.code.name in reached):
                    continue
                copies = tuple(self.copies.get(loop.name, {}).values())
                count = counts.get(loop.name)
                of = {f.code.name for f, home in self.homes.at(loop) if home.name == loop.name}
                if count is None or of & unseen:
                    count = LoopCount()
                exact = count.exact and not self.homes.is_shared(function, loop)
                run = RunBound(loop, count.total, count.entry, copies, by_end(loops).index(loop), exact)
                runs[loop.name] = run
        known = {loop.answer.loop.name: loop for loop in bound.counts}
        for name, count in counts.items():
            if name not in runs and name in known and not is_recursion(known[name].answer.loop):
                loop = known[name].answer.loop
                copies = tuple(self.copies.get(name, {}).values())
                runs[name] = RunBound(loop, count.total, count.entry, copies, exact=count.exact)
        return list(runs.values())

    def _unseen(self) -> frozenset[str]:
        """The functions that may be called where no call of them stands: by strangers, or through a pointer."""
        outside = self.entry.reached.outside
        return frozenset(self.world.call_graph.of((), outside).names) if outside else frozenset()

    def _shown(self, bound: FunctionBound, loops: Sequence[RunBound]) -> FunctionBound:
        """The bounds of the entry function without the loops that stand for calls."""
        own = tuple(loop for loop in bound.counts if not is_site(loop.answer.loop))
        found = replace(bound, counts=own)
        if found.refused is None or found.refused.reason not in (Reason.UNKNOWN_CALL, Reason.RECURSION):
            return found
        if any(run.total is None for run in loops) or self._unseen():
            return found
        recursive = [name for group in cycles(self.calls) for name in group]
        recursive += [
            name for name in self.calls if any(is_recursion(loop.id) for loop in self.functions[name].plain.loops)
        ]
        if not recursive:
            return replace(found, refused=None)
        shown = self.functions[recursive[0]]
        detail = f"the loops of this run are counted one by one, but not the calls of {shown.name}, which calls itself"
        return replace(found, refused=Refused(Reason.RECURSION, shown.place, detail))


def _summed(copies: Sequence[LoopIterations], uses: Sequence[Use], sites: dict[str, LoopIterations]) -> LoopCount:
    """What a call takes of one written loop, with all copies of it, and calls."""
    totals: list[t.Term | None] = [always(copy.call) for copy in copies]
    entries: list[t.Term | None] = [of_entry(copy) for copy in copies]
    exact = all(_is_exact(copy) for copy in copies)
    for use in uses:
        site = sites.get(use.site)
        if site is None:
            (totals if use.what == "total" else entries).append(None)
            exact = False
            continue
        total = always(site.call)
        if use.what == "total":
            totals.append(None if total is None else total * use.times)
            exact = exact and use.exact and _is_exact(site)
        elif isinstance(total, t.Const) and total.value == 0:
            continue
        else:
            most = of_entry(site)
            entries.append(most if use.times == 1 and most is not None else _times(most, use.times))
    return LoopCount(_sum(totals), _most(entries), exact)


def _over_inputs(count: LoopCount, inputs: frozenset[t.Var]) -> LoopCount:
    """The count without what is read on the way: the most that such terms come to, where that is a number."""
    total, entry = (_known(term, inputs) for term in (count.total, count.entry))
    return LoopCount(total, entry, count.exact and total is count.total)


def _known(term: t.Term | None, inputs: frozenset[t.Var]) -> t.Term | None:
    if term is None or term.variables <= inputs:
        return term
    most = t.range_of(term)[1]
    return t.const(most) if most is not None and most < LARGE_CONSTANT else term


def _times(most: t.Term | None, times: int) -> t.Term | None:
    return None if most is None else most * times


def _sum(terms: Sequence[t.Term | None]) -> t.Term | None:
    known = [term for term in terms if term is not None]
    return t.add(*known) if len(known) == len(terms) else None


def _most(terms: Sequence[t.Term | None]) -> t.Term | None:
    known = [term for term in terms if term is not None]
    return t.maximum(t.ZERO, *known) if len(known) == len(terms) else None


def _is_exact(copy: LoopIterations) -> bool:
    return copy.call.exact and not copy.calls.unshown
