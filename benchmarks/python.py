#!/usr/bin/env python3
"""Measures the Python package: wheel, import, overhead over the command, environments, failing calls, threads, Ctrl-C.

benchmarks/python.sh runs it with a release build in a fresh environment. Everything is measured in one run on one machine;
the parts that are compared take turns, on the same instances, seeds and threads. RL4CO has an environment of its own, as it
decides on the version of numpy.
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
import tarfile
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import Callable, Iterator, Optional, Sequence, Union

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


def sdist(path: Path) -> list[str]:
    with tarfile.open(path) as archive:
        files = [one for one in archive.getmembers() if one.isfile()]
    size = sum(one.size for one in files)
    return [
        f"It was built from the source distribution `{path.name}`: {path.stat().st_size / 1e6:.1f} MB, {len(files)} files of "
        f"{size / 1e6:.1f} MB (PyPI takes at most 100 MB)."
    ]


def readme() -> list[str]:
    """README's example, in a process of its own."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    took = seconds(lambda: subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL))
    return [f"It runs; the whole process takes {took:.1f} s, one of them is its time limit."]


def importing() -> list[str]:
    code = "import time; t = time.perf_counter(); import numpy; n = time.perf_counter(); import bqnco; e = time.perf_counter()"
    code += "; print(e - n, e - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(15)]
    alone, both = zip(*(map(float, run.stdout.split()) for run in runs))
    return [
        "| | |",
        "|---|---|",
        f"| `import bqnco`, numpy already imported | median {statistics.median(alone):.3f} s, best {min(alone):.3f} s |",
        f"| `import bqnco` with numpy | median {statistics.median(both):.3f} s, best {min(both):.3f} s |",
        "",
        "The target is 0.15 s.",
    ]


def alternating(names: Sequence[str], rounds: int) -> Iterator[tuple[int, str]]:
    """Every name once per round, in the other order in every other round: what comes later finds a warmer machine."""
    for number in range(rounds):
        yield from ((number, name) for name in (names if number % 2 == 0 else reversed(names)))


def overhead(command: str, count: int, rounds: int) -> list[str]:
    """The same file by the command and by solve_batch: both read it, solve, and give all lengths and tours."""

    def by_command(file: Path) -> str:
        arguments = [command, "solve", str(file), "--preset", "fast", "--json", "--quiet"]
        return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout

    def by_python(file: Path) -> list[tuple[float, np.ndarray]]:
        return [(one.cost, one.tour) for one in bqnco.solve_batch(bqnco.read_all(file), preset="fast")]

    ways = {"command": by_command, "python": by_python}
    times: dict[str, list[float]] = {name: [] for name in ways}
    found = []
    with tempfile.TemporaryDirectory() as folder:
        few, file = Path(folder, "few.npz"), Path(folder, "tsp100.npz")
        bqnco.generate("tsp", 100, count, seed=7, expert=False).write(file)
        bqnco.generate("tsp", 100, 4, seed=8, expert=False).write(few)
        for way in ways.values():
            way(few)  # programs are in memory, threads are started
        for _, name in alternating(list(ways), rounds):
            start = time.perf_counter()
            found.append(ways[name](file))
            times[name].append(time.perf_counter() - start)
    process = statistics.median(
        seconds(lambda: subprocess.run([command, "--version"], check=True, stdout=subprocess.DEVNULL)) for _ in range(5)
    )
    lengths = [_lengths(one) for one in found]
    equal = all(np.allclose(lengths[0], others, rtol=1e-12) for others in lengths)
    ratios = [ours / theirs for ours, theirs in zip(times["python"], times["command"])]
    spread = f"from {100 * (min(ratios) - 1):+.1f} to {100 * (max(ratios) - 1):+.1f} %"
    return [
        f"{count} TSP100 in one file, preset `fast`, seed 0, all {cores()} cores, {rounds} rounds, the order alternates; both read"
        f" the file. The solutions are {'equal' if equal else 'NOT EQUAL: the times cannot be compared'}.",
        "",
        "| | median | best |",
        "|---|---|---|",
        f"| `bqnco solve` (of that {process:.3f} s: a process that only starts) | {_median_and_best(times['command'])} |",
        f"| `bqnco.solve_batch(bqnco.read_all(file))`, all costs and tours | {_median_and_best(times['python'])} |",
        "",
        f"Overhead, Python over command in the same round: median {100 * (statistics.median(ratios) - 1):+.1f} %, {spread}"
        " (target: at most 3 %).",
    ]


