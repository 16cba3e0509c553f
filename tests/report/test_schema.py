"""The schema is a schema, and it says what the documentation says."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from loopless.refusals import Reason
from loopless.report.document import document
from loopless.report.explanations import explain, explanations, way_out

SCHEMA = json.loads(files("loopless.report").joinpath("schema.json").read_text(encoding="utf-8"))
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text(encoding="utf-8")


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_field_is_in_the_documentation():
    documented = set(re.findall(r"`(\w+)`", PAGE))
    fields = set(SCHEMA["properties"]) | set(SCHEMA["$defs"]["evaluation"]["properties"])
    fields |= set(SCHEMA["allOf"][-1]["then"]["properties"])
    parts = ("loop", "path", "case", "layer", "exit", "refused", "error", "expression", "count", "census")
    answers = ("verification", "invariant", "certificate", "conjuncts", "judged")
    answers += ("reachability", "target", "runInputs", "given", "memory", "field", "pointed", "coverage", "side")
    for part in (*parts, "function", "function_case", "input", *answers):
        fields |= set(SCHEMA["$defs"][part]["properties"])
    assert fields <= documented


def test_the_examples_of_the_documentation_fit_the_schema():
    examples = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
    assert examples
    for example in examples:
        jsonschema.validate(example, SCHEMA)


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": "nosuch"},
        {"schema_version": 2},
        {"loops": [{"name": "x"}]},
        {"errors": [{"kind": "other", "message": "x"}]},
        {"time_ms": "3"},
    ],
)
def test_what_is_wrong_does_not_fit(wrong):
    right = document("summarize", loops=[])
    jsonschema.validate(right, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**right, **wrong}, SCHEMA)


PROOF = {
    "verdict": "true", "property": "unreach-call", "method": "Spacer", "inputs": None, "uninitialised": {}, "replayed": None,
    "invariants": [{"file": "a.c", "line": 3, "text": "x >= 0", "rank": None}], "reason": None, "contracts": [],
    "certificate": {
        "format": "loopless-certificate", "version": 1, "property": "unreach-call",
        "program": {"files": ["a.c"], "data_model": "LP64", "flags": [], "entry": "main", "integers": "machine", "wrapv": False},
        "invariants": [{"cutpoint": "while.cond", "file": "a.c", "line": 3, "conjuncts": ["(<= 0 x)"]}],
    },
    "judged": {"accepted": True, "failed": [], "undefined": [], "questions": 3, "theories": ["integers"]},
}  # fmt: skip
VIOLATION = {
    **PROOF, "verdict": "false(no-overflow)", "property": "no-overflow", "inputs": [3], "replayed": "overflow", "invariants": [],
    "certificate": None, "judged": None,
}  # fmt: skip
UNKNOWN = {**VIOLATION, "verdict": "unknown", "method": None, "inputs": None, "replayed": None, "reason": "time"}


@pytest.mark.parametrize("fields", [PROOF, VIOLATION, UNKNOWN], ids=["true", "false", "unknown"])
def test_a_verdict_has_its_evidence(fields):
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid
    right = document("verify", **fields)
    assert fits(right)
    for change in (
        {"certificate": 3},
        {"verdict": "false"},
        {"reason": None if fields["reason"] else "why"},
        {"property": "other"},
    ):
        assert not fits({**right, **change})
    for field in fields:
        assert not fits({key: value for key, value in right.items() if key != field})


def test_a_proof_needs_a_certificate_that_was_accepted():
    fits = jsonschema.Draft202012Validator(SCHEMA).is_valid
    for change in ({"certificate": None}, {"judged": {**PROOF["judged"], "accepted": False}}):
        assert fits(document("verify", **PROOF))
        assert not fits(document("verify", **{**PROOF, **change}))


def test_loops_are_required_where_they_are_the_answer():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document("loops"), SCHEMA)


NO_SHORT_PROGRAM = {Reason.NO_RANKING, Reason.MEMORY_LIMIT, Reason.RUN_FORBIDDEN, Reason.ENGINE_FAILED}
"""What the library alone says, or no program of a few lines brings about by itself."""


@pytest.mark.parametrize("reason", Reason)
def test_every_refusal_is_explained(reason):
    page = explain(reason.code)
    assert page is explain(reason.label)
    assert page.meaning.endswith(".")
    assert page.example or reason in NO_SHORT_PROGRAM
    assert way_out(reason)
    assert page.what_to_do.startswith(way_out(reason))
    assert "](" not in page.meaning + page.what_to_do


def test_each_page_is_of_its_own_reason():
    assert len({page.meaning for page in explanations().values()}) == len(Reason)
