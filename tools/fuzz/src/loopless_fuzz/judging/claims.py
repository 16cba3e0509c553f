"""What a summary says about a loop, put beside what the loop does.

The judge knows no summaries: it takes anything that has cases and regions with conditions on the state at the loop's
header. Exactly one of them must hold in every state, and what that one says must be so.

Where it speaks of what memory holds, that is looked up in the contents that the loop was run with
(:mod:`loopless_fuzz.judging.contents`). What the loop did not access has no value: a condition must be right whatever
it is, and a value that needs it is wrong. Only of a loop that writes memory a value may speak of such an element, if it
is the same whatever that is; such values are counted. What it says that memory holds behind the loop is compared byte
by byte (:mod:`loopless_fuzz.judging.elements`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from types import MappingProxyType
from typing import Any, Final, Protocol

from loopless import terms as t
from loopless.check.interpreter.expressions import HELPERS, Expressions, Lines
from loopless.check.interpreter.values import Stop
from loopless.flowgraph.callees.streams import INPUTS
from loopless_fuzz.judging.contents import KNOWN, ClaimReader, Content, Contents, Entry, Unread
from loopless_fuzz.judging.elements import Row, Test, Told, Wrong, compare, whatever_is_there
from loopless_fuzz.judging.loop_alone import LoopAlone, Truth


class ExitClaim(Protocol):
    """Where a case says that the loop is left."""

    @property
    def kind(self) -> str: ...
    @property
    def block(self) -> str: ...
    @property
    def edge(self) -> int | None: ...


class LeavingClaim(Protocol):
    """How runs from some states leave."""

    @property
    def when(self) -> t.Condition: ...
    @property
    def then(self) -> Mapping[t.Var, t.Term]: ...
    @property
    def exit(self) -> ExitClaim: ...
    @property
    def iterations(self) -> t.Term: ...
    @property
    def per_path(self) -> Mapping[str, t.Term]: ...


class CaseClaim(LeavingClaim, Protocol):
    """One case of a summary."""

    @property
    def exit_path(self) -> str: ...
    @property
    def totals(self) -> Mapping[str, t.Term]: ...
    @property
    def exact(self) -> bool: ...

    # and perhaps ``contents``, what memory holds behind the loop: None where nothing is told of it


class RegionClaim(Protocol):
    """Entry states that are undefined, or about which nothing is said."""

    @property
    def when(self) -> t.Condition: ...


class RelationClaim(LeavingClaim, Protocol):
    """One case of an over-approximation: what a run does that leaves so, for some values of ``free``."""

    @property
    def free(self) -> Sequence[t.Var]: ...
    @property
    def facts(self) -> t.Condition: ...


class ApproximationClaim(Protocol):
    """What runs from residual states may do; a summary may have one as ``approximation``."""

    @property
    def cases(self) -> Sequence[RelationClaim]: ...
    @property
    def may_diverge(self) -> t.Condition: ...
    @property
    def may_be_undefined(self) -> Sequence[RegionClaim]: ...
    @property
    def may_be_lost(self) -> Sequence[RegionClaim]: ...


class SummaryClaim(Protocol):
    """A summary."""

    @property
    def cases(self) -> Sequence[CaseClaim]: ...
    @property
    def diverges(self) -> t.Condition: ...
    @property
    def undefined(self) -> Sequence[RegionClaim]: ...
    @property
    def residual(self) -> Sequence[RegionClaim]: ...


_Effect = Callable[[Sequence[int], ClaimReader], Sequence[int]]
_Test = Callable[[Sequence[int], ClaimReader], bool]
_Loads = Callable[[int, int, int, bool], int]
_NOTHING: Final[Contents] = MappingProxyType({})
_UNFINISHED: Final = ("timeout", "unknown")
"""Runs of which nothing but their beginning is known."""
_STAND_INS = (0, 1, -1, 1 << 70, -(1 << 70))

UNCOUNTED = "case without counts"
"""The region of a state whose case says how many iterations there are, but of no path how many are its own."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One state judged. ``region``: "case", "over-approximate" (a case that is not exact), "diverges", "undefined",
    "residual", "outside" where the run reads what is not given, "out of reach" where a value like
    3^(10^9) would have more digits than can be written down, :data:`UNCOUNTED`, or "" where several or none hold.

    ``compared``: whether the loop's own run was there to compare with. ``mismatch``: what is wrong, "" if nothing.
    ``told``: how much of what memory holds behind the loop was compared, None where nothing is said of it.
    """

    region: str
    compared: bool
    mismatch: str = ""
    told: Told | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    claim: CaseClaim
    names: tuple[t.Var, ...]
    paths: tuple[str, ...]
    totals: tuple[str, ...]
    effect: _Effect
    memory: Mapping[str, Sequence[Row]] | None


@dataclass(frozen=True, slots=True)
class _Region:
    name: str
    detail: object
    when: t.Condition
    test: _Test


class Claims:
    """A summary, compiled so that thousands of states can be judged.

    ``objects``: those that the loop accesses (:attr:`LoopAlone.contents`), of which the summary may speak. ``shown``:
    by the id of an exit path, variables whose values at that exit the summary vouches for: those that a case does not
    name must be unchanged.
    """

    def __init__(
        self,
        summary: SummaryClaim,
        variables: Sequence[t.Var],
        shown: Mapping[str, frozenset[t.Var]] | None = None,
        objects: Sequence[Content] = (),
    ) -> None:
        self.variables = tuple(variables)
        self._objects = tuple(objects)
        self._writes = any(content.written for content in objects)
        self._numbers = {content.name: content.number for content in objects}
        self._shown = shown or {}
        found: list[tuple[str, object, t.Condition]] = []
        found += [(f"case {at + 1}", self._case(case), case.when) for at, case in enumerate(summary.cases)]
        found.append(("diverges", None, summary.diverges))
        found += [("undefined", part, part.when) for part in summary.undefined]
        found += [("residual", part, part.when) for part in summary.residual]
        self._regions = [_Region(name, detail, when, self._condition(when)) for name, detail, when in found]
        self._approximation: ApproximationClaim | None = getattr(summary, "approximation", None)

    def judge(self, state: Mapping[t.Var, int], truth: Truth, contents: Contents = _NOTHING) -> Verdict:
        """Whether what is said about ``state`` is so, ``contents`` being what the loop was run with."""
        if truth.status == "outside":
            return Verdict("outside", compared=False)
        values = [state.get(var, 0) for var in self.variables]
        ended = truth.status not in _UNFINISHED
        reader = ClaimReader(self._objects, contents, truth.reads if ended else {}, state)
        hits: list[tuple[str, object]] = []
        doubtful: list[_Region] = []
        for region in self._regions:
            reader.missed = False
            try:
                here = region.test(values, reader)
            except (t.EvaluationError, ArithmeticError, ValueError, Stop):
                doubtful.append(region)
                continue
            if reader.missed:
                doubtful.append(region)
            elif here:
                hits.append((region.name, region.detail))
        if doubtful:
            return self._judge_with_missing(hits, doubtful, values, truth, reader)
        verdict = self._judge_hits(hits, values, truth, reader)
        if verdict.compared and not verdict.mismatch and hits and truth.status == "ok":
            return self._judge_memory(verdict, hits[0], values, (contents, truth), reader)
        return verdict

    def _judge_with_missing(
        self,
        known: Sequence[tuple[str, object]],
        doubtful: Sequence[_Region],
        values: Sequence[int],
        truth: Truth,
        reader: ClaimReader,
    ) -> Verdict:
        """Where quotients by zero, elements that are not read and the like matter: what is said must be so whatever
        they are.
        """
        verdict = Verdict("out of reach", compared=False)
        for missing in _STAND_INS:
            try:
                here = [part for part in doubtful if self._holds(part.when, values, reader, missing)]
            except (t.EvaluationError, ArithmeticError, ValueError, Stop) as error:
                wrong = "" if _too_large(error) else f"a condition has no value here: {error}"
                return Verdict("out of reach", compared=False, mismatch=wrong)
            hits = [*known, *((part.name, part.detail) for part in here)]
            reader.stand_in = missing if self._writes else None
            verdict = self._judge_hits(hits, values, truth, reader)
            reader.stand_in = None
            if verdict.mismatch:
                return verdict
        return verdict

    def _judge_hits(
        self, hits: Sequence[tuple[str, object]], values: Sequence[int], truth: Truth, reader: ClaimReader
    ) -> Verdict:
        kinds = {name if isinstance(detail, _Case) else name.split()[0] for name, detail in hits}
        if len(kinds) != 1:
            found = ", ".join(sorted(kinds)) or "no region"
            return Verdict("", compared=False, mismatch=f"the state lies in {found}; the loop: {_outcome(truth)}")
        name, detail = hits[0]
        if isinstance(detail, _Case) and not detail.claim.exact:
            return Verdict("over-approximate", compared=False)  # nothing is claimed of the run
        if isinstance(detail, _Case):
            return self._judge_case(name, detail, values, truth, reader)
        if name == "residual":
            return self._judge_relation(values, truth, reader)
        if truth.status in _UNFINISHED:
            return Verdict(name, compared=False)
        if truth.status != name:
            return Verdict(name, compared=True, mismatch=f"said {name}; the loop: {_outcome(truth)}")
        if name == "undefined" and truth.line:
            lines = {getattr(part, "line", 0) for _, part in hits}
            if 0 not in lines and truth.line not in lines:
                wrong = f"said undefined in line {lines}; the loop: {_outcome(truth)}"
                return Verdict(name, compared=True, mismatch=wrong)
        return Verdict(name, compared=True)

    def _judge_memory(
        self,
        verdict: Verdict,
        hit: tuple[str, object],
        values: Sequence[int],
        run: tuple[Contents, Truth],
        reader: ClaimReader,
    ) -> Verdict:
        """Whether memory holds behind the loop what the case says."""
        (name, case), (before, truth) = hit, run
        if not isinstance(case, _Case) or case.memory is None:
            return verdict
        reader.begin()
        try:
            told = compare(case.memory, self._objects, (before, truth.after), values, reader)
            told.beyond += verdict.told.beyond if verdict.told is not None else 0
            return replace(verdict, told=told)
        except Wrong as wrong:
            return replace(verdict, mismatch=f"{name} says {wrong}; the loop: {_outcome(truth)}")
        except (t.EvaluationError, ArithmeticError, ValueError, Stop) as error:
            known = "" if _too_large(error) else f"{name}: what memory holds has no value here: {error}"
            return replace(verdict, mismatch=known)

    def _judge_case(self, name: str, case: _Case, values: Sequence[int], truth: Truth, reader: ClaimReader) -> Verdict:
        beyond = 0
        try:
            try:
                iterations, *rest = case.effect(values, reader)
            except Unread:
                if truth.status in _UNFINISHED or not self._writes:
                    raise
                iterations, *rest = whatever_is_there(lambda: tuple(case.effect(values, reader)), reader)
                beyond = 1
        except (t.EvaluationError, ArithmeticError, ValueError, Stop) as error:
            known = not _too_large(error) and not (isinstance(error, Unread) and truth.status in _UNFINISHED)
            wrong = f"{name} has no value here: {error}; the loop: {_outcome(truth)}" if known else ""
            return Verdict("out of reach", compared=False, mismatch=wrong)
        if truth.status in _UNFINISHED:
            early = truth.status == "timeout" and iterations < truth.iterations
            wrong = f"{name} says {iterations} iterations; the loop is still running after {truth.iterations}"
            return Verdict("case", compared=early, mismatch=wrong if early else "")
        wrong = self._difference(case, iterations, rest, truth, dict(zip(self.variables, values, strict=True)))
        wrong = f"{name} says {wrong}; the loop: {_outcome(truth)}" if wrong else ""
        region = "case" if case.paths or not iterations else UNCOUNTED
        return Verdict(region, compared=True, mismatch=wrong, told=Told(beyond=beyond) if beyond else None)

    def _difference(
        self, case: _Case, iterations: int, rest: Sequence[int], truth: Truth, before: Mapping[t.Var, int]
    ) -> str:
        claim = case.claim
        if truth.status == "assumption-failed" and claim.exit.kind == "assumption":
            return "" if iterations == truth.iterations else f"{iterations} iterations"
        if truth.status != "ok":
            return f"{iterations} iterations and an exit of kind {claim.exit.kind}"
        if (claim.exit.block, claim.exit.edge) != truth.exit:
            return f"exit {claim.exit.block}:{claim.exit.edge} and not {truth.exit}"
        if iterations != truth.iterations:
            return f"{iterations} iterations"
        values = dict(zip(case.names, rest, strict=False))
        for var in sorted(set(values) | self._shown.get(claim.exit_path, frozenset()), key=lambda v: v.key):
            said = values.get(var, before.get(var))
            if var in truth.values and said is not None and said != truth.values[var]:
                return f"{var.name}' = {said}"
        counts = dict(zip(case.paths, rest[len(case.names) :], strict=False))
        for name, said in zip(case.totals, rest[len(case.names) + len(case.paths) :], strict=True):
            if said != truth.totals.get(name, 0):
                return f"{said} iterations of {name} in all"
        # Counts that are not said have no closed form; a single one would follow from the others and the total.
        unsaid = truth.per_path.keys() - counts.keys()
        for path in sorted(truth.per_path):
            said_count = counts.get(path, 0)
            if said_count != truth.per_path[path] and not (path in unsaid and len(unsaid) > 1):
                return f"{said_count} iterations of path {path}"
        return ""

    # -- over-approximations ------------------------------------------------------------------------------------------

    def _judge_relation(self, values: Sequence[int], truth: Truth, reader: ClaimReader) -> Verdict:
        """Whether the run is one of those that the approximation of residual states allows."""
        claim = self._approximation
        if claim is None or truth.status in _UNFINISHED:
            return Verdict("residual", compared=False)
        before = dict(zip(self.variables, values, strict=True))
        allowed: bool | None
        try:
            match truth.status:
                case "diverges":
                    allowed = t.holds(claim.may_diverge, before, reader)
                case "undefined":
                    places = [u for u in claim.may_be_undefined if t.holds(u.when, before, reader)]
                    lines = {getattr(place, "line", 0) for place in places}
                    allowed = bool(places) and (not truth.line or 0 in lines or truth.line in lines)
                case _:
                    found = [relation_holds(case, before, truth, reader) for case in claim.cases]
                    allowed = True if True in found else None if None in found else False
        except (t.EvaluationError, ArithmeticError, ValueError):
            allowed = None
        if not allowed and any(t.holds(lost.when, before, reader) for lost in claim.may_be_lost):
            allowed = None  # nothing is said of where the run goes on
        if allowed is None:
            return Verdict("over-approximate", compared=False)
        wrong = "" if allowed else f"the approximation excludes what the loop does: {_outcome(truth)}"
        return Verdict("over-approximate", compared=True, mismatch=wrong)

    # -- compiling ----------------------------------------------------------------------------------------------------

    def _case(self, case: CaseClaim) -> _Case:
        names, paths, totals = tuple(case.then), tuple(case.per_path), tuple(case.totals)
        terms = [case.iterations, *case.then.values(), *case.per_path.values(), *case.totals.values()]
        contents: t.Contents | None = getattr(case, "contents", None)
        memory = None
        if contents is not None:
            memory = {array: tuple(self._row(layer) for layer in layers) for array, layers in contents.items()}
        return _Case(case, names, paths, totals, self._effect(terms), memory)

    def _row(self, layer: t.Layer) -> Row:
        start = self._effect([layer.start])
        with_index = (*self.variables, t.INDEX)
        value = None if layer.value is None else self._effect([layer.value], with_index)
        return Row(
            layer.type,
            layer.stride,
            lambda values, reader: start(values, reader)[0],
            self._anyhow(layer.where, with_index),
            None if value is None else lambda values, reader: value(values, reader)[0],
        )

    def _anyhow(self, condition: t.Condition, variables: Sequence[t.Var]) -> Test:
        """Whether the condition holds, with a number for what has no value."""
        compiled: Callable[[Sequence[int], _Loads], bool] | None = self._compiled([], condition, variables)

        def test(values: Sequence[int], reader: ClaimReader, missing: int) -> bool:
            if compiled is not None and not missing:
                try:
                    return compiled(values, reader.load)
                except (Unread, ArithmeticError, ValueError, Stop):
                    pass  # plain evaluation knows what it does not need
            reader.begin()
            return t.holds(condition, dict(zip(variables, values, strict=True)), reader, missing=missing)

        return test

    def _effect(self, terms: Sequence[t.Term], variables: Sequence[t.Var] | None = None) -> _Effect:
        variables = self.variables if variables is None else variables
        compiled: Callable[[Sequence[int], _Loads], Sequence[int]] | None = self._compiled(terms, None, variables)
        slowly = self._evaluated(terms, variables)
        if compiled is None:
            return slowly

        def effect(values: Sequence[int], reader: ClaimReader) -> Sequence[int]:
            try:
                return compiled(values, reader.load)
            except Unread:
                return slowly(values, reader)  # which knows what it does not need

        return effect

    @staticmethod
    def _evaluated(terms: Sequence[t.Term], variables: Sequence[t.Var]) -> _Effect:
        def effect(values: Sequence[int], reader: ClaimReader) -> Sequence[int]:
            state = dict(zip(variables, values, strict=True))
            found = []
            for term in terms:
                reader.begin()
                found.append(t.evaluate(term, state, reader))
            return found

        return effect

    def _condition(self, condition: t.Condition) -> _Test:
        compiled: Callable[[Sequence[int], _Loads], bool] | None = self._compiled([], condition, self.variables)
        if compiled is None:
            return lambda values, reader: self._holds(condition, values, reader)

        def test(values: Sequence[int], reader: ClaimReader) -> bool:
            try:
                return compiled(values, reader.load)
            except Unread:
                return self._holds(condition, values, reader)

        return test

    def _holds(self, condition: t.Condition, values: Sequence[int], reader: ClaimReader, missing: int = 0) -> bool:
        reader.begin()
        return t.holds(condition, dict(zip(self.variables, values, strict=True)), reader, missing=missing)

    def _compiled(
        self, terms: Sequence[t.Term], condition: t.Condition | None, variables: Sequence[t.Var]
    ) -> Callable[[Sequence[int], _Loads], Any] | None:
        """As Python; None for what the judge's compiler does not know (plain evaluation then decides)."""
        if not all(_is_known(node) for node in (*terms, *((condition,) if condition is not None else ()))):
            return None
        lines = Lines()
        names = {var: f"v{at}" for at, var in enumerate(variables)}
        writer = Expressions(lines, names, self._numbers.__getitem__)
        writer.begin()
        try:
            lines("def run(values, ld):")
            with lines.deeper():
                if names:
                    lines(f"{', '.join(names.values())}, = values")
                result = writer.condition(condition) if condition is not None else ""
                lines(f"return {result}" if condition is not None else f"return [{_listed(writer, terms)}]")
            namespace: dict[str, Any] = dict(HELPERS)
            exec(compile("\n".join(lines.lines) + "\n", "<claim>", "exec"), namespace)  # noqa: S102  our own code
        except (AssertionError, KeyError, ValueError, RecursionError, SyntaxError, MemoryError):
            return None
        found: Callable[[Sequence[int], _Loads], Any] = namespace["run"]
        return found


