"""Signed left shifts, bytes read as _Bool, and memcpy of what overlaps: undefined for exactly the inputs for which C
says so, by native runs with traps, by interpretation, and by the summaries of loops and functions. Every input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from answers_in_c import answers
from counted import judge_calls
from loopless.check.oracle.native import NativeHost, NativeOracle
from loopless.queries.evaluation.calls import Calls
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.source import SourceOptions
from loopless.summary import CallSummary, LoopSummary
from loopless.terms import holds
from loopless_fuzz.campaigns.functions import Bench, compose_function
from loopless_fuzz.campaigns.loops import read, summarize_loop
from loopless_fuzz.campaigns.rows import FunctionRow, LoopRow
from loops_in_c import graph

pytestmark = pytest.mark.slow  # all inputs at 8 bits, natively

INT_MAX = 2**31 - 1
WHOLE, LOOPS, JUDGE = 2, 1, 0
"""Who must answer for every input: the summary of the function, those of its loops, the judge alone."""


def _never(*_: int) -> bool:
    return False


def _doubled(x: int, times: int) -> bool:
    """Whether C calls doubling by ``<< 1`` undefined: a negative operand, or a result that no int holds."""
    for _ in range(times):
        if x < 0 or 2 * x > INT_MAX:
            return True
        x *= 2
    return False


SHIFTS = {
    "constant": ("int f(signed char x) { return x << 1; }", lambda x: x < 0, WHOLE),
    "into the sign": ("int f(signed char x) { return x << 25; }", lambda x: not 0 <= x < 64, WHOLE),
    "by nothing": ("int f(signed char x) { return x << 0; }", lambda x: x < 0, WHOLE),
    "promoted": ("int f(unsigned char x) { return x << 24; }", lambda x: x > 127, WHOLE),
    "narrow target": ("signed char f(signed char x) { x <<= 4; return x; }", lambda x: x < 0, WHOLE),
    "by a variable": ("int f(signed char y) { return 1 << y; }", lambda y: not 0 <= y < 31, JUDGE),
    "zero by a variable": ("int f(signed char y) { return 0 << y; }", lambda y: not 0 <= y < 32, JUDGE),
    "both": (
        "int f(signed char x) { int n = x & 31; return (x >> 5) << n; }",
        lambda x: x < 0 or (x >> 5) << (x & 31) > INT_MAX,
        JUDGE,
    ),
    "long": ("long long f(signed char x) { return (long long)x << 57; }", lambda x: not 0 <= x < 64, WHOLE),
    "unsigned": ("unsigned f(unsigned char x) { return (unsigned)x << 28; }", _never, WHOLE),
    "unsigned negative": ("unsigned f(signed char x) { return (unsigned)x << 3; }", _never, WHOLE),
    "right": ("int f(signed char x) { return (x >> 1) ^ (2147483647 >> (x & 7)); }", _never, JUDGE),
    "multiplied": ("int f(signed char x) { return x * 16; }", _never, WHOLE),
    "inlined": (
        "static int by(int a, int n) { return a << n; } static int none(int a) { return a << 0; }\n"
        "int f(signed char x) { return by(x, 2) + none(x); }",
        lambda x: x < 0,
        WHOLE,
    ),
    "loop": (
        "int f(signed char x) { int y = x; for (int i = 0; i < 26; i++) y = y << 1; return y; }",
        lambda x: _doubled(x, 26),
        WHOLE,
    ),
    "loop until it is none": (
        "int f(signed char x) { int y = x, k = 0; while (y > 0) { y <<= 1; k++; } return k; }",
        lambda x: x > 0,
        WHOLE,
    ),
    "count": (
        "int f(unsigned char n) { int y = 1; for (int i = 0; i < n; i++) y <<= 1; return y; }",
        lambda n: n > 30,
        WHOLE,
    ),
    "count, unsigned": (
        "unsigned f(unsigned char n) { unsigned y = 1; for (int i = 0; i < n; i++) y <<= 1; return y; }",
        _never,
        LOOPS,
    ),
    "sum": (
        "int f(unsigned char n) { int s = 0; for (int i = 0; i < n; i++) s += (i - 100) << 2; return s; }",
        lambda n: n > 0,
        WHOLE,
    ),
    "sometimes": (
        "int f(signed char x) { int s = 0; for (int i = 0; i < 20; i++) { if (x > 40) s += x << 3; x -= 1; } return s; }",
        _never,
        LOOPS,
    ),
}
BOOLEANS = {
    "byte over a local": (
        "int f(unsigned char n) { _Bool b = 0; *(unsigned char *)&b = n; int k = 0; while (b) { k++; b = 0; } return k; }",
        lambda n: n > 1,
        WHOLE,
    ),
    "not read": ("int f(unsigned char n) { _Bool b = 0; *(unsigned char *)&b = n; return n; }", _never, WHOLE),
    "read as a byte": (
        "int f(unsigned char n) { _Bool b = 0; *(unsigned char *)&b = n; return *(unsigned char *)&b; }",
        _never,
        WHOLE,
    ),
    "written again": (
        "int f(unsigned char n) { _Bool b = 0; *(unsigned char *)&b = n; b = n; return b ? 5 : 6; }",
        _never,
        WHOLE,
    ),
    "converted": (
        "int f(unsigned char n) { _Bool b = n; int k = 0; while (b) { k++; b = 0; } return k; }",
        _never,
        WHOLE,
    ),
    "parameter": ("int f(_Bool b) { int k = 0; while (b) { k++; b = 0; } return k; }", _never, WHOLE),
    "union": (
        "int f(unsigned char n) { union { _Bool b; unsigned char c; } u; u.c = n; return u.b ? 2 : 3; }",
        lambda n: n > 1,
        WHOLE,
    ),
    "memset": (
        "void *memset(void *, int, unsigned long);\n"
        "int f(unsigned char n) { _Bool a[4]; memset(a, n, 4); int k = 0; for (int i = 0; i < 4; i++) if (a[i]) k++; return k; }",
        lambda n: n > 1,
        JUDGE,
    ),
    "byte over an element": (
        "int f(unsigned char n) { _Bool a[4] = {1, 0, 1, 0}; ((unsigned char *)a)[n & 3] = n; int k = 0;\n"
        "for (int i = 0; i < 3; i++) if (a[i]) k++; return k; }",
        lambda n: n > 1 and n & 3 != 3,
        JUDGE,
    ),
    "copied": (
        "void *memcpy(void *, const void *, unsigned long);\n"
        "int f(unsigned char n) { unsigned char c[2] = {1, n}; _Bool a[2]; memcpy(a, c, 2); return a[0] ? a[1] : 9; }",
        lambda n: n > 1,
        JUDGE,
    ),
    "elements": (
        "int f(unsigned char n) { _Bool a[8] = {0}; int k = 0; for (int i = 0; i < 8; i++) a[(i * n) & 7] = n;\n"
        "for (int i = 0; i < 8; i++) if (a[i]) k++; return k; }",
        _never,
        JUDGE,
    ),
    "members": (
        "struct e { _Bool used; unsigned char byte; int key; };\n"
        "int f(unsigned char n) { struct e t[3] = {{1, 2, 3}}; for (int i = 0; i < 3; i++) { t[i].byte = n; t[i].key = n; }\n"
        "struct e s = t[n % 3]; return s.used ? 1 : 2; }",
        _never,
        JUDGE,
    ),
    "member, byte past the one before": (
        "struct e { unsigned char byte[2]; _Bool used; };\n"
        "int f(unsigned char n) { struct e s = {{0, 0}, 1}; ((unsigned char *)&s)[n % 3] = n; return s.used ? 1 : 2; }",
        lambda n: n % 3 == 2 and n > 1,
        JUDGE,
    ),
}
COPY = (
    "void *memcpy(void *, const void *, unsigned long); void *memmove(void *, const void *, unsigned long);\n"
    "void *mempcpy(void *, const void *, unsigned long); char *strcpy(char *, const char *);\n"
    "char *strcat(char *, const char *); char *strncpy(char *, const char *, unsigned long);\n"
)


def _apart(a: int, b: int, length: int) -> bool:
    return length == 0 or a == b or a + length <= b or b + length <= a


COPIES = {
    "any": (
        'int f(unsigned char n) { char b[10] = "abcdefghi"; memcpy(b + (n & 3), b + (n >> 2 & 3), n >> 4 & 3); return b[0]; }',
        lambda n: not _apart(n & 3, n >> 2 & 3, n >> 4 & 3),
        JUDGE,
    ),
    "in a loop": (
        'int f(unsigned char n) { char b[10] = "abcdefghi"; for (int i = 0; i < 4; i++) memcpy(b, b + (n & 1), 8 - (n & 1));\n'
        "return b[0]; }",
        lambda n: n & 1 == 1,
        JUDGE,
    ),
    "moved": (
        'int f(unsigned char n) { char b[10] = "abcdefghi"; memmove(b + (n & 3), b + (n >> 2 & 3), 5); return b[2]; }',
        _never,
        JUDGE,
    ),
    "others": (
        'int f(unsigned char n) { char a[8] = "abcdefg", b[8]; memcpy(b + (n & 3), a + (n >> 2 & 3), 4); return b[3]; }',
        _never,
        JUDGE,
    ),
    "elements of an array": (
        "struct s { int a, b, c; };\n"
        "int f(unsigned char n) { struct s t[4] = {{1, 2, 3}, {4, 5, 6}}; for (int i = 0; i < 4; i++) t[i] = t[n & 3];\n"
        "return t[n >> 2 & 3].b; }",
        _never,
        JUDGE,
    ),
    "structure over itself": (
        "struct s { int a, b, c; };\n"
        "int f(unsigned char n) { char room[24] = {0}; struct s *p = (struct s *)room, *q = (struct s *)(room + 4 * (n & 3));\n"
        "*p = *q; return p->b; }",
        lambda n: n & 3 in (1, 2),
        JUDGE,
    ),
    "unknown objects": (
        'int f(unsigned char n) { char a[6] = "abcde", b[6] = "vwxyz"; char *p = n & 1 ? a : b, *q = n & 2 ? a + 1 : b + 1;\n'
        "memcpy(p, q, 3); return a[0] + b[0]; }",
        lambda n: (n & 1) == (n >> 1 & 1),
        JUDGE,
    ),
    "mempcpy": (
        'int f(unsigned char n) { char b[9] = "abcdefgh"; char *e = mempcpy(b + (n & 7), b + 4, 2 * (n & 1)); return e - b; }',
        lambda n: not _apart(n & 7, 4, 2 * (n & 1)),
        JUDGE,
    ),
    "strcpy": (
        'int f(unsigned char n) { char b[16] = "abcd"; strcpy(b + (n & 7), b); return b[1]; }',
        lambda n: n & 7 < 5,
        JUDGE,
    ),
    "strncpy": (
        'int f(unsigned char n) { char b[16] = "abcd"; strncpy(b + (n & 7), b, n >> 3 & 7); return b[1]; }',
        lambda n: n >> 3 & 7 != 0 and n & 7 < min(5, n >> 3 & 7),
        JUDGE,
    ),
    "strcat": (
        'int f(unsigned char n) { char b[16] = "ab\\0cd"; strcat(b + 3, b + (n & 3)); return b[6]; }',
        lambda n: n & 3 == 3,
        JUDGE,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def host() -> Iterator[NativeHost]:
    with NativeHost() as shared:
        yield shared


def compare(source: str, expected: Callable[..., bool], answers: int, host: NativeHost, folder: Path) -> None:
    subject = read(source, folder)
    assert subject.graph is not None
    for loop in sorted(subject.loops, key=lambda loop: -loop.depth):
        summarize_loop(subject, loop, LoopRow(loop.name, loop.depth))
    whole = compose_function(subject, FunctionRow())
    bench = Bench(subject, source, whole, host)
    ranges = [range(p.type.min, p.type.max + 1) for p in subject.graph.parameters]
    inputs = list(product(*ranges))
    assert len(inputs) <= 1 << 8
    for args, native in zip(inputs, bench.native(inputs, ()), strict=True):
        assert native.status == ("undefined" if expected(*args) else "ok"), (args, native)
        voices = {voice.name: voice.evaluation for voice in bench.voices(args, ())}
        assert bench.difference(bench.voices(args, ()), native) == "", args
        assert voices["interpreter"].outcome.status == native.status, (args, voices["interpreter"])
        if answers >= LOOPS:
            assert voices["summary"].status == native.status, (args, voices["summary"])
        if answers >= WHOLE:
            assert isinstance(whole, CallSummary)
            assert voices["whole"].status == native.status, (args, voices["whole"])


@pytest.mark.parametrize("name", SHIFTS)
def test_signed_left_shifts(name: str, host: NativeHost, tmp_path: Path) -> None:
    compare(*SHIFTS[name], host, tmp_path)


@pytest.mark.parametrize("name", BOOLEANS)
def test_bytes_read_as_truth_values(name: str, host: NativeHost, tmp_path: Path) -> None:
    compare(*BOOLEANS[name], host, tmp_path)


@pytest.mark.parametrize("name", COPIES)
def test_copies_of_what_overlaps(name: str, host: NativeHost, tmp_path: Path) -> None:
    source, expected, answers = COPIES[name]
    compare(COPY + source, expected, answers, host, tmp_path)


@pytest.fixture(autouse=True)
def by_summaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls are evaluated by summaries where there are some, short ones too."""
    monkeypatch.setattr("loopless.queries.evaluation.calls.QUICK_STEPS", 0)


