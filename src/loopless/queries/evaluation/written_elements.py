"""The elements that a summary says are written, with their values, for a call whose memory is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from loopless import terms as t
from loopless.check.interpreter.services import Extent, Written
from loopless.logic import Intervals, feasible
from loopless.terms.contents import INDEX, Contents, Layer, arrays_in
from loopless.terms.evaluate import Valuation


def written_elements(
    contents: Contents, values: Mapping[t.Var, int], before: t.Reader, extent: Callable[[str], Extent]
) -> list[Written]:
    """What is written to memory where it comes to hold ``contents`` over what ``before`` reads: later elements count.

    Raises :class:`.EvaluationError` where not all of that is known, where it is not inside of the objects, or where two
    names are of one object.
    """
    names = {*contents, *(array for array in arrays_in(contents) if not array.endswith(t.STREAM))}
    extents = {array: extent(array) for array in names}
    if any(extents[array].storage.constant for array in contents):
        raise t.EvaluationError("a constant is written")
    if len({id(one.storage) for one in extents.values()}) < len(extents):
        raise t.EvaluationError("two names are of one object")
    here = Valuation(values, before)
    return [
        element
        for array, layers in contents.items()
        for layer in reversed(layers)
        for element in _of_layer(array, layer, values, here, before, extents[array])
    ]


def _of_layer(
    array: str, layer: Layer, values: Mapping[t.Var, int], here: Valuation, before: t.Reader, extent: Extent
) -> Iterator[Written]:
    start = here.evaluate(layer.start)
    where = _known(layer.where, values, here)
    inside = Intervals((where,))
    if not inside.possible or not feasible(where, solver=False):
        return
    if layer.value is None:
        raise t.EvaluationError(f"what {array} holds is not known")
    low, high = -(-(extent.low - start) // layer.stride), (extent.high - layer.size - start) // layer.stride
    if feasible(where & (INDEX.lt(low) | INDEX.gt(high)), solver=False):
        raise t.EvaluationError(f"elements outside of {array} are written")
    first, last = inside.range_of(INDEX)
    low, high = low if first is None else max(low, first), high if last is None else min(high, last)
    needed = {var: values[var] for var in layer.value.variables | where.variables if var is not INDEX}
    for index in range(low, high + 1):
        there = Valuation({**needed, INDEX: index}, before)
        if there.holds(where):
            value = there.evaluate(layer.value)
            if not layer.type.holds(value):
                raise t.EvaluationError(f"{value} is no value of an element of {array}")
            yield Written(array, start + layer.stride * index, layer.type, value)


def _known(condition: t.Condition, values: Mapping[t.Var, int], here: Valuation) -> t.Condition:
    """The condition with the numbers that are known, but for the index."""
    missing = condition.variables - values.keys() - {INDEX}
    if missing:
        raise t.EvaluationError(f"the value of {min(var.name for var in missing)} is not known")
    parts = (
        part for part in t.walk(condition) if isinstance(part, t.Read | t.Aggregate) and INDEX not in part.variables
    )
    numbers: dict[t.Term, t.Term] = {part: t.const(here.evaluate(part)) for part in parts}
    whole = t.replace_terms(condition, numbers) if numbers else condition
    return t.substitute(whole, {var: t.const(values[var]) for var in whole.variables if var is not INDEX})
