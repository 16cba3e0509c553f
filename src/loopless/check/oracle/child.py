"""The child process that compiles one program and runs it, one short-lived fork per batch of runs.

Started by :class:`loopless.check.oracle.native.NativeHost` as ``python -m loopless.check.oracle.child``; speaks JSON
lines on its standard input and output. The process itself never executes the user's code: each batch runs in a fork
with resource limits, whose death (by a signal, or at the time limit) ends one run and is reported as its outcome, after
which a new fork goes on with the next run.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import resource
import select
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from loopless import clock
from loopless.check.oracle.runtime import ENDINGS, TRAP_KINDS
from loopless.errors import SourceError
from loopless.limits.check import FORK_GLANCE_S, GUARD_BYTES, MAX_DRAWS, SILENT_GRACE_S
from loopless.records import dataclass
from loopless.source.jit import Jit

_SIGNALS = {
    signal.SIGPROF: ("timeout", "still running at the time limit"),
    signal.SIGXCPU: ("timeout", "still running at the limit on processor time"),
    signal.SIGILL: ("undefined", "trap for undefined behaviour"),
    signal.SIGTRAP: ("undefined", "trap for undefined behaviour"),
    signal.SIGFPE: ("undefined", "arithmetic exception of the processor"),
}
_GUARD = mmap.PAGESIZE


@dataclass(frozen=True, slots=True)
class _Type:
    """An integer type as the request spells it."""

    bits: int
    signed: bool
    boolean: bool

    @property
    def size(self) -> int:
        return max(1, self.bits // 8)

    def wrap(self, value: int) -> int:
        if self.boolean:
            return int(value & 255 != 0)
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value

    def read(self, raw: bytes) -> tuple[int, ...]:
        size = self.size
        return tuple(
            int.from_bytes(raw[at : at + size], sys.byteorder, signed=self.signed) for at in range(0, len(raw), size)
        )

    def write(self, values: Sequence[int]) -> bytes:
        mask = (1 << self.bits) - 1
        return b"".join((self.wrap(value) & mask).to_bytes(self.size, sys.byteorder) for value in values)


class _Program:
    """A compiled program with its runtime, ready to be called."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.runtime = Jit(request["runtime"])
        for name in request["needs"]:
            Jit.add_symbol(f"loopless_{name}", self.runtime.address(f"loopless_{name}"))
        self.jit = Jit(request["program"])
        self.unresolved: list[str] = request["unresolved"]
        self.scalars = {name: (index, _Type(*ctype)) for name, index, ctype in request["scalars"]}
        self.count: int = request["variables"]
        table = self.jit.address("loopless.table")
        cells = (ctypes.c_uint64 * max(2, 2 * self.count)).from_address(table)
        self.variables = [(cells[2 * i], cells[2 * i + 1]) for i in range(self.count)]
        self.table = table
        self.saved = ctypes.create_string_buffer(max(1, sum(size for _, size in self.variables)))
        self.save = self._function("save", ctypes.c_void_p, ctypes.c_longlong, ctypes.c_void_p)
        self.restore = self._function("restore", ctypes.c_void_p, ctypes.c_longlong, ctypes.c_void_p)
        self.inputs = self._function("inputs", *[ctypes.c_void_p, ctypes.c_longlong] * 2, ctypes.c_void_p)
        self.locals: int = request["locals"]
        self.covered = self.runtime.address("loopless_covered")
        self.ending = self._function("ending", ctypes.c_void_p, ctypes.c_void_p)
        self.call = self._function("call", ctypes.c_void_p, ctypes.c_longlong, ctypes.c_void_p, ctypes.c_void_p)
        self.save(self.table, self.count, ctypes.addressof(self.saved))
        self.draws: ctypes.Array[ctypes.c_longlong] | None = None
        if any(name.startswith("stdin_") for name in request["needs"]):
            self._watch_draws()

    def _watch_draws(self) -> None:
        """Have what runs draw written to memory that forks share with the server, which survives them."""
        room = mmap.mmap(-1, 8 * (1 + 2 * MAX_DRAWS))
        self.draws = (ctypes.c_longlong * (1 + 2 * MAX_DRAWS)).from_buffer(room)
        self._function("draws", ctypes.c_void_p, ctypes.c_longlong)(ctypes.addressof(self.draws), MAX_DRAWS)

    def drawn(self) -> list[int] | None:
        """What the last run drew, kinds and values by turns; None where that is not known."""
        if self.draws is None or self.draws[0] > MAX_DRAWS:
            return None
        return self.draws[1 : 1 + 2 * self.draws[0]]

    def _function(self, name: str, *types: Any) -> Any:
        return ctypes.CFUNCTYPE(None, *types)(self.runtime.address(f"loopless_{name}"))

    def set_global(self, name: str, value: int) -> None:
        index, ctype = self.scalars[name]
        ctypes.memmove(self.variables[index][0], ctype.write([value]), ctype.size)

    def read_global(self, name: str) -> int:
        index, ctype = self.scalars[name]
        return ctype.read(ctypes.string_at(self.variables[index][0], ctype.size))[0]


