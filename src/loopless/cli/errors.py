"""Errors of a whole request as a JSON document."""

from __future__ import annotations

from typing import Any

from loopless.report.document import document, dump, error


def error_document(command: str, kind: str, message: str) -> str:
    """The document that stands where the answer would be."""
    lists: dict[str, Any] = {"loops": []} if command in ("loops", "summarize", "classify", "bound") else {}
    if command == "bound":
        lists["functions"] = []
    return dump(document(command, errors=[error(kind, message)], **lists))
