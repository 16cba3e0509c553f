"""Hundreds of thousands of native runs of one function in one process, for ``bench/reach_random.py``.

The program is compiled with a driver that calls the function with one input after the other. A run that is not over
after 5,000 branches, that traps (undefined behaviour) or that leaves its arrays (each ends at a page that must not be
touched) is broken off; globals get their first values back before each. The driver is compiled apart, since the compiler
takes calls of its own instrumentation for harmless. Which input came to the target is a hint: the judge's own runs say
whether it is so.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from loopless.check.oracle.signature import CType, PointerType, Signature
from loopless.errors import UsageError
from loopless.source.insertion import inserted
from loopless.source.targets import SourceTarget

_FLAGS: Final = ("-O1", "-w", "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,bounds",
                 "-fsanitize-undefined-trap-on-error", "-fsanitize-coverage=trace-pc")  # fmt: skip

_DRIVER: Final = r"""
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
extern void f(%(params)s);
struct state { sigjmp_buf back; long long *words, *stream; long next, used, hit, over, steps; char *fresh; };
static struct state *state;
extern char __data_start, _end;
void reached(void) { siglongjmp(state->back, 2); }
void __sanitizer_cov_trace_pc(void) { if (state && --state->steps < 0) siglongjmp(state->back, 3); }
static void broken(int number) { siglongjmp(state->back, 3); }
static long long drawn(void) { long at = state->used++; return state->stream[at < 40 ? at : 39]; }
#define DRAWN(type, name) type __VERIFIER_nondet_##name(void) { return (type)drawn(); }
DRAWN(int, int) DRAWN(unsigned, uint) DRAWN(char, char) DRAWN(unsigned char, uchar) DRAWN(signed char, schar) DRAWN(short, short)
DRAWN(unsigned short, ushort) DRAWN(long, long) DRAWN(unsigned long, ulong) DRAWN(long long, longlong)
DRAWN(unsigned long long, ulonglong) DRAWN(_Bool, bool)
static long long word(void) { return state->words[state->next++]; }
static void *array(char *page, long size) {
    long count = word(), bytes = count * size;
    char *place = page + 4096 - bytes;
    for (long at = 0; at < count; at++) { long long value = word(); memcpy(place + at * size, &value, size); }
    return place;
}
int main(int argc, char **argv) {
    struct state *made = mmap(0, sizeof *state, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    made->steps = 1L << 60;
    state = made;
    FILE *file = fopen(argv[1], "rb");
    fseek(file, 0, SEEK_END);
    long size = ftell(file), data = &_end - &__data_start;
    rewind(file);
    state->words = malloc(size + 8);
    if (fread(state->words, 1, size, file) != size) return 3;
    state->stream = malloc(40 * sizeof(long long));
    state->fresh = malloc(data);
    state->hit = -1;
    state->steps = 1L << 60;
    long runs = word();
    char *pages[%(arrays)d + 1];
    for (int at = 0; at < %(arrays)d; at++) {
        pages[at] = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(pages[at] + 4096, 4096, PROT_NONE);
    }
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = broken, .sa_flags = SA_ONSTACK | SA_NODEFER};
    int numbers[] = {SIGILL, SIGTRAP, SIGFPE, SIGSEGV, SIGBUS, SIGABRT};
    for (int at = 0; at < 6; at++) sigaction(numbers[at], &action, 0);
    memcpy(state->fresh, &__data_start, data);
    volatile long run = 0;
    for (; run < runs; run++) {
        memcpy(&__data_start, state->fresh, data);
        unsigned long long random = run * 0x9E3779B97F4A7C15ull;
        for (int at = 0; at < 40; at++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            long long value = (long long)random >> 33;
            state->stream[at] = (random >> 20 & 3) ? value %% 17 : value;
        }
        state->used = 0;
%(arguments)s
        int how = sigsetjmp(state->back, 0);
        if (how == 0) {
            state->steps = 5000;
            f(%(names)s);
            state->over++;
        }
        state->steps = 1L << 60;
        if (how == 2) { state->hit = run; break; }
    }
    printf("%%ld %%ld\n", state->hit, state->over);
    return 0;
}
"""


class Runs(NamedTuple):
    """``hit``: the first of the inputs whose run came to the target, if any; ``over``: how many runs ended by themselves."""

    hit: int | None
    over: int


def many(
    file: Path, target: SourceTarget, signature: Signature, inputs: Sequence[Sequence[object]], seconds: float
) -> Runs | None:
    """The runs of ``f`` on all inputs; None where they cannot be made this way, or take longer."""
    statement = f"if ({target.when or 1}) reached();".encode()
    try:
        assert target.line is not None
        text = inserted(file.read_bytes(), target.line, statement, str(target))
    except UsageError:
        return None
    made = marked, part, driver, program, data = [
        file.with_suffix(end) for end in (".marked.c", ".o", ".driver.c", ".driver", ".inputs")
    ]
    lines, names, params, arrays = [], [], [], 0
    for at, param in enumerate(signature.params):
        names.append(f"v{at}")
        if isinstance(param, PointerType) and isinstance(param.element, CType):
            lines.append(f"        {param.element.name} *v{at} = array(pages[{arrays}], sizeof(*v{at}));")
            params.append(f"{param.element.name} *")
            arrays += 1
        elif isinstance(param, CType):
            lines.append(f"        {param.name} v{at} = ({param.name})word();")
            params.append(param.name)
        else:
            return None
    known = {
        "params": ", ".join(params) or "void",
        "arrays": arrays,
        "arguments": "\n".join(lines),
        "names": ", ".join(names),
    }
    driver.write_text(_DRIVER % known, encoding="utf-8")
    marked.write_bytes(b"extern void reached(void);\n#line 1\n" + text)
    data.write_bytes(_packed(inputs))
    try:
        for command in (
            [*_FLAGS, "-c", str(marked), "-o", str(part)],
            ["-O1", "-w", str(driver), str(part), "-o", str(program)],
        ):
            if subprocess.run(["cc", *command], capture_output=True, check=False).returncode != 0:
                return None
        ran = subprocess.run([str(program), str(data)], capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        for each in made:
            each.unlink(missing_ok=True)
    if ran.returncode != 0:
        return None
    hit, over = map(int, ran.stdout.split())
    return Runs(None if hit < 0 else hit, over)


def _packed(inputs: Sequence[Sequence[object]]) -> bytes:
    words = [len(inputs)]
    for one in inputs:
        for value in one:
            words += [len(value), *value] if isinstance(value, tuple) else [value]  # type: ignore[list-item]
    return struct.pack(f"<{len(words)}Q", *(word & 0xFFFF_FFFF_FFFF_FFFF for word in words))
