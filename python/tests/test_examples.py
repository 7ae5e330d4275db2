"""The examples: the script, and the notebook cell by cell. They need PyTorch."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from conftest import ROOT

EXAMPLES = ROOT / "python/examples"


def test_the_script_beats_the_heuristic_after_some_seconds() -> None:
    pytest.importorskip("torch")
    arguments = ["--size", "8", "--count", "200", "--minutes", "0.3"]
    told = subprocess.run(
        [sys.executable, EXAMPLES / "train_policy.py", *arguments], capture_output=True, text=True, check=True
    ).stdout
    assert "beam16 (torch)" in told and "nearest neighbour" in told


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells in order, as a kernel would."""
    pytest.importorskip("torch")
    monkeypatch.setenv("MINUTES", "0.05")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    names: dict[str, object] = {}
    for cell in json.loads((EXAMPLES / "train_policy.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert "greedy (torch)" in str(names["result"])
