"""What calls of library functions return: between what their results lie, over their arguments.

Only where the program does not define the function itself, and where the argument surely fits the type of a result that
may be negative: what ``read`` returns for more than ``SSIZE_MAX`` bytes, the implementation says (POSIX.1-2017).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from loopless import terms as t
from loopless.bounds.iteration.facts import Facts, SymbolIntervals
from loopless.flowgraph.model import Call, Flowgraph, Havoc, Origin, Pointer, Statement
from loopless.records import dataclass
from loopless.source.vocabulary import RESULTS
from loopless.terms.ranges import Range


@dataclass(slots=True)
class Results:
    """What is known of the results of the calls of one iteration, by the variables that take them."""

    graph: Flowgraph
    intervals: SymbolIntervals
    _known: dict[t.Var, tuple[str, Range, t.Term | None]] = field(default_factory=dict)

    def note(self, call: Call, value: Callable[[t.Term], t.Term | None], facts: Facts) -> None:
        """At a call, where ``value`` gives its arguments over the values at the beginning of the iteration."""
        rule = RESULTS.get(call.callee) if call.outside and call.target_object is None else None
        target = call.target
        if rule is None or target is None:
            return
        least, most = target.type.min, target.type.max
        if least is not None and rule.least < least:
            return  # it is read as an unsigned number
        high, cap = rule.most, None
        if rule.at_most is not None:
            argument = call.arguments[rule.at_most] if rule.at_most < len(call.arguments) else None
            cap = value(argument) if isinstance(argument, t.Term) else None
        elif rule.string is not None:
            cap = self._length(call.arguments[rule.string] if rule.string < len(call.arguments) else None, value)
        if rule.most is None:
            high = None if cap is None else facts.most_of(cap, self.intervals)
            low = None if cap is None else facts.most_of(-cap, self.intervals)
            if cap is None or high is None or low is None or low > 0:
                return
            if most is not None and high > most:
                if rule.least < 0:
                    return
                high = most  # so many elements no object has
        self._known[target] = call.callee, (rule.least, high), None if isinstance(cap, t.Const) else cap

    def _length(self, argument: t.Term | Pointer | None, value: Callable[[t.Term], t.Term | None]) -> t.Term | None:
        """The greatest length of a string that ends in the object that it begins in."""
        if not isinstance(argument, Pointer) or not isinstance(argument.object, t.Const):
            return None
        held = self.graph.objects.get(argument.object.value)
        offset = value(argument.offset)
        if held is None or held.kind not in ("local", "global") or offset is None:
            return None
        size = value(held.extent) if held.extent is not None else t.const(held.size) if held.size else None
        return None if size is None else size - 1 - offset

    def learned(
        self, statement: Statement, values: Mapping[t.Var, t.Term], facts: Facts
    ) -> tuple[Facts, t.Condition | None]:
        """What holds behind a statement that gives a result its value, and what no choice of the result may break."""
        if not isinstance(statement, Call | Havoc) or statement.target not in self._known:
            return facts, None
        callee, ends, cap = self._known[statement.target]
        symbol = values.get(statement.target)
        if isinstance(statement, Call):
            is_result = not statement.writes_memory  # else a Havoc says it
        else:
            is_result = statement.origin is Origin.CALL and statement.name == callee
        if not isinstance(symbol, t.Var) or symbol not in self.intervals.symbols or not is_result:
            return facts, None
        self.intervals.narrow(symbol, ends)
        if cap is None:
            return facts, None
        for claim in (symbol - cap, *_below(symbol, cap, facts)):
            facts = facts.at_most(claim, self.intervals) or facts
        return facts, symbol.le(cap)


def _below(symbol: t.Var, cap: t.Term, facts: Facts) -> list[t.Term]:
    """What is at most 0 for what is at most ``cap``, by the facts that bound that from above."""
    own = ((cap, 1),)
    bounding = [(linear, most) for linear, most in facts.most.items() if t.polynomial(linear).get(own) == 1]
    return [linear - most + (symbol - cap) for linear, most in bounding]
