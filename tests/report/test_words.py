"""Every name in an answer is a word of the source, or one that ``docs/answers.md`` explains."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").rglob("*.c") if "main(" not in path.read_text())

FUNCTIONS = frozenset(re.findall(r"\w+", """
    first earliest last sum least greatest fold count all some min max floor_div ceil_div mod pow first_in_range
    first_scaled floor_sum table linear_power digits divided object begin end
"""))  # fmt: skip
PHRASES = frozenset(re.findall(r"\w+", """
    by nondet volatile uninitialised what returned is read in line an address a value call through pointer leaves
"""))  # fmt: skip
OF_C = frozenset(("true", "false", "NULL", "char", "return", "this", "reads", "of"))
MADE = re.compile(r"[kv]\d*|[tc]\d+|[NMFGH]\d*|U?INT(?:64)?_M(?:AX|IN)|u?int\d+_t|fits_\w+")
_WORD = re.compile(r"[%$.]?[A-Za-z_]\w*(?:\.[A-Za-z]*\d\w*)*|(?<=[\w\])])\+\d+")
_PROSE = {
    "what": "what a pointer points to",
    "the": "the argument",
}
"""What stands for a name in a list of what is not told, or before one."""


def expressions(found: Any, key: str = "") -> Iterator[str]:
    """All expressions of an answer, and all names of variables."""
    if isinstance(found, dict):
        for name, part in found.items():
            if name in ("text", "is") and isinstance(part, str):
                yield part
            elif name in ("then", "update"):
                yield from part
            elif name == "not_told":
                yield from (one["name"] for one in part)
            if name != "reads":
                yield from expressions(part, name)
    elif isinstance(found, list):
        for part in found:
            if key == "free" and isinstance(part, str):
                yield part
            yield from expressions(part, key)


def foreign(text: str, source: str) -> set[str]:
    """The words of an expression that are neither the source's nor ours."""
    own = set(re.findall(r"[A-Za-z_]\w*", source))
    own |= {name.removeprefix("__VERIFIER_") for name in own}  # inputs go without it, as the page says
    for phrase in _PROSE.values():
        text = text.replace(phrase, "")
    text = re.sub(r'"[^"]*"', "", text)
    known = own | FUNCTIONS | {name.upper() for name in FUNCTIONS} | PHRASES | OF_C
    words = {word for word in _WORD.findall(text) if word.lstrip(".") not in known or word.startswith(("%", "$"))}
    return {word for word in words if not MADE.fullmatch(word.removeprefix("."))}


def check(file: Path, *words: str) -> None:
    command = [sys.executable, "-m", "loopless", *words, str(file), "--format", "json", "--loop-timeout", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    source = file.read_text()
    told = list(expressions(json.loads(done.stdout)))
    assert told
    assert {text: found for text in told if (found := foreign(text, source))} == {}


ASKED = (("summarize",), ("summarize", "--whole"), ("bound",))


def test_the_check_can_fail() -> None:
    source = "int f(struct s *p) { return p->n; }"
    others = ("%call < 3", "p_is_null == 0", "retval.i1'200 + 1", "v+8 - v+0", "p.addr == 0", "heap()'1", "agg.tmp")
    assert all(foreign(text, source) for text in (*others, "_ZN1aC2Ev()'1"))
    ours = ("p->n <= 3", "first(k < p->n: p[k] == 0)", "what f returned in line 5 == 0", "object(p) == 0", "p == NULL")
    assert not any(foreign(text, source) for text in ours)


def test_the_page_on_answers_explains_our_words() -> None:
    page = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")
    assert {word for word in FUNCTIONS | PHRASES if not re.search(rf"\b{word}\b", page)} == set()


PROGRAMS = {
    "null": """
        struct j { int type; unsigned long n; };
        extern unsigned long size_of(const struct j *); extern int one(const struct j *, unsigned long);
        int dump(const struct j *json) {
          if (!json) return -1;
          if (json->type == 1) {
            unsigned long n = size_of(json);
            for (unsigned long i = 0; i < n; ++i) if (one(json, i)) return -1;
          }
          return 1;
        }""",
    "called before": """
        extern int limit(void); extern char *make(int);
        int f(void) { int c = 0; char *p = make(3); for (int i = 0; i < limit() % 7 + 2 && p; i++) c += p[i] & 3; return c; }
        int g(int n) { int c = 0; int top = limit() + limit(); while (c < top - n) c++; return c; }""",
    "popped": """
        extern void yfree(void *p); struct dir { char *handle, *prefix; }; struct st { struct dir *start, *end, *top; };
        void del(struct st *s) { while (s->start != s->top) { struct dir d = *(--s->top); yfree(d.handle); yfree(d.prefix); } }
        int all(const struct dir *start, const struct dir *end) {
          for (const struct dir *t = start; t != end; t++) if (!t->handle) return 0;
          return 1;
        }""",
    "allocated": """
        #include <stdlib.h>
        struct n { struct n *next; int v; };
        int f(int n) {
          struct n *head = 0;
          for (int i = 0; i < n; i++) { struct n *m = malloc(sizeof *m); if (!m) break; m->next = head; m->v = i; head = m; }
          int s = 0; while (head) { struct n *m = head->next; s ^= head->v; free(head); head = m; } return s;
        }
        int *g(int n) { int *p = malloc(n * sizeof(int)); for (int i = 0; i < n && p; i++) p[i] = i; return p; }""",
    "floating": """
        int f(double x, float *p) { int n = 0; for (double y = x; y != 1.0; y += .1) n++; while (p[n] < x) n++; return n; }""",
    "structures": """
        struct big { long a[4]; int n; }; struct big make(int n); static struct big own(int n) { struct big b = {{0}, n}; return b; }
        int f(int n) { struct big b = make(n); int c = 0; while (c < b.n) c++; return c; }
        int g(int n) { int c = 0; while (c < own(n).n) { c++; } return c; }""",
    "through pointers": """
        struct o { int (*next)(struct o *); int left; };
        int f(struct o *p) { int c = 0; while (p->next(p) > 0 && p->left) c++; return c; }
        int g(int (*h)(int), int n) { int c = 0, top = h(n); for (int i = 0; i < top; i++) c += h(i) & 1; return c; }""",
    "uninitialised": "int f(int n) { int x, y; if (n > 3) x = 1; while (x < n && y > n) { x++; y--; } return x; }",
    "differences": """
        unsigned long f(const char *a, const char *b, char **end) {
          unsigned long n = 0; while (n < (unsigned long)(*end - a)) n++; return n + (b - a); }""",
}


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.slow
def test_names_are_words_of_the_source(name: str, words: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text(PROGRAMS[name])
    check(file, *words)


@pytest.mark.slow
@pytest.mark.parametrize("words", ASKED, ids=" ".join)
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda path: path.stem)
def test_names_in_answers_about_the_examples(file: Path, words: tuple[str, ...]) -> None:
    check(file, *words)