class _Buffer:
    """Memory for one pointer argument, so placed that what is after its end, or far before it, cannot be accessed."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._room = 0
        self._map: mmap.mmap | None = None
        self._end = 0

    def place(self, raw: bytes) -> int:
        """Copy ``raw`` in front of the guard page and return its address."""
        if self._map is None or len(raw) > self._room:
            pages = -(-max(1, len(raw)) // _GUARD)
            self._room = pages * _GUARD
            self._map = mmap.mmap(-1, GUARD_BYTES + self._room + GUARD_BYTES)
            start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
            self._end = start + GUARD_BYTES + self._room
            for guard in (start, self._end):
                self._libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(GUARD_BYTES), 0)
        at = self._end - len(raw)
        ctypes.memmove(at, raw, len(raw))
        return at


def _longs(values: Sequence[int]) -> ctypes.Array[ctypes.c_longlong]:
    return (ctypes.c_longlong * max(1, len(values)))(*[_signed64(value) for value in values])


def _signed64(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


class _Runner:
    """Carries out runs of one function inside a fork."""

    def __init__(self, program: _Program, request: dict[str, Any]) -> None:
        self.program = program
        self.address = program.jit.address(request["function"])
        self.params: list[tuple[str, _Type | None]] = [
            (kind, _Type(*ctype) if ctype else None) for kind, ctype in request["params"]
        ]
        self.result = _Type(*request["result"]) if request["result"] else None
        self.seconds: float = request["limits"]["seconds"]
        self.sides: int = request.get("sides", 0)
        self.buffers = [_Buffer() for _ in self.params]
        self.facts = (ctypes.c_longlong * 4)()
        self.text = ctypes.c_char_p()

    def run(self, one: dict[str, Any]) -> list[Any]:
        """One run; the answer is [status, return value, outputs, globals, detail], and which of so many numbers were
        covered where that is asked.
        """
        sides = self.sides
        if sides:
            ctypes.memset(self.program.covered, 0, sides)
        answer = self._ran(one)
        if sides:
            told = ctypes.string_at(self.program.covered, sides)
            answer.append([number for number, taken in enumerate(told) if taken])
        return answer

    def _ran(self, one: dict[str, Any]) -> list[Any]:
        program = self.program
        program.restore(program.table, program.count, ctypes.addressof(program.saved))
        for name, value in one["globals"].items():
            program.set_global(name, value)
        cells, places = self._arguments(one["args"])
        stream, fresh = _longs(one["nondet"]), _longs(one["uninit"])
        chosen = (ctypes.c_longlong * (2 * program.locals + 1))()  # for each local, whether it is chosen, and its value
        for site, value in one["chosen"]:
            chosen[2 * site], chosen[2 * site + 1] = 1, _signed64(value)
        count = len(one["nondet"])
        program.inputs(
            ctypes.addressof(stream),
            -count if one.get("repeat") else count,
            ctypes.addressof(fresh),
            len(one["uninit"]),
            ctypes.addressof(chosen),
        )
        result = ctypes.c_longlong(0)
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        program.call(self.address, len(cells), ctypes.addressof(_cells := _longs(cells)), ctypes.addressof(result))
        signal.setitimer(signal.ITIMER_PROF, 0)
        del _cells
        program.ending(ctypes.addressof(self.facts), ctypes.addressof(self.text))
        status = ENDINGS[self.facts[0]]
        if status in ("undefined", "unknown"):
            return [status, None, [], {}, self._detail()]
        value = self.result.wrap(result.value) if self.result is not None and status == "ok" else None
        outputs = [self._output(index, place) for index, place in places]
        return [status, value, outputs, {name: program.read_global(name) for name in program.scalars}, self._detail()]

    def _arguments(self, args: list[Any]) -> tuple[list[int], list[tuple[int, tuple[int, int]]]]:
        cells: list[int] = []
        places: list[tuple[int, tuple[int, int]]] = []
        del self.buffers[len(self.params) :]  # what pointers in memory led to in the run before
        self.named: dict[int | str, int] = {}  # where arguments, by their numbers, and pointers in memory lead
        self.led_back: list[tuple[int, int | str, int]] = []  # pointers that lead there, too, and how many bytes behind
        for index, ((kind, ctype), argument) in enumerate(zip(self.params, args, strict=True)):
            if kind == "argv":
                words = [bytes.fromhex(one) for one in argument["words"]] if argument is not None else [b"program"]
                cells.append(self._vector(words))
            elif kind == "null":
                cells.append(0 if argument is None else self._memory(argument) + argument["start"])
            elif kind == "pointer" and argument is None:
                cells.append(0)
                places.append((index, (0, 0)))
            elif kind == "pointer":
                assert ctype is not None
                raw = ctype.write(argument)
                cells.append(self.buffers[index].place(raw))
                places.append((index, (cells[-1], len(raw))))
            else:
                assert ctype is not None
                cells.append(ctype.wrap(argument))
            self.named[index] = cells[-1]
        for place, same, at in self.led_back:
            ctypes.memmove(place, (self.named[same] + at).to_bytes(8, sys.byteorder), 8)
        return cells, places

    def _vector(self, words: Sequence[bytes]) -> int:
        """The address of an argv with these words."""
        places = []
        for word in words:
            self.buffers.append(_Buffer())
            places.append(self.buffers[-1].place(word + b"\0"))
        self.buffers.append(_Buffer())
        raw = b"".join(place.to_bytes(8, sys.byteorder) for place in (*places, 0))
        return self.buffers[-1].place(raw)

    def _memory(self, given: dict[str, Any]) -> int:
        """The address of memory as it is described, with what its pointers lead to."""
        raw = bytearray.fromhex(given["content"])
        raw.extend(bytes(-len(raw) % 16))  # aligned for all that may lie in it
        for offset, inner, at in given["pointers"]:
            if "same" not in inner:
                place = self._memory(inner)
                self.named[inner["name"]] = place + inner["start"]
                raw[offset : offset + 8] = (place + at).to_bytes(8, sys.byteorder)
        buffer = _Buffer()
        self.buffers.append(buffer)
        place = buffer.place(bytes(raw))
        back = [(offset, inner["same"], at) for offset, inner, at in given["pointers"] if "same" in inner]
        self.led_back += [(place + offset, same, at) for offset, same, at in back]
        return place

    def _output(self, index: int, place: tuple[int, int]) -> tuple[int, ...]:
        ctype = self.params[index][1]
        assert ctype is not None
        return ctype.read(ctypes.string_at(*place)) if place[1] else ()

    def _detail(self) -> str:
        status, kind, value = ENDINGS[self.facts[0]], self.facts[1], self.facts[2]
        text = (self.text.value or b"").decode("utf-8", "replace")
        match status:
            case "aborted":
                return f"exit({value})" if kind else "abort"
            case "error-reached":
                return f"assertion false: {text}" if kind == 1 else text
            case "undefined":
                what = TRAP_KINDS.get(kind, f"check {kind} of the compiler")
                return f"{what}, line {value}" if value else what
            case "unknown" if kind:
                return f"calls {self.program.unresolved[value]}, which native runs do not provide"
            case "unknown":
                return f"inputs exhausted: the program asked for more than {value}"
            case _:
                return ""


def limit_process(limits: dict[str, Any], runs: int) -> None:
    """Bound what this process can do; called in the fork, before any of the user's code."""
    seconds = int(limits["seconds"] * runs) + 2
    page = resource.getpagesize()
    try:
        used = int(Path("/proc/self/statm").read_bytes().split()[0]) * page
    except OSError:
        used = 1 << 30
    for what, bound in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, used + limits["memory_bytes"]),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 0),
    ):
        _, hard = resource.getrlimit(what)
        soft = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(what, (soft, soft))
    for number in (signal.SIGPROF, signal.SIGXCPU, signal.SIGILL, signal.SIGTRAP, signal.SIGFPE, signal.SIGSEGV):
        signal.signal(number, signal.SIG_DFL)


