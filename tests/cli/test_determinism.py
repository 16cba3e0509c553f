"""The same question gives the same JSON, times aside, whatever the hash seed and the number of workers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples" / "cases").glob("*.c"))
QUESTIONS = {
    "classify": ["classify", "examples/proteus", "examples/cases"],
    # Each file is asked for the summaries of its loops or of its functions, which rest on them.
    "summarize": ["summarize", *CASES[::2], "--unknown-ok"],
    "loops": ["loops", *CASES[1::3]],
    "whole": ["summarize", *CASES[1::2], "--whole", "--unknown-ok"],
}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key != "time_ms"}
    return [without_times(part) for part in value] if isinstance(value, list) else value


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_depends_on_the_question_only(run, question):
    answers = set()
    for seed, workers in (("0", "1"), ("77", "3")):
        # More time than the default, or a busy machine would decide what is refused.
        words = [*QUESTIONS[question], "--format", "json", "-j", workers, "--loop-timeout", "120"]
        done = run(*words, env={"PYTHONHASHSEED": seed})
        assert done.returncode == 0, done.stderr
        answers.add(json.dumps(without_times(json.loads(done.stdout)), sort_keys=False))
    (answer,) = answers
    assert len(json.loads(answer)["loops"]) > {"classify": 20, "loops": 5}.get(question, 10)