def _is_known(node: t.Node) -> bool:
    """Whether the compiler knows all that is in it."""
    return all(
        isinstance(part, KNOWN) and not (isinstance(part, t.Read) and part.array == INPUTS) for part in t.walk(node)
    )


_MOST_TRIED = 20_000
"""So many values of free variables are tried at most where the run does not tell them."""


def relation_holds(
    case: RelationClaim, before: Mapping[t.Var, int], truth: Truth, reader: t.Reader | None = None
) -> bool | None:
    """Whether some values of the free variables make the case true of this run; None where that is not known."""
    if not t.holds(case.when, before, reader):
        return False
    if truth.status == "assumption-failed":
        if case.exit.kind != "assumption":
            return False
    elif truth.status != "ok" or (case.exit.block, case.exit.edge) != truth.exit:
        return False
    said = [(term, truth.values[var]) for var, term in case.then.items() if var in truth.values]
    said += [(term, truth.per_path[path]) for path, term in case.per_path.items() if path in truth.per_path]
    known = {term: value for term, value in said if term in case.free}
    state = {**before, **{var: value for var, value in known.items() if isinstance(var, t.Var)}}
    left = [var for var in case.free if var not in state]
    if any(var.type.width is not None for var in left) or (truth.iterations + 1) ** len(left) > _MOST_TRIED:
        return None  # a value that the run does not tell
    said.append((case.iterations, truth.iterations))
    for counts in product(range(truth.iterations + 1), repeat=len(left)):
        tried = {**state, **dict(zip(left, counts, strict=True))}
        if all(t.evaluate(term, tried, reader) == value for term, value in said) and t.holds(case.facts, tried, reader):
            return True
    return False