def evaluated(file: Path, name: str, inputs: Iterable[Any], **options: Any) -> list[Any]:
    """What ``eval`` says of each call with one argument: the value, or the status where there is none."""
    settings = Settings(sandboxed=False, **{key: options.pop(key) for key in ("wrapv",) if key in options})
    with Calls(load([file], settings, **options)[name], settings, None) as calls:
        found = [calls.run([x], []) for x in inputs]
    return [one.return_value if one.status == "ok" else one.status for one in found]


def statuses(file: Path, inputs: Iterable[Any], name: str = "f", **options: Any) -> list[str]:
    """Likewise, "ok" where there is a value."""
    return ["ok" if isinstance(said, int) else said for said in evaluated(file, name, inputs, **options)]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (("-std=c++11",), lambda x: not 0 <= x < 128),
        (("-std=c++17",), lambda x: not 0 <= x < 128),
        (("-std=c++20",), _never),
        (("-std=c++17", "-fwrapv"), _never),
    ],
)
def test_cxx_has_its_own_rule(
    flags: tuple[str, ...], expected: Callable[[int], bool], host: NativeHost, tmp_path: Path
) -> None:
    file = tmp_path / "a.cpp"
    file.write_text('extern "C" int f(signed char x) { return x << 25; }')
    wanted = ["undefined" if expected(x) else "ok" for x in range(-128, 128)]
    assert statuses(file, range(-128, 128), flags=flags) == wanted
    with NativeOracle(file, options=SourceOptions(flags=flags), host=host) as oracle:
        assert [oracle.run("f", [x]).status for x in range(-128, 128)] == wanted


