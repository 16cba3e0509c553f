"""Programs in memory, their functions and their loops, with what was found out on the way to answers.

:mod:`loopless.interface` adds the verbs to them: its classes are derived from these.
"""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loopless import clock, source
from loopless.deadline import not_interrupted
from loopless.errors import UsageError
from loopless.graphs import cycles
from loopless.limits.queries import LOADED_S
from loopless.patterns import pattern
from loopless.queries.bounds.repetitions import repetitions
from loopless.queries.jobs.overrun import Overrun, failure
from loopless.queries.loops.name import LoopName, split_place
from loopless.queries.settings import Settings
from loopless.refusals import Reason, Refused
from loopless.source.compile import IR_SUFFIXES, check_source
from loopless.source.inlining import returns_twice
from loopless.source.standard_input import is_body

if TYPE_CHECKING:
    from loopless.bounds.callees.effects import Transformers
    from loopless.flowgraph.callees.call_graph import CallGraph, ReachedFunctions
    from loopless.flowgraph.callees.summaries import CalleeSummaries
    from loopless.flowgraph.model import Flowgraph, LoopInfo
    from loopless.queries.returning import Returning
    from loopless.source.ir import SourceFunction
    from loopless.source.loc import Loc
    from loopless.summary import KnownLoops


class AnalyzedLoop:
    """One loop of a program."""

    def __init__(self, function: AnalyzedFunction, id: LoopName) -> None:
        self.function = function
        self.id = id

    @property
    def name(self) -> str:
        """``file:function:line:column``, with a suffix where that is not unique."""
        return self.id.name

    @property
    def line(self) -> int:
        """The line that the loop starts in."""
        return self.id.line

    @property
    def parent(self) -> AnalyzedLoop | None:
        """The loop around this one."""
        return next((loop for loop in self.function.loops if loop.name == self.id.parent), None)

    def __repr__(self) -> str:
        return f"<loop {self.name}>"


