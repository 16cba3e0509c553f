"""Which variable in memory is a parameter: the one that it is copied to before anything else, and only there."""

from __future__ import annotations

import pytest

from loopless.flowgraph.memory.objects import Options, describe_memory
from loopless.flowgraph.memory.places import Base
from loopless.flowgraph.memory.stack_slots import stack_slot_of
from runs_of_text import came_out, flowgraph, module


def slots(text: str) -> dict[str, tuple[str, int] | None]:
    """By parameter the local and the offset in it that are the parameter."""
    found = module(text)
    function = found.functions["f"]
    memory = describe_memory(function, found, Options())
    held = {param.name: stack_slot_of(param, function, memory) for param in function.params}
    assert all(at is None or at[0].kind == "local" for at in held.values())
    return {name: None if at is None else (at[0].name, at[1]) for name, at in held.items()}


def assembly(body: str, parameters: str = "i32 %x") -> str:
    return f"\ndefine i32 @f({parameters}) {{\nentry:\n  %a = alloca i32\n  %b = alloca i32\n  %s = alloca {{i32, i32}}\n{body}\n}}\n"


READ = "  %r = load i32, ptr %a\n  ret i32 %r"


@pytest.mark.parametrize(
    ("body", "slot"),
    [
        (f"store i32 %x, ptr %a\n{READ}", ("a", 0)),
        (f"store i32 0, ptr %b\nstore i32 %x, ptr %a\n{READ}", ("a", 0)),
        (f"store i32 %x, ptr %a\nstore i32 7, ptr %a\n{READ}", ("a", 0)),
        # It holds something else before, or what it is copied to is no variable.
        (f"store i32 5, ptr %a\nstore i32 %x, ptr %a\n{READ}", None),
        (f"%h = load i32, ptr %a\nstore i32 %x, ptr %a\n{READ}", None),
        (f"store volatile i32 %x, ptr %a\n{READ}", None),
        # It is used elsewhere, too, or not stored at all.
        (f"store i32 %x, ptr %a\nstore i32 %x, ptr %b\n{READ}", None),
        (f"store i32 %x, ptr %a\n%y = add i32 %x, 1\n{READ}", None),
        ("%y = add i32 %x, 1\nret i32 %y", None),
        ("ret i32 3", None),
        (f"store i32 %x, ptr %a\nbr label %next\nnext:\n%y = phi i32 [ %x, %entry ]\n{READ}", None),
        # It is copied later.
        (f"br label %next\nnext:\nstore i32 %x, ptr %a\n{READ}", None),
    ],
)
def test_integers(body: str, slot: tuple[str, int] | None) -> None:
    assert slots(assembly(body)) == {"x": slot}


def test_an_address_is_not_a_copy() -> None:
    body = "store ptr %x, ptr %a\n%v = load i32, ptr %x\nret i32 %v"
    assert slots(assembly(body, "ptr %x")) == {"x": None}
    assert slots(assembly("store i32 3, ptr %x\nret i32 0", "ptr %x")) == {"x": None}


PIECES = "%first = getelementptr i8, ptr %s, i64 0\n%second = getelementptr i8, ptr %s, i64 4\n"
WHOLE = "%u = load i32, ptr %s\n%v = load i32, ptr %second\n%w = add i32 %u, %v\nret i32 %w"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{PIECES}store i32 %x, ptr %first\nstore i32 %y, ptr %second\n{WHOLE}", {"x": ("s", 0), "y": ("s", 4)}),
        (f"{PIECES}store i32 %x, ptr %second\nstore i32 %y, ptr %first\n{WHOLE}", {"x": ("s", 4), "y": ("s", 0)}),
        # Before the second is stored: something else than a parameter; a call; the same place.
        (f"{PIECES}store i32 %x, ptr %first\nstore i32 7, ptr %b\nstore i32 %y, ptr %second\n{WHOLE}", {"x": ("s", 0), "y": None}),
        (f"{PIECES}store i32 %x, ptr %first\n%h = load i32, ptr %s\nstore i32 %y, ptr %second\n{WHOLE}", {"x": ("s", 0), "y": None}),
        (f"{PIECES}store i32 %x, ptr %second\nstore i32 %y, ptr %second\n{WHOLE}", {"x": ("s", 4), "y": None}),
    ],
)  # fmt: skip
def test_structures_in_pieces(body: str, expected: dict[str, tuple[str, int] | None]) -> None:
    assert slots(assembly(body, "i32 %x, i32 %y")) == expected


def test_the_same_in_c() -> None:
    text = (
        "struct two { long a; int b; }; int f(int n, unsigned char c, int *p, int *q, struct two t) {\n"
        "if (!q) return 0; n += c; p++; return n + *p + *q + t.b + (int)t.a; }"
    )
    found = slots(text)
    assert found["n"] is not None and found["c"] is not None and found["p"] is not None
    assert found["q"] is None  # it may be null, which no variable of the offset says
    names = {p.var.name for p in flowgraph(text).parameters if p.var is not None}
    assert {"t.a", "t.b"} <= names


def test_a_pointer_that_moves_on_is_its_variable_and_one_that_changes_objects_is_not() -> None:
    assert slots("int f(int *p) { p++; return *p; }")["p"] is not None
    assert slots("int f(int *p, int n) { int x = 3; if (n) p = &x; return *p; }")["p"] is None


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("int f(int n) { int before = n; n = 7; return before * 10 + n; }", (3,), 37),
        ("struct two { int a, b; }; int f(struct two t) { t.a += t.b; return t.a; }", (5 + (6 << 32),), 11),
        (assembly("store i32 5, ptr %a\n%h = load i32, ptr %a\nstore i32 %x, ptr %a\n%i = load i32, ptr %a\n"
                  "%r = mul i32 %h, %i\nret i32 %r"), (3,), 15),
        (assembly(f"{PIECES}store i32 %x, ptr %second\nstore i32 %y, ptr %second\nstore i32 0, ptr %s\n{WHOLE}",
                  "i32 %x, i32 %y"), (3, 4), 4),
    ],
)  # fmt: skip
def test_runs(text: str, arguments: tuple[int, ...], expected: int) -> None:
    assert came_out(text, *arguments) == expected


def test_the_place_of_a_slot_is_one_of_the_memory() -> None:
    found = module("int f(int n) { return n; }")
    function = found.functions["f"]
    memory = describe_memory(function, found, Options())
    slot = stack_slot_of(function.params[0], function, memory)
    assert slot in memory.slots and slot is not None and slot[0] in memory.promoted and isinstance(slot[0], Base)
