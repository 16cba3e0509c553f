"""Native runs: every way a run can end, the inputs it can take, and that nothing of one run reaches the next."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle, NativeRun, RunForbidden
from loopless.check.oracle.runtime import MEANINGS, WEAK_MEANINGS
from loopless.check.outcome import Outcome
from loopless.errors import SourceError, UsageError
from loopless.source.compile import SourceOptions, compile_ir
from loopless.source.vocabulary import VOCABULARY, Meaning

INT_MAX, INT_MIN = 2**31 - 1, -(2**31)


@pytest.fixture(scope="module")
def host() -> Iterator[NativeHost]:
    with NativeHost() as shared:
        yield shared


def once(host: NativeHost, program: str, args: list[int], nondet: list[int] | None = None) -> Outcome:
    with NativeOracle(program, host=host) as oracle:
        return oracle.run("f", args, nondet=nondet or [])


@pytest.mark.parametrize(
    ("expression", "args", "words"),
    [
        ("a + b", [INT_MAX, 1], "addition"),
        ("a - b", [INT_MIN, 1], "subtraction"),
        ("a * b", [65536, 32768], "multiplication"),
        ("-a + b * 0", [INT_MIN, 0], "negation"),
        ("a << b", [1, 32], "shift"),
        ("a << b", [1, 31], "shift"),
        ("a << b", [-1, 0], "shift"),
        ("a >> b", [1, -1], "shift"),
        ("a / b", [1, 0], "division"),
        ("a % b", [1, 0], "division"),
        ("a / b", [INT_MIN, -1], "division"),
        ("a % b", [INT_MIN, -1], "division"),
        ("a++ + b * 0", [INT_MAX, 0], "addition"),
    ],
)
def test_undefined_behaviour_ends_the_run(host: NativeHost, expression: str, args: list[int], words: str) -> None:
    outcome = once(host, f"int f(int a, int b) {{\n  return {expression};\n}}", args)
    assert outcome.status == "undefined"
    assert words in outcome.detail
    assert "line 2" in outcome.detail
    assert outcome.return_value is None


@pytest.mark.parametrize(
    ("program", "args", "value"),
    [
        ("unsigned f(unsigned a, unsigned b) { return a + b; }", [2**32 - 1, 2], 1),
        ("unsigned f(unsigned a, unsigned b) { return a - b; }", [0, 1], 2**32 - 1),
        ("unsigned f(unsigned a, unsigned b) { return a * b; }", [2**31, 2], 0),
        ("signed char f(signed char a) { a++; return a; }", [127], -128),
        ("unsigned char f(unsigned char a) { a--; return a; }", [0], 255),
        ("short f(short a) { a = a * 2; return a; }", [-32768], 0),
        ("long long f(unsigned long long a) { return a; }", [2**64 - 1], -1),
        ("unsigned f(unsigned a) { return a << 1; }", [2**31 + 2**30], 2**31),
        ("int f(int a) { return a << 1; }", [2**30 - 1], INT_MAX - 1),
        ("_Bool f(int a) { return a; }", [256], 1),
        ("int f(int a, int b) { return a / b; }", [-7, 2], -3),
        ("int f(int a, int b) { return a % b; }", [-7, 2], -1),
        (("__attribute__((used)) static int f(char a, short b, long c, int d, int e, int g, int h, int i) "
          "{ return a+b+c+d+e+g+h*i; }"),
         [-1, -2, -3, 4, 5, 6, 7, -8], -47),
    ],
)  # fmt: skip
def test_defined_arithmetic_gives_its_value(host: NativeHost, program: str, args: list[int], value: int) -> None:
    assert once(host, program, args) == Outcome("ok", value)


@pytest.mark.parametrize(
    ("body", "status", "detail"),
    [
        ("abort();", "aborted", "abort"),
        ("exit(3);", "aborted", "exit(3)"),
        ("reach_error();", "error-reached", "error"),
        ("__VERIFIER_error();", "error-reached", "error"),
        ("__VERIFIER_assert(x > 100);", "error-reached", "assertion"),
        ('__CPROVER_assert(x > 100, "large");', "error-reached", "assertion"),
        ('if (x) __assert_fail("x == 0", "f.c", 1, "f");', "error-reached", "x == 0"),
        ("__VERIFIER_assume(x > 100);", "assumption-failed", ""),
        ("assume_abort_if_not(x > 100);", "assumption-failed", ""),
        ("klee_assume(x > 100);", "assumption-failed", ""),
        ("__CPROVER_assume(x > 100);", "assumption-failed", ""),
        ("__VERIFIER_assume(x > 1); __VERIFIER_assert(x > 1);", "ok", ""),
    ],
)  # fmt: skip
def test_words_with_a_meaning(host: NativeHost, body: str, status: str, detail: str) -> None:
    outcome = once(host, f"int f(int x) {{ {body} return x; }}", [5])
    assert outcome.status == status
    assert detail in outcome.detail


SVCOMP = """
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
void reach_error(void) { __assert_fail("0", "task.c", 3, "reach_error"); }
extern int __VERIFIER_nondet_int(void);
void assume_abort_if_not(int cond) { if (!cond) { abort(); } }
void __VERIFIER_assert(int cond) { if (!cond) { ERROR: { reach_error(); abort(); } } }
int main(void) { int n = __VERIFIER_nondet_int(); assume_abort_if_not(n >= 0); __VERIFIER_assert(n != 7);
  void (*die)(void) = reach_error; if (n == 8) die(); return n; }
