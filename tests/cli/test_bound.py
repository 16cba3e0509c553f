"""``loopless bound``: what it says of the papers' programs and of small ones, as text, JSON and options."""

from __future__ import annotations

import re

import pytest

from loopless.errors import UsageError
from loopless.queries.call_values.inputs import given_values

NEST = """int f(int n, int m) {
    int c = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++) c++;
    while (m > 3) m -= 2;
    return c;
}
int g(unsigned x) {
    while (x != 1) { if (x % 2) x = 3 * x + 1; else x = x / 2; }
    return 0;
}
"""


@pytest.fixture
def nest(tmp_path):
    file = tmp_path / "nest.c"
    file.write_text(NEST, encoding="utf-8")
    return file


def loops_by_line(document):
    return {loop["line"]: loop for loop in document["loops"]}


def test_exact_counts_are_called_exact(answer):
    status, document = answer("bound", "examples/looperman/fig1.c", "--at", "x=10")
    assert status == 0
    (loop,) = document["loops"]
    assert (loop["status"], loop["exact"], loop["value"], loop["big_o"]) == ("exact", True, 3, "O(x)")
    assert loop["lower"] == loop["upper"]
    assert loop["valid_when"]["text"] == "true"


@pytest.mark.slow
def test_counts_say_that_undefined_behaviour_may_end_them(answer, run, tmp_path):
    may_overflow, cannot = tmp_path / "may.c", tmp_path / "cannot.c"
    may_overflow.write_text("int f(int n, int c) { for (int i = 0; i < n; i++) c++; return c; }")
    cannot.write_text("unsigned f(int n, unsigned c) { for (int i = 0; i < n; i++) c++; return c; }")
    for file, said in ((may_overflow, True), (cannot, False)):
        _, document = answer("bound", file)
        (loop,) = document["loops"]
        assert loop["exact"]
        assert any("undefined behaviour" in text for text in loop["assumptions"]) is said
        assert ("undefined behaviour may take fewer" in run("bound", file).stdout) is said


def test_the_algorithm_alone_says_at_most(answer, run):
    status, document = answer("bound", "examples/looperman/fig1.c", "--method", "looperman", "--at", "x=10")
    assert status == 0
    (loop,) = document["loops"]
    assert (loop["status"], loop["exact"], loop["value"]) == ("over-approximate", False, 3)
    assert "at most" in run("bound", "examples/looperman/fig1.c", "--method", "looperman").stdout.splitlines()[0]


def test_lines_have_bounds_of_their_own(answer, run):
    _, document = answer("bound", "examples/looperman/fig2.c", "--at", "n=100")
    (loop,) = document["loops"]
    assert {edge["line"]: edge["value"] for edge in loop["edges"]}[14] == 3
    assert loop["value"] == 100
    assert "line 14: at most min(3, max(0, n)) times" in run("bound", "examples/looperman/fig2.c").stdout


def test_functions_have_the_sum_of_their_loops(answer, nest):
    status, document = answer("bound", nest, "--function", "f", "--at", "n=5,m=10")
    assert status == 0
    assert {line: loop["value"] for line, loop in loops_by_line(document).items()} == {3: 5, 4: 35, 5: 4}
    (function,) = document["functions"]
    assert (function["name"], function["value"]) == ("f", 44)


@pytest.mark.slow
def test_a_loop_without_a_bound_is_status_3(answer, run, nest):
    status, document = answer("bound", nest, "--function", "g")
    assert status == 3
    (loop,) = document["loops"]
    assert loop["refused"]["code"] == "L209"
    assert loop["valid_when"]["text"] != "true"
    assert run("bound", nest, "--function", "g", "--unknown-ok").returncode == 0


@pytest.mark.parametrize("at", ["n", "a=[1,x]"])
def test_wrong_values(run, nest, at):
    done = run("bound", nest, "--at", at)
    assert done.returncode == 2
    assert "--at" in done.stderr


@pytest.mark.slow
def test_a_counter(answer, run, nest):
    _, document = answer("bound", nest, "--function", "f", "--cost", "c", "--at", "n=5,m=0")
    assert document["cost"]["value"] == 35
    assert run("bound", nest, "--function", "f", "--cost", "c").stdout.startswith("c grows in a call of f by at most ")
    assert run("bound", nest, "--cost", "nothing").returncode == 2


PROGRAM = """static int sum(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(void) {
    int t = 0;
    for (int k = 0; k < 3; k++)
        t += sum(10) + sum(k);
    return t;
}
"""


