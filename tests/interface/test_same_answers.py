"""The answers of the Python interface are those of the command line."""

from __future__ import annotations

import pytest

import loopless
from asked_both_ways import asked, command, loaded, untimed

pytestmark = pytest.mark.slow  # each asks twice, once by the command

FILES = (
    "examples/looperman/fig1.c",
    "examples/looperman/fig3.c",
    "examples/proteus/fig1a.c",
    "examples/cases/unsigned_wrap.c",
    "examples/cases/read_until.c",
    "examples/cases/never_ends.c",
)


def answer_of(held, loop) -> dict:
    """The JSON of an answer, or what there is of it where it is refused."""
    if isinstance(held, loopless.Refused):
        return {"name": loop.name, "refused": held.to_dict()}
    return untimed(held.to_dict())


@pytest.mark.parametrize("file", FILES)
def test_summaries_are_those_of_the_command(file):
    told = asked("summarize", file)["loops"]
    program = loaded(file)
    assert [loop.name for loop in program.loops] == [entry["name"] for entry in told]
    for loop, held, entry in zip(program.loops, program.summarize(), told, strict=True):
        shown = answer_of(held, loop)
        assert shown == {key: entry[key] for key in shown}
        assert loop.summarize() is held
    assert "\n\n".join(map(str, program.summarize())) + "\n" == command("summarize", file)


@pytest.mark.parametrize("file", FILES)
def test_summaries_of_functions_are_those_of_the_command(file):
    told = asked("summarize", file, "--whole")["functions"]
    for function, entry in zip(loaded(file), told, strict=True):
        held = function.summarize()
        shown = answer_of(held, function)
        assert shown == {key: entry[key] for key in shown}
        assert f"{held}\n" == command("summarize", file, "--whole", "--function", function.name)


@pytest.mark.parametrize("file", FILES)
def test_types_are_those_of_the_command(file):
    for loop, entry in zip(loaded(file).loops, asked("classify", file)["loops"], strict=True):
        held = loop.classify()
        assert entry["type"] == (None if isinstance(held, loopless.Refused) else held.type)


@pytest.mark.parametrize("file", FILES)
def test_bounds_are_those_of_the_command(file):
    told = asked("bound", file)
    program = loaded(file)
    assert [untimed(loop.bound().to_dict()) for loop in program.loops] == told["loops"]
    assert [untimed(function.bound().to_dict()) for function in program] == told["functions"]
    assert [bound.name for bound in program.bound()] == [function["name"] for function in told["functions"]]
    assert "\n\n".join(str(bound) for bound in program.bound()) + "\n" == command("bound", file)
    for loop in program.loops:
        assert f"{loop.bound()}\n" == command("bound", file, "--loop", loop.name)


def test_bounds_at_values_are_those_of_the_command():
    file = "examples/looperman/fig3.c"
    told = asked("bound", file, "--at", "n=100")
    function = loaded(file)["bubble_sort"]
    assert [loop.bound().at(n=100) for loop in function] == [entry["value"] for entry in told["loops"]] == [99, 4950]
    assert function.bound().at(n=100) == told["functions"][0]["value"] == 99 + 4950
    assert untimed(function.bound().to_dict(at={"n": 100})) == told["functions"][0]
    assert function.bound().text(at={"n": 100}) + "\n" == command("bound", file, "--at", "n=100")


def test_bounds_by_the_algorithm_alone_are_those_of_the_command():
    file = "examples/looperman/fig2.c"
    told = asked("bound", file, "--method", "looperman")["loops"]
    assert [untimed(loop.bound("looperman").to_dict()) for loop in loaded(file).loops] == told


def test_pictures_are_those_of_the_command():
    file = "examples/proteus/fig1a.c"
    (loop,) = loaded(file).loops
    automaton = loop.automaton()
    assert automaton.svg() == automaton._repr_svg_() == command("summarize", file, "--format", "svg")
    assert str(automaton) == command("summarize", file, "--format", "dot")
    assert loop.summarize().smtlib() == command("summarize", file, "--format", "smtlib")
    assert len(automaton.automaton.states) == 3


def test_variables_and_assumptions_are_those_of_the_command():
    file = "examples/proteus/fig1a.c"
    (loop,) = loaded(file).loops
    (told,) = asked("summarize", file, "--vars", "x", "--assume", "z > n")["loops"]
    assert untimed(loop.summarize(vars="x", assume="z > n").to_dict()) == told
    assert loop.summarize(["x"], "z > n") is loop.summarize(vars="x", assume="z > n")
    assert loop.summarize(["x"], "z > n") is not loop.summarize(["x"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("f", 3, 4), ("3", "4")),
        (("sum", [1, 2, 3], 3), ("[1,2,3]", "3")),
        (("length", "four"), ('"four"',)),
        (("count", 5), ("5",)),
        (("sum", [1], 2), ("[1]", "2")),
        (("f", 2**31 - 1, 2**31 - 1), (str(2**31 - 1), str(2**31 - 1))),
    ],
)
def test_evaluations_are_those_of_the_command(program, arguments, words):
    function, *values = arguments
    told = asked("eval", program.files[0], function, *words)
    held = program[function].evaluate(*values)
    assert held.to_dict() == {key: told[key] for key in held.to_dict()}
    assert f"{held}\n" == command("eval", program.files[0], function, *words)
