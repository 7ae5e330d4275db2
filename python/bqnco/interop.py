"""Instances of other libraries: RL4CO, Kool et al., vrplib, networkx, PyVRP.

RL4CO's npz files and the pickles of Kool et al. are formats of ``bqnco.read_all`` and ``bqnco.write`` (``format="npz-rl4co"``,
``format="pkl"``). The functions here convert objects in memory; the other library is needed only where it is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

from bqnco import Instance, InstanceError, Solution, atsp, cvrp, tsp

#: What the instance does not keep must not be dropped.
_UNSUPPORTED = ["time_window", "service_time", "backhaul", "linehaul", "vehicles", "distance_limit", "duration"]


def from_vrplib(data: Mapping[str, Any]) -> Instance:
    """The instance of a dict of the package vrplib (``vrplib.read_instance``): TSP or CVRP.

    >>> import bqnco
    >>> from bqnco.interop import from_vrplib
    >>> square = {"name": "square", "node_coord": [[0, 0], [0, 1], [1, 1], [1, 0]], "edge_weight_type": "EXACT_2D"}
    >>> from_vrplib({**square, "demand": [0, 1, 1, 1], "capacity": 2, "depot": [0]}).problem
    'cvrp'
    """
    extra = [key for key in _UNSUPPORTED if key in data]
    if extra:
        raise InstanceError(f"'{extra[0]}' of the dict cannot be kept: bqnco has no such constraint")
    name = str(data.get("name", "vrplib"))
    coords, matrix = data.get("node_coord"), None
    kind = str(data.get("edge_weight_type", "EXACT_2D"))
    if coords is None or kind == "EXPLICIT":
        if data.get("edge_weight") is None:
            raise InstanceError("the dict has neither 'node_coord' nor 'edge_weight'")
        matrix, coords = np.asarray(data["edge_weight"], float), None
    metric = kind if coords is not None else None
    if "demand" not in data:
        return tsp(coords, matrix=matrix, metric=metric, name=name)
    depots = np.atleast_1d(data.get("depot", [0]))
    if len(depots) != 1:
        raise InstanceError(f"{len(depots)} depots: bqnco has instances of one depot only")
    depot = int(depots[0])
    demands = np.asarray(data["demand"], float)
    order = [depot] + [node for node in range(len(demands)) if node != depot]
    demands = demands[order][1:]
    if matrix is not None:
        return cvrp(demands=demands, capacity=data.get("capacity"), matrix=matrix[np.ix_(order, order)], name=name)
    places = np.asarray(coords, float)[order]
    return cvrp(places[0], places[1:], demands, data.get("capacity"), metric=metric, name=name)


def to_vrplib(instance: Instance) -> dict[str, Any]:
    """The instance as a dict like those of vrplib, with ``edge_weight`` where it is given by a matrix."""
    fields = instance.fields
    kind = instance.metric or "EXPLICIT"
    data: dict[str, Any] = {"name": instance.name, "type": instance.problem.upper(), "edge_weight_type": kind}
    names = {"coordinates": "node_coord", "matrix": "edge_weight", "demands": "demand", "capacity": "capacity"}
    for field, value in fields.items():
        if field in names:
            data[names[field]] = value
        elif field != "places":  # where nodes are drawn
            raise InstanceError(f"vrplib has no place for '{field}' of an instance of {instance.problem}")
    data["dimension"] = len(fields["coordinates"] if "coordinates" in fields else fields["matrix"])
    if "demand" in data:
        data["depot"] = np.array([0])
    return data


def from_networkx(graph: Any, weight: str = "weight", *, name: Optional[str] = None) -> Instance:
    """A tour through all nodes of a complete graph: an ATSP of a directed graph, otherwise a TSP.

    Node k of the instance is the k-th of ``graph.nodes``.
    """
    nodes = list(graph.nodes)
    place = {node: index for index, node in enumerate(nodes)}
    matrix = np.full((len(nodes), len(nodes)), np.nan)
    np.fill_diagonal(matrix, 0.0)
    for one, other, value in graph.edges(data=weight):
        if value is None:
            raise InstanceError(f"the edge from {one!r} to {other!r} has no '{weight}'")
        if one != other:
            matrix[place[one], place[other]] = value
            if not graph.is_directed():
                matrix[place[other], place[one]] = value
    missing = np.argwhere(np.isnan(matrix))
    if len(missing):
        one, other = (nodes[index] for index in missing[0])
        raise InstanceError(f"no edge from {one!r} to {other!r}: a complete graph is needed")
    return atsp(matrix, name=name) if graph.is_directed() else tsp(matrix=matrix, name=name)


def to_networkx(solution: Solution) -> Any:
    """The routes or the tour as a directed graph of networkx, with the instance's coordinates as ``pos``."""
    import networkx

    fields = solution.instance.fields
    places = fields.get("coordinates", fields.get("places"))
    graph = networkx.DiGraph(name=solution.instance.name)
    if hasattr(solution, "routes"):
        paths = [[0, *route.tolist(), 0] for route in solution.routes]
    else:
        tour = solution.tour.tolist()
        paths = [tour if "destination" in fields else [*tour, tour[0]]]
    for path in paths:
        networkx.add_path(graph, path)
    if places is not None:
        networkx.set_node_attributes(graph, {node: tuple(places[node]) for node in graph.nodes}, "pos")
    return graph


