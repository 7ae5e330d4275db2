"""The commands that are killed, starved and cut off, and what must come out of them."""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

BINARY = os.environ.get("BQNCO", "target/release/bqnco")
MPI_BINARY = os.environ.get("BQNCO_MPI")  # built with the feature `mpi`; without it no jobs of several processes

# All parts print rows of one table.
HEADER = "| part | tried | wrong | details |\n|---|---|---|---|"

RECIPE = """
problem = "tsp"
network = { preset = "tiny" }
data = { size = 8, count = 12, seed = 1 }
validation = { size = 8, count = 4, seed = 2 }
[training]
steps = 12
batch = 4
optimizer = "muon"
validate_every = 4
save_every = 2
report_every = 3
"""


def run(folder, arguments, **options):
    """Runs bqnco in a folder to its end."""
    command = [str(Path(BINARY).resolve()), *arguments]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)


class Scene:
    """A command, what it needs, and its result."""

    name = ""
    arguments: list = []

    def command(self):
        """The program and its arguments."""
        return [str(Path(BINARY).resolve()), *self.arguments]

    def environment(self, folder):
        """The environment of the command in a folder."""
        return dict(os.environ)

    def run(self, folder, **variables):
        """Runs the command in a folder to its end, with further variables in its environment."""
        environment = {**self.environment(folder), **variables}
        quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        return subprocess.run(self.command(), cwd=folder, env=environment, **quiet)

    def prepare(self, folder):
        """Makes what the command needs."""

    def result(self, folder):
        """What the command has made, for comparison; times left out."""
        raise NotImplementedError

    def is_done(self, ended):
        """Whether a repeated command says that nothing is left to be done."""
        return ended.returncode == 0


def content(path):
    return path.read_bytes() if path.is_file() else None


class Solve(Scene):
    name = "solve -o"
    arguments = ["solve", "set.jsonl", "--search", "greedy", "--threads", "1", "-q", "-o", "out/"]

    def prepare(self, folder):
        run(folder, ["generate", "tsp", "--size", "20", "--count", "30", "-o", "set.jsonl"], check=True)

    def result(self, folder):
        return {path.name: content(path) for path in (folder / "out").glob("*") if not path.name.startswith(".")}


class Generate(Scene):
    name = "generate"
    arguments = "generate tsp --size 30 --count 40 --expert --effort 400 --threads 1 -q -o set.npz".split()

    def result(self, folder):
        return content(folder / "set.npz"), (folder / "set.npz.journal").exists()

    def is_done(self, ended):
        return ended.returncode == 0 or "holds 40 solutions" in ended.stderr


class Train(Scene):
    name = "train"
    arguments = ["train", "recipe.toml", "--threads", "1", "-q", "-o", "run"]

    def prepare(self, folder):
        (folder / "recipe.toml").write_text(RECIPE)

    def result(self, folder):
        files = ["best/model.safetensors", "last/model.safetensors", "train.npz", "validation.npz"]
        rows = (content(folder / "run/metrics.csv") or b"").decode().splitlines()
        return [content(folder / "run" / name) for name in files], [row.split(",")[:5] for row in rows]


class Job(Train):
    """Two processes that train together."""

    name = "train by two processes"

    def command(self):
        two = ["mpirun", "-n", "2", "--allow-run-as-root", "--oversubscribe"]
        return [*two, str(Path(MPI_BINARY).resolve()), *self.arguments]

    def environment(self, folder):
        return {**os.environ, "TMPDIR": str(folder)}  # files of jobs that were killed


class Eval(Scene):
    name = "eval"
    arguments = ["eval", "cvrp", "--sizes", "10", "--instances", "4", "--model", "none", "--threads", "1"]
    arguments += ["--baselines", "heuristic,constructions", "--report", "report", "-q"]

    def result(self, folder):
        path = folder / "report/results.json"
        if not path.is_file():
            return None
        rows = json.loads(path.read_text())["rows"]
        return sorted((row["set"], row["method"], row["index"], row["cost"], row["reference"]) for row in rows)


SCENES = [Solve(), Generate(), Train(), Eval()]
JOBS = [Job()] if MPI_BINARY else []


def campaign(description, name, scenes, tries):
    """Tries every scene for its share of the time, and prints a row of the table each.

    `tries(scene)` gives the unit of its rounds, and the rounds: how many faults were tried, and all that was wrong.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    failures = 0
    print(HEADER)
    for scene in scenes:
        end = time.monotonic() + options.seconds / len(scenes)
        tried = wrong = made = 0
        unit, rounds = tries(scene)
        for count, problems in rounds:
            tried, wrong, made = tried + count, wrong + len(problems), made + 1
            for problem in problems:
                print(f"{scene.name}: {problem}", file=sys.stderr)
            if time.monotonic() > end and tried:
                break
        print(f"| {name}: {scene.name} | {tried} | {wrong} | {made} {unit} |", flush=True)
        failures += wrong
    sys.exit(1 if failures else 0)
