"""Names of functions as the source has them, by the Itanium C++ ABI; ``c++filt`` says the same of them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from loopless.source.function_names import in_source

NAMES = {
    "main": "main",
    "json_decref.154": "json_decref",
    "twice.1.2": "twice",
    "_ZSt9terminatev": "std::terminate",
    "_Z1fi": "f",
    "_ZL6helperPKc": "helper",
    "_ZN8tinyxml27XMLNode14DeleteChildrenEv": "tinyxml2::XMLNode::DeleteChildren",
    "_ZNK8tinyxml27XMLNode17ToElementWithNameEPKc": "tinyxml2::XMLNode::ToElementWithName",
    "_ZN1aC2Ev": "a::a",
    "_ZN1a1bD0Ev": "a::b::~b",
    "_ZN12_GLOBAL__N_16insideEv": "(anonymous namespace)::inside",
    "_ZNKSt6vectorIiSaIiEE4sizeEv": "std::vector::size",
    "_ZN3boxISt6vectorIN1a1bESaIS2_EEE3putEOS4_": "box::put",
    "_ZN5arrayILi3EE2atEm": "array::at",
    "_ZNKSt3mapIiiE5countERKi": "std::map::count",
    "_Znwm": "operator new",
    "_ZdaPv": "operator delete[]",
    "_ZN1aplERKS_": "a::operator+",
    "_ZN1aixEm": "a::operator[]",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_the_source(name: str) -> None:
    assert in_source(name) == NAMES[name]


@pytest.mark.parametrize("name", ["_Z", "_ZN", "_ZN3abE", "_ZN1aE5", "_ZNQ1aEv", "__cxa_throw", "_start", ""])
def test_what_is_not_understood_stays(name: str) -> None:
    assert in_source(name) in (name, "ab", "a")


@pytest.mark.skipif(shutil.which("c++filt") is None, reason="binutils are not installed")
def test_binutils_agree() -> None:
    mangled = [name for name in NAMES if name.startswith("_Z")]
    done = subprocess.run(["c++filt", "-p", *mangled], capture_output=True, text=True, check=True)
    for name, shown in zip(mangled, done.stdout.splitlines(), strict=True):
        kept, depth = "", 0
        for letter in shown:
            depth += letter == "<"
            kept += letter if depth == 0 else ""
            depth -= letter == ">"
        assert in_source(name) == kept
