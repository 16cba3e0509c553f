"""Defaults of options from ``loopless.toml``, or from ``[tool.loopless]`` in ``pyproject.toml``.

The nearest such file counts, from the current folder upwards. Its keys are the long names of options, for all commands
that have them, ``flags`` for the compiler, and tables for single commands. What the command line says goes before it.

A file that comes with a program must not make the command run what it names: so it chooses no compiler, and of flags
only those of the preprocessor and the language.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import click

from loopless.errors import UsageError
from loopless.records import dataclass

_OWN: Final = "loopless.toml"
_SHARED: Final = "pyproject.toml"
FLAGS: Final = ("-D", "-U", "-I", "-isystem", "-iquote", "-include", "-std=", "-m32", "-m64", "-f[un]signed-char")
_HARMLESS: Final = ("-D", "-U", "-I", "-std=")
_WITH_PATH: Final = ("-isystem", "-iquote", "-include")
_WHOLE: Final = ("-m32", "-m64", "-fsigned-char", "-funsigned-char")
_NOT_HERE: Final = {
    "clang": "a file does not choose the compiler",
    "write-test": "a file does not choose where something is written",
    "certificate": "a file does not choose where something is written",
    "witness": "a file does not choose where something is written",
    "harness": "a file does not choose where something is written",
}


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a file says: for each command the values of its parameters, by their names, and flags for the compiler."""

    defaults: Mapping[str, Mapping[str, Any]]
    flags: tuple[str, ...] = ()


def read(file: Path, values: Mapping[str, Any], of: Mapping[str, click.Command]) -> Configuration:
    """What the ``values`` in ``file`` say of commands. Raises :class:`UsageError` for what means nothing."""
    commands = {name: _options(command) for name, command in of.items()}
    general = {key: value for key, value in values.items() if not isinstance(value, dict)}
    flags = _flags(file, general.pop("flags", []))
    everywhere = {key for options in commands.values() for key in options}
    for key in general:
        _check_key(file, key, {*everywhere, "flags"}, commands)
    defaults = {}
    for name, options in commands.items():
        own = values.get(name, {})
        for key in own:
            _check_key(file, key, options, {}, name)
        given = {key: value for key, value in {**general, **own}.items() if key in options}
        defaults[name] = {
            options[key].name or key: _value(file, key, value, options[key]) for key, value in given.items()
        }
    for key, value in values.items():
        if isinstance(value, dict) and key not in commands:
            _check_key(file, key, everywhere, commands)
            raise UsageError(f"{file}: {key} is an option, not a table")
    return Configuration(defaults, flags)


def nearest() -> tuple[Path, dict[str, Any]] | None:
    """The nearest file that speaks of us, and what it says. Raises :class:`UsageError` where it cannot be read."""
    folder = Path.cwd()
    for here in (folder, *folder.parents):
        for name in (_OWN, _SHARED):
            file = here / name
            if not file.is_file():
                continue
            try:
                with file.open("rb") as text:
                    values = tomllib.load(text)
            except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                if name == _SHARED:  # whose it is must say what is wrong with it
                    continue
                raise UsageError(f"cannot read {file}: {error}") from None
            if name == _SHARED:
                values = values.get("tool", {}).get("loopless")
            if isinstance(values, dict):
                return file, values
    return None


def _options(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by their long names, without dashes."""
    return {
        name.removeprefix("--"): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
        if name.startswith("--")
    }


def _check_key(file: Path, key: str, known: Iterable[str], commands: Mapping[str, object], command: str = "") -> None:
    """Raises :class:`UsageError` for a key that is no option, and none of the ``commands``."""
    if key in _NOT_HERE:
        raise UsageError(f"{file}: {_NOT_HERE[key]}; write --{key} on the command line")
    if key in known or key in commands:
        return
    near = difflib.get_close_matches(key, [*known, *commands], n=1)
    whose = f"{command} has no option" if command else "there is no option"
    raise UsageError(f"{file}: {whose} {key}{f'; did you mean {near[0]}?' if near else ''}")


def _value(file: Path, key: str, value: Any, option: click.Option) -> Any:
    """The value as click takes it. Raises :class:`UsageError` for one of another type, or out of range."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{file}: {key} is true or false, not {value!r}")
        return value
    several = value if option.multiple and isinstance(value, list) else [value]
    if any(isinstance(one, bool) or not isinstance(one, str | int | float) for one in several):
        raise UsageError(f"{file}: {key} cannot be {value!r}")
    texts = [_beside(file, str(one)) if isinstance(option.type, click.Path) else str(one) for one in several]
    try:
        for text in texts:
            option.type.convert(text, option, None)
    except click.BadParameter as error:
        raise UsageError(f"{file}: {key}: {error.message}") from None
    return texts if option.multiple else texts[0]


def _beside(file: Path, path: str) -> str:
    """A path that a file names, which stands beside it."""
    return str(file.parent / path)


def _flags(file: Path, flags: Any) -> tuple[str, ...]:
    """Flags for the compiler, paths in them beside the file."""
    if not isinstance(flags, list) or not all(isinstance(flag, str) for flag in flags):
        raise UsageError(f'{file}: flags are a list of texts, as ["-DN=10", "-Iinclude"]')
    found: list[str] = []
    for flag in flags:
        if flag.startswith("-I") and len(flag) > 2:
            found.append(f"-I{_beside(file, flag[2:])}")
        elif found and found[-1] in _WITH_PATH:
            found.append(_beside(file, flag))
        elif flag in (*_WITH_PATH, *_WHOLE) or (flag.startswith(_HARMLESS) and len(flag) > 2):
            found.append(flag)
        else:
            raise UsageError(f"{file}: flags has {flag}, and takes only {', '.join(FLAGS)}; write others behind --")
    if found and found[-1] in _WITH_PATH:  # it would take the next one on the command line for its path
        raise UsageError(f"{file}: flags has {found[-1]} without a path behind it")
    return tuple(found)
