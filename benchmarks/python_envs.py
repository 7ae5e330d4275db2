#!/usr/bin/env python3
"""How fast one environment builds solutions of many CVRPs at once, for benchmarks/python.py, which runs one process per
environment and round: the threads of one would disturb another.

    python_envs.py bqnco|numpy|rl4co INSTANCES.npz --threads 1 --seconds 2

All environments get the same file and take the same steps, so that their costs must agree: the first customer that fits into
the vehicle, else the first one after a return to the depot. An episode is a reset and all solutions from begin to end, with
masks and observations at every step and the costs at the end. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Callable

import numpy as np

#: An episode: the costs of all solutions, and the steps made.
Episode = Callable[[], "tuple[np.ndarray, int]"]


def first_that_fits(mask: np.ndarray) -> np.ndarray:
    """The slots of the steps; slot = token * 2 + (0: directly, 1: via the depot)."""
    directly, via_depot = mask[:, 0::2], mask[:, 1::2]
    first = directly.argmax(axis=1)
    fits = directly[np.arange(len(mask)), first] != 0
    return np.where(fits, 2 * first, 2 * via_depot.argmax(axis=1) + 1)


def bqnco_vector(file: str) -> Episode:
    import bqnco
    from bqnco.envs import VectorEnv

    instances = bqnco.read_all(file, problem="cvrp")
    env = VectorEnv(instances=instances, num_envs=len(instances))
    size = instances[0].size

    def episode() -> tuple[np.ndarray, int]:
        _, info = env.reset(seed=0)  # from the first of the instances again
        for _ in range(size):
            _, _, ended, _, info = env.step(first_that_fits(info["action_mask"]))
        assert ended.all()
        return info["cost"], size * len(instances)

    return episode


class NumpyCvrp:
    """The same environment in numpy, vectorised over instances: states, rewards, masks and observations of the CVRP. Nodes
    that are done stay in the observation, which is less work than to leave them out, as a tail subproblem does."""

    def __init__(self, file: str) -> None:
        data = np.load(file)
        self.places = np.concatenate([data["depot"][:, None], data["locs"]], axis=1)
        self.demands = np.concatenate([np.zeros((len(data["demand"]), 1)), data["demand"]], axis=1)
        self.capacity = data["capacity"]
        self.count, self.nodes = self.demands.shape
        self.rows = np.arange(self.count)

    def reset(self) -> tuple[np.ndarray, np.ndarray]:
        self.left = np.ones((self.count, self.nodes), bool)
        self.left[:, 0] = False
        self.at, self.load = np.zeros(self.count, int), self.capacity.copy()
        return self.observe(), self.mask()

    def mask(self) -> np.ndarray:
        direct = self.left & (self.demands <= self.load[:, None])
        return np.stack([direct, self.left & (self.at != 0)[:, None]], axis=2).reshape(self.count, -1)

    def observe(self) -> np.ndarray:
        features = np.zeros((self.count, self.nodes, 6), np.float32)
        features[:, :, :2] = self.places
        features[:, :, 2] = self.demands / self.capacity[:, None]
        features[:, :, 3] = (self.load / self.capacity)[:, None]
        features[self.rows, self.at, 4] = 1.0
        features[:, :, 5] = self.left
        return features

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        node, via = actions // 2, actions % 2 == 1
        here, there, depot = self.places[self.rows, self.at], self.places[self.rows, node], self.places[:, 0]
        direct = np.linalg.norm(here - there, axis=1)
        home = np.linalg.norm(there - depot, axis=1)
        detour = np.linalg.norm(here - depot, axis=1) + home
        self.load = np.where(via, self.capacity, self.load) - self.demands[self.rows, node]
        self.at, self.left[self.rows, node] = node, False
        ended = ~self.left.any(axis=1)
        rewards = -np.where(via, detour, direct) - np.where(ended, home, 0.0)
        return self.observe(), rewards, ended, self.mask()


def numpy_vector(file: str) -> Episode:
    env = NumpyCvrp(file)

    def episode() -> tuple[np.ndarray, int]:
        _, mask = env.reset()
        costs, ended = np.zeros(env.count), np.zeros(env.count, bool)
        for _ in range(env.nodes - 1):
            _, rewards, ended, mask = env.step(first_that_fits(mask))
            costs -= rewards
        assert ended.all()
        return costs, (env.nodes - 1) * env.count

    return episode


def rl4co_batch(file: str) -> Episode:
    import torch
    from rl4co.envs import CVRPEnv

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    data = CVRPEnv.load_data(file).apply(lambda one: one.float())  # the type of its own generator
    count, size = data["demand"].shape
    env = CVRPEnv(generator_params={"num_loc": size}, check_solution=False)  # the others check nothing at the end, either

    def episode() -> tuple[np.ndarray, int]:
        state, made, actions = env.reset(data.clone()), 0, []
        while not state["done"].all():
            made += int((~state["done"]).sum())  # those that have ended wait at the depot
            fits = state["action_mask"][:, 1:].to(torch.int8)
            first = fits.argmax(dim=-1) + 1
            state.set("action", torch.where(fits.any(dim=-1), first, 0))  # a return to the depot is a step of its own
            actions.append(state["action"])
            state = env.step(state)["next"]
        return -env.get_reward(state, torch.stack(actions, dim=1)).numpy(), made

    return episode


PEERS = {"bqnco": bqnco_vector, "numpy": numpy_vector, "rl4co": rl4co_batch}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("instances")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=2.0, help="at least so long; episodes are completed")
    options = parser.parse_args()
    for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(options.threads)  # before the libraries start threads
    episode = PEERS[options.peer](options.instances)
    costs, _ = episode()  # threads are started, memory is allocated
    built, steps, seconds, start = 0, 0, 0.0, time.perf_counter()
    while seconds < options.seconds:
        costs, made = episode()
        built, steps, seconds = built + len(costs), steps + made, time.perf_counter() - start
    print(json.dumps({"solutions": built / seconds, "steps": steps / seconds, "cost": float(np.mean(costs))}))


if __name__ == "__main__":
    main()
