"""``loopless bound``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from loopless.cli.app import ANSWERED, UNKNOWN, VIOLATED, Request
from loopless.cli.asking import Telling, in_turn, written, written_whole
from loopless.cli.colour import show
from loopless.cli.options import (
    deadline_of,
    exclude,
    format_option,
    given_options,
    limits,
    reading,
    settings_of,
    show_trouble,
    warn,
)
from loopless.cli.progress import Progress
from loopless.deadline import in_time
from loopless.records import dataclass

if TYPE_CHECKING:
    from loopless.queries.bounds.answers import FunctionBound, LoopBound
    from loopless.queries.bounds.costs import CostAnswer
    from loopless.queries.bounds.runs import RunBound
    from loopless.queries.bounds.whole_program import ProgramBounds
    from loopless.queries.call_values.inputs import Given
    from loopless.queries.loops.name import LoopName
    from loopless.queries.program import AnalyzedFunction, AnalyzedLoop, AnalyzedProgram
    from loopless.queries.settings import Settings


_ENGINES: Final = (
    "ctypes",
    "loopless.queries.bounds.answering",
    "loopless.report.bounds_without",
    "loopless.report.making",
)
"""What answering needs, and each child process at its start: imported while the compiler runs."""


@click.command("bound", short_help="How often each loop and line runs, at most and at least.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--function", "functions", metavar="F", multiple=True, help="Only this function.")
@click.option(
    "--loop", "places", metavar="FILE:LINE", multiple=True, help="Only this loop: its place, or its full name."
)
@click.option(
    "--at", "at", metavar="n=10,m=3", multiple=True, help="Numbers, for these values of the function's inputs."
)
@click.option(
    "--method",
    type=click.Choice(["all", "looperman"]),
    default="all",
    show_default=True,
    help="Everything, or Looperman's algorithm alone.",
)
@click.option("--cost", metavar="VAR", help="How much this variable grows in a call, too.")
@click.option("--entry", metavar="F", help="The loops of the whole program in a run from this function, say main.")
@click.option(
    "--flow-facts",
    "facts_for",
    type=click.Choice(["pragma", "ffx", "ais"]),
    help="Print numbers for WCET tools instead: pragmas, OTAWA's FFX, comments for aiT.",
)
@click.option("--compare", "compared", is_flag=True, help="The FILEs are two JSON answers: what got worse.")
@click.option("--unwindset", "unwind", is_flag=True, help="Print CBMC's option --unwindset instead.")
@format_option("text", "json")
@reading
@limits
@click.pass_obj
def command(request: Request, /, files: tuple[Path, ...], **options: Any) -> int:
    """How often each loop runs: its iterations (taken back edges) in one call of its function, in one entry, and the
    visits of its lines; exactly where its summary says so, else at most, and at least.

    Bounds are over the function's inputs, those of one entry over the values there. They count the runs that meet
    undefined behaviour up to there. Several FILEs are linked into one program.

    \b
    Examples:
      loopless bound examples/looperman/fig3.c
      loopless bound examples/looperman/fig3.c --at n=10
      loopless bound examples/looperman/fig2.c --method looperman --format json
      loopless bound examples/looperman/fig3.c --at n=10 --unwindset
      loopless bound examples/looperman/fig3.c --at n=10 --flow-facts ffx
      loopless bound examples/looperman/fig3.c --cost comparisons
      loopless bound --compare old.json new.json
    """
    if options["compared"]:
        return _compare(request, files, options)
    _check_combinations()
    from loopless.queries.program import load_while_importing

    settings = replace(settings_of(request, options), apart=not options["entry"])
    until = deadline_of(request, settings)
    with in_time(until):
        program = load_while_importing(files, settings, _ENGINES)
        from loopless.queries.bounds.answering import answer_bounds
        from loopless.queries.call_values.at_inputs import names_in_bounds
        from loopless.queries.call_values.inputs import check_values, declared_inputs, given_values, names_in_reach

        given = given_values(options["at"])
        loops, functions, asked, costly = _asked(program, options)
        declared = [declared_inputs(function) for function in asked] if given else []
        check_values(given, declared, names_in_reach(asked))
    entry = options["entry"]
    if not entry and costly is None and not given and _is_text(options):
        return _tell_as_found(request, options, functions, [loop.name for loop in loops])
    run = _of_run(program, functions[0], options, settings, until, given) if entry else None
    answers = [run.entry] if run is not None else []
    answers += answer_bounds(functions[len(answers) :], options["method"], settings, until)
    check_values(given, declared, names_in_bounds(found.names for found in answers) if given else ())
    show_trouble([found.trouble for found in answers] + [b.answer.trouble for found in answers for b in found.counts])
    cost = None
    if costly is not None:
        known = {} if entry else dict(zip(functions, answers, strict=True))
        cost = _cost(costly, known.get(costly), options, settings, until)
    _say_aside(answers, given, alone=bool(options["facts_for"] or options["unwind"]))
    names = [loop.name for loop in loops]
    all_found = _Found(answers, names, given, cost, run.entry if run else None, run.loops if run else ())
    if options["facts_for"] or options["unwind"]:
        complete = _for_tools(program, loops, all_found, files, options)
    else:
        complete = _print(request, options, all_found) and _is_complete(all_found)
    if cost is not None:
        complete = complete and cost.cost.upper is not None
    return ANSWERED if complete or options["unknown_ok"] else UNKNOWN


def _of_run(
    program: AnalyzedProgram,
    entry: AnalyzedFunction,
    options: dict[str, Any],
    settings: Settings,
    until: float | None,
    given: Given,
) -> ProgramBounds:
    """The bounds of one run of the program from a function."""
    from loopless.queries.bounds.whole_program import answer_run

    return answer_run(program, entry, options["method"], settings, until, given)


def _asked(
    program: AnalyzedProgram, options: dict[str, Any]
) -> tuple[list[AnalyzedLoop], list[AnalyzedFunction], list[AnalyzedFunction], AnalyzedFunction | None]:
    """The loops that are asked for, the functions to be answered, those that values are given for, and the one whose
    cost is asked for.
    """
    from loopless.queries.selection import select_loops

    entry = (options["entry"],) if options["entry"] else ()
    loops = list(select_loops(program, entry or options["functions"], options["places"]))
    loops = list(program[entry[0]].loops) if entry else loops
    named = [program[name] for name in options["functions"]]
    # What is asked for by name is answered also where all its loops are those of inlined functions.
    asked_for = [f for f in named if f.loops and not options["places"]] or [program[name] for name in entry]
    functions = list(dict.fromkeys([*(loop.function for loop in loops), *asked_for]))
    for function in functions:
        function.graph()
    costly = _function_with(named or functions, options["cost"])
    own = [*(program[name] for name in entry), *([costly] if costly is not None else [])]
    return loops, functions, list(dict.fromkeys([*(named or functions), *own])), costly


def _cost(
    function: AnalyzedFunction,
    bound: FunctionBound | None,
    options: dict[str, Any],
    settings: Settings,
    until: float | None,
) -> CostAnswer:
    """How much the variable that is asked for grows in a call of ``function``, whose bounds are known, perhaps."""
    from loopless.queries.bounds.answering import answer_bounds
    from loopless.queries.bounds.costs import answer_cost

    about = bound if bound is not None else answer_bounds([function], options["method"], settings, until)[0]
    return answer_cost(function, options["cost"], about, settings, until)


def _for_tools(
    program: AnalyzedProgram,
    loops: Sequence[AnalyzedLoop],
    found: _Found,
    files: Sequence[Path],
    options: dict[str, Any],
) -> bool:
    """Print numbers in the form of a tool; whether there is one for each loop that is asked for."""
    if not loops and not found.runs:
        _warn_of_none(found.answers, files)
    without = _numbered_otherwise(program, [run.loop for run in found.runs] or loops) if options["unwind"] else set()
    names = [loop.name for loop in loops if loop.function.name not in without]
    runs = [run for run in found.runs if run.loop.function not in without]
    return _print_for_tools(found.answers, names, found.given, found.of_run, runs, options) and not without


def _is_complete(found: _Found) -> bool:
    """Whether there is a bound on all that is asked for."""
    from loopless.report.bounds import only_inlined, selected

    if found.of_run is not None:
        return found.of_run.refused is None and all(run.total is not None for run in found.runs)
    inlined = (one.call for one in found.answers if only_inlined(one))
    return not any(claim.has_gap for claim in (*(loop.call for loop in selected(found.answers, found.names)), *inlined))


def _warn_of_none(answers: Sequence[FunctionBound], files: Sequence[Path]) -> None:
    """Say why there is no loop to print a number of."""
    from loopless.report.bounds import only_inlined

    inlined = [found.name for found in answers if only_inlined(found)]
    why = f"the loops of {', '.join(inlined)} stand in what is called: ask for the functions there"
    warn(why if inlined else f"no loops in {', '.join(map(str, files))}")


def _is_text(options: dict[str, Any]) -> bool:
    """Whether what is printed is paragraphs, one after the other."""
    return options["format_"] == "text" and not options["facts_for"] and not options["unwind"]


def _tell_as_found(
    request: Request, options: dict[str, Any], functions: Sequence[AnalyzedFunction], names: Sequence[str]
) -> int:
    """Print the bounds of loops function by function, as they are found; those of the functions are the last."""
    from loopless.queries.bounds.answering import bounds_as_found
    from loopless.report.bounds import only_inlined, selected, told_of
    from loopless.report.bounds_without import bounds_without, loop_bound_without
    from loopless.report.making import Making

    settings = settings_of(request, options)
    until = deadline_of(request, settings)
    found: dict[int, FunctionBound] = {}
    writer = _Writer({})
    with Progress() as progress, Making(writer.loop, loop_bound_without, settings, until) as making:
        telling = Telling(options["color"], progress)

        def tell(_: int, bound: FunctionBound) -> None:
            for loop in selected([bound], names):
                telling.tell(*making.made(loop), complete=not loop.call.has_gap)
            show_trouble([bound.trouble, *(loop.answer.trouble for loop in bound.counts)])

        watch = progress.watching([function.name for function in functions], lambda: len(found))
        in_turn(
            bounds_as_found(functions, options["method"], settings, until, watch),
            found,
            [function.name for function in functions],
            tell,
        )
        progress.clear()
        with Making(writer.function, bounds_without, settings, until) as of_functions:
            for bound in told_of([found[at] for at in sorted(found)], names):
                telling.tell(*of_functions.made(bound), complete=not (only_inlined(bound) and bound.call.has_gap))
    if not telling.any:
        click.echo("no loops")
    return ANSWERED if telling.complete or options["unknown_ok"] else UNKNOWN


@dataclass(frozen=True, slots=True)
class _Found:
    """All that is to be told: ``names`` are those of the loops that were asked for."""

    answers: Sequence[FunctionBound]
    names: Sequence[str]
    given: Given
    cost: CostAnswer | None
    of_run: FunctionBound | None
    runs: Sequence[RunBound]


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes bounds, with numbers for ``given`` values of the inputs: as text, or as parts of a JSON document."""

    given: Given
    as_json: bool = False

    def loop(self, found: LoopBound) -> Any:
        """The bounds of a loop."""
        from loopless.report.bounds import bound_json, loop_text

        return bound_json(found, self.given) if self.as_json else loop_text(found, self.given)

    def function(self, found: FunctionBound) -> Any:
        """The bounds of a whole function."""
        from loopless.report.bounds import function_json, function_text

        return function_json(found, self.given) if self.as_json else function_text(found, self.given)


