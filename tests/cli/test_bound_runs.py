"""``loopless bound --entry`` and ``--unwindset``: loops that calls come to otherwise than by inlining, CBMC's numbers."""

from __future__ import annotations

import pytest

HELPER = "int s;\n{static}void h(int n) {{ for (int i = 0; i < n; i++) s ^= i; }}\n"
NOT_INLINED = {
    # By a variable of the program: 3 + 50 iterations.
    "a pointer": HELPER.format(static="static ")
    + "void (*p)(int) = h;\nvoid set(void (*q)(int)) { p = q; }\nint main(void) { h(3); p(50); return 0; }\n",
    # By what anything may have written.
    "a volatile pointer": HELPER.format(static="static ")
    + "void (*volatile p)(int) = h;\nint main(void) { h(3); p(50); return 0; }\n",
    # By what is not defined, and was given the address.
    "outside": "void each(void (*)(int));\n"
    + HELPER.format(static="static ")
    + "int main(void) { h(3); each(h); return 0; }\n",
    # In functions that call each other, and so are not inlined.
    "a recursion": HELPER.format(static="static ")
    + "int k(int n);\nint g(int n) { if (n <= 0) return 1; h(50); return k(n - 1) ^ k(n - 2); }\n"
    "int k(int n) { return g(n - 1); }\nint main(void) { h(3); return g(4); }\n",
    # The address is that of an alias of an alias.
    "the address of an alias": HELPER.format(static="")
    + 'void k(int n) __attribute__((alias("h")));\nvoid l(int n) __attribute__((alias("k")));\n'
    "void (*volatile p)(int) = l;\nint main(void) { h(3); p(50); return 0; }\n",
    # What is called is what the resolver returns.
    "an ifunc": HELPER.format(static="static ")
    + 'static void *choose(void) { return h; }\nvoid k(int n) __attribute__((ifunc("choose")));\n'
    "int main(void) { h(3); k(50); return 0; }\n",
    # The compiler takes the call for one of the C library's, and the program has its own.
    "an intrinsic": "void *memset(void *s, int c, unsigned long n)\n"
    "{ char *p = s; for (unsigned long i = 0; i < n; i++) p[i] = c; return s; }\n"
    "char b[9];\nint main(void) { memset(b, 1, 9); return 0; }\n",
    "an intrinsic of floats": "float floorf(float x) { float r = 0; while (r + 1 <= x) r++; return r; }\n"
    "int main(int n, char **a) { return (int)floorf(n / 2.0f); }\n",
    # The program may call main again.
    "main again": "int s;\nint main(void) { static int k; for (int i = 0; i < 3; i++) s ^= i;"
    " if (k++ < 3) { main(); main(); } return 0; }\n",
}


@pytest.mark.parametrize("how", NOT_INLINED)
@pytest.mark.slow
def test_loops_that_calls_come_to_otherwise_than_by_inlining_have_no_number_in_a_run(answer, run, tmp_path, how):
    """The copies in main take 3 iterations; the others are not counted, so no number may be told for the loop."""
    file = tmp_path / "program.c"
    file.write_text(NOT_INLINED[how], encoding="utf-8")
    status, document = answer("bound", file, "--entry", "main")
    assert status == 3
    (loop,) = document["run"]["loops"]
    assert (loop["upper"], loop["any"], loop["value"]) == (None, None, None)
    told = [found for found in document["functions"] if found["name"] == "main"]
    assert told[0]["refused"] is not None
    assert (told[0]["upper"], told[0]["exact"]) == (None, False)
    for options in (("--unwindset",), ("--flow-facts", "pragma")):
        done = run("bound", file, "--entry", "main", *options)
        assert done.returncode == 3
        assert not any(character.isdigit() for character in done.stdout)
        assert "no number for" in done.stderr


# The numbers are those of native runs: each of h's calls takes 50, but for one in main that takes 3.
COUNTED_OTHERWISE = {
    "a choice": ("int main(void) { void (*p)(int) = h; h(3); volatile int z = 0; (z ? p : h)(50); return 0; }\n", 53),
    "a pointer that nothing writes": ("void (*p)(int) = h;\nint main(void) { h(3); p(50); return 0; }\n", 53),
    "a recursion": (
        "int g(int n) { if (n <= 0) return 1; h(50); return g(n - 1) ^ g(n - 2); }\n"
        "int main(void) { h(3); return g(4); }\n",
        7 * 50 + 3,
    ),
}


@pytest.mark.parametrize("how", COUNTED_OTHERWISE)
def test_loops_that_known_calls_come_to_have_numbers_in_a_run(answer, tmp_path, how):
    file = tmp_path / "program.c"
    main, truth = COUNTED_OTHERWISE[how]
    file.write_text(HELPER.format(static="static ") + main, encoding="utf-8")
    _, document = answer("bound", file, "--entry", "main")
    (loop,) = document["run"]["loops"]
    assert loop["any_value"] == 50
    assert truth <= loop["value"] <= 3 * truth


