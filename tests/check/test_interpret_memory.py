"""The interpreter's memory, arguments, globals and calls."""

from __future__ import annotations

import pytest

from flowgraphs_by_hand import (
    I32,
    LINK,
    LOCAL,
    NULL,
    OFFSET,
    P_OBJECT,
    TABLE,
    U8,
    U32,
    N,
    P,
    X,
    Y,
    branch,
    graph,
    integers,
    straight,
)
from loopless.check.interpreter.run import Interpreter, PointedContent, SameContent, WholeObject
from loopless.errors import UsageError
from loopless.flowgraph import Options, build
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Block,
    Call,
    Copy,
    Edge,
    End,
    Fill,
    Kind,
    Load,
    MemoryObject,
    Parameter,
    Pointer,
    Store,
    VariableInfo,
)
from loopless.source import load
from loopless.source.ir import Loc
from loopless.terms import (
    INTEGERS,
    ZERO,
    IntType,
    Term,
    Var,
    add,
    const,
    equal,
    greater,
    less,
    scale,
    wrap,
)


def at(number: int, offset: int | Term) -> Pointer:
    return Pointer(const(number), const(offset) if isinstance(offset, int) else offset)


def test_bytes_are_little_endian() -> None:
    statements = (Store(at(1, 0), const(-2), I32), Store(at(1, 1), const(7), U8), Load(X, at(1, 0), I32))
    assert straight(*statements, value=X, objects=(LOCAL,)).outcome.return_value == int.from_bytes(
        b"\xfe\x07\xff\xff", "little", signed=True
    )


def test_uninitialised_memory_is_unknown() -> None:
    partly = (Store(at(1, 0), ZERO, U8), Load(X, at(1, 0), I32))
    run = straight(*partly, value=X, objects=(LOCAL,))
    assert run.status == "unknown"
    assert run.reason.startswith("reads uninitialised memory")
    whole = (Fill(at(1, 0), const(255), const(8)), Load(X, at(1, 4), I32))
    assert straight(*whole, value=X, objects=(LOCAL,)).outcome.return_value == -1


def test_what_is_stored_without_a_value_is_not_called_uninitialised() -> None:
    """The variable has no value; the run ends where what was stored is read back."""
    unknown = Var("unknown", I32)
    stored = (Store(at(1, 0), unknown, I32),)
    run = straight(*stored, Load(X, at(1, 0), I32), value=X, objects=(LOCAL,))
    assert run.status == "unknown"
    assert run.reason.startswith("reads unknown")
    again = straight(*stored, Store(at(1, 0), const(7), I32), Load(X, at(1, 0), I32), value=X, objects=(LOCAL,))
    assert again.outcome.return_value == 7


@pytest.mark.parametrize("offset", [-1, 5, 8, 100])
def test_accesses_outside_of_an_object_are_undefined(offset: int) -> None:
    assert straight(Store(at(1, offset), ZERO, I32), objects=(LOCAL,)).status == "undefined"
    assert straight(Load(X, at(1, offset), I32), objects=(LOCAL,)).status == "undefined"
    assert straight(Fill(at(1, offset), ZERO, const(4)), objects=(LOCAL,)).status == "undefined"


def test_null_and_constants() -> None:
    assert straight(Load(X, NULL, I32)).status == "undefined"
    assert straight(Store(NULL, ZERO, I32)).status == "undefined"
    assert straight(Store(at(2, 0), ZERO, U8), objects=(TABLE,)).status == "undefined"
    assert straight(Load(X, at(2, 3), U8), value=X, objects=(TABLE,)).outcome.return_value == 255


def test_pointers_in_memory() -> None:
    follow = (Load(P, at(3, 0), IntType(64), P_OBJECT), Load(X, Pointer(P_OBJECT, P), U8))
    assert straight(*follow, value=X, objects=(TABLE, LINK)).outcome.return_value == 2
    assert straight(Load(X, at(3, 0), I32), value=X, objects=(TABLE, LINK)).status == "unknown"
    store = (Store(at(1, 0), const(2), IntType(64), const(2)), Load(P, at(1, 0), IntType(64), P_OBJECT))
    read = Load(X, Pointer(P_OBJECT, P), U8)
    assert straight(*store, read, value=X, objects=(LOCAL, TABLE)).outcome.return_value == 3
    broken = (store[0], Store(at(1, 3), ZERO, U8), store[1])
    assert straight(*broken, objects=(LOCAL, TABLE)).status == "unknown"
    null = (Store(at(1, 0), ZERO, IntType(64), ZERO), Load(X, at(1, 0), I32), store[1])
    assert straight(*null, value=add(X, P_OBJECT, P), objects=(LOCAL,)).outcome.return_value == 0