def _print(request: Request, options: dict[str, Any], found: _Found) -> bool:
    """Print the answers; whether all that was found is told."""
    from loopless.report.bounds import run_json, run_text
    from loopless.report.costs import cost_json, cost_text
    from loopless.report.document import document, dump

    cost, of_run, given = found.cost, found.of_run, found.given
    if options["format_"] == "json":
        parts, told = _made(request, options, found)
        more: dict[str, Any] = {}
        if cost is not None:
            more["cost"] = written_whole(request, options, cost_json, cost, given)
        if of_run is not None:
            rows = written_whole(request, options, run_json, of_run, found.runs, given)
            more["run"] = {"entry": of_run.name, "loops": rows}
        click.echo(dump(document("bound", **parts, **more, time_ms=request.elapsed_ms)))
        return told
    texts = [written_whole(request, options, cost_text, cost, given)] if cost is not None else []
    if of_run is not None:
        texts.append(written_whole(request, options, run_text, of_run, found.runs, given))
        told = True
    else:
        parts, told = _made(request, options, found)
        texts += [*parts["loops"], *parts["functions"]] or ["no loops"]
    show("\n\n".join(texts), options["color"])
    return told


def _made(request: Request, options: dict[str, Any], found: _Found) -> tuple[dict[str, list[Any]], bool]:
    """What is told of loops and of functions in the format asked for, and whether that is all."""
    from loopless.report.bounds import selected, told_of
    from loopless.report.bounds_without import bounds_without, loop_bound_without

    as_json = options["format_"] == "json"
    writer = _Writer(found.given, as_json)
    pairs = selected(found.answers, found.names)
    inside = found.answers if as_json else told_of(found.answers, found.names)
    loops, all_loops = written(request, options, writer.loop, pairs, loop_bound_without)
    whole, all_functions = written(request, options, writer.function, inside, bounds_without)
    return {"loops": loops, "functions": whole}, all_loops and all_functions