def _too_large(error: Exception) -> bool:
    return any(word in str(error) for word in ("more than", "power with exponent", "shift by"))


def _listed(writer: Expressions, terms: Sequence[t.Term]) -> str:
    return ", ".join(writer.term(term) for term in terms)


def _outcome(truth: Truth) -> str:
    if truth.status != "ok":
        return f"{truth.status} after {truth.iterations} iterations ({truth.reason})"
    values = ", ".join(f"{var.name}'={value}" for var, value in truth.values.items())
    counts = ", ".join(f"{name}: {count}" for name, count in truth.per_path.items())
    counts += "".join(f"; {count} of {name}" for name, count in truth.totals.items())
    return f"{truth.iterations} iterations ({counts}), exit {truth.exit}, {values}"


@dataclass(slots=True)
class Judgement:
    """Many states judged: how many lie in each region, how many were compared with a run, and what is wrong.

    ``memory``: of how many bytes that the loop may write something is said ("compared", and of these "changed"), of how
    many nothing ("untold"), how many elements speak of what the loop does not access ("beyond"), and in how many
    "states" elements were compared.
    """

    regions: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    states: int = 0
    compared: int = 0
    memory: Counter[str] = field(default_factory=Counter)
    mismatches: list[tuple[Mapping[t.Var, int], str]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    """The entries of ``mismatches``, with contents."""


def judge_all(
    alone: LoopAlone,
    claims: Claims,
    states: Iterable[Mapping[t.Var, int] | Entry],
    *,
    max_steps: int = 20_000,
    most: int = 5,
) -> Judgement:
    """Judge every one of ``states``, up to ``most`` mismatches; each run is followed for ``max_steps`` iterations."""
    found = Judgement()
    for state in states:
        entry = state if isinstance(state, Entry) else Entry(state)
        truth = alone.run(entry.values, entry.contents, max_steps=max_steps)
        verdict = claims.judge(entry.values, truth, entry.contents)
        found.states += 1
        found.compared += verdict.compared
        found.regions[verdict.region] += 1
        found.outcomes[truth.status] += 1
        if (told := verdict.told) is not None:
            found.memory.update(states=1, compared=told.compared, changed=told.changed, untold=told.untold)
            found.memory["beyond"] += told.beyond
        if verdict.mismatch:
            found.mismatches.append((dict(entry.values), verdict.mismatch))
            found.entries.append(entry)
            if len(found.mismatches) >= most:
                break
    return found
