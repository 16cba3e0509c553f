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
CAMPAIGN = tomllib.loads((ROOT / "tools" / "fuzz" / "pyproject.toml").read_text(encoding="utf-8"))
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


def test_the_commands_lead_to_functions() -> None:
    for scripts in (PROJECT["project"]["scripts"], CAMPAIGN["project"]["scripts"]):
        for target in scripts.values():
            module, _, name = target.partition(":")
            assert callable(getattr(importlib.import_module(module), name))


def test_the_campaign_is_of_the_same_version_and_needs_nothing_new() -> None:
    own = PROJECT["project"]
    assert CAMPAIGN["project"]["version"] == own["version"]
    assert CAMPAIGN["project"]["requires-python"] == own["requires-python"]
    assert set(CAMPAIGN["project"]["dependencies"]) <= {f"loopless=={own['version']}", *own["dependencies"]}


def built(folder: Path, to: Path) -> list[str]:
    """The names of the files in the wheel of the project in ``folder``."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(to)]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    (wheel,) = to.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def tops(names: list[str]) -> set[str]:
    return {name.split("/")[0] for name in names}


def test_the_wheel_of_the_campaign_has_its_package_and_nothing_else(tmp_path: Path) -> None:
    names = built(ROOT / "tools" / "fuzz", tmp_path)
    assert tops(names) == {"loopless_fuzz", f"loopless_fuzz-{CAMPAIGN['project']['version']}.dist-info"}
    sources = ROOT / "tools" / "fuzz" / "src"
    assert {path.relative_to(sources).as_posix() for path in sources.rglob("*.py")} <= set(names)


def test_the_wheel_has_the_package_and_nothing_else(tmp_path: Path) -> None:
    names = built(ROOT, tmp_path)
    assert tops(names) == {"loopless", f"loopless-{PROJECT['project']['version']}.dist-info"}
    assert not [name for name in names if "fuzz" in name or name.startswith("loopless/check/generator")]
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
