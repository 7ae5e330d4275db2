"""The package itself: examples in docstrings and in the README, stubs, version, import."""

from __future__ import annotations

import ast
import dataclasses
import doctest
import fnmatch
import inspect
import os
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


def parameters_of_stub(function: ast.FunctionDef) -> list[tuple[str, object]]:
    """Names and defaults of the parameters, as a stub states them."""
    arguments = function.args
    assert not (arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg), function.name
    missing = [inspect.Parameter.empty] * (len(arguments.args) - len(arguments.defaults))
    defaults = [*missing, *map(ast.literal_eval, arguments.defaults)]
    return [(one.arg, default) for one, default in zip(arguments.args, defaults)]


def test_stubs_have_the_parameters_that_there_are() -> None:
    """Names, order and defaults; python/test.sh runs mypy's stubtest, too, which needs more than this package."""

    def compare(told: ast.FunctionDef, there: object) -> None:
        found = [(one.name, one.default) for one in inspect.signature(there).parameters.values()]
        assert parameters_of_stub(told) == found, told.name

    stub = ast.parse((Path(bqnco.__file__).parent / "_bqnco.pyi").read_text())
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            compare(node, getattr(_bqnco, node.name))
        for method in node.body if isinstance(node, ast.ClassDef) else []:
            if not isinstance(method, ast.FunctionDef):
                continue
            there = inspect.getattr_static(getattr(_bqnco, node.name), method.name)
            is_property = any(isinstance(one, ast.Name) and one.id == "property" for one in method.decorator_list)
            assert is_property == inspect.isgetsetdescriptor(there), method.name
            if method.name == "__new__":
                del method.args.args[0]  # a class's signature has no `cls`
                compare(method, getattr(_bqnco, node.name))
            elif not is_property:
                compare(method, there)


#: What is public; `bqnco.envs` needs gymnasium.
PUBLIC = {**{name: getattr(bqnco, name) for name in bqnco.__all__}, "eval": bqnco.eval}


def test_everything_is_documented() -> None:
    for name, thing in {**PUBLIC, **{f"interop.{name}": one for name, one in vars(interop).items()}}.items():
        if not (inspect.isclass(thing) or inspect.isfunction(thing)) or name.startswith("interop._"):
            continue
        assert inspect.getdoc(thing), name
        fields = dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else []
        assert all(field.name in (inspect.getdoc(thing) or "") for field in fields), name
        members = vars(thing).items() if inspect.isclass(thing) and thing.__module__.startswith("bqnco") else []
        for member, value in members:
            is_code = inspect.isroutine(value) or inspect.isdatadescriptor(value)
            assert not is_code or member.startswith("_") or inspect.getdoc(value), f"{name}.{member}"


@pytest.mark.parametrize("name", [name for name, thing in PUBLIC.items() if inspect.isfunction(thing)])
def test_every_function_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(PUBLIC[name]) or "")


def test_help_names_every_function_and_every_argument() -> None:
    text = inspect.getdoc(bqnco) or ""
    assert all(f"``{name}``" in text for name, thing in PUBLIC.items() if inspect.isfunction(thing))
    for function in (bqnco.solve, bqnco.rollout, bqnco.subproblems, bqnco.train, bqnco.eval):
        told = inspect.getdoc(function) or ""
        named = {name for line in re.findall(r"^ +([\w, ]+): ", told, re.M) for name in line.split(", ")}
        assert set(inspect.signature(function).parameters) <= named, function.__name__


def test_modules_that_few_need_come_at_their_first_use() -> None:
    code = "import sys, bqnco; before = 'bqnco.interop' in sys.modules; print(before, bqnco.interop.from_vrplib.__name__)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "False from_vrplib\n"
    assert not hasattr(bqnco, "interops")


def test_the_version_is_that_of_cargo() -> None:
    (version,) = re.findall(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)
    assert bqnco.__version__ == version


def test_an_import_needs_numpy_only_and_nothing_slow() -> None:
    code = "import sys, numpy; before = set(sys.modules); import bqnco; print(*set(sys.modules) - before)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    others = {"torch", "gymnasium", "matplotlib", "pandas", "tqdm", "networkx", "pyvrp"}
    slow = {"numpy.typing", "json", "html", "tempfile", "pathlib", "inspect"}
    assert not set(told) & (others | slow) and "bqnco._bqnco" in told


def test_the_source_distribution_has_what_a_build_needs_and_no_results() -> None:
    """maturin packs what git tracks, but for `exclude`; benchmarks/python.sh builds the wheel from it."""
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout of git: files of a source distribution are not tracked")
    left_out = re.findall(r'\{ path = "(.+)", format = "sdist" \}', (ROOT / "pyproject.toml").read_text())
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    packed = {file for file in files if not any(fnmatch.fnmatch(file, pattern) for pattern in left_out)}
    manifests = {file for file in files if file.endswith("Cargo.toml")}
    assert len(manifests) > 10
    texts = ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "crates/cli/licences.txt", "docs/python.md"]
    of_networks = ["README.md", "config.json", "model.safetensors"]
    compiled_in = {f"models/{name}/{file}" for name in bqnco.models() for file in of_networks}
    for source in ROOT.glob("crates/*/src/**/*.rs"):
        included = re.findall(r'include_(?:str|bytes)!\("(.+?)"\)', source.read_text())
        compiled_in |= {os.path.relpath(source.parent / file, ROOT) for file in included}
    assert len(compiled_in) > 30 and manifests | compiled_in | {"Cargo.lock", "pyproject.toml", *texts} <= packed
    assert not [file for file in packed if re.match(r"benchmarks/|target/|runs/", file)]
    size = sum((ROOT / file).stat().st_size for file in packed if (ROOT / file).exists())
    assert size < 30e6, "PyPI takes 100 MB; nearly all are the networks' weights"


def test_the_lowest_version_of_python_is_that_of_the_wheel() -> None:
    cargo, project = (ROOT / "crates/python/Cargo.toml").read_text(), (ROOT / "pyproject.toml").read_text()
    (minor,) = re.findall(r"abi3-py3(\d+)", cargo)
    assert f'requires-python = ">=3.{minor}"' in project
