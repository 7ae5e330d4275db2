"""Progress: in a terminal, with and without tqdm, and in a notebook."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import bqnco
from bqnco._progress import Progress
from conftest import needed


def solve_three() -> None:
    bqnco.solve_batch(np.random.default_rng(1).random((3, 6, 2)), preset="fast", progress=True)


@pytest.mark.parametrize("tqdm", [True, False], ids=["with tqdm", "without tqdm"])
def test_progress_is_shown(tqdm: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if tqdm:
        needed("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # an import of it fails
    solve_three()
    told = capsys.readouterr()
    assert "3/3" in told.err and ("100%|" in told.err) == tqdm and told.out == ""
    bqnco.solve(bqnco.tsp(np.random.default_rng(1).random((8, 2))), time_limit=0.2, progress=True)
    assert "length" in capsys.readouterr().err
    bqnco.generate("tsp", size=5, count=2, progress=True)
    assert "2/2" in capsys.readouterr().err


def test_a_total_may_become_known_later(capsys: pytest.CaptureFixture[str]) -> None:
    """Of an evaluation it is known once the instances are read."""
    with Progress(None, "solved", True) as bar:
        bar.at(0, 4)
        bar.at(4, 4, "done")
    assert "4/4" in capsys.readouterr().err


def test_a_shorter_line_covers_the_longer_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with Progress(2, "a", True) as bar:
        bar.at(1, text="long text")
        bar.at(2)
    assert capsys.readouterr().err == "\ra 1/2 long text\ra 2/2          \n"


def test_nothing_is_shown_unasked(capfd: pytest.CaptureFixture[str]) -> None:
    bqnco.solve_batch(np.random.default_rng(1).random((3, 6, 2)), preset="fast")
    assert capfd.readouterr() == ("", "")


def test_a_notebook_shows_progress_and_pictures() -> None:
    """A real kernel executes the cells."""
    nbclient, nbformat = needed("nbclient"), needed("nbformat")
    needed("ipykernel")
    code = "import bqnco, numpy as np\n{} = bqnco.solve_batch(np.random.default_rng(1).random((3, 6, 2)), progress=True)\n{}[0]"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code.format("tours", "tours"))])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    assert "3/3" in "".join(one.text for one in outputs if one.output_type == "stream")
    assert outputs[-1].data["image/svg+xml"].startswith("<svg")
