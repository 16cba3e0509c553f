"""Certificates as JSON documents: what is proved of which program, and by which conditions.

.. code-block:: text

    {"format": "loopless-certificate", "version": 1,
     "program": {"files": [...], "data_model": "ILP32", "flags": [...], "entry": "main",
                 "integers": "machine", "wrapv": false},
     "property": "unreach-call",
     "invariants": [{"cutpoint": LABEL, "file": F, "line": N, "conjuncts": [SMT-LIB, ...]}],
     "ranks": [{"cutpoint": LABEL, "components": [SMT-LIB, ...]}]}

With "contracts" ([{"function": F, "conjuncts": [SMT-LIB, ...]}]) the proof rests on what functions return, which it
proves, too: conditions on what they are given (``f::n@call``), return (``f::@result``) and leave in globals (``f::g``).
With "history" ([{"name": "history:…", "loop": LABEL, "block": LABEL, "variable": SYMBOL}], each with a loop, a block
or both, or a loop and a variable) it is of version 2, and speaks of history variables, too
(:mod:`loopless.check.certificates.history`). With "sums" ([{"name": "history:…", "over": SYMBOL, "sum": SMT-LIB,
"below": SMT-LIB, "bits": N}], the last one where the sum is modulo 2 to the power of N) it is of version 2, too, and
speaks of sums over elements (:mod:`loopless.check.certificates.element_sums`); "any" (SMT-LIB) is what the number that
is any in these is at an error. With "elements" (true) its invariants
are of all elements of arrays at once, and used of those that are read, too; with "pairs" (true) also of each two
elements of one. With "ranks" it is about termination. With "recurrent" (as "invariants") and
"chosen" ([{"block": LABEL, "statement": N, "value": V}]) it is about a set of states that a run never leaves which
takes these values from outside; with "repeating" ([V, ...]) about a run that takes these inputs, the last one again and
again, and comes to a state in which it was before. With "all_runs" (true) it says that all runs, taken one by one, come
to their end, and nothing else. A cutpoint is the label of a block of the flowgraph; expressions are over unbounded
integers and speak of its variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from loopless import terms as t
from loopless.check.certificates.element_sums import NO_SUMS, ElementSums, sums_json, sums_of, with_sums
from loopless.check.certificates.formulas import condition_of, symbols_of
from loopless.check.certificates.history import HistoryVariable, history_json, history_of, with_history
from loopless.check.certificates.judge import CertifiedClaim, Judgement, judged, judged_recurrent
from loopless.check.certificates.property import Follows, Property, graph_of, violates
from loopless.errors import UsageError
from loopless.flowgraph.memory.cell_pairs import with_pairs
from loopless.flowgraph.model import ContractSignature, Flowgraph
from loopless.records import dataclass
from loopless.source import SourceOptions, SourceProgram, load
from loopless.source.targets import SourceTarget

FORMAT: Final = "loopless-certificate"
VERSION: Final = 1
WITH_HISTORY: Final = 2
"""The version of certificates that speak of history variables or of sums over elements, and of no others."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The program that a certificate is about, and how it is read."""

    files: tuple[str, ...]
    options: SourceOptions
    entry: str = "main"
    mathematical: bool = False
    wrapv: bool = False