class AnalyzedFunction:
    """One defined function: with the small functions that it calls inlined into it."""

    def __init__(self, program: AnalyzedProgram, code: SourceFunction) -> None:
        self.program = program
        self.code = code
        self._graph: Flowgraph | Refused | Overrun | None = None
        self._untold: Flowgraph | None = None
        self._written: Flowgraph | None = None
        self._recursion: Refused | None = None

    @property
    def name(self) -> str:
        """The name in the source."""
        return self.code.source_name

    def graph(self) -> Flowgraph | Refused:
        """The function as blocks and edges, a linear recursion as the loop it is; built when first asked for."""
        if self._graph is None:
            self._build()
        assert self._graph is not None
        if isinstance(self._graph, Overrun):
            return self._graph.refused(self.place)
        return self._graph

    def _build(self) -> None:
        from loopless.flowgraph import Options, as_loop, build
        from loopless.queries.returning import told

        module = self.program.source.inlined
        settings = self.program.settings
        options = Options(settings.mathematical, settings.wrapv, settings.apart)
        try:
            built = build(module.functions[self.code.name], module, options)
            if built.refused is not None:
                self._graph, self._untold = built.refused, built
                return
            built = self._without_overflow(built)
            self._graph = self._written = built = told(built, self.program.callees)
            found = as_loop(module.functions[self.code.name], module, options)
        except Exception as error:  # noqa: BLE001  # a bug in reading one function must not take the others with it
            self._graph = failure(error)
            return
        if isinstance(found, Refused):
            self._recursion = found
        elif found is not None:
            self._graph = told(self._without_overflow(found), self.program.callees)

    def _without_overflow(self, graph: Flowgraph) -> Flowgraph:
        """The function without overflow, where the program is to be that way."""
        which = self.program.settings.exact
        if not which:
            return graph
        from loopless.check.interpreter.relevance import controlling
        from loopless.flowgraph.exact_arithmetic import with_exact_arithmetic

        return with_exact_arithmetic(graph, controlling(graph) if which == "beside control" else None)

    @property
    def without_overflow(self) -> AnalyzedFunction:
        """The same function of :attr:`AnalyzedProgram.without_overflow`."""
        return self.program.without_overflow.functions[self.program.functions.index(self)]

    @property
    def in_exact_arithmetic(self) -> AnalyzedFunction:
        """The same function of :attr:`AnalyzedProgram.in_exact_arithmetic`."""
        return self.program.in_exact_arithmetic.functions[self.program.functions.index(self)]

    @functools.cached_property
    def over_cells(self) -> Flowgraph | Refused:
        """The function in which scalars in memory are variables of the loops through which they can be followed: for
        counting iterations, not for running it.
        """
        from loopless.bounds.iteration.memory_cells import with_cells

        found = self.graph()
        # The locals of a recursion that is read as a loop are others in each of its calls.
        return found if isinstance(found, Refused) or not self.is_as_written else with_cells(found)

    @functools.cached_property
    def over_streams(self) -> Flowgraph | Refused:
        """The function whose loops, where they take something from outside, read it as streams, and so does what is
        around them: for answers, not for running it.
        """
        from loopless.flowgraph.callees.streams import with_streams

        found = self.graph()
        return found if isinstance(found, Refused) else with_streams(found)

    @property
    def is_stub(self) -> bool:
        """Whether it is not of the program, but of what users say of functions that the program only declares."""
        return self.code.loc is not None and self.code.loc.file in self.program.stub_files

    @property
    def is_listed(self) -> bool:
        """Whether listings have it: it is of the program, and not the text of another one, compiled again."""
        name = self.code.name
        return not self.is_stub and name not in self.program.repeated and not is_body(name)

    @functools.cached_property
    def stubs(self) -> tuple[str, ...]:
        """What answers about it take for granted: what users say of the functions that its calls may come to."""
        known = self.program.source.module.stubs
        if not known:
            return ()
        names = (self.code.name, *self.program.call_graph.of((self.code.name,)).names)
        found = {name for name in names if name in known} - {self.code.name}
        bodies = self.program.source.module.functions
        for name in dict.fromkeys(names):
            called = (i.callee_name for i in bodies[name].instructions())
            found |= {callee for callee in called if callee is not None and callee in known}
        return tuple(known[name].granted for name in sorted(found))

    @property
    def is_as_written(self) -> bool:
        """Whether the flowgraph is the function itself, not a recursion as a loop."""
        return self.graph() is self._written

    def as_written(self) -> Flowgraph | Refused:
        """The function as blocks and edges in which a recursion is calls: what judges run."""
        found = self.graph()
        return found if self._written is None else self._written

    @functools.cached_property
    def inner(self) -> KnownLoops:
        """What was found out about loops inside others; it grows with what is asked."""
        from loopless.summary import KnownLoops

        return KnownLoops()

    @functools.cached_property
    def inner_without_streams(self) -> KnownLoops:
        """The same of the function in which what comes from outside is not known."""
        from loopless.summary import KnownLoops

        return KnownLoops()

    @property
    def recursion(self) -> Refused:
        """Why a call of the function by itself is not followed."""
        self.graph()
        detail = f"{self.name} can call itself again through other functions, and that is not summarized"
        return self._recursion or Refused(Reason.RECURSION, self.place, detail)

    @property
    def trouble(self) -> str:
        """The traceback, where the function could not be read because of an error inside Loopless."""
        return self._graph.traceback if isinstance(self._graph, Overrun) else ""

    @property
    def place(self) -> str:
        """``file:line:column`` of the function, or its name."""
        return str(self.code.loc) if self.code.loc is not None else self.name

    @functools.cached_property
    def loops(self) -> tuple[AnalyzedLoop, ...]:
        """The loops in textual order, those of inlined functions included."""
        return tuple(self._loop(id) for id in self._names())

    def _loop(self, id: LoopName) -> AnalyzedLoop:
        """One of its loops, as a class that is derived from this one may have them."""
        return AnalyzedLoop(self, id)

    def _names(self) -> Iterator[LoopName]:
        module = self.program.source.inlined
        code = module.functions[self.code.name]
        again = any(i.callee_name == code.name or returns_twice(i, module) for i in code.instructions())
        if not _may_loop(code) and not again:
            return
        graph = self.graph()
        if isinstance(graph, Refused):
            yield from self._unanswered(graph)
            return
        yield from self._loops_of(graph)
        for refused in graph.irreducible:
            yield self._placeholder(refused)

    def _unanswered(self, refused: Refused) -> Iterator[LoopName]:
        """The loops of a function that cannot be answered: those there surely are, or the place of the obstacle."""
        found = tuple(self._loops_of(self._untold)) if self._untold is not None else ()
        cycles = self._untold.irreducible if self._untold is not None else ()
        for loop in found:
            yield replace(loop, refused=refused, info=None)
        for cycle in cycles:
            yield replace(self._placeholder(cycle), refused=refused)
        if not found and not cycles:
            yield self._placeholder(refused)

    def _loops_of(self, graph: Flowgraph) -> Iterator[LoopName]:
        by_header = {loop.header: loop for loop in graph.loops}
        for loop in graph.loops:
            parent = by_header[loop.parent].name if loop.parent is not None else None
            place = (loop.file, loop.line, loop.column)
            through = loop.inlined_from if self._stands_elsewhere(loop) else None
            yield LoopName(loop.name, self.name, *place, parent, loop.depth, through, info=loop)

    def _stands_elsewhere(self, loop: LoopInfo) -> bool:
        """Whether a function that the loop was inlined through is still defined, and has the loop, too. In IR that a
        compiler made with optimization it need not be: then the copy is all there is of the loop.
        """
        inlined = loop.loc.frames[:-1] if loop.loc is not None else ()
        return any(self.program.defines(place) for place in inlined)

    def _placeholder(self, refused: Refused) -> LoopName:
        file, line, column = split_place(refused.where)
        if not file and self.code.loc is not None:
            file, line, column = self.code.loc.file, self.code.loc.line, self.code.loc.column
        return LoopName(f"{file or '?'}:{self.name}:{line}:{column}", self.name, file, line, column, refused=refused)

    @functools.cached_property
    def reached(self) -> ReachedFunctions:
        """The functions that a call may come to, beside those that are inlined; the function itself where it may be
        called again and is not read as a loop.
        """
        reach, graph = self.program.call_graph, self.graph()
        direct, outside = reach.calls(self.program.source.inlined.functions[self.code.name])
        if not isinstance(graph, Refused):
            direct = tuple(n for n in direct if n != self.code.name or n in graph.callees or graph is self._written)
        return reach.of(direct, outside)

    def __repr__(self) -> str:
        return f"<function {self.name}>"


