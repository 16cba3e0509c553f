"""What a program may do that the flowgraph of its entry does not show.

Constructors run before the entry and destructors behind it; threads and handlers of signals run at any time. Functions
of the vocabulary of verification mean what their names say, so a program that defines one otherwise is another program.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from loopless import terms as t
from loopless.flowgraph import Options, build
from loopless.flowgraph.callees.call_graph import CallGraph
from loopless.flowgraph.memory.initial_memory import CONSTRUCTORS
from loopless.flowgraph.model import Assign, Assume, Block, Check, Flowgraph, Kind
from loopless.limits.check import MAX_UNSEEN_BLOCKS
from loopless.patterns import pattern
from loopless.refusals import Reason, Refused
from loopless.source.ir import Module, OtherConst, SourceFunction
from loopless.source.vocabulary import Meaning, meaning_of

ANY_TIME: Final = frozenset(
    {"pthread_create", "thrd_create", "clone", "timer_create", "mq_notify", "aio_read", "aio_write", "lio_listio"}
    | {"__kmpc_fork_call", "__kmpc_fork_teams", "GOMP_parallel", "GOMP_task"}
    | {"signal", "bsd_signal", "sysv_signal", "__sysv_signal", "ssignal", "sigset", "sigvec", "sigaction"}
)
"""What is given a function that runs at any time from then on: threads (C11, POSIX, OpenMP) and handlers of signals."""
_SECTION: Final = pattern(r'section "\.(?:(?:pre)?init_array|fini_array|init|fini|ctors|dtors)\b')
_OUTSIDE: Final = pattern(r'^module asm "', re.MULTILINE)
_INSIDE: Final = pattern(r'^asm[^"]*"\s*[^"\s]')
ENDLESS: Final = "endless"


def unseen(module: Module, *, only_errors: bool) -> Refused | None:
    """Why the flowgraph of a function of ``module`` does not show all that a run does; None where it does.
    ``only_errors``: all that matters is whether an error is reached, not what is behind it, nor whether runs end.
    """
    for name, words in zip(CONSTRUCTORS, ("before main", "behind main"), strict=True):
        if name in module.globals:
            detail = f"the program has functions that run {words}, which is not followed"
            return Refused(Reason.UNKNOWN_CALL, name, detail)
    if _SECTION.search(module.text):
        return Refused(Reason.UNKNOWN_CALL, module.name, "the program has functions that run beside main")
    found = _assembly(module, only_errors=only_errors)
    if found is not None:
        return found
    reach = CallGraph(module)
    if reach.taken or reach.strangers:
        for function in module.defined():
            for instruction in function.instructions():
                called = instruction.callee_name
                if called in ANY_TIME and called not in {found.name for found in module.defined()}:
                    where = function.source_name
                    detail = f"{called} lets a function of the program run at any time, which is not followed"
                    return Refused(Reason.CONCURRENCY, where, detail)
    for function in module.defined():
        meaning = meaning_of(function.name, defined=True)
        if meaning is not None and not _is_as_named(function, module, meaning, only_errors=only_errors):
            detail = f"{function.source_name} is not defined as its name says, and what it does is not followed"
            return Refused(Reason.UNKNOWN_CALL, function.source_name, detail)
    return None


def _assembly(module: Module, *, only_errors: bool) -> Refused | None:
    """Assembly may give variables other names, where it stands outside of functions, and keep a run for ever, where it
    stands in them.
    """
    if _OUTSIDE.search(module.text):
        detail = "assembly outside of functions is not followed"
        return Refused(Reason.INLINE_ASM, module.name, detail)
    for function in module.defined() if not only_errors else ():
        for instruction in function.instructions():
            called = instruction.callee
            if isinstance(called, OtherConst) and called.op == "asm" and _INSIDE.search(called.text):
                detail = "inline assembly is not followed, and may not end"
                return Refused(Reason.INLINE_ASM, function.source_name, detail)
    return None


def _is_as_named(function: SourceFunction, module: Module, meaning: Meaning, *, only_errors: bool) -> bool:
    """Whether the definition of a function does what its name means."""
    match meaning:
        case Meaning.ENTRY | Meaning.TARGET:
            return True
        case Meaning.ERROR:
            return only_errors or set(_ends(function, module, ())) <= {"abort", "exit", "error"}
        case Meaning.ASSUME:
            stopped = {"abort", "exit", ENDLESS} if only_errors else {"abort", "exit"}
            return _stops(function, module, stopped)
        case Meaning.ASSERT:
            return _stops(function, module, {"error"})
        case Meaning.IGNORE:
            return set(_ends(function, module, ())) <= {"return"}
        case _:
            return False


def _stops(function: SourceFunction, module: Module, how: Collection[str]) -> bool:
    """Whether a call ends so where its argument is 0, and comes back where it is not."""
    stopped, passed = _ends(function, module, (0,)), _ends(function, module, _TRUTHS)
    return all(end in how for end in stopped) and all(end == "return" for end in passed)


_TRUTHS: Final = (1, 2, -1, 100)


def _ends(function: SourceFunction, module: Module, arguments: tuple[int, ...]) -> Iterator[str]:
    """How calls with each of these arguments end; without any, how a call ends that no argument matters to."""
    graph = build(function, module, Options(apart=False))
    scalars = [parameter.var for parameter in graph.parameters]
    for argument in arguments or (0,):
        values: dict[t.Var, int] = {}
        if arguments:
            if len(scalars) != 1 or scalars[0] is None:
                yield ""
                return
            values = {scalars[0]: scalars[0].type.wrap(argument)}
        yield _end(graph, values)


def _end(graph: Flowgraph, values: dict[t.Var, int]) -> str:
    """How a run ends that changes nothing but variables of its own; empty where it may do other things."""
    label, blocks = graph.entry, graph.blocks
    try:
        for _ in range(MAX_UNSEEN_BLOCKS):
            block = blocks[label]
            if label in graph.blocked or not _is_plain(graph, block, values):
                return ""
            if block.end is not None:
                return block.end.kind
            here = t.Valuation(values, lambda *_: 0)
            edge = next(edge for edge in block.edges if here.holds(edge.condition))
            values.update([(target, here.evaluate(term)) for target, term in edge.assigns])
            label = edge.target
    except (t.EvaluationError, KeyError, StopIteration):
        return ""
    return ENDLESS


def _is_plain(graph: Flowgraph, block: Block, values: dict[t.Var, int]) -> bool:
    """Carries out the statements of a block, as long as they only compute."""
    for statement in block.statements:
        here = t.Valuation(values, lambda *_: 0)
        match statement:
            case Assign(target=target) if graph.variables[target].kind not in (Kind.GLOBAL, Kind.POINTEE):
                values[target] = here.evaluate(statement.value)
            case Check(condition=condition) | Assume(condition=condition) if here.holds(condition):
                pass
            case _:
                return False
    return True