def document_of(
    subject: Subject,
    property_: Property,
    claim: CertifiedClaim,
    places: Mapping[str, tuple[str, int]],
    contracts: Mapping[str, Sequence[str]] | None = None,
    history: Sequence[HistoryVariable] = (),
    *,
    sums: ElementSums = NO_SUMS,
) -> dict[str, Any]:
    """A certificate. ``places``: file and line of cutpoints, for readers. ``contracts``: by function, what is proved of
    its returns. ``history``: the history variables that the claim speaks of, ``sums``: the sums over elements.
    """
    invariants = []
    for label, conjuncts in claim.invariants.items():
        file, line = places.get(label, ("", 0))
        invariants.append({"cutpoint": label, "file": file, "line": line, "conjuncts": list(conjuncts)})
    database = subject.options.compile_database
    found: dict[str, Any] = {
        "format": FORMAT,
        "version": WITH_HISTORY if history or sums.sums else VERSION,
        "program": {
            "files": list(subject.files),
            "data_model": subject.options.data_model,
            "flags": list(subject.options.flags),
            "compile_database": None if database is None else str(database),
            "clang": subject.options.clang,
            "stubs": [str(file) for file in subject.options.stubs],
            **({} if subject.options.target is None else {"target": asdict(subject.options.target)}),
            **({"reads_stdin": True} if subject.options.reads_stdin else {}),
            **({"finite_stdin": True} if subject.options.finite_stdin else {}),
            "entry": subject.entry,
            "integers": "mathematical" if subject.mathematical else "machine",
            "wrapv": subject.wrapv,
        },
        "property": property_.value,
        "invariants": invariants,
    }
    if history:
        found["history"] = history_json(history)
    found |= sums_json(sums)
    if contracts is not None:
        found["contracts"] = [{"function": name, "conjuncts": list(texts)} for name, texts in contracts.items()]
    if claim.elements:
        found["elements"] = True
    if claim.pairs:
        found["pairs"] = True
    if claim.ranks is not None:
        found["ranks"] = [{"cutpoint": label, "components": list(terms)} for label, terms in claim.ranks.items()]
    if claim.recurrent is not None:
        found["recurrent"] = [{"cutpoint": label, "conjuncts": list(c)} for label, c in claim.recurrent.items()]
        found["chosen"] = [
            {"block": block, "statement": index, "value": value} for (block, index), value in claim.chosen.items()
        ]
    if claim.all_runs:
        found["all_runs"] = True
    if claim.repeating is not None:
        found["repeating"] = list(claim.repeating)
    return found


def _options(told: Mapping[str, Any]) -> SourceOptions:
    """How the program of a certificate was read."""
    database = told.get("compile_database")
    return SourceOptions(
        data_model=told["data_model"],
        flags=tuple(told["flags"]),
        clang=told.get("clang"),
        compile_database=None if database is None else Path(database),
        stubs=tuple(Path(file) for file in told.get("stubs", ())),
        target=SourceTarget(**told["target"]) if "target" in told else None,
        reads_stdin=told.get("reads_stdin", False),
        finite_stdin=told.get("finite_stdin", False),
    )