def _in_fork(program: _Program, request: dict[str, Any], first: int, last: int, to: int, keep: Sequence[int]) -> None:
    """The life of a fork: run the requested range, one line of JSON per run to ``to``; never returns."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        for number in keep:
            os.close(number)
        _die_with_parent()
        _give_standard_input(request["runs"][first])
        runner = _Runner(program, request)
        limit_process(request["limits"], last - first)
        for one in request["runs"][first:last]:
            os.write(to, json.dumps(runner.run(one)).encode() + b"\n")
        os._exit(0)
    except BaseException as error:  # noqa: BLE001 - the fork must never return into the server's loop
        os.write(to, json.dumps(["unknown", None, [], {}, f"native run failed: {error!r}"]).encode() + b"\n")
        os._exit(3)


def _answers(program: _Program, request: dict[str, Any], keep: Sequence[int]) -> Iterator[list[Any]]:
    """The outcome of every requested run, in order, over as many forks as it takes."""
    apart = request["isolated"] or program.draws is not None or any(one.get("stdin") for one in request["runs"])
    total, step = len(request["runs"]), 1 if apart else len(request["runs"])
    done = 0
    while done < total:
        last = min(total, done + step)
        source, sink = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(source)
            _in_fork(program, request, done, last, sink, keep)
        os.close(sink)
        for line in _lines(source, pid, request["limits"]["seconds"]):
            done += 1
            yield _with_draws(json.loads(line), program)
        os.close(source)
        _, status = os.waitpid(pid, 0)
        if done < last:
            done += 1
            yield _with_draws(_death(status), program)


def _with_draws(answer: list[Any], program: _Program) -> list[Any]:
    """The answer about a run with what it drew, where standard input is laid out."""
    return answer if program.draws is None else [*answer[:6], *([[]] if len(answer) < 6 else []), program.drawn()]


def _give_standard_input(run: dict[str, Any]) -> None:
    """Put the bytes that a run reads, if there are some, in the place of standard input."""
    if run.get("stdin"):
        with tempfile.TemporaryFile() as file:
            file.write(bytes.fromhex(run["stdin"]))
            file.flush()
            file.seek(0)
            os.dup2(file.fileno(), 0)


def _lines(source: int, pid: int, seconds: float) -> Iterator[bytes]:
    """Lines from a fork, which is killed when it is silent for longer than one run may take: its own timer counts only
    the work of the processor.
    """
    held = b""
    watch: clock.Watch | None = None
    while True:
        ready, _, _ = select.select([source], [], [], FORK_GLANCE_S)
        if not ready:
            watch = watch or clock.Watch(pid)
            if watch.over(seconds + SILENT_GRACE_S):
                os.kill(pid, signal.SIGKILL)
                return
            continue
        chunk = os.read(source, 1 << 16)
        if not chunk:
            return
        watch = None
        *whole, held = (held + chunk).split(b"\n")
        yield from whole


def _death(status: int) -> list[Any]:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL:
            return ["timeout", None, [], {}, clock.CUT_BY_WALL]
        known = _SIGNALS.get(signal.Signals(number))
        if known:
            return [known[0], None, [], {}, known[1]]
        return ["crashed", None, [], {}, f"killed by {signal.Signals(number).name}"]
    return ["crashed", None, [], {}, f"the process ended with status {os.waitstatus_to_exitcode(status)}"]


def _die_with_parent() -> None:
    """No run outlives the server, whose own life ends with its input."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


def serve(commands: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the input ends: ``load`` a program, then ``run`` it, any number of times."""
    program: _Program | None = None
    keep = (commands.fileno(), answers.fileno())
    for line in commands:
        request = json.loads(line)
        if request["command"] == "load":
            program, complaint = None, ""
            try:
                program = _Program(request)
            except SourceError as error:
                complaint = str(error)
            gc.collect()
            gc.freeze()
            answers.write(json.dumps(complaint).encode() + b"\n")
        else:
            before = clock.now() + clock.of_ended_children()
            for answer in _answers(cast(_Program, program), request, keep):
                answers.write(json.dumps(answer).encode() + b"\n")
                answers.flush()  # the parent waits for each answer only as long as one run may take
            worked = clock.now() + clock.of_ended_children() - before
            answers.write(json.dumps({"worked": worked}).encode() + b"\n")
        answers.flush()


def main() -> None:
    """Take over standard input and output for the protocol, so that user code can never write to it."""
    commands, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    serve(commands, answers)


if __name__ == "__main__":
    main()
