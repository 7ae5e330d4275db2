"""Solve a set of instances with a well-known solver, for comparison with bqnco.

usage: peers.py {lkh|hgs|pyvrp|ortools} SET.jsonl OUT.csv|OUT.jsonl [seconds per instance]

Reads the JSON lines that `bqnco generate` and `bqnco convert` write. OUT.csv has name, optimum (the objective of the
solver's solution) and seconds, a table that `bqnco solve --optimum` reads; OUT.jsonl has objects with name, cost,
seconds and solution (null if the solver found none). One thread. Objectives are evaluated here, on the distances of the
instance's metric, and so are constraints; the solver's own figures are not used. Distances that are not integers are
scaled by 10^6 and rounded for solvers that need integers (LKH, OR-Tools, PyVRP). The clock runs during the solver's
call only, not while its input is prepared. Without seconds LKH, HGS and OR-Tools's knapsack run to their own end.
"""

import csv
import json
import math
import sys
import time


# Distances and objectives: standard library only, also used by auto.py.


def metric(instance):
    """The distance from node a to node b, as a function."""
    if "matrix" in instance:
        rows = instance["matrix"]
        return lambda a, b: rows[a][b]
    points, name = instance["coordinates"], instance.get("metric", "EXACT_2D")
    if name == "GEO":
        # TSPLIB's constants: PI has seven digits, degrees are cut off.
        radians = [[3.141592 * (int(x) + 5 * (x - int(x)) / 3) / 180 for x in point] for point in points]

        def distance(a, b):
            (north, east), (other_north, other_east) = radians[a], radians[b]
            q1, q2, q3 = (math.cos(x) for x in (east - other_east, north - other_north, north + other_north))
            return int(6378.388 * math.acos(0.5 * ((1 + q1) * q2 - (1 - q1) * q3)) + 1)

        return distance
    finish = {
        "EXACT_2D": math.sqrt,
        "EUC_2D": lambda square: int(math.sqrt(square) + 0.5),
        "CEIL_2D": lambda square: math.ceil(math.sqrt(square)),
        "ATT": lambda square: math.ceil(math.sqrt(square / 10)),
    }[name]

    def distance(a, b):
        (x, y), (u, v) = points[a], points[b]
        return finish((x - u) * (x - u) + (y - v) * (y - v))

    return distance


def nodes(instance):
    return len(instance.get("matrix") or instance["coordinates"])


def length(instance, walk):
    """The length of a closed walk."""
    distance = metric(instance)
    return sum(distance(a, b) for a, b in zip(walk, walk[1:] + walk[:1]))


def objective(instance, solution):
    """The objective of a solution (nodes or items from 0, routes of a cvrp separated by 0), or ValueError."""
    problem = instance["problem"]
    room = 1 + 1e-9  # for sums of numbers that are not integers

    def demand(condition, reason):
        if not condition:
            raise ValueError(reason)

    demand(all(isinstance(number, int) and number >= 0 for number in solution), "numbers from 0 are expected")
    visited = [number for number in solution if number or problem != "cvrp"]
    demand(len(set(visited)) == len(visited), "something is chosen twice")
    if problem == "knapsack":
        weight = math.fsum(instance["weights"][item] for item in solution)
        demand(weight <= instance["capacity"] * room, "too heavy")
        return math.fsum(instance["values"][item] for item in solution)
    if problem in ("tsp", "atsp"):
        demand(sorted(solution) == list(range(nodes(instance))), "not a tour of all nodes")
        return length(instance, solution)
    if problem == "op":
        demand(solution and solution[0] == 0, "the route does not start at the depot")
        demand(length(instance, solution) <= instance["limit"] * room, "too long")
        return sum(instance["prizes"][node] for node in solution)
    if problem == "cvrp":
        demand(sorted(visited) == list(range(1, nodes(instance))), "not all customers are served once")
        for route in routes(solution):
            load = math.fsum(instance["demands"][customer] for customer in route)
            demand(load <= instance["capacity"] * room, "a route is overloaded")
        return length(instance, [0, *solution])
    raise ValueError(f"no objective for {problem}")


def routes(solution):
    """The routes of a solution whose routes are separated by 0."""
    lists = [[]]
    for node in solution:
        if node:
            lists[-1].append(node)
        else:
            lists.append([])
    return [route for route in lists if route]


def separated(lists):
    """The opposite of `routes`."""
    return [node for route in lists if route for node in [0, *map(int, route)]][1:]


# Input of solvers.


def matrix(instance):
    """All distances; 0 on the diagonal, which files fill with anything."""
    size, distance = nodes(instance), metric(instance)
    return [[distance(a, b) if a != b else 0 for b in range(size)] for a in range(size)]


def integers(distances):
    whole = all(d == int(d) for row in distances for d in row)
    scale = 1 if whole else 1e6
    return [[round(d * scale) for d in row] for row in distances]


def vehicles(instance):
    """As many as HGS-CVRP allows by default."""
    return math.ceil(1.3 * sum(instance["demands"]) / instance["capacity"]) + 3


# Solvers: each prepares its input and returns a function that solves, which returns a solution or None.


