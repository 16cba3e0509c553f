"""Single runs over a flowgraph, for guesses: states at cutpoints, and the inputs of a run that violates a property.

Nothing is claimed from these: candidates are proved, and violations are replayed on the compiled program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Final

from loopless import clock
from loopless import terms as t
from loopless.flowgraph.callees.entering import GONE_INTO
from loopless.flowgraph.model import (
    Allocate,
    Assign,
    Assume,
    Begin,
    Block,
    Call,
    Check,
    Copy,
    Edge,
    Expire,
    Fill,
    Flowgraph,
    Havoc,
    Load,
    Origin,
    Statement,
    Store,
)
from loopless.limits.verification import BLOCK_S, MAX_LEAP, MAX_LEAPS, MAX_OPEN_CALLS, MAX_UNEVEN_LEAP
from loopless.records import dataclass
from loopless.source.ir import Loc
from loopless.summary import LoopSummary
from loopless.transition.relation import Violates

Choose = Callable[[t.Var, Origin, str, int], int]
"""The value that comes from outside: for which variable, why, and where."""


@dataclass(slots=True)
class ProgramRun:
    """A run: ``end`` is the kind of its end ("violation", "return", "undefined", "assumption", "steps", …), ``inputs``
    what it read, in order; ``uninitialised`` by the names of variables; ``visits``: the states at cutpoints; ``taken``:
    the values from outside by where they are taken; ``before_cutpoint``: how many inputs were read until the first;
    ``kind``: of undefined behaviour; ``widths``: those of accesses to memory; ``returned``: by function, what held
    where calls that were passed over returned; ``exact``: it is a run of the program as it is; ``forgot``: it leapt
    over writes to memory, so that what it reads may be anything. ``iterations``: of loops that it jumped over, by their
    names.
    """

    end: str = "steps"
    loc: Loc | None = None
    inputs: list[int] = field(default_factory=list)
    uninitialised: dict[str, int] = field(default_factory=dict)
    visits: list[tuple[str, dict[t.Var, int]]] = field(default_factory=list)
    exact: bool = True
    taken: dict[tuple[str, int], set[int]] = field(default_factory=dict)
    before_cutpoint: int = 0
    widths: set[int | None] = field(default_factory=set)
    kind: str = ""
    forgot: bool = False
    returned: list[tuple[str, dict[t.Var, int]]] = field(default_factory=list)
    iterations: dict[str, int] = field(default_factory=dict)

    def constant_inputs(self) -> dict[tuple[str, int], int] | None:
        """By block and number of the statement the value that each input had; None where one had several."""
        if any(len(values) > 1 for values in self.taken.values()):
            return None
        return {place: next(iter(values)) for place, values in self.taken.items()}


def is_input(graph: Flowgraph, label: str, index: int) -> bool:
    """Whether a native run takes an input for a value from outside: for an integer that an input function, or another
    one without a body, returns; not for pointers, which are null there, nor for what a call may have left in memory.
    """
    statements = graph.blocks[label].statements
    match statements[index]:
        case Havoc(target=target) if target.type.width not in INPUT_WIDTHS or graph.variables[target].pointer_part:
            return False
        case Havoc(origin=Origin.NONDET):
            return True
        case Havoc(target=target, origin=Origin.CALL):
            call = _call_of(statements, index)
            return call is None or call.target == target
        case _:
            return False


def _is_left(statements: Sequence[Statement], index: int) -> bool:
    """Whether a value is what a call may have left in memory."""
    call, havoc = _call_of(statements, index), statements[index]
    return call is not None and isinstance(havoc, Havoc) and havoc.target not in (call.target, call.target_object)


def _call_of(statements: Sequence[Statement], index: int) -> Call | None:
    """The call that a value comes from."""
    name = getattr(statements[index], "name", None)
    calls = [other for other in statements[:index] if isinstance(other, Call) and other.callee == name]
    return calls[-1] if calls else None


INPUT_WIDTHS: Final = (1, 8, 16, 32, 64, None)
"""Native runs take inputs of so many bits, any number of them over the integers."""


class Runner:
    """Runs of one flowgraph. Calls that are passed over are carried out where their return is told (where the callee
    has a contract); else what they return is chosen.
    """

    def __init__(
        self,
        graph: Flowgraph,
        violates: Violates,
        state: Mapping[str, tuple[t.Var, ...]],
        summaries: Mapping[str, LoopSummary] | None = None,
    ) -> None:
        """``summaries``: by header the loops that runs jump over, as these say."""
        self.graph, self.violates, self.state, self.summaries = graph, violates, state, summaries or {}
        self.memory: Mapping[tuple[int, int], int] = {}
        """What memory holds, as far as it is known: by object and byte offset."""
        self._left = self._depth = self._leaps = 0
        self._uneven = frozenset(
            loop.header for loop in graph.loops if any(_is_uneven(graph.blocks[label]) for label in loop.blocks)
        )
        """The headers of loops whose conditions may change from one iteration to the next, and change back later."""

    def run(
        self, choose: Choose, most: int, on_visit: Callable[[str], None] | None = None, *, leaps: bool = False
    ) -> ProgramRun:
        """One run of at most ``most`` blocks. ``leaps``: where two iterations of a loop have changed its variables by
        the same, as many as go on so are taken at once.
        """
        run = ProgramRun()
        values: dict[t.Var, int] = {}
        memory = self.memory = dict[tuple[int, int], int]()
        for parameter in self.graph.parameters:
            for var in (parameter.var, parameter.null):
                if var is not None:
                    run.exact = False  # what the compiled program is given is not for the run to choose
                    values[var] = choose(var, Origin.NONDET, "", 0)
        for var in self.graph.variables:
            values.setdefault(var, 0)
        self._left, self._depth, self._leaps = most, 0, MAX_LEAPS

        def visited(label: str, values: dict[t.Var, int]) -> None:
            run.before_cutpoint = run.before_cutpoint if run.visits else len(run.inputs)
            run.visits.append((label, {var: values[var] for var in self.state[label]}))
            if on_visit is not None:
                on_visit(label)
            if leaps and self._leaps:
                self._leap(label, run, values, memory)

        try:
            self._from(self.graph.entry, run, values, memory, choose, visited)
        except (t.EvaluationError, KeyError, OverflowError):
            run.end = "unknown"
        return run

    def _from(
        self,
        label: str,
        run: ProgramRun,
        values: dict[t.Var, int],
        memory: dict[tuple[int, int], int],
        choose: Choose,
        visited: Callable[[str, dict[t.Var, int]], None] | None,
    ) -> str:
        """The blocks from one on, until the run ends; the label of the last one."""
        while self._left > 0:
            self._left -= 1
            if visited is not None and label in self.state:
                visited(label, values)
            if label in self.summaries and visited is not None:
                jumped = self._jumped(self.summaries[label], run, values)
                if jumped is None:
                    return label
                if jumped != label:
                    label = jumped
                    continue
            following = self._block(label, run, values, memory, choose)
            if following is None:
                return label
            here = t.Valuation(values, lambda *_: 0)
            new = [(target, here.evaluate(term)) for target, term in following.assigns]
            values.update(new)
            label = following.target
        run.end = "steps"
        return label

    def _jumped(self, summary: LoopSummary, run: ProgramRun, values: dict[t.Var, int]) -> str | None:
        """Where the run goes on behind a loop, by its summary; its header where that says nothing; None where the run
        has ended.
        """
        here = t.Valuation(values, self._content)
        header = summary.loop.header
        case = next((case for case in summary.cases if here.holds(case.when)), None)
        if case is None:
            if any(here.holds(part.when) for part in summary.residual):
                return header
            failed = next((part for part in summary.undefined if here.holds(part.when)), None)
            run.end = "endless" if failed is None else "undefined"
            if failed is not None:
                run.kind = failed.kind
                run.end = "violation" if self.violates(Check(t.FALSE, failed.kind)) else "undefined"
            return None
        for loop, count in ((summary.loop.name, case.iterations), *case.totals.items()):
            run.iterations[loop] = run.iterations.get(loop, 0) + here.evaluate(count)
        values.update([(var, here.evaluate(term)) for var, term in summary.known(case).items()])
        if case.exit.edge is None:
            end = self.graph.blocks[case.exit.block].end
            run.end, run.loc = case.exit.kind, None if end is None else end.loc
            if end is not None and self.violates(end):
                run.end = "violation"
            return None
        edge = self.graph.blocks[case.exit.block].edges[case.exit.edge]
        behind = t.Valuation(values, lambda *_: 0)
        values.update([(target, behind.evaluate(term)) for target, term in edge.assigns])
        return edge.target

    def _leap(self, label: str, run: ProgramRun, values: dict[t.Var, int], memory: dict[tuple[int, int], int]) -> None:
        """Changes ``values`` by as many iterations as change the variables of a loop by the same as the last two. Of
        objects that they write nothing is known then but the element that is followed, which is among the variables.
        """
        last = run.visits[-3:]
        if len(last) < 3 or any(at != label for at, _ in last):
            return
        (_, first), (_, second), (_, third) = last
        change = {var: third[var] - second[var] for var in third if third[var] != second[var]}
        if not change or any(second[var] - first[var] != third[var] - second[var] for var in third):
            return
        self._leaps -= 1

        def after(count: int) -> dict[t.Var, int]:
            return {**values, **{var: values[var] + count * step for var, step in change.items()}}

        written: set[int] = set()

        def goes_on(count: int) -> bool:
            begin = after(count)
            if not all(var.type.holds(begin[var]) for var in change):
                return False
            end = self._iterated(label, begin, memory, written)
            return end is not None and all(end[var] - begin[var] == change.get(var, 0) for var in third)

        far = 1
        while far < MAX_LEAP and goes_on(far):
            far *= 2
        if far <= 2:
            return
        low, high = far // 2, far  # the last iteration that is known to go on, and one that does not
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if goes_on(middle) else (low, middle)
        if label in self._uneven:
            low = min(low, MAX_UNEVEN_LEAP)
            low = next((count - 1 for count in range(low) if not goes_on(count)), low)
            if low < 1:
                return
        run.exact = False
        run.visits += [(label, {var: state[var] for var in third}) for state in map(after, (low // 3, low // 2, low))]
        values.update(after(low))
        run.forgot = run.forgot or bool(written)
        for place in [place for place in memory if place[0] in written]:
            del memory[place]

    def _iterated(
        self, label: str, begin: Mapping[t.Var, int], memory: Mapping[tuple[int, int], int], written: set[int]
    ) -> dict[t.Var, int] | None:
        """The values behind one iteration, which adds to ``written`` the objects that it changes; None where it does
        not come back or takes inputs.
        """
        probe, values, before, held = ProgramRun(), dict(begin), self._left, dict(memory)

        def no_input(*_: object) -> int:
            raise KeyError

        at = label
        try:
            for _ in range(len(self.graph.blocks)):
                following = self._block(at, probe, values, held, no_input)
                if following is None:
                    return None
                here = t.Valuation(values, lambda *_: 0)
                values.update([(target, here.evaluate(term)) for target, term in following.assigns])
                at = following.target
                if at in self.state:
                    written.update(place[0] for place, value in held.items() if memory.get(place) != value)
                    return values if at == label and held.keys() >= memory.keys() else None
        except (t.EvaluationError, KeyError, OverflowError):
            return None
        finally:
            self._left = before
        return None

    def _carried_out(
        self,
        call: Call,
        label: str,
        run: ProgramRun,
        values: dict[t.Var, int],
        memory: dict[tuple[int, int], int],
        choose: Choose,
    ) -> str | None:
        """What a call returns and changes, by a run of the callee; how the run ends where it does not return."""
        passage = self.graph.passages[label]
        signature = self.graph.signatures[passage.function]
        if self._depth >= MAX_OPEN_CALLS:
            return "steps"
        inner = dict(values)
        self._depth += 1
        last = self._from(passage.into, run, inner, memory, choose, None)
        self._depth -= 1
        if run.end != "return" or last != signature.returned:
            return run.end
        run.end = "steps"
        run.returned.append((passage.function, {var: inner[var] for var in signature.variables}))
        if call.target is not None and signature.result is not None:
            values[call.target] = call.target.type.wrap(inner[signature.result])
        for theirs, mine in passage.globals.items():
            if mine in call.changes:
                values[mine] = inner[theirs]
        shared = passage.globals.values()
        for part in (call.target_object, *call.changes):
            if part is not None and part not in shared:
                values[part] = part.type.wrap(choose(part, Origin.CALL, label, 0))
        return None

    def _block(
        self, label: str, run: ProgramRun, values: dict[t.Var, int], memory: dict[tuple[int, int], int], choose: Choose
    ) -> Edge | None:
        clock.count(BLOCK_S)
        block = self.graph.blocks[label]
        if label in self.graph.blocked:
            run.end = "unsupported"
            return None
        for index, statement in enumerate(block.statements):
            ended = self._statement(statement, label, index, run, values, memory, choose)
            if ended is not None:
                run.end = ended
                return None
        if block.end is not None:
            run.end, run.loc = "violation" if self.violates(block.end) else block.end.kind, block.end.loc
            return None
        here = t.Valuation(values, lambda *_: 0)
        for edge in block.edges:
            if here.holds(edge.condition):
                return edge
        run.end = "unknown"
        return None

    def _statement(  # noqa: C901, PLR0912, PLR0917  one case for each kind of statement
        self,
        statement: Statement,
        label: str,
        index: int,
        run: ProgramRun,
        values: dict[t.Var, int],
        memory: dict[tuple[int, int], int],
        choose: Choose,
    ) -> str | None:
        here = t.Valuation(values, lambda *_: 0)
        match statement:
            case Assign():
                values[statement.target] = here.evaluate(statement.value)
            case Check():
                if not here.holds(statement.condition):
                    run.loc, run.kind = statement.loc, statement.kind
                    return "violation" if self.violates(statement) else "undefined"
            case Assume():
                if not here.holds(statement.condition):
                    return "assumption"
            case Havoc():
                self._chosen(statement, label, index, run, values, choose)
            case Load(target=target):
                place = (here.evaluate(statement.address.object), here.evaluate(statement.address.offset))
                self._accessed(run, statement, place[1])
                known = memory.get(place)
                if known is None:
                    known = self.first(place, statement.type)
                if known is None:
                    known, run.exact = choose(target, Origin.MEMORY, label, index), False
                    memory[place] = known  # what is read twice is the same
                values[target] = target.type.wrap(known)
                if statement.target_object is not None:
                    values[statement.target_object] = 0
                    run.exact = False
            case Store():
                place = (here.evaluate(statement.address.object), here.evaluate(statement.address.offset))
                self._accessed(run, statement, place[1])
                memory[place] = here.evaluate(statement.value)
            case Begin():
                pass  # nothing lies there yet
            case Fill() | Copy():
                memory.clear()
                run.exact = False
            case Expire(object=number):
                for place in [place for place in memory if place[0] == number]:
                    del memory[place]
            case Allocate(target=target):
                values[target] = max(self.graph.objects) + 1
                run.exact = False
            case Call(entered=True) if self._is_told(label):
                run.exact = False
                return self._carried_out(statement, label, run, values, memory, choose)
            case Call():
                run.exact = False
                for part in (statement.target, statement.target_object, *statement.changes):
                    if part is not None:
                        values[part] = part.type.wrap(choose(part, Origin.CALL, label, index))
        return None

    def _chosen(
        self, statement: Havoc, label: str, index: int, run: ProgramRun, values: dict[t.Var, int], choose: Choose
    ) -> None:
        """A value of which nothing is known."""
        match statement:
            case Havoc(target=target, name=name) if self._depth and name == GONE_INTO:
                values[target] = 0
            case Havoc(target=target, origin=Origin.CALL) if _is_left(self.graph.blocks[label].statements, index):
                run.taken.setdefault((label, index), set()).add(values[target])  # natively it stays what it was
                run.exact = False
            case Havoc(target=target, origin=origin):
                value = target.type.wrap(choose(target, origin, label, index))
                values[target] = value
                run.taken.setdefault((label, index), set()).add(value)
                if is_input(self.graph, label, index):
                    run.inputs.append(value)
                    run.exact = run.exact and origin is Origin.NONDET
                elif origin is Origin.UNINITIALISED:
                    run.uninitialised[self.graph.variables[target].shown] = value
                else:
                    run.exact = False

    def _is_told(self, label: str) -> bool:
        """Whether what a call returns that is passed over there is told."""
        passage = self.graph.passages.get(label)
        return passage is not None and self.graph.signatures[passage.function].returned in self.graph.blocks

    def _accessed(self, run: ProgramRun, access: Load | Store, offset: int) -> None:
        """Memory is followed as long as all accesses are of one size, at multiples of it; pointers in it are not."""
        run.widths.add(access.type.width)
        holder = access.target_object if isinstance(access, Load) else access.value_object
        size = max((access.type.width or 8) // 8, 1)
        if len(run.widths) > 1 or holder is not None or offset % size:
            run.exact = False

    def _content(self, array: str, offset: int, type: t.IntType) -> int:
        """What an object holds that is never written; 0 where that is not known."""
        number = next((number for number, held in self.graph.objects.items() if held.name == array), None)
        known = None if number is None else self.first((number, offset), type)
        return 0 if known is None else known

    def first(self, place: tuple[int, int], type: t.IntType) -> int | None:
        """What an object holds at first."""
        number, offset = place
        found = self.graph.objects.get(number)
        size = (type.width or 8) // 8
        if found is None or found.content is None or offset < 0 or offset + size > len(found.content):
            return None
        return type.wrap(int.from_bytes(found.content[offset : offset + size], "little"))


def _is_uneven(block: Block) -> bool:
    """Whether a block reads memory or tables, or takes remainders, bits or quotients."""
    parts: list[t.Node] = [edge.condition for edge in block.edges]
    parts += [term for edge in block.edges for _, term in edge.assigns]
    for statement in block.statements:
        match statement:
            case Load():
                return True
            case Assign(value=value):
                parts.append(value)
            case Check(condition=condition) | Assume(condition=condition):
                parts.append(condition)
            case _:
                pass
    nodes = (node for part in parts for node in t.walk(part))
    return any(isinstance(node, t.Read) or (isinstance(node, t.Op) and node.op not in ("min", "max")) for node in nodes)
