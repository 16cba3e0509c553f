"""The answer about a place that runs are to get to, as people hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from loopless.errors import UsageError
from loopless.interface.shown import Shown
from loopless.queries.call_values.reached import Inputs, ReachAnswer
from loopless.queries.settings import Settings
from loopless.report import html
from loopless.report.reach import reach_json, reach_text


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reached(Shown):
    """Whether some run gets to a place; ``print`` shows it as ``loopless reach`` does."""

    found: ReachAnswer
    """All that was found out."""
    files: tuple[str, ...]
    """The files of the program."""
    _settings: Settings

    @property
    def verdict(self) -> str:
        """One of "reached", "unreachable" and "unknown"."""
        return self.found.verdict

    @property
    def inputs(self) -> Inputs | None:
        """The inputs of a run that gets there, which was replayed."""
        return self.found.inputs

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        """The certificate of a proof that nothing gets there, which the judge accepted."""
        return self.found.certificate

    @property
    def reason(self) -> str:
        """Why nothing is known."""
        return self.found.reason

    def c_test(self, folder: str | Path = ".") -> str:
        """A C file, to be put into ``folder``, that runs the program with the inputs. Raises ``UsageError`` where there
        are none, or they cannot be given in C.
        """
        from loopless.queries.call_values.surroundings import surroundings
        from loopless.report.reach_tests import c_test

        if self.found.inputs is None:
            raise UsageError(f"the answer is {self.found.verdict}: there is no test to write")
        files = [Path(file) for file in self.files]
        options = replace(self._settings.source, target=None)
        program = surroundings(files, self.found.function, options)
        return c_test(self.found.inputs, f"Leads to {self.found.target}.", program, Path(folder))

    def as_json(self) -> dict[str, Any]:
        """The fields that ``loopless reach --format json`` gives."""
        return reach_json(self.found)

    def __bool__(self) -> bool:
        return self.found.verdict == "reached"

    def __str__(self) -> str:
        return reach_text(self.found)

    def _brief(self) -> str:
        return f"{self.found.target}: {self.found.verdict}"

    def _repr_html_(self) -> str:
        heading, *lines = str(self).splitlines()
        told = [html.note("how", [line.strip() for line in lines])] if lines else []
        return html.box([html.heading(self.found.verdict, heading.partition(": ")[2]), *told])


def asked(
    files: tuple[str, ...],
    settings: Settings,
    place: tuple[int | str | None, str | None, str | None],
    function: str | None,
    minimize: str,
    timeout_s: float | None,
) -> Reached:
    """The answer about a place: a line, a call, and a condition, as ``Program.reach`` takes them."""
    from loopless.queries.reach.answering import DEFAULT_S, reach
    from loopless.queries.reach.places import place_of

    if minimize not in ("", "run", "inputs"):
        raise UsageError(f"there is nothing to minimize called {minimize!r}; there are 'run' and 'inputs'")
    line, call, when = place
    paths = [Path(file) for file in files]
    target = place_of(paths, None if line is None else str(line), call, when)
    seconds = timeout_s if timeout_s is not None else settings.timeout_s or DEFAULT_S
    found = reach(paths, target, function, settings, seconds=seconds, minimize=minimize)
    return Reached(found, files, settings)
