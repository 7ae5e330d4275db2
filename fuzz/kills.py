"""Kills commands at random moments and resumes them: the results must be those of a run that was not killed."""

import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from scenes import JOBS, SCENES, campaign


def reference(scene):
    """The result without a kill, and the seconds it took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scene.prepare(folder)
        started = time.monotonic()
        ended = scene.run(folder)
        assert ended.returncode == 0, ended.stderr
        return scene.result(folder), time.monotonic() - started


def state(process):
    """The parent of a process, and whether it is running; `None` if it is gone."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return int(words[1]), words[0] not in "ZX"


def family(process):
    """A process and all that it has started."""
    known = {int(path.name): state(path.name) for path in Path("/proc").glob("[0-9]*")}
    found = [process]
    for one in found:  # which grows meanwhile
        found.extend(other for other, about in known.items() if about and about[0] == one)
    return found


def is_running(process):
    about = state(process)
    return about is not None and about[1]


def kill(processes):
    """Kills all of them, and waits until they are gone and with them their locks."""
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    while any(is_running(process) for process in processes):
        time.sleep(0.001)


def kill_once(scene, folder, seconds):
    """Whether the command was killed before its end, after a random time."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(scene.command(), cwd=folder, env=scene.environment(folder), **quiet) as process:
        try:
            process.wait(random.uniform(0, 1.1 * seconds))
            return False
        except subprocess.TimeoutExpired:
            kill(family(process.pid))
            return True


def attempt(scene, expected, seconds):
    """The number of kills of one run, and what was wrong with its result."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scene.prepare(folder)
        kills, most = 0, random.randint(1, 4)
        while kills < most and kill_once(scene, folder, seconds):
            kills += 1
        ended = scene.run(folder)
        if not scene.is_done(ended):
            return kills, f"exit code {ended.returncode}: {ended.stderr.strip()}"
        return kills, None if scene.result(folder) == expected else "another result"


def tries(scene):
    expected, seconds = reference(scene)

    def rounds():
        while True:
            kills, problem = attempt(scene, expected, seconds)
            yield kills, [problem] if problem else []

    return "runs resumed", rounds()


if __name__ == "__main__":
    campaign(__doc__, "kills", SCENES + JOBS, tries)