@pytest.mark.slow
def test_what_a_pointer_leads_to_is_not_counted_with_the_loops_of_the_caller(answer, tmp_path):
    """main itself takes 3 iterations, and calls what takes 50 in each; without the pointer it is 3 in all."""
    file = tmp_path / "program.c"
    body = "int main(void) {{ for (int i = 0; i < 3; i++) {0}; return 0; }}\n"
    pointer = "void (*p)(int) = h;\nvoid set(void (*q)(int)) { p = q; }\n"
    for call, refused in (("p(50)", True), ("s ^= i", False)):
        file.write_text(HELPER.format(static="static ") + pointer + body.format(call), encoding="utf-8")
        _, document = answer("bound", file)
        (main,) = [found for found in document["functions"] if found["name"] == "main"]
        assert (main["refused"] is not None) is refused
        assert (main["upper"] is None) is refused
        (loop,) = [loop for loop in document["loops"] if loop["function"] == "main"]
        assert loop["upper"]["text"] == "3"
        status, document = answer("bound", file, "--entry", "main")
        assert status == (3 if refused else 0)
        shown = {
            loop["name"].split(":")[-3]: loop["upper"] and loop["upper"]["text"] for loop in document["run"]["loops"]
        }
        assert shown == ({"h": None, "main": "3"} if refused else {"main": "3"})


@pytest.mark.parametrize("call", ['printf("%d", i)', "free(malloc(3))", "__VERIFIER_nondet_int()", "other(i)"])
def test_library_functions_and_strangers_call_no_function_whose_address_they_do_not_have(answer, tmp_path, call):
    file = tmp_path / "program.c"
    declared = "int printf(const char *, ...); void *malloc(unsigned long); void free(void *);\n"
    declared += "int __VERIFIER_nondet_int(void); void other(int);\n"
    main = f"int main(void) {{ for (int i = 0; i < 3; i++) {{ {call}; h(2); }} return 0; }}\n"
    file.write_text(declared + HELPER.format(static="static ") + main, encoding="utf-8")
    status, document = answer("bound", file, "--entry", "main")
    assert status == 0
    assert [loop["value"] for loop in document["run"]["loops"]] == [6, 3]


def test_functions_that_call_each_other_are_not_taken_for_calls_without_iterations(answer, run, tmp_path):
    """n calls of what takes up to n calls itself are no n iterations in all; a function that calls itself is a loop."""
    file = tmp_path / "program.c"
    file.write_text(
        "int odd(int n);\n"
        "int even(int n) { return n == 0 ? 1 : odd(n - 1); }\n"
        "int odd(int n) { return n == 0 ? 0 : even(n - 1); }\n"
        "int main(int n, char **a) { int r = 0; for (int i = 0; i < n; i++) r ^= even(i); return r; }\n",
        encoding="utf-8",
    )
    status, document = answer("bound", file, "--entry", "main")
    (main,) = document["functions"]
    assert (status, main["upper"], main["big_o"], main["refused"]["reason"]) == (3, None, None, "recursive-call")
    assert [loop["upper"]["text"] for loop in document["loops"]] == ["max(0, n)"]


@pytest.mark.slow
def test_a_run_that_comes_only_to_functions_that_are_not_inlined(answer, run, tmp_path):
    file = tmp_path / "program.c"
    file.write_text(
        "int s;\n"
        "int g(int n) { if (n <= 0) return 0; for (int i = 0; i < n; i++) s ^= i; return g(n - 2); }\n"
        "int main(void) { g(10); return 0; }\n",
        encoding="utf-8",
    )
    _, document = answer("bound", file, "--entry", "main")
    (loop,) = document["run"]["loops"]
    assert (loop["name"].split(":")[-3], loop["value"], loop["any_value"]) == ("g", 10 + 8 + 6 + 4 + 2, 10)
    assert "no loops" not in run("bound", file, "--entry", "main").stdout


NUMBERED_OTHERWISE = {
    # Two jumps to one label are one loop here, and two numbers there.
    "a goto": ("int i = 0;\na: s ^= i; if (i < n) { i++; goto a; } if (s < 9) { s += 20; goto a; }", False),
    "a loop that is none": ("while (n > 3) { s ^= 3; return 7; }", False),
    "a loop in dead code": ("if (0) { for (int j = 0; j < 100; j++) s ^= j; }", False),
    "a loop of a macro": ("TWICE(s ^= 3)", False),
    # These have no numbers.
    "a goto forward": ("if (n > 3) goto end; s ^= 3; end: s ^= 4;", True),
    "words": ('/* while for */ const char *c = "for"; s ^= c[0]; // while (1) goto a', True),
}


@pytest.mark.parametrize("what", NUMBERED_OTHERWISE)
@pytest.mark.slow
def test_loops_that_cbmc_may_number_otherwise_have_no_option(run, tmp_path, what):
    code, alike = NUMBERED_OTHERWISE[what]
    file = tmp_path / "numbers.c"
    file.write_text(
        "int s;\n#define TWICE(x) for (int t = 0; t < 2; t++) x;\n"
        f"int f(int n) {{\n{code}\nfor (int j = 0; j < 3; j++) s ^= j;\nreturn s; }}\n",
        encoding="utf-8",
    )
    for more in ((), ("--entry", "f")):
        done = run("bound", file, *more, "--unwindset")
        if alike:
            assert (done.returncode, done.stdout) == (0, "--unwindset f.0:4\n")
        else:
            assert (done.returncode, done.stdout) == (3, "")
            assert "no numbers for CBMC for the loops of f" in done.stderr


