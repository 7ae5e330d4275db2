"""Instances of other libraries: RL4CO, Kool et al., vrplib, networkx, PyVRP.

RL4CO's npz files and the pickles of Kool et al. are formats of ``bqnco.read_all`` and ``bqnco.write`` (``format="npz-rl4co"``,
``format="pkl"``). The functions here convert objects in memory; the other library is needed only where it is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

import numpy as np

from bqnco import Instance, InstanceError, Solution, atsp, cvrp, tsp

#: Keys of vrplib's dicts that are kept, or that say nothing about the problem. All others are refused.
_VRPLIB = {"node_coord", "edge_weight", "edge_weight_type", "demand", "capacity", "depot", "vehicles", "name", "type"} | {
    "comment", "dimension", "edge_weight_format", "node_coord_type", "display_data", "display_data_type"
}


def from_vrplib(data: Mapping[str, Any]) -> Instance:
    """The instance of a dict of the package vrplib (``vrplib.read_instance``): TSP, ATSP or CVRP.

    >>> import bqnco
    >>> from bqnco.interop import from_vrplib
    >>> square = {"name": "square", "node_coord": [[0, 0], [0, 1], [1, 1], [1, 0]], "edge_weight_type": "EXACT_2D"}
    >>> from_vrplib({**square, "demand": [0, 1, 1, 1], "capacity": 2, "depot": [0]}).problem
    'cvrp'
    """
    if not isinstance(data, Mapping):
        raise TypeError(f"expected a dict of vrplib, found {type(data).__name__}")
    extra = sorted(set(data) - _VRPLIB)
    if extra:
        raise InstanceError(f"'{extra[0]}' of the dict cannot be kept: bqnco has no such constraint")
    name, kind = str(data.get("name", "vrplib")), str(data.get("edge_weight_type", "EXACT_2D"))
    coords, matrix = data.get("node_coord"), None
    metric: Optional[str] = kind
    if coords is None or kind == "EXPLICIT":
        if data.get("edge_weight") is None:
            raise InstanceError("the dict has neither 'node_coord' nor 'edge_weight'")
        coords, matrix, metric = None, np.asarray(data["edge_weight"], float), None
    if "demand" in data:
        return _cvrp_of_vrplib(data, coords, matrix, metric, name)
    if "vehicles" in data:
        raise InstanceError("the dict has 'vehicles' but no 'demand': bqnco has no such problem")
    if data.get("type") == "ATSP":
        return atsp(matrix, name=name)
    return tsp(coords, matrix=matrix, metric=metric, name=name)


def _cvrp_of_vrplib(data: Mapping[str, Any], coords: Any, matrix: Any, metric: Optional[str], name: str) -> Instance:
    depots = np.atleast_1d(data.get("depot", [0]))
    if len(depots) != 1:
        raise InstanceError(f"{len(depots)} depots: bqnco has instances of one depot only")
    demands = np.asarray(data["demand"], float)
    depot = int(depots[0])
    if not 0 <= depot < len(demands):
        raise InstanceError(f"the depot {depot} is none of the {len(demands)} nodes, which count from 0")
    nodes = len(coords if matrix is None else matrix)
    if len(demands) != nodes:
        raise InstanceError(f"{len(demands)} demands for {nodes} nodes")
    if demands[depot] != 0:
        raise InstanceError(f"the depot has a demand of {demands[depot]:g}, it must be zero")
    if data.get("capacity") is None:
        raise InstanceError("the dict has 'demand' but no 'capacity'")
    order = [depot] + [node for node in range(len(demands)) if node != depot]
    given: dict[str, Any] = {"demands": demands[order][1:], "capacity": data["capacity"], "vehicles": data.get("vehicles")}
    if matrix is not None:
        return cvrp(matrix=matrix[np.ix_(order, order)], name=name, **given)
    places = np.asarray(coords, float)[order]
    return cvrp(places[0], places[1:], metric=metric, name=name, **given)


def to_vrplib(instance: Instance) -> dict[str, Any]:
    """The instance as a dict like those of vrplib, with ``edge_weight`` where it is given by a matrix.

    >>> import bqnco
    >>> from bqnco.interop import to_vrplib
    >>> data = to_vrplib(bqnco.cvrp([0, 0], [[1, 0], [2, 0]], demands=[1, 1], capacity=2))
    >>> data["dimension"], data["demand"].tolist(), data["depot"].tolist()
    (3, [0.0, 1.0, 1.0], [0])
    """
    fields = instance.fields
    kind, nodes = instance.metric or "EXPLICIT", fields.get("coordinates", fields.get("matrix", ()))
    data: dict[str, Any] = {"name": instance.name, "type": instance.problem.upper(), "dimension": len(nodes)}
    data["edge_weight_type"] = kind
    names = {"coordinates": "node_coord", "matrix": "edge_weight", "demands": "demand"}
    for field, value in sorted(fields.items(), key=lambda item: np.ndim(item[1])):  # files have numbers before sections
        if field in ("coordinates", "matrix", "demands", "capacity", "vehicles"):
            data[names.get(field, field)] = value
        elif field != "places":  # where nodes are drawn
            raise InstanceError(f"vrplib has no place for '{field}' of an instance of {instance.problem}")
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
            ways = [(place[one], place[other]), (place[other], place[one])]
            for way in ways[:1] if graph.is_directed() else ways:
                matrix[way] = np.fmin(matrix[way], _weight(one, other, value))  # the shortest of parallel edges
    missing = np.argwhere(np.isnan(matrix))
    if len(missing):
        one, other = (nodes[index] for index in missing[0])
        raise InstanceError(f"no edge from {one!r} to {other!r}: a complete graph is needed")
    return atsp(matrix, name=name) if graph.is_directed() else tsp(matrix=matrix, name=name)


def _weight(one: Any, other: Any, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if np.isnan(number):
        raise InstanceError(f"the edge from {one!r} to {other!r} has {value!r} for a weight, which is no number")
    return number


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
        networkx.set_node_attributes(graph, {node: tuple(places[node].tolist()) for node in graph.nodes}, "pos")
    return graph


def from_pyvrp(data: Any) -> Instance:
    """The CVRP of PyVRP's ``ProblemData`` (0.14 or newer); everything else that it may demand is refused.

    Node 0 is the depot, node k the k-th client. As many vehicles as clients are no limit.
    """
    import pyvrp

    one_each = data.num_depots == data.num_vehicle_types == data.num_load_dimensions == 1
    if not one_each or data.num_groups or data.num_shipments:
        raise InstanceError(
            "bqnco has CVRPs with one depot, one type of vehicle and one dimension of load, without groups or shipments"
        )
    # Whatever is not its default, apart from what is kept, is a constraint or a cost.
    depot, vehicle, clients = data.depot(0), data.vehicle_type(0), data.clients()
    kept = pyvrp.VehicleType(vehicle.num_available, vehicle.capacity, profile=vehicle.profile, name=vehicle.name)
    if vehicle != kept:
        raise InstanceError("the vehicles have costs, times, distances or loads that cannot be kept: only their capacity can")
    if depot != pyvrp.Depot(depot.location, name=depot.name):
        raise InstanceError("the depot has a time window or a service time, which cannot be kept")
    for index, one in enumerate(clients):
        if one != pyvrp.Client(one.location, one.delivery, prize=one.prize, name=one.name):
            raise InstanceError(
                f"client {index} has a time window, a service or release time, a pickup, or is optional, which cannot be kept"
            )
    order = [depot.location, *(one.location for one in clients)]
    matrix = np.asarray(data.distance_matrix(vehicle.profile), float)[np.ix_(order, order)]
    vehicles = vehicle.num_available if vehicle.num_available < len(clients) else None
    demands = [one.delivery[0] for one in clients]
    return cvrp(demands=demands, capacity=vehicle.capacity[0], matrix=matrix, vehicles=vehicles, name="pyvrp")


def to_pyvrp(instance: Instance, *, scale: float = 1.0) -> Any:
    """A CVRP as PyVRP's ``ProblemData``. Its distances are integers: ours are multiplied by ``scale`` and rounded, which is
    refused if the changes are more than a percent of the distances, as with ``scale=1`` in the unit square."""
    import pyvrp

    fields = instance.fields
    if instance.problem != "cvrp":
        raise InstanceError(f"PyVRP solves vehicle routing problems, {instance.name} is an instance of {instance.problem}")
    demands, capacity = fields["demands"], fields["capacity"]
    if np.any(demands != np.round(demands)) or capacity != round(capacity):
        raise InstanceError("PyVRP's demands and capacities are integers")
    if not scale > 0:
        raise ValueError(f"scale = {scale}: expected a number above zero")
    exact = _distances(instance) * scale
    matrix = np.round(exact).astype(np.int64)
    if np.abs(matrix - exact).sum() > 0.01 * exact.sum():
        raise InstanceError(f"with scale={scale:g}, rounding changes the distances by more than 1 %: give a larger scale")
    places = fields.get("coordinates", fields.get("places", np.zeros((len(demands), 2))))
    vehicles = int(fields.get("vehicles", len(demands) - 1))
    return pyvrp.ProblemData(
        [pyvrp.Location(float(x), float(y)) for x, y in places],
        [pyvrp.Client(node, [int(demands[node])]) for node in range(1, len(demands))],
        [pyvrp.Depot(0)],
        [pyvrp.VehicleType(vehicles, [int(capacity)])],
        [matrix],
        [np.zeros_like(matrix)],
    )


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