def lkh(instance, seconds):
    from elkai import _elkai  # its public functions have no time limit

    size, name = nodes(instance), instance.get("metric", "EXACT_2D")
    if "matrix" in instance or name == "EXACT_2D":
        rows = integers(matrix(instance))
        form, section, lines = "EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX", "EDGE_WEIGHT_SECTION", rows
    else:
        form, section = name, "NODE_COORD_SECTION"
        lines = [[number, *point] for number, point in enumerate(instance["coordinates"], 1)]
    text = "\n".join(" ".join(map(repr, line)) for line in lines)
    kind = instance["problem"].upper()
    problem = f"TYPE : {kind}\nDIMENSION : {size}\nEDGE_WEIGHT_TYPE : {form}\n{section}\n{text}\nEOF\n"
    settings = "RUNS = 1\nSEED = 1\nPROBLEM_FILE = :stdin:\n"
    if seconds:  # trials until the limit, which LKH does not apply to its preparations
        settings += f"TIME_LIMIT = {seconds}\nMAX_TRIALS = 1000000000\n"
    return lambda: [int(node) - 1 for node in _elkai.solve_problem(settings, problem)]


def hgs(instance, seconds):
    import hygese
    import numpy

    name = instance.get("metric", "EXACT_2D")
    data = {
        "demands": numpy.array(instance["demands"]),
        "vehicle_capacity": instance["capacity"],
        "service_times": numpy.zeros(nodes(instance)),
        "depot": 0,
    }
    if "coordinates" in instance:
        corner = numpy.array(instance["coordinates"], dtype=float)
        data["x_coordinates"], data["y_coordinates"] = (corner - corner.min(axis=0)).T
    if "matrix" in instance or name not in ("EXACT_2D", "EUC_2D"):
        data["distance_matrix"] = numpy.array(matrix(instance))
    parameters = hygese.AlgorithmParameters(timeLimit=seconds or 0.0, seed=1)
    solver = hygese.Solver(parameters=parameters, verbose=False)
    return lambda: separated(solver.solve_cvrp(data, rounding=name == "EUC_2D").routes) or None


def pyvrp(instance, seconds):
    import numpy
    from pyvrp import Client, Depot, Location, ProblemData, VehicleType, solve
    from pyvrp.stop import MaxRuntime

    distances = numpy.array(integers(matrix(instance)))
    size, demands = nodes(instance), instance["demands"]
    points = instance.get("coordinates") or [[0, 0]] * size
    data = ProblemData(
        locations=[Location(x, y) for x, y in points],
        clients=[Client(location=node, delivery=[demands[node]]) for node in range(1, size)],
        depots=[Depot(location=0)],
        vehicle_types=[VehicleType(num_available=size - 1, capacity=[instance["capacity"]])], # as its reader does
        distance_matrices=[distances],
        duration_matrices=[numpy.zeros_like(distances)],
    )

    def run():
        best = solve(data, MaxRuntime(seconds or 1), seed=1, collect_stats=False).best
        lists = [[stop.idx + 1 for stop in route if stop.is_client()] for route in best.routes()]
        return separated(lists) if best.is_feasible() else None

    return run


def ortools(instance, seconds):
    return (knapsack if instance["problem"] == "knapsack" else routing)(instance, seconds)


def knapsack(instance, seconds):
    from ortools.algorithms.python import knapsack_solver

    kind = knapsack_solver.SolverType.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER
    solver = knapsack_solver.KnapsackSolver(kind, "knapsack")
    lists = [instance["values"], instance["weights"], [instance["capacity"]]]
    scale = 1 if all(x == int(x) for numbers in lists for x in numbers) else 1e9
    values, weights, capacity = ([round(x * scale) for x in numbers] for numbers in lists)
    if seconds:
        solver.set_time_limit(seconds)

    def run():
        solver.init(values, [weights], capacity)
        solver.solve()
        return [item for item in range(len(values)) if solver.best_solution_contains(item)]

    return run


def routing(instance, seconds):
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    size, fleet = nodes(instance), vehicles(instance) if instance["problem"] == "cvrp" else 1
    manager = pywrapcp.RoutingIndexManager(size, fleet, 0)
    model = pywrapcp.RoutingModel(manager)
    model.SetArcCostEvaluatorOfAllVehicles(model.RegisterTransitMatrix(integers(matrix(instance))))
    parameters = pywrapcp.DefaultRoutingSearchParameters()
    first = routing_enums_pb2.FirstSolutionStrategy
    parameters.first_solution_strategy = first.PATH_CHEAPEST_ARC
    if instance["problem"] == "cvrp":
        load = model.RegisterUnaryTransitVector(list(instance["demands"]))
        model.AddDimension(load, 0, instance["capacity"], True, "load")
        parameters.first_solution_strategy = first.SAVINGS
    parameters.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    parameters.time_limit.FromMilliseconds(round(1000 * (seconds or 1)))

    def run():
        found = model.SolveWithParameters(parameters)
        if found is None:
            return None
        lists = []
        for vehicle in range(fleet):
            index, route = model.Start(vehicle), []
            while not model.IsEnd(index):
                route.append(manager.IndexToNode(index))
                index = found.Value(model.NextVar(index))
            lists.append(route)
        return separated(route[1:] for route in lists) if instance["problem"] == "cvrp" else lists[0]

    return run


def main():
    solver, source, target = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else None
    prepare = {"lkh": lkh, "hgs": hgs, "pyvrp": pyvrp, "ortools": ortools}[solver]
    with open(source) as lines, open(target, "w", newline="") as out:
        table = None if target.endswith(".jsonl") else csv.writer(out)
        if table:
            table.writerow(["name", "optimum", "seconds"])
        for line in lines:
            instance = json.loads(line)
            run = prepare(instance, seconds)
            started = time.perf_counter()
            solution = run()
            elapsed = time.perf_counter() - started
            cost = None if solution is None else objective(instance, solution)
            if table:
                table.writerow([instance["name"], repr(cost), f"{elapsed:.4f}"])
            else:
                answer = {"name": instance["name"], "cost": cost, "seconds": elapsed, "solution": solution}
                print(json.dumps(answer), file=out)


if __name__ == "__main__":
    main()
