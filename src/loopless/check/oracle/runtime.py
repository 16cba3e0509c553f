"""The C runtime that is linked with every program that runs natively: inputs, endings of a run, and the call itself.

Every function whose name has a meaning for verification is redirected here (see :mod:`loopless.check.oracle.build`). An
ending is one ``longjmp`` back to :c:func:`loopless_call`, so a run that aborts costs no more than one that returns.
The runtime includes no header, so that it is the same on every host.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from loopless.check.outcome import Status
from loopless.source.vocabulary import ABSOLUTE_VALUES, COVER, DIVISIONS, TARGET

ENDINGS: Final[tuple[Status, ...]] = ("ok", "aborted", "assumption-failed", "error-reached", "undefined", "unknown")
"""The endings that the runtime itself reports; the position is the code."""

BYTES: Final = "[]"
"""What stands behind the name of a local whose bytes all get one value."""
UNINITIALISED_BYTE: Final = 0xAA
"""What the bytes of uninitialised arrays and structures hold in a second run, as clang has it with
``-ftrivial-auto-var-init=pattern``: numbers far from 0.
"""
TRAP_KINDS: Final[dict[int, str]] = {
    0: "signed addition overflow",
    1: "unreachable code reached",
    3: "division by zero, or the most negative value divided by -1",
    5: "floating-point conversion out of range",
    6: "call through a pointer of another type",
    10: "invalid value of an enumeration or _Bool",
    11: "missing return",
    12: "signed multiplication overflow",
    13: "signed negation overflow",
    18: "array index out of bounds",
    19: "pointer arithmetic out of bounds",
    20: "shift exponent out of range, or left shift of a signed value that overflows",
    21: "signed subtraction overflow",
    22: "null or misaligned access",
    24: "length of a variable-length array not positive",
    90: "write to a const object",
    91: "use of a pointer to an object whose lifetime is over",
    92: "pointer arithmetic that leaves the object",
    93: "access outside of the object",
    94: "an assumption that the compiler was given is false",
    101: "overlapping memory copied",
}
"""Clang's numbers for the checks that trap (``clang/lib/CodeGen/SanitizerHandler.h``), in words; from 90 on our own
(:mod:`loopless.check.oracle.objects`, :mod:`loopless.check.oracle.checks`)."""

MEANINGS: Final[dict[str, str]] = {
    TARGET: "target",
    COVER: "cover",
    "reach_error": "error",
    "__VERIFIER_error": "error",
    "__VERIFIER_assert": "assert",
    "__VERIFIER_assume": "assume",
    "assume_abort_if_not": "assume",
    "__CPROVER_assume": "assume",
    "__CPROVER_assert": "assert",
    "__ESBMC_assume": "assume",
    "klee_assume": "assume_wide",
    "klee_report_error": "error",
    "klee_make_symbolic": "klee_make_symbolic",
    "__VERIFIER_nondet_memory": "klee_make_symbolic",
    "klee_int": "nondet_s32",
    "klee_range": "klee_range",
    "klee_silent_exit": "exit",
    "klee_assert": "assert",
    "klee_abort": "abort",
    **dict.fromkeys(("klee_warning", "klee_warning_once", "klee_print_expr", "klee_print_range"), "nothing"),
    **dict.fromkeys(("klee_stack_trace", "klee_open_merge", "klee_close_merge", "klee_prefer_cex"), "nothing"),
    "__CPROVER_printf": "nothing",
    "__VERIFIER_atomic_begin": "nothing",
    "__VERIFIER_atomic_end": "nothing",
}
"""Names with a meaning: what stands after ``loopless_`` in the runtime. They win over a program's own definitions."""

WEAK_MEANINGS: Final[dict[str, str]] = {
    "assume": "assume",
    "assert": "assert",
    "__assume": "assume",
    **dict.fromkeys(("__assert", "_assert", "_wassert", "__assert_perror_fail", "__assert_rtn"), "error"),
    "__assert_fail": "assert_fail",
    "abort": "abort",
    **dict.fromkeys(("exit", "_exit", "_Exit", "quick_exit"), "exit"),
}
"""Names that have a meaning only in programs that declare them without a definition, which wins there."""

APART: Final = MappingProxyType(
    {"strcpy": False, "stpcpy": False, "strcat": False}
    | {"memcpy": True, "mempcpy": True, "strncpy": True, "strncat": True}
)
"""Library functions whose arguments must not overlap, which the runtime tests, and whether they have a ``size_t``."""