def _say_aside(answers: list[FunctionBound], given: Given, *, alone: bool) -> None:
    """What of ``--at`` has no meaning, and, where nothing but numbers is printed, what is taken for granted."""
    from loopless.queries.call_values.at_inputs import not_meant
    from loopless.report.bounds import granted

    sentences = not_meant([found.names for found in answers], given) if given else []
    if alone:
        sentences += [f"taken for granted: {a}" for a in dict.fromkeys(a for found in answers for a in granted(found))]
    for sentence in sentences:
        click.echo(f"loopless: {sentence}", err=True)


def _numbered_otherwise(program: AnalyzedProgram, loops: Iterable[LoopName | AnalyzedLoop]) -> set[str]:
    """The functions of loops that CBMC numbers otherwise; says why."""
    from loopless.queries.bounds.cbmc_numbering import numbered_otherwise

    names = {loop.function if isinstance(loop.function, str) else loop.function.name for loop in loops}
    found = {}
    for function in program.functions:
        if function.name in names and (why := numbered_otherwise(function)) is not None:
            found[function.name] = why
    for name, why in found.items():
        warn(f"no numbers for CBMC for the loops of {name}: {why}")
    return set(found)


def _all_is_counted(of_run: FunctionBound | None) -> bool:
    """Whether a run comes to no loops but those counted; says why not."""
    if of_run is None or of_run.refused is None:
        return True
    warn(of_run.refused.detail)
    return False


