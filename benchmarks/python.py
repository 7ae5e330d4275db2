#!/usr/bin/env python3
"""Measures the Python package: wheel, import, overhead over the command, environments, failing calls, threads, Ctrl-C.

benchmarks/python.sh runs it with a release build in a fresh environment. Everything is measured in one run on one machine;
the parts that are compared take turns. RL4CO's environment is measured too if it is installed.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import Callable

import numpy as np

import bqnco

ROOT = Path(__file__).resolve().parents[1]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def wheel(path: Path) -> list[str]:
    """What is in the wheel, as it is packed."""
    with zipfile.ZipFile(path) as archive:
        parts = [(one.filename, one.compress_size, one.file_size) for one in archive.infolist()]
    compiled = [part for part in parts if part[0].endswith((".so", ".pyd"))]
    others = [part for part in parts if part not in compiled]
    networks = sum(file.stat().st_size for file in (ROOT / "models").glob("*/model.safetensors"))
    rows = [("compiled part", compiled), ("Python, stubs, metadata", others)]
    return [
        f"`{path.name}`: {path.stat().st_size / 1e6:.1f} MB (target: at most 25 MB).",
        "",
        "| | files | packed | unpacked |",
        "|---|---|---|---|",
        *(
            f"| {name} | {len(files)} | {sum(f[1] for f in files) / 1e6:.2f} MB | {sum(f[2] for f in files) / 1e6:.2f} MB |"
            for name, files in rows
        ),
        "",
        f"{networks / 1e6:.1f} MB of the compiled part are the weights of {len(bqnco.models())} networks.",
    ]


def readme() -> list[str]:
    """README's example, in a process of its own."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    took = seconds(lambda: subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL))
    return [f"It runs; the whole process takes {took:.1f} s, one of them is its time limit."]


def importing() -> list[str]:
    def run(code: str) -> float:
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)

    code = "import time; t = time.perf_counter(); import numpy; n = time.perf_counter(); import bqnco; print({})"
    alone = [run(code.format("time.perf_counter() - n")) for _ in range(15)]
    both = [run(code.format("time.perf_counter() - t")) for _ in range(15)]
    return [
        "| | |",
        "|---|---|",
        f"| `import bqnco`, numpy already imported | median {statistics.median(alone):.3f} s, best {min(alone):.3f} s |",
        f"| `import bqnco` with numpy | median {statistics.median(both):.3f} s, best {min(both):.3f} s |",
        "",
        "The target is 0.15 s.",
    ]


