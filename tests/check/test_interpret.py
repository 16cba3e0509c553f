"""The interpreter on flowgraphs written by hand: what C rarely shows, and what must never be said wrongly."""

from __future__ import annotations

import random

import pytest

from flowgraphs_by_hand import (
    I32,
    U8,
    U32,
    N,
    S,
    X,
    Y,
    branch,
    counting,
    go,
    graph,
    integers,
    loop_info,
    straight,
)
from loopless import clock
from loopless.check.interpreter.run import Interpreter, Jump
from loopless.flowgraph.model import (
    Assign,
    Assume,
    Block,
    Check,
    Edge,
    End,
    Fill,
    Flowgraph,
    Havoc,
    Load,
    LoopInfo,
    MemoryObject,
    Origin,
    Parameter,
    Pointer,
    Store,
)
from loopless.refusals import Reason, Refused
from loopless.source.ir import Loc
from loopless.terms import (
    FALSE,
    TRUE,
    ZERO,
    Condition,
    IntType,
    Term,
    Var,
    add,
    bit_and,
    bit_or,
    bit_xor,
    conjunction,
    const,
    disjunction,
    equal,
    evaluate,
    floor_div,
    greater,
    holds,
    ite,
    less,
    maximum,
    minimum,
    mod,
    mul,
    negate,
    not_equal,
    scale,
    shift_left,
    shift_right,
    sub,
    trunc_div,
    trunc_rem,
    wrap,
)


def random_term(rng: random.Random, depth: int, variables: list[Var]) -> Term:
    if depth == 0 or rng.random() < 0.1:
        return rng.choice([*variables, *variables, const(rng.choice([0, 1, -1, 2, 7, 255, -128, 2**31, 2**40]))])
    a, b = (random_term(rng, depth - 1, variables) for _ in range(2))
    divisor = const(rng.choice([1, 2, 3, 8, 10, -4]))
    return rng.choice(
        [
            lambda: add(a, b),
            lambda: sub(a, b),
            lambda: scale(a, rng.randint(-5, 5)),
            lambda: mul(wrap(a, U8), wrap(b, U8)),
            lambda: wrap(a, rng.choice([I32, U32, U8, IntType(8)])),
            lambda: floor_div(a, divisor),
            lambda: mod(a, const(rng.randint(1, 9))),
            lambda: trunc_div(a, divisor),
            lambda: trunc_rem(a, divisor),
            lambda: trunc_div(a, ite(equal(b, ZERO), const(5), b)),
            lambda: trunc_rem(a, ite(equal(b, ZERO), const(5), b)),
            lambda: minimum(a, b),
            lambda: maximum(a, b),
            lambda: bit_and(a, b),
            lambda: bit_or(a, b),
            lambda: bit_xor(a, b),
            lambda: shift_left(a, wrap(b, IntType(3, signed=False))),
            lambda: wrap(shift_left(a, wrap(b, U8)), I32),
            lambda: shift_right(a, wrap(b, IntType(5, signed=False))),
            lambda: ite(random_condition(rng, depth - 1, variables), a, b),
        ]
    )()


def random_condition(rng: random.Random, depth: int, variables: list[Var]) -> Condition:
    if depth > 0 and rng.random() < 0.4:
        parts = [random_condition(rng, depth - 1, variables) for _ in range(rng.randint(2, 3))]
        return rng.choice([conjunction, disjunction])(parts)
    a, b = (random_term(rng, max(0, depth - 1), variables) for _ in range(2))
    return rng.choice([less, equal, not_equal])(a, b)


@pytest.mark.parametrize("depth", [2, 4, 7])
def test_terms_and_conditions_agree_with_the_evaluator(depth: int) -> None:
    rng = random.Random(depth)
    for _ in range(300 if depth < 7 else 60):
        term, condition = random_term(rng, depth, [X, N, S]), random_condition(rng, depth, [X, N, S])
        value = add(wrap(term, IntType(64)), ite(condition, const(2**70), ZERO))
        flowgraph = graph(
            [
                Block("entry", (Assign(Y, term),), branch(condition, "yes", "no")),
                Block("yes", (), (), End("return", add(Y, const(1)))),
                Block("no", (), (), End("return", sub(ZERO, value))),
            ],
            parameters=integers(X, N, S),
        )
        interpreter = Interpreter(None, flowgraph)
        for _ in range(5):
            values = {X: rng.choice([0, 5, -7, 2**31 - 1]), N: rng.randint(-20, 20), S: rng.choice([0, 3, 2**32 - 1])}
            expected = evaluate(term, values) + 1 if holds(condition, values) else -evaluate(value, values)
            assert interpreter.run(list(values.values())).outcome.return_value == expected


