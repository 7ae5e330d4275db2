"""Instances of other libraries."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import bqnco
from bqnco import interop


def test_rl4cos_files_are_written_and_read(tmp_path: Path) -> None:
    data = bqnco.generate("cvrp", size=6, count=3, seed=2, expert=False)
    bqnco.write(tmp_path / "a.npz", data, format="npz-rl4co")
    arrays = np.load(tmp_path / "a.npz")
    assert arrays["locs"].shape[0] == 3 and arrays["demand"].shape == (3, 6)
    again = bqnco.read_all(tmp_path / "a.npz")
    assert again[2].fields["demands"] == pytest.approx(data[2].fields["demands"])


def test_kools_pickles_are_written_and_read(tmp_path: Path) -> None:
    data = bqnco.generate("tsp", size=5, count=2, expert=False)
    bqnco.write(tmp_path / "a.pkl", data)
    with open(tmp_path / "a.pkl", "rb") as file:
        assert np.array(pickle.load(file)) == pytest.approx(data["coordinates"])
    assert bqnco.Dataset(bqnco.read_all(tmp_path / "a.pkl"))["coordinates"] == pytest.approx(data["coordinates"])


def test_dicts_of_vrplib(depot40: bqnco.Instance) -> None:
    data = interop.to_vrplib(depot40)
    assert data["dimension"] == 41 and data["demand"][0] == 0 and data["edge_weight_type"] == "EUC_2D"
    again = interop.from_vrplib(data)
    solution = bqnco.solve(depot40, "greedy")
    assert again.solution_from(solution.numbers.tolist()).cost == solution.cost
    moved = {**data, "depot": [1]}
    moved["node_coord"] = data["node_coord"][[1, 0, *range(2, 41)]]
    moved["demand"] = data["demand"][[1, 0, *range(2, 41)]]
    assert interop.from_vrplib(moved).solution_from(solution.numbers.tolist()).cost == solution.cost
    matrix = np.array([[0, 2, 3], [2, 0, 4], [3, 4, 0]])
    explicit = interop.from_vrplib({"edge_weight": matrix, "edge_weight_type": "EXPLICIT"})
    assert bqnco.solve(explicit).cost == 9
    with pytest.raises(bqnco.InstanceError, match="time_window"):
        interop.from_vrplib({**data, "time_window": np.zeros((41, 2))})


def test_graphs_of_networkx() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2), ("b", "c", 4), ("a", "c", 3)])
    instance = interop.from_networkx(graph)
    solution = bqnco.solve(instance)
    assert (instance.problem, solution.cost) == ("tsp", 9)
    assert interop.to_networkx(solution).number_of_edges() == 3
    assert interop.from_networkx(graph.to_directed()).problem == "atsp"
    graph.add_node("d")
    with pytest.raises(bqnco.InstanceError, match="no edge from 'a' to 'd'"):
        interop.from_networkx(graph)


def test_data_of_pyvrp(depot40: bqnco.Instance) -> None:
    pytest.importorskip("pyvrp")
    data = interop.to_pyvrp(depot40)
    assert data.num_clients == 40
    again = interop.from_pyvrp(data)
    solution = bqnco.solve(depot40, "greedy")
    assert again.solution_from(solution.numbers.tolist()).cost == solution.cost


def test_axes_of_matplotlib(depot40: bqnco.Instance) -> None:
    pytest.importorskip("matplotlib").use("agg")
    ax = bqnco.solve(depot40, "greedy").plot()
    assert len(ax.lines) == len(bqnco.solve(depot40, "greedy").routes)
    assert bqnco.solve(bqnco.knapsack([3, 4], [2, 3], 4)).plot().images
