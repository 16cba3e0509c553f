"""``dataclass`` as the standard library has it, with methods that are compiled when they are first used.

The standard library compiles the methods of each class while its module is imported: 0.9 ms for a frozen class with
slots, half of the start of a command that has some 300 of them and uses a fifth. Here the class is made by the standard
library without methods, and each method is compiled from the same text when it is first called. What is asked of
dataclasses elsewhere (``replace``, ``fields``, ``field``, patterns, pickles) works on these classes unchanged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass

__all__ = ["dataclass"]

if not TYPE_CHECKING:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        eq: bool = True,
        repr: bool = True,
        **others: Any,
    ) -> Any:
        """The class with the methods of a dataclass.

        Parameters as :func:`dataclasses.dataclass` has them. Classes with ``others`` (``order``, ``kw_only``) are left
        to the standard library.
        """
        if cls is None:
            return lambda one: dataclass(one, frozen=frozen, slots=slots, eq=eq, repr=repr, **others)
        if others:
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, eq=eq, repr=repr, **others)
        own = set(vars(cls))
        has_hash = cls.__dict__.get("__hash__") is not None
        made = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots)
        fields = dataclasses.fields(made)
        methods: dict[str, Callable[[], Callable[..., Any]]] = {"__init__": lambda: _init(made, fields, frozen=frozen)}
        if repr:
            methods["__repr__"] = lambda: _repr(fields)
        if eq:
            methods["__eq__"] = lambda: _eq(fields)
            if not frozen and not has_hash:
                made.__hash__ = None
            elif frozen and not has_hash:
                methods["__hash__"] = lambda: _hash(fields)
        for name, compiled in methods.items():
            if name not in own or name == "__hash__":
                _later(made, name, compiled)
        if frozen:
            _freeze(made, frozenset(field.name for field in fields))
            if slots:
                _pickle(made, tuple(field.name for field in fields), own)
        return made


def _later(cls: type, name: str, compiled: Callable[[], Callable[..., Any]]) -> None:
    """Give the class a method that puts the compiled one in its place when it is first called."""

    def first(self: Any, *args: Any, **kwargs: Any) -> Any:
        method = compiled()
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
        return method(self, *args, **kwargs)

    first.__name__ = name
    setattr(cls, name, first)


def _compiled(name: str, parameters: str, body: list[str], known: dict[str, Any]) -> Callable[..., Any]:
    text = "\n    ".join((f"def {name}({parameters}):", *body))
    exec(text, known)  # noqa: S102  the text has names of fields only
    method: Callable[..., Any] = known[name]
    return method


def _init(cls: type, fields: tuple[Field[Any], ...], *, frozen: bool) -> Callable[..., Any]:
    known: dict[str, Any] = {"_put": object.__setattr__, "_missing": MISSING}
    parameters, body = ["self"], []
    for index, field in enumerate(fields):
        name, value, default = field.name, field.name, f"_default_{index}"
        makes = field.default_factory is not MISSING
        if makes:
            known[default] = field.default_factory
        elif field.default is not MISSING:
            known[default] = field.default
        if field.init:
            if makes:
                parameters.append(f"{name}=_missing")
                value = f"{default}() if {name} is _missing else {name}"
            else:
                parameters.append(f"{name}={default}" if default in known else name)
        elif default in known:
            value = f"{default}()" if makes else default
        else:
            continue
        if not frozen:
            body.append(f"self.{name} = {value}")
        elif isinstance(slot := getattr(cls, name, None), MemberDescriptorType):
            known[f"_put_{index}"] = slot.__set__  # a quarter faster than object.__setattr__, which looks it up
            body.append(f"_put_{index}(self, {value})")
        else:
            body.append(f"_put(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    return _compiled("__init__", ", ".join(parameters), body or ["pass"], known)


def _values(owner: str, fields: list[Field[Any]]) -> str:
    return f"({''.join(f'{owner}.{field.name}, ' for field in fields)})"


def _eq(fields: tuple[Field[Any], ...]) -> Callable[..., Any]:
    compared = [field for field in fields if field.compare]
    body = [
        "if other.__class__ is not self.__class__:",
        "    return NotImplemented",
        f"return {_values('self', compared)} == {_values('other', compared)}",
    ]
    return _compiled("__eq__", "self, other", body, {})


def _hash(fields: tuple[Field[Any], ...]) -> Callable[..., Any]:
    hashed = [field for field in fields if (field.compare if field.hash is None else field.hash)]
    return _compiled("__hash__", "self", [f"return hash({_values('self', hashed)})"], {})


def _repr(fields: tuple[Field[Any], ...]) -> Callable[..., Any]:
    shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in fields if field.repr)
    return recursive_repr()(_compiled("__repr__", "self", [f"return self.__class__.__qualname__ + f'({shown})'"], {}))


def _freeze(cls: type, names: frozenset[str]) -> None:
    """Let nobody set or delete a field."""

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)  # type: ignore[arg-type]

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)  # type: ignore[arg-type]

    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__  # type: ignore[assignment,method-assign]


def _pickle(cls: type, names: tuple[str, ...], own: set[str]) -> None:
    """Let pickles of frozen values with slots be read, which would set their fields otherwise."""

    def __getstate__(self: Any) -> list[Any]:  # noqa: N807
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:  # noqa: N807
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    for method in (__getstate__, __setstate__):
        if method.__name__ not in own:
            setattr(cls, method.__name__, method)
