"""Function names that have a meaning: the verification vocabulary, and library functions by their effects.

The vocabulary is that of SV-COMP (https://sv-comp.sosy-lab.org, "Competition Rules": ``__VERIFIER_nondet_X``,
``reach_error``, ``assume_abort_if_not``), of CBMC (``__CPROVER_*``), of KLEE (``klee_*``) and of the C library.
The effects of library functions are those that the C standard (ISO/IEC 9899:2018, clause 7) gives them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from loopless.patterns import pattern
from loopless.records import dataclass

COVER: Final = "__loopless_cover"
"""The function that is told which side of a branch is taken, or which loop goes round too often."""
TARGET: Final = "__loopless_target"
"""The function that is called where a run is to get to (:mod:`loopless.source.targets`)."""


STANDARD_INPUT_DRAW: Final = "__VERIFIER_nondet_stdin_"
"""What the names of the functions begin with that draw what standard input gives
(:mod:`loopless.source.standard_input`). Behind it stands "byte", a byte or -1; "skipped", the same behind white space;
"outcome", whether a number comes (1), none does (0) or the input ends (-1); "rest", the byte that is in the way of a
number, where a sign or digit stands for a sign behind which nothing is known; "stays", the same where that byte comes
next in any case; "more", whether a call that may get fewer bytes gets another one (-1: no);
or a base ("dec", "hex", "any"), ``_`` and a type, a number, which takes the width of its conversion, 0 for none;
"lost_longlong", a value of which standard input says nothing.
"""
STANDARD_INPUT_SIZE: Final = f"{STANDARD_INPUT_DRAW}size_ulonglong"
"""The function that draws how many bytes standard input has, where the run begins."""

ENDS_ONCE: Final = (
    "nothing else reads standard input, reading it does not fail, and behind its end nothing more comes "
    "(a file or a pipe)"
)
"""What is taken for granted where standard input is drawn."""
FINITE: Final = "standard input has an end"
"""What is taken for granted where the number of its bytes is drawn."""


class Meaning(Enum):
    """What a call of a function of the verification vocabulary means."""

    NONDET = "returns an input of the program"
    SYMBOLIC = "fills memory with inputs of the program: (address, size)"
    ASSUME = "ends the run silently unless its argument holds"
    ASSERT = "an error unless its argument holds"
    ERROR = "the error"
    ABORT = "ends the run abnormally"
    EXIT = "ends the run"
    IGNORE = "does nothing"
    ENTRY = "where the program starts"
    TARGET = "where a run is to get to, and ends"


VOCABULARY: Final[Mapping[str, Meaning]] = {
    "__VERIFIER_nondet_*": Meaning.NONDET,
    "__VERIFIER_nondet_memory": Meaning.SYMBOLIC,
    "__VERIFIER_assume": Meaning.ASSUME,
    "__VERIFIER_assert": Meaning.ASSERT,
    "__VERIFIER_error": Meaning.ERROR,
    "__VERIFIER_atomic_begin": Meaning.IGNORE,
    "__VERIFIER_atomic_end": Meaning.IGNORE,
    "assume_abort_if_not": Meaning.ASSUME,
    "reach_error": Meaning.ERROR,
    "__assert_fail": Meaning.ERROR,
    "__assert_perror_fail": Meaning.ERROR,
    "__assert_rtn": Meaning.ERROR,
    "__assert": Meaning.ERROR,
    "_assert": Meaning.ERROR,
    "_wassert": Meaning.ERROR,
    "assert": Meaning.ASSERT,
    "assume": Meaning.ASSUME,
    "__CPROVER_assume": Meaning.ASSUME,
    "__CPROVER_assert": Meaning.ASSERT,
    "__CPROVER_printf": Meaning.IGNORE,
    "nondet": Meaning.NONDET,
    "nondet_*": Meaning.NONDET,
    "klee_assume": Meaning.ASSUME,
    "klee_assert": Meaning.ASSERT,
    "klee_int": Meaning.NONDET,
    "klee_make_symbolic": Meaning.SYMBOLIC,
    "klee_report_error": Meaning.ERROR,
    "klee_silent_exit": Meaning.EXIT,
    "klee_abort": Meaning.ABORT,
    "klee_warning": Meaning.IGNORE,
    "klee_warning_once": Meaning.IGNORE,
    "klee_print_expr": Meaning.IGNORE,
    "klee_print_range": Meaning.IGNORE,
    "klee_stack_trace": Meaning.IGNORE,
    "klee_open_merge": Meaning.IGNORE,
    "klee_close_merge": Meaning.IGNORE,
    "klee_prefer_cex": Meaning.IGNORE,
    "abort": Meaning.ABORT,
    "exit": Meaning.EXIT,
    "_exit": Meaning.EXIT,
    "_Exit": Meaning.EXIT,
    "quick_exit": Meaning.EXIT,
    "main": Meaning.ENTRY,
    TARGET: Meaning.TARGET,
}
"""Name, or prefix followed by ``*``, to meaning."""

_PREFIXES: Final = tuple((n[:-1], m) for n, m in VOCABULARY.items() if n.endswith("*"))
# Where the program itself defines one of these, its definition says what it does, not the name: they are functions of
# the C library, or common words.
_BY_DECLARATION_ONLY: Final = frozenset(
    {"assert", "assume", "nondet", "__assert", "_assert", "_wassert"}
    | {"__assert_fail", "__assert_perror_fail", "__assert_rtn"}
    | {"abort", "exit", "_exit", "_Exit", "quick_exit"}
)

_SIGNED: Final = frozenset(
    {"char", "short", "int", "long", "longlong", "signed", "schar", "int128", "ptrdiff_t", "ssize_t", "loff_t"}
)
_UNSIGNED: Final = frozenset(
    {"bool", "_Bool", "uchar", "ushort", "uint", "ulong", "ulonglong", "unsigned", "unsigned_char", "uint128"}
    | {"size_t", "sector_t", "pthread_t", "u8", "u16", "u32", "u64", "U32", "unsigned_int", "unsigned_long"}
)


def meaning_of(name: str, *, defined: bool = False) -> Meaning | None:
    """The meaning of a function's name, None where it has none.

    ``defined``: the program has a body for it. Names such as ``assert`` and those of the C library (``exit``) then mean
    what the body does; the names of the competitions, of CBMC and of KLEE keep their meaning whatever the body does, as
    they do there (SV-COMP *defines* ``reach_error``; KLEE takes its own functions instead of a program's).
    """
    if defined and (name in _BY_DECLARATION_ONLY or name.startswith("nondet_")):
        return None
    found = VOCABULARY.get(name)
    if found is None:
        found = next((m for prefix, m in _PREFIXES if name.startswith(prefix)), None)
    return found


def nondet_signed(name: str) -> bool | None:
    """Whether the input that ``name`` (meaning ``NONDET``) returns is signed, by its suffix; None: not an integer."""
    suffix = name.removeprefix("__VERIFIER_").removeprefix("nondet").removeprefix("_")
    suffix = re.sub(r"^stdin_(?:dec|hex|any|lost|size)_", "", suffix)
    if name in ("klee_int", "nondet") or suffix in _SIGNED:
        return True
    return False if suffix in _UNSIGNED else None


class LibraryEffect(Enum):
    """What a library function does to memory that the program can see."""

    NONE = "nothing"
    READS = "reads through its arguments"
    WRITES = "writes through its arguments"
    ALLOCATES = "returns fresh memory"
    MOVES = "returns fresh memory with what the memory held that its first argument points to, and ends that one's life"
    FREES = "ends the life of the memory its first argument points to"


STRING_LENGTHS: Final = frozenset(("strlen", "strnlen"))
"""Library functions that return the position of the first zero byte, below their second argument where there is one."""

SEARCHES: Final = frozenset(("strchr", "strrchr", "memchr"))
"""Library functions that return a pointer to a byte in what their first argument points to, or null for none."""

COMPARISONS: Final = frozenset(("strcmp", "strncmp", "memcmp", "bcmp"))
"""Library functions that return 0 where two texts are alike; else all that is sure is the sign, of ``bcmp`` nothing."""

SPANS: Final = frozenset(("strspn", "strcspn"))
"""Library functions that return how many bytes at the beginning of a string are, or are not, among those of another."""

SETS: Final = SPANS | {"strpbrk"}
"""Library functions that look for bytes of a string among those of another."""

WORKED_OUT: Final = STRING_LENGTHS | SEARCHES | COMPARISONS | SETS
"""Library functions whose result is worked out from what the memory holds that they read."""

ABSOLUTE_VALUES: Final = frozenset(("abs", "labs", "llabs", "imaxabs"))
DIVISIONS: Final = frozenset(("div", "ldiv", "lldiv", "imaxdiv"))
"""Library functions that compute a quotient and remainder, or an absolute value: that of the least integer, and its
quotient by -1, do not fit (C11 7.22.6), as with the operators.
"""

SIZES: Final[Mapping[str, int]] = {"strnlen": 1, "memchr": 2, "strncmp": 2, "memcmp": 2, "bcmp": 2}
"""Of these the arguments that are sizes: no more bytes than so many are read, none where it is 0."""


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """The effects of a library function.

    ``writes`` are the arguments (from 0) through which it writes; -1 stands for all from the last named one on
    (``scanf``). ``pure``: its result depends on its arguments (and what they point to) only, else the result is an
    unknown at each call. ``returns_argument``: the result is that argument. ``noreturn``: it does not come back.
    ``prints``: it writes to a file or the terminal. ``anywhere``: what it reads need not be behind its arguments.
    """

    effect: LibraryEffect
    writes: tuple[int, ...] = ()
    pure: bool = False
    returns_argument: int | None = None
    noreturn: bool = False
    prints: bool = False
    anywhere: bool = False


@dataclass(frozen=True, slots=True)
class Stub:
    """What a user's file says of a function that the program only declares (:mod:`loopless.source.stubs`).

    ``place`` is ``file:line``. ``defined``: by a body, which is then in the module, and nothing else is said here.
    ``effects``: None where nothing is said of them. ``returns``: the least and the greatest integer result.
    ``attributes``: those of LLVM that the declaration has besides.
    """

    name: str
    place: str
    defined: bool = False
    effects: LibraryFunction | None = None
    returns: tuple[int, int] | None = None
    attributes: frozenset[str] = frozenset()

    @property
    def granted(self) -> str:
        """What is taken for granted where an answer rests on this."""
        return f"{self.name} is as {'defined' if self.defined else 'declared'} in {self.place}"


_OF_FLOATS: Final = """
    sqrt cbrt pow exp exp2 expm1 log log2 log10 log1p logb ilogb sin cos tan asin acos atan atan2 sinh cosh tanh
    asinh acosh atanh floor ceil round trunc fabs fmod remainder hypot fmin fmax fdim fma lround llround lrint
    llrint rint nearbyint copysign nextafter scalbn scalbln ldexp erf erfc tgamma
"""
"""Functions of floating-point numbers, which have kin that end by ``f`` and ``l``."""
_FUNCTIONS: Final[tuple[tuple[str, LibraryFunction], ...]] = (
    (" ".join(ABSOLUTE_VALUES | DIVISIONS), LibraryFunction(LibraryEffect.NONE, pure=True)),
    (
        "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit",
        LibraryFunction(LibraryEffect.NONE, pure=True),
    ),
    (
        "tolower toupper toascii isascii ffs ffsl ffsll htonl htons ntohl ntohs",
        LibraryFunction(LibraryEffect.NONE, pure=True),
    ),
    (
        " ".join(name + kin for name in _OF_FLOATS.split() for kin in ("", "f", "l")),
        LibraryFunction(LibraryEffect.NONE, pure=True),
    ),
    ("difftime btowc wctob", LibraryFunction(LibraryEffect.NONE, pure=True)),
    ("frexp frexpf frexpl modf modff modfl", LibraryFunction(LibraryEffect.WRITES, (1,))),
    (
        "rand random lrand48 mrand48 drand48 clock getpid getppid getuid geteuid getgid getegid sysconf",
        LibraryFunction(LibraryEffect.NONE),
    ),
    ("srand srandom srand48 sleep usleep sched_yield", LibraryFunction(LibraryEffect.NONE)),
    (
        "__errno_location __error ___errno __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc",
        LibraryFunction(LibraryEffect.NONE),
    ),
    ("getchar getchar_unlocked", LibraryFunction(LibraryEffect.NONE)),
    (
        "fgetc getc ungetc feof ferror fclose fgetc_unlocked getc_unlocked feof_unlocked ferror_unlocked",
        LibraryFunction(LibraryEffect.NONE),
    ),
    (
        "clearerr clearerr_unlocked fileno fileno_unlocked fseek fseeko fseeko64 ftell ftello ftello64 rewind",
        LibraryFunction(LibraryEffect.NONE),
    ),
    ("flockfile funlockfile ftrylockfile tmpfile tmpfile64 pclose", LibraryFunction(LibraryEffect.NONE)),
    (
        "close dup dup2 dup3 lseek lseek64 isatty fsync fdatasync ftruncate ftruncate64 fchmod fchown fchdir umask",
        LibraryFunction(LibraryEffect.NONE),
    ),
    ("closedir rewinddir dirfd", LibraryFunction(LibraryEffect.NONE)),
    (
        "putchar putchar_unlocked fputc putc fputc_unlocked putc_unlocked fflush fflush_unlocked",
        LibraryFunction(LibraryEffect.NONE, prints=True),
    ),
    (
        "printf fprintf puts fputs perror fwrite vprintf vfprintf dprintf vdprintf write pwrite pwrite64",
        LibraryFunction(LibraryEffect.READS, prints=True),
    ),
    ("fputs_unlocked fwrite_unlocked __printf_chk __fprintf_chk", LibraryFunction(LibraryEffect.READS, prints=True)),
    (
        "open open64 openat openat64 creat creat64 faccessat unlink unlinkat remove rename renameat symlink",
        LibraryFunction(LibraryEffect.READS),
    ),
    (
        "mkdir mkdirat rmdir chdir chmod chown lchown mkfifo truncate utime utimes futimes futimens utimensat",
        LibraryFunction(LibraryEffect.READS),
    ),
    (
        "fopen fopen64 fdopen freopen freopen64 opendir fdopendir fsetpos nanosleep",
        LibraryFunction(LibraryEffect.READS),
    ),
    (
        "strlen strnlen strcmp strncmp strcasecmp strncasecmp strcoll memcmp bcmp strspn strcspn",
        LibraryFunction(LibraryEffect.READS, pure=True),
    ),
    ("wcslen wcsnlen wcscmp wcsncmp wmemcmp wcsspn wcscspn", LibraryFunction(LibraryEffect.READS, pure=True)),
    (
        "strchr strrchr strstr strpbrk memchr memrchr rawmemchr strchrnul",
        LibraryFunction(LibraryEffect.READS, pure=True),
    ),
    (
        "wcschr wcsrchr wcsstr wcspbrk wmemchr atoi atol atoll atof getenv",
        LibraryFunction(LibraryEffect.READS, pure=True),
    ),
    (
        "strtol strtoul strtoll strtoull strtoimax strtoumax strtod strtof strtold",
        LibraryFunction(LibraryEffect.WRITES, (1,)),
    ),
    ("wcstol wcstoul wcstoll wcstoull wcstod wcstof wcstold", LibraryFunction(LibraryEffect.WRITES, (1,))),
    (
        "wcscpy wcsncpy wcscat wcsncat wmemcpy wmemmove wmemset",
        LibraryFunction(LibraryEffect.WRITES, (0,), returns_argument=0),
    ),
    ("mbstowcs wcstombs mbtowc wctomb strxfrm strftime gethostname", LibraryFunction(LibraryEffect.WRITES, (0,))),
    (
        "memcpy memmove strcpy strncpy strcat strncat memset __memcpy_chk __memset_chk __strcpy_chk",
        LibraryFunction(LibraryEffect.WRITES, (0,), returns_argument=0),
    ),
    ("stpcpy stpncpy mempcpy bzero explicit_bzero", LibraryFunction(LibraryEffect.WRITES, (0,))),
    ("fgets gets fgets_unlocked", LibraryFunction(LibraryEffect.WRITES, (0,))),
    (
        "fread fread_unlocked time gettimeofday uname mktime timegm pipe pipe2 getcwd",
        LibraryFunction(LibraryEffect.WRITES, (0,)),
    ),
    ("sprintf snprintf vsprintf vsnprintf", LibraryFunction(LibraryEffect.WRITES, (0,))),
    ("read recv pread pread64 readlink", LibraryFunction(LibraryEffect.WRITES, (1,))),
    (
        "stat stat64 fstat fstat64 lstat lstat64 fgetpos clock_gettime clock_getres getrlimit getrusage",
        LibraryFunction(LibraryEffect.WRITES, (1,)),
    ),
    ("localtime_r gmtime_r asctime_r ctime_r strerror_r __xpg_strerror_r", LibraryFunction(LibraryEffect.WRITES, (1,))),
    ("fstatat fstatat64 readlinkat", LibraryFunction(LibraryEffect.WRITES, (2,))),
    ("fcntl fcntl64", LibraryFunction(LibraryEffect.WRITES, (2, -1))),
    ("scanf", LibraryFunction(LibraryEffect.WRITES, (1, -1))),
    ("sscanf fscanf", LibraryFunction(LibraryEffect.WRITES, (2, -1))),
    ("malloc calloc alloca aligned_alloc memalign valloc strdup strndup", LibraryFunction(LibraryEffect.ALLOCATES)),
    ("realloc reallocarray", LibraryFunction(LibraryEffect.MOVES)),
    ("_Znwm _Znam _Znwj _Znaj", LibraryFunction(LibraryEffect.ALLOCATES)),  # operator new, new[]
    ("free cfree _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm", LibraryFunction(LibraryEffect.FREES)),
    ("abort exit _exit _Exit quick_exit __assert_fail", LibraryFunction(LibraryEffect.NONE, noreturn=True)),
)

LIBRARY: Final[Mapping[str, LibraryFunction]] = {
    name: function for names, function in _FUNCTIONS for name in names.split()
}
"""Functions of C (ISO/IEC 9899:2018, clause 7) and POSIX.1-2017, with common ones of glibc, by what these say of them.

Not here: what calls back (``qsort``, ``atexit``), threads, what keeps its argument for later (``setvbuf``, ``strtok``,
``putenv``), what returns memory of its own that it writes again (``localtime``, ``strerror``, ``readdir``), what
changes variables that programs read (``getopt``), what writes behind pointers in what it is given (``getline``,
``readv``), and words that programs take for functions of their own (``send``, ``index``, ``link``).
"""


@dataclass(frozen=True, slots=True)
class LibraryResult:
    """Between what the integer lies that a library function returns: at least ``least`` and at most ``most``, or at
    most its argument number ``at_most`` (from 0), or at most the length of the string that argument number ``string``
    points to.
    """

    least: int
    most: int | None = None
    at_most: int | None = None
    string: int | None = None


RESULTS: Final[Mapping[str, LibraryResult]] = {
    **dict.fromkeys(("read", "write", "send", "readlink"), LibraryResult(-1, at_most=2)),
    **dict.fromkeys(("pread", "pread64", "pwrite", "pwrite64"), LibraryResult(-1, at_most=2)),
    **dict.fromkeys(("fread", "fwrite"), LibraryResult(0, at_most=2)),
    **dict.fromkeys(("fgetc", "getc", "getchar", "getchar_unlocked", "ungetc"), LibraryResult(-1, 255)),
    **dict.fromkeys(("fputc", "putc", "putchar", "putchar_unlocked"), LibraryResult(-1, 255)),
    **dict.fromkeys(("strlen", "strspn", "strcspn"), LibraryResult(0, string=0)),
    **dict.fromkeys(("open", "open64", "openat", "openat64", "creat", "creat64"), LibraryResult(-1, 2147483647)),
    **dict.fromkeys(("dup", "dup2", "dup3", "fileno"), LibraryResult(-1, 2147483647)),
    **dict.fromkeys(
        ("close", "fsync", "fdatasync", "ftruncate", "ftruncate64", "stat", "fstat", "lstat"), LibraryResult(-1, 0)
    ),
    **dict.fromkeys(
        ("access", "unlink", "rmdir", "mkdir", "chdir", "chmod", "chown", "fchmod", "fchown"), LibraryResult(-1, 0)
    ),
    "isatty": LibraryResult(0, 1),
    "strnlen": LibraryResult(0, at_most=1),
    **dict.fromkeys(("rand", "random", "lrand48"), LibraryResult(0, 2147483647)),
}
"""What library functions return: C (ISO/IEC 9899:2018, 7.21, 7.22 and 7.24) and POSIX, with -1 for EOF as everywhere,
bytes of 8 bits, and ``RAND_MAX`` of no more than 31 bits. Not here: ``recv``, which returns more than it is asked for
where it tells the length of a packet.
"""


RETURNS_TWICE: Final = frozenset(
    {"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "_sigsetjmp", "__sigsetjmp", "setjmpex", "_setjmpex", "savectx"}
    | {"getcontext", "vfork", "__vfork", "llvm.eh.sjlj.setjmp", "llvm.eh.sjlj.setup.dispatch"}
)
"""Functions of the C library, and intrinsics, whose calls may return more than once."""

LEAVES: Final = frozenset(
    {"longjmp", "_longjmp", "siglongjmp", "longjmperror", "__longjmp_chk", "__siglongjmp_chk"}
    | {"pthread_exit", "thrd_exit", "err", "errx", "verr", "verrx", "errc", "verrc"}
)
"""Functions of C, POSIX and BSD that never come back to where they are called, whether or not a header says so."""

_OF_FILES: Final = (
    "fgetc_unlocked getc_unlocked feof_unlocked ferror_unlocked fileno fseek fseeko fseeko64 ftell ftello "
    "ftello64 tmpfile tmpfile64 pclose close dup dup2 dup3 lseek lseek64 isatty fsync fdatasync ftruncate "
    "ftruncate64 fchmod fchown fchdir umask closedir open open64 openat openat64 creat creat64 faccessat unlink "
    "unlinkat remove rename renameat symlink mkdir mkdirat rmdir chdir chmod chown lchown mkfifo truncate utime "
    "utimes futimes futimens utimensat fopen fopen64 fdopen freopen freopen64 opendir fdopendir fsetpos nanosleep "
    "pwrite pwrite64 pread pread64 readlink readlinkat stat stat64 fstat fstat64 lstat lstat64 fstatat fstatat64 "
    "fgetpos clock_gettime clock_getres getrlimit getrusage gethostname fcntl fcntl64 pipe pipe2 getcwd uname "
    "fread_unlocked fgets_unlocked fwrite_unlocked fputs_unlocked fflush_unlocked fputc_unlocked putc_unlocked "
    "getppid geteuid getgid getegid"
)
FROM_OUTSIDE: Final = frozenset(
    {"rand", "random", "lrand48", "mrand48", "drand48", "clock", "getpid", "getuid", "sysconf", "time", "gettimeofday"}
    | {"getchar", "getchar_unlocked", "fgetc", "getc", "fgets", "gets", "fread", "read", "recv", "scanf", "fscanf"}
    | {"putchar", "putchar_unlocked", "fputc", "putc", "fputs", "puts", "fwrite", "write", "fflush", "fclose"}
    | {"printf", "fprintf", "vprintf", "vfprintf", "dprintf", "feof", "ferror"}
    | frozenset(_OF_FILES.split())
)
"""Library functions whose results come from outside of the program: what it reads, whether it can write."""

FORMATS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("printf", "vprintf"), 0),
    **dict.fromkeys(("fprintf", "dprintf", "sprintf", "vfprintf", "vdprintf", "vsprintf", "__printf_chk"), 1),
    **dict.fromkeys(("snprintf", "vsnprintf", "__fprintf_chk"), 2),
}
"""Library functions with a format that may write through further arguments (``%n``), and which argument it is."""

POINTS_INTO_FIRST: Final = frozenset(
    {"strchr", "strrchr", "strstr", "strpbrk", "memchr", "memrchr", "rawmemchr", "strchrnul"}
    | {"wcschr", "wcsrchr", "wcsstr", "wcspbrk", "wmemchr"}
)
"""Library functions whose result points into what their first argument points to, or is null."""

COMES_BACK: Final = frozenset(
    {"realloc", "reallocarray", "__errno_location", "__error", "___errno", "strerror", "strerror_r", "__xpg_strerror_r"}
    | {"open", "open64", "openat", "openat64", "creat", "creat64", "close", "pipe", "dup", "dup2", "fcntl", "fcntl64"}
    | {"lseek", "lseek64", "access", "stat", "stat64", "fstat", "fstat64", "lstat", "lstat64", "unlink", "unlinkat"}
    | {"rename", "mkdir", "rmdir", "chdir", "fchdir", "getcwd", "chmod", "fchmod", "chown", "fchown", "utimes"}
    | {"futimens", "utimensat", "fsync", "fdatasync", "isatty", "opendir", "fdopendir", "readdir", "readdir64"}
    | {"closedir", "rewinddir", "dirfd", "fileno", "clock_gettime", "localtime", "localtime_r", "gmtime", "gmtime_r"}
    | {"frexp", "frexpf", "frexpl", "ldexp", "ldexpf", "ldexpl", "memrchr", "rawmemchr", "strsep", "strtok", "strtok_r"}
    | {"fopen", "fopen64", "fdopen", "freopen", "fseek", "fseeko", "ftell", "ftello", "rewind", "setvbuf", "setbuf"}
    | {"sigaction", "signal", "sigemptyset", "sigfillset", "sigaddset", "sigdelset", "sigismember"}
    | {"__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "setlocale", "getopt", "getopt_long"}
)
"""Functions of C, POSIX and glibc whose calls come back: they end no run and call nothing of the program.

What they do to memory is not said. Not here: what calls back (``qsort``, ``atexit``), what lets signals in (``raise``,
``sigprocmask``).
"""

_RENAMED: Final = pattern(r"^(?:__isoc\d\d_|\x01_)")


_NO_STUBS: Final[Mapping[str, Stub]] = {}


def effect_of(name: str, stubs: Mapping[str, Stub] = _NO_STUBS) -> LibraryEffect | None:
    """The effect of a library function on memory, or of one that ``stubs`` tell of; None where it is not known."""
    found = library_function(name, stubs)
    return None if found is None else found.effect


def library_function(name: str, stubs: Mapping[str, Stub] = _NO_STUBS) -> LibraryFunction | None:
    r"""All effects of a library function, or of one that ``stubs`` tell of; None where they are not known.

    Headers rename some: glibc to ``__isoc99_scanf``, ``__isoc23_strtol``; macOS to ``\1_fopen``.
    """
    stub = stubs.get(name)
    if stub is not None and stub.effects is not None:
        return stub.effects
    return LIBRARY.get(_RENAMED.sub("", name))
