"""Bounds as text, as JSON, and as options for CBMC."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from loopless import terms as t
from loopless.bounds import AsymptoticClass, Claim
from loopless.bounds.asymptotics.lower import LowerClass, class_of_bound, class_of_claim, lower_class, lower_class_of
from loopless.bounds.methods.nontermination import Recurrent
from loopless.bounds.reads.deciding import in_a_sentence
from loopless.flowgraph.callees.call_graph import NOT_BY_NAME
from loopless.limits.report import BOUND_CONDITION_OPERATIONS, MAX_BOUND_HEADLINE, MAX_LOWER_BOUND_NODES
from loopless.logic import simplify
from loopless.queries.bounds.answers import FunctionBound, LoopBound, LoopIterations, OverflowEnd, class_of
from loopless.queries.bounds.runs import RunBound
from loopless.queries.call_values.at_inputs import AtValues, at_values, number_at
from loopless.queries.call_values.inputs import Given
from loopless.queries.returning import CallNotes
from loopless.report.functions import assumptions_of as function_assumptions
from loopless.report.json_report import assumptions_of, expression, refused_json
from loopless.report.json_report import loop as loop_json
from loopless.report.names import Names
from loopless.report.text import condition_lines, region_lines, where_lines, why

Values = Given
_SHOWN_OVERFLOWS: Final = 3


def names_of(bound: LoopBound) -> Names:
    """What prints the bounds of a loop."""
    return Names(bound.answer, _nodes(bound.counts), bound.function.shown)


def _nodes(bound: LoopIterations) -> Iterator[t.Node]:
    for claim in (bound.entry, bound.call):
        yield from (claim.lower, claim.when, claim.never, claim.gap, claim.always_undefined)
        yield from (term for term in (claim.upper, claim.completed) if term is not None)
    yield from (term for term in (bound.any_entry, bound.over_inputs) if term is not None)
    yield from (line.upper for line in bound.lines)
    yield from (states.condition for states in bound.recurrent)
    if bound.ends_by_overflow is not None:
        yield from (bound.ends_by_overflow.entry, bound.ends_by_overflow.call)


def selected(answers: Iterable[FunctionBound], names: Sequence[str]) -> list[LoopBound]:
    """The loops that are asked for: those of these names."""
    wanted = set(names)
    return [bound for found in answers for bound in found.loops if bound.name in wanted]


def only_inlined(found: FunctionBound) -> bool:
    """Whether the function has loops, and none in its own text."""
    return bool(found.counts) and all(bound.answer.loop.inlined_from is not None for bound in found.counts)


def granted_for(bound: LoopBound) -> list[str]:
    """What is taken for granted for a loop's bounds: by its paths, or where there are none by the function's code."""
    own = [*assumptions_of(bound.answer), *bound.counts.calls.granted]
    if bound.answer.paths is not None:
        return list(dict.fromkeys(own))
    rest = (assumption for assumption in bound.function.granted if assumption != NOT_BY_NAME)
    return list(dict.fromkeys([*own, *rest]))


def granted(found: FunctionBound) -> list[str]:
    """What is taken for granted for the bounds of a function and its loops, each once."""
    summary = function_assumptions(found.summary) if found.summary is not None else []
    inside = [assumption for bound in found.loops for assumption in granted_for(bound)]
    return list(dict.fromkeys([*inside, *summary, *found.granted]))


def _may_end(calls: CallNotes, call: Claim) -> list[str]:
    """What to say of calls that need not return: of those in a loop, else, where it counts, of those on the way."""
    told = calls.ends if call.exact else calls.on_the_way
    return [f"{sentence}; a run that ends there may take fewer" for sentence in told]


def _granted_line(assumptions: Sequence[str]) -> list[str]:
    return [f"  taken for granted: {'; '.join(assumptions)}"] if assumptions else []


# -- text -------------------------------------------------------------------------------------------------------------


def told_of(answers: Iterable[FunctionBound], names: Sequence[str]) -> list[FunctionBound]:
    """The functions that have a paragraph of their own: those of the loops that are asked for, and others that have
    none but inlined ones.
    """
    answers = list(answers)
    chosen = [loop.function for loop in selected(answers, names)]
    return [found for found in answers if only_inlined(found) or any(other is found for other in chosen)]


def loop_text(bound: LoopBound, given: Values | None) -> str:
    """The paragraph about a loop."""
    return "\n".join(_loop_lines(bound, given))


def function_text(found: FunctionBound, given: Values | None) -> str:
    """The paragraph about a function."""
    return "\n".join(_function_lines(found, given))


def bound_text(answers: Sequence[FunctionBound], names: Sequence[str], given: Values | None) -> str:
    """The loops one by one, then the functions."""
    parts = [loop_text(bound, given) for bound in selected(answers, names)]
    parts += [function_text(found, given) for found in told_of(answers, names)]
    return "\n\n".join(parts) if parts else "no loops"


def _loop_lines(loop: LoopBound, given: Values | None) -> list[str]:
    found, bound = loop.function, loop.counts
    names, name = names_of(loop), loop.name
    names.name_folds(_nodes(bound))
    lines = [f"{name}: {_headline(bound.call, found, names)} in a call{_states(bound.call, names)}"]
    if bound.over_inputs is not None:
        lines.append(f"  whatever it reads: at most {iterations(names.text(bound.over_inputs))}")
    if bound.ends_by_overflow is not None:
        lines += _overflow_lines(bound.ends_by_overflow, names)
    by_entry = bound.call.upper is None and bound.call.never is t.FALSE and bound.entry.upper is not None
    if by_entry:
        lines = [f"{name}: {_headline(bound.entry, found, names)} of an entry{_states(bound.entry, names)}"]
    lines += _at_line(found, bound.call, bound.over_inputs, given, names)
    lines += claim_conditions(bound.entry if by_entry else bound.call, names, headed=True)
    if bound.entry.upper is not None and not by_entry:
        lines.append(f"  one entry: {claim_words(bound.entry, names)}, over the values there")
        lines += ["  " + line for line in claim_conditions(bound.entry, names)]
    if bound.entry.upper is None and bound.call.never is t.FALSE:
        lines += _endless(_never(bound.entry), bound.entry.never, _unseen(bound.entry), names)
    for states in bound.recurrent:
        word = "need not end" if states.chosen else _never(bound.entry)
        about = choice_words(states) if states.chosen else _unseen(bound.entry)
        lines += _endless(word, states.condition, about, names)
    if bound.reads.sources and bound.entry.upper is not None:
        lines.append(f"  {bound.reads}")
    if bound.loosened:
        lines.append(f"  why not fewer: {in_a_sentence(bound.loosened)}")
    if bound.answer.loop.parent is not None and bound.any_entry is not None:
        lines.append(f"  any entry: at most {names.text(bound.any_entry)}")
    same = {bound.call.upper, bound.entry.upper}
    lines += [
        f"  line {line.line}: at most {names.text(line.upper)} times in a call"
        for line in bound.lines
        if line.upper not in same and line.line != bound.answer.loop.line
    ]
    lines += [f"  {sentence}" for sentence in _may_end(bound.calls, bound.call)]
    lines += _granted_line(granted_for(loop))
    for refused in bound.reasons:
        lines += why(refused)
    return [*lines, *where_lines(names)]


def choice_words(states: Recurrent) -> str:
    """What has to be chosen for a loop to go on for ever, behind the states."""
    inputs = [name for name in states.chosen if name not in states.returned]
    by_choice = f", by the choice of {', '.join(inputs)}" if inputs else ""
    return by_choice + (f", if {' and '.join(states.returned)} returns such values" if states.returned else "")


def overflow_words(end: OverflowEnd) -> str:
    """The overflow that ends a loop, with its places."""
    counters = f" of {' or '.join(end.counters)}" if end.counters else ""
    places = [":".join(place.split(":")[-2:]) for place in end.places]
    shown = ", ".join(places[:_SHOWN_OVERFLOWS]) + (", …" if len(places) > _SHOWN_OVERFLOWS else "")
    return f"the signed overflow{counters} at {shown}"


def _overflow_lines(end: OverflowEnd, names: Names) -> list[str]:
    """What is hidden by an overflow."""
    but = f", but for {overflow_words(end)}"
    if end.call is t.TRUE and end.entered:
        return [f"  never ends{but}"]
    if end.call is not t.FALSE and end.entered:
        return region_lines("never ends", end.call, but, names)
    if end.entry is not t.FALSE:
        word = "never ends" if end.entered else "may never end"
        seen = "" if end.entered else " (no run is known to enter it so)"
        return region_lines(f"one entry: {word}, over the values there,", end.entry, but + seen, names)
    return [f"  no bound is known without {overflow_words(end)}"]


def overflow_json(end: OverflowEnd | None, names: Names) -> dict[str, Any] | None:
    """The overflow that ends a loop; null where there is none."""
    if end is None:
        return None
    return {
        "never_ends": {"call": expression(end.call, names), "entry": expression(end.entry, names)},
        "entered": end.entered,
        "counters": list(end.counters),
        "places": list(end.places),
        "of_control": end.of_control,
    }


def _never(claim: Claim) -> str:
    return "never ends" if claim.entered else "may never end"


def _unseen(claim: Claim) -> str:
    """What to say of states of the header of which nobody knows whether a run comes to them."""
    return "" if claim.entered else " (no run is known to enter it so)"


def _endless(word: str, states: t.Condition, about: str, names: Names) -> list[str]:
    return region_lines(f"one entry: {word}, over the values there,", states, about, names)


def _headline(claim: Claim, found: FunctionBound, names: Names) -> str:
    grows = class_of_claim(claim, found.shown)
    return claim_words(claim, names) + (f" [{grows.text()}]" if grows is not None else "")


def claim_words(claim: Claim, names: Names) -> str:
    """How many iterations, in words."""
    if claim.upper is None:
        return "no bound on the iterations" if claim.never is not t.TRUE else "never ends"
    return f"{'exactly' if claim.exact else 'at most'} {iterations(names.text(claim.upper))}"


def iterations(count: object) -> str:
    """So many iterations, in words."""
    return f"{count} iteration{'' if str(count) == '1' else 's'}"


_UNDEFINED: Final = "every run meets undefined behaviour"
_FEWER: Final = "a run that meets undefined behaviour may take fewer"


def _states(claim: Claim, names: Names) -> str:
    """From which states a claim holds, and from which it never ends, for the headline: what takes few words."""
    when = _in_few_words(claim.when, names) if claim.upper is not None else None
    never = _in_few_words(claim.never, names)
    return f"{f' if {when}' if when else ''}{f'; {_never(claim)} if {never}' if never else ''}"


def _in_few_words(states: t.Condition, names: Names) -> str | None:
    """A condition for the headline; None where it takes many words, or says nothing."""
    short = _short(states)
    if isinstance(short, t.Truth) or len(t.disjuncts(short)) > 1:
        return None
    shown = names.text(short)
    return shown if len(shown) <= MAX_BOUND_HEADLINE else None


def _short(states: t.Condition) -> t.Condition:
    """The same states in few words."""
    return simplify(states, operations=BOUND_CONDITION_OPERATIONS)


def claim_conditions(claim: Claim, names: Names, *, headed: bool = False) -> list[str]:
    """What else is known of a claim: how many at least, and where it holds, where the headline does not say it
    (``headed``: it says what takes few words).
    """
    lines: list[str] = []
    told = (
        claim.lower is not t.ZERO and not claim.exact and sum(1 for _ in t.walk(claim.lower)) <= MAX_LOWER_BOUND_NODES
    )
    if told:
        lines.append(f"  at least {names.text(claim.lower)}")
    if claim.completed is not None:
        many = "that many" if claim.completed is claim.upper else names.text(claim.completed)
        lines.append(f"  exactly {many}, if the function goes on behind the loop")
    if claim.upper is not None and claim.when is not t.TRUE and not (headed and _in_few_words(claim.when, names)):
        lines += condition_lines("  valid when ", _short(claim.when), names)
    counted = (claim.upper is not None and claim.exact) or claim.completed is not None
    if claim.may_be_fewer and (told or counted):
        lines.append(f"  {_FEWER}")
    if claim.always_undefined is t.TRUE:
        lines.append(f"  {_UNDEFINED}")
    elif claim.always_undefined is not t.FALSE:
        lines += region_lines(_UNDEFINED, _short(claim.always_undefined), "", names)
    if claim.never not in (t.FALSE, t.TRUE) and not (headed and _in_few_words(claim.never, names)):
        lines += region_lines(_never(claim), _short(claim.never), _unseen(claim), names)
    if claim.upper is not None and claim.gap is not t.FALSE:
        lines += region_lines("no bound", _short(claim.gap), "", names)
    return lines


def _at_line(
    found: FunctionBound, claim: Claim, over_inputs: t.Term | None, given: Values | None, names: Names
) -> list[str]:
    """What a claim comes to at the values that are given."""
    if not given or (claim.upper is None and claim.never is t.FALSE):
        return []
    return [f"  at {given_words(given)}: {at_words(at_values(found.names, claim, given, over_inputs), names)}"]


def at_words(here: AtValues, names: Names) -> str:
    """The number of iterations, or why there is none."""
    if here.never:
        return "never ends"
    if here.value is not None:
        return f"at most {here.value}, whatever it reads" if here.whatever else str(here.value)
    if here.late:
        return "not known; it takes too many steps to find that out"
    needs = needed(here, names)
    return f"not known; it depends on {' and '.join(needs)}" if needs else "no bound is known for these values"


def needed(here: AtValues, names: Names) -> list[str]:
    """What else a claim depends on, in words."""
    return [*map(names.name, here.needs), *(f"elements of {name}" for name in here.contents)]


def given_words(given: Values) -> str:
    """The values that are given, as ``--at`` has them."""
    return ", ".join(f"{name}={_value(value)}" for name, value in given.items())


def _value(value: object) -> str:
    return f"[{','.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _function_lines(found: FunctionBound, given: Values | None) -> list[str]:
    names = names_of_call(found)
    names.name_folds(_nodes_of_call(found))
    grows = _text(class_of(found))
    growth = f" [{grows}]" if grows else ""
    lines = [f"{found.name}: {claim_words(found.call, names)}{growth} in all{_states(found.call, names)}"]
    lines += _at_line(found, found.call, found.over_inputs, given, names)
    if found.over_inputs is not None:
        lines.append(f"  whatever it reads: at most {names.text(found.over_inputs)}")
    lines += claim_conditions(found.call, names, headed=True)
    worst = worst_inputs(found)
    lines += [f"  worst inputs seen: {worst}"] if worst else []
    hidden = [loop.answer.loop for loop in found.counts if loop.ends_by_overflow is not None]
    places = ", ".join(f"{loop.line}:{loop.column}" for loop in hidden)
    lines += [f"  a signed overflow may be all that ends the loop at {places} (see there)"] if hidden else []
    lines += [f"  {sentence}" for sentence in _may_end(found.calls, found.call)]
    lines += _granted_line(granted(found))
    lines += why(found.refused) if found.refused is not None else []
    return [*lines, *where_lines(names)]


def names_of_call(found: FunctionBound) -> Names:
    """What prints the bound on all loops of a function that has some."""
    return Names(found.counts[0].answer, _nodes_of_call(found), found.shown)


def _nodes_of_call(found: FunctionBound) -> list[t.Node]:
    call = found.call
    return [n for n in (call.upper, call.lower, call.when, call.always_undefined, found.over_inputs) if n is not None]


def worst_inputs(found: FunctionBound) -> str:
    """The inputs along which the count surely grows fast, in words; empty where none are seen."""
    worst = _worst_case(found)
    if worst is None:
        return ""
    grown = "as N grows" if worst.until is None else f"up to N={worst.until}, {_NOT_BEYOND}"
    inputs = ", ".join(f"{name}={value}" for name, value in _inputs(worst, found).items())
    return f"{inputs} ({worst.text} {grown})"


_NOT_BEYOND: Final = "beyond which runs may be undefined or are not known"


def _worst_case(found: FunctionBound) -> LowerClass | None:
    """How the count surely grows along some inputs, if it does."""
    grows = lower_class_of(found.call, found.shown, limited=True)
    return None if grows is None or grows.degree < 1 else grows


def _inputs(worst: LowerClass, found: FunctionBound) -> dict[str, str]:
    """The inputs along which it does, which depend on one number N."""
    size = {1: "N", 0: "0", -1: "-N"}
    return {found.shown.get(var, var.name): size[sign] for var, sign in worst.ray.items()}


# -- JSON -------------------------------------------------------------------------------------------------------------


def bound_json(loop: LoopBound, given: Values | None) -> dict[str, Any]:
    """The bounds of one loop, and all that is known of it."""
    found, bound = loop.function, loop.counts
    names = names_of(loop)
    call, entry = bound.call, bound.entry
    refused = bound.refused or bound.refused_call
    return {
        **loop_json(bound.answer.with_cut(bound.cut or bound.answer.cut)),
        "assumptions": [
            *granted_for(loop),
            *_may_end(bound.calls, call),
            *([_FEWER] if call.may_be_fewer or entry.may_be_fewer else []),
        ],
        "status": _status(bound),
        "method": call.method or None,
        "refused": refused_json(refused) if refused is not None else None,
        **({"loosened_by": list(bound.loosened)} if bound.loosened else {}),
        "upper": maybe_expression(call.upper, names),
        "over_inputs": maybe_expression(bound.over_inputs, names),
        "ends_by_overflow": overflow_json(bound.ends_by_overflow, names),
        "lower": expression(call.lower, names),
        "exact": call.exact,
        "valid_when": expression(call.when, names),
        "always_undefined": expression(call.always_undefined, names),
        "big_o": _text(class_of_claim(call, found.shown)),
        **_at_json(found, call, bound.over_inputs, given, names),
        "inputs": _inputs_json(call, names),
        "per_entry": {
            "upper": maybe_expression(entry.upper, names),
            "lower": expression(entry.lower, names),
            "exact": entry.exact,
            "completed": maybe_expression(entry.completed, names),
            "method": entry.method or None,
            "valid_when": expression(entry.when, names),
            "inputs": _inputs_json(entry, names),
            "any": maybe_expression(bound.any_entry, names),
            "never_ends": [
                {
                    "when": expression(states.condition, names),
                    "chosen": list(states.chosen),
                    "returned": list(states.returned),
                }
                for states in bound.recurrent
            ],
            "entered": bool(entry.never is not t.FALSE or bound.recurrent) and entry.entered,
            "reads": list(bound.reads.sources),
            "by_inputs": bound.reads.inputs,
            "if_returning": list(bound.reads.returning),
        },
        "edges": [
            {
                "line": line.line,
                "upper": expression(line.upper, names),
                "value": number_at(found.names, line.upper, t.TRUE, given) if given else None,
            }
            for line in bound.lines
        ],
    }


def _at_json(
    found: FunctionBound, claim: Claim, over_inputs: t.Term | None, given: Values | None, names: Names | None
) -> dict[str, Any]:
    """The number that a claim comes to at the values that are given, and what is known of it beside that."""
    if not given:
        return {"value": None, "at": None}
    here = at_values(found.names, claim, given, over_inputs)
    needs = [names.name(var) for var in here.needs] if names is not None else []
    told = {"never_ends": here.never, "whatever_it_reads": here.whatever, "needs": [*needs, *here.contents]}
    return {"value": here.value, "at": told}


def _inputs_json(claim: Claim, names: Names | None) -> dict[str, dict[str, Any]]:
    """The types of what a claim speaks of."""
    return {} if names is None else _types_json([node for node in (claim.upper, claim.when) if node is not None], names)


def _types_json(nodes: Iterable[t.Node], names: Names) -> dict[str, dict[str, Any]]:
    """The types of the variables that occur."""
    variables = sorted({var for node in nodes for var in node.variables}, key=lambda var: var.key)
    return {names.name(var): {"bits": var.type.width, "signed": var.type.signed} for var in variables}


def _status(bound: LoopIterations) -> str:
    if bound.call.exact or (bound.call.upper is None and bound.entry.exact):
        return "exact"
    return "refused" if bound.call.upper is None and bound.entry.upper is None else "over-approximate"


def maybe_expression(term: t.Term | None, names: Names) -> dict[str, Any] | None:
    """The expression of a term, null where there is none."""
    return None if term is None else expression(term, names)


def _text(grows: AsymptoticClass | None) -> str | None:
    return None if grows is None else grows.text()


def function_json(found: FunctionBound, given: Values | None) -> dict[str, Any]:
    """The bounds of one function."""
    call = found.call
    told = (call.upper, call.lower, call.when, call.never, call.always_undefined, found.over_inputs)
    nodes: list[t.Term | t.Condition] = [n for n in told if n is not None]
    names = Names(found.counts[0].answer, nodes, found.shown) if found.counts else None
    worst = _worst_case(found)
    return {
        "name": found.name,
        "upper": None if names is None else maybe_expression(call.upper, names),
        "over_inputs": None if names is None else maybe_expression(found.over_inputs, names),
        "lower": None if names is None else expression(call.lower, names),
        "exact": call.exact,
        "valid_when": None if names is None else expression(call.when, names),
        "always_undefined": None if names is None else expression(call.always_undefined, names),
        "big_o": _text(class_of(found)),
        "big_omega": lower_class(call, found.shown),
        "worst_inputs": None if worst is None else _inputs(worst, found),
        "worst_until": None if worst is None else worst.until,
        **_at_json(found, call, found.over_inputs, given, names),
        "inputs": _inputs_json(call, names),
        "refused": refused_json(found.refused) if found.refused is not None else None,
        "assumptions": [*granted(found), *_may_end(found.calls, call)],
        "time_ms": round(found.time_ms, 1),
    }


# -- whole programs ----------------------------------------------------------------------------------------------------


def run_text(entry: FunctionBound, loops: Sequence[RunBound], given: Values | None) -> str:
    """The loops of a run of the program, one a line."""
    lines = [f"in a run from {entry.name}:{'' if loops else ' no loops'}"]
    for row in run_json(entry, loops, given):
        total, each = row["upper"], row["any"]
        plain = row["value"] is None or (total is not None and total["text"] == str(row["value"]))
        value = "" if plain else f" (= {row['value']})"
        shown = f"at most {iterations(total['text'])}{value}" if total is not None else "no bound on the iterations"
        lines.append(f"  {row['name']}: {shown}{_where(total)}{_in_an_entry(each)}")
    lines += _granted_line(granted(entry))
    return "\n".join(lines + (why(entry.refused) if entry.refused is not None else []))


def _in_an_entry(each: dict[str, Any] | None) -> str:
    return f", at most {each['text']} in an entry{_where(each)}" if each else ""


def _where(shown: dict[str, Any] | None) -> str:
    """What the names in an expression stand for, behind it."""
    parts = [f"{part['name']} = {part['is']}" for part in (shown or {}).get("definitions", ())]
    return f" where {', '.join(parts)}" if parts else ""


def run_json(entry: FunctionBound, loops: Sequence[RunBound], given: Values | None) -> list[dict[str, Any]]:
    """The loops of a run of the program."""
    rows = []
    for found in loops:
        nodes = [term for term in (found.total, found.any_entry) if term is not None]
        names = Names(found.copies[0].answer if found.copies else None, nodes, entry.shown)
        rows.append(
            {
                "name": found.loop.name,
                "function": found.loop.function,
                "file": found.loop.file,
                "upper": maybe_expression(found.total, names),
                "big_o": _text(class_of_bound(found.total, entry.shown, exact=found.exact)),
                "value": number_at(entry.names, found.total, t.TRUE, given),
                "any": maybe_expression(found.any_entry, names),
                "any_big_o": _text(class_of_bound(found.any_entry, entry.shown, exact=False)),
                "any_value": number_at(entry.names, found.any_entry, t.TRUE, given),
                "inputs": _types_json(nodes, names),
            }
        )
    return rows
