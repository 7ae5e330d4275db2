"""Instances for measurements of networks: halves of public sets, thirds of public libraries, generated ones."""

import csv
import json
import math
import os
import pathlib
import subprocess
from collections import namedtuple

HERE = pathlib.Path(__file__).resolve().parent
BQNCO = os.environ.get("BQNCO", "bqnco")
DATA = pathlib.Path(os.environ.get("BQNCO_DATA", HERE.parent.parent / "shared/data"))
# A mean with the half width of its 95 % interval.
Mean = namedtuple("Mean", "value interval")


def call(*command):
    """What a command prints; its last message as an error."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr else f"exit code {done.returncode}")
    return done.stdout


def generated(problem, size, count, seed, work):
    """Instances with solutions of the built-in expert, as a file."""
    path = pathlib.Path(work) / f"{problem}{size}-{seed}.npz"
    if not path.exists():
        call(BQNCO, "generate", problem, "--size", size, "--count", count, "--seed", seed, "--expert", "-o", path, "--quiet")
    return path


def half(name, which, count, work):
    """The first instances of the first (0) or the second half (1) of a public set, as a file, and their references."""
    lines = (DATA / f"nco/{name}.txt").read_text().splitlines(keepends=True)
    first = which * (len(lines) // 2)
    path = pathlib.Path(work) / f"{name}-{which}.txt"
    path.write_text("".join(lines[first : first + count]))
    with open(DATA / "nco/reference.csv", newline="") as rows:
        known = {int(row["index"]): float(row["reference"]) for row in csv.DictReader(rows) if row["set"] == name}
    return path, [known[first + k] for k in range(count)]


def gaps(rows, references=None):
    """Gaps in percent of results of `bqnco solve --json`; positive is worse."""
    references = references or [row["reference"] for row in rows]
    signs = [-1 if row["objective"] in ("prize", "value") else 1 for row in rows]
    values = [row[row["objective"]] for row in rows]
    return [100 * sign * (value - known) / known for sign, value, known in zip(signs, values, references)]


def mean(numbers):
    """Their mean and its interval."""
    value = sum(numbers) / len(numbers)
    deviation = math.sqrt(sum((number - value) ** 2 for number in numbers) / max(1, len(numbers) - 1))
    return Mean(value, 1.96 * deviation / math.sqrt(len(numbers)))


def solve(path, *arguments):
    """The results of `bqnco solve`, a row per instance."""
    paths = path if isinstance(path, list) else [path]
    return [json.loads(line) for line in call(BQNCO, "solve", *paths, "--quiet", "--json", *arguments).splitlines()]