"""


def test_a_program_that_defines_the_words_itself_is_still_understood(host: NativeHost) -> None:
    with NativeOracle(SVCOMP, host=host) as oracle:
        found = [oracle.run("main", nondet=[n]).status for n in (-1, 7, 8, 9)]
    assert found == ["assumption-failed", "error-reached", "error-reached", "ok"]


def test_an_endless_loop_times_out_and_the_next_run_is_answered() -> None:
    program = "int f(int x) { while (x > 0) { } return x; }"
    with NativeOracle(program, limits=NativeLimits(seconds=0.2)) as oracle:
        found = oracle.run_many("f", [NativeRun([0]), NativeRun([1]), NativeRun([-3]), NativeRun([2]), NativeRun([-4])])
        assert [outcome.status for outcome in found] == ["ok", "timeout", "ok", "timeout", "ok"]
        assert [outcome.return_value for outcome in found] == [0, None, -3, None, -4]
        assert oracle.run("f", [-5]) == Outcome("ok", -5)


def test_crashes_stay_with_their_run(host: NativeHost) -> None:
    program = "int f(int x) { int *p = (int *)8; if (x == 1) return *p; if (x == 2) return f(x) + 1; return x; }"
    with NativeOracle(program, host=host) as oracle:
        found = oracle.run_many("f", [NativeRun([0]), NativeRun([1]), NativeRun([3]), NativeRun([2]), NativeRun([4])])
    assert [outcome.status for outcome in found] == ["ok", "crashed", "ok", "crashed", "ok"]


def test_memory_is_bounded() -> None:
    program = """
    void *malloc(unsigned long); void *memset(void *, int, unsigned long);
    int f(int n) { for (int i = 0; i < n; i++) { char *p = malloc(1 << 20); if (!p) return i; memset(p, 1, 1 << 20); }
      return -1; }"""
    with NativeOracle(program, limits=NativeLimits(seconds=10, memory_bytes=64 << 20)) as oracle:
        assert oracle.run("f", [8]).return_value == -1
        hog = oracle.run("f", [4000])
    assert hog.status == "ok"
    assert hog.return_value is not None
    assert 0 < hog.return_value <= 64


def test_files_and_processes_are_out_of_reach(host: NativeHost, tmp_path: Path) -> None:
    target = tmp_path / "written"
    program = f"""
    void *fopen(const char *, const char *); int open(const char *, int, ...); int system(const char *);
    int unlink(const char *);
    int f(int x) {{
      if (x == 0) return fopen("{target}", "w") != 0;
      if (x == 1) return open("{target}", 0101, 0600);
      if (x == 2) return system("touch {target}");
      return unlink("{target}.keep"); }}"""
    (tmp_path / "written.keep").write_text("kept")
    with NativeOracle(program, host=host) as oracle:
        found = oracle.run_many("f", [NativeRun([x]) for x in range(4)])
    assert [outcome.status for outcome in found] == ["unknown"] * 4
    assert "fopen" in found[0].detail
    assert sorted(path.name for path in tmp_path.iterdir()) == ["written.keep"]


def test_the_kernel_refuses_files_and_memory_to_a_limited_process(tmp_path: Path) -> None:
    program = f"""
