"""One conjunction that grows, and questions to Z3 about it: what was said once is not translated again.

Conditions go there as text: Z3 reads that many times faster than its own terms are made one by one from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from loopless import terms as t
from loopless.logic.solver import SmtAnswer, Solver


class Conjunction:
    """What holds of some variables, over the integers with the ranges of their types. Conditions for which SMT-LIB has
    no words are left out, which never loses a solution.
    """

    def __init__(self) -> None:
        self._added: list[t.Condition] = []
        self._begin()

    def _begin(self) -> None:
        self._solver = Solver(engine="tactics")
        self._variables: dict[str, t.Var] = {}
        self._declared: set[str] = set()  # for good: what is popped stays declared

    def add(self, conditions: Iterable[t.Condition]) -> None:
        """Let the conditions hold too."""
        conditions = list(conditions)
        self._added += conditions
        if not self._solver.failed:  # where Z3 gives up in the middle of a text, the solver takes no other one
            self._say(conditions)

    def _again(self) -> bool:
        """Tell all to a new solver; whether that could be done."""
        self._begin()
        return self._say(self._added)

    def _say(self, conditions: Iterable[t.Condition]) -> bool:
        texts: list[str] = []
        for condition in conditions:
            text = t.smt(condition)
            if text is None:
                continue
            texts.append(f"(assert {text})")
            for var in sorted(condition.variables, key=lambda one: one.key):  # Z3's models depend on the order
                name = t.symbol(var.name)
                if name not in self._variables:
                    self._variables[name] = var
                    for limit, relation in ((var.type.min, "<="), (var.type.max, ">=")):
                        if limit is not None:
                            texts.append(f"(assert ({relation} {_number(limit)} {name}))")
        lines = [f"(declare-const {name} Int)" for name in self._variables if name not in self._declared]
        self._declared.update(self._variables)
        return not texts or self._solver.tell_text("\n".join([*lines, *texts]))

    def check(self, also: Iterable[t.Condition], timeout_ms: int) -> tuple[SmtAnswer, Mapping[t.Var, int]]:
        """Whether all that holds, and ``also``, has a solution, and one; without a solution none surely exists."""
        if self._solver.failed and not self._again():
            return SmtAnswer.UNKNOWN, {}
        self._solver.limit(timeout_ms)
        before = dict(self._variables)
        with self._solver.scope():
            answer, model = self._solver.ask_model() if self._say(also) else (SmtAnswer.UNKNOWN, None)
            values = self._values(model) if model is not None else {}
        self._variables = before  # their limits are gone with the rest
        return answer, values

    def _values(self, model: Any) -> dict[t.Var, int]:
        held = {declared.name(): model[declared] for declared in model.decls()}
        found: dict[t.Var, int] = {}
        for name, var in self._variables.items():
            value = held.get(name.strip("|"))
            found[var] = value.as_long() if value is not None else _nearest(var)
        return found


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _nearest(var: t.Var) -> int:
    low, high = var.type.min, var.type.max
    return max(low if low is not None else 0, min(0, high if high is not None else 0))
