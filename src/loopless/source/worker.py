"""The worker process that does LLVM's work: it is started when first needed and serves until this process ends."""

from __future__ import annotations

import atexit
import contextlib
import marshal
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

from loopless import clock
from loopless.errors import LimitError, SourceError
from loopless.limits.source import WORKER_GLANCE_S

LLVM_VERSION: Final = 22
"""The newest LLVM whose assembly and bitcode we read: that of llvmlite."""


_CHILD: Final = str(Path(__file__).with_name("child.py"))


class Worker:
    """One child process; a crash or a time limit ends it, and the next request starts another."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._lock = threading.Lock()

    def link(self, parts: Sequence[tuple[str, str | bytes]], timeout_s: float) -> str:
        """The text of the one module that ``parts`` (name, assembly or bitcode) make together.

        Raises:
            SourceError: a part is no IR, or of a newer LLVM, or two define the same name, or LLVM crashed on it.
            LimitError: it worked longer than ``timeout_s``.
        """
        names = ", ".join(name for name, _ in parts)
        answer = self._request(("link", list(parts)), timeout_s, f"reading {names}")
        if answer[0] == "ok":
            return str(answer[1])
        raise SourceError(explain(str(answer[1]), str(answer[2])))

    def inline(self, text: str, functions: Sequence[str], timeout_s: float, what: str) -> str:
        """The module of ``text`` with ``functions`` inlined into all their callers; errors as for :meth:`link`."""
        answer = self._request(("inline", text, list(functions)), timeout_s, f"inlining in {what}")
        if answer[0] == "ok":
            return str(answer[1])
        raise SourceError(f"LLVM cannot inline in {what}: {_first_line(str(answer[2]))}")

    def close(self) -> None:
        """End the child process, if there is one."""
        with self._lock:
            self._drop()

    def _request(self, request: tuple[object, ...], timeout_s: float, what: str) -> tuple[Any, ...]:
        with self._lock:
            process = self._started()
            answer: list[tuple[Any, ...]] = []
            thread = threading.Thread(target=_exchange, args=(process, request, answer), daemon=True)
            watch = clock.Watch(process.pid)
            thread.start()
            thread.join(WORKER_GLANCE_S)
            while thread.is_alive():
                over = watch.over(timeout_s)
                if over is not None:
                    self._drop()
                    thread.join()
                    raise LimitError(clock.over_in_words(over, what, timeout_s))
                thread.join(WORKER_GLANCE_S)
            clock.others(watch.worked)
            if not answer:
                status = process.wait()
                said = self._said()
                self._drop()
                raise SourceError(f"LLVM crashed while {what} ({_death(status)}){said}")
            return answer[0]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._drop()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as the child
        self._process = subprocess.Popen(
            [sys.executable, "-I", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr
        )
        return self._process

    def _said(self) -> str:
        """The last line the child wrote on stderr, as the tail of a sentence."""
        if self._stderr is None:
            return ""
        self._stderr.seek(0)
        lines = [s.strip() for s in self._stderr.read().decode("utf-8", "replace").splitlines()]
        errors = [s for s in lines if "error" in s.lower() or "assert" in s.lower()]
        return f": {(errors or lines)[-1]}" if lines else ""

    def forget(self) -> None:
        """In a forked process: leave the parent's child alone, but hold no end of its pipes open."""
        self._lock = threading.Lock()
        process, self._process, self._stderr = self._process, None, None
        if process is not None:
            process.returncode = 0  # not ours to wait for
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
            self._process = None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None


def _exchange(process: subprocess.Popen[bytes], request: tuple[object, ...], answer: list[tuple[Any, ...]]) -> None:
    """Send a request and wait for its answer; leaves ``answer`` empty if the child died."""
    assert process.stdin is not None
    assert process.stdout is not None
    data = marshal.dumps(request)  # type: ignore[arg-type]
    with contextlib.suppress(OSError, ValueError, EOFError):
        process.stdin.write(len(data).to_bytes(8, "big") + data)
        process.stdin.flush()
        size = process.stdout.read(8)
        if len(size) == 8:
            answer.append(marshal.loads(process.stdout.read(int.from_bytes(size, "big"))))  # noqa: S302


def _death(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"


def _first_line(message: str) -> str:
    return next((s.strip() for s in message.splitlines() if s.strip()), "no reason given")


def explain(name: str, message: str) -> str:
    """One sentence from what LLVM says about a module that it cannot read or link."""
    lines = [s.strip() for s in message.splitlines() if s.strip()]
    text = " ".join(lines)
    reads = f"IR up to LLVM {LLVM_VERSION} is read"
    if "multiply defined" in text or ("redefinition" in text and "symbol" in text):
        symbol = text.split("'")[1] if text.count("'") >= 2 else "a function or variable"
        return f"cannot link {name}: {symbol} is defined in another of the files too"
    if text.startswith("target: "):
        return f"cannot link {name}: it is compiled for another {text}"
    if "Producer:" in text or "Unknown attribute kind" in text or "Invalid record" in text:
        return f"cannot read {name}: {_first_line(message)} ({reads})"
    if "Invalid bitcode signature" in text or "file too small" in text:
        return f"cannot read {name}: it is not LLVM bitcode"
    place = next((s for s in lines if s.startswith("<string>:")), None)
    if place is not None:
        _, line, column, rest = place.split(":", 3)
        return f"cannot read {name}:{line}:{column}: {rest.removeprefix(' error:').strip()} ({reads})"
    return f"cannot read {name}: {_first_line(message)} ({reads})"


WORKER: Final = Worker()
"""The worker of this process."""
atexit.register(WORKER.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKER.forget)
