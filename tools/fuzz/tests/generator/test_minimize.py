"""Minimizing a planted failure: it stays a failure, it gets small, and what is kept can be read back and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle, NativeRun
from loopless.check.outcome import Outcome
from loopless.errors import SourceError
from loopless_fuzz.generator.case import Case, load_case, save_case
from loopless_fuzz.generator.generate import PROFILES, generate, inputs, nondet_stream, print_program
from loopless_fuzz.generator.minimize import minimize, size
from loopless_fuzz.generator.syntax import Binary, Call, Function, While, walk
from loopless_fuzz.generator.validate import valid


@pytest.fixture(scope="module")
def host() -> Iterator[NativeHost]:
    with NativeHost() as shared:
        yield shared


def native(host: NativeHost, case: Case, seconds: float = 0.05) -> Outcome:
    with NativeOracle(print_program(case.program), host=host, limits=NativeLimits(seconds=seconds)) as oracle:
        return oracle.run("f", case.args, nondet=case.nondet)


def cases(name: str, count: int) -> Iterator[Case]:
    for seed in range(count):
        program = generate(seed, PROFILES[name])
        for args in inputs(program.signature, seed, 5):
            yield Case(program, args, nondet_stream(seed, 50))


def first(host: NativeHost, name: str, wanted: Callable[[Outcome], bool]) -> Case:
    """The first generated case whose native outcome is as wanted."""
    for seed in range(300):
        program, stream = generate(seed, PROFILES[name]), nondet_stream(seed, 50)
        drawn = inputs(program.signature, seed, 8)
        with NativeOracle(print_program(program), host=host, limits=NativeLimits(seconds=0.02)) as oracle:
            found = oracle.run_many("f", [NativeRun(args, stream) for args in drawn])
        for args, outcome in zip(drawn, found, strict=True):
            if wanted(outcome):
                return Case(program, args, stream)
    raise AssertionError("the generator makes no such case")


def shows_a_remainder(case: Case) -> bool:
    return any(isinstance(node, Binary) and node.op == "%" for node in walk(case.program.function))


@pytest.mark.parametrize("name", ["everything", "nests", "eight-bit", "nonlinear", "recursion"])
def test_a_planted_failure_shrinks_to_its_heart(name: str) -> None:
    start = next(case for case in cases(name, 200) if shows_a_remainder(case))
    small = minimize(start, shows_a_remainder, budget=5000)
    assert shows_a_remainder(small)
    assert valid(small.program)
    assert small.args == ()
    assert small.nondet == ()
    text = print_program(small.program)
    assert len(text.splitlines()) <= 7
    assert "0 % 0" in text or " %= 0;" in text


@pytest.mark.slow
def test_a_failure_of_the_native_run_shrinks_and_stays(host: NativeHost) -> None:
    def overflows(outcome: Outcome) -> bool:
        return outcome.status == "undefined" and "addition" in outcome.detail

    start = first(host, "everything", overflows)
    small = minimize(start, lambda case: overflows(native(host, case)), budget=60)
    assert overflows(native(host, small, seconds=5.0))
    assert size(small) < size(start) / 3


@pytest.mark.slow
def test_loops_and_inputs_shrink_too(host: NativeHost) -> None:
    def ten(outcome: Outcome) -> bool:
        return outcome.status == "ok" and (outcome.return_value or 0) >= 10

    def loops_to_ten(case: Case) -> bool:
        return any(isinstance(node, While) for node in walk(case.program)) and ten(native(host, case))

    start = next(case for case in cases("single-path", 400) if loops_to_ten(case))
    small = minimize(start, loops_to_ten, budget=50)
    assert loops_to_ten(small)
    assert size(small) < size(start)


def test_the_budget_is_kept() -> None:
    asked = 0

    def never(case: Case) -> bool:
        nonlocal asked
        asked += 1
        return False

    start = next(cases("everything", 1))
    assert minimize(start, never, budget=7) == start
    assert asked == 7


def test_only_valid_smaller_programs_are_asked_about() -> None:
    start = next(cases("everything", 1))
    seen: list[Case] = []

    def note(case: Case) -> bool:
        seen.append(case)
        return len(seen) % 3 == 0

    minimize(start, note, budget=300)
    assert len(seen) > 50
    assert all(valid(case.program) for case in seen)
    assert len(set(seen)) == len(seen)
    assert all(size(case) < size(start) for case in seen)


@pytest.mark.slow
def test_every_cut_of_many_programs_compiles(host: NativeHost) -> None:
    """What the validity check lets through must compile and end without a crash."""
    for seed in (3, 11, 19):
        program = generate(seed, PROFILES["everything"])
        start = Case(program, inputs(program.signature, seed, 1)[0], nondet_stream(seed, 50))
        statuses: list[str] = []

        def run(case: Case, statuses: list[str] = statuses) -> bool:
            statuses.append(native(host, case).status)
            return len(statuses) % 2 == 0

        minimize(start, run, budget=25)
        assert len(statuses) > 10
        assert "crashed" not in statuses


def test_a_kept_case_can_be_read_back_and_run(host: NativeHost, tmp_path: Path) -> None:
    for number, case in enumerate(list(cases("arrays", 4))[::5]):
        outcome = native(host, case)
        path = tmp_path / f"case{number}.c"
        save_case(path, case, outcome, note="a comment must not end here: */ int x;")
        kept = load_case(path)
        assert (kept.function, kept.args, kept.nondet, kept.expected) == ("f", case.args, case.nondet, outcome)
        assert kept.note.endswith("*/ int x;")
        with NativeOracle(path, host=host, limits=NativeLimits(seconds=0.05)) as oracle:
            assert oracle.run(kept.function, kept.args, nondet=kept.nondet) == outcome


@pytest.mark.parametrize("text", ["int f(void) { return 1; }", "/* kept case\n{}\n*/\n", "/* kept case\n{\n*/\n"])
def test_other_files_are_no_kept_cases(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.c"
    path.write_text(text)
    with pytest.raises(SourceError, match="no kept case"):
        load_case(path)


def test_minimizing_keeps_the_function_a_function() -> None:
    start = next(cases("everything", 1))
    small = minimize(start, lambda case: isinstance(case.program.function, Function), budget=3000)
    assert print_program(small.program).splitlines()[-3:] == ["{", "    return 0;", "}"]


def test_a_recursive_function_loses_what_does_not_matter() -> None:
    def adds_after_its_call(case: Case) -> bool:
        return any(
            isinstance(node, Binary)
            and node.op == "+"
            and isinstance(node.left, Call)
            and node.left.function == "again"
            for node in walk(case.program)
        )

    def start() -> Case:
        for case in cases("recursion", 200):
            found = {helper.name: helper for helper in case.program.helpers if isinstance(helper, Function)}
            if adds_after_its_call(case) and len(found["again"].params) > 1:
                return case
        raise AssertionError("the generator makes no such case")

    small = minimize(start(), adds_after_its_call, budget=5000)
    assert adds_after_its_call(small) and valid(small.program)
    (helper,) = small.program.helpers
    assert isinstance(helper, Function) and len(helper.params) <= 1 and len(helper.body) == 1
    assert not small.program.function.params and not small.program.globals