def test_long_chains_of_choices_compile() -> None:
    term: Term = const(-1)
    for at in range(400):
        term = ite(equal(X, const(at)), const(at * at), term)
    flowgraph = graph([Block("entry", (), (), End("return", term))], parameters=integers(X))
    interpreter = Interpreter(None, flowgraph)
    assert interpreter.run([77]).outcome.return_value == 77 * 77
    assert interpreter.run([-5]).outcome.return_value == -1


def test_deep_alternation_of_operators_compiles() -> None:
    term: Term = X
    expected = 9
    for at in range(300):
        term = bit_xor(floor_div(add(scale(term, 3), const(at)), const(2)), const(at))
        expected = ((3 * expected + at) // 2) ^ at
    interpreter = Interpreter(None, graph([Block("entry", (), (), End("return", term))], parameters=integers(X)))
    assert interpreter.run([9]).outcome.return_value == expected


def test_a_division_in_the_branch_not_taken_is_not_made() -> None:
    for extra in range(40):
        guarded = ite(equal(X, ZERO), const(-1), trunc_div(const(100), X))
        for _ in range(extra):  # small: one expression; large: statements
            guarded = wrap(scale(add(guarded, N), 3), I32)
        run = Interpreter(None, graph([Block("e", (), (), End("return", guarded))], parameters=integers(X, N))).run(
            [0, 1]
        )
        assert run.outcome.return_value == evaluate(guarded, {X: 0, N: 1})


# -- loops and their ends ----------------------------------------------------------------------------------------------


def test_iterations_are_taken_back_edges() -> None:
    run = Interpreter(None, counting()).run([3, 10])
    assert run.outcome.return_value == 10
    assert run.iterations == {"a.c:f:3:1": 7}


def test_millions_of_iterations_are_counted() -> None:
    run = Interpreter(None, counting()).run([0, 2_000_000])
    assert run.status == "ok"
    assert sum(run.iterations.values()) == 2_000_000


def test_overflow_is_undefined_where_it_happens() -> None:
    run = Interpreter(None, counting(condition=not_equal(X, N))).run([2**31 - 3, 0])
    assert run.status == "undefined"
    assert run.reason == "signed overflow"
    assert run.iterations == {"a.c:f:3:1": 2}


@pytest.mark.parametrize(
    ("step", "condition"), [(X, TRUE), (sub(ZERO, X), not_equal(X, N)), (mod(add(X, const(5)), const(99)), TRUE)]
)
def test_a_state_that_repeats_diverges(step: Term, condition: Condition) -> None:
    run = Interpreter(None, counting(step, condition)).run([4, 10])
    assert run.status == "diverges"
    assert run.where == Loc("a.c", 3, 1)


def test_wrapping_accumulators_do_not_hide_divergence_but_checked_ones_do() -> None:
    """``s`` wraps and decides nothing; a checked sum ends the run by overflow, however often ``x`` repeats itself."""
    assert Interpreter(None, counting(X, TRUE)).run([1, 0]).status == "diverges"
    total = add(N, const(1000))
    flowgraph = graph(
        [
            Block("head", (Check(less(total, const(2**31)), "signed-overflow"),), go("head", n=total)),
        ],
        parameters=integers(X, N),
        loops=(loop_info("L", "head", {"head"}, [], "head"),),
    )
    run = Interpreter(None, flowgraph).run([1, 0])
    assert run.status == "undefined"
    assert run.iterations == {"L": (2**31 - 1) // 1000}


@pytest.mark.parametrize("period", [2, 3, 100, 255, 4097])
def test_a_counter_with_a_bound_never_diverges(period: int) -> None:
    """x runs round and round while n, in memory or not, counts towards the end: no repetition."""
    step = mod(add(X, const(1)), const(period))
    flowgraph = graph(
        [
            Block("entry", (), go("head")),
            Block("head", (), branch(less(N, const(100_000)), "body", "end")),
            Block("body", (), go("head", x=step, n=add(N, const(1)))),
            Block("end", (), (), End("return", X)),
        ],
        parameters=integers(X, N),
        loops=(loop_info("L", "head", {"head", "body"}, [("head", 1)], "body"),),
    )
    assert Interpreter(None, flowgraph).run([0, 0]).status == "ok"


@pytest.mark.parametrize("way", ["edge", "statements", "memory"])
def test_values_that_decide_later_are_part_of_the_state(way: str) -> None:
    """n stays 0 until s, which no condition reads, has counted up."""
    count, signal = wrap(add(S, const(1)), U32), ite(less(S, const(100_000)), ZERO, const(1))
    cell = Pointer(const(1), ZERO)
    statements = {
        "edge": (),
        "statements": (Assign(N, signal), Assign(S, count)),
        "memory": (Store(cell, signal, I32), Load(N, cell, I32), Assign(S, count)),
    }[way]
    flowgraph = graph(
        [
            Block("entry", (), go("head", n=ZERO, s=ZERO)),
            Block("head", (), branch(equal(N, ZERO), "body", "end")),
            Block("body", statements, (Edge(TRUE, "head", ((N, signal), (S, count)) if way == "edge" else ()),)),
            Block("end", (), (), End("return", N)),
        ],
        loops=(loop_info("L", "head", {"head", "body"}, [("head", 1)], "body"),),
        objects=(MemoryObject(1, "a", "local", 4),),
    )
    run = Interpreter(None, flowgraph).run([])
    assert (run.status, run.iterations) == ("ok", {"L": 100_001})


def memory_counter(limit: int, wide: bool) -> Flowgraph:
    """All variables repeat; the count is in memory. It wraps where it is ``U8``."""
    at, held, type = Pointer(const(1), const(8)), Var("held", I32), I32 if wide else U8
    return graph(
        [
            Block("entry", (Fill(Pointer(const(1), ZERO), ZERO, const(64)),), go("head")),
            Block("head", (Load(held, at, type),), branch(less(held, const(limit)), "body", "end")),
            Block("body", (Store(at, wrap(add(held, const(1)), type), type),), go("head")),
            Block("end", (), (), End("return", held)),
        ],
        objects=(MemoryObject(1, "a", "local", 64),),
        loops=(loop_info("L", "head", {"head", "body"}, [("head", 1)], "body"),),
    )


def test_memory_is_part_of_the_state() -> None:
    assert Interpreter(None, memory_counter(5000, wide=True)).run([]).outcome.return_value == 5000
    assert Interpreter(None, memory_counter(5000, wide=False)).run([]).status == "diverges"


def test_inputs_are_part_of_the_state() -> None:
    flowgraph = graph(
        [
            Block(
                "head",
                (Havoc(X, Origin.NONDET, "nondet_int", Loc("a.c", 7, 2)),),
                branch(equal(X, ZERO), "end", "head"),
            ),
            Block("end", (), (), End("return", X)),
        ],
        loops=(loop_info("L", "head", {"head"}, [("head", 0)], "head"),),
    )
    interpreter = Interpreter(None, flowgraph)
    run = interpreter.run([], [1] * 500 + [0])
    assert (run.status, run.nondet_used, run.iterations) == ("ok", 501, {"L": 500})
    short = interpreter.run([], [1] * 500)
    assert short.status == "unknown"
    assert "nondet_int" in short.reason
    assert "a.c:7:2" in short.reason


def test_too_many_steps_are_a_timeout_and_no_divergence() -> None:
    run = Interpreter(None, counting()).run([0, 2**31 - 1], max_steps=10_000)
    assert run.status == "timeout"
    assert 10_000 <= run.iterations["a.c:f:3:1"] <= 20_000


def test_a_deadline_is_a_timeout() -> None:
    start = clock.now()
    run = Interpreter(None, counting()).run([-(2**31), 2**31 - 1], max_steps=10**12, deadline=start + 0.1)
    assert run.status == "timeout"
    assert clock.now() - start < 5.0


@pytest.mark.parametrize("named", [False, True])
def test_irreducible_control_flow_runs(named: bool) -> None:
    """Two blocks that lead to each other, both entered from outside; even if someone calls them a loop."""
    flowgraph = graph(
        [
            Block("entry", (), branch(less(X, ZERO), "a", "b")),
            Block("a", (Assign(N, add(N, const(1))),), go("b")),
            Block("b", (Assign(X, add(X, const(2))),), branch(less(X, const(10)), "a", "end")),
            Block("end", (), (), End("return", add(scale(X, 100), N))),
        ],
        parameters=integers(X, N),
        loops=(loop_info("L", "a", {"a", "b"}, [("b", 1)], "b"),) if named else (),
    )
    interpreter = Interpreter(None, flowgraph)
    for on_loop in (None, lambda _loop, _values: None):
        assert interpreter.run([-3, 0], on_loop=on_loop).outcome.return_value == 1107
        assert interpreter.run([0, 0], on_loop=on_loop).outcome.return_value == 1004
        assert interpreter.run([0, -(2**20)], max_steps=3, on_loop=on_loop).status == "timeout"


def test_edges_assign_in_parallel() -> None:
    blocks = [Block("entry", (), go("end", x=N, n=X)), Block("end", (), (), End("return", add(scale(X, 10), N)))]
    assert Interpreter(None, graph(blocks, parameters=integers(X, N))).run([1, 2]).outcome.return_value == 21


def test_switches_with_very_many_ways() -> None:
    ways = 700
    edges = tuple(Edge(equal(X, const(at)), "end", ((N, const(at * 3)),)) for at in range(ways))
    rest = Edge(conjunction(not_equal(X, const(at)) for at in range(ways)), "end", ((N, const(-1)),))
    blocks = [Block("entry", (), (*edges, rest)), Block("end", (), (), End("return", N))]
    interpreter = Interpreter(None, graph(blocks, parameters=integers(X, N)))
    assert [interpreter.run([x, 0]).outcome.return_value for x in (0, 399, 699, 700)] == [0, 1197, 2097, -1]


def test_deep_nests_of_loops() -> None:
    """Twenty loops inside each other, more than Python's own statements may nest."""
    depth = 20
    counters = [Var(f"c{at}", I32) for at in range(depth)]
    blocks = [Block("entry", (Assign(S, ZERO),), (Edge(TRUE, "h0", ((counters[0], ZERO),)),))]
    loops = []
    for at, counter in enumerate(counters):
        inner = f"h{at + 1}" if at + 1 < depth else "core"
        starts = ((counters[at + 1], ZERO),) if at + 1 < depth else ()
        outer = f"l{at - 1}" if at else "end"
        condition = less(counter, const(2 if at > depth - 6 else 1))
        blocks.append(Block(f"h{at}", (), (Edge(condition, inner, starts), Edge(negate(condition), outer))))
        blocks.append(Block(f"l{at}", (), (Edge(TRUE, f"h{at}", ((counter, add(counter, const(1))),)),)))
        inside = {f"{kind}{k}" for k in range(at, depth) for kind in "hl"} | {"core"}
        loops.append(loop_info(f"L{at}", f"h{at}", inside, [(f"h{at}", 1)], f"l{at}"))
    blocks.append(Block("core", (Assign(S, wrap(add(S, const(1)), U32)),), (Edge(TRUE, f"l{depth - 1}"),)))
    blocks.append(Block("end", (), (), End("return", S)))
    run = Interpreter(None, graph(blocks, loops=tuple(loops))).run([])
    assert run.outcome.return_value == 2**5
    assert run.iterations["L19"] == 2**5
    assert run.iterations["L0"] == 1


# -- jumping over loops ------------------------------------------------------------------------------------------------


def test_a_hook_jumps_over_a_loop() -> None:
    seen = []

    def hook(loop: LoopInfo, values: object) -> Jump | None:
        seen.append((loop.name, dict(values)))  # type: ignore[call-overload]
        return Jump({X: 50, S: 7}, ("head", 1), {"a.c:f:3:1": 48})

    run = Interpreter(None, counting()).run([2, 50], on_loop=hook)
    assert run.outcome.return_value == 50
    assert run.iterations == {"a.c:f:3:1": 48}
    assert seen == [("a.c:f:3:1", {X: 2, N: 50, S: 0})]


def test_a_hook_may_decline_or_say_that_the_run_ends() -> None:
    interpreter = Interpreter(None, counting())
    assert interpreter.run([2, 50], on_loop=lambda _loop, _values: None).iterations == {"a.c:f:3:1": 48}
    run = interpreter.run([2, 50], on_loop=lambda _l, _v: Jump(status="diverges", reason="for ever"))
    assert (run.status, run.reason) == ("diverges", "for ever")


def test_a_hook_that_names_no_exit_is_an_error() -> None:
    with pytest.raises(ValueError, match="no exit"):
        Interpreter(None, counting()).run([0, 1], on_loop=lambda _l, _v: Jump({}, ("body", 0)))


# -- values nobody knows -----------------------------------------------------------------------------------------------


def test_an_uninitialised_value_matters_only_where_it_is_used() -> None:
    havoc = Havoc(X, Origin.UNINITIALISED, "x", Loc("a.c", 5, 1))
    assert straight(havoc, Assign(N, X), value=const(3)).outcome.return_value == 3
    for use in (Assign(N, add(X, const(1))), Check(less(X, N), "bounds"), Assume(equal(X, const(0)))):
        run = straight(Assign(N, ZERO), havoc, use)
        assert (run.status, run.where) == ("unknown", Loc("a.c", 5, 1))
        assert run.reason == "reads the uninitialised variable x"
    assert straight(havoc, value=X).status == "unknown"


def test_uninitialised_values_can_be_given() -> None:
    flowgraph = graph([Block("e", (Havoc(X, Origin.UNINITIALISED, "x"),), (), End("return", X))])
    assert Interpreter(None, flowgraph).run([], uninitialised=[2**32 + 5]).outcome.return_value == 5
    assert Interpreter(None, flowgraph).run([], uninitialised=[]).status == "unknown"


@pytest.mark.parametrize("origin", [Origin.CALL, Origin.VOLATILE, Origin.MEMORY, Origin.UNSUPPORTED])
def test_other_unknown_values_say_why(origin: Origin) -> None:
    refused = Refused(Reason.MEMORY, "a.c:1:1", "this is why")
    run = straight(Havoc(X, origin, "thing", None, refused), value=add(X, const(1)))
    assert run.status == "unknown"
    assert "this is why" in run.reason


def test_refused_blocks_are_unknown_when_reached() -> None:
    refused = Refused(Reason.FLOAT, "a.c:1:1", "no floats")
    blocks = [
        Block("entry", (), branch(less(X, ZERO), "bad", "good")),
        Block("bad", (), (), End("return", X)),
        Block("good", (), (), End("return", X)),
    ]
    interpreter = Interpreter(None, graph(blocks, parameters=integers(X), blocked={"bad": refused}))
    assert interpreter.run([1]).status == "ok"
    run = interpreter.run([-1])
    assert (run.status, run.reason) == ("unknown", "no floats")


@pytest.mark.parametrize(
    ("kind", "status"),
    [("abort", "aborted"), ("exit", "aborted"), ("error", "error-reached"), ("undefined", "undefined")],
)
def test_ends(kind: str, status: str) -> None:
    run = Interpreter(None, graph([Block("entry", (), (), End(kind, None, None, Loc("a.c", 9, 9)))])).run([])
    assert (run.status, run.where) == (status, Loc("a.c", 9, 9))


def test_false_assumptions_and_checks_end_the_run() -> None:
    assert straight(Assume(FALSE)).status == "assumption-failed"
    assert straight(Assume(FALSE), Check(FALSE, "bounds")).status == "assumption-failed"
    assert straight(Check(FALSE, "bounds"), Assume(FALSE)).status == "undefined"


def test_a_division_without_a_check_is_unknown() -> None:
    flowgraph = graph([Block("e", (), (), End("return", trunc_div(X, N)))], parameters=integers(X, N))
    assert Interpreter(None, flowgraph).run([4, 2]).outcome.return_value == 2
    assert Interpreter(None, flowgraph).run([4, 0]).status == "unknown"


def test_huge_integers_are_unknown() -> None:
    flowgraph = graph(
        [Block("head", (Check(greater(Y, ZERO), "bounds"),), (Edge(TRUE, "head", ((Y, mul(Y, Y)),)),))],
        parameters=(Parameter("y", Y, None),),
        loops=(loop_info("L", "head", {"head"}, [], "head"),),
    )
    assert Interpreter(None, flowgraph).run([3], max_steps=1000).status == "unknown"
    assert Interpreter(None, flowgraph).run([1], max_steps=1000).status == "diverges"


# -- memory ------------------------------------------------------------------------------------------------------------