def test_copies_carry_pointers_and_holes() -> None:
    target = MemoryObject(4, "b", "local", 16)
    statements = (
        Store(at(1, 0), const(3), IntType(64), const(2)),
        Copy(at(4, 8), at(1, 0), const(8)),
        Load(P, at(4, 8), IntType(64), P_OBJECT),
        Load(X, Pointer(P_OBJECT, P), U8),
    )
    assert straight(*statements, value=X, objects=(LOCAL, TABLE, target)).outcome.return_value == 255
    holes = (Fill(at(4, 0), ZERO, const(16)), Copy(at(4, 4), at(1, 0), const(4)), Load(X, at(4, 4), I32))
    assert straight(*holes, value=X, objects=(LOCAL, target)).status == "unknown"
    overlapping = (*(Store(at(1, k), const(k), U8) for k in range(8)), Copy(at(1, 1), at(1, 0), const(7)))
    assert straight(*overlapping, Load(X, at(1, 4), I32), value=X, objects=(LOCAL,)).outcome.return_value == 0x06050403


def test_allocated_memory() -> None:
    fresh = Allocate(P_OBJECT, const(4), zeroed=True)
    assert straight(fresh, Load(X, Pointer(P_OBJECT, ZERO), I32), value=X).outcome.return_value == 0
    assert straight(fresh, Load(X, Pointer(P_OBJECT, const(1)), I32), value=X).status == "undefined"
    free = Call("free", (Pointer(P_OBJECT, ZERO),))
    assert straight(fresh, free, Load(X, Pointer(P_OBJECT, ZERO), I32)).status == "undefined"
    assert straight(fresh, free, free).status == "undefined"
    assert straight(Allocate(P_OBJECT, const(2**40))).status == "unknown"


def pointer_parameter(number: int = 1, null: Var | None = None) -> Parameter:
    return Parameter("p", P, None, number, U8, null)


def test_pointer_arguments_and_their_outputs() -> None:
    flowgraph = graph(
        [Block("e", (Load(X, at(1, N), U8), Store(at(1, 0), X, U8)), (), End("return", X))],
        parameters=(pointer_parameter(), *integers(N)),
        objects=(MemoryObject(1, "p", "parameter", None, parameter=0),),
    )
    interpreter = Interpreter(None, flowgraph)
    run = interpreter.run([[1, 2, 3], 2])
    assert (run.outcome.return_value, run.outcome.outputs) == (3, ((3, 2, 3),))
    assert interpreter.run([[1, 2, 3], 3]).status == "undefined"
    assert interpreter.run([b"\x05\x06", 1]).outcome.outputs == ((6, 6),)
    assert interpreter.run([None, 0]).status == "unknown"
    for wrong in ([5, 0], [[1], "x"], [[1]], [[1], 2**31]):
        with pytest.raises(UsageError):
            interpreter.run(wrong)  # type: ignore[arg-type]


def test_scalars_behind_pointers_are_variables_with_memory() -> None:
    null, pointee = Var("p_is_null", IntType(1, signed=False)), Var("*p", U8)
    flowgraph = graph(
        [
            Block("entry", (), branch(equal(null, const(1)), "null", "there")),
            Block("null", (), (), End("return", const(-1))),
            Block("there", (Assign(pointee, wrap(add(pointee, N), U8)),), (), End("return", pointee)),
        ],
        parameters=(pointer_parameter(null=null), *integers(N)),
        objects=(MemoryObject(1, "p", "parameter", None, parameter=0),),
        infos=(VariableInfo(pointee, "*p", Kind.POINTEE, 1, 0, size=1),),
    )
    interpreter = Interpreter(None, flowgraph)
    run = interpreter.run([[250, 9], 10])
    assert (run.outcome.return_value, run.outcome.outputs) == (4, ((4, 9),))
    assert interpreter.run([None, 10]).outcome.return_value == -1
    assert interpreter.run([[], 10]).status == "undefined"


def test_globals_as_variables_and_their_overrides() -> None:
    count = Var("count", I32)
    flowgraph = graph(
        [Block("e", (Assign(count, add(count, const(1))),), (), End("return", count))],
        objects=(MemoryObject(1, "count", "global", 4, I32, content=(41).to_bytes(4, "little"), symbol="count"),),
        infos=(VariableInfo(count, "count", Kind.GLOBAL, 1, 0, size=4),),
    )
    interpreter = Interpreter(None, flowgraph)
    assert interpreter.run([]).outcome.globals == {"count": 42}
    assert interpreter.run([], globals={"count": -1}).outcome.globals == {"count": 0}
    with pytest.raises(UsageError):
        interpreter.run([], globals={"other": 0})


