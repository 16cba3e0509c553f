"""Loops of inline functions: each loop of the source is in every listing once, whatever became of its function.

Which loops there are is known by how the programs are made: each loop has a line of its own.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from dataclasses import dataclass, replace

import pytest

import loopless
from loopless.project.survey import AskFile, distinct
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.rules import bounded_loops
from loopless.queries.loops.answer import Question
from loopless.queries.loops.answering import answer_all
from loopless.queries.loops.name import own_name
from loopless.queries.program import load
from loopless.queries.selection import select_loops
from loopless.queries.settings import Settings
from loopless.source.compile import compile_ir
from loopless.source.worker import WORKER

SETTINGS = Settings(sandboxed=False, loop_timeout_s=0.1)
PATIENT = replace(SETTINGS, loop_timeout_s=10.0)
ALWAYS = "static inline __attribute__((always_inline)) "
C_KINDS = (
    "",
    "static ",
    "static inline ",
    ALWAYS,
    "inline ",
    "extern inline ",
    "extern inline __attribute__((gnu_inline)) ",
    "extern inline __attribute__((gnu_inline, always_inline)) ",
    "static __attribute__((noinline)) ",
)
"""Beginnings of functions in C that compilers treat in different ways."""


def names(loops):
    """``function:line`` of loops, in the order of lines."""
    places = [loop.name.split(":") for loop in loops]
    found = [(int(line), f"{':'.join(function)}:{line}") for _, *function, line, _ in places]
    return [name for _, name in sorted(found)]


def check_listings(files, expected, *, counted=False):
    """All listings have ``expected``, and nothing else; ``counted``: those that say how often loops run, too."""
    program = load(files, SETTINGS)
    assert names(loop.id for loop in program.loops) == expected
    assert names(loop.id for loop in select_loops(program)) == expected
    assert names(loopless.load(files).loops) == expected
    answers = list(answer_all(program.loops, Question(summarize=False), SETTINGS, None))
    assert names(answer.loop for answer in answers) == expected
    if not counted:
        return
    assert names(ruled.found.answer.loop for ruled in bounded_loops(program, (), SETTINGS)) == expected
    bounds = answer_bounds([f for f in program.functions if f.is_listed and f.loops], "looperman", SETTINGS)
    loops = [one.answer.loop for found in bounds for one in found.counts]
    assert names(loop for loop in loops if loop.inlined_from is None) == expected


# --------------------------------------------------------------------------------------------------------------- C


@pytest.mark.parametrize("header", [False, True])
def test_the_loops_of_functions_of_all_kinds_are_listed_once(tmp_path, header):
    lines, calls, expected = [], [], []
    for number, kind in enumerate(C_KINDS):
        lines += [f"{kind}int inner{number}(int n) {{ int s = 0;", "while (n > 0) { n -= 3; s++; }", "return s; }"]
        lines += [f"{ALWAYS}int outer{number}(int n) {{ int s = inner{number}(n) + inner{number}(n + 1);"]
        lines += ["for (int i = 0; i < n; i++) s ^= i;", "return s; }"]
        expected += [f"inner{number}:{6 * number + 2}", f"outer{number}:{6 * number + 5}"]
        calls.append(f"outer{number}(argc) + outer{number}(2) + inner{number}(argc)")
    text = "\n".join(lines) + "\n"
    rest = f"int main(int argc, char **argv) {{ return {' + '.join(calls)}; }}\n"
    (tmp_path / "a.h").write_text(text)
    (tmp_path / "a.c").write_text('#include "a.h"\n' + rest if header else text + rest)
    check_listings([tmp_path / "a.c"], expected)


def test_a_program_whose_only_loop_is_inlined_twice_over_is_not_without_loops(tmp_path):
    """It ends where n is even."""
    text = ALWAYS + "int spin(unsigned n) { int c = 0;\n while (n != 0) { n -= 2; c ^= 1; }\n return c; }\n"
    text += ALWAYS + "int through(unsigned n) { return spin(n); }\n"
    text += "int entry(unsigned n) { return through(n) + through(2 * n); }\n"
    (tmp_path / "a.c").write_text(text + "int main(int argc, char **argv) { return entry(argc); }\n")
    (ruled,) = bounded_loops(load([tmp_path / "a.c"], PATIENT), (), PATIENT)
    assert ruled.found.answer.loop.name.endswith("a.c:spin:2:2")
    assert not ruled.kept
    if shutil.which("gcc") is not None:
        assert [natively_ends(tmp_path, words) for words in ((), ("1",), ("1", "2"))] == [False, True, False]


def natively_ends(folder, words):
    """Whether the program ends within a second."""
    subprocess.run(["gcc", "-O0", "a.c", "-o", "a"], cwd=folder, check=True)
    try:
        subprocess.run([folder / "a", *words], timeout=1, check=False)
    except subprocess.TimeoutExpired:
        return False
    return True


def test_an_inlined_loop_of_four_iterations_is_bounded(tmp_path):
    """As programs for eBPF have them: a helper that takes headers off, called through one more, in a function that
    nothing calls.
    """
    text = (
        ALWAYS
        + """int parse(unsigned short **at, unsigned short *end, unsigned kind) {
        int i;
        #pragma unroll
        for (i = 0; i < 4; i++) {
            if (kind != 7 || *at + 1 > end) break;
            kind = *(*at)++;
        }
        return kind;
    }
    """
    )
    text += ALWAYS + "int next(unsigned short **at, unsigned short *end) { return parse(at, end, 7); }\n"
    text += """struct context { unsigned short *data, *end; };
    __attribute__((section("xdp"), used)) int prog(struct context *c) {
        unsigned short *at = c->data;
        return next(&at, c->end) == 1 ? 0 : 2;
    }
    """
    (tmp_path / "a.c").write_text(text)
    (ruled,) = bounded_loops(load([tmp_path / "a.c"], PATIENT), (), PATIENT)
    assert ruled.found.answer.loop.function == "parse"
    assert ruled.kept


def test_copies_have_the_names_of_their_loops(tmp_path):
    """A variable-length array makes a block of several, of which the last goes back to the header."""
    text = (
        ALWAYS
        + "int f(int n) { int s = 0;\n for (int i = 1; i < n; i++) { char x[i]; x[0] = i; s += x[0]; }\n return s; }\n"
    )
    (tmp_path / "a.c").write_text(text + "int g(int n) { return f(n); }\n")
    program = loopless.load(tmp_path / "a.c")
    found = program["g"].evaluate(4)
    assert found.value == 1 + 2 + 3
    assert [own_name(name) for name in found.iterations] == [loop.name for loop in program.loops]


def test_a_division_that_nobody_uses_is_undefined_by_0_in_them(tmp_path):
    text = ALWAYS + "int f(int n, int d) { return n + 0 / d; }\nint g(int n) { return f(n, n - 3); }\n"
    (tmp_path / "a.c").write_text(text)
    program = loopless.load(tmp_path / "a.c")
    assert program["g"].evaluate(4).value == 4
    assert program["g"].evaluate(3).status == "undefined"


def test_functions_of_a_header_that_are_not_used_are_not_listed(tmp_path):
    """Of the file itself they are: somebody wrote them there to look at."""
    loop = "int s = 0;\n while (n > 0) { n -= 3; s++; }\n return s; }\n"
    (tmp_path / "a.h").write_text(f"static inline int unused(int n) {{ {loop}{ALWAYS}int used(int n) {{ {loop}")
    text = '#include "a.h"\n' + f"static inline int here(int n) {{ {loop}int main(void) {{ return used(3); }}\n"
    (tmp_path / "a.c").write_text(text)
    check_listings([tmp_path / "a.c"], ["here:3", "used:5"], counted=True)


def test_what_is_inline_in_one_file_and_defined_in_another_is_one_function(tmp_path):
    (tmp_path / "a.h").write_text("inline int f(int n) { int s = 0;\n while (n > 0) { n -= 3; s++; }\n return s; }\n")
    (tmp_path / "a.c").write_text('#include "a.h"\nextern inline int f(int n);\nint a(int n) { return f(n); }\n')
    (tmp_path / "b.c").write_text('#include "a.h"\nint a(int);\nint main(void) { return f(3) + a(4); }\n')
    for files in (["a.c", "b.c"], ["b.c", "a.c"], ["b.c"]):
        assert names(load([tmp_path / file for file in files], SETTINGS).loops) == ["f:2"]


def test_words_for_all_functions_are_only_for_the_first_look(tmp_path):
    """What was not always_inline is not so in the module that has the bodies of inline functions."""
    text = "inline int f(int n) { return n; }\n" + ALWAYS + "int g(int n) { return f(n); }\n"
    (tmp_path / "a.c").write_text(text + "int h(int n) { return g(n) + f(n); }\n")
    defined = load([tmp_path / "a.c"], SETTINGS).source.module.functions
    assert {name: "alwaysinline" in function.attributes for name, function in defined.items()} == {
        "f": False, "g": True, "h": False,
    }  # fmt: skip
    assert defined["f"].linkage == "available_externally"


HEADER = f"""static inline int own(int n) {{ int s = 0;
 for (int i = 0; i < n; i++) s += STEP;
 return s; }}
{ALWAYS}int always(int n) {{ int s = own(n);
 while (n > 0) {{ n -= 3; s++; }}
 return s; }}
