"""The calls of a function by itself, and what stands behind each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from loopless import terms as t
from loopless.flowgraph.liveness import live_at_entry
from loopless.flowgraph.model import Assign, Block, Call, Check, Flowgraph, Kind, Parameter, Pointer
from loopless.graphs import reachable
from loopless.records import dataclass
from loopless.source import ir


class NotLinear(Exception):
    """Why the function is not one that can be read as a loop."""


@dataclass(frozen=True, slots=True)
class Site:
    """A call of the function by itself: the statement ``at`` of the block ``label``."""

    label: str
    at: int
    call: Call


@dataclass(frozen=True, slots=True)
class After:
    """What happens behind a call on a straight way to the return: ``result`` over the result of the call and the
    caller's variables at the call (None: nothing is returned). ``plain``: nothing else happens there but ``checks``.
    """

    result: t.Term | None
    plain: bool
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class SelfCallStep:
    """The caller returns factor·(result of the call) + term; ``check`` is that this fits the type, where that is not
    sure.
    """

    factor: t.Term
    term: t.Term
    check: Check | None = None

    @property
    def sign(self) -> int:
        """1 or -1 where the term surely is not negative or not positive, 0 where that is not known."""
        low, high = t.range_of(self.term)
        return 1 if low is not None and low >= 0 else -1 if high is not None and high <= 0 else 0


class Ways:
    """The ways through a flowgraph."""

    def __init__(self, graph: Flowgraph) -> None:
        self.graph = graph

    def reached(self, labels: Iterable[str]) -> set[str]:
        """The blocks that a run may reach from there, those included."""
        return reached(self.graph.blocks, labels)

    def after(self, site: Site) -> After | None:
        """What happens behind a call, None where that is no straight way to a return."""
        block = self.graph.blocks[site.label]
        statements, seen = block.statements[site.at + 1 :], {block.label}
        values: dict[t.Var, t.Term] = {}
        plain = True
        checks: list[Check] = []
        while True:
            for statement in statements:
                match statement:
                    case Assign(target=target, value=value):
                        values[target] = t.substitute(value, values)
                        plain &= self.graph.variables[target].kind is not Kind.GLOBAL
                    case Check(condition=condition):
                        checks.append(replace(statement, condition=t.substitute(condition, values)))
                    case _:
                        plain = False
            if block.end is not None:
                if block.end.kind != "return" or block.end.refused is not None:
                    return None
                result = block.end.value
                return After(None if result is None else t.substitute(result, values), plain, tuple(checks))
            if len(block.edges) != 1:
                return None
            (edge,) = block.edges
            moved = {target: t.substitute(value, values) for target, value in edge.assigns}
            plain &= not any(self.graph.variables[target].kind is Kind.GLOBAL for target in moved)
            values |= moved
            if edge.target in seen:
                return None
            seen.add(edge.target)
            block = self.graph.blocks[edge.target]
            statements = block.statements


def reached(blocks: Mapping[str, Block], labels: Iterable[str]) -> set[str]:
    """The blocks that a run may reach from ``labels``, those included."""
    return set(reachable(labels, lambda label: blocks[label].successors))


def used_from(
    block: Block, start: int, live: Mapping[str, frozenset[t.Var]], ends: frozenset[t.Var]
) -> frozenset[t.Var]:
    """What is used from the statement ``start`` of a block on."""
    rest = replace(block, statements=block.statements[start:])
    return live_at_entry({block.label: rest}, ends, live)[block.label]


def argument(parameter: Parameter, value: t.Term | Pointer) -> t.Term:
    """What a parameter gets from an argument. Raises :class:`NotLinear` for pointers."""
    if isinstance(value, Pointer) or parameter.var is None:
        raise NotLinear(f"its parameter {parameter.name} is no integer")
    return value if parameter.type == parameter.var.type else t.wrap(value, parameter.var.type)


def fitting(value: t.Term, type: t.IntType) -> t.Condition:
    """That a value lies in the range of a type."""
    return t.between(type.min, value, type.max)


def first_place(block: Block) -> ir.Loc | None:
    """The first place in the source that a block tells."""
    found = (part.loc for part in (*block.statements, *block.edges) if part.loc is not None and part.loc.line)
    return next(found, None)


def step_of(after: After, site: Site, result: t.IntType | None, changing: frozenset[t.Var]) -> SelfCallStep | None:
    """What a caller makes of the result of its call, if that is linear; ``changing``: what the call may change."""
    if after.result is None:
        return None if after.checks else SelfCallStep(t.ONE, t.ZERO)
    target = site.call.target
    if result is None or target is None or target.type.width != result.width:
        return None
    whole = after.result if result.width is None else _modulo(after.result, result.width)
    factors: dict[t.Monomial, int] = {}
    rest: dict[t.Monomial, int] = {}
    for monomial, coefficient in t.polynomial(whole).items():
        exponents = dict(monomial)
        if exponents.pop(target, 0) == 1:
            factors[tuple(exponents.items())] = coefficient
        else:
            rest[monomial] = coefficient
    factor, term = t.from_polynomial(factors), t.from_polynomial(rest)
    if (factor.variables | term.variables) & (changing | {target}):
        return None
    if result.width == 1 and (factor, term) != (t.ONE, t.ZERO):
        return None
    if not after.checks:
        return SelfCallStep(factor, term)
    expected = fitting(factor * target + term, result)
    alone = len(after.checks) == 1 and after.checks[0].condition is expected and target.type == result
    return SelfCallStep(factor, term, after.checks[0]) if alone and result.signed else None


def _modulo(term: t.Term, width: int) -> t.Term:
    """A term congruent modulo 2^width, with fewer reductions in it."""
    match term:
        case t.Wrap(arg=arg, type=type) if type.width is not None and type.width >= width:
            return _modulo(arg, width)
        case t.Sum(items=items):
            return t.add(
                *(
                    c * t.product([t.power(_modulo(atom, width), t.const(e)) for atom, e in monomial])
                    for monomial, c in items
                )
            )
        case _:
            return term


def inverse(var: t.Var, moved: t.Term, same: set[t.Var]) -> t.Term | None:
    """``var`` from its value ``moved`` at the call, which then has its name; ``same`` do not change."""
    wrapped = isinstance(moved, t.Wrap) and moved.type == var.type
    inner = moved.arg if isinstance(moved, t.Wrap) and wrapped else moved
    rest = inner - var
    if var in rest.variables or not rest.variables <= same:
        return None
    value = var - rest
    return t.wrap(value, var.type) if wrapped else value
