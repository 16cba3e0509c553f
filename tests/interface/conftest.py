"""A program that tests ask about, in the folder of the repository."""

from __future__ import annotations

import pytest

import loopless
from asked_both_ways import NEST, ROOT


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    file = tmp_path_factory.mktemp("interface") / "nest.c"
    file.write_text(NEST, encoding="utf-8")
    return loopless.load(file, sandboxed=False)


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Names of files are part of answers."""
    monkeypatch.chdir(ROOT)
