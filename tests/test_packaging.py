"""What is shipped: metadata, the lock, the wheel, and the script that sets all up."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements" / "dev.lock").read_text(encoding="utf-8")
LOCKED = dict(re.findall(r"^([\w.-]+)==([\w.]+)", LOCK, re.MULTILINE))
DIRECT = [Requirement(text) for text in PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]]


@pytest.mark.parametrize("requirement", DIRECT, ids=lambda requirement: requirement.name)
def test_the_lock_has_every_requirement(requirement: Requirement) -> None:
    assert LOCKED[requirement.name] in requirement.specifier


def test_every_locked_version_has_hashes() -> None:
    entries = re.split(r"\n(?=\S)", LOCK.strip())
    hashed = re.compile(r"[\w.-]+==\S+[^\n]*(\s+--hash=sha256:[0-9a-f]{64}\s*\\?)+")
    assert [entry for entry in entries if not hashed.fullmatch(entry)] == []
    assert len(entries) >= len(LOCKED)
    assert "://" not in LOCK


def test_every_run_time_requirement_has_both_bounds() -> None:
    for requirement in map(Requirement, PROJECT["project"]["dependencies"]):
        operators = {specifier.operator for specifier in requirement.specifier}
        assert operators in ({"=="}, {">=", "<"}), requirement


def output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_clang_and_llvm_are_of_one_version() -> None:
    """ziglang 0.17 and llvmlite 0.50 both carry LLVM 22.1; whoever moves one must move the other."""
    pinned = {r.name: str(r.specifier) for r in DIRECT if r.name in {"ziglang", "llvmlite"}}
    assert pinned == {"ziglang": "==0.17.*", "llvmlite": "==0.50.*"}
    clang = output([sys.executable, "-m", "ziglang", "clang", "--version"])
    llvm = output([sys.executable, "-c", "import llvmlite.binding as b; print(*b.llvm_version_info[:2], sep='.')"])
    assert f"clang version {llvm.strip()}." in clang


def test_this_python_is_a_supported_one() -> None:
    assert ".".join(map(str, sys.version_info[:3])) in SpecifierSet(PROJECT["project"]["requires-python"])


def test_the_command_leads_to_a_function() -> None:
    module, _, name = PROJECT["project"]["scripts"]["loopless"].partition(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_the_wheel_has_the_package_and_nothing_else(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"loopless", f"loopless-{PROJECT['project']['version']}.dist-info"}
    assert "loopless/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    data = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.json")}
    assert data <= set(names)
    assert [name for name in names if name.endswith(".md")] == ["loopless/report/refusals.md"]


def test_the_script_refuses_an_old_python_in_one_sentence(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n', encoding="utf-8")
    old.chmod(0o755)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "dev.lock").write_text("", encoding="utf-8")
    (tmp_path / "dev").write_bytes((ROOT / "dev").read_bytes())
    environment = {**os.environ, "PYTHON": str(old)}
    command = ["sh", "dev", "test"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Loopless needs Python 3.11 or newer, and {old} is Python 3.9.2; set PYTHON to")
    assert done.stderr.count("\n") == 1