def overhead(command: str, count: int, rounds: int) -> list[str]:
    """The same instances from the same file by the command and by solve_batch, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tsp100.npz"
        bqnco.generate("tsp", 100, count, seed=7, expert=False).write(file)
        theirs, ours, values = [], [], []
        arguments = [command, "solve", str(file), "--preset", "fast", "--json", "--quiet"]
        places = bqnco.Dataset(bqnco.read_all(file))["coordinates"]
        for _ in range(rounds):
            start = time.perf_counter()
            told = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
            theirs.append(time.perf_counter() - start)
            values.append([json.loads(line)["length"] for line in told.splitlines() if line.startswith("{")])
            start = time.perf_counter()
            found = bqnco.solve_batch(places, preset="fast")  # from one array
            ours.append(time.perf_counter() - start)
            values.append([one.cost for one in found])
    equal = all(np.allclose(values[0], others) for others in values)
    ratio = statistics.median(ours) / statistics.median(theirs)
    return [
        f"{count} TSP100, `--preset fast`, all cores, {rounds} rounds in turns; the solutions are "
        + ("equal." if equal else "NOT equal."),
        "",
        "| | median | best |",
        "|---|---|---|",
        f"| `bqnco solve` (reads the file, prints JSON) | {statistics.median(theirs):.2f} s | {min(theirs):.2f} s |",
        f"| `bqnco.solve_batch(array)` | {statistics.median(ours):.2f} s | {min(ours):.2f} s |",
        f"| overhead (target: at most 3 %) | {100 * (ratio - 1):+.1f} % | {100 * (min(ours) / min(theirs) - 1):+.1f} % |",
    ]


class NumpyCvrp:
    """The same environment in numpy, vectorised over instances: states, masks, observations of the CVRP."""

    def __init__(self, count: int, size: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.count, self.size = count, size
        self.places = random.random((count, size + 1, 2))
        self.demands = np.concatenate([np.zeros((count, 1)), random.integers(1, 10, (count, size))], axis=1)
        self.capacity = 30.0
        self.restart(np.ones(count, bool))

    def restart(self, which: np.ndarray) -> None:
        if which.all():
            self.left = np.ones((self.count, self.size + 1), bool)
            self.at, self.load = np.zeros(self.count, int), np.full(self.count, self.capacity)
        self.left[which] = True
        self.left[which, 0] = False
        self.at[which], self.load[which] = 0, self.capacity

    def mask(self) -> np.ndarray:
        direct = self.left & (self.demands <= self.load[:, None])
        return np.stack([direct, self.left & (self.at != 0)[:, None]], axis=2).reshape(self.count, -1)

    def observe(self) -> np.ndarray:
        rows = np.arange(self.count)
        features = np.zeros((self.count, self.size + 1, 6), np.float32)
        features[:, :, :2] = self.places
        features[:, :, 2] = self.demands / self.capacity
        features[:, :, 3] = (self.load / self.capacity)[:, None]
        features[rows, self.at, 4] = 1.0
        features[:, :, 5] = self.left
        return features

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        rows, node, via = np.arange(self.count), actions // 2, actions % 2 == 1
        here, there, depot = self.places[rows, self.at], self.places[rows, node], self.places[:, 0]
        direct = np.linalg.norm(here - there, axis=1)
        detour = np.linalg.norm(here - depot, axis=1) + np.linalg.norm(depot - there, axis=1)
        self.load = np.where(via, self.capacity, self.load) - self.demands[rows, node]
        self.at, self.left[rows, node] = node, False
        finished = ~self.left.any(axis=1)
        rewards = -np.where(via, detour, direct) - np.where(finished, np.linalg.norm(there - depot, axis=1), 0.0)
        if finished.any():
            self.restart(finished)
        return self.observe(), rewards, finished, self.mask()


def first_allowed(mask: np.ndarray) -> np.ndarray:
    return mask.argmax(axis=1)


def environments(count: int, size: int, rounds: int) -> list[str]:
    """Steps per second of many instances of CVRP20, with observations and masks; actions are the first allowed."""
    from bqnco.envs import VectorEnv

    rust, peer = VectorEnv("cvrp", size, count), NumpyCvrp(count, size, 1)

    def ours() -> int:
        _, info = rust.reset(seed=1)
        made, ended = 0, np.zeros(count, bool)
        for _ in range(5 * size):
            made += count - int(ended.sum())  # the others only start anew
            _, _, ended, _, info = rust.step(first_allowed(info["action_mask"]))
        return made

    def theirs() -> int:
        peer.restart(np.ones(count, bool))
        mask = peer.mask()
        for _ in range(5 * size):
            _, _, _, mask = peer.step(first_allowed(mask))
        return 5 * size * count

    rows: dict[str, Callable[[], int]] = {
        "`bqnco.envs.VectorEnv`": ours,
        "numpy, vectorised, written for this comparison": theirs,
    }
    told = "Every step has its observations and masks; constructions that end start anew, those in Rust with new instances."
    try:
        rows["RL4CO's `CVRPEnv`: one episode of all, a return to the depot is a step"] = rl4co(count, size)
    except ImportError as error:
        told += f" RL4CO is not installed here ({error})."
    speeds: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(rounds):
        for name, work in rows.items():
            start = time.perf_counter()
            made = work()
            speeds[name].append(made / (time.perf_counter() - start))
    lines = [f"{count} CVRPs of {size} customers at once, {rounds} rounds in turns. {told}"]
    lines += ["", "| environment | steps per second, median | best |", "|---|---|---|"]
    return lines + [f"| {name} | {statistics.median(all_):,.0f} | {max(all_):,.0f} |" for name, all_ in speeds.items()]


def rl4co(count: int, size: int) -> Callable[[], int]:
    import torch
    from rl4co.envs import CVRPEnv

    env = CVRPEnv(generator_params={"num_loc": size})

    def work() -> int:
        state, made = env.reset(batch_size=[count]), 0
        while not state["done"].all():
            made += int((~state["done"]).sum())
            state.set("action", state["action_mask"].to(torch.int).argmax(dim=-1))
            state = env.step(state)["next"]
        return made

    return work


def failing(count: int) -> list[str]:
    """Memory over failing calls of several kinds."""
    instance = bqnco.tsp(np.random.default_rng(1).random((5, 2)))

    def wrong(batch: bqnco.Batch) -> object:
        raise ZeroDivisionError

    calls: list[Callable[[], object]] = [
        lambda: bqnco.tsp(np.zeros((4, 3))),
        lambda: bqnco.tsp([[0, 0], [np.nan, 1]]),
        lambda: bqnco.cvrp([0, 0], [[1, 0]], [-1], 2),
        lambda: bqnco.read(b"hello"),
        lambda: bqnco.solve(instance, "no such search"),
        lambda: bqnco.rollout([instance], wrong),
        lambda: bqnco.rollout([instance], lambda batch: np.zeros(3)),
        lambda: bqnco.rollout([instance], lambda batch: np.full(batch.mask.shape, np.nan)),
    ]

    def resident() -> int:
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    seen, done = [], 0
    while done < count:
        for call in calls:
            try:
                call()
                raise AssertionError("it did not fail")
            except (ValueError, RuntimeError, ZeroDivisionError):
                done += 1
        if done % (count // 5) < len(calls):
            seen.append(resident() / 1e6)
    told = ", ".join(f"{one:.1f}" for one in seen)
    return [
        f"{done:,} failing calls of {len(calls)} kinds; resident memory after each fifth: {told} MB. "
        f"From the first fifth to the last: {seen[-1] - seen[0]:+.1f} MB."
    ]


def threads() -> list[str]:
    instances = list(bqnco.generate("tsp", 50, 4, seed=5, expert=False))

    def work(index: int, found: dict[int, float]) -> None:
        found[index] = bqnco.solve(instances[index], time_limit=None, preset="fast").cost

    one, several = {}, {}
    alone = seconds(lambda: [work(index, one) for index in range(4)])
    started = [threading.Thread(target=work, args=(index, several)) for index in range(4)]
    together = seconds(lambda: ([thread.start() for thread in started], [thread.join() for thread in started]))
    same = "equal" if one == several else "NOT equal"
    return [f"Four TSP50 one after the other {alone:.2f} s, by four Python threads at once {together:.2f} s; costs {same}."]


def interrupting(rounds: int) -> list[str]:
    """From the signal of Ctrl-C to the return of solve."""
    rows = []
    cases = {"tsp, 200 nodes": ("tsp", 200, "auto"), "cvrp, 200 customers": ("cvrp", 200, "auto"), "tsp, 500 nodes, reconstruct": ("tsp", 500, "reconstruct")}
    for name, (problem, size, search) in cases.items():
        (instance,) = bqnco.generate(problem, size, 1, expert=False)
        times = []
        for _ in range(rounds):
            sent: list[float] = []

            def send() -> None:
                time.sleep(1.0)
                sent.append(time.perf_counter())
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

            thread = threading.Thread(target=send)
            thread.start()
            solution = bqnco.solve(instance, search, time_limit=60, return_on_interrupt=True)
            times.append(time.perf_counter() - sent[0])
            thread.join()
            assert solution.is_feasible
        rows.append(f"| {name} | {statistics.median(times):.3f} s | {max(times):.3f} s |")
    return ["| Ctrl-C during | median | longest |", "|---|---|---|", *rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", required=True, help="the command of the same build")
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--note", default="", help="another line of the page's head")
    parser.add_argument("--count", type=int, default=1000, help="instances; ten times as many failing calls")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    load = os.getloadavg()[0]
    sections = {
        "Wheel": wheel(options.wheel),
        "README's example": readme(),
        "Import": importing(),
        "Overhead over the command": overhead(options.command, options.count, options.rounds),
        "Environments": environments(options.count, 20, options.rounds),
        "Failing calls": failing(10 * options.count),
        "Threads": threads(),
        "Ctrl-C": interrupting(options.rounds),
    }
    print("# The Python package, measured\n")
    print("By `benchmarks/python.sh`, which installs a clean clone in a fresh environment, and `benchmarks/python.py`.\n")
    print(f"{cpu}, {os.cpu_count()} threads, Python {platform.python_version()}, numpy {np.__version__}, bqnco "
          f"{bqnco.__version__}; load average at the start {load:.1f}.{' ' + options.note if options.note else ''}")
    for title, lines in sections.items():
        print(f"\n## {title}\n")
        print("\n".join(lines))


if __name__ == "__main__":
    main()
