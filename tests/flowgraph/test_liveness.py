"""Which variables are live, by hand and by running with what is dead taken out."""

from __future__ import annotations

from itertools import product

from flowgraphs_by_hand import BELOW, I32, ONE_UP, N, S, X, branch, counting, go, graph, integers
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph.def_use import defined_by, edge_uses, end_uses, used_by
from loopless.flowgraph.liveness import live_at_entry, without_dead
from loopless.flowgraph.model import Assign, Block, Call, Check, Edge, End, Havoc, Load, Origin, Pointer, Store
from loopless.terms import TRUE, ZERO, Var, add, const, less

A, B, C = Var("a", I32), Var("b", I32), Var("c", I32)


def test_what_a_statement_reads_and_changes() -> None:
    there = Pointer(A, B)
    cases = [
        (Assign(X, add(A, B)), {A, B}, (X,)),
        (Check(less(A, B), "bounds"), {A, B}, ()),
        (Havoc(X, Origin.NONDET, "input"), set(), (X,)),
        (Load(X, there, I32, target_object=N), {A, B}, (X, N)),
        (Store(there, C, I32, value_object=X), {A, B, C, X}, ()),
        (Call("g", (there, C), target=X), {A, B, C}, (X,)),
    ]
    for statement, used, defined in cases:
        assert used_by(statement) == used
        assert defined_by(statement) == defined


def test_assignments_of_an_edge_are_parallel() -> None:
    """a, b = b, a: what is needed of both before is both, though each is overwritten."""
    swap = Edge(TRUE, "next", ((A, B), (B, A)))
    assert edge_uses(swap, [A]) == {B}
    assert edge_uses(swap, [A, B]) == {A, B}
    assert edge_uses(swap, [C]) == {C}
    assert edge_uses(Edge(less(X, N), "next", ((A, C),)), [B]) == {X, N, B}
    assert end_uses(End("return", add(A, B))) == {A, B}
    assert end_uses(End("abort")) == frozenset()


def test_a_loop_needs_what_its_later_rounds_use() -> None:
    """``while (x < n) x = x + 1; return x``: s is added up and never used."""
    g = counting()
    live = live_at_entry(g.blocks, frozenset())
    assert live == {"entry": {X, N}, "head": {X, N}, "body": {X, N}, "end": {X}}
    # Where the caller sees s, all blocks but the first, which sets it, need it.
    seen = live_at_entry(g.blocks, frozenset((S,)))
    assert seen == {"entry": {X, N}, "head": {X, N, S}, "body": {X, N, S}, "end": {X, S}}


def test_liveness_is_the_least_solution_of_its_equations() -> None:
    """Statement by statement and round by round as textbooks have it, on a nest with a swap on a back edge."""
    swap = Edge(TRUE, "head", ((A, B), (B, A), (C, add(A, const(1)))))
    blocks = {
        "entry": Block("entry", (Assign(A, X), Assign(B, A)), go("head")),
        "head": Block("head", (Assign(X, add(X, A)),), branch(BELOW, "inner", "end")),
        "inner": Block("inner", (Assign(N, C), Havoc(C, Origin.NONDET, "c")), branch(less(B, C), "inner", "latch")),
        "latch": Block("latch", (Check(less(C, N), "bounds"),), (swap,)),
        "end": Block("end", (), (), End("return", X)),
    }
    live: dict[str, frozenset[Var]] = dict.fromkeys(blocks, frozenset())
    for _ in range(len(blocks) * 6):
        for label, block in blocks.items():
            needed = set().union(*(edge_uses(edge, live[edge.target]) for edge in block.edges))
            needed |= end_uses(block.end) | {S} if block.end is not None else set()
            for statement in reversed(block.statements):
                needed = needed - set(defined_by(statement)) | used_by(statement)
            live[label] = frozenset(needed)
    assert live["inner"] != live["latch"]
    assert live_at_entry(blocks, frozenset((S,))) == live


def test_what_is_live_behind_some_blocks_may_be_told() -> None:
    block = Block("b", (Assign(A, B),), go("behind"))
    assert live_at_entry({"b": block}, frozenset(), {"behind": frozenset((A, C))})["b"] == {B, C}


def chained() -> list[Block]:
    """c depends on b and b on a, and nothing on c; the call and the input stay, though nothing uses what they give."""
    statements = (
        Assign(A, X),
        Assign(B, add(A, const(1))),
        Assign(C, add(B, const(1))),
        Havoc(Var("i", I32), Origin.NONDET, "input"),
        Havoc(Var("u", I32), Origin.UNINITIALISED, "u"),
        Call("rand", (), Var("r", I32), writes_memory=False),
    )
    return [
        Block("entry", statements, (Edge(TRUE, "head", ((S, ZERO),)),)),
        Block("head", (), branch(BELOW, "body", "end")),
        Block("body", (), (Edge(TRUE, "head", ((S, add(S, const(1))), (X, ONE_UP))),)),
        Block("end", (), (), End("return", X)),
    ]


def test_what_nothing_uses_is_taken_out_with_what_only_that_needs() -> None:
    blocks = {block.label: block for block in chained()}
    cleaned, live = without_dead(blocks, frozenset(), frozenset())
    kept = cleaned["entry"].statements
    assert [type(statement) for statement in kept] == [Havoc, Call]
    assert cleaned["entry"].edges[0].assigns == ()
    assert [target for target, _ in cleaned["body"].edges[0].assigns] == [X]
    assert live == live_at_entry(cleaned, frozenset())


def test_what_users_may_ask_for_stays() -> None:
    blocks = {block.label: block for block in chained()}
    cleaned, _ = without_dead(blocks, frozenset(), frozenset((C, S)))
    assert [target for s in cleaned["entry"].statements for target in defined_by(s)][:3] == [A, B, C]
    assert [target for target, _ in cleaned["body"].edges[0].assigns] == [S, X]


def test_runs_are_the_same_without_what_is_dead() -> None:
    blocks = chained()
    blocks[0] = Block("entry", blocks[0].statements[:3], blocks[0].edges)
    g = graph(blocks, parameters=integers(X, N))
    cleaned, _ = without_dead(g.blocks, frozenset(), frozenset())
    assert cleaned != g.blocks
    short = graph(list(cleaned.values()), parameters=integers(X, N))
    for row in product((-3, 0, 4), (-5, 0, 2, 9)):
        assert Interpreter(None, short).run(row).outcome == Interpreter(None, g).run(row).outcome
        assert Interpreter(None, short).run(row).outcome.return_value == max(row)
