"""The package itself: examples in docstrings and in the README, stubs, version, import."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bqnco
from bqnco import _batch, _bqnco, _evaluate, _instances, _learn, _solve, interop
from conftest import ROOT, needed

MODULES = [bqnco, _batch, _evaluate, _instances, _learn, _solve, interop]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_in_docstrings_run(module: object) -> None:
    failed, tried = doctest.testmod(module)
    assert tried > 0 and failed == 0


def test_examples_of_the_environments_run() -> None:
    needed("gymnasium")
    import bqnco.envs

    failed, tried = doctest.testmod(bqnco.envs)
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_examples_in_pages_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a page in order, in one namespace."""
    needed("gymnasium")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert blocks
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"folder": str(tmp_path)}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_stubs_name_what_there_is() -> None:
    """mypy cannot see whether the stubs tell the truth."""
    stub = ast.parse((Path(bqnco.__file__).parent / "_bqnco.pyi").read_text())
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            told = {f.name for f in node.body if isinstance(f, ast.FunctionDef)} - {"__new__"}
            there = {name for name in vars(getattr(_bqnco, node.name)) if not name.startswith("__")}
            assert told == there, node.name
    told = {node.name for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert told == {name for name in dir(_bqnco) if not name.startswith("_") and name != "PROBLEMS"}


def test_everything_is_documented() -> None:
    for name in bqnco.__all__:
        thing = getattr(bqnco, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
    text = inspect.getdoc(bqnco.solve) or ""
    assert all(f"{name}:" in text for name in ["search", "time_limit", "seed", "threads", "model", "start"])


def test_the_version_is_that_of_cargo() -> None:
    (version,) = re.findall(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)
    assert bqnco.__version__ == version


def test_an_import_needs_numpy_only_and_nothing_slow() -> None:
    code = "import sys, numpy; before = set(sys.modules); import bqnco; print(*set(sys.modules) - before)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    others = {"torch", "gymnasium", "matplotlib", "pandas", "tqdm", "networkx", "pyvrp"}
    slow = {"numpy.typing", "json", "html", "tempfile", "pathlib", "inspect"}
    assert not set(told) & (others | slow) and "bqnco._bqnco" in told


def test_the_lowest_version_of_python_is_that_of_the_wheel() -> None:
    cargo, project = (ROOT / "crates/python/Cargo.toml").read_text(), (ROOT / "pyproject.toml").read_text()
    (minor,) = re.findall(r"abi3-py3(\d+)", cargo)
    assert f'requires-python = ">=3.{minor}"' in project