@pytest.mark.slow
def test_a_whole_program(answer, run, tmp_path):
    """sum runs for 10 and for k in 0, 1, 2: 3 * 10 + 3 iterations, 10 at most in an entry."""
    file = tmp_path / "program.c"
    file.write_text(PROGRAM, encoding="utf-8")
    status, document = answer("bound", file, "--entry", "main")
    assert status == 0
    found = {loop["name"].split(":")[-3]: (loop["value"], loop["any"]["text"]) for loop in document["run"]["loops"]}
    assert found == {"sum": (33, "10"), "main": (3, "3")}
    assert "at most 33 iterations, at most 10 in an entry" in run("bound", file, "--entry", "main").stdout


@pytest.mark.slow
def test_comparison(run, tmp_path, nest):
    texts = {
        "old": NEST,
        "worse": NEST.replace("j < 7", "j < n"),
        "better": NEST.replace("j < 7", "j < 3"),
        "moved": "\n\n" + NEST,
    }
    for name, text in texts.items():
        nest.write_text(text, encoding="utf-8")
        done = run("bound", nest, "--function", "f", "--format", "json")
        (tmp_path / f"{name}.json").write_text(done.stdout, encoding="utf-8")
    same = run("bound", "--compare", tmp_path / "old.json", tmp_path / "moved.json")
    assert (same.returncode, same.stdout) == (0, "no changes\n")
    worse = run("bound", "--compare", tmp_path / "old.json", tmp_path / "worse.json")
    assert worse.returncode == 1
    assert worse.stdout.startswith("worse: ")
    assert "O(n^2)" in worse.stdout
    assert "at n=100, now 10000 (14.3 times as many)" in worse.stdout
    better = run("bound", "--compare", tmp_path / "old.json", tmp_path / "better.json")
    assert (better.returncode, "worse" in better.stdout) == (0, False)
    where = run("bound", "--compare", tmp_path / "worse.json", tmp_path / "old.json")
    assert where.returncode == 1  # from n to 7 of an entry is more up to n = 6
    assert run("bound", "--compare", tmp_path / "old.json").returncode == 2


@pytest.mark.slow
def test_comparison_of_runs(run, tmp_path):
    """The loop of the callee, entered once more for each n, is the only one; its place has moved."""
    for name, calls in {"old": "g(n)", "worse": "g(n); for (int k = 0; k < n; k++) s += g(n)"}.items():
        file = tmp_path / "program.c"
        head = "" if name == "old" else "\n\n"
        file.write_text(
            f"{head}int g(int n) {{ int s = 0; for (int i = 0; i < n; i++) s++; return s; }}\n"
            f"int main(int n) {{ int s = {calls}; return s; }}\n",
            encoding="utf-8",
        )
        done = run("bound", file, "--entry", "main", "--format", "json")
        (tmp_path / f"{name}.json").write_text(done.stdout, encoding="utf-8")
    both = (tmp_path / "old.json", tmp_path / "worse.json")
    worse = run("bound", "--compare", *both)
    assert worse.returncode == 1
    (line,) = [line for line in worse.stdout.splitlines() if "in a run" in line]
    assert ":g:3:" in line and "[O(n)], now" in line and "[O(n^2)]: 100 at n=100, now 10100" in line
    assert "in a run" not in run("bound", "--compare", *reversed(both)).stdout


def test_a_loop_in_phases_around_a_loop_of_inputs_has_a_bound(answer, tmp_path):
    file = tmp_path / "phases.c"
    file.write_text(
        "extern int __VERIFIER_nondet_int(void);\n"
        "int h(int x, int y) {\n"
        "    while (x > 0) { x += y; y--; while (x > 100 && __VERIFIER_nondet_int()) x -= 2; }\n"
        "    return x;\n"
        "}\n"
    )
    _, document = answer("bound", file, "--at", "x=10,y=3")
    # From the values behind each iteration: x is 13, 15, 16, 16, 15, 13, 10, 6, 1, -5.
    assert max(loop["value"] or 0 for loop in document["loops"] if loop["parent"] is None) == 10


def test_a_bound_by_a_check_knows_what_its_variable_was_set_to(answer, tmp_path):
    file = tmp_path / "set.c"
    file.write_text(
        "int f(int n, int m, int c) {\n"
        "    c = 2147483000;\n"
        "    for (int i = 0; i < n; i++)\n"
        "        for (int j = 0; j < m; j *= 2) c++;\n"
        "    return c;\n"
        "}\n"
    )
    _, document = answer("bound", file, "--at", "n=2,m=2,c=2147483640")
    # The run ends where c overflows, after 2147483647 - 2147483000 iterations.
    assert loops_by_line(document)[4]["value"] >= 647


