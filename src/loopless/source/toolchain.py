"""Finds and runs clang: the one inside the ``ziglang`` wheel, or the user's own."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from loopless.errors import LimitError, SourceError

TARGETS: Mapping[str, str] = {"ILP32": "x86-linux-musl", "LP64": "x86_64-linux-musl"}


@functools.cache
def zig() -> str:
    """The path of the zig binary in the ``ziglang`` wheel (calling it straight saves a Python start)."""
    try:
        import ziglang  # type: ignore[import-untyped]
    except ImportError:
        raise SourceError(
            "no C compiler: the package ziglang is not installed; install it or name a clang with --clang"
        ) from None
    folder = Path(ziglang.__file__).parent
    for name in ("zig", "zig.exe"):
        if (folder / name).is_file():
            return str(folder / name)
    raise SourceError(f"no zig binary in {folder}; reinstall the package ziglang or name a clang with --clang")


def clang_command(clang: str | None, data_model: str | None, *, cxx: bool) -> list[str]:
    """The compiler and its target flags.

    Without a data model the host's own target is taken, with the host's own headers where it has any.
    """
    if clang is not None:
        found = shutil.which(clang)
        if found is None:
            raise SourceError(f"cannot find the compiler {clang} (--clang)")
        flags = [] if data_model is None else ["-m32" if data_model == "ILP32" else "-m64"]
        return [found, *flags]
    flags = [] if data_model is None else ["-target", TARGETS[data_model]]
    return [zig(), "c++" if cxx else "cc", *flags]


@functools.cache
def environment(pid: int) -> dict[str, str]:
    """The environment for zig, which hangs if it cannot write its cache.

    The cache is ``ZIG_GLOBAL_CACHE_DIR`` if set, else a directory of ours under the user's cache directory, else a
    private temporary one. ``pid`` is that of this process: a forked one decides anew.
    """
    assert pid == os.getpid()
    env = dict(os.environ)
    env.setdefault("SOURCE_DATE_EPOCH", "0")  # __DATE__ must not change answers
    for folder in _cache_candidates(env):
        if _writable(folder):
            break
    else:
        folder = Path(tempfile.mkdtemp(prefix="loopless-zig-"))
    env["ZIG_GLOBAL_CACHE_DIR"] = env["ZIG_LOCAL_CACHE_DIR"] = str(folder)
    return env


def _cache_candidates(env: Mapping[str, str]) -> list[Path]:
    folders = []
    if env.get("ZIG_GLOBAL_CACHE_DIR"):
        folders.append(Path(env["ZIG_GLOBAL_CACHE_DIR"]))
    base = env.get("LOCALAPPDATA") if platform.system() == "Windows" else env.get("XDG_CACHE_HOME")
    if base:
        folders.append(Path(base) / "loopless" / "zig")
    with contextlib.suppress(RuntimeError):  # no home directory at all
        folders.append(Path.home() / ".cache" / "loopless" / "zig")
    user = os.getuid() if hasattr(os, "getuid") else 0
    folders.append(Path(tempfile.gettempdir()) / f"loopless-{user}" / "zig")
    return folders


def _writable(folder: Path) -> bool:
    """Whether ``folder`` can be made and written, and nobody else owns it (the temporary directory is shared)."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def run(command: Sequence[str], cwd: Path | None, timeout_s: float, what: str) -> tuple[int, str]:
    """Run a compiler; its exit status and what it printed on stderr.

    Raises:
        LimitError: it took longer than ``timeout_s`` (its whole process group is ended then).
        SourceError: it could not be started.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment(os.getpid()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as e:
        raise SourceError(f"cannot run {command[0]}: {e.strerror or e}") from None
    with process:
        try:
            _, err = process.communicate(timeout=timeout_s)
        except BaseException as e:
            _end(process)
            if isinstance(e, subprocess.TimeoutExpired):
                raise LimitError(f"{what} took more than {timeout_s:g} s; --timeout raises the limit") from None
            raise
    return process.returncode, err


def _end(process: subprocess.Popen[str]) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
