"""Generated programs: the same everywhere, compilable, with the advertised features, and mostly well-behaved."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle, NativeRun
from loopless.check.oracle.signature import CType, Opaque, PointerType, Signature
from loopless_fuzz.generator.generate import (
    FEATURES,
    OBSERVED,
    PROFILES,
    features,
    generate,
    inputs,
    inputs_of,
    nondet_stream,
    print_program,
)
from loopless_fuzz.generator.inputs import all_inputs, data_inputs, edges
from loopless_fuzz.generator.printer import constant, expression
from loopless_fuzz.generator.syntax import (
    ARRAY_LENGTH,
    DATA_LENGTH,
    INT,
    SCHAR,
    TYPES,
    UCHAR,
    Assign,
    Binary,
    Call,
    Const,
    Element,
    For,
    Function,
    GeneratedProgram,
    Param,
    Return,
    Step,
    Var,
    While,
)
from loopless_fuzz.generator.validate import valid


@pytest.fixture(scope="module")
def host() -> Iterator[NativeHost]:
    with NativeHost() as shared:
        yield shared


def test_the_same_seed_gives_the_same_everywhere() -> None:
    script = """
from loopless_fuzz.generator.generate import PROFILES, generate, inputs, nondet_stream, print_program
for profile in PROFILES.values():
    for seed in range(20):
        program = generate(seed, profile)
        print(print_program(program), inputs(program.signature, seed, 5), nondet_stream(seed, 9))