def test_laps_that_come_to_one_or_the_other_of_the_blocks_of_a_line(answer, tmp_path):
    """Each lap takes one from x or from y: lines with both blocks are come to x + y times."""
    file = tmp_path / "lines.c"
    file.write_text(
        "void f(int x, int y) {\n"
        "    while (x > 0 || y > 0) {\n"
        "        if (x > 0)\n"
        "            { x--; } else { y--; }\n"
        "    }\n"
        "}\n"
        "void g(int x, int y) {\n"
        "    while (x > 0 || y > 0) {\n"
        "        switch (x > 0) {\n"
        "            case 1: x--; break; case 0: y--; break;\n"
        "        }\n"
        "    }\n"
        "}\n"
        "int h(int x) {\n"
        "    int c = 0;\n"
        "    while (x > 0) {\n"
        "        if (x % 2) c ^= 3; x--;\n"
        "    }\n"
        "    return c;\n"
        "}\n",
        encoding="utf-8",
    )
    _, document = answer("bound", file, "--at", "x=3,y=4")
    lines = {edge["line"]: edge["value"] for loop in document["loops"] for edge in loop["edges"]}
    assert (lines[4], lines[10]) == (7, 7)
    assert lines[17] == 3


def test_lines_of_what_is_inlined_or_of_loops_inside_are_no_lines_of_the_loop(answer, tmp_path):
    file = tmp_path / "lines.c"
    file.write_text(
        "static int twice(int c) {\n"
        "    return c ^ 5;\n"
        "}\n"
        "int f(int n, int c) {\n"
        "    for (int i = 0; i < n; i++) {\n"
        "        c = twice(c); c = twice(c);\n"
        "        for (int j = 0; j < 4; j++) c ^= j;\n"
        "    }\n"
        "    return c;\n"
        "}\n",
        encoding="utf-8",
    )
    _, document = answer("bound", file, "--at", "n=3")
    loop = loops_by_line(document)[5]
    lines = {edge["line"]: edge["value"] for edge in loop["edges"]}
    assert (lines[5], lines[6]) == (4, 3)
    assert not {2, 7} & lines.keys()  # come to 6 and 12 times


BODIES = {
    # The body is begun once more than there are laps, where it is left on the way.
    "while (1) { c ^= i; if (i++ >= 10) break; c ^= 5; }": 11,
    "for (;;) { c ^= i; if (++i >= 10) break; }": 10,
    "do { c ^= i; } while (++i < 10);": 10,
    "do c ^= i; while (++i < 10);": 10,
    "for (i = 0; i < 10; i++) { c ^= i; if (c == 77) return 3; }": 11,
    # All are laps where the condition stands before it.
    "while (i < 10) { c ^= i; i++; }": 10,
    "for (; i < 10; i++) c ^= i;": 10,
}


@pytest.mark.parametrize("loop", BODIES)
@pytest.mark.slow
def test_flow_facts_count_the_body_that_is_left_on_the_way(run, tmp_path, loop):
    file = tmp_path / "body.c"
    file.write_text(f"int main(void) {{ int i = 0, c = 0;\n{loop}\nreturn c; }}\n", encoding="utf-8")
    for more in ((), ("--entry", "main")):
        pragma = run("bound", file, *more, "--flow-facts", "pragma").stdout
        assert f' max {BODIES[loop]}"' in pragma
        facts = run("bound", file, *more, "--flow-facts", "ffx").stdout
        assert f'maxcount="{BODIES[loop]}"' in facts
        # Which of the times in all are no laps is not said, so that no total is told.
        assert ('totalcount="10"' in facts) is (loop.startswith(("while (i", "for (; i")))
        assert facts.count("totalcount") == facts.count('totalcount="10"')


@pytest.mark.slow
def test_flow_facts_say_exact_of_numbers_of_the_given_values_only(run, tmp_path):
    """The count is c; that it is 255 at most, for c is an unsigned char, is no exact number."""
    file = tmp_path / "char.c"
    file.write_text("unsigned char c;\nint s;\nint main(void) { for (int i = 0; i < c; i++) s ^= i; return 0; }\n")
    for more in ((), ("--entry", "main")):
        facts = run("bound", file, *more, "--flow-facts", "ffx").stdout
        # A run from main begins with c = 0.
        assert ('totalcount="0" exact="true"' if more else 'totalcount="255" exact="false"') in facts
        facts = run("bound", file, *more, "--flow-facts", "ffx", "--at", "c=7").stdout
        assert 'totalcount="7" exact="true"' in facts


