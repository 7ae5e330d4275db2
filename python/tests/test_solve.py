"""Solving: every problem, options, events, files."""

from __future__ import annotations

import io
import itertools
import json
import os
import pickle
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import bqnco
from conftest import ROOT


def shortest(places: np.ndarray) -> float:
    """The shortest tour by trying all, in numpy."""
    tours = ((0, *rest, 0) for rest in itertools.permutations(range(1, len(places))))
    return min(np.linalg.norm(np.diff(places[list(tour)], axis=0), axis=1).sum() for tour in tours)


def test_a_tour_is_the_shortest_of_all(random: np.random.Generator) -> None:
    places = random.random((7, 2))
    solution = bqnco.solve(bqnco.tsp(places), time_limit=1)
    assert sorted(solution.tour) == list(range(7))
    assert solution.tour.dtype == np.int64
    assert solution.cost == pytest.approx(shortest(places), abs=1e-12)
    closed = np.append(solution.tour, solution.tour[0])
    assert solution.cost == pytest.approx(np.linalg.norm(np.diff(places[closed], axis=0), axis=1).sum())
    assert solution.is_feasible and solution.found_by == "expert" and solution.seconds > 0
    assert solution.gap(solution.cost / 2) == pytest.approx(100)


def test_a_matrix_and_its_coordinates_have_the_same_optimum(random: np.random.Generator) -> None:
    places = random.random((8, 2))
    matrix = np.linalg.norm(places[:, None] - places[None], axis=2)
    cost = bqnco.solve(bqnco.tsp(places), time_limit=1).cost
    assert bqnco.solve(bqnco.tsp(matrix=matrix), time_limit=1).cost == pytest.approx(cost)
    assert bqnco.solve(bqnco.atsp(matrix), time_limit=1).cost == pytest.approx(cost)
    demands = np.ones(7)
    by_places = bqnco.cvrp(places[0], places[1:], demands, 3)
    by_matrix = bqnco.cvrp(demands=demands, capacity=3, matrix=matrix)
    assert bqnco.solve(by_places, time_limit=1).cost == pytest.approx(bqnco.solve(by_matrix, time_limit=1).cost)


def test_prizes_are_collected_with_a_matrix_as_with_coordinates(random: np.random.Generator) -> None:
    places = random.random((6, 2))
    matrix, prizes = np.linalg.norm(places[:, None] - places[None], axis=2), np.arange(1.0, 6.0)
    collect = {"prizes": prizes, "penalties": np.full(5, 0.3), "quota": 8}
    for make, given in [(bqnco.op, {"prizes": prizes, "limit": 1.5}), (bqnco.pctsp, collect)]:
        both = make(places[0], places[1:], **given), make(matrix=matrix, **given)
        first, second = (bqnco.solve(one, time_limit=0.2) for one in both)
        # PCTSP has no expert: a network sees coordinates, the heuristic is left for a matrix.
        assert second.is_feasible and second.cost == pytest.approx(first.cost, rel=0.1 if make is bqnco.pctsp else 1e-9)


def test_routes_serve_all_customers_within_the_capacity(depot40: bqnco.Instance) -> None:
    solution = bqnco.solve(depot40, time_limit=0.5)
    assert sorted(np.concatenate(solution.routes)) == list(range(1, 41))
    demands, capacity = depot40.fields["demands"], depot40.fields["capacity"]
    assert all(demands[route].sum() <= capacity for route in solution.routes)
    with pytest.raises(AttributeError, match="cvrp has routes, not a tour"):
        solution.tour
    assert not hasattr(solution, "items")


def test_items_fit_and_are_the_best_of_all(random: np.random.Generator) -> None:
    values, weights = random.integers(1, 50, 10), random.integers(1, 50, 10)
    solution = bqnco.solve(bqnco.knapsack(values, weights, 100))
    chosen = [list(c) for k in range(11) for c in itertools.combinations(range(10), k)]
    best = max(values[c].sum() for c in chosen if weights[c].sum() <= 100)
    assert solution.value == best == -solution.cost
    assert weights[solution.items].sum() <= 100 and values[solution.items].sum() == best