# -- calls -------------------------------------------------------------------------------------------------------------


def test_calls_share_memory_and_globals() -> None:
    """The callee changes the caller's array and a global that the caller holds in a variable."""
    count_of_caller, count_of_callee = Var("count", I32), Var("g", I32)
    content = (5).to_bytes(4, "little")
    callee = graph(
        [
            Block(
                "e",
                (
                    Load(X, Pointer(const(9), ZERO), I32),
                    Store(Pointer(const(9), const(4)), add(X, count_of_callee), I32),
                    Assign(count_of_callee, const(77)),
                ),
                (),
                End("return", X),
            )
        ],
        parameters=(Parameter("q", P, None, 9, I32),),
        objects=(
            MemoryObject(9, "q", "parameter", None, parameter=0),
            MemoryObject(2, "count", "global", 4, I32, content=content, symbol="count"),
        ),
        infos=(VariableInfo(count_of_callee, "count", Kind.GLOBAL, 2, 0, size=4),),
        name="callee",
    )
    caller = graph(
        [
            Block(
                "e",
                (
                    Store(at(1, 4), const(1000), I32),
                    Assign(count_of_caller, add(count_of_caller, const(1))),
                    Call("callee", (at(1, 4),), N),
                    Load(X, at(1, 8), I32),
                ),
                (),
                End("return", add(X, scale(N, 10_000), scale(count_of_caller, 100_000_000))),
            )
        ],
        objects=(
            MemoryObject(1, "a", "local", 12),
            MemoryObject(7, "count", "global", 4, I32, content=content, symbol="count"),
        ),
        infos=(VariableInfo(count_of_caller, "count", Kind.GLOBAL, 7, 0, size=4),),
    )
    run = Interpreter({"callee": callee}.get, caller).run([])
    assert run.outcome.return_value == 1006 + 1000 * 10_000 + 77 * 100_000_000
    assert run.outcome.globals == {"count": 77}


def test_recursion_that_does_not_end_is_unknown_but_where_its_state_repeats() -> None:
    same = graph([Block("e", (Call("f", (), X),), (), End("return", X))])
    assert Interpreter({"f": same}.get, same).run([]).status == "diverges"
    onward = graph(
        [Block("e", (Call("f", (wrap(add(X, const(1)), I32),), Y),), (), End("return", Y))], parameters=integers(X)
    )
    run = Interpreter({"f": onward}.get, onward).run([0])
    assert run.status == "unknown"
    assert "deep" in run.reason
    assert Interpreter({"f": onward}.get, onward).run([0], max_steps=50).status == "timeout"


def test_calls_without_a_body() -> None:
    assert straight(Call("printf", (), X, writes_memory=False), value=const(1)).outcome.return_value == 1
    assert straight(Call("rand", (), X, writes_memory=False), value=X).status == "unknown"
    run = straight(Call("mystery", (), X, loc=Loc("a.c", 2, 2)), value=const(1))
    assert (run.status, run.where) == ("unknown", Loc("a.c", 2, 2))


def test_library_functions_read_arguments_in_their_own_types() -> None:
    assert straight(Call("abs", (const(2**32 - 5),), X), value=X).outcome.return_value == 5
    assert straight(Call("abs", (const(-(2**31)),), X)).status == "undefined"
    assert straight(Call("toupper", (const(ord("q")),), X), value=X).outcome.return_value == ord("Q")
    text = MemoryObject(1, "t", "global", 4, U8, constant=True, content=b"abc\0", symbol="t")
    assert straight(Call("strlen", (at(1, 1),), X), value=X, objects=(text,)).outcome.return_value == 2
    assert straight(Call("strlen", (at(1, 5),), X), objects=(text,)).status == "undefined"
    assert (
        straight(Call("memcmp", (at(1, 0), at(1, 1), const(2)), X), value=X, objects=(text,)).outcome.return_value == -1
    )


def test_results_of_calls_that_do_not_fit_are_unknown_over_the_integers() -> None:
    """At machine widths the caller may read the bits of the result with another sign; an integer of ℤ has no bits."""
    callee = graph([Block("e", (), (), End("return", const(3_000_000_000)))], result=U32, name="callee")
    caller = graph([Block("e", (Call("callee", (), X),), (), End("return", X))])
    assert Interpreter({"callee": callee}.get, caller).run([]).outcome.return_value == 3_000_000_000 - 2**32
    over_z = Interpreter({"callee": callee}.get, caller, options=Options(mathematical=True))
    assert over_z.run([]).status == "unknown"


