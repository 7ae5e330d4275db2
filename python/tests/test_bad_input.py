"""Bad input: a clear exception for every row of the table, and nothing worse."""

from __future__ import annotations

import gc
import os
import resource
import weakref
from dataclasses import replace
from typing import Any, Callable

import numpy as np
import pytest

import bqnco
from conftest import ROOT

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
NAN = np.array([[0.0, 0.0], [np.nan, 0.0]])


def rolled(policy: Any, **arguments: Any) -> Callable[[], object]:
    return lambda: bqnco.rollout([bqnco.tsp(PLACES)], policy, **arguments)


def raises(_: bqnco.Batch) -> None:
    raise ZeroDivisionError("my own mistake")


def solved() -> list[bqnco.Instance]:
    instance = bqnco.tsp(PLACES)
    return [instance.with_solution(instance.solution_from([0, 1, 2]))]


def scored(**changed: Any) -> Callable[[], object]:
    """Scores of the built-in network for a batch with changes."""
    return lambda: bqnco.load_model("tsp").scores(replace(bqnco.subproblems(solved(), batch=1, shortest=3)[0], **changed))


#: What is wrong, the call, the exception, a part of its sentence.
TABLE: list[tuple[str, Callable[[], object], type[Exception], str]] = [
    ("one axis too few", lambda: bqnco.tsp([1.0, 2.0]), ValueError, r"must have the shape \[n, 2\], found \[2\]"),
    ("three coordinates", lambda: bqnco.tsp(np.zeros((4, 3))), ValueError, r"\[n, 2\], found \[4, 3\]"),
    ("no node", lambda: bqnco.tsp(np.zeros((0, 2))), bqnco.InstanceError, "0 nodes given, at least 2"),
    ("text", lambda: bqnco.tsp([["a", "b"]]), ValueError, "array of numbers, found type"),
    ("complex", lambda: bqnco.tsp(PLACES + 1j), ValueError, "found type complex128"),
    ("objects", lambda: bqnco.tsp([[None, 1], [2, 3]]), ValueError, "found type object"),
    ("ragged", lambda: bqnco.tsp([[0, 0], [1]]), ValueError, "coordinates must be an array of numbers"),
    ("NaN", lambda: bqnco.tsp(NAN), bqnco.InstanceError, "coordinate number 2 is NaN"),
    ("infinite", lambda: bqnco.tsp([[0, 0], [np.inf, 0]]), bqnco.InstanceError, "is inf"),
    ("nothing", lambda: bqnco.tsp(), bqnco.InstanceError, "needs `coordinates` or `matrix`"),
    ("both", lambda: bqnco.tsp(PLACES, matrix=np.zeros((3, 3))), bqnco.InstanceError, "only one of them"),
    ("not square", lambda: bqnco.atsp(np.zeros((2, 3))), ValueError, r"shape \[n, n\], found \[2, 3\]"),
    ("asymmetric", lambda: bqnco.tsp(matrix=[[0, 1], [2, 0]]), bqnco.InstanceError, "a symmetric matrix is needed"),
    ("negative cost", lambda: bqnco.atsp([[0, -1], [1, 0]]), bqnco.InstanceError, "must not be negative"),
    (
        "negative demand",
        lambda: bqnco.cvrp([0, 0], [[1, 0]], [-1], 2),
        bqnco.InstanceError,
        "demand number 2 is -1, it must not be negative",
    ),
    (
        "demand above capacity",
        lambda: bqnco.cvrp([0, 0], [[1, 0]], [3], 2),
        bqnco.InstanceError,
        "above the vehicle's capacity of 2",
    ),
    ("capacity NaN", lambda: bqnco.cvrp([0, 0], [[1, 0]], [1], np.nan), bqnco.InstanceError, "capacity is NaN"),
    ("too few demands", lambda: bqnco.cvrp([0, 0], PLACES[1:], [1], 2), ValueError, r"shape \(2,\), one number per customer"),
    ("a demand of the depot", lambda: bqnco.cvrp([0, 0], [[1, 0]], [0, 1], 2), ValueError, r"shape \(1,\).*found \(2,\)"),
    ("demands beside a matrix", lambda: bqnco.cvrp(demands=[1], capacity=2, matrix=np.ones((3, 3))), ValueError, r"shape \(2,\)"),
    ("too many prizes", lambda: bqnco.op([0, 0], [[1, 0]], [1, 1], 2), ValueError, r"prizes must have the shape \(1,\)"),
    ("too few penalties", lambda: bqnco.pctsp([0, 0], [[1, 0]], [1], [], 1), ValueError, r"penalties must have the shape \(1,\)"),
    ("demands of two axes", lambda: bqnco.cvrp([0, 0], [[1, 0]], [[1]], 2), ValueError, "demands must have 1 axis, found"),
    ("masked numbers", lambda: bqnco.tsp(np.ma.masked_less(PLACES, 0.5)), ValueError, "coordinates has masked numbers"),
    ("a name of numbers", lambda: bqnco.tsp(PLACES, name=3), TypeError, "name must be a string, found int"),
    ("a metric of numbers", lambda: bqnco.tsp(PLACES, metric=3), TypeError, "metric must be a string, found int"),
    ("a depot of three", lambda: bqnco.cvrp([0, 0, 0], [[1, 0]], [1], 2), ValueError, r"depot must have the shape \(2,\)"),
    ("too few vehicles", lambda: bqnco.cvrp([0, 0], PLACES[1:], [2, 2], 2, vehicles=1), bqnco.InstanceError, "1 vehicle"),
    ("half a vehicle", lambda: bqnco.cvrp([0, 0], PLACES[1:], [2, 2], 2, vehicles=1.5), bqnco.InstanceError, "vehicles"),
    ("no capacity", lambda: bqnco.cvrp([0, 0], [[1, 0]], [1]), TypeError, "missing argument: 'capacity'"),
    ("negative prize", lambda: bqnco.op([0, 0], [[1, 0]], [-1], 2), bqnco.InstanceError, "must not be negative"),
    ("limit zero", lambda: bqnco.op([0, 0], [[1, 0]], [1], 0), bqnco.InstanceError, "above zero"),
    ("negative weight", lambda: bqnco.knapsack([1], [-1], 2), bqnco.InstanceError, "must not be negative"),
    ("lengths differ", lambda: bqnco.knapsack([1, 2], [1], 2), bqnco.InstanceError, "given, "),
    ("no such problem", lambda: bqnco.instance("tps", coordinates=PLACES), bqnco.SettingsError, "unknown problem `tps`"),
    ("no such field", lambda: bqnco.instance("tsp", coordinate=PLACES), bqnco.InstanceError, "coordinates"),
    ("no such metric", lambda: bqnco.tsp(PLACES, metric="EUC"), ValueError, "metric 'EUC'"),
    ("no such file", lambda: bqnco.read("no/such/file"), FileNotFoundError, "no/such/file"),
    ("not a file of ours", lambda: bqnco.read(b"hello"), bqnco.InstanceError, "not a known file format"),
    ("content as text", lambda: bqnco.read("x,y\n0,0\n1,1\n"), ValueError, "give a path, or the content of a file as bytes"),
    ("neither path nor bytes", lambda: bqnco.read(3), TypeError, "source must be a path, found int"),
    ("a problem of numbers", lambda: bqnco.read(b"", problem=3), TypeError, "problem must be a string"),
    ("anything to write", lambda: bqnco.write("unused.npz", [1]), TypeError, r"instances\[0\] is a int"),
    ("two instances", lambda: bqnco.read(b'{"coordinates":[[0,0],[1,1]]}\n' * 2), bqnco.InstanceError, "found 2"),
    ("not an instance", lambda: bqnco.solve(PLACES), TypeError, "found ndarray; bqnco.tsp, .* make one"),
    ("a batch of two axes", lambda: bqnco.solve_batch(PLACES), ValueError, r"shape \(count, n, 2\)"),
    ("a batch of anything", lambda: bqnco.solve_batch([1]), TypeError, r"instances\[0\] is a int"),
    ("no batch", lambda: bqnco.solve_batch(None), TypeError, "expected instances, or coordinates.* found NoneType"),
    (
        "one of a batch",
        lambda: bqnco.solve_batch([PLACES, NAN]),
        bqnco.InstanceError,
        r"instances\[1\]: coordinate number 2 is NaN",
    ),
    ("no such search", lambda: bqnco.solve(bqnco.tsp(PLACES), "anneal"), bqnco.SettingsError, "search `anneal`"),
    ("beam of 0", lambda: bqnco.solve(bqnco.tsp(PLACES), bqnco.Beam(0)), ValueError, "width = 0"),
    ("a beam too wide", lambda: bqnco.solve(bqnco.tsp(PLACES), bqnco.Beam(10_001)), ValueError, "width = 10001: expected at most"),
    ("half a sample", lambda: bqnco.solve(bqnco.tsp(PLACES), bqnco.Sample(1.5)), TypeError, "count must be an integer"),
    ("no such preset", lambda: bqnco.solve(bqnco.tsp(PLACES), preset="x"), ValueError, "preset 'x'"),
    ("a preset of numbers", lambda: bqnco.solve(bqnco.tsp(PLACES), preset=1), TypeError, "preset must be a string, found int"),
    ("endless time", lambda: bqnco.solve(bqnco.tsp(PLACES), time_limit=np.inf), ValueError, "time_limit = inf: .* or None"),
    ("no time", lambda: bqnco.solve(bqnco.tsp(PLACES), time_limit=0), ValueError, "time_limit = 0"),
    ("time NaN", lambda: bqnco.solve(bqnco.tsp(PLACES), time_limit=np.nan), ValueError, "time_limit = NaN"),
    ("no threads", lambda: bqnco.solve(bqnco.tsp(PLACES), threads=0), ValueError, "expected 1 to 1024 threads, found 0"),
    ("a million threads", lambda: bqnco.solve(bqnco.tsp(PLACES), threads=10**6), ValueError, "expected 1 to 1024 threads"),
    ("a seed too large", lambda: bqnco.solve(bqnco.tsp(PLACES), seed=2**64), ValueError, "expected at most 18446744073709551615"),
    ("nothing to call", lambda: bqnco.solve(bqnco.tsp(PLACES), on_improvement=3), TypeError, "on_improvement must be callable"),
    ("negative seed", lambda: bqnco.solve(bqnco.tsp(PLACES), seed=-1), ValueError, "seed = -1: expected an integer from 0 on"),
    ("half a seed", lambda: bqnco.solve(bqnco.tsp(PLACES), seed=0.5), TypeError, "seed must be an integer, found float"),
    ("a limit of text", lambda: bqnco.solve(bqnco.tsp(PLACES), time_limit="x"), TypeError, "time_limit must be a number"),
    ("no such network", lambda: bqnco.load_model("gpt"), bqnco.ModelError, "network `gpt`: neither a folder nor one of"),
    ("a folder without one", lambda: bqnco.load_model(ROOT / "docs"), bqnco.ModelError, "docs: no network in this folder"),
    ("a network for nothing", lambda: bqnco.solve(bqnco.tsp(PLACES), "expert", model="tsp"), bqnco.SettingsError, "leave the model"),
    ("a callable as network", lambda: bqnco.solve(bqnco.tsp(PLACES), model=raises), TypeError, "bqnco.rollout takes callables"),
    ("another network", lambda: bqnco.solve(bqnco.tsp(PLACES), "greedy", model="cvrp"), bqnco.ModelError, "for cvrp"),
    ("a start twice", lambda: bqnco.solve(bqnco.tsp(PLACES), start=[0, 1, 1]), bqnco.InfeasibleError, "not feasible"),
    ("a start below 0", lambda: bqnco.solve(bqnco.tsp(PLACES), start=[0, -1, 1]), bqnco.InstanceError, "has the number -1"),
    ("a start of one number", lambda: bqnco.solve(bqnco.tsp(PLACES), start=3), TypeError, "its numbers or its routes, found int"),
    ("a start of text", lambda: bqnco.tsp(PLACES).solution_from("abc"), TypeError, "expected numbers"),
    ("scores NaN", rolled(lambda b: np.full(b.mask.shape, np.nan)), bqnco.PolicyError, "scored slot 1 with NaN"),
    ("scores of another shape", rolled(lambda b: np.zeros((1, 1))), ValueError, r"shape \(1, 1\); expected \(1, 4\)"),
    ("scores of text", rolled(lambda b: "high"), ValueError, "scores of type"),
    ("no scores", rolled(lambda b: None), ValueError, "scores of type object"),
    ("a policy that raises", rolled(raises), ZeroDivisionError, "my own mistake"),
    ("a policy of two arguments", rolled(lambda a, b: a), TypeError, "missing 1 required positional argument"),
    ("a policy that is none", rolled(42), TypeError, "expected a network, its name or folder, or a callable; found int"),
    ("no decoding", rolled(raises, decoding="beam16"), TypeError, "found str"),
    ("no such frame", rolled(lambda b: b.mask, frame="mine"), ValueError, "frame 'mine'"),
    ("a shortlist of 0", rolled(lambda b: b.mask, shortlist=0), bqnco.SettingsError, "shortlist `0`: expected a number above"),
    (
        "a matrix for a policy",
        lambda: bqnco.rollout([bqnco.tsp(matrix=np.ones((3, 3)))], lambda b: b.mask),
        bqnco.InstanceError,
        "has only a matrix of distances",
    ),
    ("a negative size", lambda: bqnco.generate("tsp", size=-1, count=1), ValueError, "size = -1"),
    ("size 0", lambda: bqnco.generate("tsp", size=0, count=1), bqnco.SettingsError, "size = 0"),
    ("count 0", lambda: bqnco.generate("tsp", size=5, count=0), bqnco.SettingsError, "count = 0"),
    ("a distribution that is none", lambda: bqnco.generate("tsp", 5, 1, distribution="x"), bqnco.SettingsError, "expected uniform"),
    ("items in a ring", lambda: bqnco.generate("knapsack", 5, 1, distribution="ring"), bqnco.SettingsError, "no places to spread"),
    ("labels without an expert", lambda: bqnco.generate("pctsp", size=5, count=1), bqnco.SettingsError, "no built-in expert"),
    ("nothing to learn", lambda: bqnco.subproblems([bqnco.tsp(PLACES)]), bqnco.InstanceError, "no solution to learn from"),
    ("no instances", lambda: bqnco.subproblems([]), bqnco.SettingsError, "instances = 0"),
    ("batches of none", lambda: bqnco.subproblems(solved(), batch=0), bqnco.SettingsError, "batch is 0"),
    ("a batch below 0", lambda: bqnco.subproblems(solved())[-1], ValueError, "the number of a batch = -1"),
    ("a frame of numbers", lambda: bqnco.subproblems(solved(), frame=1), TypeError, "frame must be a string"),
    ("another number of solutions", lambda: bqnco.subproblems(solved(), []), ValueError, "0 solutions for 1 instances"),
    ("a problem that is none", lambda: bqnco.generate(None, size=5, count=1), TypeError, "problem must be a string"),
    ("progress over anything", lambda: bqnco.generate("tsp", 5, "x", progress=True), TypeError, "count must be an integer"),
    ("no such array", lambda: bqnco.Dataset(solved())["demands"], KeyError, "no array 'demands'; there are .'coordinates'"),
    ("a dataset of anything", lambda: bqnco.Dataset([1]), TypeError, r"instances\[0\] is a int"),
    ("scores of an array", lambda: bqnco.load_model("tsp").scores(PLACES), TypeError, "expected a bqnco.Batch, found ndarray"),
    ("features of text", scored(features=np.full((1, 4, 2), "1")), ValueError, "features must be an array of numbers"),
    ("half an origin", scored(origins=np.array([0.5])), ValueError, "origins must be an array of integers, found type float64"),
    ("kinds of text", scored(kinds="1"), TypeError, "kinds must be an integer"),
    ("a network of numbers", lambda: bqnco.load_model(3), TypeError, "name_or_folder must be a path, found int"),
    ("lengths above", scored(lengths=np.array([9])), ValueError, "lengths must be from 0 to 4"),
    ("an origin above", scored(origins=np.array([9])), bqnco.ModelError, "expected 4"),
    ("features of two axes", scored(features=np.zeros((4, 2))), ValueError, r"shape \(batch, tokens, features\)"),
    ("two kinds", scored(kinds=2), ValueError, "2 scores per token; tsp expects 1"),
    (
        "a wrong solution",
        lambda: bqnco.subproblems([bqnco.tsp(PLACES)], [[0, 1, 1]]),
        bqnco.InfeasibleError,
        "not feasible",
    ),
    ("a file for the terminal", lambda: bqnco.read(b"\x1b[31mEVIL\x07\xc2\x9b2J"), bqnco.InstanceError, "EVIL"),
    ("no such suite", lambda: bqnco.eval("tps"), bqnco.SettingsError, "no suite or problem is called `tps`"),
    ("no files", lambda: bqnco.eval("tsplib", policies=[]), bqnco.SettingsError, "needs a folder with its files"),
    ("searches of letters", lambda: bqnco.eval("tsp", searches="greedy"), TypeError, "searches must be a list of strings"),
    ("one policy", lambda: bqnco.eval("tsp", policies=raises), TypeError, "policies must be a list"),
    ("a policy of numbers", lambda: bqnco.eval("tsp", policies=[3]), TypeError, "its name or folder, or a callable; found int"),
    ("data of arrays", lambda: bqnco.eval("tsp", data=[1], policies=[]), TypeError, "data must be a path, found list"),
    ("a named network", lambda: bqnco.eval("tsp", policies=[("mine", "tsp")]), TypeError, "only callables"),
    ("no such baseline", lambda: bqnco.eval("tsp", baselines=["x"]), ValueError, "baseline 'x'"),
    ("nowhere to train", lambda: bqnco.train({}), TypeError, "missing argument: 'folder'"),
    ("a callback that is none", lambda: bqnco.train({}, "unused", callback=3), TypeError, "callback must be callable"),
    ("an empty recipe", lambda: bqnco.train({}, "unused"), bqnco.SettingsError, "missing field `problem`"),
]


