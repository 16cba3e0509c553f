"""Finds and runs clang: the one inside the ``ziglang`` wheel, or the user's own."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from loopless import clock
from loopless.errors import LimitError, SourceError, UsageError
from loopless.limits.source import COMPILER_GLANCE_S
from loopless.patterns import pattern

OLDEST, NEWEST = 16, 22
"""Which versions of the system's clang are used without being named. That of our LLVM is the newest whose modules it is
sure to read; older ones than 16 were not tried.
"""
_VERSION = pattern(r"^(?!Apple).*?clang version (\d+)\.")

TARGETS: Mapping[str, str] = {"ILP32": "x86-linux-musl", "LP64": "x86_64-linux-musl"}


@functools.cache
def zig() -> str:
    """The path of the zig binary in the ``ziglang`` wheel (calling it straight saves a Python start)."""
    try:
        import ziglang  # type: ignore[import-untyped]
    except ImportError:
        raise SourceError(
            f"no C compiler: there is neither the package ziglang (pip install 'loopless[zig]') nor a clang of version "
            f"{OLDEST} to {NEWEST}; install one, or name another with --clang"
        ) from None
    folder = Path(ziglang.__file__).parent
    for name in ("zig", "zig.exe"):
        if (folder / name).is_file():
            return str(folder / name)
    raise SourceError(f"no zig binary in {folder}; reinstall the package ziglang or name a clang with --clang")


@functools.cache
def system_clang() -> str | None:
    """The newest clang of the system that can stand for the one in the wheel; None where that is there, or no such one.

    The wheel goes first: what it makes is the same everywhere, and it takes nothing to ask for it.
    """
    if importlib.util.find_spec("ziglang") is not None:
        return None
    for name in (*(f"clang-{version}" for version in range(NEWEST, OLDEST - 1, -1)), "clang"):
        found = shutil.which(name)
        if found is not None and OLDEST <= (_version(found) or 0) <= NEWEST:
            return found
    return None


def _version(clang: str) -> int | None:
    """The major version of LLVM's clang; None for what is another one, or says nothing."""
    try:
        fence = clock.fence(10.0)
        said = subprocess.run([clang, "--version"], capture_output=True, text=True, check=False, timeout=fence)
    except (OSError, subprocess.SubprocessError):
        return None
    found = _VERSION.match(said.stdout)
    return int(found[1]) if found else None


def clang_command(clang: str | None, data_model: str | None, *, cxx: bool) -> list[str]:
    """The compiler and its target flags.

    Without a data model the host's own target is taken, with the host's own headers where it has any.
    """
    if data_model is not None and data_model not in TARGETS:
        raise UsageError(f"{data_model} is no data model; it is ILP32 or LP64 (--data-model)")
    if clang is not None:
        found = shutil.which(clang)
        if found is None:
            raise SourceError(f"cannot find the compiler {clang} (--clang)")
        flags = [] if data_model is None else ["-m32" if data_model == "ILP32" else "-m64"]
        return [found, *flags]
    flags = [] if data_model is None else ["-target", TARGETS[data_model]]
    return [zig(), "c++" if cxx else "cc", *flags]


def zig_target(triple: str) -> str:
    """A target triple as gcc and clang spell it (``i686-pc-linux-gnu``), in zig's spelling (``x86-linux-gnu``)."""
    parts = triple.split("-")
    if len(parts) == 4 or (len(parts) == 3 and parts[1] in ("unknown", "pc", "apple", "w64")):
        del parts[1]
    if re.fullmatch(r"i[3-6]86", parts[0]):
        parts[0] = "x86"
    return "-".join({"none": "freestanding", "darwin": "macos"}.get(p, p) for p in parts)


def environment(cache: Path) -> dict[str, str]:
    """The environment for a compiler, with ``cache`` as zig's.

    A cache of its own for each run: zig hangs where it cannot write one (a home directory that is missing or
    read-only), and keeps every output for ever. Without linking there is nothing in it worth keeping.
    """
    return {
        **os.environ,
        "ZIG_GLOBAL_CACHE_DIR": str(cache),
        "ZIG_LOCAL_CACHE_DIR": str(cache),
        "SOURCE_DATE_EPOCH": "0",  # __DATE__ must not change answers
    }


def run(
    command: Sequence[str], folder: Path, cwd: Path | None, timeout_s: float, what: str, out: Path | None = None
) -> tuple[int, str]:
    """Run a compiler, ``folder`` its scratch space; its exit status and what it printed on stderr. What it prints on
    stdout goes to the file ``out``.

    Raises:
        LimitError: it worked longer than ``timeout_s`` (its whole process group is ended then).
        SourceError: it could not be started.
    """
    try:
        with Path(os.devnull if out is None else out).open("wb") as printed:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
    except OSError as e:
        raise SourceError(f"cannot run {command[0]}: {e.strerror or e}") from None
    before = clock.of_ended_children()
    with process:
        try:
            err = _said(process, timeout_s, what)
        except BaseException:
            _end(process)
            raise
        finally:
            clock.others(clock.of_ended_children() - before)
    return process.returncode, err


def _said(process: subprocess.Popen[str], timeout_s: float, what: str) -> str:
    """What a compiler prints on stderr up to its end. Raises :class:`LimitError` where it works longer than that."""
    watch = clock.Watch(process.pid)
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=COMPILER_GLANCE_S)[1]
        over = watch.over(timeout_s)
        if over is not None:
            raise LimitError(clock.over_in_words(over, what, timeout_s))


def _end(process: subprocess.Popen[str]) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
