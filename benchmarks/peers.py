"""Solve a set of instances with a well-known solver, for comparison with the built-in experts.

usage: peers.py {lkh|hgs|ortools} SET.jsonl OUT.csv [seconds per instance]

Reads the JSON lines that `bqnco generate` and `bqnco convert` write; writes name, optimum (the solver's objective) and
seconds, a table that `bqnco solve --optimum` reads. One thread. Distances are scaled by 10^6 and rounded for solvers
that need integers (LKH, OR-Tools); objectives are evaluated here, on the exact distances.
"""

import csv
import json
import math
import sys
import time


def matrix(instance):
    if "matrix" in instance:
        return instance["matrix"]
    points = instance["coordinates"]
    return [[math.dist(a, b) for b in points] for a in points]


def scaled(distances):
    return [[round(d * 1e6) for d in row] for row in distances]


def lkh(instance, _seconds):
    import elkai

    distances = matrix(instance)
    tour = elkai.DistanceMatrix(scaled(distances)).solve_tsp(runs=1)
    nodes = tour[:-1] if tour[0] == tour[-1] else tour
    assert sorted(nodes) == list(range(len(distances)))
    return sum(distances[a][b] for a, b in zip(nodes, nodes[1:] + nodes[:1]))


def routes_length(instance, routes):
    distances = matrix(instance)
    assert sorted(c for route in routes for c in route) == list(range(1, len(distances)))
    legs = ([0, *route, 0] for route in routes)
    return sum(distances[a][b] for leg in legs for a, b in zip(leg, leg[1:]))


def hgs(instance, seconds):
    import hygese
    import numpy

    x, y = numpy.array(instance["coordinates"]).T
    data = {
        "x_coordinates": x,
        "y_coordinates": y,
        "demands": numpy.array(instance["demands"]),
        "vehicle_capacity": instance["capacity"],
        "service_times": numpy.zeros(len(x)),
        "depot": 0,
    }
    solver = hygese.Solver(parameters=hygese.AlgorithmParameters(timeLimit=seconds, seed=1), verbose=False)
    return routes_length(instance, [list(route) for route in solver.solve_cvrp(data, rounding=False).routes])


def ortools(instance, _seconds):
    from ortools.algorithms.python import knapsack_solver

    kind = knapsack_solver.SolverType.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER
    solver = knapsack_solver.KnapsackSolver(kind, "knapsack")
    values, weights = ([round(x * 1e9) for x in instance[key]] for key in ("values", "weights"))
    solver.init(values, [weights], [round(instance["capacity"] * 1e9)])
    solver.solve()
    return sum(v for item, v in enumerate(instance["values"]) if solver.best_solution_contains(item))


def main():
    solver, source, target = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 1.0
    solve = {"lkh": lkh, "hgs": hgs, "ortools": ortools}[solver]
    with open(source) as lines, open(target, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["name", "optimum", "seconds"])
        for line in lines:
            instance = json.loads(line)
            started = time.perf_counter()
            objective = solve(instance, seconds)
            table.writerow([instance["name"], repr(objective), f"{time.perf_counter() - started:.4f}"])


if __name__ == "__main__":
    main()
