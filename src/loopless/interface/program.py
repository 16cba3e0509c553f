"""Programs, functions and loops that can be asked. What was found out is kept: asking again costs nothing."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast, overload

from loopless import source
from loopless.deadline import in_time
from loopless.errors import UsageError
from loopless.interface.calls import CALLED, KeptCalls
from loopless.interface.settings import changed
from loopless.interface.shown import Refusal, refusal_of
from loopless.limits.queries import DEFAULT_REACH_S, DEFAULT_VERIFICATION_S, LEAST_FOR_SUMMARY_S
from loopless.paths import LoopPaths
from loopless.queries.assume.conditions import names_in
from loopless.queries.bounds.answering import METHODS, answer_bounds
from loopless.queries.bounds.answers import FunctionBound, LoopBound
from loopless.queries.call_values.inputs import declared_inputs
from loopless.queries.call_values.reached import Reached
from loopless.queries.evaluation.evaluate import Evaluation
from loopless.queries.functions import FunctionAnswer, answer_functions
from loopless.queries.jobs.effort import shared
from loopless.queries.loops.answer import LoopAnswer, Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.loops.name import LoopName
from loopless.queries.program import AnalyzedFunction, AnalyzedLoop, AnalyzedProgram, deadline
from loopless.queries.selection import check_variables, select_loops
from loopless.queries.settings import Settings
from loopless.queries.shown import Shown
from loopless.queries.verification.verdict import Verdict
from loopless.refusals import Refused
from loopless.report import html
from loopless.report.functions import function_summary
from loopless.report.given_values import listed
from loopless.source.ir import SourceFunction

_SUMMARY: Final = Question(merge=True, entered=True, approximate=True)
_TYPE: Final = Question(summarize=False)
_PATHS: Final = Question(classify=False, summarize=False)


class Loop(Shown, AnalyzedLoop):
    """One loop of a program. Made by :func:`loopless.load`; see ``function.loops`` and ``program[line]``."""

    function: Function
    """The function that it is a loop of; for a copy by inlining, the one that it was copied into."""

    def __init__(self, function: Function, id: LoopName) -> None:
        super().__init__(function, id)
        self._answers: dict[Question, LoopAnswer] = {}
        self._held: dict[tuple[type, Question | str], Any] = {}

    @property
    def file(self) -> str:
        """The file that it stands in."""
        return self.id.file

    @property
    def column(self) -> int:
        """The column that it starts in."""
        return self.id.column

    @property
    def depth(self) -> int:
        """How many loops it stands in, itself included: 1 for outermost ones."""
        return self.id.depth

    @property
    def parent(self) -> Loop | None:
        """The loop around this one."""
        return next((loop for loop in self.function.loops if loop.name == self.id.parent), None)

    @property
    def inner(self) -> tuple[Loop, ...]:
        """The loops inside, those right inside only."""
        return tuple(loop for loop in self.function.loops if loop.id.parent == self.name)

    @property
    def inlined_from(self) -> str | None:
        """The place of the call through which its text came into ``function``; None: it stands there."""
        return self.id.inlined_from

    @property
    def refused(self) -> Refused | None:
        """What makes it no loop that can be answered, as irreducible control flow."""
        return self.id.refused

    def summarize(self, vars: Iterable[str] | str | None = None, assume: str | None = None) -> LoopAnswer | Refused:
        """What the loop does to ``vars`` (default: what it changes and is used after it), as ``loopless summarize``.

        ``vars`` are names, or one text as ``"x, z"``; ``assume`` is a C condition on the entry values.
        Raises ``UsageError`` for a name that is no variable there, and a condition that no entry state satisfies.
        """
        question = self._question(vars, assume, merge=True, entered=True, approximate=True)
        answer = self._ask(question)
        return answer if answer.summary is not None else self._refused(question, answer)

    def classify(self) -> LoopAnswer | Refused:
        """The loop's type (1 to 4) and what it follows from, as ``loopless classify``."""
        answer = self._ask(_TYPE)
        return answer if answer.type is not None else self._refused(_TYPE, answer)

    def automaton(self, vars: Iterable[str] | str | None = None, assume: str | None = None) -> LoopAnswer | Refused:
        """The loop's path dependency automaton, as ``loopless summarize --format svg``.

        ``vars`` and ``assume`` as in :meth:`summarize`.
        """
        question = self._question(vars, assume, classify=False, summarize=False, draw=True)
        answer = self._ask(question)
        return answer if answer.automaton is not None else self._refused(question, answer)

    def bound(self, method: str = "all") -> LoopBound:
        """How often the loop runs, in a call of its function and in one entry, as ``loopless bound``.

        ``method``: "all", or "looperman" for its algorithm alone. Where nothing is known ``upper`` is None and
        ``refused`` says why.
        """
        held: LoopBound | None = self._held.get((LoopBound, method))
        if held is None:
            held = next(bound for bound in self.function.bound(method).loops if bound.name == self.name)
            self._held[LoopBound, method] = held
        return held

    @property
    def paths(self) -> LoopPaths | Refused:
        """The paths through the loop's body."""
        answer = self._ask(_PATHS)
        return answer.paths if answer.paths is not None else self._refused(_PATHS, answer)

    def _question(self, vars: Iterable[str] | str | None, assume: str | None, **asked: bool) -> Question:
        names = _names(vars)
        with in_time(deadline(self.function.program.settings)):
            spoken_of = names_in(assume) if assume is not None else ()
            check_variables([self], (*(names or ()), *spoken_of))
        return Question(names, assume, **asked)

    def _ask(self, question: Question) -> LoopAnswer:
        return _answer([self], question)[0]

    def _refused(self, question: Question, answer: LoopAnswer) -> Refusal:
        held: Refusal = self._held.setdefault((Refusal, question), refusal_of(answer))
        return held

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.getitem, (self.function, self.name)


