"""Which functions of a program a call may come to, by name or through a pointer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from loopless.graphs import reachable
from loopless.patterns import pattern
from loopless.records import dataclass
from loopless.source.ir import (
    AddressOf,
    ConstantAggregate,
    GlobalRef,
    Instruction,
    Module,
    OtherConst,
    SourceFunction,
    Value,
)
from loopless.source.vocabulary import Meaning, effect_of, meaning_of

NOT_BY_NAME: Final = "what is not defined here calls no function of the program by its name"
"""What is taken for granted where functions are called that are not known."""
_NAME: Final = pattern(r'@(?:"([^"]*)"|([\w.$-]+))')


@dataclass(frozen=True, slots=True)
class ReachedFunctions:
    """The defined functions that calls may come to, each once, nearer ones first.

    ``by_pointer``: the ones among them that are come to only where something unknown is called. ``outside``: what is
    called and not known, a name or "a pointer"; empty where all is known.
    """

    names: tuple[str, ...]
    by_pointer: frozenset[str]
    outside: str


class CallGraph:
    """The calls of a module, as it is written.

    What is not defined, but for the library functions that call nothing back, and what a pointer leads to may be any
    function whose address is taken somewhere. Others it cannot call without knowing their names
    (:data:`NOT_BY_NAME`); it never can where they are static.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._defined = {function.name: function for function in module.defined()}
        self._found: dict[str, tuple[tuple[str, ...], str]] = {}
        taken = {meant for value in self._values() for name in mentioned(value) for meant in self.meant(name)}
        self.taken = tuple(name for name in self._defined if name in taken)
        """The defined functions whose address is taken, in textual order."""
        self.strangers = tuple(sorted((taken & module.functions.keys()) - self._defined.keys()))
        """The functions without a body whose address is taken."""

    def _values(self) -> Iterator[Value]:
        for name, variable in self.module.globals.items():
            if variable.initializer is not None and not name.startswith("llvm."):
                yield variable.initializer
        for function in self._defined.values():
            for instruction in function.instructions():
                if not instruction.is_debug:
                    yield from instruction.operands
                    yield from (value for value, _ in instruction.incoming)
                    if instruction.callee is not None and not isinstance(instruction.callee, GlobalRef):
                        yield instruction.callee

    def calls(self, function: SourceFunction) -> tuple[tuple[str, ...], str]:
        """The defined functions that a function, of this module or one with its names, calls by name, and what it calls
        that is not known (a name, "a pointer"; empty: nothing).
        """
        direct: dict[str, None] = {}
        outside = ""
        for instruction in reached_instructions(function):
            if instruction.op in ("call", "invoke", "callbr"):
                name, unknown = self.target(instruction)
                if name:
                    direct[name] = None
                outside = outside or unknown
        return tuple(direct), outside

    def target(self, instruction: Instruction) -> tuple[str, str]:
        """The defined function that is called, and what is called that is not known; each may be empty."""
        name = instruction.callee_name
        if name is None:
            is_assembly = isinstance(instruction.callee, OtherConst) and "asm" in instruction.callee.text
            return "", "" if is_assembly else "a pointer"
        if name in self.module.aliases:
            meant = self.meant(name)
            return (meant[-1], self._chosen(meant)) if meant[-1] in self._defined else ("", name)
        if name.startswith("llvm."):
            function = _of_intrinsic(name)
            return (function, "") if function in self._defined else ("", "")
        defined = name in self._defined
        meaning = meaning_of(name, defined=defined)
        if meaning is not None and meaning is not Meaning.ENTRY:
            return "", ""
        if defined:
            return name, ""
        return "", "" if effect_of(name, self.module.stubs) is not None else self._shown(name)

    def meant(self, name: str) -> tuple[str, ...]:
        """A name, and what it is an alias of, which may be an alias in turn."""
        found = [name]
        while isinstance(target := self.module.aliases.get(found[-1]), GlobalRef) and target.name not in found:
            found.append(target.name)
        return tuple(found)

    def _chosen(self, names: Iterable[str]) -> str:
        """What is called that is not known, besides the function that chooses it."""
        return "a pointer" if any(name in self.module.ifuncs for name in names) else ""

    def _shown(self, name: str) -> str:
        function = self.module.functions.get(name)
        return name if function is None else function.source_name

    def of(self, names: Iterable[str], outside: str = "") -> ReachedFunctions:
        """What calls of these functions, and of something unknown, may come to."""
        by_name = reachable(names, lambda name: self._calls(name)[0])
        outside = outside or next((unknown for name in by_name if (unknown := self._calls(name)[1])), "")
        if not outside:
            return ReachedFunctions(tuple(by_name), frozenset(), "")
        found = reachable((*by_name, *self.taken), lambda name: self._calls(name)[0])
        return ReachedFunctions(tuple(found), frozenset(found) - frozenset(by_name), outside)

    def _calls(self, name: str) -> tuple[tuple[str, ...], str]:
        """What :meth:`calls` finds in a function of this module, looked for once."""
        if name not in self._found:
            self._found[name] = self.calls(self._defined[name])
        return self._found[name]


def reached_instructions(function: SourceFunction) -> Iterator[Instruction]:
    """The instructions that control may come to."""
    by_label = {block.label: block for block in function.blocks}
    for label in reachable((function.entry.label,), lambda label: by_label[label].successors):
        yield from by_label[label].instructions


_INTRINSIC: Final = pattern(r"llvm\.(\w+)(?:\.inline)?(?:\.(\w+))?(?:\.\w+)*")
_OF_TYPE: Final = {"f32": "f", "f80": "l", "f128": "l", "ppcf128": "l"}


def _of_intrinsic(name: str) -> str:
    """The library function that an intrinsic may be a call of: ``memset`` of ``llvm.memset.p0.i64``, ``floorf`` of
    ``llvm.floor.f32``. The compiler takes calls of these for what the C library has, whoever defines them.
    """
    found = _INTRINSIC.fullmatch(name)
    return "" if found is None else found[1] + _OF_TYPE.get(found[2] or "", "")


def mentioned(value: Value) -> Iterator[str]:
    """The globals and functions whose addresses stand in a value."""
    match value:
        case GlobalRef(name=name) | AddressOf(name=name):
            yield name
        case ConstantAggregate(elements=parts):
            for part in parts:
                yield from mentioned(part)
        case OtherConst(operands=parts, text=text):
            for part in parts:
                yield from mentioned(part)
            if not parts:
                yield from (quoted or plain for quoted, plain in _NAME.findall(text))
        case _:
            pass