import os
from loopless.check.oracle.child import limit_process
kept = os.open({str(tmp_path / "kept")!r}, os.O_WRONLY | os.O_CREAT)
limit_process({{"seconds": 1.0, "memory_bytes": 1 << 20}}, 1)
for attempt in (lambda: open({str(tmp_path / "new")!r}, "w"), lambda: os.write(kept, b"x"), lambda: bytearray(1 << 25)):
    try:
        attempt()
        print("possible")
    except (OSError, MemoryError) as error:
        print(type(error).__name__)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["OSError", "OSError", "MemoryError"]
    assert [(path.name, path.stat().st_size) for path in tmp_path.iterdir()] == [("kept", 0)]


def test_output_of_the_program_goes_nowhere(host: NativeHost, capfd: pytest.CaptureFixture[str]) -> None:
    program = """int printf(const char *, ...); int getchar(void);
    int f(int x) { printf("noise %d\\n", x); return getchar(); }"""
    assert once(host, program, [1]).return_value == -1
    assert capfd.readouterr().out == ""


def test_pointers_carry_values_in_and_out(host: NativeHost) -> None:
    program = """typedef unsigned char byte;
    int f(int *p, byte a[], int n, signed char *q) { int s = 0;
      for (int i = 0; i < n; i++) { s += a[i]; a[i] += 250; } *p = s; if (q) *q -= 1; return q == 0; }"""
    with NativeOracle(program, host=host) as oracle:
        outcome = oracle.run("f", [[99], [1, 2, 255], 3, [-128]])
        assert outcome == Outcome("ok", 0, ((258,), (251, 252, 249), (127,)))
        assert oracle.run("f", [[0], [], 0, None]) == Outcome("ok", 1, ((0,), (), ()))


def test_reading_past_the_end_of_an_argument_is_no_silent_value(host: NativeHost) -> None:
    program = "int f(int *a, int n) { return a[n]; }"
    with NativeOracle(program, host=host) as oracle:
        assert oracle.run("f", [[7, 8, 9], 2]).return_value == 9
        assert oracle.run("f", [[7, 8, 9], 3]).status == "crashed"


GLOBALS = """int g = 3; static unsigned char small; static const int fixed = 4; int list[2] = {1, 2};
int f(int x) { static long long calls; calls++; g += x; small--; list[0] += x; return list[0]; }"""


@pytest.mark.parametrize("isolated", [False, True])
def test_globals_start_anew_in_every_run(host: NativeHost, isolated: bool) -> None:
    with NativeOracle(GLOBALS, host=host) as oracle:
        found = oracle.run_many("f", [NativeRun([5]), NativeRun([6])], isolated=isolated)
    assert found == [
        Outcome("ok", 6, (), {"g": 8, "small": 255, "f.calls": 1}),
        Outcome("ok", 7, (), {"g": 9, "small": 255, "f.calls": 1}),
    ]


def test_globals_can_be_given_other_initial_values(host: NativeHost) -> None:
    with NativeOracle(GLOBALS, host=host) as oracle:
        assert oracle.run("f", [1], globals={"g": -10, "small": 1}).globals == {"g": -9, "small": 0, "f.calls": 1}
        with pytest.raises(UsageError, match="no scalar global list"):
            oracle.run("f", [1], globals={"list": 1})


def test_each_input_function_draws_in_its_type(host: NativeHost) -> None:
    program = """
    extern char __VERIFIER_nondet_char(void); extern unsigned char __VERIFIER_nondet_uchar(void);
    extern _Bool __VERIFIER_nondet_bool(void); extern unsigned __VERIFIER_nondet_uint();
    extern long __VERIFIER_nondet_long(void); extern unsigned short __VERIFIER_nondet_ushort(void);
    void klee_make_symbolic(void *, unsigned long, const char *);
    long f(long *out) { out[0] = __VERIFIER_nondet_char(); out[1] = __VERIFIER_nondet_uchar();
      out[2] = __VERIFIER_nondet_bool(); out[3] = __VERIFIER_nondet_uint(); out[4] = __VERIFIER_nondet_long();
      out[5] = __VERIFIER_nondet_ushort(); int k = 0; klee_make_symbolic(&k, sizeof k, "k"); out[6] = k; return 0; }"""
    with NativeOracle(program, host=host) as oracle:
        outcome = oracle.run("f", [[0] * 7], nondet=[-1, -1, 2, -1, -(2**63), 65537, -5])
        assert outcome.outputs == ((-1, 255, 1, 2**32 - 1, -(2**63), 1, -5),)
        short = oracle.run("f", [[0] * 7], nondet=[1, 2, 3])
    assert short.status == "unknown"
    assert "inputs exhausted" in short.detail


