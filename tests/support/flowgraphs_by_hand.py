"""Small flowgraphs written by hand, for tests of the interpreter."""

from __future__ import annotations

from loopless.check.interpreter.run import Interpreter, InterpreterRun
from loopless.flowgraph.model import (
    Assign,
    Block,
    Check,
    Edge,
    End,
    Flowgraph,
    LoopInfo,
    MemoryObject,
    Parameter,
    Pointer,
    VariableInfo,
)
from loopless.refusals import Refused
from loopless.source.ir import Loc
from loopless.terms import (
    INTEGERS,
    TRUE,
    ZERO,
    Condition,
    IntType,
    Term,
    Var,
    add,
    conjunction,
    const,
    greater,
    less,
    negate,
    wrap,
)

I32, U32, U8 = IntType(32), IntType(32, signed=False), IntType(8, signed=False)
OFFSET = IntType(62)
X, N, S = Var("x", I32), Var("n", I32), Var("s", U32)
P_OBJECT, P = Var("p.object", INTEGERS), Var("p", OFFSET)
NULL = Pointer(ZERO, ZERO)


def loop_info(name: str, header: str, blocks: set[str], exits: list[tuple[str, int]], latch: str) -> LoopInfo:
    return LoopInfo(name, header, frozenset(blocks), (latch,), tuple(exits), None, 1, Loc("a.c", 3, 1), 3, 1, "a.c")


def graph(
    blocks: list[Block],
    *,
    parameters: tuple[Parameter, ...] = (),
    loops: tuple[LoopInfo, ...] = (),
    objects: tuple[MemoryObject, ...] = (),
    infos: tuple[VariableInfo, ...] = (),
    result: IntType | None = I32,
    blocked: dict[str, Refused] | None = None,
    name: str = "f",
) -> Flowgraph:
    return Flowgraph(
        name,
        name,
        parameters,
        result,
        False,
        {block.label: block for block in blocks},
        blocks[0].label,
        {info.var: info for info in infos},
        {described.number: described for described in objects},
        loops,
        (),
        None,
        blocked=blocked or {},
    )


def integers(*variables: Var) -> tuple[Parameter, ...]:
    return tuple(Parameter(var.name, var, var.type) for var in variables)


def branch(condition: Condition, yes: str, no: str) -> tuple[Edge, ...]:
    return Edge(condition, yes), Edge(negate(condition), no)


def go(target: str, **assigns: Term) -> tuple[Edge, ...]:
    variables = {"x": X, "n": N, "s": S}
    return (Edge(TRUE, target, tuple((variables[name], value) for name, value in assigns.items())),)


def straight(*statements: object, value: Term = ZERO, **options: object) -> InterpreterRun:
    block = Block("entry", tuple(statements), (), End("return", value))  # type: ignore[arg-type]
    return Interpreter(None, graph([block], **options)).run([])  # type: ignore[arg-type]


ONE_UP, BELOW = add(X, const(1)), less(X, N)


def counting(step: Term = ONE_UP, condition: Condition = BELOW) -> Flowgraph:
    """``s = 0; while (condition) { s += x (mod 2^32); x = step (checked) } return x``"""
    return graph(
        [
            Block("entry", (Assign(S, ZERO),), go("head")),
            Block("head", (), branch(condition, "body", "end")),
            Block(
                "body",
                (
                    Check(
                        conjunction((less(step, const(2**31)), greater(step, const(-(2**31) - 1)))), "signed-overflow"
                    ),
                ),
                go("head", s=wrap(add(S, X), U32), x=step),
            ),
            Block("end", (), (), End("return", X)),
        ],
        parameters=integers(X, N),
        loops=(loop_info("a.c:f:3:1", "head", {"head", "body"}, [("head", 1)], "body"),),
    )


# -- terms -------------------------------------------------------------------------------------------------------------

Y = Var("y", INTEGERS)
LOCAL = MemoryObject(1, "a", "local", 8)
TABLE = MemoryObject(2, "table", "global", 4, U8, constant=True, content=bytes([1, 2, 3, 255]), symbol="table")
LINK = MemoryObject(3, "link", "global", 8, None, content=bytes(8), symbol="link", relocations=((0, "table", 1),))
