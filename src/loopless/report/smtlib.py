"""Summaries as one SMT-LIB 2.6 document: for each loop its cases, its regions, and the relation of entry and exit.

Everything is a ``define-fun`` over Int, so the document can be pasted into a script, and nothing of it says more than
the summary: what the theory of integers has no words for (bit operations, powers) is left out with a comment, and then
so is the relation of the whole loop. What loops read are functions (:mod:`loopless.report.smt_functions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from textwrap import wrap
from typing import Final

from loopless import terms as t
from loopless.flowgraph.callees.streams import stream_of
from loopless.paths import Exit
from loopless.queries.loops.answer import LoopAnswer
from loopless.records import dataclass
from loopless.report.document import tool_version
from loopless.report.exits import exit_words
from loopless.report.json_report import assumptions_of
from loopless.report.names import Names, nodes_of
from loopless.report.smt_contents import ElementBehind, elements_behind
from loopless.report.smt_functions import DataFunctions, made_of_bytes
from loopless.report.text import OVER_APPROXIMATE, count_words, trace_words
from loopless.summary import Approximation, Case, LoopSummary
from loopless.terms.contents import nodes_in

_WIDTH: Final = 110
_RETURNED: Final = "|return'|"
"""The value returned; no variable of a program has this name."""
_ELEMENT: Final = "|~j|"
"""The index of an element of memory; no variable of a program has this name."""
_SILENT: Final = "assumption"
"""Exits of this kind are no runs at all."""


def smtlib(answers: Sequence[LoopAnswer]) -> str:
    """The document. Loops without a summary are comments."""
    return document(map(relation, named(answers)))


def document(loops: Iterable[Sequence[str]]) -> str:
    """The document with what :func:`relation` gives for each loop."""
    lines = [
        *_comment(f"Loops as relations over the integers, by loopless {tool_version()}."),
        *_comment(
            "x is the value of x at the loop's entry, |x'| the one at its exit. NAME.entry says that the entry values "
            "are in the ranges of their types, and what else is known of them; all other definitions are meant where "
            "it holds."
        ),
        "(set-info :smt-lib-version 2.6)",
        "(set-logic ALL)",
    ]
    for loop in loops:
        lines += ["", *loop]
    return "\n".join(lines) + "\n"


def named(answers: Iterable[LoopAnswer]) -> list[tuple[LoopAnswer, str]]:
    """The answers with names for their relations, no two the same."""
    taken: set[str] = set()
    return [(answer, _name(answer, taken)) for answer in answers]


def _name(answer: LoopAnswer, taken: set[str]) -> str:
    """``function_line``, longer where that is taken."""
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in answer.loop.function) or "loop"
    base = f"{plain}_{answer.loop.line}"
    tries = [base, f"{base}_{answer.loop.column}"]
    found = next((name for name in tries if name not in taken), None)
    number = 2
    while found is None:
        name = f"{base}_{answer.loop.column}_{number}"
        found = name if name not in taken else None
        number += 1
    taken.add(found)
    return found


def _comment(text: str) -> list[str]:
    """Comment lines; nothing in ``text`` can end one early."""
    safe = "".join(c if c.isprintable() else "?" for c in text)
    return [f"; {line}" for line in wrap(safe, _WIDTH, break_on_hyphens=False) or [""]]


def relation(loop: tuple[LoopAnswer, str]) -> list[str]:
    """The lines about one loop."""
    answer, name = loop
    lines = _comment(f"{answer.loop.name}: {answer.status}")
    if answer.summary is None:
        return [*lines, *_comment(f"no summary: {answer.refused}")]
    lines += [line for assumption in assumptions_of(answer) for line in _comment(f"assuming {assumption}")]
    return lines + _Writer(answer, answer.summary, name).lines()


@dataclass(frozen=True, slots=True)
class _Written:
    """A case whose condition and effect have a text: the number and the exit."""

    number: int
    exit: Exit


class _Missing(Exception):
    """What is asked for has no counterpart in the theory; the text says what."""


@dataclass(slots=True)
class _Writer:
    answer: LoopAnswer
    summary: LoopSummary
    name: str
    names: Names = field(init=False)
    symbols: dict[t.Var, str] = field(init=False)
    entry: list[t.Var] = field(init=False)
    exits: dict[t.Var, str] = field(init=False)
    returns: bool = field(init=False)
    functions: DataFunctions = field(init=False)
    elements: list[list[ElementBehind]] = field(init=False)
    """What memory holds behind the loop, by the numbers of the cases."""

    def __post_init__(self) -> None:
        self.names = Names(self.answer)
        self.entry = sorted(_entry_variables(self.summary, self.names), key=lambda var: var.key)
        self.symbols = {**_symbols(self.entry, self.names), t.INDEX: _ELEMENT}
        self.elements = [list(elements_behind(case, self.names)) for case in self.summary.cases]
        behind = [one.value for found in self.elements for one in found if one.value is not None]
        self.functions = DataFunctions(self.name, self.symbols, made_of_bytes([*nodes_of(self.answer), *behind]))
        known = {var for case in self.summary.cases for var in self.summary.known(case)}
        approximated = self.summary.approximation.cases if self.summary.approximation is not None else ()
        known |= {var for case in approximated for var in case.then}
        shown = sorted((var for var in known if self.names.is_source(var)), key=lambda var: var.key)
        self.exits = {var: _primed(self.symbols[var]) for var in shown}
        self.returns = any(case.result is not None for case in (*self.summary.cases, *approximated))

    # -- texts ----------------------------------------------------------------------------------------------------

    def _text(self, node: t.Node) -> str:
        found = t.smt(node, self.symbols, self.functions)
        if found is None:
            raise _Missing(self.names.brief(node))
        return found

    def _entry_parameters(self) -> str:
        return " ".join(f"({self.symbols[var]} Int)" for var in self.entry)

    def _parameters(self) -> str:
        outs = [*self.exits.values(), *([_RETURNED] if self.returns else [])]
        return " ".join([*([self._entry_parameters()] if self.entry else []), *(f"({out} Int)" for out in outs)])

    def _call(self, name: str) -> str:
        """``name`` applied to the entry values."""
        return _applied(name, [self.symbols[var] for var in self.entry])

    def _both(self) -> list[str]:
        outs = [*self.exits.values(), *([_RETURNED] if self.returns else [])]
        return [*(self.symbols[var] for var in self.entry), *outs]

    def _call_both(self, name: str) -> str:
        return _applied(name, self._both())

    def _predicate(self, part: str, body: str) -> str:
        return f"(define-fun {self.name}.{part} ({self._entry_parameters()}) Bool\n  {body})"

    # -- parts ----------------------------------------------------------------------------------------------------

    def lines(self) -> list[str]:
        body = self._body()
        return [*self._variable_comments(), *self.functions.lines, *self._facts(), *body]

    def _facts(self) -> Iterator[str]:
        if self.functions.facts:
            yield from _comment(
                f"{self.name}.facts holds of what is read and of the functions of it: assert it for a proof."
            )
            whole = _joined("and", self.functions.facts, "true", "\n    ")
            yield f"(define-fun {self.name}.facts () Bool\n  {whole})"

    def _body(self) -> list[str]:
        lines = [self._range()]
        written: list[_Written] = []
        for number, case in enumerate(self.summary.cases, start=1):
            found, ok = self._case(number, case)
            lines += found
            if ok:
                written.append(_Written(number, case.exit))
        lines += self._regions()
        if self.summary.approximation is not None:
            lines += self._approximation(self.summary.approximation)
        lines += self._bounds()
        lines += [line for meaning in self.names.where() for line in _comment(f"in comments {meaning.strip()}")]
        if self.summary.approximation is not None and not self.summary.cases:
            return [*lines, *_comment(f"No relation {self.name}: nothing exact is said of any way to leave.")]
        if len(written) < len(self.summary.cases):
            lines += _comment(f"No relation {self.name}: some of its cases are missing above, or not exact.")
            return lines
        return [*lines, *self._relations(written)]

    def _variable_comments(self) -> Iterator[str]:
        for var in self.entry:
            shown = self.names.name(var)
            if self.symbols[var] != shown:
                yield from _comment(f"{self.symbols[var]} is {shown}")

    def _range(self) -> str:
        bounds = [_within(var.type, self.symbols[var]) for var in self.entry]
        bounds += [self._text(fact) for fact in t.conjuncts(self.summary.entered)]
        return self._predicate("entry", _joined("and", [bound for bound in bounds if bound], "true"))

    def _case(self, number: int, case: Case) -> tuple[list[str], bool]:
        part = f"case{number}"
        words = f"{count_words(case.iterations, self.names)}, then {exit_words(case.exit)}"
        lines = _comment(f"case {number}: {words}; trace {trace_words(case.trace, case.exit_path, self.names)}")
        lines += [line for assumption in case.assumptions for line in _comment(f"assuming {assumption}")]
        unstated = [out for var, out in self.exits.items() if var not in self.summary.known(case)]
        if unstated:
            lines += _comment(f"says nothing of {', '.join(unstated)}, which nothing uses behind this exit")
        if not case.exact:
            lines += _comment(OVER_APPROXIMATE)
        complete = case.exact
        try:
            lines.append(self._predicate(f"{part}.when", self._text(case.when)))
        except _Missing as missing:
            lines += _absent("condition", missing)
            complete = False
        try:
            effect = self._effect(case)
            lines.append(f"(define-fun {self.name}.{part}.effect ({self._parameters()}) Bool\n  {effect})")
        except _Missing as missing:
            lines += _absent("effect", missing)
            complete = False
        try:
            times = self._text(case.iterations)
            lines.append(f"(define-fun {self.name}.{part}.iterations ({self._entry_parameters()}) Int\n  {times})")
        except _Missing as missing:
            lines += _absent("number of iterations", missing)
        return [*lines, *self._memory(part, self.elements[number - 1])], complete

    def _memory(self, part: str, elements: Sequence[ElementBehind]) -> Iterator[str]:
        """Functions for what memory holds behind the loop."""
        parameters = " ".join(shown for shown in (self._entry_parameters(), f"({_ELEMENT} Int)") if shown)
        for found in elements:
            try:
                if found.value is None:
                    yield from _comment(f"{found.name} is not told: elements lie across one another")
                    continue
                value = self._text(found.value)
            except _Missing as missing:
                yield from _absent(f"element {found.name}", missing)
                continue
            yield from _comment(f"{found.name} behind the loop, for any {self.names.name(t.INDEX)}")
            yield f"(define-fun {t.symbol(f'{self.name}.{part}.{found.name}')} ({parameters}) Int\n  {value})"

    def _effect(self, case: Case) -> str:
        known = self.summary.known(case)
        parts = [f"(= {self.exits[var]} {self._text(known[var])})" for var in self.exits if var in known]
        if case.result is not None:
            parts.append(f"(= {_RETURNED} {self._text(case.result)})")
        return _joined("and", parts, "true")

    def _regions(self) -> Iterator[str]:
        yield from self._region("diverges", "the loop never ends", self.summary.diverges)
        places = ((u.kind.replace("-", " "), f" in line {u.line}" if u.line else "") for u in self.summary.undefined)
        kinds = ", ".join(dict.fromkeys(f"{kind}{place}" for kind, place in places))
        undefined = t.disjunction(u.when for u in self.summary.undefined)
        yield from self._region("undefined", f"undefined behaviour{': ' if kinds else ''}{kinds}", undefined)
        said = "nothing" if self.summary.approximation is None else "nothing exact"
        residual = t.disjunction(r.when for r in self.summary.residual)
        yield from self._region("residual", f"{said} is said about these entry values", residual)

    def _approximation(self, found: Approximation) -> Iterator[str]:
        """Each way to leave as a relation of entry values, free values and exit values; what else may happen."""
        yield from _comment(
            f"Over-approximate where {self.name}.residual holds: a run that leaves satisfies {self.name}.may, that is, "
            f"one of {self.name}.mayN for some values of the constants that are neither entry nor exit values."
        )
        written: list[str] = []
        for number, case in enumerate(found.cases, start=1):
            words = f"{count_words(case.iterations, self.names)}, then {exit_words(case.exit)}"
            yield from _comment(f"may {number}: {words}")
            try:
                name, free = f"{self.name}.may{number}", self._apart(case)
                yield from self._relation_of(name, case, free)
            except _Missing as missing:
                yield from _absent("relation", missing)
                continue
            constants = " ".join(f"({constant} Int)" for constant in free.values())
            call = _applied(name, [*self._both(), *free.values()])
            written.append(f"(exists ({constants}) {call})" if free else call)
        if len(written) == len(found.cases):
            within = self._call(f"{self.name}.entry")
            body = _joined("or", written, "false", "\n    ")
            yield f"(define-fun {self.name}.may ({self._parameters()}) Bool\n  (and {within}\n    {body}))"
        yield from self._region("may_diverge", "the loop may never end", found.may_diverge)
        undefined = t.disjunction(part.when for part in found.may_be_undefined)
        yield from self._region("may_be_undefined", "a run may meet undefined behaviour", undefined)
        lost = t.disjunction(part.when for part in found.may_be_lost)
        yield from self._region("may_be_lost", "a run may come to what is not followed", lost)

    def _bounds(self) -> Iterator[str]:
        """Bounds on the iterations over entry values, each with where it holds."""
        told = [bound for bound in self.answer.bounds if (bound.term.variables | bound.when.variables) <= {*self.entry}]
        for number, bound in enumerate(told, start=1):
            part = f"bound{number}"
            yield from _comment(f"bound {number}: at most so many iterations, however it is left")
            try:
                times, when = self._text(bound.term), self._text(bound.when)
            except _Missing as missing:
                yield from _absent("bound", missing)
                continue
            yield self._predicate(f"{part}.when", when)
            yield f"(define-fun {self.name}.{part}.iterations ({self._entry_parameters()}) Int\n  {times})"

    def _out(self, case: Case) -> dict[t.Var, str]:
        """The symbols of the exit values that are free variables."""
        out = {case.then[var]: self.exits[var] for var in self.exits if case.then.get(var) in case.free}
        out |= {case.result: _RETURNED} if case.result in case.free and case.result is not None else {}
        return {var: shown for var, shown in out.items() if isinstance(var, t.Var)}

    def _relation_of(self, name: str, case: Case, apart: Mapping[t.Var, str]) -> Iterator[str]:
        out = self._out(case)
        symbols = {**self.symbols, **out, **apart}

        def text(node: t.Node) -> str:
            found = t.smt(node, symbols, self.functions)
            if found is None:
                raise _Missing(self.names.brief(node))
            return found

        told = [(var, case.then[var]) for var in self.exits if var in case.then and case.then[var] not in out]
        parts = [text(part) for part in (case.when, case.facts) if part is not t.TRUE]
        parts += [f"(= {self.exits[var]} {text(term)})" for var, term in told]
        parts += [_within(var.type, symbols[var]) for var in case.free]
        if case.result is not None and case.result not in out:
            parts.append(f"(= {_RETURNED} {text(case.result)})")
        free = " ".join(f"({shown} Int)" for shown in apart.values())
        parameters = " ".join(part for part in (self._parameters(), free) if part)
        body = _joined("and", [part for part in parts if part], "true", "\n    ")
        yield f"(define-fun {name} ({parameters}) Bool\n  {body})"
        given = " ".join(part for part in (self._entry_parameters(), free) if part)
        if case.iterations.variables <= {*self.symbols, *apart}:
            yield f"(define-fun {name}.iterations ({given}) Int\n  {text(case.iterations)})"

    def _apart(self, case: Case) -> dict[t.Var, str]:
        """Symbols for the free variables of a relation that are no exit values."""
        out = self._out(case)
        found: dict[t.Var, str] = {}
        taken = {*self.symbols.values(), *self.exits.values(), _RETURNED}
        for var in (var for var in case.free if var not in out):
            shown = t.symbol(self.names.name(var))
            while shown in taken:
                shown = f"|{shown.strip('|')}.|"
            taken.add(shown)
            found[var] = shown
        return found

    def _region(self, part: str, meaning: str, region: t.Condition) -> Iterator[str]:
        yield from _comment(meaning if region is not t.FALSE else f"{part}: never")
        try:
            yield self._predicate(part, self._text(region))
        except _Missing as missing:
            yield from _absent("condition", missing)

    def _relations(self, written: Sequence[_Written]) -> Iterator[str]:
        left = [case for case in written if case.exit.kind != _SILENT]
        exits = list(dict.fromkeys(case.exit for case in left))
        lost = f"; none where {self.name}.residual holds" if self.summary.residual else ""
        whole = f"The loop: from these entry values it is left with these exit values{lost}."
        if len(exits) <= 1:
            yield from _comment(f"{whole} It {exit_words(exits[0])}." if exits else whole)
            yield self._relation(self.name, [self._case_holds(case) for case in left])
            yield from self._usage()
            return
        for number, exit in enumerate(exits, start=1):
            yield from _comment(f"Exit {number}: it {exit_words(exit)}.")
            mine = [self._case_holds(case) for case in left if case.exit == exit]
            yield self._relation(f"{self.name}.exit{number}", mine)
        yield from _comment(f"{whole} By any of its exits.")
        calls = [self._call_both(f"{self.name}.exit{number}") for number in range(1, len(exits) + 1)]
        yield f"(define-fun {self.name} ({self._parameters()}) Bool\n  {_joined('or', calls, 'false')})"
        yield from self._usage()

    def _case_holds(self, case: _Written) -> str:
        part = f"{self.name}.case{case.number}"
        return f"(and {self._call(f'{part}.when')} {self._call_both(f'{part}.effect')})"

    def _relation(self, name: str, cases: Sequence[str]) -> str:
        body = _joined("or", cases, "false", "\n    ")
        within = self._call(f"{self.name}.entry")
        return f"(define-fun {name} ({self._parameters()}) Bool\n  (and {within}\n    {body}))"

    def _usage(self) -> Iterator[str]:
        names = [*(self.symbols[var] for var in self.entry), *self.exits.values()]
        names += [_RETURNED] if self.returns else []
        yield "; For example:"
        yield from (f";   (declare-const {name} Int)" for name in names)
        yield f";   (assert {self._call_both(self.name)})"
        yield ";   (check-sat)"


def _within(type: t.IntType, name: str) -> str:
    """That ``name`` is in the range of the type; empty for ℤ."""
    if type.min is None or type.max is None:
        return ""
    return f"(<= {t.smt(t.const(type.min))} {name} {t.smt(t.const(type.max))})"


def _absent(what: str, missing: _Missing) -> list[str]:
    return _comment(f"its {what} has no form in the theory of integers: {missing}")


def _applied(name: str, arguments: Sequence[str]) -> str:
    return f"({name} {' '.join(arguments)})" if arguments else name


def _joined(word: str, parts: Sequence[str], empty: str, separator: str = " ") -> str:
    if not parts:
        return empty
    return parts[0] if len(parts) == 1 else f"({word}{separator}{separator.join(parts)})"


def _primed(symbol: str) -> str:
    return f"|{symbol.strip('|')}'|"


def _symbols(variables: Iterable[t.Var], names: Names) -> dict[t.Var, str]:
    """A symbol for each variable, no two the same, none with a prime at its end, which exit values have."""
    found: dict[t.Var, str] = {}
    taken: set[str] = set()
    for var in variables:
        shown = t.symbol(names.name(var).rstrip("'"))
        while shown in taken:
            shown = f"|{shown.strip('|')}.|"
        taken.add(shown)
        found[var] = shown
    return found


def _entry_variables(summary: LoopSummary, names: Names) -> set[t.Var]:
    """The variables that the summary speaks of, those that users know also where they keep their values."""
    nodes: list[t.Node] = [summary.diverges, summary.entered]
    nodes += [undefined.when for undefined in summary.undefined]
    nodes += [residual.when for residual in summary.residual]
    found: set[t.Var] = set()
    if summary.approximation is not None:
        for case in summary.approximation.cases:
            result = () if case.result is None else (case.result,)
            own = (case.when, case.facts, case.iterations, *case.then.values(), *result)
            found |= frozenset(case.then).union(*(node.variables for node in own)) - frozenset(case.free)
        found |= summary.approximation.may_diverge.variables
        nodes += [undefined.when for undefined in summary.approximation.may_be_undefined]
        nodes += [lost.when for lost in summary.approximation.may_be_lost]
    for case in summary.cases:
        known = {var: term for var, term in summary.known(case).items() if names.is_source(var)}
        found |= set(known)
        nodes += [case.when, case.iterations, *known.values(), *([case.result] if case.result is not None else [])]
        nodes += nodes_in(case.contents or {})
    found = found.union(*(node.variables for node in nodes)) - {t.INDEX}
    return {var for var in found if stream_of(var) is None}
