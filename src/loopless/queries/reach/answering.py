"""Which inputs lead to a place, or that none do.

In the order of what they cost: some runs with inputs drawn at random; the constraints over counters of ways, which
refute; a search that they guide, first with small values for what the run begins with; proofs, which need not say why.
What is reached was replayed on the compiled program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from loopless import clock
from loopless import terms as t
from loopless.bounds.induction.floating.arithmetic import number_of
from loopless.check.certificates.property import Follows, Property, graph_of, violates
from loopless.errors import LooplessError, UsageError
from loopless.flowgraph.memory.initial_memory import begins_at, is_defined_here
from loopless.flowgraph.model import Call, Flowgraph, Kind
from loopless.flowgraph.words import not_followed
from loopless.logic.smt import SmtAnswer
from loopless.navigation.counters import CounterSystem, Plan
from loopless.navigation.product import product_of
from loopless.navigation.routes import Route
from loopless.navigation.search import Navigator
from loopless.navigation.splitting import without_wraps
from loopless.queries.call_values.native_driver import Driver
from loopless.queries.call_values.reached import Inputs, Reached
from loopless.queries.call_values.route_inputs import NotDriven, inputs_of
from loopless.queries.jobs.overrun import Overrun
from loopless.queries.jobs.running import run_all
from loopless.queries.jobs.sandbox import Limits, note
from loopless.queries.program import Program, is_called, load
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import proved
from loopless.queries.verification.certification import UNDEFINED, WILD
from loopless.refusals import Reason, Refused
from loopless.source.ir import FloatConst
from loopless.source.targets import SourceTarget, out_of_sight
from loopless.source.vocabulary import TARGET
from loopless.verification.proofs import Search
from loopless.verification.transitions import START, TransitionSystem, system_of

DEFAULT_S: Final = 60.0
"""Seconds for one target where nobody says otherwise."""
WAYS: Final = 24
"""Ways between two cutpoints that are told apart. A guess."""
SHORT: Final = (8, 16, 32, 64, 128, 256, 512, 1024)
"""Lengths of runs that are tried first, in their order: most steps of a long run are steps of a search."""
SHORT_MS: Final = 500
"""Milliseconds for the question whether the constraints have a solution of such a length. A guess."""
SMALL_S: Final = 2.0
"""Seconds in which small values are looked for. A guess."""
CHANCES: Final = 150
"""Runs with inputs drawn at random. A guess."""
CHANCE_S: Final = 0.02
"""Seconds for each of them. A guess."""
LADDER: Final = (1, 2, 4, 8, 16, 32, 64, 256, 1024, 1 << 14, 1 << 20, 1 << 31, 1 << 63)
"""How large what a run begins with may be, tried in this order: small values make short runs."""
ANY_SIZE: Final = ((0, 1 << 10), (0, 1 << 16), (-(1 << 63), 1 << 63))
"""The same where the time for small values is over."""
ATTEMPTS, MOST_ATTEMPTS, AT_ONCE_S = 6, 64, 0.5
"""So many choices of what a run begins with are tried that take longer than so many seconds; in all. Guesses."""
MOST_CONSTANTS: Final = 40
"""So many floating-point constants of the program are tried. A guess."""
WILD_S: Final = 0.3
"""Seconds for single runs that may leave their objects. A guess."""
PROOF_S: Final = 3.0
"""Seconds for a proof with a certificate of what the counters refute. A guess."""


def reach(  # noqa: PLR0913
    files: Sequence[Path],
    target: SourceTarget,
    function: str | None,
    settings: Settings,
    until: float | None = None,
    *,
    summaries: bool = True,
    minimize: str = "",
    driver: Driver | None = None,
    proofs: bool = True,
    seconds: float | None = None,
) -> Reached:
    """Whether a call of ``function`` gets to the target; where it is None, a run from ``main`` or, where there is none,
    a call of the function that the target is in. ``summaries``: how often inner loops go round as a whole may be used.
    ``minimize``: "run" looks for the fewest iterations, "inputs" for the smallest values that the run begins with.
    ``driver``: for native runs, where there is one that can tell whether they get to the target. ``proofs``: whether
    proofs with certificates are looked for.
    ``seconds``: of counted work, for the methods; None: as many as are left until ``until``, or :data:`DEFAULT_S`.

    Raises:
        UsageError: there is no such function, or no code at the target.
        SourceError: the program, or the target's condition, does not compile.
    """
    if seconds is None:
        seconds = DEFAULT_S if until is None else max(0.0, until - clock.now())
    deadline = until if until is not None else clock.now() + seconds
    with_target = replace(settings, source=replace(settings.source, target=target))
    program = load(files, with_target)
    entry = _entry(program, target, function)
    job = functools.partial(_job, program, target, entry, with_target, seconds, minimize, summaries, driver, proofs)
    if not settings.sandboxed:
        return _with_program(job(), files, settings)
    limits = Limits(None, settings.loop_memory_mb, deadline + 1.0)
    (found,) = run_all([job], limits, fresh=True)
    if not isinstance(found, Overrun):
        return _with_program(found, files, settings)
    return Reached(target, entry, "unknown", reason=found.in_words, trouble=found.traceback)


def _with_program(found: Reached, files: Sequence[Path], settings: Settings) -> Reached:
    """The answer with what a test of it is written from: the files, and how they were read (without the target)."""
    return replace(found, files=tuple(map(str, files)), options=replace(settings.source, target=None))


def _entry(program: Program, target: SourceTarget, function: str | None) -> str:
    """The name in the module of the function in which runs begin."""
    module = program.source.module
    defined = [one.name for one in module.defined()]
    holding = [one.name for one in module.defined() if any(i.callee_name == TARGET for i in one.instructions())]
    if not holding:
        raise UsageError(_nothing_there(program, target))
    hidden = [name for name in holding if out_of_sight(name)]
    if hidden:
        raise UsageError(f"{target} is in {hidden[0]}, whose name says what it means: its body is not followed")
    if function is not None:
        named = [one for one in module.defined() if function == one.name]
        named = named or [one for one in module.defined() if function == one.source_name]
        named = named or [one for one in module.defined() if is_called(one, function)]
        if len(named) > 1:
            shown = ", ".join(one.source_name if one.source_name != function else one.name for one in named)
            raise UsageError(f"there are several functions {function}; name one of {shown}")
        if not named:
            known = ", ".join(one.source_name for one in module.defined()) or "none"
            raise UsageError(f"there is no function {function} in {', '.join(program.files)}; its functions: {known}")
        return named[0].name
    if "main" in defined:
        return "main"
    if len(holding) > 1:
        raise UsageError(f"{target} is in several functions; choose one with --function: {', '.join(holding)}")
    return holding[0]


def _nothing_there(program: Program, target: SourceTarget) -> str:
    if target.line is None:
        return f"nothing calls {target.callee} in {', '.join(program.files)}"
    lines = {
        loc.line
        for one in program.source.module.defined()
        for instruction in one.instructions()
        if (loc := instruction.loc) is not None and Path(loc.file).name == Path(target.file).name
    }
    near = sorted(lines, key=lambda line: (abs(line - (target.line or 0)), line))[:3]
    beside = f"; lines near it that have some: {', '.join(map(str, sorted(near)))}" if near else ""
    return f"{target.file}:{target.line} has no code{beside}"


def _job(program: Program, target: SourceTarget, entry: str, settings: Settings, seconds: float, *more: Any) -> Reached:
    return ReachQuestion(program, target, entry, settings, clock.counted() + seconds, *more).answer()


def graph_with_errors(program: Program, entry: str, settings: Settings) -> Flowgraph:
    """The function ``entry`` as runs go through it that begin with it, for the search for its errors."""
    return graph_of(
        program.source,
        entry,
        Property.UNREACH_CALL,
        mathematical=settings.mathematical,
        wrapv=settings.wrapv,
        apart=entry != "main",
        cells=False,
    )


@dataclass(slots=True)
class ReachQuestion:
    """One target, and what the methods have said of it."""

    program: Program
    target: SourceTarget
    entry: str
    settings: Settings
    deadline: float
    minimize: str = ""
    summaries: bool = True
    driver: Driver | None = None
    proofs: bool = True
    graph: Flowgraph | None = None
    """The function with the target as its only error, where its calls are not in the module."""
    tried: dict[str, float] = field(default_factory=dict)
    _general: CounterSystem | None = None
    why: str = ""

    def answer(self) -> Reached:
        """The answer, by the methods in their order."""
        graph = self.graph or graph_with_errors(self.program, self.entry, self.settings)
        if graph.refused is not None:
            return self._unknown(str(graph.refused))
        also = [self.entry] if self.graph is not None else []  # what calls it may come to the target
        follows = Follows(Property.UNREACH_CALL, self.program.source.module, also)
        made = system_of(graph, violates(Property.UNREACH_CALL), functools.partial(self._calls, follows), ways=WAYS)
        if isinstance(made, Refused):
            return self._unknown(str(made))
        source = self.settings.for_runs(self.settings.source)
        driver = self.driver or Driver(self.program.files, source, self.entry, self.deadline)
        try:
            return self._searched(without_wraps(made), driver)
        finally:
            driver.close()

    def _calls(self, follows: Follows, call: Call) -> Refused | None:
        if follows(call):
            return None
        return Refused(Reason.UNKNOWN_CALL, str(call.loc or call.callee), not_followed(call.callee))

    def _searched(self, system: TransitionSystem, driver: Driver) -> Reached:
        general = self._timed("counters", lambda: self._counters(system))
        if general is SmtAnswer.NO:
            if not system.open:
                return self._unreachable("counters of paths", system, driver)
            self.why = str(system.open[0])
        elif not self.settings.run:
            self.why = "a run that gets there would have to be replayed, which --no-run forbids"
        else:
            answer = self._navigated(system, driver, general)
            if answer is not None:
                return answer
        left = self.deadline - clock.counted()
        if left > 1 and self.proofs:
            verdict = self._timed("proofs", lambda: proved(self.program, self.entry, self.settings, self.deadline))
            if verdict.verdict == "true":
                return self._proved(verdict)
        return self._unknown(self.why or "neither a run that gets there nor a proof that there is none was found")

    # -- methods ------------------------------------------------------------------------------------------------------

    def _by_chance(self, system: TransitionSystem, driver: Driver) -> Reached | None:
        def drawn() -> Inputs | None:
            return driver.by_chance(system.graph, _numbers(system), CHANCES, CHANCE_S)

        try:
            found = self._timed("random inputs", drawn)
        except LooplessError as error:
            self.why = self.why or str(error)
            return None
        return None if found is None else self._replayed(driver, found, "random inputs")

    def _counters(self, system: TransitionSystem) -> CounterSystem | SmtAnswer:
        """The constraints of all runs; NO where they have no solution."""
        product = product_of(system, START, {})
        if product.goal is None:
            return SmtAnswer.UNKNOWN if product.cut else SmtAnswer.NO
        self._general = made = CounterSystem(product, system, trips=self.summaries)
        return made if made.solve() is not SmtAnswer.NO else SmtAnswer.NO

    def _navigated(
        self, system: TransitionSystem, driver: Driver, general: CounterSystem | SmtAnswer
    ) -> Reached | None:
        """Searches with small values to begin with, and then with none that are fixed; some runs by chance between."""
        most = self._least_length(general) if self.minimize == "run" and isinstance(general, CounterSystem) else None
        if isinstance(general, CounterSystem) and general.scalars:
            limit = most
            if self.minimize == "":
                limit = self._timed("counters", functools.partial(self._short, general))
            short = [] if limit is None else [general.length.le(limit)]
            blocked: list[t.Condition] = []
            slow = 0
            for attempt in range(MOST_ATTEMPTS):
                if attempt == 1 and (chance := self._by_chance(system, driver)) is not None:
                    return chance
                fixed = self._timed("counters", functools.partial(self._smallest, general, [*short, *blocked]))
                if fixed is None:
                    break
                share = min(self.deadline, clock.counted() + max(2.0, (self.deadline - clock.counted()) / 3))
                begun = clock.counted()
                answer = self._search(system, driver, fixed, share, most)
                if answer is not None:
                    return answer
                slow += clock.counted() - begun > AT_ONCE_S
                if slow == ATTEMPTS:
                    break
                if attempt == 0 and most is None:
                    short = []  # the shortest runs may be none
                blocked.append(t.disjunction(var.ne(value) for var, value in fixed.items()))
        if most is not None and self.why == "":
            answer = self._search(system, driver, {}, clock.counted() + 2.0, most)
            if answer is not None:
                return answer
        kept = PROOF_S if self.proofs else 0.0
        free = self._search(system, driver, {}, max(self.deadline - kept, clock.counted() + 1.0))
        return free or ("random inputs" not in self.tried and self._by_chance(system, driver)) or None

    @staticmethod
    def _short(general: CounterSystem) -> int | None:
        """A length, not much more than the least one, with which the constraints have a solution; None where that is
        not found at once.
        """
        for length in SHORT:
            found = general.solve([general.length.le(length)], SHORT_MS)
            if isinstance(found, Plan):
                return length
            if found is SmtAnswer.UNKNOWN:
                return None
        return None

    def _smallest(self, general: CounterSystem, blocked: list[t.Condition]) -> dict[t.Var, int] | None:
        """Small values to begin with for which the constraints have a solution; no negative ones where it can be."""
        infos = general.system.graph.variables
        scalars = [var for var in general.scalars if not (var in infos and infos[var].pointer_part == "object")]
        led = [v for v in scalars if v in infos and infos[v].kind in (Kind.POINTEE, Kind.GLOBAL)]
        starts = [v for v in led if infos[v].pointer_part == "offset"]
        natural = [(0, high) for high in LADDER[:8]]
        rungs = [*natural, *((low, high) for high in LADDER for low in (0, -high))]
        until = min(self.deadline, clock.counted() + SMALL_S)
        while rungs:
            if clock.counted() > until and rungs[0] not in ANY_SIZE:
                rungs = list(ANY_SIZE)
            least, most = rungs.pop(0)
            small = [v.le(most) & v.ge(least) for v in scalars]
            if rungs:
                small += [v.eq(0) for v in starts]
            found = general.solve([*small, *blocked], 500)
            if isinstance(found, Plan):
                if self.minimize == "inputs":
                    found = self._smaller(general, scalars, found, [*small, *blocked])
                return {
                    t.Var(var.name.partition("~")[0], var.type): found.values[var]
                    for var in scalars
                    if var in found.values
                }
            if clock.counted() > self.deadline:
                return None
        return None

    @staticmethod
    def _smaller(general: CounterSystem, scalars: Sequence[t.Var], plan: Plan, also: list[t.Condition]) -> Plan:
        """The same with one value after the other as near to 0 as the constraints let it be."""
        for var in scalars:
            low, high = -1, abs(plan.values.get(var, 0))  # not as small as low, but as high
            while high - low > 1:
                middle = (low + high) // 2
                near = var.le(middle) & var.ge(-middle)
                found = general.solve([*also, near], 500)
                if isinstance(found, Plan):
                    high, plan = abs(found.values.get(var, 0)), found
                else:
                    low = middle
            also = [*also, var.le(high), var.ge(-high)]
        return plan

    def _least_length(self, general: CounterSystem) -> int | None:
        """The fewest transitions with which the constraints have a solution."""

        def can(length: int) -> bool:
            return isinstance(general.solve([general.length.le(length)], 500), Plan)

        most = next((1 << k for k in range(1, 40) if can(1 << k)), None)
        if most is None:
            return None
        low, high = most // 2, most  # not with low, but with high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if can(middle) else (middle, high)
        return high

    def _search(
        self, system: TransitionSystem, driver: Driver, fixed: dict[t.Var, int], until: float, most: int | None = None
    ) -> Reached | None:
        until = min(until, self.deadline)
        begun = self._begun()
        navigator = Navigator(system, fixed, until, most=most, trips=self.summaries, begun=begun, general=self._general)
        found = self._timed("guided search", navigator.run)
        if found.route is not None:
            return self._driven(system, driver, found.route)
        if found.exhausted and not system.open:
            return self._unreachable("guided search", system, driver)
        self.why = self.why or (found.why if not fixed else "")
        return None

    def _begun(self) -> frozenset[str]:
        """The globals that hold what the program gives them when a run begins."""
        module = self.program.source.module
        called = any(i.callee_name == self.entry for one in module.defined() for i in one.instructions())
        if called or not begins_at(module, self.entry):
            return frozenset()
        return frozenset(name for name, variable in module.globals.items() if is_defined_here(variable))

    def _driven(self, system: TransitionSystem, driver: Driver, route: Route) -> Reached | None:
        """What a run with the inputs of a path comes to."""
        try:
            inputs = inputs_of(route, system, self.entry, driver.signature)
        except NotDriven as error:
            self.why = f"a path that gets there was found, but {error}"
            return None
        except LooplessError as error:
            self.why = f"a path that gets there was found, but the program could not be compiled for a run: {error}"
            return None
        return self._replayed(driver, inputs, "guided search")

    def _replayed(self, driver: Driver, inputs: Inputs, method: str) -> Reached | None:
        """The answer "reached", if the native run with these inputs comes to the target."""
        try:
            reached, said, inputs = self._timed("replay", lambda: driver.replay(inputs))
        except LooplessError as error:
            self.why = f"a path that gets there was found, but could not be replayed: {error}"
            return None
        if not reached and driver.floats:
            found = self._timed("replay", lambda: driver.with_floats(inputs, self._constants(), CHANCE_S))
            if found is None:
                names = ", ".join(driver.floats)
                self.why = (
                    f"a path that gets there was found, but what floating-point numbers decide is not followed, and "
                    f"none of the values that were tried for {names} gets there"
                )
                return None
            reached, inputs = True, found
        if not reached:
            self.why = f"a path that gets there was found, but the native run with its inputs ended otherwise ({said})"
            return None
        words = "the native run came to the target"
        return Reached(self.target, self.entry, "reached", method, inputs, words, tried=dict(self.tried))

    def _constants(self) -> list[float]:
        """The floating-point constants of the program."""
        instructions = (i for one in self.program.source.module.defined() for i in one.instructions())
        operands = (operand for i in instructions for operand in i.operands)
        numbers = (number_of(one) for one in operands if isinstance(one, FloatConst))
        return list(dict.fromkeys(number for number in numbers if number is not None))[:MOST_CONSTANTS]

    # -- answers ------------------------------------------------------------------------------------------------------

    def _unreachable(self, method: str, system: TransitionSystem, driver: Driver) -> Reached:
        """Nothing gets there: with the certificate of a proof; where none is found, by some native runs, too."""
        until = min(self.deadline, clock.counted() + PROOF_S)
        if self.proofs:
            verdict = self._timed("proofs", lambda: proved(self.program, self.entry, self.settings, until))
            if verdict.verdict == "true":
                return replace(self._proved(verdict), method=method)
        untried = self.settings.run and "random inputs" not in self.tried
        if untried and (chance := self._by_chance(system, driver)) is not None:
            return chance
        wild = self._wild(system)
        if wild is not None:
            return self._unknown(wild)
        granted = (*system.graph.assumptions, *([UNDEFINED] if system.failing else []))
        return Reached(self.target, self.entry, "unreachable", method, tried=dict(self.tried), assumptions=granted)

    @staticmethod
    def _wild(system: TransitionSystem) -> str | None:
        """Where a run was seen that leaves its objects: C does not say what it does then, and a machine goes on."""
        search = Search(system, violates(Property.UNREACH_CALL), clock.counted() + WILD_S)
        search.sampled(WILD_S)
        kind = next((kind for kind in WILD if kind in search.undefined), None)
        if kind is None:
            return None
        at = f" at {loc}" if (loc := search.undefined[kind].loc) is not None else ""
        words = kind.replace("-", " ")
        return f"no run gets there by what C says, but one leaves its objects{at} ({words}), and a machine goes on"

    def _proved(self, verdict: Any) -> Reached:
        return Reached(
            self.target,
            self.entry,
            "unreachable",
            verdict.method,
            certificate=verdict.certificate,
            judged=verdict.judged,
            assumptions=verdict.assumptions,
            tried=dict(self.tried),
        )

    def _unknown(self, reason: str) -> Reached:
        return Reached(self.target, self.entry, "unknown", reason=reason, tried=dict(self.tried))

    def _timed(self, name: str, method: Callable[[], Any]) -> Any:
        note(f"{name} were tried" if name.endswith("s") else f"{name} was tried")
        started = clock.now()
        try:
            return method()
        finally:
            self.tried[name] = round(self.tried.get(name, 0.0) + clock.now() - started, 3)


def _numbers(system: TransitionSystem) -> list[int]:
    """Numbers that conditions compare with, for inputs drawn at random."""
    found: dict[int, None] = {}
    for transition in system.transitions:
        for compared in t.comparisons(transition.condition):
            for node in t.walk(compared.term):
                if isinstance(node, t.Const):
                    found[node.value] = None
                elif isinstance(node, t.Sum):
                    found |= {-value: None for monomial, value in node.items if not monomial}
    return [value for value in found if abs(value) < 1 << 31][:40]