def _print_for_tools(
    answers: Sequence[FunctionBound],
    names: Sequence[str],
    given: Given,
    of_run: FunctionBound | None,
    runs: Sequence[RunBound],
    options: dict[str, Any],
) -> bool:
    """Print numbers as another tool reads them; whether there are all."""
    from loopless.report.flow_facts import flow_facts
    from loopless.report.numbers import facts, facts_of_run, unwindset, unwindset_of_run

    if options["facts_for"]:
        known, missing = facts_of_run(of_run, runs, given) if of_run is not None else facts(answers, names, given)
        text = flow_facts(known, options["facts_for"])
    elif of_run is not None:
        text, missing = unwindset_of_run(of_run, runs, given)
    else:
        text, missing = unwindset(answers, names, given)
    click.echo(text, nl=bool(text))
    for sentence in missing:
        warn(sentence)
    return not missing and _all_is_counted(of_run)


def _function_with(functions: list[Any], name: str | None) -> Any:
    """The function that ``--cost`` is about."""
    if name is None:
        return None
    from loopless.queries.bounds.costs import function_with

    return function_with(functions, name)


def _check_combinations() -> None:
    """Raises ``UsageError`` for options of which one would be ignored."""
    for option in ("--unwindset", "--flow-facts"):
        others = ("--cost", "--format", *(("--flow-facts",) if option == "--unwindset" else ()))
        exclude(option, "prints numbers for another tool and nothing else", *others)
    exclude("--entry", "is about all loops of a run", "--function", "--loop")


def _without_compare() -> list[str]:
    """The options that say nothing about a comparison."""
    own = ("--compare", "--format", "--unknown-ok")
    return [name for name in given_options(click.get_current_context()).values() if name not in own]


def _compare(request: Request, files: tuple[Path, ...], options: dict[str, Any]) -> int:
    """What got worse from one JSON answer to another."""
    from loopless.report.comparison import change_json, change_text, compare, read_answer

    exclude("--compare", "reads two answers and asks nothing new", *_without_compare())
    if request.flags:
        raise click.UsageError("--compare compiles nothing; leave out the flags behind --")
    if len(files) != 2:
        raise click.UsageError("--compare takes two JSON files")
    changes = compare(*map(read_answer, files))
    if options["format_"] == "json":
        from loopless.report.document import document, dump

        click.echo(dump(document("bound", loops=[], functions=[], changes=list(map(change_json, changes)))))
    else:
        show("\n".join(map(change_text, changes)) if changes else "no changes", options["color"])
    if any(change.worse for change in changes):
        return VIOLATED
    unknown = any(change.worse is None for change in changes)
    return UNKNOWN if unknown and not options["unknown_ok"] else ANSWERED
