"""The benchmark watches functions of the package by their names: they must be there."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_stages_that_the_benchmark_watches_exist():
    spec = importlib.util.spec_from_file_location("bench_run", ROOT / "bench" / "run.py")
    run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run)
    assert run.SUMMARY_STAGES
    for module, name in run.SUMMARY_STAGES.values():
        assert callable(functools.reduce(getattr, name.split("."), importlib.import_module(module)))
