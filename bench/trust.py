"""Whether the judge of certificates can be trusted: mutants of certificates and of programs.

    python bench/trust.py FOLDER --minutes 5
    python bench/trust.py CERTIFICATES --conjuncts
    python bench/trust.py bench/history --history 1000 --minutes 20

FOLDER holds programs of ``bench/verify_random.py --proved``. A mutant of a certificate may be accepted where what it
says still holds in all states that runs come to; a mutant of a program under the old certificate where native runs do
not violate the property. Everything else that is accepted is wrong. CERTIFICATES holds those of ``bench/verify.py
--certificates``: of each every conjunct is left out in turn, and it is counted how often the rest is refused, and how
often it is still inductive and enough. With ``--history`` the programs of the folder are proved by history variables
alone, though some have other proofs, and so many mutants are made of these certificates: what is accepted is compared
with exhausted runs over the flowgraph with history.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from verify_random import asked, exhausted, expected, judged_here

from loopless import clock
from loopless.check.certificates.document import judged_document
from loopless.check.certificates.formulas import condition_of, symbols_of, term_of
from loopless.check.certificates.history import history_of, with_history
from loopless.check.certificates.property import Property, graph_of, violates
from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle
from loopless.errors import LooplessError
from loopless.flowgraph.model import Flowgraph, Origin
from loopless.graphs import reachable
from loopless.queries.program import load as load_program
from loopless.queries.settings import Settings
from loopless.queries.verification import answering as verification
from loopless.queries.verification.certification import Certification
from loopless.queries.verification.evidence import claim_of
from loopless.queries.verification.question import VerificationQuestion
from loopless.refusals import Refused
from loopless.source import SourceOptions, load
from loopless.terms import EvaluationError, Var, evaluate, holds
from loopless.verification.proofs import Search
from loopless.verification.runs import ProgramRun, Runner

DOMAIN: Final = (*range(-4, 10), 100, 127, 128, 255, 32767, 65535, 2**31 - 1, -128, -(2**31), 2**63 - 1)
"""What mutants of programs are given: more than the programs let through."""
MOST: Final = 700
"""Maximum number of runs, and of inputs to begin one with, that make a set of all runs."""
MAX_BLOCKS: Final = 20_000
"""Maximum number of blocks of a run."""


# -- mutants ----------------------------------------------------------------------------------------------------------


def mutated_text(text: str, r: random.Random) -> str | None:
    """An expression of SMT-LIB with another relation, constant or operator."""
    places = list(re.finditer(r"(?<=\()(<=|<|>=|>|=|\+|-|distinct|and|or)(?= )|(?<![\w|!.])\d+(?![\w|!.])", text))
    if not places:
        return None
    place = r.choice(places)
    found = place[0]
    other = {
        "<=": "<",
        "<": "<=",
        ">=": ">",
        ">": ">=",
        "=": "distinct",
        "distinct": "=",
        "+": "-",
        "-": "+",
        "and": "or",
        "or": "and",
    }
    new = (
        other.get(found)
        if not found.isdigit()
        else str(r.choice((int(found) + 1, max(int(found) - 1, 0), 2 * int(found) + 1, 0)))
    )
    assert new is not None
    return None if new == found else text[: place.start()] + new + text[place.end() :]


def certificates(document: Mapping[str, Any], r: random.Random, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Mutants of a certificate, each with what was done."""
    for _ in range(count):
        made = copy.deepcopy(dict(document))
        parts = [one for one in made["invariants"] if one["conjuncts"]]
        ranks = [one for one in made.get("ranks", ()) if one["components"]]
        kinds = ("change", "change", "drop", "rank", "rank") if ranks else ("change", "change", "drop")
        kind = r.choice((*kinds, "history", "history") if made.get("history") else kinds)
        if kind == "history":
            if not _other_history(made, r):
                continue
        elif kind == "rank":
            components = r.choice(ranks)["components"]
            at = r.randrange(len(components))
            new = r.choice(("0", mutated_text(components[at], r), f"(- {components[at]})", f"(+ {components[at]} 1)"))
            if new is None or new == components[at]:
                continue
            components[at] = new
        elif not parts:
            continue
        else:
            conjuncts = r.choice(parts)["conjuncts"]
            at = r.randrange(len(conjuncts))
            if kind == "drop":
                del conjuncts[at]
            else:
                new = mutated_text(conjuncts[at], r)
                if new is None:
                    continue
                conjuncts[at] = new
        yield kind, made


