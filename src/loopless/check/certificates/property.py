"""What is asked of a program: which ends and checks violate it, and which calls it can be asked behind.

The properties are those of SV-COMP (https://sv-comp.sosy-lab.org, "Competition Rules"), of all runs from ``main``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import Enum
from typing import Final

from loopless.check.certificates.unseen import unseen
from loopless.flowgraph import Options, build
from loopless.flowgraph.callees.call_graph import CallGraph, ReachedFunctions
from loopless.flowgraph.callees.dispatch import dispatched
from loopless.flowgraph.callees.entering import CONTRACT, ContractOf, entered, given_any_pointers
from loopless.flowgraph.memory.array_cells import with_cells
from loopless.flowgraph.memory.initial_memory import begins_at, begun, never_written
from loopless.flowgraph.model import THROUGH_POINTER, Call, Check, End, Flowgraph, Havoc, Origin, Statement
from loopless.refusals import Reason, Refused
from loopless.source import SourceProgram
from loopless.source.ir import Module
from loopless.source.vocabulary import COMES_BACK, Meaning, effect_of, meaning_of


class Property(Enum):
    """What must hold of all runs."""

    UNREACH_CALL = "unreach-call"
    TERMINATION = "termination"
    NO_OVERFLOW = "no-overflow"


OVERFLOWS: Final = ("signed-overflow", "shift-overflow", "shift-of-negative", "left-shift")
"""The kinds of checks of operations whose result a signed type has no value for. C gives a left shift of a signed value
none where the value is negative, where bits are lost, and where the count is no number of bits (C11 6.5.7).
"""


def violates(property_: Property) -> Callable[[Statement | End], bool]:
    """Whether an end, or a check that fails, violates the property, or a contract that its proof rests on."""

    def found(what: Statement | End) -> bool:
        match property_, what:
            case _, Check(kind=kind) if kind == CONTRACT:
                return True
            case Property.UNREACH_CALL, End(kind="error"):
                return True
            case Property.NO_OVERFLOW, Check(kind=kind):
                return kind in OVERFLOWS
            case _:
                return False

    return found


class Follows:
    """Whether nothing behind a call can violate the property, so that it is enough to know what the call changes;
    ``also``: functions that can, though the module does not say so.
    """

    def __init__(self, property_: Property, module: Module, also: Iterable[str] = ()) -> None:
        self._property = property_
        self._module = module
        self._reach = CallGraph(module)
        self._erring = {function.name for function in module.defined() if self._errs(function.name)} | set(also)
        self._strangers = any(meaning_of(name) in _ERRORS for name in self._reach.strangers)

    def __call__(self, call: Call) -> bool:
        """Whether the call is harmless, or gone into by a way of its own."""
        if call.entered:
            return True
        reached = self._reached(call)
        if self._property is Property.UNREACH_CALL:
            return not self._erring.intersection(reached.names) and not (reached.outside and self._strangers)
        return not reached.names

    def names(self, call: Call) -> tuple[str, ...]:
        """The functions of the program that a call may come to."""
        return self._reached(call).names

    def _reached(self, call: Call) -> ReachedFunctions:
        defined = {function.name for function in self._module.defined()}
        if call.callee == THROUGH_POINTER:
            return self._reach.of((), "a pointer")
        meant = self._reach.meant(call.callee)  # it may be an alias
        direct = (meant[-1],) if meant[-1] in defined else ()
        known = direct or (call.outside and calls_nothing_back(call.callee, self._module))
        chosen = any(name in self._module.ifuncs for name in meant)
        return self._reach.of(direct, "" if known and not chosen else call.callee)

    def _errs(self, name: str) -> bool:
        defined = {function.name for function in self._module.defined()}
        called = (i.callee_name for i in self._module.functions[name].instructions())
        known = [meaning_of(callee, defined=callee in defined) for callee in called if callee is not None]
        return any(meaning in _ERRORS for meaning in (meaning_of(name, defined=True), *known))


_ERRORS: Final = (Meaning.ERROR, Meaning.ASSERT, Meaning.TARGET)


def calls_nothing_back(name: str, module: Module) -> bool:
    """Whether a function without a body is known to call no function of the program."""
    return effect_of(name, module.stubs) is not None or meaning_of(name) is not None or name in COMES_BACK


def graph_of(  # noqa: PLR0913
    program: SourceProgram,
    entry: str,
    property_: Property,
    *,
    mathematical: bool = False,
    wrapv: bool = False,
    apart: bool = False,
    cells: bool = True,
    contract_of: ContractOf = lambda _: None,
) -> Flowgraph:
    """The function ``entry`` as a run of the whole program that begins with it, with the first values of globals; it is
    refused where a run may do more that matters to the property. At calls of functions that were not inlined it goes
    into them, or passes over them, under their contracts; where errors matter, a cell of each array is followed, unless
    without ``cells``. ``apart``: what pointers in memory point to is taken not to overlap.
    """
    module = program.inlined
    resolved = dispatched(module, never_written(module, whole=True))
    options = Options(mathematical, wrapv, apart=apart)
    graph = build(resolved.functions[entry], resolved, options)
    called = {i.callee_name for function in program.module.defined() for i in function.instructions()}
    first = begins_at(program.module, entry) and entry not in called
    fixed = never_written(resolved, whole=True)
    called_graphs: dict[str, Flowgraph | None] = {}

    def body(name: str) -> Flowgraph | None:
        if name not in called_graphs:
            function = resolved.functions.get(name)
            made = None
            if function is not None and not function.is_declaration:
                strange = given_any_pointers(function, program.pointer_bits)
                made = begun(build(strange, resolved, options), resolved, first=False, fixed=fixed)
            called_graphs[name] = made
        return called_graphs[name]

    whole = begun(graph, resolved, first=first, fixed=fixed)
    whole = entered(whole, body, contract_of) if graph.refused is None else whole
    undefined = property_ is Property.NO_OVERFLOW and next(_undefined_constants(whole), None)
    refused = graph.refused or undefined or unseen(program.module, only_errors=property_ is Property.UNREACH_CALL)
    whole = with_cells(whole) if property_ is Property.UNREACH_CALL and cells else whole
    return replace(whole, refused=refused)


def _undefined_constants(graph: Flowgraph) -> Iterator[Refused]:
    """Where the compiler has made an undefined value of a constant expression, which may be one that overflows."""
    for block in graph.blocks.values():
        for statement in block.statements:
            match statement:
                case Havoc(origin=Origin.UNSUPPORTED, refused=Refused(reason=Reason.UNDEF_VALUE) as refused):
                    yield refused
                case _:
                    pass