@pytest.mark.parametrize(("call", "error", "sentence"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_a_clear_exception(call: Callable[[], object], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence) as raised:
        call()
    assert "panicked" not in str(raised.value)
    assert not set(str(raised.value)) & set("\x1b\x07\x9b"), "it would control the terminal that prints it"


def test_the_callers_exception_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        rolled(raises)()
    assert any(entry.name == "raises" for entry in raised.traceback)


def test_an_exception_in_a_callback_ends_the_search() -> None:
    def stop(_: bqnco.Improvement) -> None:
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError, match="enough"):
        bqnco.solve(bqnco.tsp(np.random.default_rng(1).random((100, 2))), time_limit=60, on_improvement=stop)


def test_one_instance_that_cannot_be_solved_leaves_the_others() -> None:
    """It needs as many vehicles as a construction may not promise."""
    free, limited = (bqnco.cvrp([0, 0], PLACES[1:], [1, 1], 1, vehicles=vehicles) for vehicles in (None, 2))
    with pytest.raises(bqnco.SettingsError, match="cannot keep a limit") as raised:
        bqnco.solve_batch([free, limited, free], "greedy")
    assert [one.is_feasible for one in raised.value.solutions] == [True, True]


def test_an_exception_is_freed_at_once() -> None:
    """Nothing refers to itself: what a failed policy held does not wait for the garbage collector."""

    class Held:
        pass

    def policy(_: bqnco.Batch) -> None:
        held = Held()
        kept.append(weakref.ref(held))
        raise ZeroDivisionError

    kept: list[weakref.ref[Held]] = []
    gc.disable()
    try:
        try:
            rolled(policy)()
        except ZeroDivisionError:
            pass
        assert kept[0]() is None
    finally:
        gc.enable()


def test_memory_stays_flat_over_failing_calls() -> None:
    """A few of each row here; benchmarks/python.py makes ten thousand."""
    calls = [row[1] for row in TABLE if row[0] not in ("no such suite", "no files")]

    def fail(times: int) -> int:
        for _ in range(times):
            for call in calls:
                try:
                    call()
                except Exception:
                    pass
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    fail(3)
    before = fail(3)
    assert fail(6) - before < 8 * 1024, "megabytes more"


def test_a_forked_process_is_told_instead_of_hanging() -> None:
    bqnco.generate("tsp", size=5, count=1)
    process = os.fork()
    if process == 0:
        try:
            bqnco.generate("tsp", size=5, count=1)
        except RuntimeError as error:
            os._exit(0 if "forked" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
