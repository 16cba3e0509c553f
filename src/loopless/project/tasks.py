"""What the verification competition writes: task definitions (``.yml``) and properties (``.prp``).

The formats are those of BenchExec's task definitions 2.x and of SV-COMP's property files (https://sv-comp.sosy-lab.org,
"Competition Rules").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from loopless.check.certificates.property import Property
from loopless.errors import SourceError, UsageError
from loopless.patterns import pattern
from loopless.records import dataclass

_CHECK: Final = pattern(r"CHECK\s*\(\s*init\s*\(\s*([\w.$]+)\s*\(\s*\)\s*\)\s*,\s*LTL\s*\((.*)\)\s*\)\s*$")
_UNREACH: Final = pattern(r"G\s*!\s*call\s*\(\s*([\w.$]+)\s*\(\s*\)\s*\)$")


@dataclass(frozen=True, slots=True)
class Task:
    """A task definition: the files of one program, its data model, and by property what is expected of it (None: no
    verdict is known).
    """

    files: tuple[Path, ...]
    data_model: str | None
    properties: Mapping[Property, bool | None]


def read_property(text: str) -> Property:
    """The property of a name, or of the file that is named.

    Raises:
        UsageError: it is neither a name of a property nor a file with one that is known.
    """
    named = {property_.value: property_ for property_ in Property}
    if text in named:
        return named[text]
    file = Path(text)
    known = ", ".join(named)
    if file.suffix != ".prp":
        raise UsageError(f"there is no property {text}; there are {known}, and property files (.prp)")
    try:
        content = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the property file {text}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{text} has no property that is known here; known are {known}") from None
    found = _property_in(content)
    if found is None:
        raise UsageError(f"{text} has no property that is known here; known are {known}")
    return found


def _property_in(content: str) -> Property | None:
    for line in content.splitlines():
        match = _CHECK.match(line.strip())
        if match is None or match[1] != "main":
            continue
        formula = match[2].strip()
        if _UNREACH.match(formula):
            return Property.UNREACH_CALL if _UNREACH.match(formula)[1] == "reach_error" else None  # type: ignore[index]
        if re.fullmatch(r"F\s+end", formula):
            return Property.TERMINATION
        if re.fullmatch(r"G\s*!\s*overflow", formula):
            return Property.NO_OVERFLOW
    return None


def read_task(file: Path) -> Task:
    """The task that a file defines.

    Raises:
        SourceError: the file is missing, or is no task definition.
    """
    import yaml

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SourceError(f"cannot read {file}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SourceError(f"{file} is no task definition: {str(error).splitlines()[0]}") from None
    if not isinstance(content, dict) or "input_files" not in content:
        raise SourceError(f"{file} is no task definition: it names no input_files")
    listed = content["input_files"]
    names = [listed] if isinstance(listed, str) else listed
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise SourceError(f"{file} is no task definition: its input_files are no list of names")
    options = content.get("options") or {}
    model = options.get("data_model") if isinstance(options, dict) else None
    if model not in (None, "ILP32", "LP64"):
        raise SourceError(f"{file} has the data model {model}; known are ILP32 and LP64")
    properties = content.get("properties") or []
    if not isinstance(properties, list):
        raise SourceError(f"{file} is no task definition: its properties are no list")
    return Task(tuple(file.parent / name for name in names), model, dict(_properties(properties, file.parent)))


def _properties(entries: Sequence[Any], folder: Path) -> list[tuple[Property, bool | None]]:
    """The known ones: by what their files say, and where a file is missing by its name."""
    found: list[tuple[Property, bool | None]] = []
    for entry in entries:
        named = entry.get("property_file") if isinstance(entry, dict) else None
        if not isinstance(named, str):
            continue
        path = folder / named
        if path.is_file():
            property_ = _property_in(path.read_text(encoding="utf-8", errors="replace"))
        else:
            property_ = next((p for p in Property if p.value == path.stem), None)
        if property_ is not None:
            expected = entry.get("expected_verdict")
            found.append((property_, expected if isinstance(expected, bool) else None))
    return found