@pytest.mark.slow
def test_two_variables_of_one_name_are_told_apart(answer, tmp_path):
    """f takes its parameter n and the global n in its loops: ``n`` is the parameter, ``::n`` the global behind it."""
    file = tmp_path / "names.c"
    file.write_text(
        "int n, s;\n"
        "static void h(void) { for (int i = 0; i < n; i++) s ^= i; }\n"
        "void f(int n, int m) { for (int i = 0; i < n; i++) s ^= i; for (int i = 0; i < m; i++) s ^= 3; h(); }\n",
        encoding="utf-8",
    )
    _, document = answer("bound", file, "--function", "f", "--at", "n=10,m=4")
    assert [loop["value"] for loop in document["loops"]] == [10, 4]
    assert document["functions"][0]["value"] is None
    _, document = answer("bound", file, "--function", "f", "--at", "n=10,m=4,::n=3")
    assert document["functions"][0]["value"] == 17


GRANTED = {
    "n and p do not overlap": "int n;\nvoid f(int *p) { for (int i = 0; i < n; i++) *p += 1; }\n",
    "p and q do not overlap": "void f(int *p, int *q) { for (int i = 0; i < *p; i++) *q += 1; }\n",
    "calls of g return": "int g(int n) { return n > 5 ? g(n - 1) + g(n - 2) : 1; }\n"
    "int f(int n, int m) { int s = 0; for (int i = 0; i < n; i++) s ^= g(m); return s; }\n",
    "what is not defined here calls no function of the program by its name": "void g(int);\n"
    "int f(int n) { int s = 0; for (int i = 0; i < n; i++) { s ^= i; g(i); } return s; }\n",
}


@pytest.mark.parametrize("assumption", GRANTED)
@pytest.mark.slow
def test_what_is_taken_for_granted_is_said(answer, run, tmp_path, assumption):
    file = tmp_path / "granted.c"
    file.write_text(GRANTED[assumption], encoding="utf-8")
    paragraphs = run("bound", file, "--function", "f").stdout.split("\n\n")
    assert paragraphs[-1].startswith("f: ")
    (line,) = [line for line in paragraphs[-1].splitlines() if line.startswith("  taken for granted: ")]
    assert assumption in line
    _, document = answer("bound", file, "--function", "f")
    assert assumption in document["functions"][0]["assumptions"]
    done = run("bound", file, "--function", "f", "--unwindset")
    assert f"taken for granted: {assumption}" in done.stderr
    file.write_text("int f(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i; return s; }\n", encoding="utf-8")
    assert "taken for granted" not in run("bound", file).stdout


def test_a_count_over_values_that_are_read_has_a_bound_over_the_inputs_beside_it(answer, run, tmp_path):
    file = tmp_path / "program.c"
    file.write_text(
        "int __VERIFIER_nondet_int(void);\n"
        "void f(unsigned char a, unsigned char b) {\n"
        "    int x = __VERIFIER_nondet_int() > 0 ? a : b;\n"
        "    while (x > 0) x--;\n"
        "}\n",
        encoding="utf-8",
    )
    status, document = answer("bound", str(file))
    (function,) = document["functions"]
    assert status == 0 and function["exact"] and function["big_o"] == "O(a + b)"
    assert function["over_inputs"]["text"] == "max(a, b)"
    assert "whatever it reads: at most max(a, b)" in run("bound", str(file)).stdout
    _, document = answer("bound", "examples/looperman/fig1.c")
    assert document["functions"][0]["over_inputs"] is None


def test_it_is_said_where_a_summary_knows_that_a_loop_never_ends_though_nothing_is_known_of_calls(run, tmp_path):
    file = tmp_path / "a.c"
    file.write_text(
        """int __VERIFIER_nondet_int(void);
unsigned f(unsigned m, int p) {
    while (m != 7) m = m * m + p * __VERIFIER_nondet_int();
    for (;;) { if (p == 0) continue; p++; }
}
"""
    )
    told = run("bound", str(file)).stdout
    assert "one entry: may never end, over the values there, when p <= 0 (no run is known to enter it so)" in told


AT = """int nd(void); static int inner(int n) { int s = 0; while (s < n) s++; return s; } int outer(int n) { return inner(n); }
int product(int n, int m) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s ^= i; return s; }
int stuck(int n) { if (n > 5) while (1) { } int k = 0; for (int i = 0; i < n; i++) k++; return k; }
int rows(int n, const int *a) { int k = 0; for (int i = 0; i < n; i++) for (int j = 0; j < a[i]; j++) k++; return k; }
int read(void) { int k = 0; for (int n = nd(); n > 0; n--) k++; return k; }
"""


