"""Settings by their names, those of the compiler beside those of the questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from loopless.errors import UsageError
from loopless.queries.settings import Settings
from loopless.report.given_values import listed
from loopless.source import SourceOptions

_OF_SOURCE: Final = tuple(f.name for f in fields(SourceOptions) if f.name not in ("timeout_s", "traps"))
_OF_SETTINGS: Final = tuple(f.name for f in fields(Settings) if f.name != "source")


def changed(settings: Settings, changes: Mapping[str, Any], *, loaded: bool = False) -> Settings:
    """The settings with ``changes``; ``loaded``: the program has been read. Raises ``UsageError``."""
    of_source = {name: value for name, value in changes.items() if name in _OF_SOURCE}
    for name in changes:
        if name not in (*_OF_SETTINGS, *_OF_SOURCE):
            known = _OF_SETTINGS if loaded else (*_OF_SETTINGS, *_OF_SOURCE)
            raise UsageError(f"there is no setting {name}; there are {listed(known)}")
        if loaded and name in of_source:
            raise UsageError(f"{name} is for the compiler, which has read the program; load the files again with it")
    if isinstance(of_source.get("flags"), str):
        raise UsageError(f"flags are a list, as [{of_source['flags']!r}]")
    if "flags" in of_source:
        of_source["flags"] = tuple(of_source["flags"])
    if isinstance(of_source.get("stubs"), str | Path):
        raise UsageError(f"stubs are a list of files, as [{str(of_source['stubs'])!r}]")
    if "stubs" in of_source:
        of_source["stubs"] = tuple(Path(file) for file in of_source["stubs"])
    if of_source.get("compile_database") is not None:
        of_source["compile_database"] = Path(of_source["compile_database"])
    found = replace(settings, **{name: value for name, value in changes.items() if name in _OF_SETTINGS})
    found.check()
    if changes.get("timeout_s") is not None:
        of_source["timeout_s"] = found.timeout_s
    return replace(found, source=replace(found.source, **of_source))