"""


@pytest.fixture
def included(tmp_path):
    """Two files that include one header."""
    for name, other in (
        ("a", "int main(void) { return always(3) + b(4); }"),
        ("b", "int b(int n) { return always(n); }"),
    ):
        (tmp_path / f"{name}.c").write_text(f'#define STEP 1\n#include "h.h"\nint b(int n);\n{other}\n')
    (tmp_path / "h.h").write_text(HEADER)
    return [tmp_path / "a.c", tmp_path / "b.c"]


def test_functions_of_a_header_in_two_files_are_listed_once(included):
    check_listings(included, ["own:2", "always:5"], counted=True)
    assert load(included, SETTINGS)["own"].code.name == "own"


def test_one_text_of_two_meanings_is_two_functions(included):
    included[1].write_text(included[1].read_text().replace("STEP 1", "STEP 2"))
    assert names(loopless.load(included).loops) == ["own:2", "own:2", "always:5", "always:5"]


def test_the_census_of_files_counts_the_loops_of_a_header_once(included):
    files = [AskFile(file, Question(summarize=False), PATIENT, (), None).run() for file in included]
    assert [names(answer.loop for answer in file.answers) for file in files] == [["own:2", "always:5"]] * 2
    assert names(answer.loop for answer in distinct(files)) == ["own:2", "always:5"]


def test_files_that_are_included_are_named_from_here(tmp_path, monkeypatch):
    """Whatever directory the compiler was called in."""
    folder, other = tmp_path / "p", tmp_path / "q"
    folder.mkdir()
    other.mkdir()
    (folder / "h.h").write_text(ALWAYS + "int f(int n) { while (n > 0) n--;\n return n; }\n")
    (folder / "a.c").write_text('#include "h.h"\nint g(int n) { return f(n); }\n')
    entry = {"directory": str(folder), "file": "a.c", "arguments": ["cc", "-c", "-O2", "a.c"]}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    monkeypatch.chdir(tmp_path)
    for flags in {}, {"compile_database": folder}:
        (loop,) = loopless.load("p/a.c", **flags).loops
        assert (loop.file, loop.line) == ("p/h.h", 1)
    monkeypatch.chdir(folder)
    assert loopless.load("a.c").loops[0].file == "h.h"
    monkeypatch.chdir(other)
    assert loopless.load("../p/a.c").loops[0].file == str(folder / "h.h")


# ------------------------------------------------------------------------------------------------------------- C++

CXX = """struct Tree {
    int n;
    Tree(int m) : n(0) {
        for (int i = 0; i < m; i++) n += i;
    }
    ~Tree() {
        while (n > 0) n--;
    }
    int own(int k) const {
        int s = 0;
        do { s += n; } while (--k > 0);
        return s;
    }
    ALWAYS int always(int k) const {
        int s = 0;
        for (; k > 0; k--) s += n;
        return s;
    }
    int unused(int k) { while (k > 0) k--; return k; }
};
template <class T> T sum(T n) {
    T s = 0;
    for (T i = 0; i < n; i++) s += i;
    return s;
}
template <class T> ALWAYS T sum_always(T n) {
    T s = 0;
    for (T i = 0; i < n; i++) s += i;
    return s;
}
template <class T> T unused(T n) { while (n > 0) n--; return n; }
inline int inl(int n) {
    while (n > 9) n /= 2;
    return n;
}
namespace {
int hidden(int n) {
    while (n > 9) n /= 3;
    return n;
}
}
int f(int n) {
    auto own = [n](int k) {
        int s = 0;
        for (int i = 0; i < k; i++) s += n;
        return s;
    };
    auto always = [n](int k) __attribute__((always_inline)) {
        int s = 0;
        for (int i = 0; i < k; i += 2) s += n;
        return s;
    };
    struct Local {
        int go(int k) {
            for (; k > 7; k--) {}
            return k;
        }
    } local;
    Tree tree(n);
    return own(n) + always(n) + local.go(n) + tree.own(n) + tree.always(n) + tree.always(n + 1) + hidden(n);
}
int main(int argc, char **) {
    return f(argc) + sum(argc) + sum(2L) + sum_always(argc) + sum_always(7u) + sum_always(argc + 1) + inl(argc);
}
"""
CXX_LOOPS = [
    "Tree:4", "~Tree:7", "own:11", "always:16", "sum<int>:23", "sum<long>:23", "sum_always<int>:28",
    "sum_always<unsigned int>:28", "inl:33", "hidden:38", "(anonymous)::operator()(int):45",
    "(anonymous)::operator()(int):50", "go:55",
]  # fmt: skip


def test_loops_of_members_templates_and_lambdas_are_listed_once(tmp_path):
    (tmp_path / "a.cpp").write_text(CXX.replace("ALWAYS", "__attribute__((always_inline))"))
    check_listings([tmp_path / "a.cpp"], CXX_LOOPS)


def test_bodies_that_extern_template_leaves_to_other_files_are_listed(tmp_path):
    text = """template <class T> struct Box { T n; int go(int k) { int s = 0;
 for (; k > 0; k--) s += n;
 return s; } };
