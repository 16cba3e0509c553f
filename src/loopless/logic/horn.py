"""Invariants by Z3's Spacer: a transition system as constrained Horn clauses (Komuravelli, Gurfinkel and Chaki,
SMT-based model checking for recursive programs, CAV 2014).

What it finds is a proposal: its covers need not be inductive, and whoever uses them checks them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import reduce
from typing import Any

from loopless import terms as t
from loopless.limits.foundation import SPACER_STEPS_PER_MS
from loopless.logic.smt_integers import IntegerTranslation
from loopless.logic.steps import PlaceStep, State
from loopless.metering import limit, new_context, query
from loopless.records import dataclass


@dataclass(frozen=True, slots=True)
class Solved:
    """``safe``: whether the goal is out of reach, None where that was not decided; ``invariants``: where it is, what
    Spacer says holds at each location.
    """

    safe: bool | None
    invariants: Mapping[str, t.Condition] = field(default_factory=dict)


def solved(steps: Sequence[PlaceStep], state: State, start: str, goals: frozenset[str], timeout_ms: int) -> Solved:
    """Whether a run from ``start`` can come to one of ``goals``."""
    import z3  # type: ignore[import-untyped]

    context = new_context()
    engine = z3.Fixedpoint(ctx=context)
    engine.set(engine="spacer")
    limit(engine, timeout_ms, SPACER_STEPS_PER_MS)
    engine.set("xform.slice", False)
    engine.set("xform.inline_linear", False)
    engine.set("xform.inline_eager", False)
    sort = z3.IntSort(context)
    names = [name for name in state if name != start]
    predicates = {
        name: z3.Function(f"p{index}", *[sort] * len(state[name]), z3.BoolSort(context))
        for index, name in enumerate(names)
    }
    goal = z3.Function("goal", z3.BoolSort(context))
    for predicate in (*predicates.values(), goal):
        engine.register_relation(predicate)
    for step in steps:
        made = IntegerTranslation(z3, context)
        body = made.condition(step.condition)
        before = [made.formula(var) for var in state.get(step.source, ())]
        if step.target in goals:
            head = goal()
        else:
            head = predicates[step.target](*(made.formula(step.update.get(v, v)) for v in state[step.target]))
        given = [] if step.source == start else [predicates[step.source](*before)]
        variables = list(made.variables.values())
        rule = z3.Implies(z3.And(*given, body, *made.facts), head)
        engine.rule(z3.ForAll(variables, rule) if variables else rule)
    try:
        found = query(engine, goal())
    except z3.Z3Exception:
        return Solved(None)
    if found == z3.sat:
        return Solved(False)
    if found != z3.unsat:
        return Solved(None)
    try:
        return Solved(True, _covers(z3, engine, predicates, state))
    except (z3.Z3Exception, _Unreadable):
        return Solved(True)


class _Unreadable(Exception):
    pass


def _covers(z3: Any, engine: Any, predicates: Mapping[str, Any], state: State) -> dict[str, t.Condition]:
    """What Spacer says of each location, in our terms."""
    found = {}
    for name, predicate in predicates.items():
        cover = engine.get_cover_delta(-1, predicate)
        found[name] = _Reader(z3, state[name]).condition(cover)
    return found


class _Reader:
    """From Z3's formulas over the arguments of a predicate to conditions."""

    def __init__(self, z3: Any, variables: Sequence[t.Var]) -> None:
        self.z3, self.variables = z3, variables

    def condition(self, expression: Any) -> t.Condition:
        z3 = self.z3
        kind = expression.decl().kind() if z3.is_app(expression) else None
        parts = expression.children()
        match kind:
            case z3.Z3_OP_TRUE:
                return t.TRUE
            case z3.Z3_OP_FALSE:
                return t.FALSE
            case z3.Z3_OP_AND:
                return t.conjunction([self.condition(part) for part in parts])
            case z3.Z3_OP_OR:
                return t.disjunction([self.condition(part) for part in parts])
            case z3.Z3_OP_NOT:
                return ~self.condition(parts[0])
            case z3.Z3_OP_IMPLIES:
                return ~self.condition(parts[0]) | self.condition(parts[1])
            case z3.Z3_OP_LE | z3.Z3_OP_GE | z3.Z3_OP_LT | z3.Z3_OP_GT:
                a, b = (self.term(part) for part in parts)
                if kind in (z3.Z3_OP_GE, z3.Z3_OP_GT):
                    a, b = b, a
                strict = kind in (z3.Z3_OP_LT, z3.Z3_OP_GT)
                return (a + 1 if strict else a).le(b)
            case z3.Z3_OP_EQ:
                if z3.is_bool(parts[0]):
                    p, q = (self.condition(part) for part in parts)
                    return p & q | ~p & ~q
                return t.equals_zero(self.term(parts[0]) - self.term(parts[1]))
            case z3.Z3_OP_DISTINCT if len(parts) == 2:
                return ~t.equals_zero(self.term(parts[0]) - self.term(parts[1]))
            case z3.Z3_OP_ITE:
                when, then, otherwise = (self.condition(part) for part in parts)
                return when & then | ~when & otherwise
            case _:
                raise _Unreadable

    def term(self, expression: Any) -> t.Term:
        z3 = self.z3
        if z3.is_var(expression):
            return self.variables[int(z3.get_var_index(expression))]
        if z3.is_int_value(expression):
            return t.const(expression.as_long())
        parts = [self.term(part) for part in expression.children() if z3.is_int(part)]
        match expression.decl().kind():
            case z3.Z3_OP_ADD:
                return t.add(*parts)
            case z3.Z3_OP_SUB:
                return reduce(t.sub, parts)
            case z3.Z3_OP_UMINUS:
                return parts[0] * -1
            case z3.Z3_OP_MUL:
                return reduce(t.mul, parts)
            case z3.Z3_OP_IDIV if _is_positive(parts[1]):
                return t.floor_div(*parts)
            case z3.Z3_OP_MOD if _is_positive(parts[1]):
                return t.mod(*parts)
            case z3.Z3_OP_ITE:
                return t.ite(self.condition(expression.children()[0]), *parts)
            case _:
                raise _Unreadable


def _is_positive(term: t.Term) -> bool:

    low = t.range_of(term)[0]
    return low is not None and low > 0