CHECKED: Final = MappingProxyType(
    dict.fromkeys(ABSOLUTE_VALUES, "llabs") | dict.fromkeys(DIVISIONS, "lldiv") | {"abs": "abs", "div": "div"}
)
"""Library functions whose result may not fit, and the runtime's function that traps then, for a ``long`` of 64 bits."""

SOURCE: Final = r"""  /* without ?:, for which a module is compiled twice */
typedef long long wide;
typedef unsigned long long uwide;
int _setjmp(void *) __attribute__((returns_twice));
void longjmp(void *, int) __attribute__((noreturn));
void *memcpy(void *, const void *, unsigned long);

static struct { wide slots[64]; } target;
static const wide *stream, *fresh, *chosen;
static wide stream_length, stream_used, fresh_length, fresh_used, repeating;
static wide end_status, end_kind, end_value;
static const char *end_text;

static void finish(wide status, wide kind, wide value, const char *text) __attribute__((noreturn));
static void finish(wide status, wide kind, wide value, const char *text) {
    end_status = status; end_kind = kind; end_value = value; end_text = text;
    longjmp(&target, 1);
}

void loopless_abort(void) { finish(1, 0, 0, "abort"); }
void loopless_exit(int code) { finish(1, 1, code, "exit"); }
void loopless_assume(int holds) { if (!holds) finish(2, 0, 0, ""); }
void loopless_assume_wide(uwide holds) { if (!holds) finish(2, 0, 0, ""); }
void loopless_error(void) { finish(3, 0, 0, "error function called"); }
void loopless_assert(int holds) { if (!holds) finish(3, 0, 0, "assertion false"); }
unsigned char loopless_covered[1 << 16];
void loopless_cover(int number) { loopless_covered[number & 0xffff] = 1; }
void loopless_target(void) { finish(3, 2, 0, "target"); }
void loopless_assert_fail(const char *text) { finish(3, 1, 0, text); }
void loopless_trap(int kind, int line) { finish(4, kind, line, ""); }
void loopless_unresolved(int index) { finish(5, 1, index, ""); }
void loopless_nothing(void) { }

int loopless_checked_abs(int n) {
    if (n == -2147483647 - 1) loopless_trap(13, 0);
    if (n < 0) return -n;
    return n;
}
wide loopless_checked_llabs(wide n) {
    if (n == -9223372036854775807LL - 1) loopless_trap(13, 0);
    if (n < 0) return -n;
    return n;
}
struct quotient { int quot, rem; };
struct quotient loopless_checked_div(int a, int b) {
    struct quotient both;
    if (!b || (a == -2147483647 - 1 && b == -1)) loopless_trap(3, 0);
    both.quot = a / b; both.rem = a % b;
    return both;
}
struct wide_quotient { wide quot, rem; };
struct wide_quotient loopless_checked_lldiv(wide a, wide b) {
    struct wide_quotient both;
    if (!b || (a == -9223372036854775807LL - 1 && b == -1)) loopless_trap(3, 0);
    both.quot = a / b; both.rem = a % b;
    return both;
}

/* What was drawn, in order: its kind and its value; 0 is an input of another kind than standard input. */
static wide *draws, most_draws;
static void drew(wide kind, wide value) {
    if (draws && draws[0] < most_draws) { draws[1 + 2 * draws[0]] = kind; draws[2 + 2 * draws[0]] = value; }
    if (draws) draws[0]++;
}
void loopless_draws(wide *at, wide most) { draws = at; most_draws = most; }
static wide drawn(void) {
    if (stream_used >= stream_length) {
        if (repeating && stream_length > 0) return stream[stream_length - 1];
        finish(5, 0, stream_used, "");
    }
    return stream[stream_used++];
}
static wide next(void) { wide value = drawn(); drew(0, value); return value; }
/* Values that are none of these draws' are made some: inputs may be any numbers. */
static int byte_of(wide value) {
    if (value >= -1 && value <= 255) return (int)value;
    return (int)((uwide)value & 255);
}
int loopless_stdin_byte(void) { int value = byte_of(drawn()); drew(1, value); return value; }
int loopless_stdin_skipped(void) { int value = byte_of(drawn()); drew(2, value); return value; }
int loopless_stdin_outcome(void) {
    wide value = drawn();
    if (value > 1) value = 1;
    if (value < -1) value = -1;
    drew(3, value);
    return (int)value;
}
int loopless_stdin_more(void) { int value = (int)drawn(); drew(7, value); return value; }
int loopless_stdin_rest(void) { int value = byte_of(drawn()); drew(4, value); return value; }
static wide number(int kind, int width, wide value) { drew(kind + 16 * (wide)width, value); return value; }
/* The bytes that are read say how many there are. */
uwide loopless_stdin_size_u64(void) { drew(7, drawn() * 0); return ~(uwide)0; }
wide loopless_stdin_lost_s64(void) { wide value = drawn(); drew(8, value); return value; }
int loopless_stdin_stays(void) { int value = byte_of(drawn()); drew(10, value); return value; }
#define NUMBER(name, type) \
    type loopless_stdin_dec_##name(int width) { return (type)number(5, width, (wide)(type)drawn()); } \
    type loopless_stdin_any_##name(int width) { return (type)number(9, width, (wide)(type)drawn()); } \
    type loopless_stdin_hex_##name(int width) { return (type)number(6, width, (wide)(type)drawn()); }
NUMBER(s8, signed char) NUMBER(u8, unsigned char) NUMBER(s16, short) NUMBER(u16, unsigned short)
NUMBER(s32, int) NUMBER(u32, unsigned) NUMBER(s64, wide) NUMBER(u64, uwide)

_Bool loopless_nondet_bool(void) { return next() != 0; }
signed char loopless_nondet_s8(void) { return (signed char)next(); }
unsigned char loopless_nondet_u8(void) { return (unsigned char)next(); }
short loopless_nondet_s16(void) { return (short)next(); }
unsigned short loopless_nondet_u16(void) { return (unsigned short)next(); }
int loopless_nondet_s32(void) { return (int)next(); }
unsigned loopless_nondet_u32(void) { return (unsigned)next(); }
wide loopless_nondet_s64(void) { return next(); }
uwide loopless_nondet_u64(void) { return (uwide)next(); }
wide loopless_uninit(int local) {
    if (chosen[2 * local]) return chosen[2 * local + 1];
    if (fresh_used < fresh_length) return fresh[fresh_used++];
    return 0;
}
void loopless_fill(int local, void *at, uwide size) {
    if (chosen[2 * local]) memset(at, (int)chosen[2 * local + 1], size);
}

int loopless_klee_range(int low, int high) {
    int value = (int)next();
    if (value < low || value >= high) finish(2, 0, 0, "");
    return value;
}
void loopless_klee_make_symbolic(void *at, unsigned long size) {
    unsigned char *bytes = at;
    if (size == 1 || size == 2 || size == 4 || size == 8) { wide value = next(); memcpy(at, &value, size); }
    else for (unsigned long i = 0; i < size; i++) bytes[i] = (unsigned char)next();
}

/* What 32-bit programs call: the same functions with a 32-bit size_t (see native_retarget). */
typedef unsigned size32;
typedef unsigned long size64;
void *malloc(size64); void *calloc(size64, size64); void *realloc(void *, size64);
void *memmove(void *, const void *, size64); void *memset(void *, int, size64);
int memcmp(const void *, const void *, size64); void *memchr(const void *, int, size64);
size64 strlen(const char *); size64 strnlen(const char *, size64); int strncmp(const char *, const char *, size64);
char *strncpy(char *, const char *, size64); char *strncat(char *, const char *, size64);
void *loopless_narrow_malloc(size32 n) { return malloc(n); }
void *loopless_narrow_calloc(size32 n, size32 m) { return calloc(n, m); }
void *loopless_narrow_realloc(void *p, size32 n) { return realloc(p, n); }
void *loopless_narrow_memmove(void *p, const void *q, size32 n) { return memmove(p, q, n); }
void *loopless_narrow_memset(void *p, int c, size32 n) { return memset(p, c, n); }
int loopless_narrow_memcmp(const void *p, const void *q, size32 n) { return memcmp(p, q, n); }
void *loopless_narrow_memchr(const void *p, int c, size32 n) { return memchr(p, c, n); }
size32 loopless_narrow_strlen(const char *p) { return (size32)strlen(p); }
size32 loopless_narrow_strnlen(const char *p, size32 n) { return (size32)strnlen(p, n); }
int loopless_narrow_strncmp(const char *p, const char *q, size32 n) { return strncmp(p, q, n); }

/* What must not overlap (C11 7.24): of memcpy the same place is fine, as it is in LLVM IR. */
char *strcpy(char *, const char *); char *strcat(char *, const char *);
static void separate(const char *to, size64 written, const char *from, size64 read, int line) {
    if (written && read && to < from + read && from < to + written) loopless_trap(101, line);
}
static size64 at_most(const char *text, size64 n) {
    size64 m = strnlen(text, n);
    if (m < n) return m + 1;
    return n;
}
void loopless_apart(const char *to, const char *from, size64 n, int line) {
    if (to != from) separate(to, n, from, n, line);
}
void loopless_narrow_apart(const char *to, const char *from, size32 n, int line) { loopless_apart(to, from, n, line); }
void *loopless_apart_memcpy(void *p, const void *q, size64 n) { loopless_apart(p, q, n, 0); return memcpy(p, q, n); }
void *loopless_apart_mempcpy(char *p, const void *q, size64 n) { return (char *)loopless_apart_memcpy(p, q, n) + n; }
char *loopless_apart_strcpy(char *p, const char *q) {
    size64 n = strlen(q) + 1;
    separate(p, n, q, n, 0);
    return strcpy(p, q);
}
char *loopless_apart_stpcpy(char *p, const char *q) { return loopless_apart_strcpy(p, q) + strlen(p); }
char *loopless_apart_strcat(char *p, const char *q) {
    size64 n = strlen(q) + 1;
    separate(p + strlen(p), n, q, n, 0);
    return strcat(p, q);
}
char *loopless_apart_strncpy(char *p, const char *q, size64 n) {
    separate(p, at_most(q, n), q, at_most(q, n), 0);
    return strncpy(p, q, n);
}
char *loopless_apart_strncat(char *p, const char *q, size64 n) {
    separate(p + strlen(p), strnlen(q, n) + 1, q, at_most(q, n), 0);
    return strncat(p, q, n);
}
void *loopless_narrow_memcpy(void *p, const void *q, size32 n) { return loopless_apart_memcpy(p, q, n); }
void *loopless_narrow_mempcpy(void *p, const void *q, size32 n) { return loopless_apart_mempcpy(p, q, n); }
char *loopless_narrow_strncpy(char *p, const char *q, size32 n) { return loopless_apart_strncpy(p, q, n); }
char *loopless_narrow_strncat(char *p, const char *q, size32 n) { return loopless_apart_strncat(p, q, n); }
/* A 32-bit klee_make_symbolic passes its size in 32 bits. */
void loopless_narrow_klee_make_symbolic(void *at, size32 size) { loopless_klee_make_symbolic(at, size); }

/* Objects (see native_objects). Locals get memory that no other one gets in the same run, while there is any. */
enum { ROOM = 1 << 25, LARGEST = 1 << 14, GAP = 32, MOST = 1 << 18, MOST_HOMES = 1 << 12 };
struct object { unsigned char *at; uwide size; wide state; }; /* state: 0 none, 1 it is constant, 2 it is dead */
static unsigned char *room, *room_end;
static struct object *objects, homes[MOST_HOMES], statics[MOST_HOMES];
static const void *statics_of;
static wide object_count, home_count, static_count;

static void forget_objects(void) { object_count = home_count = 0; room_end = room; }
static struct object *among(struct object *all, wide count, const unsigned char *p) {
    wide low = 0, high = count;
    while (low < high) {
        wide middle = (low + high) / 2;
        if (all[middle].at <= p) low = middle + 1; else high = middle;
    }
    if (low && p < all[low - 1].at + all[low - 1].size + GAP) return all + low - 1;
    return 0;
}
static struct object *find_object(const unsigned char *p, const struct object *table, wide count) {
    if (room && p >= room && p < room_end) return among(objects, object_count, p);
    for (wide i = home_count; i-- > 0;) if (p >= homes[i].at && p < homes[i].at + homes[i].size + GAP) return homes + i;
    if (statics_of != table) {
        statics_of = table; static_count = 0;
        for (wide i = 0; i < count && i < MOST_HOMES; i++) {
            wide at = static_count++;
            for (; at && statics[at - 1].at > table[i].at; at--) statics[at] = statics[at - 1];
            statics[at] = table[i];
        }
    }
    return among(statics, static_count, p);
}
void *loopless_local(void *home, uwide size) {
    if (!room) {
        room = room_end = malloc(ROOM); objects = malloc(MOST * sizeof *objects);
        if (!room || !objects) finish(5, 0, 0, "");
    }
    if (size <= LARGEST && object_count < MOST && room_end + size + 2 * GAP < room + ROOM) {
        unsigned char *at = room_end;
        room_end += (size + 2 * GAP - 1) / GAP * GAP;
        objects[object_count].at = at; objects[object_count].size = size; objects[object_count++].state = 0;
        memset(at, 0, size);
        return at;
    }
    if (home_count < MOST_HOMES) {
        homes[home_count].at = home; homes[home_count].size = size; homes[home_count++].state = 0;
    }
    return home;
}
void loopless_end(unsigned char *p) {
    if (room && p >= room && p < room_end) { among(objects, object_count, p)->state = 2; return; }
    for (wide i = home_count; i-- > 0;)
        if (homes[i].at == p) { for (home_count--; i < home_count; i++) homes[i] = homes[i + 1]; return; }
}
void *loopless_begin(void *home, unsigned char *old, uwide size) {
    unsigned char *at;
    loopless_end(old);
    at = loopless_local(home, size);
    if (at != old) memmove(at, old, size); /* what it holds is indeterminate: what it held before is as good */
    return at;
}
void loopless_access(unsigned char *p, uwide size, int writes, int line, const struct object *table, wide count) {
    struct object *found = 0;
    if (size) found = find_object(p, table, count);
    if (!found) return;
    if (found->state == 2) loopless_trap(91, line);
    if (p < found->at || size > found->size || p - found->at > found->size - size) loopless_trap(93, line);
    if (writes && found->state == 1) loopless_trap(90, line);
}
void loopless_step(unsigned char *p, unsigned char *to, int line, const struct object *table, wide count) {
    if (!p && to) loopless_trap(92, line);
    struct object *found = find_object(p, table, count);
    if (!found) return;
    if (found->state == 2) loopless_trap(91, line);
    if (to < found->at || to > found->at + found->size) loopless_trap(92, line);
}
void loopless_index(wide index, int line) { if (index < 0) loopless_trap(18, line); }
void loopless_use(unsigned char *p, int line) {
    struct object *found = 0;
    if (room && p >= room && p < room_end) found = among(objects, object_count, p);
    if (found && found->state == 2 && p <= found->at + found->size) loopless_trap(91, line);
}

struct variable { void *at; uwide size; };
void loopless_save(const struct variable *table, wide count, unsigned char *to) {
    for (wide i = 0; i < count; i++) { memcpy(to, table[i].at, table[i].size); to += table[i].size; }
}
void loopless_restore(const struct variable *table, wide count, const unsigned char *from) {
    for (wide i = 0; i < count; i++) { memcpy(table[i].at, from, table[i].size); from += table[i].size; }
}
void loopless_inputs(const wide *values, wide count, const wide *fresh_values, wide fresh_count, const wide *fixed) {
    chosen = fixed;
    repeating = count < 0;  /* then the last value comes again and again */
    stream = values; stream_length = count; stream_used = 0;
    if (count < 0) stream_length = -count;
    fresh = fresh_values; fresh_length = fresh_count; fresh_used = 0;
    if (draws) draws[0] = 0;
}
void loopless_ending(wide *facts, const char **text) {
    facts[0] = end_status; facts[1] = end_kind; facts[2] = end_value; facts[3] = stream_used; *text = end_text;
}

typedef wide W;
void loopless_call(void *f, wide count, const wide *a, wide *result) {
    end_status = 0; end_kind = 0; end_value = 0; end_text = "";
    forget_objects();
    if (_setjmp(&target)) return;
    switch (count) {
    case 0: *result = ((W(*)(void))f)(); break;
    case 1: *result = ((W(*)(W))f)(a[0]); break;
    case 2: *result = ((W(*)(W,W))f)(a[0],a[1]); break;
    case 3: *result = ((W(*)(W,W,W))f)(a[0],a[1],a[2]); break;
    case 4: *result = ((W(*)(W,W,W,W))f)(a[0],a[1],a[2],a[3]); break;
    case 5: *result = ((W(*)(W,W,W,W,W))f)(a[0],a[1],a[2],a[3],a[4]); break;
    case 6: *result = ((W(*)(W,W,W,W,W,W))f)(a[0],a[1],a[2],a[3],a[4],a[5]); break;
    case 7: *result = ((W(*)(W,W,W,W,W,W,W))f)(a[0],a[1],a[2],a[3],a[4],a[5],a[6]); break;
    default: *result = ((W(*)(W,W,W,W,W,W,W,W))f)(a[0],a[1],a[2],a[3],a[4],a[5],a[6],a[7]); break;
    }
}
"""
MAX_ARGUMENTS: Final = 8
"""How many arguments a native call can have."""
