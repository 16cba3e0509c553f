"""Correctness witnesses of the verification competition, format 2.0 (invariant sets) as YAML.

Of each loop's invariant the conjuncts that C can say over the names of the source go into it, cast so that they cannot
overflow themselves; fewer conjuncts are still true, and another validator may need more.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loopless.check.certificates.property import Property
from loopless.queries.verification.verdict import Verdict
from loopless.report.document import tool_version

_SPECIFICATIONS = {
    Property.UNREACH_CALL: "CHECK( init(main()), LTL(G ! call(reach_error())) )",
    Property.TERMINATION: "CHECK( init(main()), LTL(F end) )",
    Property.NO_OVERFLOW: "CHECK( init(main()), LTL(G ! overflow) )",
}


def witness(found: Verdict, files: tuple[str, ...], data_model: str) -> str:
    """The witness of a ``true``, as YAML."""
    import yaml

    content = [
        {
            "invariant": {
                "type": "loop_invariant",
                "location": {"file_name": one.file, "line": one.line, "column": one.column, "function": one.function},
                "value": one.c,
                "format": "c_expression",
            }
        }
        for one in found.told
        if one.c
    ]
    entry = {"entry_type": "invariant_set", "metadata": _metadata(found, files, data_model), "content": content}
    return str(yaml.safe_dump([entry], sort_keys=False, width=1000))


def _metadata(found: Verdict, files: tuple[str, ...], data_model: str) -> Mapping[str, Any]:
    hashes = {file: hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files}
    return {
        "format_version": "2.0",
        "uuid": str(uuid.uuid4()),
        "creation_time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "producer": {"name": "loopless", "version": tool_version()},
        "task": {
            "input_files": list(files),
            "input_file_hashes": hashes,
            "specification": _SPECIFICATIONS[found.property],
            "data_model": data_model,
            "language": "C",
        },
    }
