"""``compile_commands.json``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loopless.errors import SourceError
from loopless.source import SourceOptions, load
from loopless.source.database import CompileDatabase, meaningful_flags


@pytest.fixture
def project(write, tmp_path: Path) -> Path:
    write("src/a.c", '#include <conf.h>\n#include "gen.h"\nint a = CONF + GEN; char c = -1; int up = (char)-1 > 0;\n')
    write("src/b.c", "int b = B; unsigned long w = sizeof(long); int pre = PRE;\n")
    write("src/c.c", "int c;\n")
    write("include/conf.h", "#define CONF 40\n")
    write("build/gen.h", "#define GEN 2\n")
    write("build/pre.h", "#define PRE 6\n")
    write("build/flags.rsp", "-DB=5 -include pre.h")
    entries = [
        {
            "directory": str(tmp_path / "build"),
            "file": "../src/a.c",
            "arguments": [
                "ccache",
                "gcc",
                "-I../include",
                "-I",
                ".",
                "-funsigned-char",
                "-O3",
                "-Wall",
                "-Werror",
                "-MMD",
                "-MF",
                "a.d",
                "-c",
                "../src/a.c",
                "-o",
                "a.o",
                "-fno-allow-store-data-races",
                "-march=native",
            ],
        },
        {
            "directory": "build",
            "file": str(tmp_path / "src/b.c"),
            "command": f"cc -m32 @flags.rsp -DX='\"a b\"' -o b.o -c {tmp_path}/src/b.c",
        },
        {"directory": "build", "file": str(tmp_path / "src/b.c"), "command": "cc -DB=99 -c b.c"},
    ]
    write("compile_commands.json", json.dumps(entries))
    return tmp_path


def test_both_forms_and_directories(project):
    for database in (project, project / "compile_commands.json"):
        options = SourceOptions(compile_database=database)
        a = load(project / "src/a.c", options).module.globals
        assert a["a"].initializer.value == 42 and a["up"].initializer.value == 1
        assert a["a"].debug.declared.file == str(project / "src/a.c")
        b = load(project / "src/b.c", options)
        assert (b.module.globals["b"].initializer.value, b.module.globals["pre"].initializer.value) == (5, 6)
        assert (b.module.globals["w"].initializer.value, b.data_model) == (4, "ILP32")


def test_the_users_data_model_wins(project):
    options = SourceOptions(compile_database=project, data_model="LP64")
    assert load(project / "src/b.c", options).module.globals["w"].initializer.value == 8


def test_a_relative_path(project, monkeypatch):
    monkeypatch.chdir(project / "src")
    program = load("a.c", SourceOptions(compile_database=Path("..")))
    assert program.module.globals["a"].debug.declared.file == "a.c"


def test_the_files_in_order(project):
    names = [f.name for f in CompileDatabase(project).files]
    assert names == ["a.c", "b.c"]


def test_a_file_that_is_not_in_it(project):
    with pytest.raises(SourceError, match=r"c\.c is not in the compile database .*compile_commands\.json \(-p\)"):
        load(project / "src/c.c", SourceOptions(compile_database=project))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot find the compile database"),
        ("{", "is not JSON"),
        ("{}", "is not a list"),
        ("[{}]", "entry 1 .* names no file"),
        ('[{"file": "a.c", "directory": "."}]', "neither arguments nor a command"),
        ('[{"file": "a.c", "directory": ".", "command": "cc \'"}]', "cannot be split"),
    ],
)
def test_broken_databases(write, content, message):
    path = write("t.c", "int x;")
    if content is not None:
        write("compile_commands.json", content)
    with pytest.raises(SourceError, match=message):
        load(path, SourceOptions(compile_database=path.parent))


def test_which_flags_matter():
    words = (
        "-I a -Ib -DX -D Y=1 -U Z -isystem s -std=gnu11 -include p.h -fwrapv -pthread -x c++ -O2 -Wall -g -c f.c -o f.o"
    )
    words += " -MF d -fstack-protector -flto -march=x --sysroot=/s -fsanitize=address -L. -lfoo --target=arm-none-eabi"
    flags, special = meaningful_flags(words.split())
    expected = "-I a -Ib -DX -D Y=1 -U Z -isystem s -std=gnu11 -include p.h -fwrapv -pthread --sysroot=/s"
    assert flags == tuple(expected.split())
    assert special == {"language": "c++", "target": "arm-none-eabi"}
