"""With PyTorch: policies, batches, the example as a script and as a notebook, RL4CO. ``python/test.sh`` says when they run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bqnco
from conftest import ROOT, needed

torch = needed("torch")

EXAMPLES = ROOT / "python/examples"


def test_a_module_is_a_policy() -> None:
    """Its scores may be part of a graph, of any float type, and by kind."""

    class Nearest(torch.nn.Module):
        def __init__(self, dtype: torch.dtype) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones((), dtype=dtype))
            self.graphs: set[bool] = set()

        def forward(self, batch: bqnco.Batch) -> torch.Tensor:
            self.graphs.add(torch.is_grad_enabled())
            places = batch.torch()["features"]
            here = places[torch.arange(len(batch)), torch.from_numpy(batch.origins)][:, None]
            return -(places - here).norm(dim=2, keepdim=True).to(self.weight.dtype) * self.weight

    instances = bqnco.generate("tsp", size=12, count=3, expert=False)
    expected = [one.tour.tolist() for one in bqnco.rollout(instances, "heuristic")]
    net = Nearest(torch.float64)
    assert [one.tour.tolist() for one in bqnco.rollout(instances, net)] == expected
    with torch.no_grad():
        assert all(one.is_feasible for one in bqnco.rollout(instances, Nearest(torch.bfloat16), bqnco.Beam(4)))
        bqnco.rollout(instances, net)
    assert net.graphs == {True, False}, "the caller's context holds"


def test_batches_are_tensors_without_a_copy() -> None:
    batch = bqnco.subproblems(bqnco.generate("atsp", size=6, count=2), batch=4)[0]
    tensors = batch.torch()
    assert set(tensors) == set("features inputs mask padding lengths origins destinations costs targets".split())
    tensors["targets"][0] = 7.0
    assert (batch.targets[0] == 7).all() and tensors["mask"].dtype == torch.bool


def test_tensors_are_instances() -> None:
    places = torch.rand((2, 6, 2), requires_grad=True)
    tours = bqnco.solve_batch(places, preset="fast")
    assert tours[1].instance.fields["coordinates"] == pytest.approx(places[1].detach().numpy())
    assert bqnco.solve(bqnco.tsp(places[0]), start=torch.arange(6), time_limit=0.1).cost <= tours[0].cost + 1e-6
    listed = bqnco.solve_batch([places[0], places[1, :5]], preset="fast")
    assert listed[0].cost == tours[0].cost and listed[1].instance.size == 5
    for dtype in (torch.float16, torch.int32):
        assert bqnco.tsp((10 * places[0]).to(dtype)).size == 6


def test_the_script_beats_the_heuristic_after_some_seconds() -> None:
    arguments = ["--size", "8", "--count", "200", "--minutes", "0.3"]
    command = [sys.executable, EXAMPLES / "train_policy.py", *arguments]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert gap_of("beam16 (torch)", told) < gap_of("nearest neighbour", told)


def gap_of(method: str, summary: str) -> float:
    """The gap in a summary: set, method, instances, mean cost, gap, ..."""
    (row,) = [line for line in summary.splitlines() if method in line]
    return float(re.findall(r"-?[\d.]+", row.split(method)[1])[2])


def test_the_notebook_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient, nbformat = needed("nbclient"), needed("nbformat")
    monkeypatch.setenv("MINUTES", "0.05")
    notebook = nbformat.read(EXAMPLES / "train_policy.ipynb", 4)
    client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3")
    client.execute(cwd=str(EXAMPLES))
    shown = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    assert any("image/svg+xml" in out.get("data", {}) for out in shown), "the picture of a solution"
    assert "greedy (torch)" in shown[-1].data["text/plain"]


@pytest.mark.parametrize(("problem", "name"), [("tsp", "TSPEnv"), ("cvrp", "CVRPEnv"), ("op", "OPEnv"), ("pctsp", "PCTSPEnv")])
def test_rl4co_reads_our_files_and_agrees_on_costs(problem: str, name: str, tmp_path: Path) -> None:
    """A random rollout in RL4CO's environment has the cost that we give its solution."""
    env = getattr(needed("rl4co.envs"), name)(generator_params={"num_loc": 8}, check_solution=False)
    data = bqnco.generate(problem, size=8, count=5, seed=4, expert=False)
    data.write(tmp_path / "a.npz", format="npz-rl4co")
    state = env.reset(env.load_data(tmp_path / "a.npz"))
    actions = []
    while not state["done"].all():
        state.set("action", state["action_mask"].float().argmax(dim=-1))
        actions.append(state["action"].clone())
        state = env.step(state)["next"]
    steps = torch.stack(actions, dim=1)
    rewards = env.get_reward(state, steps).numpy()
    for instance, taken, reward in zip(data, steps.numpy(), rewards):
        visited = [0] * (problem in ("op", "pctsp")) + np.trim_zeros(taken, "b").tolist()
        assert instance.solution_from(visited).cost == pytest.approx(-reward, rel=1e-5)