def test_memory_keeps_integers_that_do_not_fit_over_the_integers() -> None:
    store, load_back = Store(at(1, 4), const(3_000_000_000), I32), Load(Y, at(1, 4), I32)
    block = Block("e", (Fill(at(1, 0), ZERO, const(8)), store, load_back), (), End("return", Y))
    flowgraph = graph([block], objects=(LOCAL,), result=INTEGERS)
    assert Interpreter(None, flowgraph).run([]).outcome.return_value == 3_000_000_000 - 2**32
    over_z = Interpreter(None, flowgraph, options=Options(mathematical=True))
    assert over_z.run([]).outcome.return_value == 3_000_000_000


def test_two_pointers_into_one_object_are_unknown() -> None:
    callee = graph(
        [Block("e", (), (), End("return", ZERO))],
        parameters=(Parameter("a", P, None, 1, I32), Parameter("b", Var("b", OFFSET), None, 2, I32)),
        objects=(MemoryObject(1, "a", "parameter", None), MemoryObject(2, "b", "parameter", None)),
        name="callee",
    )
    caller = graph(
        [Block("e", (Call("callee", (at(1, 0), at(1, 4)), X),), (), End("return", X))],
        objects=(LOCAL,),
    )
    assert Interpreter({"callee": callee}.get, caller).run([]).status == "unknown"


# -- promises of the flowgraph -----------------------------------------------------------------------------------------


def test_checked_runs_notice_values_outside_their_type() -> None:
    flowgraph = graph([Block("e", (Assign(X, const(2**31)),), (), End("return", ZERO))])
    assert Interpreter(None, flowgraph).run([]).status == "ok"
    assert Interpreter(None, flowgraph, checked=True).run([]).status == "unknown"


def test_checked_runs_notice_branches_that_overlap() -> None:
    edges = (Edge(less(X, const(5)), "end"), Edge(greater(X, const(3)), "end"))
    flowgraph = graph([Block("e", (), edges), Block("end", (), (), End("return", X))], parameters=integers(X))
    assert Interpreter(None, flowgraph, checked=True).run([4]).status == "unknown"
    assert Interpreter(None, flowgraph, checked=True).run([1]).status == "ok"


def test_a_state_from_which_no_edge_leads_on_is_unknown() -> None:
    edges = (Edge(less(X, const(5)), "end"), Edge(greater(X, const(5)), "end"))
    flowgraph = graph([Block("e", (), edges), Block("end", (), (), End("return", X))], parameters=integers(X))
    assert Interpreter(None, flowgraph).run([5]).status == "unknown"


def test_pointers_may_lead_back_and_into_the_middle(tmp_path) -> None:
    (tmp_path / "a.c").write_text(
        "struct n { struct n *next; int v; }; int f(struct n *p) { int x = 0; while (p) { x ^= p->v; p = p->next; } return x; }"
        "int g(const unsigned char *b) { return b[-1] * 256 + b[1]; }"
    )
    program = load([tmp_path / "a.c"])

    def run(name, argument):
        return Interpreter(program.inlined, build(program.inlined.functions[name], program.inlined)).run([argument])

    node = bytes(8) + (5).to_bytes(8, "little")
    other = bytes(8) + (9).to_bytes(8, "little")
    ring = PointedContent(node, ((0, PointedContent(other, ((0, SameContent("first")),))),), "first")
    assert run("f", ring).status == "diverges"
    chain = PointedContent(node, ((0, PointedContent(other, ())),), "first")
    assert run("f", chain).outcome.return_value == 5 ^ 9
    middle = PointedContent(bytes((0,)) + node, ((1, SameContent("", 0)),), "", 1)
    with pytest.raises(UsageError, match="no content"):
        run("f", middle)
    assert run("g", PointedContent(bytes((1, 2, 3)), (), "", 1)).outcome.return_value == 256 + 3


def test_of_memory_to_which_many_ways_lead_only_so_much_is_told(tmp_path) -> None:
    (tmp_path / "a.c").write_text(
        "struct n { struct n *a, *b; }; int f(struct n *p) { for (; p; p = p->a) p->b = p->a; return 0; }"
    )
    program = load([tmp_path / "a.c"])
    chain: PointedContent | None = None
    for _ in range(40):  # 2^40 ways lead to the last one
        chain = PointedContent(bytes(16), () if chain is None else ((0, chain),))
    run = Interpreter(program.inlined, build(program.inlined.functions["f"], program.inlined)).run([chain])
    (first,) = run.memory
    assert run.outcome.status == "ok"
    assert isinstance(first, WholeObject) and set(first.pointers) == {0, 8}
