"""What every JSON answer has at its top, and errors of whole requests. Imports nothing that takes time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

SCHEMA_VERSION: Final = 1


def tool() -> dict[str, str]:
    """The name and version of the tool."""
    return {"name": "loopless", "version": tool_version()}


def tool_version() -> str:
    """The version of the installed package."""
    try:
        return version("loopless")
    except PackageNotFoundError:
        return "unknown"


def document(
    command: str,
    *,
    assumptions: Sequence[str] = (),
    errors: Sequence[Mapping[str, Any]] = (),
    time_ms: float = 0.0,
    **answer: Any,
) -> dict[str, Any]:
    """What stands at the top of every answer, and the fields of ``answer``."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": tool(),
        "command": command,
        **answer,
        "assumptions": list(assumptions),
        "errors": list(errors),
        "time_ms": round(time_ms, 1),
    }


def error(kind: str, message: str, file: str | None = None) -> dict[str, Any]:
    """One entry of ``errors``; ``kind`` is "usage", "source", "limit" or "internal"."""
    return {"kind": kind, "message": message, **({"file": file} if file is not None else {})}


def dump(document: Mapping[str, Any], *, line: bool = False) -> str:
    """The text of a document: indented, or on one line."""
    if line:
        return json.dumps(document, ensure_ascii=False, separators=(", ", ": "))
    return json.dumps(document, ensure_ascii=False, indent=2)
