"""Environments of gymnasium."""

from __future__ import annotations

import subprocess
import sys
from typing import Callable

import numpy as np
import pytest

import bqnco
from conftest import needed

gymnasium = needed("gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402

import bqnco.envs  # noqa: E402


KNAPSACKS = [bqnco.knapsack([3, 4, 5], [2, 3, 4], 5)]
FEW_VEHICLES = bqnco.cvrp([0, 0], [[1, 0], [0, 1]], [1, 1], 1, vehicles=2)


@pytest.mark.parametrize("problem", bqnco.PROBLEMS)
@pytest.mark.filterwarnings("error:.*obs.*")
def test_gymnasiums_checker_accepts_it(problem: str) -> None:
    check_env(gymnasium.make(f"bqnco/{problem}-v0", size=6).unwrapped)


@pytest.mark.parametrize("problem", bqnco.PROBLEMS)
def test_rewards_add_up_to_the_cost_of_the_solution(problem: str, random: np.random.Generator) -> None:
    env = gymnasium.make(f"bqnco/{problem}-v0", size=8)
    observation, info = env.reset(seed=3)
    total, terminated, empty = 0.0, False, 0.0
    if problem == "pctsp":  # all penalties are owed at first
        (instance,) = bqnco.generate("pctsp", 8, 1, seed=3, expert=False)
        empty = instance.fields["penalties"][1:].sum()
    while not terminated:
        assert env.observation_space.contains(observation)
        assert (observation["action_mask"] == info["action_mask"]).all()
        action = random.choice(np.flatnonzero(info["action_mask"]))
        observation, reward, terminated, truncated, info = env.step(action)
        assert not truncated
        total += reward
    assert info["solution"].is_feasible and info["solution"].cost == pytest.approx(empty - total)


def test_masks_are_those_of_gymnasium_and_of_maskable_policies() -> None:
    """``action_space.sample`` takes the mask of ``info``, as with gymnasium's Taxi; sb3-contrib calls ``action_masks``."""
    env = gymnasium.make("bqnco/cvrp-v0", size=6)
    _, info = env.reset(seed=2)
    terminated = False
    while not terminated:
        action = env.action_space.sample(mask=info["action_mask"])
        assert env.unwrapped.action_masks()[action] and env.unwrapped.action_masks().dtype == bool
        _, _, terminated, _, info = env.step(action)
        assert "invalid" not in info
    vector = gymnasium.make_vec("bqnco/cvrp-v0", num_envs=3, size=6)
    _, info = vector.reset(seed=2)
    assert not vector.step(vector.action_space.sample(mask=tuple(info["action_mask"])))[4]["invalid"].any()


def test_a_name_with_the_module_needs_no_import() -> None:
    code = 'import gymnasium; print(gymnasium.make("bqnco.envs:bqnco/cvrp-v0", size=5).reset(seed=1)[0]["length"])'
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "7\n"


def test_gymnasiums_own_processes_are_spawned() -> None:
    """A forked one is refused; the environment's name is all that it needs."""
    many = {"vectorization_mode": "async", "vector_kwargs": {"context": "spawn"}}
    vector = gymnasium.make_vec("bqnco/tsp-v0", num_envs=1, size=5, **many)
    try:
        assert vector.reset(seed=1)[0]["length"].tolist() == [6]
    finally:
        vector.close()


def test_an_action_that_is_not_allowed_changes_nothing() -> None:
    env = gymnasium.make("bqnco/tsp-v0", size=5)
    before, _ = env.reset(seed=1)
    after, reward, terminated, _, info = env.step(0)
    assert (reward, terminated, info["invalid"]) == (-1.0, False, True)
    assert (before["features"] == after["features"]).all()


def test_without_a_seed_environments_differ() -> None:
    places = [bqnco.envs.Env("tsp", 5).reset()[0]["features"] for _ in range(2)]
    assert (places[0] != places[1]).any()
    vectors = [bqnco.envs.VectorEnv("tsp", 5, 3).reset(seed=seed)[0]["features"] for seed in (4, [4, 5, 6])]
    assert (vectors[0] == vectors[1]).all()


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: bqnco.envs.Env("tsp", 0), ValueError, "size = 0"),
        (lambda: bqnco.envs.VectorEnv("tsp", 5, 0), ValueError, "num_envs = 0"),
        (lambda: bqnco.envs.Env("tps"), bqnco.SettingsError, "unknown problem"),
        (lambda: bqnco.envs.Env(instances=[]), ValueError, "instances is empty"),
        (lambda: bqnco.envs.Env("tsp", 5, frame="mine"), ValueError, "frame 'mine'"),
        (lambda: bqnco.envs.Env("tsp", 5).step(1.5), TypeError, "actions must be integers, found float64"),
        (lambda: bqnco.envs.VectorEnv("tsp", 5, 3).step(np.zeros(2, int)), bqnco.SettingsError, "actions = 2: expected 3"),
        (lambda: bqnco.envs.VectorEnv("tsp", 5, 3).solution(0), ValueError, "has not ended"),
        (lambda: bqnco.envs.VectorEnv("tsp", 5, 3).solution(3), ValueError, "index = 3: expected at most 2"),
        (lambda: bqnco.envs.VectorEnv("tsp", 5, 3).solution(-1), ValueError, "index = -1"),
        (lambda: bqnco.envs.Env("tsp", 5, invalid_reward="low"), TypeError, "invalid_reward must be a number"),
        (lambda: bqnco.envs.Env("tsp", instances=KNAPSACKS), ValueError, r"instances\[0\] is an instance of knapsack"),
        (lambda: bqnco.envs.Env(instances=[*KNAPSACKS, np.eye(3, 2)]), ValueError, r"instances\[1\] is an instance of tsp"),
        (lambda: bqnco.envs.Env(instances=[3]), TypeError, r"instances\[0\] is a int"),
        (lambda: bqnco.envs.Env(instances=[FEW_VEHICLES]), bqnco.SettingsError, "limits the number of vehicles"),
        (lambda: bqnco.envs.Env("cvrp", 5).reset(options={"instance": FEW_VEHICLES}), bqnco.SettingsError, "number of vehicles"),
        (lambda: bqnco.envs.Env("tsp", 5).reset(options={"instance": 3}), TypeError, "must be a bqnco.Instance, found int"),
        (lambda: bqnco.envs.Env("tsp", 5).reset(options={"instances": []}), ValueError, "options has 'instances'"),
        (lambda: bqnco.envs.VectorEnv("tsp", 5, 3).reset(options={"reset_mask": [True]}), ValueError, "options has 'reset_mask'"),
        (
            lambda: bqnco.envs.Env("tsp", 5).reset(options={"instance": bqnco.tsp(np.eye(9, 2))}),
            bqnco.SettingsError,
            "tokens = 10: expected at most 6",
        ),
    ],
)
def test_mistakes_are_told(call: Callable[[], object], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        call()


def test_a_problem_is_that_of_the_given_instances() -> None:
    assert bqnco.envs.Env(instances=KNAPSACKS).reset()[0]["length"] == 3
    assert bqnco.envs.Env(instances=np.ones((2, 5, 2))).reset()[0]["length"] == 6, "an array of TSPs"
    vector = bqnco.envs.VectorEnv(instances=np.ones((2, 5, 2)), num_envs=3)
    assert vector.reset(options={"instance": bqnco.tsp(np.eye(4, 2))})[0]["length"].tolist() == [5, 5, 5]
    assert vector.reset(seed=[None, 1, 2])[0]["length"].tolist() == [6, 6, 6], "the first seed counts"


def test_given_instances_are_taken_in_turn() -> None:
    instances = [bqnco.tsp(np.random.default_rng(k).random((4 + k, 2))) for k in range(3)]
    env = bqnco.envs.Env(instances=instances)
    lengths = [env.reset(seed=0 if k == 0 else None)[0]["length"] for k in range(4)]
    assert lengths == [5, 6, 7, 5]
    assert env.reset(options={"instance": instances[1]})[0]["length"] == 6


@pytest.mark.parametrize("problem", ["tsp", "cvrp", "atsp"])
def test_a_vector_of_environments_does_what_single_ones_do(problem: str) -> None:
    count = 5
    vector = gymnasium.make_vec(f"bqnco/{problem}-v0", num_envs=count, size=6)
    assert isinstance(vector.unwrapped, bqnco.envs.VectorEnv)
    instances = bqnco.generate(problem, 6, 2 * count, seed=11, expert=False)
    singles = [bqnco.envs.Env(problem, 6) for _ in range(count)]
    observations, info = vector.reset(seed=11)
    alone = [env.reset(options={"instance": instances[k]})[0] for k, env in enumerate(singles)]
    ended = np.zeros(count, bool)
    for _ in range(20):
        for name, array in observations.items():
            assert (array == np.stack([one[name] for one in alone])).all(), name
        actions = observations["action_mask"].argmax(axis=1)
        observations, rewards, terminated, _, info = vector.step(actions)
        if ended.any():  # they have been started anew: as many steps as the others
            break
        stepped = [env.step(action) for env, action in zip(singles, actions)]
        alone = [one[0] for one in stepped]
        assert rewards == pytest.approx([one[1] for one in stepped])
        assert terminated.tolist() == [one[2] for one in stepped]
        if terminated.any():
            costs = [one[4]["solution"].cost for one in stepped if one[2]]
            assert info["cost"][terminated] == pytest.approx(costs)
        ended = terminated
    assert ended.any()
    assert (rewards[ended] == 0).all() and not terminated[ended].any()
    assert (observations["action_mask"][ended].any(axis=1)).all()


def test_the_vector_runs_on_and_on(random: np.random.Generator) -> None:
    vector = bqnco.envs.VectorEnv("cvrp", size=10, num_envs=50)
    observations, info = vector.reset(seed=5)
    costs = []
    for _ in range(60):
        scores = random.random(info["action_mask"].shape) * info["action_mask"]
        observations, rewards, terminated, truncated, info = vector.step(scores.argmax(axis=1))
        assert not info["invalid"].any()
        costs.extend(info["cost"][terminated] if terminated.any() else [])
    assert len(costs) > 200 and np.isfinite(costs).all()