"""
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(texts) == 1
    assert len(next(iter(texts))) > 10_000


def test_seeds_and_profiles_give_different_programs() -> None:
    programs = {print_program(generate(seed, profile)) for profile in PROFILES.values() for seed in range(100)}
    assert len(programs) > 590


@pytest.mark.parametrize("name", PROFILES)
def test_programs_are_valid(name: str) -> None:
    assert all(valid(generate(seed, PROFILES[name])) for seed in range(400))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROFILES)
def test_programs_compile_and_mostly_end_well(host: NativeHost, name: str) -> None:
    """Every program compiles; no run without recursion crashes, which only wild memory accesses would do."""
    found: Counter[str] = Counter()
    for seed in range(40):
        program = generate(seed, PROFILES[name])
        with NativeOracle(print_program(program), host=host, limits=NativeLimits(seconds=0.015)) as oracle:
            assert oracle.signature("f") == program.signature
            drawn = inputs_of(PROFILES[name], program.signature, seed, 8)
            runs = [NativeRun(args, nondet_stream(seed)) for args in drawn]
            found.update(outcome.status for outcome in oracle.run_many("f", runs))
    if not PROFILES[name].recursion and "table" not in PROFILES[name].kinds:
        assert "crashed" not in found  # a recursion without end fills the stack, constants cannot be written
    assert found["ok"] >= (0.25 if PROFILES[name].undefined else 0.6) * found.total()


@pytest.mark.slow
def test_the_other_outcomes_occur_too(host: NativeHost) -> None:
    found: Counter[str] = Counter()
    for seed in range(100, 140):
        program = generate(seed)
        with NativeOracle(print_program(program), host=host, limits=NativeLimits(seconds=0.015)) as oracle:
            runs = [NativeRun(args, nondet_stream(seed)) for args in inputs(program.signature, seed, 10)]
            found.update(outcome.status for outcome in oracle.run_many("f", runs))
    assert all(found[status] for status in ("undefined", "timeout", "assumption-failed"))


@pytest.mark.slow
def test_every_feature_occurs() -> None:
    found: Counter[str] = Counter()
    for name in ("everything", "nests", "nonlinear", "recursion", "undefined", "undefined-objects", "data"):
        for seed in range(1000):
            found.update(features(generate(seed, PROFILES[name])))
    assert set(found) == set(FEATURES)
    assert min(found.values()) >= 20


@pytest.mark.slow
def test_profiles_keep_their_word() -> None:
    def shown(name: str) -> Counter[str]:
        return Counter(feature for seed in range(300) for feature in features(generate(seed, PROFILES[name])))

    single = shown("single-path")
    assert not single["branch"] + single["nest"] + single["loops-in-sequence"] + single["ternary"] + single["break"]
    assert single["while"] and single["for"]
    multi = shown("multi-branch")
    assert multi["branch"] > 270 and not multi["nest"] + multi["loops-in-sequence"]
    nests = shown("nests")
    assert nests["nest"] > 240 and nests["nest-of-three"] > 60
    hung = ("inner-bound-from-counter", "inner-bound-from-accumulator", "inner-moves-outer", "exit-from-inner")
    assert min(nests[feature] for feature in (*hung, "inner-loops-in-sequence")) > 20
    nonlinear = shown("nonlinear")
    assert not nonlinear["nest"]
    steps = ("variable-step", "factor-step", "affine-step", "linear-map", "product-in-condition", "polynomial-sum")
    assert min(nonlinear[feature] for feature in steps) > 15
    recursion = shown("recursion")
    assert recursion["recursion"] == 300
    assert recursion["linear-recursion"] > 120 and recursion["tail-recursion"] > 40
    assert not shown("everything")["recursion"]
    assert shown("arrays")["array-parameter"] > 250
    eight = shown("eight-bit")
    assert not sum(eight[ctype.name] for ctype in TYPES if ctype not in (SCHAR, UCHAR, INT))
    data = shown("data")
    assert data["read-only-parameter"] == 300 and not data["array-parameter"] + data["array-written"]
    ways = ("two-streams", "pointer-walk", "read-only-global", "const-table", "nest", "do-while", "break")
    assert min(data[feature] for feature in (*ways, "return-in-loop", "char", "short", "unsigned char")) > 15
    for seed in range(300):
        params = generate(seed, PROFILES["eight-bit"]).function.params
        assert len(params) <= 2 and {param.type for param in params} <= {SCHAR, UCHAR}


def test_a_program_shows_the_final_values_of_its_variables(host: NativeHost) -> None:
    program = next(
        program for program in map(generate, range(100)) if any(v.name == f"{OBSERVED}n" for v in program.globals)
    )
    with NativeOracle(print_program(program), host=host) as oracle:
        for outcome in oracle.run_many("f", [NativeRun(a, nondet_stream(1)) for a in inputs(program.signature, 1, 10)]):
            if outcome.status == "ok":
                assert f"{OBSERVED}n" in outcome.globals


def test_edge_values_are_what_the_name_says() -> None:
    assert {-128, -127, -1, 0, 1, 63, 64, 65, 126, 127} <= set(edges(SCHAR))
    assert {0, 1, 127, 128, 129, 254, 255} <= set(edges(UCHAR))
    assert {-(2**31), 2**31 - 1, 2**16, 2**30 + 1} <= set(edges(INT))
    for ctype in TYPES:
        assert all(ctype.low <= value <= ctype.high for value in edges(ctype))


def test_inputs_fit_and_mix_edges_with_neighbours() -> None:
    signature = Signature((INT, UCHAR, PointerType(SCHAR)), None)
    drawn = inputs(signature, 5, 400)
    assert drawn == inputs(signature, 5, 400)
    assert drawn != inputs(signature, 6, 400)
    for x, y, array in drawn:
        assert isinstance(x, int) and INT.low <= x <= INT.high
        assert isinstance(y, int) and 0 <= y <= 255
        assert isinstance(array, tuple) and len(array) == ARRAY_LENGTH and all(-128 <= v <= 127 for v in array)
    assert {0, INT.low, INT.high} & {x for x, _, _ in drawn} and {0, 255} <= {y for _, y, _ in drawn}
    assert any(isinstance(x, int) and abs(x) > 2**29 for x, _, _ in drawn)
    near = sum(isinstance(x, int) and isinstance(y, int) and abs(x - y) <= 60 for x, y, _ in drawn)
    assert near > 250


def test_all_inputs_of_small_signatures() -> None:
    assert all_inputs(Signature((SCHAR,), INT)) == [(value,) for value in range(-128, 128)]
    assert len(set(all_inputs(Signature((SCHAR, UCHAR), INT)))) == 65536
    with pytest.raises(ValueError, match="too many"):
        all_inputs(Signature((SCHAR, SCHAR, SCHAR), INT))
    with pytest.raises(ValueError, match="no inputs"):
        inputs(Signature((Opaque("float"),), INT), 0, 1)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Binary("-", Binary("-", Var("a"), Var("b")), Binary("-", Var("c"), Const(1))), "a - b - (c - 1)"),
        (Binary("*", Binary("+", Var("a"), Var("b")), Var("c")), "(a + b) * c"),
        (Binary("||", Binary("&&", Var("a"), Var("b")), Var("c")), "(a && b) || c"),
        (Binary("&", Binary("==", Var("a"), Const(1)), Var("b")), "(a == 1) & b"),
        (Const(-(2**31)), "(-2147483647 - 1)"),
        (Element("p", Binary("+", Var("i"), Const(1))), "p[(i + 1) & 7]"),
    ],
)
def test_expressions_print_as_c(expr: Binary | Const | Element, text: str) -> None:
    assert expression(expr) == text


def test_printed_expressions_mean_their_tree(host: NativeHost) -> None:
    """Brackets: C must read a printed expression as the tree that was printed, here over all pairs of operators."""
    ops = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__, "&": int.__and__, "|": int.__or__, "^": int.__xor__,
           "<<": int.__lshift__, ">>": int.__rshift__, "<": int.__lt__, "==": int.__eq__, "!=": int.__ne__,
           ">=": int.__ge__}  # fmt: skip
    a, b, c = 7, 2, 3
    bodies, wanted = [], []
    for first, f in ops.items():
        for second, g in ops.items():
            for left in (True, False):
                inner = Binary(first, Var("a"), Var("b")) if left else Binary(first, Var("b"), Var("c"))
                tree = Binary(second, inner, Var("c")) if left else Binary(second, Var("a"), inner)
                if second in ("<<", ">>") and not left and not 0 <= f(b, c) < 32:
                    continue
                value = g(int(f(a, b)), c) if left else g(a, int(f(b, c)))
                bodies.append(expression(tree))
                wanted.append(int(value))
    cases = " ".join(f"case {n}: return {body};" for n, body in enumerate(bodies))
    text = f"int f(int n) {{ int a = {a}, b = {b}, c = {c}; switch (n) {{ {cases} }} return -99; }}"
    with NativeOracle(text, host=host) as oracle:
        found = [outcome.return_value for outcome in oracle.run_many("f", [NativeRun([n]) for n in range(len(bodies))])]
    assert found == wanted


@pytest.mark.parametrize("ctype", TYPES)
def test_constants_have_their_value(host: NativeHost, ctype: CType) -> None:
    values = [ctype.low, ctype.low + 1, -1 if ctype.signed else 1, ctype.high]
    cases = " ".join(f"case {n}: return {constant(value, ctype)};" for n, value in enumerate(values))
    text = f"{ctype.name} f(int n) {{ switch (n) {{ {cases} }} return 0; }}"
    with NativeOracle(text, host=host) as oracle:
        found = [outcome.return_value for outcome in oracle.run_many("f", [NativeRun([n]) for n in range(len(values))])]
    assert found == values


def with_body(*body: object) -> GeneratedProgram:
    function = Function("f", INT, (Param("n", INT), Param("p", INT, array=True)), (*body, Return(Const(0))))  # type: ignore[arg-type]
    return GeneratedProgram((), (), function)


def test_invalid_programs_are_told_apart() -> None:
    n, limit = Var("n"), Binary("<", Var("n"), Const(8))
    read = Assign(n, "", Element("p", n, masked=False))
    write = Assign(Element("p", n, masked=False), "", Const(1))
    start, step = Assign(n, "", Const(0)), Step(n, "++")
    assert valid(with_body(For(start, limit, step, (write,))))
    assert not valid(with_body(For(start, limit, step, (read,))))  # the counter is changed in the body
    assert not valid(with_body(For(start, Binary("<", n, Const(9)), step, (write,))))
    assert not valid(with_body(For(Assign(n, "", Const(-1)), limit, step, (write,))))
    assert not valid(with_body(For(start, limit, Step(n, "--"), (write,))))
    assert not valid(with_body(While(limit, (write,))))
    seen = Binary("==", Element("p", n, masked=False), Const(0))
    assert valid(with_body(For(start, Binary("&&", limit, seen), step, ())))
    assert not valid(with_body(For(start, Binary("&&", seen, limit), step, ())))
    assert not valid(with_body(Assign(Var("unknown"), "", Const(0))))
    assert not valid(with_body(Assign(n, "", Var("p"))))


def test_a_function_may_call_itself_but_nothing_that_comes_later() -> None:
    n = Var("n")
    again = Function("again", INT, (Param("n", INT),), (Return(Call("again", (n,))),))
    caller = Function("f", INT, (Param("n", INT),), (Return(Call("again", (n,))),))
    assert valid(GeneratedProgram((), (again,), caller))
    assert not valid(GeneratedProgram((), (replace(again, body=(Return(Call("f", (n,))),)),), caller))
    assert not valid(GeneratedProgram((), (replace(again, body=(Return(Call("again", ())),)),), caller))


@pytest.mark.parametrize("name", ["data", "data-8"])
@pytest.mark.slow
def test_loops_that_read_data_stay_inside_and_do_what_they_look_for(host: NativeHost, name: str) -> None:
    """All rules by which such loops are summarized have their programs; none reads outside of what it is given."""
    texts = [print_program(generate(seed, PROFILES[name])) for seed in range(300)]
    rules = {
        "sum": r"\w+ \+= \w+\[", "xor": r"\^= \w+\[", "weights": r"\* (31|33|10|2|256) \+ ", "modulus": r"\) % (65521|251|10)",
        "running": r"r1? \+= s", "count": r"\{\n *(\+\+c|c\+\+|c \+= \d)", "choice": r"\+= .* \? \d : ",
        "last": r"\{\n *k = ", "extreme": r"m = (a|b|g|t)\[", "flag": r"in = 1", "toggle": r"in = !in", "longest": r"u > v",
        "search": r"while \(i < n && \w+\[.*\] != ", "string": r"while \(\w\[i\]\)|\w\[i\] != 0", "back": r"n - 1 - i\]|\w\[i - 1\]",
        "twice": r"\[i \* 2( \+ 1)?\]", "next": r"\[i \+ 1\]", "rows": r"\[i \* 4 \+ j\]", "two streams": r"\ba\[.*\] [=!<>]=? b\[", "pointer": r"\*p",
        "from the end": r"e > 0 && ", "digits": r"\* 10 \+ \(\w\[i\] - 48\)", "hop": r"i \+= .* (& 3|\?)", "sum leaves": r"&& s\d? < ", "early return": r"return i;\n *\}",
    }  # fmt: skip
    missing = {rule for rule, shape in rules.items() if sum(bool(re.search(shape, text)) for text in texts) < 2}
    assert not missing
    for seed in range(200, 225):
        program = generate(seed, PROFILES[name])
        with NativeOracle(texts[seed], host=host, limits=NativeLimits(seconds=0.1)) as oracle:
            runs = [
                NativeRun(args, nondet_stream(seed)) for args in inputs_of(PROFILES[name], program.signature, seed, 10)
            ]
            assert {outcome.status for outcome in oracle.run_many("f", runs)} <= {"ok", "undefined"}


def test_inputs_of_loops_that_read_data() -> None:
    signature = Signature((PointerType(UCHAR), INT, PointerType(INT)), INT)
    drawn = data_inputs(signature, 3, 400)
    assert drawn == data_inputs(signature, 3, 400) != data_inputs(signature, 4, 400)
    found = 0
    for text, wanted, numbers in drawn:
        assert isinstance(text, tuple) and isinstance(numbers, tuple)
        assert len(text) == len(numbers) == DATA_LENGTH and text[-1] == numbers[-1] == 0
        assert all(0 <= value < 256 for value in text)
        found += wanted in text[:-1]
    assert 50 < found < 350
