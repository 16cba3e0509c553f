"""Functions as transitions between headers, against runs of the interpreter."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest

from headers_walked import arguments, walk
from loopless.bounds.induction.measures import entails
from loopless.bounds.invariants.at_headers import invariants_at
from loopless.bounds.invariants.in_call import with_invariants
from loopless.bounds.looperman.scopes import scopes_of
from loopless.bounds.ranking.cutpoints import ENTRY, CutpointGraph, cutpoints_of, under
from loopless.bounds.ranking.refinement import longest, refined
from loopless.bounds.ranking.transition_system import system
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths
from loopless.refusals import Refused
from loopless.terms import TRUE, Condition, Var, conjunction, conjuncts, const, greater_equal, holds, less_equal
from loops_in_c import graph, paths

FUNCTIONS = {
    "a triangle": "int f(int n, int m) { int s = 0; for (int i = 0; i < n; i++) for (int j = i; j < n; j++) s++; return s; }",
    "one after another": "int f(int n, int m) { int i = 0; while (i < n) i += 2; while (i > m) i--; return i; }",
    "a flag": "int f(int n, int m) { int go = 1; while (go) { go = 0; while (n > m) { n--; go = 1; } } return n; }",
    "entered in two ways": "int f(int n, int m) { int i = 0; while (i < n) { int j; i++; if (i > m) { m++; j = 3; }"
    " else { n--; j = i - 5; } while (j < n) j++; } return i; }",
    "phases": "int f(int n, int m) { int p = 0; while (n > 0) { if (p == 0) p = 1; else if (p == 1 && m > 3) p = 2; n--; } return p; }",
    "three deep": "int f(int n, int m) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) { int k = j;"
    " while (k > 0) { k -= 2; s++; } } return s; }",
}
ROWS = list(product((-2, 0, 1, 4, 7), (-1, 0, 2, 5)))


def read(name: str) -> tuple[Flowgraph, CutpointGraph]:
    g = graph(FUNCTIONS[name])
    found = cutpoints_of(g)
    assert isinstance(found, CutpointGraph), found
    return g, found


def counts(g: Flowgraph, cutpoints: CutpointGraph, row: tuple[int, ...]) -> Counter[str]:
    """How often a run takes the way back of each loop, by the loop's name."""
    names = {loop.header: loop.name for loop in g.loops}
    taken = [path.id for _, _, path in walk(cutpoints, arguments(g, row))]
    return Counter(names[cutpoints.back[id]] for id in taken if id in cutpoints.back)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_run_is_a_sequence_of_transitions(name: str) -> None:
    g, cutpoints = read(name)
    most = 0
    for row in ROWS:
        truth = Interpreter(None, g).run(row).iterations
        assert counts(g, cutpoints, row) == Counter({loop: n for loop, n in truth.items() if n}), row
        most = max(most, sum(truth.values()))
    assert most > 5


@pytest.mark.parametrize("name", FUNCTIONS)
def test_headers_told_apart_have_the_same_runs(name: str) -> None:
    g, cutpoints = read(name)
    apart = refined(cutpoints, system(cutpoints.paths, TRUE, split=False))
    assert isinstance(apart, CutpointGraph), apart
    assert len(set(apart.target.values())) >= len(set(cutpoints.target.values()))
    for row in ROWS:
        assert counts(g, apart, row) == counts(g, cutpoints, row), row


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_said_of_headers_holds_there(name: str) -> None:
    g, cutpoints = read(name)
    facts = invariants_at(cutpoints)
    assert facts[ENTRY] is TRUE
    assert any(fact is not TRUE for fact in facts.values())
    visits: Counter[str] = Counter()
    for row in ROWS:
        for place, state, _ in walk(cutpoints, arguments(g, row)):
            known = [part for part in conjuncts(facts[place]) if part.variables <= state.keys()]
            assert all(holds(part, state) for part in known), (place, state)
            visits[place] += len(known)
    assert sum(visits.values()) > 50
    narrower = under(cutpoints.paths, {path.id: facts[cutpoints.source[path.id]] for path in cutpoints.paths.iterative})
    for path, plain in zip(narrower.iterative, cutpoints.paths.iterative, strict=True):
        assert entails(path.condition, plain.condition)


def variable(cutpoints: CutpointGraph, name: str) -> Var:
    return next(v for v in cutpoints.paths.state if v.name == name)


def test_a_counter_that_begins_at_0_is_not_negative_at_its_header() -> None:
    """And inside the second loop of the triangle j is not below i, which is not below 0."""
    _, cutpoints = read("a triangle")
    facts = invariants_at(cutpoints)
    i, j = variable(cutpoints, "i"), variable(cutpoints, "j")
    inner = [header for header, fact in facts.items() if entails(fact, greater_equal(j, i))]
    assert inner
    for header in inner:
        assert entails(facts[header], greater_equal(i, const(0)))
        assert not entails(facts[header], less_equal(j, i))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_holds_in_every_call_is_added_to_iterations(name: str) -> None:
    """The facts hold at each visit of the header, and those of the triangle say that i is not negative."""
    g, cutpoints = read(name)
    plain = scopes_of(g)
    known = with_invariants(plain)
    added: dict[str, Condition] = {}
    for header, scope in known.scopes.items():
        before = plain.scopes[header]
        assert not isinstance(scope, Refused)
        assert not isinstance(before, Refused)
        assert len(scope.iterations) == len(before.iterations)
        for new, old in zip(scope.iterations, before.iterations, strict=True):
            extra = set(conjuncts(new.condition)) - set(conjuncts(old.condition))
            mine = conjunction(part for part in extra if part.variables <= set(g.variables))
            added[header] = conjunction((added.get(header, TRUE), mine))
    compared = 0
    for row in ROWS:
        # Facts may speak of parameters at the entry of the loop around, which no loop here changes but n.
        for place, state, _ in walk(cutpoints, arguments(g, row)):
            fact = added.get(place, TRUE)
            if fact is not TRUE and fact.variables <= state.keys():
                assert holds(fact, state), (place, state, str(fact))
                compared += 1
    assert compared > 20 or name in ("one after another", "a flag")


CHAINS = {
    "int f(int n, int k) { while (n >= 0 && n < 3) n++; return n; }": 3,
    "int f(int n, int k) { while (n >= 0 && n < 4) n++; return n; }": 4,
    "int f(int n, int k) { while (n == k) n++; return n; }": 1,
    "int f(int n, int k) { while (n > 5 && n < 12) n += 4; return n; }": 2,
    "int f(int n, int k) { while (n > 0) n--; return n; }": None,
}
"""How many iterations follow one another at most, whatever n and k; None: five and more."""


@pytest.mark.parametrize("source", CHAINS)
def test_the_longest_chain_is_as_long_as_runs_are(source: str) -> None:
    found = paths(source)
    assert isinstance(found, LoopPaths)
    transitions = system(found, TRUE, split=False).transitions
    assert longest(transitions, lambda _before, _after: True) == CHAINS[source]
    g = graph(source)
    most = max(sum(Interpreter(None, g).run((n, k)).iterations.values()) for n, k in product(range(-1, 14), range(3)))
    assert most == CHAINS[source] or (CHAINS[source] is None and most >= 5)
