"""The rule that every loop has a bound, termination, and bounds, of programs whose loops are entered in few states.

Native runs count iterations, which must not exceed a bound. The interpreter finds runs that never end, of which a bound
must not speak. Claims about one input must agree.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.bounds import Claim
from loopless.check.certificates.property import Property
from loopless.check.certificates.repeating import Follower
from loopless.check.interpreter.run import InterpreterRun as Interpreted
from loopless.logic import BudgetExceeded, NotPresburger, Region
from loopless.queries.bounds.answers import FunctionBound
from loopless.queries.bounds.rules import RuledLoop, bounded_loops, verdict_of
from loopless.queries.verification.answering import verify
from loopless.queries.verification.verdict import Verdict
from loopless_fuzz.campaigns.keeping import path_of, write_facts
from loopless_fuzz.campaigns.plan import RULED, Plan
from loopless_fuzz.campaigns.programs import host, workplace
from loopless_fuzz.campaigns.rows import ProgramRow, Row
from loopless_fuzz.campaigns.run_bounds import Bounded, bounded, judged
from loopless_fuzz.campaigns.several import judged_row, settings
from loopless_fuzz.generator.entered import entered_program
from loopless_fuzz.judging.counting import Counts, counted, run

STEPS: Final = 60_000
"""A run is followed for so many iterations."""
TERMINATION_S: Final = 2.0
"""Seconds for the question whether every run ends."""
_NUMBER: Final = re.compile(r"'(\d+)$")


def judge_ruled(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    """The row of a seed. ``skip``: stages that met a limit before and are left out."""

    def judge(row: ProgramRow) -> None:
        judge_rule(entered_program(seed), row, plan, seed, workplace(base))

    return judged_row(RULED, seed, skip, judge)


def keep_ruled(plan: Plan, row: Row, keep: Path, base: Path, seconds: float) -> Path:
    """Write the program of a row that is wrong; these programs are small."""
    del plan, base, seconds
    keep.mkdir(parents=True, exist_ok=True)
    path = path_of(keep, row)
    told = row.program.mismatches if row.program is not None else []
    facts = {"profile": row.profile, "seed": row.seed, "wrong": [str(each) for each in told] or row.note}
    write_facts(path, entered_program(row.seed), facts)
    return path


def drawn_inputs(seed: int, count: int) -> list[tuple[int, ...]]:
    """What input functions return in each run: small numbers first, of which few runs take more than two."""
    draw = random.Random(f"ruled:{seed}")
    found: list[tuple[int, ...]] = []
    for number in range(count):
        first = draw.choice((number, draw.randint(0, 9), draw.randint(-3, 40), draw.randint(0, 255)))
        found.append((first, draw.randint(-2, 12), *(draw.randint(-2, 200) for _ in range(6))))
    return found


def judge_rule(text: str, row: ProgramRow, plan: Plan, seed: int, folder: Path) -> None:
    """Ask what holds of a program, run it, and compare; the first thing that is wrong is noted of each run."""
    subject, file = counted(text), folder / "case.c"
    file.write_text(text, encoding="utf-8")
    row.functions, row.loops = len(subject.functions), len(subject.lines)
    answer = bounded(file, subject, settings(plan))
    case = _Case(answer, bounded_loops(answer.program, (), settings(plan)), _terminates(answer, plan))
    inputs = drawn_inputs(seed, plan.inputs) + case.witnesses()
    runs = run(subject, inputs, host())
    for number, (stream, counts) in enumerate(zip(inputs, runs, strict=True)):
        row.runs += 1
        row.cut += counts.cut
        row.undefined += counts.outcome.status == "undefined"
        row.iterations += sum(count.total for count in counts.loops)
        row.outcomes[counts.outcome.status] = row.outcomes.get(counts.outcome.status, 0) + 1
        wrong = [*_compared(row, answer, counts), *case.wrong(stream, counts)]
        row.mismatches += [([number, *stream[:2]], text) for text in wrong[:1]]
    for what, verdict in case.verdicts():
        of_kind = row.found.setdefault(what, {})
        of_kind[verdict] = of_kind.get(verdict, 0) + 1


def _terminates(answer: Bounded, plan: Plan) -> Verdict:
    until = clock.now() + TERMINATION_S
    return verify(answer.program, Property.TERMINATION, settings(plan), until)


def _compared(row: ProgramRow, answer: Bounded, counts: Counts) -> Iterator[str]:
    for finding in judged(answer, counts):
        of_kind = row.found.setdefault(finding.what, {})
        of_kind[finding.verdict] = of_kind.get(finding.verdict, 0) + 1
        if finding.verdict == "below":
            yield finding.wrong


class _Case:
    """What is said of one program."""

    def __init__(self, answer: Bounded, ruled: Sequence[RuledLoop], termination: Verdict) -> None:
        self.answer, self.ruled, self.termination = answer, ruled, termination
        self.follower = Follower(answer.program.source, "main")

    def verdicts(self) -> Iterator[tuple[str, str]]:
        """How the questions were answered, for the table."""
        told = {"rule": verdict_of(self.ruled).partition("(")[0], "termination": self.termination.verdict}
        for what, verdict in told.items():
            yield (what, "unknown") if verdict == "unknown" else (f"{what} {verdict}", "tight")

    def witnesses(self) -> list[tuple[int, ...]]:
        """Inputs with which the program is said never to end."""
        found = [self.termination.inputs] if self.termination.verdict == "false" else []
        for loop in self.ruled:
            if loop.run is not None:
                found.append(loop.run.inputs)
            elif loop.broken:
                found += _points(loop.never)
        return [(*inputs, *[inputs[-1] if inputs else 0] * 40) for inputs in found]

    def wrong(self, stream: Sequence[int], counts: Counts) -> Iterator[str]:
        """What the run with these inputs does otherwise than was said."""
        yield from self._of_main(stream)
        ended = not counts.cut and counts.outcome.status not in ("timeout", "unknown", "crashed")
        for loop in self.ruled:
            yield from self._of_loop(loop, stream, counts, ended=ended)
        if ended:
            return
        endless = self._followed(stream).status == "diverges"
        if endless and self.termination.verdict == "true":
            yield "termination is true, and a run repeats a state"
        if endless and verdict_of(self.ruled) == "true":
            yield "every loop has a bound, and a run repeats a state"

    def _of_loop(self, loop: RuledLoop, stream: Sequence[int], counts: Counts, *, ended: bool) -> Iterator[str]:
        name = loop.found.answer.loop.name
        count = counts.loops[self.answer.counted.loop_at(loop.found.answer.loop.line)] if counts.loops else None
        if count is not None and not loop.reached and count.total:
            yield f"{name}: no run comes to it, and one does"
        in_main = (loop.told_by or loop.found).function.name == "main"
        most = _number(loop.bound, stream) if in_main else loop.bound.value if isinstance(loop.bound, t.Const) else None
        if count is not None and most is not None and count.most > most:
            yield f"{name}: at most {most} an entry, it takes {count.most}"
        if in_main and ended and loop.reached and counts.outcome.status != "undefined" and _holds(loop.never, stream):
            yield f"{name}: never ends, and it did"

    def _of_main(self, stream: Sequence[int]) -> Iterator[str]:
        """Claims about ``main`` that contradict each other for these inputs."""
        found: list[FunctionBound] = [*filter(None, [self.answer.answers.get("main")]), self.answer.run.entry]
        claims = [(answer.name, answer.call) for answer in found]
        claims += [(bound.answer.loop.name, bound.call) for answer in found for bound in answer.loops]
        for name, claim in claims:
            yield from (f"{name}: {what}" for what in contradictions(claim, _values(claim, stream)))

    def _followed(self, stream: Sequence[int]) -> Interpreted:
        return self.follower.run(stream, 5.0, STEPS)


def contradictions(claim: Claim, values: Mapping[t.Var, int]) -> Iterator[str]:
    """What a claim says of these values that cannot be."""

    def says(condition: t.Condition) -> bool:
        try:
            return t.holds(condition, values)
        except t.EvaluationError:
            return False

    if says(claim.never):
        if says(claim.always_undefined):
            yield "never ends, and every run meets undefined behaviour"
        if claim.upper is not None and says(claim.when) and claim.gap is t.FALSE:
            yield "never ends, and has a bound"
    try:
        upper = claim.upper if says(claim.when) else None
        if upper is not None and t.evaluate(claim.lower, values) > t.evaluate(upper, values):
            yield "at least more than at most"
    except t.EvaluationError:
        pass


def _values(claim: Claim, stream: Sequence[int]) -> dict[t.Var, int]:
    nodes = (claim.upper, claim.lower, claim.when, claim.never, claim.always_undefined)
    return _drawn({var for node in nodes if node is not None for var in node.variables}, stream)


def _drawn(variables: set[t.Var] | frozenset[t.Var], stream: Sequence[int]) -> dict[t.Var, int]:
    """The values of those variables that stand for inputs, by their numbers."""
    numbers = ((var, _NUMBER.search(var.name)) for var in variables if var.name.startswith("__VERIFIER_nondet"))
    return {var: var.type.wrap(stream[int(at[1]) - 1]) for var, at in numbers if at and int(at[1]) <= len(stream)}


def _number(term: t.Term | None, stream: Sequence[int]) -> int | None:
    try:
        return None if term is None else t.evaluate(term, _drawn(term.variables, stream))
    except t.EvaluationError:
        return None


def _holds(condition: t.Condition, stream: Sequence[int]) -> bool:
    try:
        return condition is not t.FALSE and t.holds(condition, _drawn(condition.variables, stream))
    except t.EvaluationError:
        return False


def _points(never: t.Condition) -> list[tuple[int, ...]]:
    """Inputs for which a condition on inputs holds; none where it speaks of something else."""
    try:
        point = Region.of(never).sample()
    except (BudgetExceeded, NotPresburger):
        return []
    found: dict[int, int] = {}
    for var, value in (point or {}).items():
        at = _NUMBER.search(var.name)
        if at is None:
            return []
        found[int(at[1])] = value
    return [tuple(found.get(number, 0) for number in range(1, max(found, default=0) + 1))] if point is not None else []