def _other_history(document: dict[str, Any], r: random.Random) -> bool:
    """Lets one history variable tell what another one does: the count or the entry of another loop, or the entry of
    another variable; False where there is none.
    """
    told = document["history"]
    one = r.choice(told)
    others = [other for other in told if other is not one and set(other) == set(one)]
    if not others:
        return False
    other = r.choice(others)
    name = one["name"]
    one.clear()
    one.update({**other, "name": name})
    return True


def programs(text: str, r: random.Random, count: int) -> Iterator[tuple[str, str]]:
    """Mutants of a program, each with what was done."""
    start = text.index("_Bool __VERIFIER_nondet_bool")
    start = text.index("\n", start)
    found = [*re.finditer(r" (<=|<|>=|>|==|!=|\+|-|\+=|-=) |(?<![\w.\]])\d+(?!\w)", text[start:])]
    other = {"<=": ("<", ">"), "<": ("<=", ">="), ">=": (">", "<"), ">": (">=", "<="), "==": ("!=", "<="), "!=": ("==", "<"),
             "+": ("-",), "-": ("+",), "+=": ("-=",), "-=": ("+=",)}  # fmt: skip
    for _ in range(count):
        place = r.choice(found)
        word = place[0].strip()
        if word.isdigit():
            new = str(r.choice((int(word) + 1, max(int(word) - 1, 0), 2 * int(word) + 1)))
        else:
            new = f" {r.choice(other[word])} "
        if new.strip() != word:
            kind = "constant" if word.isdigit() else "operator"
            yield kind, text[: start + place.start()] + new + text[start + place.end() :]