def test_functions_without_a_body_are_inputs_and_are_named(host: NativeHost) -> None:
    program = "int other(int); void hook(void); int f(int x) { hook(); return other(x) + other(x); }"
    with NativeOracle(program, host=host) as oracle:
        assert oracle.assumed == ("hook", "other")
        assert oracle.run("f", [1], nondet=[20, 22]).return_value == 42
    with NativeOracle("double other(int); int f(int x) { return other(x) > 0; }", host=host) as oracle:
        assert oracle.assumed == ("other",)
        assert oracle.run("f", [1], nondet=[1]).return_value == 0  # no integer is 0
    with NativeOracle("int fork(void); int f(int x) { return fork() > 0; }", host=host) as oracle:
        outcome = oracle.run("f", [1], nondet=[1])
    assert outcome.status == "unknown"
    assert "fork" in outcome.detail


def test_uninitialised_locals_can_be_chosen() -> None:
    program = "int f(int x) { signed char c; int y; int z = 1; if (x) y = x; return c * 1000 + y + z; }"
    with NativeOracle(program) as oracle:
        assert oracle.run("f", [0], uninit=[-3, 77, 5]).return_value == -2922
        assert oracle.run("f", [4], uninit=[2, 77, 5]).return_value == 2005
        assert oracle.run("f", [0]).return_value == 1
        assert oracle.run("f", [0], uninit={"f.y": 30, "c": -2}).return_value == -1969
        with pytest.raises(UsageError, match="no uninitialised integer local x"):
            oracle.run("f", [0], uninit={"x": 1})


def test_the_bytes_of_uninitialised_arrays_and_structures_can_be_chosen() -> None:
    program = """struct part { short low; int high[2]; };
    static int sum(int *a) { return a[0] + a[3]; }
    int f(int x) { int a[4]; struct part s; int b[2] = {1, 2}; if (x) a[3] = 5; return sum(a) + s.low + b[x]; }"""
    with NativeOracle(program) as oracle:
        assert oracle.run("f", [0]).return_value == 1
        assert oracle.run("f", [1], uninit={"a[]": 1}).return_value == 0x01010101 + 5 + 2
        assert oracle.run("f", [0], uninit={"f.s[]": 0xAA}).return_value == 0xAAAA - 2**16 + 1
        with pytest.raises(UsageError, match="no uninitialised integer local c"):
            oracle.run("f", [0], uninit={"c[]": 1})


KINDS = {
    Meaning.ASSUME: {"assume", "assume_wide"},
    Meaning.ASSERT: {"assert"},
    Meaning.ERROR: {"error", "assert_fail"},
    Meaning.ABORT: {"abort"},
    Meaning.EXIT: {"exit"},
    Meaning.IGNORE: {"nothing"},
    Meaning.SYMBOLIC: {"klee_make_symbolic"},
}


def test_the_runtime_knows_every_word_that_the_reader_knows() -> None:
    known = {**MEANINGS, **WEAK_MEANINGS}
    for name, meaning in VOCABULARY.items():
        if meaning in KINDS:
            assert known[name] in KINDS[meaning], name


def test_several_files_make_one_program(host: NativeHost, tmp_path: Path) -> None:
    one, two = tmp_path / "one.c", tmp_path / "two.c"
    one.write_text("int other(int); static int g = 1; int f(int x) { return other(x) + g; }")
    two.write_text("static int g = 10; int other(int x) { return x * g; }")
    with NativeOracle([one, two], host=host) as oracle:
        assert oracle.run("f", [4]).return_value == 41


