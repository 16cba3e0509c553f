"""One step of a search: what a transition demands of the inputs, reads, writes, and leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, assert_never

from loopless import terms as t
from loopless.flowgraph.def_use import defined_by
from loopless.flowgraph.memory.statement_effects import read_type, written_by
from loopless.flowgraph.model import Allocate, Assume, Call, Check, Copy, Expire, Fill, Load, Origin, Pointer
from loopless.flowgraph.model import Store as StoreTo
from loopless.flowgraph.transfer import Domain, Source, after
from loopless.limits.navigation import MAX_LIBRARY_OUTCOMES, MAX_PLACES
from loopless.navigation.library import FOLLOWED, LibraryOutcome, Text, outcomes
from loopless.navigation.memory import NoWay, PathMemory
from loopless.navigation.store import NotFollowed, PathDemands, size_of
from loopless.source.ir import Loc
from loopless.transition.relation import START, Access, Step, TransitionInput, TransitionSystem

NOT_FOLLOWED: Final = "it reads at places that are not known, or something that is not followed"

Taken = Mapping[TransitionInput, t.Term]
"""What each value from outside was."""

Given = dict[t.Var, t.Term]
"""What stands for the variables and the inputs of a transition."""


class Steps(Domain[Given]):
    """The steps of one search, over its ``store`` and ``memory``. ``fixed``: what variables hold where the run begins,
    by choice.
    """

    def __init__(
        self, system: TransitionSystem, fixed: Mapping[t.Var, int], store: PathDemands, memory: PathMemory
    ) -> None:
        self.system, self.fixed, self.store, self.memory = system, fixed, store, memory
        self.complete = True
        """Whether nothing was chosen, and nothing left out, of what steps could have come to."""
        self.why = ""
        self._fresh = self._left = 0

    def _given(self, transition: Step, values: Mapping[t.Var, t.Term]) -> tuple[Given, dict[TransitionInput, t.Term]]:
        given = dict(values)
        inputs: dict[TransitionInput, t.Term] = {}
        for one in transition.taken:
            chosen = self.fixed.get(one.var) if transition.source == START else None
            self._fresh += 1
            value = t.Var(f"?{self._fresh}", one.var.type) if chosen is None else t.const(chosen)
            inputs[one] = given[one.var] = value
        return given, inputs

    def once(self, transition: Step, values: Mapping[t.Var, t.Term]) -> tuple[dict[t.Var, t.Term], Taken] | None:
        """The values behind one step, and what it takes from outside; None where it cannot be taken."""
        given, inputs = self._given(transition, values)
        waiting = frozenset(var for access in transition.accesses if access is not None for var in defined_by(access))
        inputs = {one: value for one, value in inputs.items() if one.var not in waiting}
        self._left = MAX_LIBRARY_OUTCOMES
        placed = self._through(transition.accesses, list(t.conjuncts(transition.condition)), waiting, given)
        if placed is None:
            return None
        kept = self.system.state.get(transition.target, ())
        new = {var: placed.get(var, term) for var, term in values.items() if var in kept}
        for var, term in transition.update.items():
            found = self._value(term, placed)
            if found is None:
                self._lost()
                found = self._unknown(var.type)
            new[var] = found
        return new, inputs

    def _through(
        self,
        accesses: Sequence[Access],
        left: list[t.Condition],
        waiting: frozenset[t.Var],
        given: Given,
    ) -> dict[t.Var, t.Term] | None:
        """What stands for the variables behind the accesses, under the conditions that are ``left``; those that do not
        depend on what is ``waiting`` are asked before each access. None where that cannot be.
        """
        for number, access in enumerate(accesses):
            ready = [part for part in left if part.variables.isdisjoint(waiting)]
            left = [part for part in left if not part.variables.isdisjoint(waiting)]
            if not self._demanded(ready, given):
                return None
            waiting = waiting.difference(defined_by(access) if access is not None else ())
            match access:
                case Call(callee=callee) as call if callee in FOLLOWED:
                    try:
                        ways = self._called(call, given)
                    except NoWay:
                        return None
                    except NotFollowed:
                        self.why = NOT_FOLLOWED
                    else:
                        return self._by_outcome(ways, accesses[number + 1 :], left, waiting, given)
                case _:
                    try:
                        self._access(access, given)
                    except NoWay:
                        return None
        return given if self._demanded(left, given) else None

    def _by_outcome(
        self,
        ways: Iterator[tuple[Given, LibraryOutcome]],
        accesses: Sequence[Access],
        left: list[t.Condition],
        waiting: frozenset[t.Var],
        given: Given,
    ) -> dict[t.Var, t.Term] | None:
        """The same behind a call of the library, by the first of its outcomes with which it goes on."""
        self.complete = False  # what comes further on may go with another one
        soon = [part for part in left if part.variables.isdisjoint(waiting)]
        for found, outcome in ways:
            if any(t.substitute(part, {**given, **found}) is t.FALSE for part in soon):
                continue
            if self._left <= 0:
                return None
            self._left -= 1
            marks = self.store.mark(), self.memory.mark()
            if self._all_hold(outcome.parts()):
                behind = self._through(accesses, left, waiting, {**given, **found})
                if behind is not None:
                    return behind
            self.store.back(marks[0])
            self.memory.back(marks[1])
        return None

    def _demanded(self, conditions: Sequence[t.Condition], given: Given) -> bool:
        """Let conditions hold; False where they cannot."""
        parts = []
        for part in conditions:
            placed = t.substitute(part, given)
            try:
                placed = self.store.resolved_condition(placed)
            except NotFollowed:
                if not self._pin(placed, given):
                    self._lost()
                    continue
                try:
                    placed = self.store.resolved_condition(t.substitute(part, given))
                except NotFollowed:
                    self._lost()
                    continue
            if placed is t.FALSE:
                return False
            parts.append(placed)
        return not parts or self.store.demand(parts)

    def _value(self, term: t.Term, given: Given) -> t.Term | None:
        """A term with what it reads; None where that is not followed."""
        try:
            return self.store.resolved(t.substitute(term, given))
        except NotFollowed:
            if not self._pin(t.substitute(term, given), given):
                return None
        try:
            return self.store.resolved(t.substitute(term, given))
        except NotFollowed:
            return None

    def _unknown(self, type: t.IntType) -> t.Var:
        self._fresh += 1
        return t.Var(f"?{self._fresh}", type)

    # -- memory ------------------------------------------------------------------------------------------------------

    def _access(self, access: Access, given: Given) -> None:
        """Let a statement do what it does to memory. Raises :class:`NoWay` where it is undefined."""
        if access is None:
            self.why = NOT_FOLLOWED
            self.memory.taint(None)
            return
        self.memory.guessed = False
        try:
            after(self, "", access, given)
        except NotFollowed:
            self.why = NOT_FOLLOWED
            if not isinstance(access, Load):  # what is read is any value, which leaves out nothing
                self.memory.taint(None)
            given |= {var: self._unknown(var.type) for var in defined_by(access)}
        finally:
            self.complete = self.complete and not self.memory.guessed

    def _called(self, call: Call, given: Given) -> Iterator[tuple[Given, LibraryOutcome]]:
        """The outcomes of a search or comparison of the library, with what the inputs stand for then."""
        memory = self.memory
        pointers = [one for one in call.arguments if isinstance(one, Pointer)]
        places = [self._place(one, given) for one in pointers]
        numbers = [self._followed(one, given) for one in call.arguments if not isinstance(one, Pointer)]
        limited = call.callee.startswith(("mem", "strn", "bcmp"))
        if not places or (limited and not numbers):
            raise NotFollowed
        limit = self._number(numbers[-1], given) if limited else None
        owner = self._followed(pointers[0].object, given)

        def text(place: tuple[str, int]) -> Text:
            return lambda at, type_: memory.read(place[0], place[1] + at, type_)

        def ways() -> Iterator[tuple[Given, LibraryOutcome]]:
            value_of, owner_of = call.target, call.target_object
            for outcome in outcomes(call.callee, [text(place) for place in places], numbers, limit):
                found: Given = {}
                if owner_of is not None:
                    found[owner_of] = owner if outcome.found else t.ZERO
                if value_of is not None:
                    at = outcome.value if owner_of is None else places[0][1] + outcome.value
                    found[value_of] = t.const(at) if outcome.found else t.ZERO
                yield found, outcome

        return ways()

    def _all_hold(self, parts: Iterator[t.Condition]) -> bool:
        """Let conditions hold, which are looked at one by one; False where they cannot."""
        every = []
        try:
            for part in parts:
                if part is t.FALSE:
                    return False
                every.append(part)
        except NotFollowed:
            return False
        return self.store.demand(every)

    def value(self, state: Given, term: t.Term, target: t.Var) -> t.Term:  # noqa: ARG002
        return self._followed(term, state)

    def assigned(self, state: Given, values: Mapping[t.Var, t.Term], loc: Loc | None) -> Given:  # noqa: ARG002
        state.update(values)
        return state

    def fresh(self, state: Given, target: t.Var, origin: Origin, name: str, source: Source) -> Given:  # noqa: ARG002
        state[target] = self._unknown(target.type)
        return state

    def holds(self, state: Given, label: str, statement: Check | Assume) -> Sequence[Given]:  # noqa: ARG002
        return (state,) if self._demanded(t.conjuncts(statement.condition), state) else ()

    def read(self, state: Given, load: Load) -> Given:
        memory, target, owner = self.memory, load.target, load.target_object
        if owner is None and (places := self._places(load.address, load.type, state)) is not None:
            return {target: memory.choice(*places, load.type)}
        array, offset = self._place(load.address, state)
        if owner is not None:
            held, at = memory.pointer(array, offset, load.shown)
            return {target: at, owner: held}
        return {target: memory.read(array, offset, read_type(load))}

    def write(self, state: Given, statement: StoreTo | Fill | Copy | Expire) -> Sequence[Given]:
        memory = self.memory
        match statement:
            case StoreTo(address=address, value=value, type=type_, value_object=owner):
                if owner is None and (places := self._places(address, type_, state)) is not None:
                    memory.write_somewhere(*places, type_, self._followed(value, state))
                else:
                    array, offset = self._place(address, state)
                    to = None if owner is None else self._followed(owner, state)
                    memory.write(array, offset, size_of(type_), self._followed(value, state), to)
            case Fill(address=address, byte=byte, length=length):
                count = self._number(length, state)
                if count > 0:
                    array, offset = self._place(address, state)
                    memory.fill(array, offset, count, self._followed(byte, state))
            case Copy(target=target, source=source, length=length):
                count = self._number(length, state)
                if count > 0:
                    memory.copy(self._place(target, state), self._place(source, state), count)
            case Expire(object=number):
                memory.expire(number)
            case _:
                assert_never(statement)
        return (state,)

    def allocate(self, state: Given, statement: Allocate) -> Sequence[Given]:
        return (self.assigned(state, {statement.target: self.memory.allocate(zeroed=statement.zeroed)}, None),)

    def call(self, state: Given, statement: Call) -> Sequence[Given]:
        objects = written_by(statement)
        if objects is None or objects:
            self.memory.taint(objects)
        return super().call(state, statement)

    def _followed(self, term: t.Term, given: Given) -> t.Term:
        found = self._value(term, given)
        if found is None:
            raise NotFollowed
        return found

    def _place(self, address: Pointer, given: Given) -> tuple[str, int]:
        """The name of the object and the byte of an address, which gets one value where it may have several."""
        owner = self.memory.succeeded(self._followed(address.object, given))
        if not isinstance(owner, (t.Const, t.Var)):
            owner = t.const(self._number(address.object, given))
        return self.memory.array(owner), self._number(address.offset, given)

    def _places(self, address: Pointer, type: t.IntType, given: Given) -> tuple[str, t.Term, Sequence[int]] | None:
        """The name of the object, the byte, and all that this may be, of an address that may be one of a few."""
        owner = self.memory.succeeded(self._followed(address.object, given))
        offset = self._followed(address.offset, given)
        if isinstance(offset, t.Const) or not isinstance(owner, t.Const):
            return None
        found = self.system.graph.objects.get(owner.value)
        low, high = t.range_of(offset)
        if found is None or found.size is None or low is None or high is None:
            return None
        size = size_of(type)
        places = range(max(low, 0) - (max(low, 0) - low) % size, min(high, found.size - size) + 1, size)
        if not 1 <= len(places) <= MAX_PLACES or t.equals_zero((offset - low) % size) is not t.TRUE:
            return None
        if not self.store.demand([offset.ge(places[0]), offset.le(places[-1])]):
            raise NoWay  # it is outside of the object
        return self.memory.array(owner), offset, places

    def _number(self, term: t.Term, given: Given) -> int:
        """The value of a term, one that it may have."""
        found = self._followed(term, given)
        if not isinstance(found, t.Const):
            if not self._pin_all(found.variables, given):
                raise NotFollowed
            found = self._followed(term, given)
        if not isinstance(found, t.Const):
            raise NotFollowed
        return found.value

    def _pin(self, placed: t.Condition | t.Term, given: Given) -> bool:
        """Give what an address depends on one value; what has only one loses nothing by that."""
        reads = [node for node in t.walk(placed) if isinstance(node, t.Read)]
        return self._pin_all({var for node in reads for var in node.offset.variables}, given)

    def _pin_all(self, variables: Iterable[t.Var], given: Given) -> bool:
        """Give variables one value each."""
        symbols = sorted(variables, key=lambda var: var.key)
        for symbol in symbols:
            others = self.store.pin(symbol)
            if others is None:
                return False
            if others:
                self.complete = False
        pinned: dict[t.Var, t.Term] = {symbol: t.const(self.store.pinned[symbol]) for symbol in symbols}
        for var, term in given.items():
            given[var] = t.substitute(term, pinned)
        return bool(symbols)

    def _lost(self) -> None:
        self.complete = False
        self.why = NOT_FOLLOWED