@pytest.mark.parametrize("problem", bqnco.PROBLEMS)
def test_every_problem_is_solved_written_and_read_back(problem: str, tmp_path: Path) -> None:
    (instance,) = bqnco.generate(problem, size=10, count=1, expert=False)
    solution = bqnco.solve(instance, time_limit=0.2)
    solution.write(tmp_path / "a.json")
    assert instance.read_solution(tmp_path / "a.json").cost == pytest.approx(solution.cost)
    same = instance.solution_from(solution.numbers.tolist())
    assert same.cost == solution.cost and same.is_feasible
    again = bqnco.instance(problem, metric=instance.metric, **instance.fields)
    assert again.solution_from(solution.numbers.tolist()).cost == solution.cost
    assert solution.svg().startswith("<svg") and solution._repr_svg_() == solution.svg()
    assert solution.png(100).startswith(b"\x89PNG")


def test_a_batch_is_an_array_or_a_list_of_any_problems(random: np.random.Generator, depot40: bqnco.Instance) -> None:
    places = random.random((5, 7, 2))
    solutions = bqnco.solve_batch(places, preset="fast")
    assert [solution.cost for solution in solutions] == pytest.approx([shortest(one) for one in places])
    assert [one.name for one in (solution.instance for solution in solutions)] == [f"tsp-{k}" for k in range(5)]
    mixed = bqnco.solve_batch([depot40, bqnco.tsp(places[0])], "greedy")
    assert [solution.instance.problem for solution in mixed] == ["cvrp", "tsp"]
    assert bqnco.solve_batch([]) == []
    of_two_sizes = bqnco.solve_batch([places[0], places[1, :5].tolist()], preset="fast")
    assert [one.cost for one in of_two_sizes] == pytest.approx([shortest(places[0]), shortest(places[1, :5])])
    objects = np.array([depot40, depot40], dtype=object)
    assert [one.instance.size for one in bqnco.solve_batch(objects, "greedy")] == [40, 40]


@pytest.mark.parametrize(
    "given",
    [
        lambda places: places.tolist(),
        lambda places: [tuple(place) for place in places],
        lambda places: places.astype(np.float32),
        lambda places: places.astype(np.int16),
        lambda places: places.astype(">f8"),
        np.asfortranarray,
        lambda places: np.repeat(places, 2, axis=0)[::2],
    ],
    ids=["lists", "tuples", "float32", "int16", "other byte order", "by columns", "with gaps"],
)
def test_arrays_of_any_kind_are_the_same_instance(given: Callable[[np.ndarray], Any], random: np.random.Generator) -> None:
    places = random.integers(0, 100, (6, 2)).astype(float)  # exact in all of these types
    places.flags.writeable = False
    assert (bqnco.tsp(given(places)).fields["coordinates"] == places).all()
    demands = given(places)  # any array of numbers
    both = [one[:, 0] if isinstance(one, np.ndarray) else [row[0] for row in one] for one in (places, demands)]
    assert (bqnco.cvrp([0, 0], places, both[1], 100).fields["demands"][1:] == both[0]).all()


def test_a_file_is_a_path_its_bytes_or_open(depot40: bqnco.Instance) -> None:
    path = ROOT / "data/examples/depot40.vrp"
    content = path.read_bytes()
    buffers = [content, bytearray(content), memoryview(content), io.BytesIO(content), io.StringIO(content.decode())]
    for source in [str(path), path, *buffers]:
        assert (bqnco.read(source).fields["demands"] == depot40.fields["demands"]).all()
    with open(path) as text, open(path, "rb") as binary:
        assert bqnco.read(text).size == bqnco.read(binary).size == 40


def test_equal_seeds_give_equal_solutions_on_any_number_of_threads(random: np.random.Generator) -> None:
    instance = bqnco.tsp(random.random((30, 2)))
    first, second = (bqnco.solve(instance, time_limit=None, preset="fast", seed=3, threads=n) for n in (1, 2))
    assert first.tour.tolist() == second.tour.tolist()


def test_improvements_come_on_the_callers_thread_and_end_in_the_solution(depot40: bqnco.Instance) -> None:
    seen: list[bqnco.Improvement] = []
    threads = set()

    def note(improvement: bqnco.Improvement) -> None:
        threads.add(threading.current_thread())
        seen.append(improvement)

    solution = bqnco.solve(depot40, time_limit=0.5, on_improvement=note)
    values = [improvement.value for improvement in seen]
    assert values == sorted(values, reverse=True) and values[-1] == solution.value
    assert all(improvement.solution.is_feasible for improvement in seen)
    assert threads == {threading.current_thread()}