@pytest.mark.parametrize(
    ("expression", "args"),
    [
        ("a + b", [INT_MAX, 1]),
        ("a - b", [INT_MIN, 1]),
        ("a * b", [65536, 32768]),
        ("-a + b * 0", [INT_MIN, 0]),
        ("a << b", [1, 32]),
        ("a << b", [1, 31]),
        ("a << b", [-1, 0]),
        ("a >> b", [1, -1]),
        ("a / b", [1, 0]),
        ("(int)((unsigned)a % (unsigned)b)", [1, 0]),
        ("a % b", [INT_MIN, -1]),
    ],
)
def test_modules_without_checks_of_the_compiler_get_ours(
    host: NativeHost, expression: str, args: list[int], tmp_path: Path
) -> None:
    program = f"int f(int a, int b) {{\n  return {expression};\n}} unsigned g(unsigned a) {{ return a * 3 + a - 9; }}"
    plain = compile_ir(program, SourceOptions(traps=False))
    (tmp_path / "plain.ll").write_text(plain)
    for oracle in (NativeOracle(plain, ir=True, host=host), NativeOracle(tmp_path / "plain.ll", host=host)):
        outcome = oracle.run("f", args)
        assert outcome.status == "undefined"
        assert outcome.detail.endswith("line 2")
        assert oracle.run("f", [7, 3]) == NativeOracle(program, host=host).run("f", [7, 3])
        assert oracle.run("g", [0]).return_value == 2**32 - 9


IR = """
define i16 @f(i16 %a, i16 %b) !dbg !4 {
  %r = OPERATION i16 %a, %b
  ret i16 %r
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!8}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "f.c", directory: "")
!2 = !DIBasicType(name: "short", size: 16, encoding: DW_ATE_signed)
!3 = !{!2, !2, !2}
!4 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !5, unit: !0, spFlags: DISPFlagDefinition)
!5 = !DISubroutineType(types: !3)
!8 = !{i32 2, !"Debug Info Version", i32 3}
"""


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "shl"])
def test_flags_of_operations_are_checked_exactly(host: NativeHost, op: str, signed: bool) -> None:
    """Against the definition: undefined if and only if the exact result leaves the (un)signed range."""
    exact = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__, "shl": lambda a, b: a << b}[op]
    values = [0, 1, 2, 3, 15, 16, 127, 255, 256, 16384, 32767, -1, -2, -256, -16384, -32767, -32768]
    pairs = [(a, b) for a in values for b in values]
    with NativeOracle(IR.replace("OPERATION", f"{op} {'nsw' if signed else 'nuw'}"), ir=True, host=host) as oracle:
        found = oracle.run_many("f", [NativeRun(pair) for pair in pairs])
    for (a, b), outcome in zip(pairs, found, strict=True):
        x, y = (a, b) if signed else (a & 65535, b & 65535)
        if op == "shl" and not 0 <= b < 16:
            assert outcome.status == "undefined"
            continue
        value = exact(x, y)
        inside = -32768 <= value <= 32767 if signed else 0 <= value <= 65535
        assert outcome.status == ("ok" if inside else "undefined"), (a, b)
        if inside:
            assert outcome.return_value is not None and (outcome.return_value - value) % 65536 == 0


ILP32 = SourceOptions(data_model="ILP32")


@pytest.mark.parametrize(
    ("program", "args", "wanted"),
    [
        ("long f(long x) { return x + 1; }", [INT_MAX], Outcome("undefined")),
        ("long f(long x) { return x + 1; }", [-1], Outcome("ok", 0)),
        ("unsigned long f(unsigned long x) { return x + 1; }", [2**32 - 1], Outcome("ok", 0)),
        ("int f(int x) { return sizeof(long) * 10 + sizeof(void *); }", [0], Outcome("ok", 44)),
        ("long long f(long long x) { long long a[3] = {x, x + 1, x + 2}; return a[x & 1]; }", [2**40],
         Outcome("ok", 2**40)),
        ("struct s { char c; long long v; }; int f(int x) { struct s t = {1, x}; return sizeof t * 100 + t.v; }", [7],
         Outcome("ok", 1207)),
        ("long g = 5; long f(long *p, long n) { long s = 0; while (n-- > 0) s += p[n]; p[0] = s; return g; }",
         [[1, 2, -9], 3], Outcome("ok", 5, ((-6, 2, -9),), {"g": 5})),
        (("void *malloc(unsigned long); void free(void *); void *memset(void *, int, unsigned long); int f(int n) {"
         " int *p = malloc(n * 4); memset(p, 1, n * 4); int r = p[n - 1]; free(p); return r; }"),
         [100], Outcome("ok", 0x01010101)),
        ('long strtol(const char *, char **, int); long f(int n) { return strtol("1", 0, 10); }', [1],
         Outcome("unknown")),
    ],
)  # fmt: skip
def test_32_bit_programs_keep_their_meaning(
    host: NativeHost, program: str, args: list[int | list[int]], wanted: Outcome
) -> None:
    with NativeOracle(program, options=ILP32, host=host) as oracle:
        outcome = oracle.run("f", args)
    assert outcome.agrees_with(wanted), str(outcome)


