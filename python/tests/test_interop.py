"""Instances of other libraries."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import bqnco
from bqnco import interop
from conftest import ROOT, needed


@pytest.mark.parametrize("problem", ["tsp", "atsp", "cvrp", "op", "pctsp"])
def test_rl4cos_files_are_written_and_read(problem: str, tmp_path: Path) -> None:
    """test_torch.py reads them with RL4CO."""
    data = bqnco.generate(problem, size=6, count=3, seed=2, expert=False)
    data.write(tmp_path / "a.npz", format="npz-rl4co")
    again = bqnco.Dataset(bqnco.read_all(tmp_path / "a.npz", problem=problem))
    for name, array in data.arrays.items():
        assert again[name] == pytest.approx(array, rel=1e-6), name


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "op"])
def test_kools_pickles_are_written_and_read(problem: str, tmp_path: Path) -> None:
    """A list with an instance per element, as in ``pickle.load(file)`` of the original code."""
    data = bqnco.generate(problem, size=5, count=2, expert=False)
    data.write(tmp_path / "a.pkl")
    with open(tmp_path / "a.pkl", "rb") as file:
        loaded = pickle.load(file)
    if problem == "tsp":
        assert np.array(loaded) == pytest.approx(data["coordinates"])
    else:
        depot, places, numbers, limit = loaded[1]
        assert np.array([depot, *places]) == pytest.approx(data["coordinates"][1])
        assert numbers == pytest.approx(data["demands" if problem == "cvrp" else "prizes"][1, 1:])
        assert limit == pytest.approx(data["capacity" if problem == "cvrp" else "limit"][1])
    again = bqnco.Dataset(bqnco.read_all(tmp_path / "a.pkl"))
    for name, array in data.arrays.items():
        assert again[name] == pytest.approx(array), name


def test_files_as_vrplib_reads_them(depot40: bqnco.Instance, tmp_path: Path) -> None:
    vrplib = needed("vrplib")
    again = interop.from_vrplib(vrplib.read_instance(ROOT / "data/examples/depot40.vrp"))
    solution = bqnco.solve(depot40, "greedy")
    assert again.solution_from(solution.numbers).cost == solution.cost
    solution.write(tmp_path / "a.sol")
    read = vrplib.read_solution(tmp_path / "a.sol")
    assert (read["cost"], len(read["routes"])) == (solution.cost, len(solution.routes))
    for file in ("city48.tsp", "oneway24.atsp"):
        ours = bqnco.read(ROOT / "data/examples" / file)
        theirs = interop.from_vrplib(vrplib.read_instance(ROOT / "data/examples" / file))
        assert theirs.problem == ours.problem
        assert theirs.solution_from(range(ours.size)).cost == ours.solution_from(range(ours.size)).cost


def test_dicts_written_by_vrplib_are_read_here(depot40: bqnco.Instance, tmp_path: Path) -> None:
    vrplib = needed("vrplib")
    data = interop.to_vrplib(depot40)
    sections = {"node_coord": "NODE_COORD_SECTION", "demand": "DEMAND_SECTION"}
    written = {sections.get(key, key.upper()): value for key, value in data.items() if key != "depot"}
    vrplib.write_instance(tmp_path / "a.vrp", {**written, "DEPOT_SECTION": [1, -1]})
    again = bqnco.read(tmp_path / "a.vrp")
    assert (again.fields["demands"] == depot40.fields["demands"]).all() and again.metric == depot40.metric


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
    oneway = bqnco.generate("atsp", size=5, count=1, expert=False)[0]
    assert interop.from_vrplib(interop.to_vrplib(oneway)).problem == "atsp"
    limited = interop.from_vrplib({**data, "vehicles": 9})
    assert limited.fields["vehicles"] == 9 and interop.to_vrplib(limited)["vehicles"] == 9
    with pytest.raises(bqnco.InstanceError, match="the depot 41 is none of the 41 nodes"):
        interop.from_vrplib({**data, "depot": [41]})
    wrong = {
        "3 demands for 41 nodes": {"demand": [0, 1, 1]},
        "the depot has a demand of 1": {"demand": np.ones(41)},
        "'demand' but no 'capacity'": {"capacity": None},
    }
    for sentence, changes in wrong.items():
        with pytest.raises(bqnco.InstanceError, match=sentence):
            interop.from_vrplib({**data, **changes})
    with pytest.raises(TypeError, match="expected a dict of vrplib, found list"):
        interop.from_vrplib([1])
    with pytest.raises(bqnco.InstanceError, match="time_window"):
        interop.from_vrplib({**data, "time_window": np.zeros((41, 2))})


def test_graphs_of_networkx() -> None:
    networkx = needed("networkx")
    graph = networkx.Graph()
    graph.add_weighted_edges_from([("a", "b", 2), ("b", "c", 4), ("a", "c", 3)])
    instance = interop.from_networkx(graph)
    solution = bqnco.solve(instance)
    assert (instance.problem, solution.cost) == ("tsp", 9)
    assert interop.to_networkx(solution).number_of_edges() == 3
    assert interop.from_networkx(graph.to_directed()).problem == "atsp"
    parallel = networkx.MultiGraph(graph)
    parallel.add_edge("a", "b", weight=1)
    assert bqnco.solve(interop.from_networkx(parallel)).cost == 8
    for weight in ("far", np.nan):
        with pytest.raises(bqnco.InstanceError, match="for a weight, which is no number"):
            interop.from_networkx(networkx.Graph([("a", "b", {"weight": weight})]))
    graph.add_node("d")
    with pytest.raises(bqnco.InstanceError, match="no edge from 'a' to 'd'"):
        interop.from_networkx(graph)


def test_data_of_pyvrp(depot40: bqnco.Instance) -> None:
    pyvrp = needed("pyvrp")
    data, read = interop.to_pyvrp(depot40), pyvrp.read(ROOT / "data/examples/depot40.vrp", round_func="round")
    unnamed = read.vehicle_type(0).replace(name="")  # PyVRP numbers the vehicles
    other = {"locations": data.locations(), "duration_matrices": data.duration_matrices()}
    assert data == read.replace(vehicle_types=[unnamed], **other)
    solution = bqnco.solve(depot40, "greedy")
    for theirs in (data, read):
        assert interop.from_pyvrp(theirs).solution_from(solution.numbers).cost == solution.cost
    routes = [[node - 1 for node in route.tolist()] for route in solution.routes]  # PyVRP counts clients
    assert pyvrp.Solution(data, routes).distance() == solution.cost


def test_distances_that_rounding_would_spoil_are_refused() -> None:
    """In the unit square nearly all would be 0 or 1."""
    needed("pyvrp")
    (instance,) = bqnco.generate("cvrp", size=8, count=1, expert=False)
    with pytest.raises(bqnco.InstanceError, match="with scale=1, rounding changes the distances by more than 1 %"):
        interop.to_pyvrp(instance)
    solution = bqnco.solve(instance, "greedy")
    scaled = interop.from_pyvrp(interop.to_pyvrp(instance, scale=1e6)).solution_from(solution.numbers)
    assert scaled.cost == pytest.approx(1e6 * solution.cost, rel=1e-5)
    with pytest.raises(ValueError, match="scale = 0"):
        interop.to_pyvrp(instance, scale=0)


def test_what_pyvrp_may_demand_is_kept_or_refused(depot40: bqnco.Instance) -> None:
    pyvrp = needed("pyvrp")
    data = interop.to_pyvrp(depot40)
    vehicle = data.vehicle_type(0)
    few = interop.from_pyvrp(data.replace(vehicle_types=[vehicle.replace(num_available=12)]))
    assert few.fields["vehicles"] == 12 and interop.to_pyvrp(few).num_vehicles == 12
    clients = data.clients()
    refused = {
        "the vehicles have costs": {"vehicle_types": [vehicle.replace(fixed_cost=1)]},
        "the vehicles have costs, times": {"vehicle_types": [vehicle.replace(shift_duration=9)]},
        "the depot has": {"depots": [pyvrp.Depot(0, tw_late=9)]},
        "client 0 has": {"clients": [pyvrp.Client(1, clients[0].delivery, tw_late=9), *clients[1:]]},
        "client 39 has": {"clients": [*clients[:-1], pyvrp.Client(40, clients[39].delivery, required=False)]},
        "one type of vehicle": {"vehicle_types": [vehicle, vehicle]},
    }
    for sentence, changes in refused.items():
        with pytest.raises(bqnco.InstanceError, match=sentence):
            interop.from_pyvrp(data.replace(**changes))


def test_axes_of_matplotlib(depot40: bqnco.Instance) -> None:
    needed("matplotlib").use("agg")
    ax = bqnco.solve(depot40, "greedy").plot()
    assert len(ax.lines) == len(bqnco.solve(depot40, "greedy").routes)
    assert bqnco.solve(bqnco.knapsack([3, 4], [2, 3], 4)).plot().images
