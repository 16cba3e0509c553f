"""Settings that hold for all tests."""

from __future__ import annotations

import os
import tempfile

import pytest
from hypothesis import settings

# Solvers and compilers take what they take: time limits per example would only make tests flaky.
settings.register_profile("loopless", deadline=None, print_blob=True)
settings.load_profile("loopless")

ONE_IN = 16
"""Of the slow cases, the share that a run of the whole suite takes without ``--every``: it ends within 25 minutes so."""
_THINNED = "LOOPLESS_TESTS_THINNED"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every", action="store_true", help="every case of the slow tests, not one in sixteen")
    parser.addoption(
        "--update-cases", action="store_true", help="write what commands print now into tests/cases; changed cases fail"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Whoever names files or tests gets all of their cases; the workers of a run hear by the environment."""
    if config.getoption("--update-cases") and os.environ.get("CI"):
        raise pytest.UsageError("--update-cases is for a person who looks at what changes, and CI is set")
    if not hasattr(config, "workerinput"):
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        os.environ[_THINNED] = "" if named or config.getoption("--every") else "1"


@pytest.fixture(autouse=True)
def _same_place_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A campaign that a test runs in this process sets the folder of temporary files; the next test has the usual one."""
    monkeypatch.setattr(tempfile, "tempdir", tempfile.tempdir)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out most of the slow cases, the same ones in every run."""
    if not os.environ.get(_THINNED):
        return
    slow = [item for item in items if item.get_closest_marker("slow") is not None]
    left_out = [item for number, item in enumerate(slow) if number % ONE_IN]
    config.hook.pytest_deselected(items=left_out)
    gone = set(left_out)
    items[:] = [item for item in items if item not in gone]