@pytest.mark.slow
def test_loops_at_one_place_are_all_told_in_a_run(answer, run, tmp_path):
    """A macro with two loops: one takes 10 + 100 iterations in all, the other 20 + 200, each at the same place."""
    file = tmp_path / "program.c"
    file.write_text(
        "#define FILL(n) for (int i = 0; i < (n); i++) s += i\n"
        "static int helper(int n) { int s = 0; FILL(n); FILL(2 * n); return s; }\n"
        "#define TWICE(n) FILL(n); FILL(2 * (n))\n"
        "static int twice(int n) { int s = 0; TWICE(n); return s; }\n"
        "int main(void) { return helper(10) + helper(100) + twice(10) + twice(100); }\n",
        encoding="utf-8",
    )
    _, document = answer("bound", file, "--entry", "main")
    loops = {loop["name"]: (loop["value"], loop["any"]["text"]) for loop in document["run"]["loops"]}
    _, written = answer("loops", file)
    assert set(loops) == {loop["name"] for loop in written["loops"]}
    (first, second, third, fourth) = loops.values()
    assert (first, second) == ((110, "100"), (220, "200"))
    # Which of the copies is of which is not told apart.
    assert min(third[0], fourth[0]) >= 220
    assert min(int(third[1]), int(fourth[1])) >= 200
    lines = run("bound", file, "--entry", "main", "--flow-facts", "ffx").stdout.splitlines()
    (shared,) = [line for line in lines if 'line="4"' in line]
    assert 'maxcount="200"' in shared
    assert 'exact="true"' not in shared
    (both,) = [line for line in lines if 'line="2"' in line]
    assert 'maxcount="200" totalcount="220" exact="false"' in both


@pytest.mark.slow
def test_a_loop_of_a_header_has_no_number_where_one_of_its_functions_is_not_inlined(answer, run, tmp_path):
    """What each file has of the header are two functions with one loop: 10 iterations in one, 1000 in the other."""
    (tmp_path / "h.h").write_text(
        "static inline int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n", encoding="utf-8"
    )
    one, other = tmp_path / "a.c", tmp_path / "b.c"
    one.write_text(
        '#include "h.h"\nint other(int);\nint main(void) { return work(10) + other(3); }\n', encoding="utf-8"
    )
    call = "again(n - 1) + again(n - 2) + work(1000)"
    recursive = f"int other(int n);\nint again(int n) {{ return other(n); }}\nint other(int n) {{ return n > 1 ? {call} : 0; }}\n"
    other.write_text(f'#include "h.h"\n{recursive}', encoding="utf-8")
    status, document = answer("bound", one, other, "--entry", "main")
    assert status == 3
    assert [loop["upper"] for loop in document["run"]["loops"]] == [None]
    done = run("bound", one, other, "--entry", "main", "--flow-facts", "ffx")
    assert (done.returncode, "maxcount" in done.stdout) == (3, False)


def test_loops_of_templates_are_told_apart_in_a_run(answer, tmp_path):
    file = tmp_path / "program.cpp"
    file.write_text(
        "template <class T> static int work(T n) { int s = 0; for (T i = 0; i < n; i++) s += (int)i; return s; }\n"
        "int main() { return work<int>(10) + work<long>(20); }\n",
        encoding="utf-8",
    )
    _, document = answer("bound", file, "--entry", "main")
    found = {loop["name"].split(":")[-3]: loop["value"] for loop in document["run"]["loops"]}
    assert found == {"work<int>": 10, "work<long>": 20}


def test_no_entry_takes_more_than_all_together(run, tmp_path):
    """What one entry of the inner loop takes is limited by its type only; all take 13 iterations at most."""
    file = tmp_path / "program.c"
    file.write_text(
        "int main(void) { int i = 5; for (;;) { i++; if (i > 20) break; while (i % 7) { i++; } } return i; }\n",
        encoding="utf-8",
    )
    assert "main.0:14" in run("bound", file, "--entry", "main", "--unwindset").stdout
    assert 'loopbound min 0 max 13" )' in run("bound", file, "--entry", "main", "--flow-facts", "pragma").stdout


def test_a_function_whose_loops_are_all_inlined_is_answered_by_its_name(answer, run, tmp_path):
    file = tmp_path / "program.c"
    file.write_text(
        "static int h(int m) { int r = 0; for (int i = 0; i < m; i++) r ^= i; return r; }\n"
        "int w(int n) { return h(n + 1) ^ h(7); }\n",
        encoding="utf-8",
    )
    status, document = answer("bound", file, "--function", "w", "--at", "n=5")
    assert (status, document["loops"]) == (0, [])
    assert [(found["name"], found["value"]) for found in document["functions"]] == [("w", 13)]
    told = run("bound", file, "--function", "w", "--at", "n=5").stdout
    assert told.startswith("w: ")
    assert "at n=5: 13" in told