def at_line(text: str, start: str) -> str:
    """What the paragraph that begins so says of given values."""
    paragraph = next(part for part in text.split("\n\n") if part.startswith(start))
    return next(line for line in paragraph.splitlines() if line.startswith("  at n="))


@pytest.mark.slow
def test_numbers_for_given_values(run, tmp_path):
    (tmp_path / "a.c").write_text(AT, encoding="utf-8")
    done = run("bound", "a.c", "--at", "n=3", "--at", "m=2^3-4,nd()=9,a=[3,0,4]", cwd=tmp_path)
    head = "  at n=3, m=4, nd()=9, a=[3,0,4]: "
    wanted = {"product": "15", "rows": "10", "stuck": "3", "read": "9"}
    assert {start: at_line(done.stdout, f"{start}: ") for start in wanted} == {k: head + v for k, v in wanted.items()}
    done = run("bound", "a.c", "--at", "n=6,a[0]=1", cwd=tmp_path)
    head = "  at n=6, a[0]=1: "
    assert at_line(done.stdout, "product: ") == head + "not known; it depends on m"
    assert at_line(done.stdout, "stuck: ") == head + "never ends"
    assert at_line(done.stdout, "rows: ") == head + "not known; it depends on elements of a"


def test_values_that_no_input_has(run, tmp_path):
    (tmp_path / "a.c").write_text(AT, encoding="utf-8")
    words = {
        "a=3": "a of rows is a pointer",
        "n=[1,2]": "n is one number",
        "a=[2147483648]": "2147483648 is not in the range",
        "b[1]=1": "no input b[1]",
    }
    for at, said in words.items():
        done = run("bound", "a.c", "--function", "rows", "--at", at, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


@pytest.mark.slow
def test_why_a_loop_has_no_number_for_cbmc(run, tmp_path):
    (tmp_path / "a.c").write_text(
        AT + "int by_type(void) { int k = 0; while (nd()) k++; return k; }\n"
        "unsigned collatz(unsigned n) { unsigned k = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; k++; } return k; }\n",
        encoding="utf-8",
    )
    said = run("bound", "a.c", "--unwindset", "--at", "n=6", cwd=tmp_path).stderr
    why = dict(re.findall(r"no number for a\.c:(\w+:\d+):\d+: (.*)", said))
    only = run("bound", "a.c", "--unwindset", "--function", "outer", cwd=tmp_path).stderr
    assert only == "loopless: the loops of outer stand in what is called: ask for the functions there\n"
    assert why["product:2"] == "it depends on m; --at gives values to inputs"
    assert why["stuck:3"] == "it never ends for these values; --at does not help"
    assert why["by_type:6"] == "only the end of a type bounds it; --at does not help"
    assert why["collatz:7"] == "no bound is known for these values"


def test_values_are_numbers_elements_or_strings():
    given = given_values(["n=-3, m=0x10", 's[1]=INT_MAX,t="a,]",p->len=2^31 - 1', "a=[1, 2],b=[]"])
    assert given == {
        "n": -3, "m": 16, "s[1]": 2**31 - 1, "t": (97, 44, 93, 0), "p->len": 2**31 - 1, "a": (1, 2), "b": (),
    }  # fmt: skip
    for wrong in (["n"], ["n=x"], ["=3"], ["n=1,n=2"], ["n=1", "n=1"], ["a=[1,x]"], ['s="a'], ["n=1,,m=2"], [""]):
        with pytest.raises(UsageError, match="--at"):
            given_values(wrong)


def test_from_which_states_a_bound_holds_stands_in_the_headline(run, tmp_path):
    source = """int f(int n) { while (n > 365) { if (n > 366) n -= 366; } return n; }
int g(unsigned n) { int c = 0; while (n != 0) n -= 4; return c; }
"""
    (tmp_path / "a.c").write_text(source, encoding="utf-8")
    lines = run("bound", tmp_path / "a.c").stdout.splitlines()
    of_loops = {line.split(":")[1]: line for line in lines if ":" in line and " in a call" in line and ".c:" in line}
    assert of_loops["f"].endswith("; never ends if mod(n, 366) == 0 && n >= 366")
    assert of_loops["g"].endswith(" in a call if n % 4 == 0; never ends if n % 4 != 0")
    assert not any(line.startswith(("  never ends when", "  valid when")) for line in lines)
