import pickle

from loopless.flowgraph.callees.summaries import CalleeSummaries, CalleeSummary, Fact

DEPTH = Fact("depth", -1)
NAME: Fact[str] = Fact("name", "")


def test_a_fact_is_found_once_and_when_it_is_asked_for():
    asked = list[str]()
    callees = CalleeSummaries()
    callees.provide(NAME, lambda name: asked.append(name) or name.upper())
    assert callees.of("f") == CalleeSummary("f", {})
    assert [callees.ask(name, NAME) for name in ("f", "g", "f")] == ["F", "G", "F"]
    assert asked == ["f", "g"]
    assert callees.told(NAME) == {"f": "F", "g": "G"}


def test_a_fact_that_nobody_provides_is_unknown_until_it_is_told():
    callees = CalleeSummaries()
    assert callees.ask("f", DEPTH) == -1
    callees.tell("f", DEPTH, 3)
    assert callees.ask("f", DEPTH) == 3
    assert callees.ask("g", DEPTH) == -1


def test_a_fact_is_unknown_while_it_is_found_so_recursion_ends():
    calls = {"f": ["g"], "g": ["h", "f"], "h": []}
    callees = CalleeSummaries()
    callees.provide(DEPTH, lambda name: 1 + max((callees.ask(one, DEPTH) for one in calls[name]), default=-1))
    assert callees.ask("f", DEPTH) == 2  # f calls g, which calls h
    assert callees.told(DEPTH) == {"f": 2, "g": 1, "h": 0}


def test_a_summary_is_a_value():
    callees = CalleeSummaries()
    callees.provide(NAME, str.upper)
    callees.ask("f", NAME)
    summary = callees.of("f")
    callees.tell("f", DEPTH, 7)
    assert (summary.get(NAME), summary.get(DEPTH)) == ("F", -1)  # not what was told later
    assert pickle.loads(pickle.dumps(summary)) == summary
    assert callees.of("f").get(DEPTH) == 7