def _names(vars: Iterable[str] | str | None) -> tuple[str, ...] | None:
    """The names of ``vars``."""
    if vars is None:
        return None
    names = tuple(name.strip() for name in (vars.split(",") if isinstance(vars, str) else vars) if name.strip())
    if not names:
        raise UsageError("vars names no variable; leave it out for those that are used later")
    return names


def _answer(loops: Sequence[Loop], question: Question) -> list[LoopAnswer]:
    """What is known of the loops, after finding out what is not known yet, several at once."""
    missing = [loop for loop in loops if question not in loop._answers]  # noqa: SLF001
    if missing:
        whole = missing[0].function.program.settings
        settings, until = shared(whole, len(missing), LEAST_FOR_SUMMARY_S), deadline(whole)
        for loop, answer in zip(missing, answer_all(missing, question, settings, until), strict=True):
            loop._answers[question] = answer  # noqa: SLF001
    return [loop._answers[question] for loop in loops]  # noqa: SLF001


class Function(Shown, AnalyzedFunction):
    """One defined function, with the small functions that it calls inlined into it.

    Iterating gives its loops; ``function[line]`` is the loop that starts in that line, ``function[name]`` the one of
    that name. Made by :func:`loopless.load`; see ``program[name]``.
    """

    program: Program
    """The program that it is a function of."""

    def __init__(self, program: Program, code: SourceFunction) -> None:
        super().__init__(program, code)
        self._summary: FunctionAnswer | Refused | None = None
        self._bounds: dict[str, FunctionBound] = {}
        self._calls: KeptCalls | None = None

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops in textual order, those of inlined functions included."""
        with in_time(deadline(self.program.settings)):
            return cast("tuple[Loop, ...]", super().loops)

    def _loop(self, id: LoopName) -> Loop:
        return Loop(self, id)

    def __iter__(self) -> Iterator[Loop]:
        return iter(self.loops)

    def __len__(self) -> int:
        return len(self.loops)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, place: int | str) -> Loop:
        """The loop that starts in this line, or of this name. Raises ``UsageError`` that lists those there are."""
        found = [loop for loop in self.loops if place in (loop.line, loop.name)]
        if len(found) == 1:
            return found[0]
        names = [loop.name for loop in found or self.loops]
        if found:
            raise UsageError(f"several loops of {self.name} start in line {place}; name one of {listed(names)}")
        raise UsageError(f"there is no loop {place!r} in {self.name}; its loops are {listed(names)}")

    def __contains__(self, place: object) -> bool:
        return any(place in (loop, loop.line, loop.name) for loop in self.loops)

    def summarize(self) -> FunctionAnswer | Refused:
        """What a call of the function does, as ``loopless summarize --whole``."""
        if self._summary is None:
            settings = self.program.settings
            until = deadline(settings)
            with in_time(until):
                self.graph()
            (answer,) = answer_functions([self], Question(classify=False), settings, until)
            self._summary = _function_summary(answer)
        return self._summary

    def bound(self, method: str = "all") -> FunctionBound:
        """How often the loops of the function run in a call of it, as ``loopless bound``.

        ``method``: "all", or "looperman" for its algorithm alone. Where nothing is known ``upper`` is None and
        ``refused`` says why.
        """
        _bound([self], method)
        return self._bounds[method]

    def evaluate(self, /, *arguments: Any, nondet: Iterable[int] = (), **by_name: Any) -> Evaluation:
        """The result of a call, as ``loopless eval``: loops whose summary is complete are jumped over.

        Arguments stand in their order or have their names. One is an integer, for a pointer a list of integers (an
        array of another library will do), a string (with its terminator), the bytes of the memory, or None for the null
        pointer. ``nondet``: the inputs that the call reads, in their order.

        ``timeout_s`` of the settings, or a minute, is the limit for each call. Raises ``UsageError`` for arguments that
        the function does not take.
        """
        if self._calls is None:
            self._calls = KeptCalls(self, self.program.settings, lambda: _answer(self.loops, CALLED))
        return self._calls.evaluate(arguments, by_name, nondet)

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.getitem, (self.program, self.code.name)


def _bound(functions: Sequence[Function], method: str) -> None:
    """Find out the bounds that are not known yet, those of several functions at once."""
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r}; there are {listed(METHODS)}")
    missing = [function for function in functions if method not in function._bounds]  # noqa: SLF001
    if not missing:
        return
    settings = missing[0].program.settings
    until = deadline(settings)
    with in_time(until):
        for function in missing:
            function.graph()
    for function, answer in zip(missing, answer_bounds(missing, method, settings, until), strict=True):
        function._bounds[method] = replace(answer, declared=declared_inputs(function))  # noqa: SLF001


def _function_summary(answer: FunctionAnswer) -> FunctionAnswer | Refused:
    if answer.summary is not None:
        return answer
    assert answer.refused is not None
    return Refusal(answer.refused, function_summary(answer), html.function_summary(answer))


class Program(Shown, AnalyzedProgram):
    """A program in memory, read under ``settings``.

    Iterating gives its functions; ``program["f"]`` is the function of that name, ``program[12]`` the loop that starts
    in line 12, and ``program.loop("a.c:12")`` the one at a place. Made by :func:`loopless.load`.
    """

    @property
    def functions(self) -> tuple[Function, ...]:
        """The defined functions, by file in the order given, then by line."""
        return cast("tuple[Function, ...]", super().functions)

    def _function(self, code: SourceFunction) -> Function:
        return Function(self, code)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops of all functions where they stand in the source (copies by inlining left out)."""
        return cast("tuple[Loop, ...]", super().loops)

    def __iter__(self) -> Iterator[Function]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    def __bool__(self) -> bool:
        return True

    @overload
    def __getitem__(self, key: str) -> Function: ...
    @overload
    def __getitem__(self, key: int) -> Loop: ...
    def __getitem__(self, key: str | int) -> Function | Loop:
        """The function of this name, or the loop that starts in this line. Raises ``UsageError`` that lists those there
        are.
        """
        if isinstance(key, int):
            return self.loop(str(key))
        return cast("Function", super().__getitem__(key))

    def __contains__(self, key: object) -> bool:
        return any(key in (function, function.name) for function in self.functions)

    def loop(self, place: str) -> Loop:
        """The loop at a place: ``FILE:LINE``, ``LINE``, or its full name. Raises ``UsageError`` where there is none, or
        are several.
        """
        with in_time(deadline(self.settings)):
            found = select_loops(self, (), [place])
        if len(found) > 1:
            raise UsageError(f"there are several loops at {place}: {listed(loop.name for loop in found)}")
        return cast("Loop", found[0])

    def summarize(self) -> tuple[LoopAnswer | Refused, ...]:
        """The summaries of all ``loops``, in their order; several are worked on at once."""
        _answer(self.loops, _SUMMARY)
        return tuple(loop.summarize() for loop in self.loops)

    def bound(self, method: str = "all") -> tuple[FunctionBound, ...]:
        """The bounds of all functions with loops, in their order; several are worked on at once."""
        functions = [function for function in self.functions if function.is_listed and function.loops]
        _bound(functions, method)
        return tuple(function.bound(method) for function in functions)

    def verify(self, property: str = "unreach-call", timeout_s: float | None = None) -> Verdict:
        """Whether every run from ``main`` has a property, as ``loopless verify``: "unreach-call" (no assertion is
        false), "termination" or "no-overflow". ``timeout_s``: seconds for all of it; None: the settings' limit, or
        60.

        Raises ``UsageError`` for a property that is not known, and a program without ``main``.
        """
        from loopless.check.certificates.property import Property
        from loopless.queries.verification.answering import verify

        known = {one.value: one for one in Property}
        if property not in known:
            raise UsageError(f"there is no property {property!r}; there are {', '.join(known)}")
        seconds = timeout_s if timeout_s is not None else self.settings.timeout_s or DEFAULT_VERIFICATION_S
        return verify(self, known[property], self.settings, seconds=seconds)

    def reach(  # noqa: PLR0913
        self,
        line: int | str | None = None,
        call: str | None = None,
        when: str | None = None,
        function: str | None = None,
        minimize: str = "",
        timeout_s: float | None = None,
        *,
        hang: bool = False,
        rounds: int | None = None,
    ) -> Reached:
        """Which inputs lead to a ``line`` (its number, or "FILE:N"; with ``when``, a condition of C, where that holds
        just before it) or to a ``call`` of a function, or that none do, as ``loopless reach``. ``function``: the one
        that is called (None: ``main``, or where there is none the one of the line); ``minimize``: "run" or "inputs".
        With ``hang`` instead: to a run of the function that never ends, or with ``rounds`` takes more rounds of a loop
        than so many. ``timeout_s``: seconds for all of it; None: the settings' limit, or 60.

        Raises ``UsageError`` for what is no place.
        """
        from loopless.queries.reach.answering import reach
        from loopless.queries.reach.places import place_of

        if minimize not in ("", "run", "inputs"):
            raise UsageError(f"there is nothing to minimize called {minimize!r}; there are 'run' and 'inputs'")
        files = [Path(file) for file in self.files]
        if hang:
            if line is not None or call is not None or when is not None or minimize:
                raise UsageError("hang=True is about runs that never end; leave out line, call, when and minimize")
            from loopless.queries.reach.hang import hang as hanging

            seconds = timeout_s if timeout_s is not None else self.settings.timeout_s or DEFAULT_REACH_S
            return hanging(files, function, self.settings, rounds=rounds, seconds=seconds)
        if rounds is not None:
            raise UsageError("rounds is of hang=True; give that, too")
        target = place_of(files, None if line is None else str(line), call, when)
        seconds = timeout_s if timeout_s is not None else self.settings.timeout_s or DEFAULT_REACH_S
        return reach(files, target, function, self.settings, seconds=seconds, minimize=minimize)

    def with_settings(self, **changes: Any) -> Program:
        """The same program under other settings, of which nothing is known yet; this one stays as it is.

        ``changes`` are fields of :class:`loopless.Settings`, as ``loop_timeout_s=60`` or ``wrapv=True``. Raises
        ``UsageError`` for others, and for those of the compiler: load the files again with these.
        """
        return Program(self.source, changed(self.settings, changes, loaded=True))

    def _ipython_key_completions_(self) -> list[str]:
        return [function.name for function in self.functions]


def load(paths: Iterable[Path | str] | Path | str, settings: Settings | None = None, **options: Any) -> Program:
    """Read a program: C, C++, LLVM assembly or bitcode, several files linked together.

    ``options`` are fields of :class:`loopless.Settings` (``mathematical``, ``wrapv``, ``loop_timeout_s``,
    ``loop_memory_mb``, ``timeout_s``, ``workers``, ``sandboxed``) and of the compiler's (``data_model`` "ILP32" or
    "LP64", ``clang``, ``flags``, ``compile_database``, ``stubs``: C files that say what functions do which the program
    only declares). They change ``settings``. ``timeout_s`` counts for reading the
    program and for each question.

    Raises:
        UsageError: no file is named, or there is no such option.
        SourceError: a file is missing, or does not compile, or is IR of another version.
        LimitError: the compiler took too long.
    """
    chosen = changed(settings or Settings(), options)
    with in_time(deadline(chosen)):
        return Program(source.load(paths, chosen.source), chosen)
