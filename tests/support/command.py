"""The command as users run it: in a process of its own, or in a fork of this one, which is quicker."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path

from loopless.cli import main
from loopless.queries.jobs.starting import ENGINES

ROOT = Path(__file__).resolve().parents[2]


def run_command(
    *words: object, stdin: str = "", cwd: Path = ROOT, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What ``loopless WORDS`` does in the folder ``cwd`` (default: that of the repository)."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **(env or {})}
    return subprocess.run(
        [sys.executable, "-m", "loopless", *map(str, words)],
        cwd=cwd,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def run_forked(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What ``loopless WORDS`` does in a folder, in a fork of this process that has imported the engines.

    Most of a short command's time goes into imports. The fork keeps for itself what a command remembers by the names of
    files, such as their text: other folders have files of the same names.
    """
    for engine in ENGINES:
        importlib.import_module(engine)
    with tempfile.TemporaryDirectory() as streams:
        child = get_context("fork").Process(target=_answer, args=(list(words), folder, Path(streams)))
        with warnings.catch_warnings():
            # Newer Pythons warn of threads: one in a worker of pytest-xdist only waits for messages.
            warnings.simplefilter("ignore", DeprecationWarning)
            child.start()
        child.join(300)
        if child.exitcode is None:
            child.kill()
            raise TimeoutError(f"loopless {words} takes more than 300 s")
        out, err = ((Path(streams) / name).read_text(encoding="utf-8") for name in ("out", "err"))
    return subprocess.CompletedProcess(words, child.exitcode, out, err)


def _answer(words: list[str], folder: Path, streams: Path) -> None:
    """The child of :func:`run_forked`: its streams are files, and pytest's have nothing to do with it."""
    os.chdir(folder)
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(streams / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    sys.exit(main(words))