def from_pyvrp(data: Any) -> Instance:
    """The CVRP of PyVRP's ``ProblemData`` (0.14 or newer); everything else that it may demand is refused."""
    if data.num_depots != 1 or data.num_vehicle_types != 1 or data.num_load_dimensions != 1:
        raise InstanceError("bqnco has CVRPs with one depot, one type of vehicle and one dimension of load only")
    vehicle = data.vehicle_type(0)
    clients = data.clients()
    largest = np.iinfo(np.int64).max
    if any(
        one.tw_early > 0 or one.tw_late < largest or one.service_duration or not one.required or any(one.pickup)
        for one in clients
    ):
        raise InstanceError("time windows, service times, pickups and optional clients cannot be kept")
    order = [data.depots()[0].location, *(one.location for one in clients)]
    matrix = np.asarray(data.distance_matrix(vehicle.profile), float)[np.ix_(order, order)]
    demands = [one.delivery[0] for one in clients]
    return cvrp(demands=demands, capacity=vehicle.capacity[0], matrix=matrix, name="pyvrp")


def to_pyvrp(instance: Instance, *, vehicles: Optional[int] = None, scale: float = 1.0) -> Any:
    """A CVRP as PyVRP's ``ProblemData``. Its distances are integers: ours are multiplied by ``scale`` and rounded."""
    import pyvrp

    fields = instance.fields
    if instance.problem != "cvrp":
        raise InstanceError(f"PyVRP solves vehicle routing problems, {instance.name} is an instance of {instance.problem}")
    demands = fields["demands"]
    if np.any(demands != np.round(demands)) or fields["capacity"] != round(fields["capacity"]):
        raise InstanceError("PyVRP's demands and capacities are integers")
    matrix = np.round(_distances(instance) * scale).astype(np.int64)
    places = fields.get("coordinates", fields.get("places", np.zeros((len(demands), 2))))
    model = pyvrp.Model()
    nodes = [model.add_location(*map(float, place)) for place in places]
    model.add_depot(nodes[0])
    for node, demand in zip(nodes[1:], demands[1:]):
        model.add_client(node, delivery=int(demand))
    model.add_vehicle_type(vehicles or len(demands) - 1, capacity=int(fields["capacity"]))
    for one, row in zip(nodes, matrix):
        for other, distance in zip(nodes, row):
            if one is not other:
                model.add_edge(one, other, distance=int(distance))
    return model.data()


def _distances(instance: Instance) -> Any:
    """All distances; those of coordinates by the metrics EXACT_2D, EUC_2D and CEIL_2D."""
    fields = instance.fields
    if "matrix" in fields:
        return fields["matrix"]
    rounding: dict[str, Any] = {"EXACT_2D": np.asarray, "EUC_2D": lambda d: np.floor(d + 0.5), "CEIL_2D": np.ceil}
    if instance.metric is None or instance.metric not in rounding:
        raise InstanceError(f"distances of the metric {instance.metric} are not computed here")
    places = fields["coordinates"]
    return rounding[instance.metric](np.linalg.norm(places[:, None] - places[None], axis=2))
