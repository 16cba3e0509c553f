"""Inputs of a program as a test case in the format of the competition on testing (Test-Comp, DTD 1.1)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from loopless.errors import UsageError
from loopless.limits.report import MAX_XML_INPUTS, REPEATED_XML_INPUT
from loopless.queries.call_values.reached import Inputs, RepeatedValue, unrolled
from loopless.report.document import tool_version
from loopless.source.targets import SourceTarget

_TYPE: Final = (
    '<!DOCTYPE {0} PUBLIC "+//IDN sosy-lab.org//DTD test-format {0} 1.1//EN" '
    '"https://sosy-lab.org/test-format/{0}-1.1.dtd">'
)


def xml_test(inputs: Inputs) -> str:
    """The test case of the competition's format (DTD 1.1): what input functions return.

    Raises:
        UsageError: the inputs are not only those, or too many.
    """
    if inputs.arguments or inputs.globals or inputs.function != "main":
        raise UsageError(f"no test in XML: its inputs are what main reads, and {inputs.function} was called")
    if inputs.words:
        raise UsageError("no test in XML: its format has no words of argv, only what input functions return")
    if inputs.uninitialised:
        raise UsageError("no test in XML: it cannot say what uninitialised variables hold")
    if inputs.stdin is not None:
        raise UsageError("no test in XML: the format has no words for standard input")
    runs = list(inputs.nondet)
    if inputs.repeats and runs:
        runs.append(RepeatedValue(REPEATED_XML_INPUT, runs[-1].value))
    if sum(run.count for run in runs) > MAX_XML_INPUTS:
        raise UsageError(f"no test in XML: it would list more than {MAX_XML_INPUTS:,} inputs")
    lines = [f"  <input>{value}</input>" for value in unrolled(tuple(runs))]
    return "\n".join([*_head("testcase"), "<testcase>", *lines, "</testcase>", ""])


def xml_metadata(target: SourceTarget | None, function: str, files: Sequence[Path], pointer_bits: int) -> str:
    """The ``metadata.xml`` that belongs to the test cases in its folder; without a target they cover branches."""
    if target is None:
        goal = "@DECISIONEDGE"
    else:
        goal = f"@LINE({target.line})" if target.line is not None else f"@CALL({target.callee})"
    hashed = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    fields = {
        "sourcecodelang": "C",
        "producer": f"loopless {tool_version()}",
        "specification": f"COVER( init({function}()), FQL(COVER EDGES({goal})) )",
        "programfile": " ".join(map(str, files)),
        "programhash": hashed,
        "entryfunction": function,
        "architecture": f"{pointer_bits}bit",
        "creationtime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    lines = [f"  <{name}>{escape(value)}</{name}>" for name, value in fields.items()]
    return "\n".join([*_head("test-metadata"), "<test-metadata>", *lines, "</test-metadata>", ""])


def _head(kind: str) -> list[str]:
    return ['<?xml version="1.0" encoding="UTF-8" standalone="no"?>', _TYPE.format(kind)]
