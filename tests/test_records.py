"""``records.dataclass`` against the standard library's, which decides what is right."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from loopless import records

T = TypeVar("T")
Decorate = Callable[..., Any]
KINDS = ({}, {"slots": True}, {"frozen": True}, {"frozen": True, "slots": True})
"""The options with which classes are made."""
BOTH = (dataclasses.dataclass, records.dataclass)


def pairs(decorate: Decorate, **options: Any) -> Any:
    """A class with fields of all kinds."""

    @decorate(**options)
    class Pair:
        """Two values, and more."""

        first: int
        second: Any = "b"
        third: list[int] = field(default_factory=list)
        apart: int = field(default=7, compare=False, repr=False)
        made: int = field(init=False, default=3)
        count: ClassVar[int] = 5

        @property
        def both(self) -> tuple[Any, ...]:
            """What a property of it gives."""
            return self.first, self.second

    return Pair


def behaviour(call: Callable[[], Any]) -> Any:
    """The value, or the kind of the exception with its words where the standard library's are not about a name."""
    try:
        return call()
    except (TypeError, AttributeError) as error:
        return type(error), str(error).replace("pairs.<locals>.", "")


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_it_behaves_as_the_standard_library_s(options: dict[str, Any]) -> None:
    seen = []
    for decorate in BOTH:
        cls = pairs(decorate, **options)
        one, same = cls(1), cls(1, apart=8)
        seen.append(
            [
                repr(one),
                one == same,
                one != cls(2),
                one == (1, "b"),
                behaviour(lambda cls=cls: hash(cls(1, 2, ()))),  # type: ignore[misc]
                behaviour(cls),
                behaviour(lambda cls=cls: cls(1, 2, [], 4, 5)),  # type: ignore[misc]
                behaviour(lambda cls=cls: cls(1, other=2)),  # type: ignore[misc]
                cls.__match_args__,
                [(f.name, f.init, f.compare) for f in dataclasses.fields(cls)],
                repr(dataclasses.replace(one, second=4)),
                dataclasses.asdict(one),
                one.both,
                cls(1).third is not cls(1).third,
                cls.__doc__,
                hasattr(one, "__dict__"),
                behaviour(lambda one=one: setattr(one, "first", 9)),  # type: ignore[misc]
                behaviour(lambda one=one: delattr(one, "second")),  # type: ignore[misc]
            ]
        )
    assert seen[0] == seen[1]


def test_options_that_are_seldom_used_are_the_standard_library_s() -> None:
    @records.dataclass(frozen=True, order=True)
    class Ordered:
        """Compared by its field."""

        value: int

    assert Ordered(1) < Ordered(2)


@records.dataclass(frozen=True, slots=True)
class Base(Generic[T]):
    """What is inherited from."""

    value: T

    def doubled(self) -> Any:
        """Twice the value."""
        return (self.value, self.value)


@records.dataclass(frozen=True, slots=True)
class Derived(Base[int]):
    """One field more, and a check."""

    more: str = ""
    seen: list[str] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        self.seen.append(self.more)


@records.dataclass(frozen=True, slots=True, eq=False)
class Identity:
    """Equal to itself only."""

    value: int


@records.dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """With words of its own."""

    value: int

    def __repr__(self) -> str:
        return "shown"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shown)

    def __hash__(self) -> int:
        return 17


def test_classes_inherit() -> None:
    one = Derived(1, "x")
    assert one.doubled() == (1, 1)
    assert one.seen == ["x"]
    assert one != Base(1)
    assert {one: 5}[Derived(1, "x")] == 5
    with pytest.raises(FrozenInstanceError):
        one.value = 2  # type: ignore[misc]


def test_what_a_class_defines_itself_stays() -> None:
    assert Identity(1) != Identity(1)
    assert len({Identity(1), Identity(1)}) == 2
    assert repr(Shown(1)) == "shown"
    assert Shown(1) == Shown(2)
    assert hash(Shown(1)) == 17


def test_values_are_pickled_and_matched() -> None:
    one = Derived(4, "y")
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert again.seen == ["y"]
    match again:
        case Derived(value, more, _):
            assert (value, more) == (4, "y")


def test_a_method_that_a_subclass_inherits_is_compiled_for_its_class() -> None:
    class Plain(Derived):
        __slots__ = ()

    assert Plain(3).value == 3
    assert Derived(3).value == 3
    assert Plain(3) != Derived(3)


def test_a_value_that_holds_itself_can_be_shown() -> None:
    one = pairs(records.dataclass)(1)
    one.second = one
    assert "second=..." in repr(one)


def test_the_package_uses_it_everywhere() -> None:
    sources = Path(records.__file__).parent
    direct = {
        path.name
        for path in sources.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("from dataclasses import") and "dataclass" in line.split(" import ", 1)[1].split(", ")
    }
    assert direct == set()
