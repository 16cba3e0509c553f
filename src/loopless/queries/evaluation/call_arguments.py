"""The arguments of a call: what a function takes, in words, and whether given ones are that."""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.check.interpreter.expressions import byte_size
from loopless.check.interpreter.run import Argument, PointedContent, SameContent, WholeObject
from loopless.errors import UsageError
from loopless.flowgraph.model import Parameter
from loopless.queries.call_values.argument_types import Formal, SourceParameter
from loopless.queries.call_values.arguments import Characters
from loopless.queries.program import AnalyzedFunction
from loopless.refusals import Refused
from loopless.source.debug import TypeKind


def formals_of(function: AnalyzedFunction) -> tuple[Formal, ...]:
    """The parameters of a function with what the source says of their types."""
    graph, module = function.graph(), function.program.source.inlined
    assert not isinstance(graph, Refused)
    types, code = module.debug_types, module.functions[function.code.name]
    found = []
    for parameter, param in zip(graph.parameters, code.params, strict=False):
        type = param.debug.type if param.debug is not None else None
        is_pointer = type is not None and type.kind is TypeKind.POINTER
        pointee = types[type.element] if type is not None and is_pointer and type.element is not None else None
        if param.byval is not None and type is not None and type.kind is TypeKind.STRUCT:
            pointee = type
        found.append(Formal(parameter, type, pointee, types))
    return tuple(found)


def bytes_stepped(formal: Formal) -> int:
    """How many bytes a pointer steps by: 1 where what it points to has no size."""
    if formal.parameter.pointee is not None:
        return max(1, byte_size(formal.parameter.pointee))
    return max(1, formal.pointee.bits // 8) if formal.pointee is not None else 1


def in_bytes(parameter: Parameter, argument: Argument, unit: int) -> Argument:
    """The argument; an index as the interpreter counts, which knows no size of what is no integer."""
    if isinstance(argument, Characters):
        return argument.of(parameter.pointee)
    return argument * unit if parameter.shared and parameter.pointee is None and isinstance(argument, int) else argument


def check_arguments(parameters: Sequence[Parameter], arguments: Sequence[Argument], units: Sequence[int]) -> None:
    """Raises ``UsageError`` if there are too many or too few arguments, or one is not of its parameter's type.

    ``units``: the bytes that each pointer steps by.
    """
    if len(parameters) != len(arguments):
        raise UsageError(f"the function takes {arguments_of(parameters)}, not {len(arguments)}")
    first: dict[int, tuple[str, int]] = {}  # the name, and how many bytes it points to
    for parameter, argument, unit in zip(parameters, arguments, units, strict=True):
        if parameter.object is not None or parameter.null is not None:
            if parameter.shared and isinstance(argument, int) and parameter.object in first:
                name, size = first[parameter.object]
                if not 0 <= argument <= size // unit:
                    raise UsageError(
                        f"{parameter.name} is an index into what {name} points to: "
                        f"from 0 to {size // unit}, not {argument}"
                    )
                continue
            if isinstance(argument, int):
                raise UsageError(
                    f"{parameter.name} is a pointer: give what it points to as [1, 2, 3], or null, not {argument}"
                )
            if parameter.shared and parameter.object is not None and argument is not None:
                first.setdefault(parameter.object, (parameter.name, _size(argument, unit)))
            if isinstance(argument, PointedContent | bytes | bytearray):
                continue  # it was made by its type, or is what memory holds
            type = parameter.pointee
            values = argument.of(type) if isinstance(argument, Characters) else list(argument or ())
        elif parameter.type is None and parameter.var is None:
            continue  # it is no integer: nothing is known of it where the call uses it
        elif not isinstance(argument, int):
            raise UsageError(f"{parameter.name} is no pointer: give one integer")
        else:
            values, type = [argument], parameter.type
        for value in values:
            if type is not None and type != t.INTEGERS and not type.holds(value):
                raise UsageError(f"{value} is not in the range of {_declared(parameter)}: {type.min} to {type.max}")


def _size(argument: bytes | bytearray | PointedContent | Sequence[int], unit: int) -> int:
    """How many bytes what a pointer points to has."""
    if isinstance(argument, PointedContent):
        return len(argument.content)
    return len(argument) * (1 if isinstance(argument, bytes | bytearray) else unit)


def arguments_of(parameters: Sequence[Parameter]) -> str:
    """How many arguments there are, and which."""
    return arguments_in_words([_declared(parameter) for parameter in parameters])


def arguments_in_words(declared: Sequence[str]) -> str:
    """How many arguments there are, and which, as they are declared."""
    return f"{len(declared)} argument{'' if len(declared) == 1 else 's'} ({', '.join(declared) or 'none'})"


def declared_as(given: SourceParameter) -> str:
    """A parameter as the source declares it."""
    type, pointee = given.formal.type, given.formal.pointee
    if given.is_structure and type is not None:
        return f"{type.description} {given.formal.name}"
    if given.formal.parameter.pointee is None and pointee is not None:
        space = "" if pointee.description.endswith("*") else " "
        return f"{pointee.description}{space}{'' if pointee is type else '*'}{given.formal.name}"
    return _declared(given.formal.parameter)


def _declared(parameter: Parameter) -> str:

    if parameter.object is not None or parameter.null is not None:
        return f"{t.type_name(parameter.pointee) if parameter.pointee is not None else 'void'} *{parameter.name}"
    if parameter.type is None:
        return parameter.name
    return f"{'_Bool' if parameter.type.width == 1 else t.type_name(parameter.type)} {parameter.name}"


def memory_before(formal: Formal, value: Argument) -> WholeObject | None:
    """What a pointer points to before the call."""
    type = formal.parameter.pointee
    if isinstance(value, bytes | bytearray | PointedContent):
        return _held(value)
    if value is None or isinstance(value, int) or type is None:
        return None
    size = byte_size(type)
    return WholeObject(b"".join((part % (1 << 8 * size)).to_bytes(size, "little") for part in value))


def _held(value: bytes | bytearray | PointedContent) -> WholeObject:
    if isinstance(value, PointedContent):
        inner = {at: None if isinstance(one, SameContent) else _held(one) for at, one in value.pointers}
        return WholeObject(value.content, inner)
    return WholeObject(bytes(value))
