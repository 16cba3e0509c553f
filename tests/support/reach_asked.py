"""``loopless reach`` in this process, about a program in a file of its own, for tests of the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema

from loopless.cli import main

HASHED = """int f(unsigned n) {
    unsigned h = n;
    for (int i = 0; i < 900; i++) h = h * h ^ (h >> 5) ^ 2654435769u;
    if (h == 12345u)
        return 1;
    return 0;
}
"""
"""Which n gets there is a matter of trying."""


def asking(capsys: Any, folder: Path, schema: Any, *fixed: str) -> Callable[..., tuple[int, Any, str]]:
    """A function that asks with the words ``fixed`` first: status, answer (JSON or text) and what was said beside."""

    def command(text: str, *words: object, form: str = "json") -> tuple[int, Any, str]:
        file = folder / "a.c"
        file.write_text(text, encoding="utf-8")
        status = main(["reach", str(file), *fixed, *map(str, words), "--format", form])
        said = capsys.readouterr()
        if form == "text":
            return status, said.out, said.err
        found = json.loads(said.out)
        jsonschema.validate(found, schema)
        return status, found, said.err

    return command
