"""What every JSON answer has at its top, and errors of whole requests. Imports nothing that takes time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

SCHEMA_VERSION: Final = 1
_WIDTH: Final = 110
"""What is not longer than this stands on one line."""


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
    """The text of a document: indented, with what is short on one line, or all of it on one line."""
    return _compact(document) if line else _pretty(document, "")


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _pretty(value: Any, margin: str) -> str:
    short = _compact(value)
    if not value or not isinstance(value, dict | list) or (margin and len(margin) + len(short) <= _WIDTH):
        return short
    inner = margin + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{_compact(key)}: {_pretty(part, inner)}" for key, part in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{margin}}}"
    return "[\n" + ",\n".join(f"{inner}{_pretty(part, inner)}" for part in value) + f"\n{margin}]"
