"""Bodies for calls that read standard input: what they give is what the C library gives, for all short inputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.check.oracle.standard_input import laid_out
from loopless.check.outcome import Outcome
from loopless.flowgraph import Options, build
from loopless.source.compile import SourceOptions, compile_ir
from loopless.source.reader import read_module
from loopless.source.standard_input import with_inputs

_DRAWN = SourceOptions(reads_stdin=True)
_HEAD = """
#include <stdio.h>
#include <unistd.h>
static unsigned h = 7;
static void see(int value) { h = h * 31 + (unsigned)value; }
"""
_SEEN = "return (int)(h >> 1); }"
BYTES = f"int main(void) {{ int c; while ((c = getc(stdin)) != EOF) see(c); see(getchar()); {_SEEN}"
LINES = f"""
int main(void) {{
  char b[4] = {{9, 9, 9, 9}};
  while (fgets(b, sizeof b, stdin)) {{ for (int i = 0; b[i]; i++) see(b[i]); see(-3); see(getchar()); }}
  see(b[0]); see(b[3]); see(fgets(b, 1, stdin) == b); see(b[0]); see(fgets(b, 0, stdin) == 0);
  {_SEEN}
"""
ITEMS = f"""
int main(void) {{
  char b[4] = {{9, 9, 9, 9}};
  unsigned long n;
  see((int)fread(b, 0, 2, stdin));
  do {{ n = fread(b, 2, 2, stdin); see((int)n); for (unsigned i = 0; i < 2 * n; i++) see(b[i]); }} while (n == 2);
  see(b[3]); see(getchar());
  {_SEEN}
"""
SOME = f"""
int main(void) {{
  char b[3];
  long n;
  see((int)read(0, b, 0));
  while ((n = read(0, b, 3)) > 0) {{ see((int)n); for (int i = 0; i < n; i++) see(b[i]); }}
  see((int)n);
  {_SEEN}
"""
WORDS = f"""
int main(void) {{
  char b[3] = {{9, 9, 9}};
  int n;
  while ((n = scanf("%2s", b)) == 1) {{ for (int i = 0; b[i]; i++) see(b[i]); see(-3); }}
  see(n); see(b[0]); see(getchar());
  {_SEEN}
"""


def _bytes(given: bytes) -> list[int]:
    return [*given, -1]


def _some(given: bytes) -> list[int]:
    """Behind each byte, but for the last that a call may get, stands that more come."""
    draws: list[int] = []
    for at, value in enumerate(given):
        draws += [value] if at % 3 == 2 else [value, 0]
    return [*draws, -1]


def _words(given: bytes) -> list[int]:
    """Words of at most two bytes: white space before them is not drawn, the byte that ends a short one is."""
    draws: list[int] = []
    at = 0
    while at < len(given):
        while at < len(given) and given[at : at + 1].isspace():
            at += 1
        length = 0
        while at < len(given) and length < 2:
            draws.append(given[at])
            at += 1
            length += 1
            if given[at - 1 : at].isspace():
                break
    return [*draws, -1]


PROGRAMS: dict[str, tuple[str, Callable[[bytes], list[int]]]] = {
    "bytes": (BYTES, _bytes),
    "lines": (LINES, _bytes),
    "items": (ITEMS, _bytes),
    "some": (SOME, _some),
    "words": (WORDS, _words),
}


def _inputs(alphabet: bytes, most: int) -> Iterator[bytes]:
    for length in range(most + 1):
        yield from (bytes(one) for one in itertools.product(alphabet, repeat=length))


def _returned(oracle: NativeOracle, runs: list[NativeRun]) -> list[Outcome]:
    return oracle.run_many("main", runs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_bodies_give_what_the_library_gives(name: str) -> None:
    """The program with the library reads bytes; with the bodies it draws them."""
    text, draws = PROGRAMS[name]
    inputs = list(_inputs(b"ab\n", 6 if name == "lines" else 4))
    with NativeOracle(_HEAD + text, options=SourceOptions()) as library:
        expected = _returned(library, [NativeRun(stdin=one) for one in inputs])
    with NativeOracle(_HEAD + text, options=_DRAWN) as bodies:
        found = _returned(bodies, [NativeRun(nondet=draws(one)) for one in inputs])
    assert {one.status for one in expected} == {"ok"}
    assert len({one.return_value for one in expected}) > 30
    for given, one, other in zip(inputs, expected, found, strict=True):
        assert (one.status, one.return_value) == (other.status, other.return_value), given


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interpreter_gives_what_the_library_gives(name: str) -> None:
    text, draws = PROGRAMS[name]
    module = read_module(with_inputs(compile_ir(_HEAD + text, SourceOptions()), SourceOptions()), {})
    graph = build(module.functions["main"], module, Options())
    interpreter = Interpreter(module, graph, options=Options())
    inputs = list(_inputs(b"ab\n", 3))
    with NativeOracle(_HEAD + text, options=SourceOptions()) as library:
        expected = _returned(library, [NativeRun(stdin=one) for one in inputs])
    for given, one in zip(inputs, expected, strict=True):
        run = interpreter.run([], draws(given))
        assert run.outcome.return_value == one.return_value, (given, run)


@pytest.mark.parametrize("name", PROGRAMS)
def test_draws_that_are_laid_out_are_read_again(name: str) -> None:
    """All draws over some values: the bytes that they become give the program what was drawn."""
    text, _ = PROGRAMS[name]
    draws = [[*one, -1] for one in itertools.product((-1, 0, 97, 32, 10), repeat=4)]
    with NativeOracle(_HEAD + text, options=_DRAWN) as bodies:
        drawn = bodies._run_many("main", [NativeRun(nondet=one) for one in draws], isolated=False, signature=None)
    kept = []
    for one in drawn:
        if one.status == "ok" and one.drawn:
            bytes_read = laid_out(one.drawn)
            assert bytes_read is not None
            if bytes_read.same:
                kept.append((one, bytes_read.stdin))
    assert len(kept) > 50
    with NativeOracle(_HEAD + text, options=SourceOptions()) as library:
        again = _returned(library, [NativeRun(stdin=given) for _, given in kept])
    for (one, given), other in zip(kept, again, strict=True):
        assert one.return_value == other.return_value, given
