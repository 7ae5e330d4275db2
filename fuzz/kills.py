"""Kills commands at random moments and resumes them: the results must be those of a run that was not killed."""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scenes import BINARY, SCENES, run


def reference(scene):
    """The result without a kill, and the seconds it took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scene.prepare(folder)
        started = time.monotonic()
        ended = run(folder, scene.arguments)
        assert ended.returncode == 0, ended.stderr
        return scene.result(folder), time.monotonic() - started


def kill_once(scene, folder, seconds):
    """Whether the command was killed before its end, after a random time."""
    command = [str(Path(BINARY).resolve()), *scene.arguments]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=folder, **quiet) as process:
        try:
            process.wait(random.uniform(0, 1.1 * seconds))
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            return True


def attempt(scene, expected, seconds):
    """The number of kills of one run, and what was wrong with its result."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scene.prepare(folder)
        kills = 0
        while kills < random.randint(1, 4) and kill_once(scene, folder, seconds):
            kills += 1
        ended = run(folder, scene.arguments)
        if not scene.is_done(ended):
            return kills, f"exit code {ended.returncode}: {ended.stderr.strip()}"
        return kills, None if scene.result(folder) == expected else "another result"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    failures = 0
    print("| killed | kills | resumed runs | wrong |\n|---|---|---|---|")
    for scene in SCENES:
        expected, seconds = reference(scene)
        end = time.monotonic() + options.seconds / len(SCENES)
        kills = runs = wrong = 0
        while time.monotonic() < end or runs == 0:
            killed, problem = attempt(scene, expected, seconds)
            kills, runs = kills + killed, runs + 1
            if problem:
                wrong += 1
                print(f"{scene.name}: {problem}", file=sys.stderr)
        print(f"| {scene.name} | {kills} | {runs} | {wrong} |", flush=True)
        failures += wrong
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