extern template struct Box<int>;
int main(int argc, char **) { Box<int> box{argc}; return box.go(3); }
"""
    (tmp_path / "a.cpp").write_text(text)
    check_listings([tmp_path / "a.cpp"], ["go:2"])


COROUTINE = """#include <coroutine>
struct Numbers {
    struct promise_type {
        int value;
        Numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int x) { value = x; return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
static inline __attribute__((always_inline)) int sum(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) s += i;
    return s;
}
Numbers numbers(int n) {
    co_yield sum(n);
}
"""


def test_coroutines_keep_the_loops_of_what_they_inline(tmp_path):
    """A coroutine is several functions, as clang makes them."""
    (tmp_path / "a.cpp").write_text(COROUTINE)
    settings = replace(SETTINGS, source=replace(SETTINGS.source, flags=("-std=c++20",)))
    program = load([tmp_path / "a.cpp"], settings)
    assert [name for name in names(program.loops) if name.startswith("sum")] == ["sum:16"]
    functions = list(program.source.module.defined())
    assert not any("presplitcoroutine" in function.attributes for function in functions)
    assert any(function.name.endswith(".resume") for function in functions)


# ---------------------------------------------------------------------------------------- what a compiler has inlined

INLINED = (
    ALWAYS + "int spin(unsigned n) { int c = 0;\n while (n != 0) { n -= 2; c ^= 1; }\n return c; }\n"
    + ALWAYS + "int walk(unsigned n) { int c = spin(2 * n);\n for (int i = 0; i < 4; i++) c += n > i;\n return c; }\n"
    + "int entry(unsigned n) { return spin(n) + walk(n); }\nint main(void) { return entry(3); }\n"
)  # fmt: skip


def test_copies_of_loops_whose_functions_are_gone_are_loops(tmp_path):
    """In IR that a compiler wrote after it had inlined. What is inlined in main is defined, and listed there."""
    source = tmp_path / "a.c"
    source.write_text(INLINED)
    text = compile_ir(source)
    (tmp_path / "a.ll").write_text(text)
    assert names(load([tmp_path / "a.ll"], SETTINGS).loops) == ["spin:2", "walk:5"]
    (tmp_path / "b.ll").write_text(without(WORKER.inline(text, ["spin", "walk"], 60.0, "a.c"), "spin", "walk"))
    rules = bounded_loops(load([tmp_path / "b.ll"], PATIENT), (), PATIENT)
    kept = {ruled.found.answer.loop.name.removeprefix(str(source)): ruled.kept for ruled in rules}
    assert kept == {
        ":spin:2:2@entry:7:32": False,
        ":spin:2:2@walk:4:77@entry:7:42": True,
        ":walk:5:2@entry:7:42": True,
    }


def without(text, *functions):
    """The module in which these have no definition."""
    for name in functions:
        text = re.sub(rf"^define [^\n]*@{name}\(.*?^}}\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return text


# --------------------------------------------------------------------------------------------------- random programs


@dataclass
class Program:
    """A program made at random: its header, its file, and its loops in the order of lines."""

    header: str
    text: str
    loops: list[str]


SHAPES = (
    "for (int i = 0; i < n % 7; i++) s += {step};",
    "{{ int k = n % 9; while (k > 0) {{ k -= 2; s += {step}; }} }}",
    "{{ int k = n % 5; do {{ k--; s ^= {step}; }} while (k > 0); }}",
    "{{ int k = n % 6; again: if (k > 0) {{ k--; s += {step}; goto again; }} }}",
)


def made(seed):
    """Some functions, each of which calls the one before it and perhaps another, some of them in a header."""
    rng = random.Random(seed)
    count = rng.randrange(3, 8)
    in_header = rng.randrange(count)
    header, text, loops = [], ['#include "a.h"'], []
    for number in range(count):
        lines = header if number < in_header else text
        lines.append(f"{rng.choice(C_KINDS)}int f{number}(int n) {{ int s = 0;")
        for shape in rng.sample(SHAPES, rng.randrange(3)):
            lines.append(shape.format(step=rng.randrange(1, 9)))
            loops.append((len(lines), f"f{number}:{len(lines)}"))
        called = [number - 1, *(rng.randrange(number) for _ in range(rng.randrange(2)))] if number else []
        calls = [f"f{other}(n + {rng.randrange(4)})" for other in called] or ["n"]
        lines.append(f"return (s + {' + '.join(calls)}) % 1000; }}")
    text.append(f"int main(int argc, char **argv) {{ return f{count - 1}(argc + 3) % 100; }}")
    return Program("\n".join(header) + "\n", "\n".join(text) + "\n", [name for _, name in sorted(loops)])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.slow
def test_random_programs_with_inline_functions(tmp_path, seed):
    """Each loop is listed once, and calls come to what they do natively. For gcc all functions are plain ones: it would
    not link inline definitions.
    """
    program = made(seed)
    (tmp_path / "a.h").write_text(program.header)
    (tmp_path / "a.c").write_text(program.text)
    check_listings([tmp_path / "a.c"], program.loops)
    if shutil.which("gcc") is not None:
        plain = ["-Dinline=", "-D__attribute__(x)="]
        subprocess.run(["gcc", "-O1", *plain, "a.c", "-o", "a"], cwd=tmp_path, check=True)
        found = loopless.load(tmp_path / "a.c")["main"]
        for words in range(3):
            native = subprocess.run([tmp_path / "a", *"abc"[:words]], check=False).returncode
            value = found.evaluate(1 + words, None).value
            assert value is not None
            assert value % 256 == native
