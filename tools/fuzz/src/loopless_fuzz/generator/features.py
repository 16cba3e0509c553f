"""Which features a generated program has: what campaigns count by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from loopless_fuzz.generator.profile import OBSERVED
from loopless_fuzz.generator.syntax import (
    BOOL,
    CHAR,
    TYPES,
    Assign,
    Assume,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Choice,
    Const,
    Continue,
    CopyElements,
    Declare,
    DeclareArray,
    DeclarePointer,
    DoWhile,
    Element,
    Expr,
    For,
    Function,
    GeneratedProgram,
    GlobalArray,
    GotoLoop,
    If,
    Invoke,
    Loop,
    OverwriteByte,
    OverwriteTable,
    Param,
    Return,
    Step,
    Switch,
    Var,
    Walk,
    While,
    assigned,
    parts,
    used,
    walk,
)

FEATURES: Final = (
    "while",
    "for",
    "do-while",
    "goto-loop",
    "branch",
    "nested-branch",
    "and",
    "or",
    "break",
    "continue",
    "return-in-loop",
    "nest",
    "loops-in-sequence",
    "switch",
    "ternary",
    "cast",
    "compound-assignment",
    "increment",
    "decrement",
    "division-by-constant",
    "division-by-variable",
    "remainder-by-constant",
    "remainder-by-variable",
    "shift-by-constant",
    "shift-by-variable",
    "mask",
    "product",
    "local-array",
    "array-parameter",
    "array-written",
    "helper-call",
    "helper-with-loop",
    "helper-by-reference",
    "global",
    "nondet",
    "assume",
    "nest-of-three",
    "inner-loops-in-sequence",
    "inner-bound-from-counter",
    "inner-bound-from-accumulator",
    "inner-moves-outer",
    "exit-from-inner",
    "variable-step",
    "factor-step",
    "affine-step",
    "linear-map",
    "product-in-condition",
    "polynomial-sum",
    "recursion",
    "tail-recursion",
    "linear-recursion",
    "tree-recursion",
    "left-shift",
    "bool",
    "byte-over-bool",
    "memcpy",
    "memmove",
    "const-table",
    "const-table-written",
    "pointer-walk",
    "read-only-parameter",
    "read-only-global",
    "two-streams",
    "edge-constant",
    "mixed-types",
    "mixed-signs",
    *(ctype.name for ctype in (*TYPES, CHAR)),
)
"""Everything that :func:`features` can report."""

_LOOPS: Final = (While, DoWhile, For, GotoLoop)
_EDGES: Final = frozenset(
    edge + off for bits in (7, 8, 15, 16, 31, 32, 63, 64) for edge in (1 << bits, -(1 << bits)) for off in (-1, 0, 1)
)


def features(program: GeneratedProgram) -> frozenset[str]:
    """The features that a program shows, found by looking at it."""
    found: set[str] = set()
    helpers = {helper.name: helper for helper in program.helpers}
    for node in walk(program):
        found.update(_of_node(node))
        if isinstance(node, _LOOPS):
            found.update(_of_nest(node), _of_steps(node))
        elif isinstance(node, Function):
            found.update(_of_recursion(node))
        if isinstance(node, Call):
            found.add("nondet" if node.function.startswith("__VERIFIER") else "helper-call")
    if any(isinstance(helper, Function) and _loops_below(helper) for helper in helpers.values()):
        found.add("helper-with-loop")
    if used(program.function) & {var.name for var in program.globals if not var.name.startswith(OBSERVED)}:
        found.add("global")
    types = [node.type for node in walk(program) if isinstance(node, Declare | Param | DeclareArray)]
    if BOOL in types:
        found.add("bool")
    types = [ctype for ctype in types if ctype != BOOL]
    found.update(ctype.name for ctype in types)
    if len(set(types)) > 1:
        found.add("mixed-types")
    if len({ctype.signed for ctype in types}) > 1:
        found.add("mixed-signs")
    if any(isinstance(node, _LOOPS) and len(_streams(node)) > 1 for node in walk(program)):
        found.add("two-streams")
    if sum(isinstance(stmt, _LOOPS) for stmt in program.function.body) > 1:
        found.add("loops-in-sequence")
    return frozenset(found)


def _streams(loop: Loop) -> frozenset[str]:
    """The arrays that a loop reads at indices which it does not mask."""
    return frozenset(node.array for node in walk(loop) if isinstance(node, Element) and not node.masked)


def _loops_below(node: object) -> int:
    return sum(isinstance(item, _LOOPS) for part in parts(node) for item in walk(part))


def _below(node: object, kind: type) -> bool:
    return any(isinstance(item, kind) for part in parts(node) for item in walk(part))


_KINDS: Final[dict[type, str]] = {
    While: "while",
    DoWhile: "do-while",
    For: "for",
    GotoLoop: "goto-loop",
    If: "branch",
    Break: "break",
    Continue: "continue",
    Switch: "switch",
    Choice: "ternary",
    Cast: "cast",
    Assume: "assume",
    Invoke: "helper-by-reference",
    OverwriteByte: "byte-over-bool",
    OverwriteTable: "const-table-written",
    Walk: "pointer-walk",
    DeclarePointer: "pointer-walk",
    GlobalArray: "read-only-global",
}


def _of_node(node: object) -> set[str]:
    found = {_KINDS[type(node)]} if type(node) in _KINDS else set()
    match node:
        case While() | DoWhile() | For() | GotoLoop():
            return (
                found
                | ({"nest"} if _loops_below(node) else set())
                | ({"return-in-loop"} if _below(node, Return) else set())
            )
        case If():
            return found | ({"nested-branch"} if _below(node, If) else set())
        case Param(array=True, constant=constant):
            return {"read-only-parameter" if constant else "array-parameter"}
        case DeclareArray():
            return {"const-table" if node.constant else "local-array"}
        case CopyElements():
            return {"memmove" if node.moves else "memcpy"}
        case Step(_, op):
            return {"increment" if op == "++" else "decrement"}
        case Assign(target, op, value):
            written = {"array-written"} if isinstance(target, Element) else set()
            return written | ({"compound-assignment"} | _of_operator(op, value) if op else set())
        case Binary(op, _, right):
            return _of_operator(op, right)
        case Const(value) if value in _EDGES and abs(value) > 64:
            return {"edge-constant"}
        case _:
            return found


def _of_operator(op: str, right: object) -> set[str]:
    kind = "constant" if isinstance(right, Const) else "variable"
    match op:
        case "&&":
            return {"and"}
        case "||":
            return {"or"}
        case "/":
            return {f"division-by-{kind}"}
        case "%":
            return {f"remainder-by-{kind}"}
        case "<<" | ">>":
            return {f"shift-by-{kind}"} | ({"left-shift"} if op == "<<" else set())
        case "&" if isinstance(right, Const):
            return {"mask"}
        case "*" if not isinstance(right, Const):
            return {"product"}
        case _:
            return set()


# ----------------------------------------------------------------------------------------------------------- loops


def _of_nest(loop: Loop) -> set[str]:
    """How the loops right inside a loop hang together with it."""
    inner = [(before, item) for before, item in _inner(loop.body, ()) if isinstance(item, _LOOPS)]
    if not inner:
        return set()
    found: set[str] = set()
    if len(inner) > 1:
        found.add("inner-loops-in-sequence")
    counters = _names_in(loop.condition)
    inside = [assigned(item) for _, item in inner]
    changed = assigned(loop.body)
    for (before, item), own in zip(inner, inside, strict=True):
        if _loops_below(item):
            found.add("nest-of-three")
        # What the inner loop's first and last values come from.
        bounds = _names_in(item.condition) - own
        starts = [item.start] if isinstance(item, For) and item.start is not None else []
        for stmt in (*before, *starts):
            if assigned(stmt) & own and isinstance(stmt, Declare | Assign):
                bounds |= _names_in(stmt.value)
        moving = bounds & changed
        if moving & counters:
            found.add("inner-bound-from-counter")
        if moving - counters:
            found.add("inner-bound-from-accumulator")
        if own & counters:
            found.add("inner-moves-outer")
        if _below(item, Break) or _below(item, Return):
            found.add("exit-from-inner")
    return found


def _inner(block: Block, before: Block) -> Iterator[tuple[Block, object]]:
    """The loops of a block that stand in no other loop of it, each with the statements just before it."""
    for at, stmt in enumerate(block):
        if isinstance(stmt, _LOOPS):
            yield block[max(at - 2, 0) : at] or before, stmt
        elif isinstance(stmt, If):
            yield from _inner(stmt.then, block[:at])
            yield from _inner(stmt.otherwise, block[:at])
        elif isinstance(stmt, Switch):
            for _, arm in stmt.cases:
                yield from _inner(arm, block[:at])
            yield from _inner(stmt.default, block[:at])


def _names_in(expr: Expr | None) -> frozenset[str]:
    return used(expr) if expr is not None else frozenset()


def _of_steps(loop: Loop) -> set[str]:
    """How the variables of a loop move that are more than counters, and what its condition is."""
    found: set[str] = set()
    if loop.condition is not None and any(_is_product(item) for item in walk(loop.condition)):
        found.add("product-in-condition")
    changed = assigned(loop)
    counters = _names_in(loop.condition) & changed
    copies: set[tuple[str, str]] = set()
    for item in walk(loop):
        if not isinstance(item, Assign) or not isinstance(item.target, Var):
            continue
        name, op, value = item.target.name, item.op, item.value
        if op == "" and isinstance(value, Binary) and value.op in "+-" and Var(name) in (value.left, value.right):
            op, value = value.op, value.right if value.left == Var(name) else value.left
        names = _names_in(value)
        if op in ("*", "/", "<<", ">>") and isinstance(value, Const):
            found.add("factor-step")
        if op in ("+", "-") and names and name in counters:
            found.add("variable-step")
        if op in ("+", "-") and any(_is_product(part) for part in walk(value)) and names & changed:
            found.add("polynomial-sum")
        if op == "" and isinstance(value, Binary) and value.op in ("+", "-") and _is_multiple(value.left, name):
            found.add("affine-step")
        if op == "" and isinstance(value, Var):
            copies.add((name, value.name))
    if any(one != other and other in changed for one, other in copies):
        found.add("linear-map")
    return found


def _is_product(node: object) -> bool:
    return isinstance(node, Binary) and node.op == "*" and bool(_names_in(node.left)) and bool(_names_in(node.right))


def _is_multiple(expr: Expr, name: str) -> bool:
    return isinstance(expr, Binary) and expr.op == "*" and {Var(name)} <= {expr.left, expr.right}


def _of_recursion(function: Function) -> set[str]:
    calls = [item for item in walk(function.body) if isinstance(item, Call) and item.function == function.name]
    if not calls:
        return set()
    returns = [item.value for item in walk(function.body) if isinstance(item, Return)]
    with_value = [item for item in walk(function.body) if isinstance(item, Return | Declare | Assign)]
    most = max(_self_calls(item, function.name) for item in with_value)
    if most > 1:
        return {"recursion", "tree-recursion"}
    tails = sum(isinstance(value, Call) and value.function == function.name for value in returns)
    return {"recursion", "tail-recursion" if tails == len(calls) else "linear-recursion"}


def _self_calls(stmt: Return | Declare | Assign, name: str) -> int:
    return sum(isinstance(item, Call) and item.function == name for item in walk(stmt.value))