def test_with_wrapv_shifts_wrap_around(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(int x) { for (int i = 0; i < 3; i++) x = x << 1; return x; }")
    assert evaluated(file, "f", [-(2**31) + 5, 2**30 - 1], wrapv=True) == [40, -8]
    assert statuses(file, [2**30, -1]) == ["undefined", "undefined"]


def test_the_flag_of_the_compiler_does_the_same(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(int x) { return x << 1; }")
    assert statuses(file, [-5, 2**30], flags=("-fwrapv",)) == ["ok", "ok"]


@pytest.mark.parametrize("constant", ["1 << 31", "-1 << 3", "3 << 31", "1LL << 63", "-8 << 0"])
def test_a_folded_shift_that_overflows_is_not_answered(constant: str, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(f"long long f(int x) {{\n if (x)\n  return {constant};\n return 1; }}")
    assert statuses(file, [0, 1]) == ["ok", "unknown"]
    assert statuses(file, [0, 1], flags=("-w",)) == ["ok", "unknown"]
    assert statuses(file, [0, 1], wrapv=True) == ["ok", "ok"]


@pytest.mark.parametrize("constant", ["1 << 30", "1u << 31", "1LL << 62", "0 << 31", "-8 >> 1"])
def test_other_folded_shifts_are(constant: str, tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(f"long long f(int x) {{\n if (x)\n  return {constant};\n return 1; }}")
    assert statuses(file, [0, 1]) == ["ok", "ok"]


def test_a_shift_that_the_compiler_sees_only_without_checks_may_be_signed(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "int f(signed char x) {\n"
        "#if __has_feature(undefined_behavior_sanitizer)\n return 0;\n#else\n return x << 1;\n#endif\n}"
    )
    assert statuses(file, [3, 0, -1]) == ["ok", "ok", "unknown"]


def test_ir_without_marks_means_what_it_says(tmp_path: Path) -> None:
    """LLVM's shift loses bits, and the byte's lowest bit is the truth value: nothing there is undefined."""
    file = tmp_path / "a.ll"
    file.write_text(
        "define i32 @f(i32 %x) {\n %p = alloca i8\n %c = trunc i32 %x to i8\n store i8 %c, ptr %p\n"
        " %l = load i8, ptr %p\n %b = trunc i8 %l to i1\n %z = zext i1 %b to i32\n %s = shl i32 %x, 31\n"
        " %r = add i32 %s, %z\n ret i32 %r\n}\n"
    )
    assert statuses(file, [2, 3, -1]) == ["ok", "ok", "ok"]


def test_optimized_ir_promises_truth_values_in_its_own_way(tmp_path: Path) -> None:
    file = tmp_path / "a.ll"
    file.write_text(
        "define i32 @f(i32 %x) {\n %p = alloca i8\n %c = trunc i32 %x to i8\n store i8 %c, ptr %p\n"
        " %l = load i8, ptr %p, !range !0\n %b = icmp eq i8 %l, 0\n %z = zext i1 %b to i32\n ret i32 %z\n}\n"
        "define i32 @g(i32 %x) {\n %p = alloca i8\n %c = trunc i32 %x to i8\n store i8 %c, ptr %p\n"
        " %l = load i8, ptr %p\n %b = trunc nuw i8 %l to i1\n %z = zext i1 %b to i32\n ret i32 %z\n}\n"
        "!0 = !{i8 0, i8 2}\n"
    )
    assert statuses(file, [0, 1, 2, 255, 256]) == ["ok", "ok", "undefined", "undefined", "ok"]
    assert statuses(file, [0, 1, 2], "g") == ["ok", "ok", "undefined"]


def test_volatile_truth_values_are_truth_values() -> None:
    (answer,) = answers("int f(int n) { volatile _Bool b = 0; int k = 0; while (!b && k < n) k++; return k; }")
    assert answer.paths is not None
    assert not [path for path in answer.paths.all if path.exit is not None and path.exit.detail == "invalid-bool"]


def test_loops_over_arrays_of_truth_values_are_summarized_as_before() -> None:
    source = """
    int f(const _Bool *seen, int n) { int k = 0; for (int i = 0; i < n; i++) { _Bool b = seen[0]; if (b) k++; } return k; }
    int g(int n) { _Bool p[64] = {0}; int k = 0; for (int i = 0; i < n && i < 64; i++) { p[i] = k > 3; k += 2; } return k; }
    """
    for answer in answers(source):
        assert isinstance(answer.summary, LoopSummary)
        assert answer.summary.complete
        assert "invalid-bool" not in {part.kind for part in answer.summary.undefined}


def test_truth_values_from_outside_are_an_assumption() -> None:
    source = "int f(const _Bool *seen, int n) { int i = 0; while (i < n && !seen[i]) i++; return i; }"
    (answer,) = answers(source)
    assert answer.paths is not None
    assert "what is read as a truth value through seen is 0 or 1" in answer.paths.assumptions
    assert "invalid-bool" not in {path.exit.detail for path in answer.paths.all if path.exit is not None}


@pytest.mark.parametrize(
    "source",
    [
        "int f(int n) { int y = 1, k = 0; while (y < n) { y <<= 1; k++; } return k; }",
        "int f(int x) { int k = 0; while (x > 0) { x <<= 1; k++; } return k; }",
        "int f(int n) { int k = 0; for (int i = 1; i <= n; i = i << 2) k++; return k; }",
        "int f(unsigned char n) { _Bool b = 0; *(unsigned char *)&b = n; int k = 0; while (b && k < n) k++; return k; }",
    ],
)
def test_bounds_are_not_below_the_runs(source: str) -> None:
    g = graph(source)
    inputs = [[x] for x in (-5, 0, 1, 2, 3, 17, 255, 2**29, 2**30 - 1, 2**30, 2**30 + 1, INT_MAX)]
    inputs = [row for row in inputs if g.parameters[0].type.holds(row[0])]
    assert judge_calls(g, inputs).compared >= 5


def test_a_byte_of_a_parameter_that_is_no_bool_is_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("int f(unsigned char *p) { _Bool *b = (_Bool *)p; return *b ? 4 : 5; }")
    assert statuses(file, [(0,), (1,), (2,), (255,)]) == ["ok", "ok", "undefined", "undefined"]


def test_summaries_tell_of_shifts_that_overflow() -> None:
    source = "int f(int x) { int k = 0; while (x > 0 && k < 100) { x <<= 1; k++; } return k; }"
    (answer,) = answers(source)
    assert isinstance(answer.summary, LoopSummary)
    x, k = (next(v for v in answer.summary.paths.state if v.name == name) for name in "xk")
    for value in (1, 3, 2**30 - 1, 2**30, INT_MAX):
        assert [u for u in answer.summary.undefined if holds(u.when, {x: value, k: 0})]
        assert not [c for c in answer.summary.cases if holds(c.when, {x: value, k: 0})]


def test_divisions_and_shifts_stay_when_a_function_is_inlined(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(
        "static int zero(int y) { return 0 / y; } static unsigned none(int y) { return 0u << y; }\n"
        "static int rest(int y) { return 0 % y; } static int minus(int y) { return -1 >> y; }\n"
        "int f(int y) { int s = 0; for (int i = 0; i < 3; i++) s += zero(y); return s; }\n"
        "int g(int y) { return (int)none(y); } int h(int y) { return rest(y); } int k(int y) { return minus(y); }\n"
    )
    assert statuses(file, [0, 1]) == ["undefined", "ok"]
    assert statuses(file, [31, 32, -1], "g") == ["ok", "undefined", "undefined"]
    assert statuses(file, [3, 0], "h") == ["ok", "undefined"]
    assert statuses(file, [31, 32], "k") == ["ok", "undefined"]