def test_a_start_is_not_worsened(depot40: bqnco.Instance) -> None:
    known = bqnco.solve(depot40, time_limit=0.5)
    for start in (known, [route.tolist() for route in known.routes], known.numbers):
        assert bqnco.solve(depot40, time_limit=0.1, start=start).cost <= known.cost
    with pytest.raises(ValueError, match="a start needs the search"):
        bqnco.solve(depot40, "greedy", start=known)


def test_searches_with_networks(random: np.random.Generator) -> None:
    instance = bqnco.tsp(random.random((12, 2)))
    greedy = bqnco.solve(instance, "greedy", model="tsp")
    assert greedy.found_by == "network tsp"
    beam = bqnco.solve(instance, bqnco.Beam(4), model=bqnco.load_model("tsp"))
    assert beam.found_by == "network tsp, beam 4" and beam.cost <= greedy.cost + 1e-9
    assert "reconstructed" in bqnco.solve(instance, model="tsp", time_limit=0.3).found_by


def test_the_same_as_the_command(depot40: bqnco.Instance) -> None:
    command = os.environ.get("BQNCO_COMMAND")
    if not command:
        pytest.skip("BQNCO_COMMAND does not name the command")
    for search in ("greedy", "beam4"):
        arguments = [command, "solve", str(ROOT / "data/examples/depot40.vrp"), "--search"]
        arguments += ["beam", "--width", "4"] if search == "beam4" else [search]
        told = json.loads(subprocess.run([*arguments, "--json"], capture_output=True, check=True, text=True).stdout)
        ours = bqnco.solve(depot40, search, time_limit=None)
        assert (ours.value, ours.numbers.tolist()) == (told["length"], told["solution"]), search


def test_four_threads_solve_at_once(random: np.random.Generator) -> None:
    instances = [bqnco.tsp(random.random((25, 2))) for _ in range(4)]
    alone = [bqnco.solve(one, time_limit=None, preset="fast").cost for one in instances]
    found: dict[int, float] = {}

    def work(index: int) -> None:
        found[index] = bqnco.solve(instances[index], time_limit=None, preset="fast").cost

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[index] for index in range(4)] == alone


def test_the_interpreter_is_free_meanwhile(depot40: bqnco.Instance) -> None:
    counted = 0
    ended = threading.Event()

    def count() -> None:
        nonlocal counted
        while not ended.is_set():
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    bqnco.solve(depot40, time_limit=0.3)
    before_end = counted
    ended.set()
    thread.join()
    assert before_end > 1000


@pytest.mark.parametrize("problem", bqnco.PROBLEMS)
def test_instances_solutions_and_networks_can_be_pickled(problem: str) -> None:
    """Other processes are spawned: everything goes there as a pickle."""
    (instance,) = bqnco.generate(problem, size=6, count=1, seed=3, expert=False)
    solution = bqnco.rollout([instance], "heuristic")[0]
    again, same = pickle.loads(pickle.dumps((instance, solution)))
    assert (again.name, again.problem, again.size, again.metric) == (
        instance.name,
        problem,
        instance.size,
        instance.metric,
    )
    assert same.cost == solution.cost and same.numbers.tolist() == solution.numbers.tolist()
    model = bqnco.load_model(problem)
    assert pickle.loads(pickle.dumps(model)).parameters == model.parameters


def test_a_limit_on_vehicles_is_kept() -> None:
    """The third customer fits a vehicle of its own only if there is one."""
    given = {"depot": [0, 0], "coords": [[0, 1], [-1, -2], [1, -2]], "demands": [2, 1, 1], "capacity": 3}
    assert all(len(bqnco.solve(bqnco.cvrp(**given, vehicles=n), time_limit=1).routes) <= n for n in (2, 3))
    assert bqnco.cvrp(**given, vehicles=2).fields["vehicles"] == 2


def test_a_slow_callback_holds_nothing_up(depot40: bqnco.Instance) -> None:
    """It misses improvements, but is not called for outdated ones after the end. It may solve something itself."""
    other = bqnco.tsp(np.random.default_rng(2).random((30, 2)))
    seen: list[float] = []

    def slow(improvement: bqnco.Improvement) -> None:
        bqnco.solve(other, "expert", time_limit=0.3)
        seen.append(improvement.value)

    begin = time.monotonic()
    solution = bqnco.solve(depot40, "expert", time_limit=0.6, on_improvement=slow)
    assert time.monotonic() - begin < 3 and seen[-1] == solution.value and len(seen) < 8
