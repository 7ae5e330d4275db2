"""Makes the k-th file operation fail, for every k: the command must say so, and do its work once the fault is gone."""

import argparse
import errno
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scenes import SCENES, run

CLEAN = (0, 2)  # exit codes that are no crash


def shim():
    """The preloaded library."""
    source = Path(__file__).with_name("shim.c")
    library = Path(tempfile.gettempdir()) / f"bqnco-shim-{os.getpid()}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return library


def environment(library, folder, **settings):
    chosen = {name: str(value) for name, value in settings.items()}
    return {**os.environ, "LD_PRELOAD": str(library), "FAULT_ROOT": str(folder), **chosen}


def attempt(scene, library, expected, fault):
    """Whether the fault was reached, and what went wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        scene.prepare(folder)
        log = folder.parent / f"{folder.name}.log"
        settings = {"FAULT_LOG": log, **fault}
        try:
            ended = run(folder, scene.arguments, env=environment(library, folder, **settings))
            operations = log.read_bytes().count(b"\n") if log.exists() else 0
        finally:
            log.unlink(missing_ok=True)
        reached = operations > 0 or ended.returncode != 0
        if ended.returncode not in CLEAN:
            return reached, f"exit code {ended.returncode}: {ended.stderr.strip()}"
        if ended.returncode == 0 and scene.result(folder) != expected:
            return reached, "success, but another result"
        if ended.returncode == 2 and "error:" not in ended.stderr:
            return reached, "failure without a sentence"
        again = run(folder, scene.arguments)
        if not scene.is_done(again) or scene.result(folder) != expected:
            return reached, f"not resumed: {again.stderr.strip()}"
        return ended.returncode != 0, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    library, failures = shim(), 0
    print("| fault | faults injected | wrong |\n|---|---|---|")
    kinds = [(code, sticky) for code in (errno.ENOSPC, errno.EIO) for sticky in ("", "1")]
    for scene in SCENES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            scene.prepare(folder)
            assert run(folder, scene.arguments).returncode == 0
            expected = scene.result(folder)
        end = time.monotonic() + options.seconds / len(SCENES)
        injected = wrong = 0
        k, missed = 1, 0
        while missed < 3 and (time.monotonic() < end or k == 1):
            hit = False
            for code, sticky in kinds:
                fault = {"FAULT_AT": k, "FAULT_ERRNO": code, "FAULT_STICKY": sticky}
                reached, problem = attempt(scene, library, expected, fault)
                hit |= reached
                injected += reached
                if problem:
                    wrong += 1
                    print(f"{scene.name}, operation {k}, error {code}{' and on' if sticky else ''}: {problem}", file=sys.stderr)
            missed = 0 if hit else missed + 1
            k += 1
        whole = "all" if missed >= 3 else "the first"
        print(f"| {scene.name}: {whole} {k - 1} operations | {injected} | {wrong} |", flush=True)
        failures += wrong
    library.unlink()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