def _may_loop(code: SourceFunction) -> bool:
    """Whether some block comes after itself: else there is no need to look closer."""
    return bool(cycles({block.label: block.successors for block in code.blocks}))


class AnalyzedProgram:
    """One program in memory."""

    def __init__(self, program: source.SourceProgram, settings: Settings) -> None:
        self.source = program
        self.settings = settings

    @property
    def files(self) -> tuple[str, ...]:
        """The files, as they were named."""
        return self.source.files

    @functools.cached_property
    def stub_files(self) -> frozenset[str]:
        """The files that say what functions do which the program only declares."""
        return frozenset(str(file) for file in self.settings.source.stubs)

    @functools.cached_property
    def repeated(self) -> frozenset[str]:
        """The functions, by their names in the IR, that are the text of one before them, compiled again."""
        return repetitions(self.source.module)

    @functools.cached_property
    def functions(self) -> tuple[AnalyzedFunction, ...]:
        """The defined functions, by file in the order given, then by line; those of stubs are the last."""
        order = {file: index for index, file in enumerate(self.files)}

        def place(code: SourceFunction) -> tuple[int, str, int, int]:
            file = code.loc.file if code.loc is not None else ""
            line, column = (code.loc.line, code.loc.column) if code.loc is not None else (0, 0)
            return order.get(file, len(order)), file, line, column

        return tuple(self._function(code) for code in sorted(self.source.module.defined(), key=place))

    def _function(self, code: SourceFunction) -> AnalyzedFunction:
        """One of its functions, as a class that is derived from this one may have them."""
        return AnalyzedFunction(self, code)

    @functools.cached_property
    def _by_name(self) -> Mapping[str, list[AnalyzedFunction]]:
        found: dict[str, list[AnalyzedFunction]] = {}
        for function in self.functions:
            found.setdefault(function.name, []).append(function)
        return found

    def defines(self, place: Loc) -> bool:
        """Whether the function is defined in whose text the place stands."""

        def has(function: AnalyzedFunction) -> bool:
            own = function.code.loc
            if own is None or own.file == place.file:
                return True  # else a part of the function may stand in a file that it includes
            return any(loop.id.place == str(place) for loop in function.loops)

        return any(has(function) for function in self._by_name.get(place.function, ()))

    @functools.cached_property
    def without_overflow(self) -> AnalyzedProgram:
        """The same program, in which signed operations beside control never overflow
        (:mod:`loopless.flowgraph.exact_arithmetic`).
        """
        return AnalyzedProgram(self.source, replace(self.settings, exact="beside control"))

    @functools.cached_property
    def in_exact_arithmetic(self) -> AnalyzedProgram:
        """The same program, in which no signed operation overflows."""
        return AnalyzedProgram(self.source, replace(self.settings, exact="all"))

    @functools.cached_property
    def call_graph(self) -> CallGraph:
        """Which functions calls may come to."""
        from loopless.flowgraph.callees.call_graph import CallGraph

        return CallGraph(self.source.module)

    @functools.cached_property
    def returning(self) -> Returning:
        """Which calls return."""
        from loopless.queries.returning import Returning

        return Returning(self.call_graph, self.source.inlined)

    @functools.cached_property
    def callees(self) -> CalleeSummaries:
        """What is known of calls of the functions."""
        from loopless.flowgraph.callees.summaries import CalleeSummaries
        from loopless.queries.returning import RETURNS

        found = CalleeSummaries()
        found.provide(RETURNS, self.returning.of)
        return found

    @functools.cached_property
    def transformers(self) -> Transformers:
        """What calls of the functions do to the variables of their callers."""
        from loopless.bounds.callees.effects import Transformers
        from loopless.bounds.induction.counts import walked
        from loopless.flowgraph.callees.call_sites import widths
        from loopless.source.ir import REPLACEABLE

        by_name = {function.code.name: function for function in self.functions}

        def found(name: str) -> tuple[Flowgraph, tuple[int | None, ...]] | None:
            body = self.returning.body(name)
            function = by_name.get(body) if body is not None else None
            if function is None or function.code.linkage in REPLACEABLE:
                return None
            graph = function.over_cells
            # A recursion that is read as a loop has other locals in each of its calls.
            if isinstance(graph, Refused) or graph.irreducible or not function.is_as_written:
                return None
            return graph, widths(function.code)

        return Transformers(found, walked, self.settings.apart, self.callees)

    def __getitem__(self, name: str) -> AnalyzedFunction:
        """The function of that name in the source, or of that name in the IR. Raises ``UsageError``."""
        try:
            once = [function for function in self.functions if function.code.name not in self.repeated]
            return find_function(once, name, ", ".join(self.files))
        except UsageError as error:
            ambiguous = any(is_called(function.code, name) for function in self.functions)
            if not ambiguous and any(_speaks_of(Path(file), name) for file in self.files):
                raise UsageError(f"{error} (only declared, or inline and not called, {name} is not compiled)") from None
            raise

    @property
    def loops(self) -> tuple[AnalyzedLoop, ...]:
        """The loops of all functions where they stand in the source (copies by inlining left out)."""
        own = (function for function in self.functions if function.is_listed)
        return tuple(loop for f in own for loop in f.loops if loop.id.inlined_from is None)

    def __getstate__(self) -> dict[str, Any]:
        return {"source": self.source, "settings": self.settings}

    def __repr__(self) -> str:
        return f"<program {', '.join(self.files)}>"