@pytest.mark.parametrize(
    "program",
    [
        "int f(int x) { int *p[2] = {&x, &x}; return *p[0]; }",
        "struct node { int v; struct node *next; }; int f(struct node *n) { return n->next->v; }",
        "int f(int x) { return (int)&x; }",
        "int f(int **p) { return *p[1]; }",
    ],
)
def test_32_bit_programs_that_see_the_size_of_pointers_are_refused(host: NativeHost, program: str) -> None:
    with pytest.raises(SourceError, match="32-bit"):
        NativeOracle(program, options=ILP32, host=host)


def test_main_needs_no_arguments(host: NativeHost) -> None:
    program = "int main(int argc, char **argv) { return argc + argv[0][0] + (argv[1] == 0); }"
    with NativeOracle(program, host=host) as oracle:
        assert oracle.run("main").return_value == 1 + ord("p") + 1


@pytest.mark.parametrize(
    ("args", "words"),
    [([1], "takes 2"), ([1, [2]], "given for a parameter"), ([2**31, 0], "outside the range"), ([1, None], "type int")],
)
def test_arguments_that_do_not_fit_are_refused(host: NativeHost, args: list[int], words: str) -> None:
    with (
        NativeOracle("int f(int a, int b) { return a + b; }", host=host) as oracle,
        pytest.raises(UsageError, match=words),
    ):
        oracle.run("f", args)


def test_unknown_functions_and_types_are_refused(host: NativeHost) -> None:
    program = "struct s { int a; }; int f(struct s *p) { return p == 0; } float h(void) { return 1; }"
    with NativeOracle(program, host=host) as oracle:
        with pytest.raises(UsageError, match="no function g"):
            oracle.run("g")
        with pytest.raises(UsageError, match="returns float"):
            oracle.run("h")
        assert oracle.run("f", [None]).return_value == 1
        with pytest.raises(UsageError, match="null pointer"):
            oracle.run("f", [[1]])


def test_running_can_be_forbidden(tmp_path: Path) -> None:
    with pytest.raises(RunForbidden, match="--no-run"):
        NativeOracle(tmp_path / "never-read.c", allow_run=False)
    with pytest.raises(RunForbidden):
        NativeHost(allow_run=False)


def test_a_program_that_does_not_compile_is_a_source_error() -> None:
    with pytest.raises(SourceError):
        NativeOracle("int f( { }")


def test_a_shared_host_switches_between_programs(host: NativeHost) -> None:
    with (
        NativeOracle("int g = 1; int f(int x) { return x + g; }", host=host) as first,
        NativeOracle("int g = 2; int f(int x) { return x * g; }", host=host) as second,
    ):
        assert [first.run("f", [5]).return_value, second.run("f", [5]).return_value] == [6, 10]
        assert first.run("f", [7]).return_value == 8


def test_the_oracle_survives_the_death_of_its_child() -> None:
    with NativeHost() as host, NativeOracle("int f(int x) { return x; }", host=host) as oracle:
        assert oracle.run("f", [1]).return_value == 1
        host.close()
        assert oracle.run("f", [2]).return_value == 2


def test_after_a_fork_each_side_has_its_own_child(host: NativeHost) -> None:
    with NativeOracle("int f(int x) { return x; }", host=host) as oracle:
        assert oracle.run("f", [1]).return_value == 1
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                status = 0 if oracle.run("f", [2]).return_value == 2 else 1
                host.close()
            finally:
                os._exit(status)
        assert oracle.run("f", [3]).return_value == 3
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert oracle.run("f", [4]).return_value == 4


def test_nothing_is_left_behind() -> None:
    host = NativeHost()
    with NativeOracle("int f(int x) { while (x); return x; }", host=host, limits=NativeLimits(seconds=0.05)) as oracle:
        assert oracle.run("f", [1]).status == "timeout"
    process, folder = host._process, host._folder
    assert process is not None and folder is not None and folder.is_dir()
    host.close()
    assert process.poll() is not None
    assert not folder.exists()