def judged_document(document: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """The judgement of a certificate, as JSON.

    Raises:
        UsageError: it is no certificate, or of another version.
        KeyError, TypeError: something is missing in it.
    """
    _check_form(document)
    beside = _beside(document)
    told = document["program"]
    program = load([Path(file) for file in told["files"]], _options(told))
    property_ = Property(document["property"])
    contracts = {one["function"]: tuple(one["conjuncts"]) for one in document.get("contracts", ())}

    def contract_of(signature: ContractSignature) -> tuple[t.Condition, ...] | None:
        symbols = symbols_of(dict.fromkeys(signature.variables))
        texts = contracts.get(signature.function)
        return None if texts is None else tuple(condition_of(text, symbols) for text in texts)

    graph = graph_of(
        program,
        told["entry"],
        property_,
        mathematical=told["integers"] == "mathematical",
        wrapv=bool(told["wrapv"]),
        contract_of=contract_of,
    )
    strange = contracts.keys() - graph.signatures.keys()
    if strange:
        raise UsageError(f"the certificate has a contract of {min(strange)}, which no call goes into")
    if graph.refused is not None:
        raise UsageError(f"the flowgraph of {told['entry']} does not tell all that runs do: {graph.refused.detail}")
    graph = beside(graph)
    if "repeating" in document:
        return judgement_json(_judged_run(program, document, seconds))
    if document.get("all_runs", False) is True:
        return judgement_json(_judged_runs(program, document, seconds))
    ranks = document.get("ranks")
    claim = CertifiedClaim(
        {one["cutpoint"]: tuple(one["conjuncts"]) for one in document["invariants"]},
        None if ranks is None else {one["cutpoint"]: tuple(one["components"]) for one in ranks},
        elements=document.get("elements", False) is True,
        pairs=document.get("pairs", False) is True,
    )
    if claim.elements and graph.signatures:
        raise UsageError("a certificate about all elements is of a program whose calls are all inlined")
    if "recurrent" in document:
        if contracts:
            raise UsageError("a certificate with a recurrent set has no contracts, which it does not prove")
        if property_ is not Property.TERMINATION or not document["recurrent"]:
            raise UsageError("a certificate with a recurrent set is about termination, and the set has states")
        recurrent = {one["cutpoint"]: tuple(one["conjuncts"]) for one in document["recurrent"]}
        chosen = {(one["block"], int(one["statement"])): int(one["value"]) for one in document["chosen"]}
        claim = replace(claim, recurrent=recurrent, chosen=chosen)
        return judgement_json(judged_recurrent(graph, claim, seconds=seconds))
    if property_ is Property.TERMINATION and claim.ranks is None:
        raise UsageError("a certificate of termination needs ranks")
    found = judged(graph, claim, violates(property_), Follows(property_, program.module), seconds=seconds)
    return judgement_json(found)


def _beside(document: Mapping[str, Any]) -> Callable[[Flowgraph], Flowgraph]:
    """What adds to a flowgraph the variables that a certificate speaks of, and the program does not have.

    Raises:
        UsageError: the certificate tells nothing of one.
    """
    history = history_of(document) if "history" in document else ()
    sums = sums_of(document)
    pairs = document.get("pairs", False) is True
    return lambda graph: with_sums(with_history(with_pairs(graph) if pairs else graph, history), sums)


def _check_form(document: Mapping[str, Any]) -> None:
    """Raises ``UsageError`` where a document is no certificate, or has parts that do not go together."""
    if document.get("format") != FORMAT or document.get("version") not in (VERSION, WITH_HISTORY):
        raise UsageError(f"this is no {FORMAT} of version {VERSION} or {WITH_HISTORY}")
    if (document["version"] == WITH_HISTORY) != ("history" in document or "sums" in document):
        raise UsageError(f"a certificate has history or sums where it is of version {WITH_HISTORY}, and only there")
    if "sums" in document and ("history" in document or "elements" not in document):
        raise UsageError("a certificate with sums over elements is about all elements, and has no history")
    endless = "repeating" in document or "recurrent" in document
    if "all_runs" in document and (endless or document.keys() & {"history", "elements", "ranks", "contracts"}):
        raise UsageError("a certificate by all runs says nothing else")
    if document.get("history") and endless:
        raise UsageError("a certificate of a run that never ends has no history variables")
    if "elements" in document and (endless or document["property"] != Property.UNREACH_CALL.value):
        raise UsageError(f"a certificate about all elements is about {Property.UNREACH_CALL.value}")
    if "pairs" in document and "elements" not in document:
        raise UsageError("a certificate about each two elements is about all elements")


def _judged_run(program: SourceProgram, document: Mapping[str, Any], seconds: float) -> Judgement:
    from loopless.check.certificates.repeating import judged_run  # few certificates need the interpreter

    told = document["program"]
    if document["property"] != Property.TERMINATION.value or not all(type(one) is int for one in document["repeating"]):
        raise UsageError("a certificate with a run that repeats a state is about termination, and has its inputs")
    mathematical, wrapv = told["integers"] == "mathematical", bool(told["wrapv"])
    inputs = tuple(document["repeating"])
    return judged_run(program, told["entry"], inputs, mathematical=mathematical, wrapv=wrapv, seconds=seconds)


def _judged_runs(program: SourceProgram, document: Mapping[str, Any], seconds: float) -> Judgement:
    from loopless.check.certificates.all_runs import judged_runs  # few certificates need the interpreter

    told = document["program"]
    mathematical, wrapv = told["integers"] == "mathematical", bool(told["wrapv"])
    return judged_runs(program, told["entry"], mathematical=mathematical, wrapv=wrapv, seconds=seconds)


def judgement_json(found: Judgement) -> dict[str, Any]:
    """A judgement as JSON."""
    return {
        "accepted": found.accepted,
        "failed": list(found.failed),
        "undefined": list(found.undefined),
        "questions": found.questions,
        "theories": list(found.theories),
        "seconds": round(found.seconds, 3),
    }