def _lengths(found: Union[str, list[tuple[float, np.ndarray]]]) -> list[float]:
    if isinstance(found, str):
        return [json.loads(line)["length"] for line in found.splitlines() if line.startswith("{")]
    return [cost for cost, _ in found]


def _median_and_best(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.2f} s | {min(times):.2f} s"


def cores() -> int:
    return len(os.sched_getaffinity(0))


def _speed(theirs: list[dict[str, float]], ours: list[dict[str, float]]) -> str:
    """Medians of the rounds, and that of the ratios within rounds."""
    solutions, steps = (statistics.median(one[key] for one in theirs) for key in ("solutions", "steps"))
    share = statistics.median(one["solutions"] / other["solutions"] for one, other in zip(theirs, ours))
    return f"{solutions:,.0f} | {steps:,.0f} | {100 * share:.0f} %"


#: Names of the environments in the table; python_envs.py has them.
ENVIRONMENTS = {
    "bqnco": "`bqnco.envs.VectorEnv`",
    "numpy": "numpy, vectorised, written for this comparison",
    "rl4co": "RL4CO's `CVRPEnv`; a return to the depot is a step",
}


def environments(count: int, size: int, rounds: int, with_rl4co: Optional[str]) -> list[str]:
    """All build the same solutions of the same instances; on one thread and on all cores."""
    names = [name for name in ENVIRONMENTS if name != "rl4co" or with_rl4co]
    lines = [
        f"{count} CVRPs of {size} customers at once: the same instances and the same steps everywhere (the first customer that"
        " fits), with masks and observations at every step and costs at the end. Every environment runs in a process of its"
        f" own, {rounds} rounds, the order alternates."
        + ("" if with_rl4co else " RL4CO was not installed."),
        "",
        "| environment | threads | solutions per second | steps per second | of `VectorEnv`'s solutions |",
        "|---|---|---|---|---|",
    ]
    costs = set()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cvrp.npz")
        bqnco.generate("cvrp", size, count, seed=1, expert=False).write(file, format="npz-rl4co")
        for threads in sorted({1, cores()}):
            told: dict[str, list[dict[str, float]]] = {name: [] for name in names}
            for _, name in alternating(names, rounds):
                python = with_rl4co if name == "rl4co" and with_rl4co else sys.executable
                arguments = [python, str(ROOT / "benchmarks/python_envs.py"), name, str(file), "--threads", str(threads)]
                run = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True)
                told[name].append(json.loads(run.stdout.splitlines()[-1]))
            costs |= {round(one["cost"], 4) for all_ in told.values() for one in all_}
            lines += [f"| {ENVIRONMENTS[name]} | {threads} | {_speed(told[name], told['bqnco'])} |" for name in names]
    agree = "agrees" if len(costs) == 1 else "DOES NOT AGREE: the speeds cannot be compared"
    told_costs = ", ".join(map(str, sorted(costs)))
    return [*lines, "", f"Medians of the rounds; the last column of ratios within a round. The mean cost {agree}: {told_costs}."]


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
    parser.add_argument("--sdist", type=Path, help="the source distribution that the wheel was built from")
    parser.add_argument("--rl4co", help="a Python that has RL4CO")
    parser.add_argument("--note", default="", help="another line of the page's head")
    parser.add_argument("--count", type=int, default=1000, help="instances; ten times as many failing calls")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    load = os.getloadavg()[0]
    sections = {
        "Wheel": wheel(options.wheel) + ([] if options.sdist is None else ["", *sdist(options.sdist)]),
        "README's example": readme(),
        "Import": importing(),
        "Overhead over the command": overhead(options.command, options.count, options.rounds),
        "Environments": environments(options.count, 20, options.rounds, options.rl4co),
        "Failing calls": failing(10 * options.count),
        "Threads": threads(),
        "Ctrl-C": interrupting(options.rounds),
    }
    print("# The Python package, measured\n")
    print("By `benchmarks/python.sh`, which installs a clean clone in a fresh environment, and `benchmarks/python.py`.\n")
    print(f"{cpu}, {cores()} threads, Python {platform.python_version()}, numpy {np.__version__}, bqnco "
          f"{bqnco.__version__}; load average at the start {load:.1f}, at the end {os.getloadavg()[0]:.1f}. {options.note}")
    for title, lines in sections.items():
        print(f"\n## {title}\n")
        print("\n".join(lines))


if __name__ == "__main__":
    main()
