"""Every entry state of small functions, against other ways to know the truth."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.errors import UsageError
from loopless.flowgraph import build
from loopless.flowgraph.model import (
    Assign,
    Assume,
    Block,
    Check,
    Edge,
    End,
    Flowgraph,
    Havoc,
    LoopInfo,
    Origin,
    Parameter,
)
from loopless.source.program import load
from loopless.terms import (
    TRUE,
    Condition,
    IntType,
    Term,
    Var,
    add,
    conjunction,
    const,
    equal,
    evaluate,
    greater,
    holds,
    ite,
    less,
    mul,
    negate,
    not_equal,
    scale,
    trunc_rem,
    wrap,
)
from loopless_fuzz.judging.exhaustive import every_entry

NIBBLE = IntType(3, signed=False)
VARIABLES = [Var(name, NIBBLE) for name in "abcd"]


# -- random flowgraphs of four 3-bit variables against the plainest interpreter ---------------------------------------


@dataclass
class _Maker:
    """Random loops, nested and in sequence, with checks, assumptions, inputs and several exits."""

    random: random.Random
    blocks: list[Block]
    loops: list[LoopInfo]
    count: int = 0

    def term(self) -> Term:
        rng = self.random
        a, b = rng.choices(VARIABLES, k=2)
        k = const(rng.randint(0, 7))
        return rng.choice(
            [
                lambda: k,
                lambda: a,
                lambda: wrap(add(a, k), NIBBLE),
                lambda: wrap(add(a, b), NIBBLE),
                lambda: wrap(scale(a, rng.randint(-3, 3)), NIBBLE),
                lambda: wrap(add(mul(a, b), k), NIBBLE),
                lambda: ite(less(a, b), k, a),
            ]
        )()

    def condition(self) -> Condition:
        a, b = self.random.choices(VARIABLES, k=2)
        right: Term = b if self.random.random() < 0.5 else const(self.random.randint(0, 7))
        return self.random.choice([less, equal, not_equal, greater])(a, right)

    def label(self) -> str:
        self.count += 1
        return f"b{self.count}"

    def statements(self) -> list[Assign | Check | Assume | Havoc]:
        made: list[Assign | Check | Assume | Havoc] = []
        for _ in range(self.random.randint(0, 2)):
            target, value = self.random.choice(VARIABLES), self.term()
            if self.random.random() < 0.15:
                divisor = self.random.choice(VARIABLES)
                made.append(Check(not_equal(divisor, const(0)), "division-by-zero"))
                value = trunc_rem(value, divisor)
            made.append(Assign(target, value))
        chance = self.random.random()
        if chance < 0.08:
            made.append(Check(self.condition(), "bounds"))
        elif chance < 0.12:
            made.append(Assume(self.condition()))
        elif chance < 0.16:
            made.append(Havoc(self.random.choice(VARIABLES), Origin.NONDET, "nondet"))
        return made

    def edge(self, condition: Condition, target: str) -> Edge:
        assigns = {v: self.random.choice(VARIABLES) for v in VARIABLES if self.random.random() < 0.15}
        return Edge(condition, target, tuple(assigns.items()))

    def split(self, label: str, targets: list[str]) -> None:
        """A block with a way to each of one, two or three targets."""
        condition, other = self.condition(), self.condition()
        cases = {
            1: [TRUE],
            2: [condition, negate(condition)],
            3: [condition, conjunction((negate(condition), other)), conjunction((negate(condition), negate(other)))],
        }[len(targets)]
        edges = tuple(self.edge(c, target) for c, target in zip(cases, targets, strict=True))
        self.blocks.append(Block(label, tuple(self.statements()), edges))

    def body(self, label: str, onward: str, leave: str | None, depth: int) -> None:
        """Blocks from ``label`` to ``onward``; ``leave`` is where a break goes."""
        kind = self.random.random()
        if depth == 0 or kind < 0.2:
            targets = [onward, leave] if leave is not None and self.random.random() < 0.3 else [onward]
            self.split(label, targets)
        elif kind < 0.45:
            yes, no, join = self.label(), self.label(), self.label()
            extra = [leave] if leave is not None and self.random.random() < 0.4 else []
            self.split(label, [yes, no, *extra])
            self.body(yes, join, leave, depth - 1)
            self.body(no, join, leave, depth - 1)
            self.body(join, onward, leave, depth - 1)
        elif kind < 0.65:
            middle = self.label()
            self.body(label, middle, leave, depth - 1)
            self.body(middle, onward, leave, depth - 1)
        else:
            self.loop(label, onward, depth - 1)

    def loop(self, header: str, onward: str, depth: int) -> None:
        start, first = len(self.blocks), self.label()
        if self.random.random() < 0.5:
            counter, latch = self.random.choice(VARIABLES), self.label()
            more = less(counter, const(self.random.randint(3, 7)))
            self.blocks.append(Block(header, (), (Edge(more, first), Edge(negate(more), onward))))
            self.body(first, latch, onward, depth)
            self.blocks.append(
                Block(latch, (Assign(counter, wrap(add(counter, const(1)), NIBBLE)),), (Edge(TRUE, header),))
            )
        else:
            self.split(header, [first, onward] if self.random.random() < 0.8 else [first])
            self.body(first, header, onward, depth)
        blocks = {block.label: block for block in self.blocks[start:]}
        inside, latches = _natural(blocks, header)
        if latches:
            self.loops.append(LoopInfo(f"loop {header}", header, inside, latches, (), None, 1, None, 1, 1, "random"))


def _natural(blocks: dict[str, Block], header: str) -> tuple[frozenset[str], tuple[str, ...]]:
    latches = tuple(label for label, block in blocks.items() if header in block.successors)
    inside, stack = {header}, list(latches)
    while stack:
        label = stack.pop()
        if label not in inside:
            inside.add(label)
            stack.extend(other for other, block in blocks.items() if label in block.successors)
    return frozenset(inside), latches


def random_flowgraph(seed: int) -> Flowgraph:
    maker = _Maker(random.Random(seed), [], [])
    maker.body("entry0", "end", None, 3)
    result = wrap(add(VARIABLES[0], scale(VARIABLES[1], 8), scale(VARIABLES[2], 64)), IntType(32))
    maker.blocks.append(Block("end", (), (), End("return", result)))
    blocks = {"entry": Block("entry", (), (Edge(TRUE, "entry0"),))}
    blocks |= {block.label: block for block in maker.blocks}
    parameters = tuple(Parameter(var.name, var, NIBBLE) for var in VARIABLES)
    return Flowgraph("f", "f", parameters, IntType(32), False, blocks, "entry", {}, {}, tuple(maker.loops), (), None)


def plainly(
    flowgraph: Flowgraph, arguments: tuple[int, ...], nondet: list[int]
) -> tuple[str, int | None, Counter[str]]:
    """Step by step, with all states remembered."""
    values = dict(zip(VARIABLES, arguments, strict=True))
    label, used = "entry", 0
    seen: set[tuple[object, ...]] = set()
    iterations: Counter[str] = Counter()
    while True:
        state = (label, used, *values.values())
        if state in seen:
            return "diverges", None, Counter()
        seen.add(state)
        block = flowgraph.blocks[label]
        for statement in block.statements:
            match statement:
                case Assign(target=target, value=value):
                    values[target] = evaluate(value, values)
                case Check(condition=condition):
                    if not holds(condition, values):
                        return "undefined", None, iterations
                case Assume(condition=condition):
                    if not holds(condition, values):
                        return "assumption-failed", None, iterations
                case Havoc(target=target):
                    if used == len(nondet):
                        return "unknown", None, iterations
                    values[target] = nondet[used] % 8
                    used += 1
        if block.end is not None:
            assert block.end.value is not None
            return "ok", evaluate(block.end.value, values), iterations
        taken = [edge for edge in block.edges if holds(edge.condition, values)]
        assert len(taken) == 1
        values |= {target: evaluate(value, values) for target, value in taken[0].assigns}
        for loop in flowgraph.loops:
            if loop.header == taken[0].target and label in loop.blocks:
                iterations[loop.name] += 1
        label = taken[0].target


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_random_flowgraphs_run_as_the_plainest_interpreter_says(first: int) -> None:
    for seed in range(first, first + 50):
        flowgraph = random_flowgraph(seed)
        rng = random.Random(seed)
        interpreters = [Interpreter(None, flowgraph, checked=checked) for checked in (False, True)]
        for _ in range(25):
            arguments = tuple(rng.randrange(8) for _ in VARIABLES)
            nondet = [rng.randrange(8) for _ in range(30)]
            status, value, iterations = plainly(flowgraph, arguments, nondet)
            for interpreter in interpreters:
                run = interpreter.run(arguments, nondet, max_steps=1_000_000)
                assert (run.status, run.outcome.return_value) == (status, value), (seed, arguments)
                if status != "diverges":
                    assert run.iterations == iterations, (seed, arguments)
        declined = interpreters[0].run(arguments, nondet, on_loop=lambda _loop, _values: None)
        assert (declined.status, declined.outcome.return_value) == (status, value)


def test_the_random_flowgraphs_are_worth_running() -> None:
    """They end in every way, and many loop, nest and diverge."""
    statuses: Counter[str] = Counter()
    nested = 0
    for seed in range(400):
        flowgraph = random_flowgraph(seed)
        nested += any(a.blocks < b.blocks for a in flowgraph.loops for b in flowgraph.loops)
        status, _, iterations = plainly(flowgraph, (1, 2, 3, 4), [5, 0, 1])
        statuses[status] += 1
        statuses["many iterations"] += status == "ok" and iterations.total() > 3
    assert nested > 40
    wanted = ("ok", "diverges", "undefined", "assumption-failed", "unknown", "many iterations")
    assert all(statuses[status] > 3 for status in wanted), statuses


# -- C with 8-bit inputs against the same in Python -------------------------------------------------------------------


def _flowgraph(tmp_path: Path, text: str) -> Flowgraph:
    path = tmp_path / "a.c"
    path.write_text(text)
    module = load(path).inlined
    return build(module.functions["f"], module)


def _signed(value: int) -> int:
    return (value + 128) % 256 - 128


@pytest.mark.slow
def test_every_pair_of_bytes(tmp_path: Path) -> None:
    flowgraph = _flowgraph(
        tmp_path,
        "int f(signed char x, unsigned char y) {"
        " int c = 0; while (x != y) { if (x > 50) x -= 7; else x += 3; y += 2; c++; } return c; }",
    )

    def truth(x: int, y: int) -> tuple[str, int | None]:
        seen = set()
        while x != y:
            if (x, y) in seen:
                return "timeout", None  # the count overflows after 2^31 steps: that is no divergence
            seen.add((x, y))
            x, y = _signed(x - 7 if x > 50 else x + 3), (y + 2) % 256
        return "ok", len(seen)

    for arguments, run in islice(every_entry(flowgraph, max_steps=100_000), 20_000, 25_000):
        status, count = truth(*arguments)
        assert (run.outcome.return_value, run.status) == (count, status)


@pytest.mark.parametrize(
    ("step", "diverging"),
    [("x += 2", 128), ("x *= 2", 0), ("x = x * 3 + 1", None), ("x ^= 5", 254), ("x = 200 - x", None)],
)
def test_divergence_of_every_byte(tmp_path: Path, step: str, diverging: int | None) -> None:
    flowgraph = _flowgraph(tmp_path, f"int f(unsigned char x) {{ while (x != 0) {{ {step}; }} return x; }}")

    def ends(x: int) -> bool:
        for _ in range(300):
            if x == 0:
                return True
            names = {"x": x}
            exec(step, names)
            x = names["x"] % 256
        return False

    runs = dict(every_entry(flowgraph))
    assert list(runs) == [(x,) for x in range(256)]
    assert {x for (x,), run in runs.items() if run.status == "diverges"} == {x for x in range(256) if not ends(x)}
    assert {run.status for run in runs.values()} <= {"ok", "diverges"}
    if diverging is not None:
        assert sum(run.status == "diverges" for run in runs.values()) == diverging


def test_only_small_input_spaces_are_visited(tmp_path: Path) -> None:
    for text in (
        "int f(short x, char y) { return x; }",
        "int f(int x) { return x; }",
        "int f(long x, long y) { return x; }",
        "int f(char *p) { return *p; }",
    ):
        with pytest.raises(UsageError):
            next(every_entry(_flowgraph(tmp_path, text)))


def test_a_function_without_parameters_has_one_entry(tmp_path: Path) -> None:
    flowgraph = _flowgraph(tmp_path, "int f(void) { return 7; }")
    entries: Iterator[tuple[tuple[int, ...], object]] = every_entry(flowgraph)
    assert [arguments for arguments, _ in entries] == [()]
