"""Native execution of C functions, as an oracle for everything that is computed without running them.

A program is compiled with traps for undefined behaviour and run by LLVM's JIT in a bounded child process:

>>> with NativeOracle("int f(int x) { return x + 1; }") as oracle:  # doctest: +SKIP
...     oracle.run("f", [2147483646]).return_value, oracle.run("f", [2147483647]).status
(2147483647, 'undefined')

What is trusted: clang's code generation without optimization, and the operating system's limits. What is not trusted:
the program. It has no input, its output goes nowhere, it can open no file and call only harmless functions of the C
library, its time and memory are bounded, and when it dies the oracle answers the next run all the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self, cast

from loopless import clock
from loopless.check.oracle.adapters import PREFIX
from loopless.check.oracle.build import Prepared, prepare
from loopless.check.oracle.fitting import (
    IN_REGISTERS,
    Argument,
    check_argument,
    check_result,
    wire,
    wire_params,
)
from loopless.check.oracle.retarget import is_narrow, retarget
from loopless.check.oracle.runtime import SOURCE
from loopless.check.oracle.signature import CType, Opaque, PointerType, Signature
from loopless.check.oracle.standard_input import laid_out
from loopless.check.outcome import Outcome, Status
from loopless.errors import LimitError, SourceError, UsageError
from loopless.limits.check import CHILD_GLANCE_S, LOAD_CHARGE_S, RUN_CHARGE_S
from loopless.records import dataclass
from loopless.source.compile import IR_SUFFIXES, SourceOptions, check_file, compile_ir
from loopless.source.database import CompileDatabase
from loopless.source.reader import read_module
from loopless.source.standard_input import is_followed, with_inputs
from loopless.source.stubs import read_stubs
from loopless.source.targets import by_bodies
from loopless.source.worker import WORKER
from loopless.stepping import stepping

__all__ = [
    "CType",
    "NativeHost",
    "NativeLimits",
    "NativeOracle",
    "NativeRun",
    "Opaque",
    "PointerType",
    "RunForbidden",
    "Signature",
]

_OPTIONS = SourceOptions()


_FORBIDDEN = "this answer needs a native run of the program, which --no-run forbids; leave out --no-run"


class RunForbidden(UsageError):
    """User code was to be run although running is forbidden (``--no-run``; refusal code L304)."""


@dataclass(frozen=True, slots=True)
class NativeLimits:
    """Bounds on one run: wall-clock seconds, and bytes of memory that the program may take."""

    seconds: float = 1.0
    memory_bytes: int = 256 << 20
    start_seconds: float = 60.0


_LIMITS = NativeLimits()


@dataclass(frozen=True, slots=True)
class NativeRun:
    """The inputs of one run.

    ``args``: one per parameter. ``nondet``: what the program's input functions (``__VERIFIER_nondet_*``, functions
    without a body) return, in the order of the calls, each reduced to its type. ``uninit``: what uninitialised integer
    locals hold, by ``variable`` or ``function.variable``, or in the order of the activations; 0 where nothing is said.
    ``globals``: scalar globals that start with another value than the program gives them. ``repeat``: behind the last
    input that one comes again and again. ``stdin``: the bytes of standard input.
    """

    args: Sequence[Argument] = ()
    nondet: Sequence[int] = ()
    uninit: Sequence[int] | Mapping[str, int] = ()
    globals: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    repeat: bool = False
    stdin: bytes = b""


@lru_cache(maxsize=1)
def _runtime() -> str:
    return compile_ir(SOURCE, SourceOptions())


class NativeHost:
    """The child process. It holds one program at a time; several oracles in a row may share it.

    One thread at a time may use it. After a fork of this process, each side has a child of its own.
    """

    def __init__(self, *, allow_run: bool = True, start_seconds: float = 60.0) -> None:
        if not allow_run:
            raise RunForbidden(_FORBIDDEN)
        self._start_seconds = start_seconds
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._held = b""
        self._owner = os.getpid()
        self.loaded: Prepared | None = None

    def load(self, prepared: Prepared) -> None:
        """Compile a program in the child.

        Raises:
            SourceError: if the module cannot be compiled.
        """
        scalars = [
            (variable.name, index, wire(variable.type))
            for index, variable in enumerate(prepared.globals)
            if variable.type is not None
        ]
        self._send(
            {
                "command": "load",
                "program": prepared.text,
                "runtime": _runtime(),
                "needs": sorted(prepared.runtime),
                "unresolved": prepared.unresolved,
                "scalars": scalars,
                "variables": len(prepared.globals),
                "locals": len(prepared.locals),
            }
        )
        answer = self._receive(self._start_seconds)
        if answer != "":
            complaint = answer or self._complaint()
            self.close()
            raise SourceError(f"the program cannot be compiled for a native run: {complaint}")
        self.loaded = prepared
        clock.count(LOAD_CHARGE_S)

    def ask(self, request: dict[str, Any], seconds: float) -> list[Outcome]:
        """The outcomes of a batch; the child's own death ends the batch early, and the rest is missing. Its work counts
        as that of this process.
        """
        stepping("a program is run natively")
        limit_s: float = request["limits"]["seconds"]
        self._send(request)
        outcomes: list[Outcome] = []
        for _ in request["runs"]:
            answer = self._receive(seconds + 10.0)
            if answer is None:
                self.close()
                break
            status, value, outputs, variables, detail, *more = cast("list[Any]", answer)
            taken = frozenset(more[0]) if more else frozenset[int]()
            given, kept = tuple(map(tuple, outputs)), MappingProxyType(variables)
            drawn = tuple(more[1]) if len(more) > 1 and more[1] is not None else None
            outcomes.append(Outcome(cast(Status, status), value, given, kept, detail, taken, drawn=drawn))
            clock.count(RUN_CHARGE_S + (limit_s if status == "timeout" else 0.0))
        else:
            told = self._receive(seconds + 10.0)
            if told is not None:
                clock.others(cast("dict[str, float]", told)["worked"])
        return outcomes

    @property
    def alive(self) -> bool:
        """Whether the child is there and can be asked."""
        return self._process is not None and self._owner == os.getpid() and self._process.poll() is None

    def _start(self) -> subprocess.Popen[bytes]:
        self.close()
        folder = self._folder = Path(tempfile.mkdtemp(prefix="loopless-native-"))
        weakref.finalize(self, _remove, folder, os.getpid())
        package_root = str(Path(__file__).resolve().parents[2])
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": os.pathsep.join([package_root, *filter(None, sys.path)]),
            "HOME": str(folder),
            "LC_ALL": "C",
        }
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "loopless.check.oracle.child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
        self._held = b""
        self._owner = os.getpid()
        return self._process

    def _send(self, request: dict[str, Any]) -> None:
        process = self._process
        if process is None or not self.alive:
            process = self._start()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # a dead child shows by the answer that never comes
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()

    def _receive(self, seconds: float) -> object | None:
        """One line of JSON from the child; ``None`` when it died, or worked or was silent for too long."""
        process = self._process
        if process is None or process.stdout is None:
            return None
        watch: clock.Watch | None = None
        while b"\n" not in self._held:
            ready, _, _ = select.select([process.stdout], [], [], CHILD_GLANCE_S)
            if not ready:
                watch = watch or clock.Watch(process.pid)
                if watch.over(seconds):
                    return None
                continue
            chunk = os.read(process.stdout.fileno(), 1 << 16)
            if not chunk:
                return None
            self._held += chunk
        line, self._held = self._held.split(b"\n", 1)
        return cast(object, json.loads(line))

    def _complaint(self) -> str:
        if self._folder is None:
            return "the child process ended"
        lines = (self._folder / "log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "the child process ended without a word"

    def close(self) -> None:
        """End the child process and remove its folder."""
        if self._owner != os.getpid():  # inherited over a fork: it is not ours to end
            self._process, self._folder, self.loaded = None, None, None
            return
        process, self._process, self.loaded = self._process, None, None
        if process is not None:
            process.kill()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()
            process.wait()
        folder, self._folder = self._folder, None
        if folder is not None:
            _remove(folder, self._owner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _remove(folder: Path, owner: int) -> None:
    """Remove a child's folder, unless this process got it by a fork."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


