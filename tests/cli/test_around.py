"""What stands around the answers: help, names of commands, standard input, files of defaults, messages of the compiler."""

from __future__ import annotations

import click
import pytest

from loopless.cli.app import COMMANDS, command_of, run
from loopless.refusals import Reason

SOURCE = "int f(int n) { int i = 0; while (i < N) i += 2; return i; }\n"


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The status of a command in this process, and what it prints on both streams."""
    status = run(list(words))
    out, err = capsys.readouterr()
    return status, out, err


def test_help_is_that_of_the_command(capsys):
    status, out, _ = said(capsys, "help", "bound")
    assert (status, out) == (0, said(capsys, "bound", "--help")[1])
    assert said(capsys, "help")[1] == said(capsys, "--help")[1]
    assert said(capsys, "-V") == said(capsys, "--version")


@pytest.mark.parametrize("words", [["sumarize", "a.c"], ["help", "sumarize"]])
def test_a_command_that_may_be_meant(words, capsys):
    status, out, err = said(capsys, *words)
    assert (status, out) == (2, "")
    assert err.startswith("loopless: No such command 'sumarize'; did you mean summarize?")


@pytest.mark.parametrize("words", [["fuzz", "--only", "loops"], ["help", "fuzz"]])
def test_the_campaign_is_a_tool_of_its_own(words, capsys):
    status, out, err = said(capsys, *words)
    assert (status, out) == (2, "")
    where = "loopless-fuzz; install it from the repository with pip install ./tools/fuzz (see loopless "
    assert err.startswith(f"loopless: fuzz is a tool of its own, {where}")
    assert err.count("\n") == 1


def test_explain_lists_all_refusals(capsys):
    status, out, _ = said(capsys, "explain")
    assert status == 0
    assert [line.split()[:2] for line in out.splitlines()] == [[reason.code, reason.label] for reason in Reason]


def test_the_page_for_man_has_all_commands_and_options(capsys):
    status, out, _ = said(capsys, "help", "--man")
    assert status == 0
    assert out.startswith(".TH LOOPLESS 1 ")
    for name in COMMANDS:
        section = out[out.index(f".SS loopless {name} ") :].split(".SS", 2)[1]
        for option in (param for param in command_of(name).params if isinstance(param, click.Option)):
            assert option.opts[0].replace("-", "\\-") in section
    assert not [line for line in out.splitlines() if line.startswith("'")]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell, capsys, monkeypatch):
    monkeypatch.setenv("COMP_WORDS", "loopless sum")
    monkeypatch.setenv("COMP_CWORD", "1" if shell != "fish" else "sum")
    for asked, answer in (("source", "_LOOPLESS_COMPLETE"), ("complete", "summarize")):
        monkeypatch.setenv("_LOOPLESS_COMPLETE", f"{shell}_{asked}")
        with pytest.raises(SystemExit, match="0"):
            run([])
        assert answer in capsys.readouterr().out


def test_standard_input_is_a_file(run):
    done = run("summarize", "-", "--", "-DN=n", stdin=SOURCE)
    assert done.stdout.startswith("-:f:1:27: exact, complete")
    assert run("eval", "-", "f", "9", "--", "-DN=n", stdin=SOURCE).stdout.startswith("returns 10\n")
    cxx = "template <class T> T g(T n) { T i = 0; while (i < n) ++i; return i; }\nint f(int n) { return g(n); }\n"
    assert run("loops", "-", "-x", "c++", stdin=cxx).stdout.startswith("-:g<int>:1:40")


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        (["loops", "-"], "", "standard input is empty"),
        (["loops", "-", "-"], SOURCE, "- is standard input, which is read once: name it once"),
        (["verify", "-"], SOURCE, "a judge reads the files by themselves: write standard input to a file first"),
        (["eval", "-", "f", "--stream"], SOURCE, "- is the program on standard input, and --stream has calls there"),
        (
            ["loops", "-"],
            'int f(void) { return a; }\n#line 7 "b.c"\nint g(void) { return b; }\n',
            "cannot compile -:1:22: use of undeclared identifier 'a'\n  b.c:7:22: use of undeclared identifier 'b'\n",
        ),
    ],
)
def test_standard_input_that_is_no_program(words, text, message, run):
    done = run(*words, stdin=text)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"loopless: {message}")


def test_defaults_come_from_the_nearest_file(tmp_path, run):
    inside = tmp_path / "src"
    (inside / "include").mkdir(parents=True)
    (inside / "a.c").write_text(f'#include "n.h"\n{SOURCE}', encoding="utf-8")
    (inside / "include" / "n.h").write_text("#define N n\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.loopless]\nflags = ["-Isrc/include"]\nloop-timeout = 5\n[tool.loopless.loops]\nformat = "json"\n',
        encoding="utf-8",
    )
    assert run("loops", "a.c", cwd=inside).stdout.startswith("{")
    assert run("loops", "a.c", "--format", "text", cwd=inside).stdout.startswith("a.c:f:2:27  type 1")
    (inside / "loopless.toml").write_text('flags = ["-DN=0"]\n', encoding="utf-8")
    assert "'n.h' file not found" in run("loops", "a.c", cwd=inside).stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("loop-timeot = 3", "there is no option loop-timeot; did you mean loop-timeout?"),
        ("[bound]\nvars = 'x'", "bound has no option vars"),
        ("[sumarize]\nvars = 'x'", "there is no option sumarize; did you mean summarize?"),
        ("wrapv = 3", "wrapv is true or false, not 3"),
        ("loop-timeout = -3", "loop-timeout: '-3' is no time: give seconds, more than 0 and at most 1000000"),
        ("format = ['text']", "format cannot be ['text']"),
        ("clang = './cc'", "a file does not choose the compiler; write --clang on the command line"),
        (
            "[verify]\nwitness = '..'",
            "a file does not choose where something is written; write --witness on the command line",
        ),
        ("flags = ['-DN', '-include']", "flags has -include without a path behind it"),
        ("flags = ['-fplugin=x.so']", "flags has -fplugin=x.so, and takes only -D, -U, -I,"),
        ("flags = '-DN'", 'flags are a list of texts, as ["-DN=10", "-Iinclude"]'),
    ],
)
def test_a_file_of_defaults_that_means_nothing(text, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loopless.toml").write_text(text, encoding="utf-8")
    status, out, err = said(capsys, "loops", "a.c")
    assert (status, out) == (2, "")
    assert err.startswith(f"loopless: {tmp_path / 'loopless.toml'}: {message}")
    assert err.count("\n") == 1