def _speaks_of(file: Path, name: str) -> bool:
    """Whether the source declares or calls a function of that name, by the looks of it."""
    if file.suffix in IR_SUFFIXES:
        return False
    try:
        return re.search(rf"\b{re.escape(name)}\s*\(", file.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return False


_AROUND: Final = pattern(r"^(?:\w+::)+")
"""Namespaces and classes before a name."""


def is_called(code: SourceFunction, name: str) -> bool:
    """Whether ``name`` may mean the function: template arguments and the types of parameters may be left out (``f`` for
    ``f(int)``), and the namespaces and classes around it given, which the name in the IR confirms.
    """
    full, given = (re.sub(r"\s+", "", text) for text in (code.source_name, name))
    around = _AROUND.match(given)
    if around is not None and not all(f"{len(part)}{part}" in code.name for part in around[0].split("::")[:-1]):
        return False
    last, own = _AROUND.sub("", given), _AROUND.sub("", full)
    plain = re.sub(r"\(.*", "", own)
    return last in {own, plain, re.sub(r"<.*", "", plain)}


def find_function(functions: Sequence[AnalyzedFunction], name: str, where: str) -> AnalyzedFunction:
    """The function called ``name``. Raises ``UsageError`` that lists those there are."""
    found = [f for f in functions if f.name == name] or [f for f in functions if f.code.name == name]
    found = found or [f for f in functions if is_called(f.code, name)]
    if len(found) == 1:
        return found[0]
    if found:
        apart = len({f.name for f in found}) == len(found)
        choices = ", ".join(f.name if apart else f.code.name for f in found)
        raise UsageError(f"{where} has several functions {name}; name one of {choices}")
    known = ", ".join(f.name for f in functions[:20]) + (", …" if len(functions) > 20 else "")
    raise UsageError(f"there is no function {name} in {where}; it has {known or 'no functions'}")


def load(
    paths: Iterable[Path | str] | Path | str,
    settings: Settings | None = None,
    **options: Any,
) -> AnalyzedProgram:
    """Read a program: C, C++, LLVM assembly or bitcode, several files linked together.

    ``options`` are the fields of :class:`loopless.source.SourceOptions` (``data_model``, ``clang``, ``flags``,
    ``compile_database``) and of :class:`loopless.queries.settings.Settings` (``mathematical``, ``wrapv``).

    Raises:
        UsageError: no file is named.
        SourceError: a file is missing, or does not compile, or is IR of another version.
        LimitError: the compiler took too long.
    """
    settings = settings or Settings(sandboxed=False)
    of_source = {key: options.pop(key) for key in tuple(options) if key in source.SourceOptions.__dataclass_fields__}
    if of_source:
        settings = replace(settings, source=replace(settings.source, **of_source))
    if options:
        settings = replace(settings, **options)
    return AnalyzedProgram(source.load(paths, settings.source), settings)


def load_while_importing(paths: Sequence[Path | str], settings: Settings, modules: Sequence[str]) -> AnalyzedProgram:
    """:func:`load`, importing ``modules`` while the compiler runs: what a command will need in its children."""
    import importlib

    for path in paths:
        check_source(Path(path), settings.source)

    def fetch() -> None:
        with contextlib.suppress(UsageError):  # limits that a sweep sets wrongly: said where they are imported next
            for module in modules:
                importlib.import_module(module)

    thread = threading.Thread(target=fetch, daemon=True)
    with not_interrupted():
        thread.start()
    try:
        program = load(paths, settings)
    except BaseException:
        # An interpreter that ends while a thread loads a library can crash. But the signal of a time limit may have
        # broken off an import of this thread that holds a lock which the other one waits for: then it loads nothing.
        thread.join(LOADED_S)
        raise
    thread.join()  # children may be forked from here on
    return program


def deadline(settings: Settings, started: float | None = None) -> float | None:
    """When the whole request must end, by :func:`loopless.clock.now`."""
    if settings.timeout_s is None:
        return None
    return (started if started is not None else clock.now()) + settings.timeout_s