def without_each(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A certificate without each of its conjuncts in turn: of invariants, and of contracts."""
    for part in ("invariants", "contracts"):
        for index, one in enumerate(document.get(part, ())):
            for at in range(len(one["conjuncts"])):
                made = copy.deepcopy(dict(document))
                del made[part][index]["conjuncts"][at]
                yield part, made


def conjuncts(folder: Path, minutes: float) -> None:
    """Print how often the judge refuses a certificate without one of its conjuncts."""
    until = time.monotonic() + 60 * minutes
    counts: Counter[tuple[str, str]] = Counter()
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text(encoding="utf-8"))
        whole = judged_here(document, 60.0)
        if time.monotonic() > until or not whole["accepted"] or "recurrent" in document:
            continue
        name = document["property"]
        counts[name, "certificates"] += 1
        answers = []
        for part, made in without_each(document):
            found = judged_here(made, 30.0)
            more = set(found["undefined"]) - set(whole["undefined"])
            how = (
                "refused"
                if not found["accepted"]
                else "accepted, more is taken for granted"
                if more
                else "accepted, enough"
            )
            answers.append(how)
            counts[name, how] += 1
            if part == "contracts":
                counts[name, f"of contracts: {how}"] += 1
        counts[name, "conjuncts"] += len(answers)
        counts[name, "certificates without conjuncts"] += not answers
        counts[name, "certificates of which all conjuncts are needed"] += bool(answers) and set(answers) == {"refused"}
    print("| property | what | count |\n|---|---|---|")
    for (name, what), count in sorted(counts.items()):
        print(f"| {name} | {what} | {count} |")


def of_history(folder: Path, mutants: int, minutes: float) -> int:
    """Print how often mutants of certificates with history are refused; the number of those accepted wrongly."""
    until = time.monotonic() + 60 * minutes
    counts: Counter[tuple[str, str]] = Counter()
    programs = sorted(folder.glob("*.c"))
    for file in programs:
        document = proved_by_history(file)
        if document is None:
            counts["programs", "no proof with history"] += 1
            continue
        counts["certificates", "accepted"] += 1
        told = document["program"]
        property_ = Property(document["property"])
        program = load([Path(name) for name in told["files"]], SourceOptions(data_model=told["data_model"]))
        graph = graph_of(program, told["entry"], property_)
        r = random.Random(file.name)
        for kind, made in certificates(document, r, mutants // len(programs)):
            if time.monotonic() > until:
                break
            if made == document:
                continue
            if not judged_here(made, 10.0)["accepted"]:
                counts[kind, "refused"] += 1
                continue
            part = with_history(graph, history_of(made))
            state = {one["cutpoint"]: tuple(part.variables) for one in made["invariants"]}
            runs = all_runs(Runner(part, violates(property_), state), DOMAIN, cut=True)
            right = still_holds(part, made, runs) if runs else None
            how = {True: "accepted, right", False: "accepted, WRONG", None: "accepted, not decided"}[right]
            if right and runs and any(run.end == "steps" for run in runs):
                how = f"accepted, right as far as {MAX_BLOCKS} blocks of each run"
            counts[kind, how] += 1
            if right is False:
                print(file, kind, json.dumps(made), flush=True)
    print("| mutants of certificates with history | answer | count |\n|---|---|---|")
    for (name, how), count in sorted(counts.items()):
        print(f"| {name} | {how} | {count} |")
    return sum(count for (_, how), count in counts.items() if how.endswith("WRONG"))


def proved_by_history(file: Path) -> Mapping[str, Any] | None:
    """The certificate of a program by history variables; None where there is none, or the judge refuses it."""
    program = load_program([file], Settings())
    question = VerificationQuestion(program, Property.UNREACH_CALL, Settings(), clock.counted() + 60.0)
    system = question.system()
    assert not isinstance(system, Refused), system
    proof = Search(system, question.violates, question.deadline).by_history(20.0)
    if proof is None:
        return None
    claim = claim_of(proof.invariants, system)
    verdict = Certification(question).judged(system, claim, proof.method, (), proof.history)
    return None if verdict is None else verdict.certificate


# -- a second way -----------------------------------------------------------------------------------------------------


def all_runs(runner: Runner, domain: Sequence[int], *, cut: bool = False) -> list[ProgramRun] | None:
    """All runs with inputs of the domain over the flowgraph; None where there are too many, or they are not exact, or
    longer than :data:`MAX_BLOCKS` where these are not ``cut``.
    """
    front: list[tuple[int, ...]] = [()]
    found: list[ProgramRun] = []
    while front:
        inputs = front.pop()
        position = 0

        def choose(target: Var, origin: Origin, block: str, index: int, inputs: tuple[int, ...] = inputs) -> int:
            nonlocal position
            del target, block, index
            if origin is not Origin.NONDET:
                return 0
            position += 1
            if position > len(inputs):
                raise _More
            return inputs[position - 1]

        try:
            run = runner.run(choose, MAX_BLOCKS)
        except _More:
            front += [(*inputs, value) for value in domain]
            if len(front) + len(found) > MOST:
                return None
            continue
        if not run.exact or run.end in ("unknown", "unsupported") or (run.end == "steps" and not cut):
            return None
        found.append(run)
    return found


class _More(Exception):
    pass


def still_holds(graph: Flowgraph, document: Mapping[str, Any], runs: Sequence[ProgramRun]) -> bool | None:
    """Whether what a certificate says holds of all states of the runs; None where a state does not tell."""
    symbols = symbols_of(graph.variables)  # of history, too, where the graph has it
    invariants = {
        one["cutpoint"]: [condition_of(text, symbols) for text in one["conjuncts"]] for one in document["invariants"]
    }
    ranks = {
        one["cutpoint"]: [term_of(text, symbols) for text in one["components"]] for one in document.get("ranks", ())
    }
    onward = {label: block.successors for label, block in graph.blocks.items()}
    again = {label: set(reachable((label,), lambda at: onward[at])) for label in invariants}
    told = True
    for run in runs:
        before: tuple[str, list[int]] | None = None
        for label, values in run.visits:
            for condition in invariants.get(label, ()):
                if not condition.variables <= values.keys():
                    told = False
                elif not holds(condition, values):
                    return False
            if label in ranks:
                try:
                    rank = [evaluate(term, values) for term in ranks[label]]
                except (EvaluationError, KeyError):
                    return None
                if before is not None and before[0] in again[label] and not _falls(before[1], rank):
                    return False
                before = label, rank
    return True if told else None


def _falls(old: Sequence[int], new: Sequence[int]) -> bool:
    for a, b in zip(old, new, strict=True):
        if a >= 0 and b < a:
            return True
        if a != b:
            return False
    return False


# -- the campaign -----------------------------------------------------------------------------------------------------


class Campaign:
    """Mutants of the programs of a folder."""

    def __init__(self, folder: Path, host: NativeHost, seconds: float) -> None:
        self.folder, self.host, self.seconds = folder, host, seconds
        self.counts: Counter[tuple[str, str]] = Counter()
        self.wrong: list[str] = []

    def program(self, file: Path, property_: Property, mutants: int) -> None:
        """All mutants of one program and its certificate."""
        answer = asked(file, property_, self.seconds)
        if answer.verdict != "true" or answer.certificate is None or "contracts" in answer.certificate:
            return  # runs from outside tell nothing of contracts
        self.counts["certificates", "accepted"] += 1
        r = random.Random(f"{file.name}:{property_.value}")
        graph = graph_of(
            load([file], SourceOptions(data_model=answer.certificate["program"]["data_model"])), "main", property_
        )
        state = {one["cutpoint"]: tuple(graph.variables) for one in answer.certificate["invariants"]}
        runs: list[ProgramRun] | None = None
        for kind, document in certificates(answer.certificate, r, mutants):
            name = f"certificate ({property_.value}): {kind}"
            if document == answer.certificate or not judged_here(document, 10.0)["accepted"]:
                self.counts[name, "refused"] += 1
                continue
            if "history" in document:
                told = with_history(graph, history_of(document))
                seen = {label: tuple(told.variables) for label in state}
                each = all_runs(Runner(told, violates(property_), seen), DOMAIN)
                self._told(name, still_holds(told, document, each) if each else None, file, document)
                continue
            if runs is None:
                runs = all_runs(Runner(graph, violates(property_), state), DOMAIN) or []
            self._told(name, still_holds(graph, document, runs) if runs else None, file, document)
        for kind, text in programs(file.read_text(encoding="utf-8"), r, mutants):
            self._mutant(f"program ({property_.value}): {kind}", text, answer.certificate, property_)

    def _mutant(self, name: str, text: str, certificate: Mapping[str, Any], property_: Property) -> None:
        other = self.folder / "mutant.c"
        other.write_text(text, encoding="utf-8")
        document = copy.deepcopy(dict(certificate))
        document["program"]["files"] = [str(other)]
        try:
            accepted = judged_document(document, 10.0)["accepted"]
        except (LooplessError, KeyError, ValueError, TypeError):
            accepted = False
        if not accepted:
            self.counts[name, "refused"] += 1
            return
        try:
            with NativeOracle(text, limits=NativeLimits(seconds=0.3), host=self.host) as oracle:
                runs = exhausted(oracle, DOMAIN, 8.0)
        except LooplessError:
            runs = None
        right = None if runs is None else expected(property_, [outcome for _, outcome in runs])
        self._told(name, None if right in (None, "true?", "false?") else right == "true", other, document)

    def _told(self, name: str, right: Any, file: Path, document: Mapping[str, Any]) -> None:
        how = {True: "accepted, right", False: "accepted, WRONG", None: "accepted, not decided"}[right]
        self.counts[name, how] += 1
        if right is False:
            kept = self.folder / f"wrong{len(self.wrong)}.c"
            kept.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
            self.wrong.append(f"{kept}: {name}: {document}")
            print(self.wrong[-1], flush=True)

    def table(self) -> None:
        """Print the numbers."""
        print("| mutants of | answer | count |\n|---|---|---|")
        for (name, how), count in sorted(self.counts.items()):
            print(f"| {name} | {how} | {count} |", flush=True)


def main() -> int:
    """Print the table; status 1 where the judge was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--mutants", type=int, default=8, help="of each certificate, and of each program")
    parser.add_argument("--seconds", type=float, default=3.0, help="for one property of one program")
    parser.add_argument("--folder", type=Path, default=Path("trust-mutants"))
    parser.add_argument(
        "--conjuncts", action="store_true", help="of certificates in a folder, without each conjunct in turn"
    )
    parser.add_argument("--history", type=int, default=0, help="so many mutants of certificates with history")
    options = parser.parse_args()
    if options.history:
        return 1 if of_history(options.programs, options.history, options.minutes) else 0
    if options.conjuncts:
        conjuncts(options.programs, options.minutes)
        return 0
    verification.judge_apart = judged_here
    options.folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * options.minutes
    host = NativeHost()
    campaign = Campaign(options.folder, host, options.seconds)
    for number, file in enumerate(sorted(options.programs.glob("*.c"))):
        for property_ in Property:
            if time.monotonic() < until:
                campaign.program(file, property_, options.mutants)
        if number % 10 == 9 or time.monotonic() > until:
            campaign.table()
        if time.monotonic() > until:
            break
    host.close()
    campaign.table()
    return 1 if campaign.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
