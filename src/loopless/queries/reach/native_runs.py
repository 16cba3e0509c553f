"""Native runs that get to the target: with inputs drawn at random, and with those of a path."""

from __future__ import annotations

from loopless import terms as t
from loopless.bounds.induction.floating.arithmetic import number_of
from loopless.errors import LooplessError
from loopless.limits.queries import CHANCE_S, CHANCES, MAX_FLOAT_CONSTANTS
from loopless.navigation.routes import Route
from loopless.queries.call_values.native_driver import Driver
from loopless.queries.call_values.reached import Inputs, Reached
from loopless.queries.call_values.route_inputs import NotDriven, inputs_of
from loopless.queries.reach.question import ReachQuestion
from loopless.source.ir import FloatConst, Module
from loopless.transition.relation import TransitionSystem


class RunsToTarget:
    """Native runs for one question, by a driver."""

    def __init__(self, question: ReachQuestion, system: TransitionSystem, driver: Driver) -> None:
        self.question, self.system, self.driver = question, system, driver

    @property
    def were_drawn(self) -> bool:
        """Whether inputs were drawn at random."""
        return "random inputs" in self.question.tried

    def drawn(self) -> Reached | None:
        """The answer "reached" by a run with inputs drawn at random."""
        try:
            with self.question.timed("random inputs"):
                found = self.driver.by_chance(self.system.graph, _numbers(self.system), CHANCES, CHANCE_S)
        except LooplessError as error:
            self.question.why = self.question.why or str(error)
            return None
        return None if found is None else self._replayed(found, "random inputs")

    def along(self, route: Route, method: str = "guided search") -> Reached | None:
        """What a run with the inputs of a path comes to, which the ``method`` has found."""
        try:
            inputs = inputs_of(route, self.system, self.question.entry, self.driver.signature)
        except NotDriven as error:
            self.question.why = f"a path that gets there was found, but {error}"
            return None
        except LooplessError as error:
            self.question.why = (
                f"a path that gets there was found, but the program could not be compiled for a run: {error}"
            )
            return None
        return self._replayed(inputs, method)

    def _replayed(self, inputs: Inputs, method: str) -> Reached | None:
        """The answer "reached", if the native run with these inputs comes to the target."""
        question, driver = self.question, self.driver
        try:
            with question.timed("replay"):
                reached, said, inputs = driver.replay(inputs)
        except LooplessError as error:
            question.why = f"a path that gets there was found, but could not be replayed: {error}"
            return None
        if not reached and driver.floats:
            with question.timed("replay"):
                found = driver.with_floats(inputs, _constants(question.program.source.module), CHANCE_S)
            if found is None:
                names = ", ".join(driver.floats)
                question.why = (
                    f"a path that gets there was found, but what floating-point numbers decide is not followed, and "
                    f"none of the values that were tried for {names} gets there"
                )
                return None
            reached, inputs = True, found
        if not reached:
            question.why = (
                f"a path that gets there was found, but the native run with its inputs ended otherwise ({said})"
            )
            return None
        return question.reached(method, inputs)


def _constants(module: Module) -> list[float]:
    """The floating-point constants of the program."""
    instructions = (i for one in module.defined() for i in one.instructions())
    operands = (operand for i in instructions for operand in i.operands)
    numbers = (number_of(one) for one in operands if isinstance(one, FloatConst))
    return list(dict.fromkeys(number for number in numbers if number is not None))[:MAX_FLOAT_CONSTANTS]


def _numbers(system: TransitionSystem) -> list[int]:
    """Numbers that conditions compare with, for inputs drawn at random."""
    found: dict[int, None] = {}
    for transition in system.transitions:
        for compared in t.comparisons(transition.condition):
            for node in t.walk(compared.term):
                if isinstance(node, t.Const):
                    found[node.value] = None
                elif isinstance(node, t.Sum):
                    found |= {-value: None for monomial, value in node.items if not monomial}
    return [value for value in found if abs(value) < 1 << 31][:40]
