"""Which calls return: what the bodies of functions say, from callees to callers.

A call need not return where the function, or one that it calls, may end the program (``exit``, a false assumption),
leave for a place above (``longjmp``, an exception), or come to blocks that no way leads out of. It surely returns where
no block comes after itself and all calls do so, too: what is undefined on the way aside. Of the others the body says
neither: loops in it, or calls of itself, may go on for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from loopless.flowgraph.callees.call_graph import CallGraph, reached_instructions
from loopless.flowgraph.callees.summaries import CalleeSummaries, Fact
from loopless.flowgraph.model import ASSEMBLY, THROUGH_POINTER, Block, Call, Flowgraph, LoopInfo
from loopless.graphs import bottom_up, cycles, least_fixed_point, predecessors, reachable
from loopless.paths.build import called
from loopless.queries.loops.name import LoopName
from loopless.records import dataclass
from loopless.refusals import Reason, Refused
from loopless.source.ir import REPLACEABLE, Instruction, Loc, Module, OtherConst, SourceFunction
from loopless.source.vocabulary import COMES_BACK, LEAVES, Meaning, effect_of, library_function, meaning_of

_ENDING: Final = frozenset({Meaning.ASSUME, Meaning.ASSERT, Meaning.ERROR, Meaning.ABORT, Meaning.EXIT, Meaning.TARGET})
_TRAPS: Final = ("llvm.trap", "llvm.ubsantrap", "llvm.debugtrap", "llvm.eh.sjlj.longjmp")
_THROWS: Final = ("__cxa_throw", "__cxa_rethrow")
_HANDED_OUT: Final = "~handed out"
"""Stands among the names of functions for all whose addresses are taken."""


@dataclass(frozen=True, slots=True)
class Return:
    """What is known of the calls of a function.

    ``leaves``: why one need not return, empty where nothing says so; ``certain``: whether each returns, or meets
    undefined behaviour. Where neither is known, that calls return is taken for granted.
    """

    leaves: str = ""
    certain: bool = False


RETURNS: Final = Fact("returns", Return())
"""Whether calls of a function return."""


@dataclass(frozen=True, slots=True)
class _Reason:
    """What stands in the way of returning, and where."""

    what: str
    loc: Loc | None

    def __str__(self) -> str:
        return f"{self.what} at {self.loc}" if self.loc is not None else self.what


@dataclass(frozen=True, slots=True)
class CallNotes:
    """What is to be said of calls beside a count of a loop, or of a function.

    ``ends``: of those in the loop that need not return; ``on_the_way``: of those on the way to it too. ``granted``:
    what is taken for granted of calls; ``unshown``: also of functions of the program, which may go on for ever.
    """

    ends: tuple[str, ...] = ()
    on_the_way: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    unshown: bool = False


NO_CALLS: Final = CallNotes()


class Returning:
    """The calls of a program, by ``module``, in which functions are inlined; ``reach`` is about the same names."""

    def __init__(self, reach: CallGraph, module: Module) -> None:
        self._reach = reach
        self._module = module
        self._bodies = {function.name: function for function in module.defined()}
        self._stranger = next((name for name in reach.strangers if self._stranger_leaves(name)), None)
        self._leaves: dict[str, _Reason] = {}
        self._handed_out: _Reason | None = None
        """Why a call of some function whose address is taken need not return, behind its name."""
        self._find_leaving()
        self._certain = self._find_certain()

    def of(self, name: str) -> Return:
        """What is known of calls of ``name``, as a flowgraph has it."""
        if name == THROUGH_POINTER:
            return self._told(self._of_any("a pointer may lead to", self._handed_out))
        found = self.body(name)
        if found is not None:
            return Return(str(self._leaves.get(found, "")), found in self._certain)
        reason = self._of_unknown(name, self._handed_out)
        known = library_function(name, self._module.stubs)
        known_to = name in COMES_BACK or (known is not None and not known.noreturn)
        return self._told(reason, certain=known_to)

    @staticmethod
    def _told(reason: _Reason | None, *, certain: bool = False) -> Return:
        return Return(str(reason)) if reason is not None else Return(certain=certain)

    def body(self, name: str) -> str | None:
        """The function with a body that a name means."""
        meant = self._reach.meant(name)[-1]
        return meant if meant in self._bodies else None

    # -- calls that need not return -----------------------------------------------------------------------------------

    def _find_leaving(self) -> None:
        calls = {name: tuple(_calls(function)) for name, function in self._bodies.items()}
        onward: dict[str, Sequence[str]] = {name: self._onward(found) for name, found in calls.items()}
        onward[_HANDED_OUT] = self._reach.taken

        def transfer(name: str, known: Mapping[str, _Reason | None]) -> _Reason | None:
            if name == _HANDED_OUT:
                return next((self._handed_on(one, found) for one in self._reach.taken if (found := known[one])), None)
            return self._by_itself(self._bodies[name], calls[name]) or self._by_calls(calls[name], known)

        repeated = least_fixed_point(onward, transfer, start=None, join=lambda one, other: one or other)
        known = bottom_up(onward, transfer, recursive=repeated, unknown=None)
        self._handed_out = known.pop(_HANDED_OUT)
        self._leaves = {name: reason for name, reason in known.items() if reason is not None}

    def _onward(self, calls: Iterable[Instruction]) -> list[str]:
        """The functions that calls come to, :data:`_HANDED_OUT` for all whose addresses are taken."""
        targets = [self._reach.target(instruction) for instruction in calls]
        found = [name for name, _ in targets if name in self._bodies]
        return [*found, _HANDED_OUT] if any(outside for _, outside in targets) else found

    def _handed_on(self, name: str, reason: _Reason) -> _Reason:
        shown = self._bodies[name].source_name if name in self._bodies else name
        return _Reason(f"{shown}: {reason}", None)

    def _by_itself(self, function: SourceFunction, calls: Iterable[Instruction]) -> _Reason | None:
        """Why a call of a function need not return, by its own text."""
        if "noreturn" in function.attributes:
            return _Reason(f"{function.source_name} is declared not to return", None)
        for instruction in calls:
            reason = self._ending(instruction)
            if reason is not None:
                return reason
        return _endless(function)

    def _ending(self, instruction: Instruction) -> _Reason | None:
        """Why a run need not go on behind a call, by the name that is called."""
        name, loc = instruction.callee_name, instruction.loc
        called = self._module.functions.get(name) if name is not None else None
        shown = "a function" if name is None else name if called is None else called.source_name
        stranger = called is None or called.is_declaration
        if name is not None and meaning_of(name, defined=not stranger) in _ENDING:
            return _Reason(f"{shown} is called", loc)
        if name is not None and name.startswith(_TRAPS):
            return _Reason(f"{name} is called", loc)
        if name in _THROWS:
            return _Reason("an exception is thrown", loc)
        attributes = instruction.attributes | (called.attributes if called is not None else frozenset())
        if "noreturn" in attributes or (stranger and name in LEAVES):
            return _Reason(f"{shown}, which does not return, is called", loc)
        return None

    def _by_calls(self, calls: Iterable[Instruction], known: Mapping[str, _Reason | None]) -> _Reason | None:
        """Why a run need not go on behind one of these calls, by what is known of the functions that they come to."""
        for instruction in calls:
            name, outside = self._reach.target(instruction)
            if name in self._bodies and (found := known[name]) is not None:
                return found
            if outside == "a pointer":
                found = self._of_any("a pointer may lead to", known[_HANDED_OUT])
            else:
                found = self._of_unknown(instruction.callee_name, known[_HANDED_OUT]) if outside else None
            if found is not None:
                return found
        return None

    def _of_unknown(self, name: str | None, handed_out: _Reason | None) -> _Reason | None:
        """Why a call of what is not defined need not return: it may call back what the program hands out."""
        if name is None or name.startswith("llvm.") or effect_of(name, self._module.stubs) is not None:
            return None
        if meaning_of(name) is not None or name == ASSEMBLY or name in COMES_BACK:
            return None
        called = self._module.functions.get(name)
        shown = name if called is None else called.source_name
        return self._of_any(f"{shown}, which is not defined, may call", handed_out)

    def _of_any(self, how: str, handed_out: _Reason | None) -> _Reason | None:
        """Why a call of one of the functions whose addresses are taken need not return."""
        if handed_out is not None:
            return _Reason(f"{how} {handed_out}", None)
        return None if self._stranger is None else _Reason(f"{how} {self._stranger}", None)

    def _stranger_leaves(self, name: str) -> bool:
        """Whether calls of a function without a body need not return, by its name or its declaration."""
        noreturn = "noreturn" in self._module.functions[name].attributes if name in self._module.functions else False
        return noreturn or name in LEAVES or meaning_of(name) in _ENDING

    # -- calls that surely do -----------------------------------------------------------------------------------------

    def _find_certain(self) -> frozenset[str]:
        onward = {
            name: [target for i in _calls(function) if (target := self._reach.target(i)[0])]
            for name, function in self._bodies.items()
        }

        def transfer(name: str, known: Mapping[str, bool]) -> bool:
            function = self._bodies[name]
            if name in self._leaves or function.linkage in REPLACEABLE or _may_repeat(function):
                return False
            return all(self._goes_on(instruction, known) for instruction in _calls(function))

        # A recursion may go on for ever.
        found = bottom_up(onward, transfer, recursive=lambda names, _: dict.fromkeys(names, False), unknown=False)
        return frozenset(name for name, certain in found.items() if certain)

    def _goes_on(self, instruction: Instruction, known: Mapping[str, bool]) -> bool:
        """Whether a run surely goes on behind a call."""
        if isinstance(instruction.callee, OtherConst) and "asm" in instruction.callee.text:
            return False
        name, outside = self._reach.target(instruction)
        return known[name] if name else not outside or instruction.callee_name in COMES_BACK


def _calls(function: SourceFunction) -> Iterator[Instruction]:
    return (i for i in reached_instructions(function) if i.op in ("call", "invoke", "callbr") and not i.is_debug)


def _endless(function: SourceFunction) -> _Reason | None:
    """A block that runs may come to and no way leads out of, for ever."""
    following = {block.label: block.successors for block in function.blocks}
    reached = set(reachable((function.entry.label,), following.__getitem__))
    sources = predecessors(following)
    leading = set(reachable((label for label in reached if not following[label]), sources.__getitem__))
    for block in function.blocks:
        if block.label in reached and block.label not in leading:
            loc = next((i.loc for i in block.instructions if i.loc is not None), None)
            return _Reason("the loop has no end", loc)
    return None


def _may_repeat(function: SourceFunction) -> bool:
    """Whether some block may come after itself."""
    return bool(cycles({block.label: block.successors for block in function.blocks}))


def told(graph: Flowgraph, callees: CalleeSummaries) -> Flowgraph:
    """The flowgraph whose calls say what is known of their return."""

    def of(call: Call) -> Call:
        found = callees.ask(call.callee, RETURNS)
        return replace(call, leaves=found.leaves, returns=found.certain) if found != Return() else call

    def block_of(block: Block) -> Block:
        if not any(isinstance(statement, Call) for statement in block.statements):
            return block
        return replace(block, statements=tuple(of(s) if isinstance(s, Call) else s for s in block.statements))

    blocks = {label: block_of(block) for label, block in graph.blocks.items()}
    return replace(graph, blocks=blocks) if any(blocks[label] is not graph.blocks[label] for label in blocks) else graph


def before(graph: Flowgraph, loop: LoopInfo) -> frozenset[str]:
    """The blocks from which runs may come to a loop, its own among them."""
    sources = predecessors({label: block.successors for label, block in graph.blocks.items()})
    return frozenset(reachable(loop.blocks, sources.__getitem__))


def leaving(graph: Flowgraph, labels: Iterable[str]) -> tuple[str, ...]:
    """What to say of the calls in these blocks that need not return, each sentence once."""
    calls = (call for call in calls_in(graph, labels) if call.leaves)
    return tuple(dict.fromkeys(f"{called(call.callee)} need not return: {call.leaves}" for call in calls))


def calls_in(graph: Flowgraph, labels: Iterable[str]) -> list[Call]:
    """The calls in these blocks."""
    return [s for label in sorted(labels) for s in graph.blocks[label].statements if isinstance(s, Call)]


def ends_in_calls(graph: Flowgraph, name: LoopName) -> Refused | None:
    """Why a run may end, or go on elsewhere, in a call of the loop; None where all its calls return."""
    assert name.info is not None
    ends = leaving(graph, name.info.blocks)
    return Refused(Reason.UNKNOWN_CALL, name.place, "; ".join(ends)) if ends else None