class NativeOracle:
    """Runs the functions of one program, each run within limits and from the program's initial state."""

    def __init__(
        self,
        program: str | Path | Iterable[Path],
        *,
        options: SourceOptions = _OPTIONS,
        limits: NativeLimits = _LIMITS,
        allow_run: bool = True,
        uninitialised: bool = True,
        ir: bool = False,
        host: NativeHost | None = None,
    ) -> None:
        """``program`` is C text, or paths of files as ``source.load`` takes them; with ``ir``, text of an LLVM module.

        ``uninitialised`` makes what uninitialised integer locals hold an input (:attr:`NativeRun.uninit`), 0 where none
        is given; without it they hold whatever is on the stack, as in a plain run. ``host`` lets several oracles share
        one child process, one after the other.

        Raises:
            RunForbidden: if not ``allow_run``; nothing has been compiled or run then.
            SourceError: if the program does not compile.
        """
        if not allow_run:
            raise RunForbidden(_FORBIDDEN)
        text = _program_ir(program, options, ir=ir)
        self._plain: NativeOracle | None = None
        self._make_plain = (
            partial(
                NativeOracle, program, options=replace(options, reads_stdin=False), uninitialised=uninitialised, ir=ir
            )
            if is_followed(text)
            else None
        )
        narrow = is_narrow(text)
        if narrow:
            text = retarget(text, _runtime())
        self.prepared = prepare(text, uninitialised=uninitialised, narrow=narrow)
        self.limits = limits
        self.sides = 0
        """How many sides of branches are told of each run (:func:`loopless.source.targets.telling`)."""
        self.any_result = False
        """Whether functions are run whose result is a pointer or a floating-point number, which is not told."""
        self._own_host = host is None
        self._host = host or NativeHost(start_seconds=limits.start_seconds)
        self._host.load(self.prepared)

    def __getstate__(self) -> dict[str, Any]:
        """Another process has a child of its own."""
        return {**self.__dict__, "_host": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._own_host, self._host = True, NativeHost(start_seconds=self.limits.start_seconds)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Functions without a body that runs take as inputs, and external variables that start as zero."""
        return self.prepared.assumed

    def signature(self, function: str) -> Signature:
        """The signature of a function of the program.

        Raises:
            UsageError: if there is no such function with debug information.
        """
        found = self.prepared.functions.get(function)
        if found is None:
            known = ", ".join(sorted(one for one in self.prepared.functions if not one.startswith(PREFIX))) or "none"
            raise UsageError(f"the program has no function {function} to run; it has: {known}")
        return found

    def entry(self, function: str) -> str:
        """What is called for a function: its adapter, where it has one."""
        adapter = f"{PREFIX}{function}"
        return adapter if adapter in self.prepared.functions else function

    def run(
        self,
        function: str,
        args: Sequence[Argument] = (),
        *,
        nondet: Sequence[int] = (),
        uninit: Sequence[int] | Mapping[str, int] = (),
        globals: Mapping[str, int] | None = None,
        repeat: bool = False,
        signature: Signature | None = None,
    ) -> Outcome:
        """One run in a process of its own. See :class:`NativeRun` for the inputs."""
        one = NativeRun(args, nondet, uninit, globals or MappingProxyType({}), repeat)
        return self.run_many(function, [one], signature=signature)[0]

    def run_many(
        self, function: str, runs: Sequence[NativeRun], *, isolated: bool = False, signature: Signature | None = None
    ) -> list[Outcome]:
        """The outcomes of many runs of one function, in order.

        All runs that end without a signal share a process, whose globals are reset before each; with ``isolated`` each
        run has its own process, which costs about a millisecond and protects against programs that overwrite memory
        that is not theirs.

        Raises:
            UsageError: if the function or an argument does not fit.
            LimitError: if the child process stops answering.
        """
        outcomes = self._run_many(function, runs, isolated=isolated, signature=signature)
        if self._make_plain is None:
            return outcomes
        return [self._by_bytes(function, run, outcome) for run, outcome in zip(runs, outcomes, strict=True)]

    def _by_bytes(self, function: str, run: NativeRun, drawn: Outcome) -> Outcome:
        """What a run comes to that drew what it read from standard input: where it ended otherwise than by a return,
        how the program as it is written ends with the same as bytes.
        """
        if drawn.status not in ("error-reached", "undefined", "timeout", "unknown") or drawn.drawn == ():
            return drawn
        found = laid_out(drawn.drawn) if drawn.drawn is not None else None
        if found is None or (drawn.status == "unknown" and drawn.detail.startswith("inputs exhausted")):
            return Outcome("unknown", detail="what it reads from standard input is more than is laid out")
        if drawn.status == "timeout" and not found.same:
            return Outcome("unknown", detail="bytes of standard input that are read in the same way are not known")
        if self._plain is None:
            assert self._make_plain is not None
            self._plain = self._make_plain(limits=self.limits)
            self._plain.any_result = self.any_result
        self._plain.limits = self.limits
        self._plain.sides = self.sides
        given = replace(run, nondet=found.nondet, repeat=False, stdin=found.stdin)
        (outcome,) = self._plain.run_many(function, [given])
        return replace(outcome, stdin=found.stdin, nondet=found.nondet)

    def _run_many(
        self, function: str, runs: Sequence[NativeRun], *, isolated: bool, signature: Signature | None
    ) -> list[Outcome]:
        signature = signature or self.signature(function)
        if not (self.any_result and isinstance(signature.result, Opaque) and signature.result.name in IN_REGISTERS):
            check_result(function, signature)
        params = wire_params(function, signature)
        prepared_runs = [self._wire_run(function, signature, run) for run in runs]
        outcomes: list[Outcome] = []
        failures = 0
        while len(outcomes) < len(runs):
            self.ready()
            request = {
                "command": "run",
                "function": function,
                "params": params,
                "result": wire(signature.result) if isinstance(signature.result, CType) else None,
                "limits": {"seconds": self.limits.seconds, "memory_bytes": self.limits.memory_bytes},
                "isolated": isolated,
                "sides": self.sides,
                "runs": prepared_runs[len(outcomes) :],
            }
            before = len(outcomes)
            outcomes += self._host.ask(request, self.limits.seconds)
            failures = failures + 1 if len(outcomes) == before else 0
            if failures > 1:
                raise LimitError(f"the native run of {function} stopped answering; raise the limit on seconds")
        return outcomes

    def ready(self) -> None:
        """Have the program compiled in the child."""
        if not self._host.alive or self._host.loaded is not self.prepared:
            self._host.load(self.prepared)

    def _wire_run(self, function: str, signature: Signature, run: NativeRun) -> dict[str, Any]:
        args: list[Argument] = list(run.args)
        if function == "main" and not args and len(signature.params) >= 2:
            args = [1, *[None] * (len(signature.params) - 1)]
        if len(args) != len(signature.params):
            raise UsageError(f"{function} takes {len(signature.params)} arguments, not {len(args)}")
        for argument, param in zip(args, signature.params, strict=True):
            check_argument(function, argument, param)
        scalars = {variable.name for variable in self.prepared.globals if variable.type is not None}
        for name in run.globals:
            if name not in scalars:
                raise UsageError(f"the program has no scalar global {name}")
        return {
            "args": [list(a) if isinstance(a, Sequence) else a for a in args],  # memory stays as it is
            "nondet": list(run.nondet),
            "repeat": run.repeat,
            "uninit": [] if isinstance(run.uninit, Mapping) else list(run.uninit),
            "chosen": self._chosen(run.uninit) if isinstance(run.uninit, Mapping) else [],
            "globals": dict(run.globals),
            "stdin": run.stdin.hex(),
        }

    def _chosen(self, values: Mapping[str, int]) -> list[tuple[int, int]]:
        """The values for uninitialised locals, by the number of the local in the prepared module."""
        found: list[tuple[int, int]] = []
        for name, value in values.items():
            sites = [n for n, local in enumerate(self.prepared.locals) if name in (local, local.rpartition(".")[2])]
            if not sites:
                raise UsageError(f"the program has no uninitialised integer local {name}")
            found.extend((site, value) for site in sites)
        return found

    def close(self) -> None:
        """End the child process, unless it is shared."""
        if self._plain is not None:
            self._plain.close()
        if self._own_host:
            self._host.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _program_ir(program: str | Path | Iterable[Path], options: SourceOptions, *, ir: bool) -> str:
    """The text of one module with traps, the bodies of stubs in it; modules that come as IR get no traps from a
    compiler.
    """
    options = replace(options, traps=True)
    text = _own_ir(program, options, ir=ir)
    if options.target is not None:
        text = by_bodies(text)
    if options.reads_stdin:
        text = with_inputs(text, options)
    bodies = read_stubs(options.stubs, options).linked(read_module(text, {})) if options.stubs else ()
    return WORKER.link([("the program", text), *bodies], options.timeout_s) if bodies else text


def _own_ir(program: str | Path | Iterable[Path], options: SourceOptions, *, ir: bool) -> str:
    if isinstance(program, str):
        return program if ir else compile_ir(program, options)
    paths = [program] if isinstance(program, Path) else list(program)
    parts = [(str(path), _part(path, options)) for path in paths]
    alone = parts[0][1] if len(parts) == 1 else b""
    return alone if isinstance(alone, str) else WORKER.link(parts, options.timeout_s)


def _part(path: Path, options: SourceOptions) -> str | bytes:
    """The IR of one file: assembly as text, bitcode as bytes."""
    if path.suffix not in IR_SUFFIXES:
        database = options.compile_database
        return compile_ir(path, options, CompileDatabase(database).command(path) if database is not None else None)
    check_file(path)
    return path.read_bytes() if path.suffix == ".bc" else path.read_text(encoding="utf-8")
