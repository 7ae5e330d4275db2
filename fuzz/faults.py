"""Makes the k-th file operation fail, for every k: the command must say so, and do its work once the fault is gone."""

import argparse
import errno
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scenes import HEADER, SCENES

CLEAN = (0, 2)  # exit codes that are no crash
KINDS = [(code, sticky) for code in (errno.ENOSPC, errno.EIO) for sticky in ("", "1")]


def shim():
    """The preloaded library."""
    source = Path(__file__).with_name("shim.c")
    library = Path(tempfile.gettempdir()) / f"bqnco-shim-{os.getpid()}.so"
    compiler = ["cc", "-shared", "-fPIC", "-O1", "-U_FORTIFY_SOURCE"]
    subprocess.run([*compiler, "-o", library, source, "-ldl"], check=True)
    return library


def parse(log):
    """Operations: name, path, offset, data, other path."""
    position = 0
    while position < len(log):
        end = log.index(b"\n", position)
        name, path, offset, length, other = log[position:end].decode().split("\t")
        data = log[end + 1 : end + 1 + int(length)]
        yield name, path, int(offset), data, other
        position = end + 1 + int(length)


def observed(scene, library, folder, **settings):
    """Runs a command in a folder: how it ended, and its file operations."""
    log = folder.with_name(f"{folder.name}.log")
    try:
        variables = {"LD_PRELOAD": library, "FAULT_ROOT": folder, "FAULT_LOG": log, **settings}
        ended = scene.run(folder, **{name: str(value) for name, value in variables.items()})
        return ended, list(parse(log.read_bytes())) if log.exists() else []
    finally:
        log.unlink(missing_ok=True)


def undisturbed(scene, library):
    """The number of file operations of a command, and its result."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        scene.prepare(folder)
        ended, operations = observed(scene, library, folder)
        assert ended.returncode == 0, ended.stderr
        assert operations, f"{scene.name}: the library was not loaded"
        return len(operations), scene.result(folder)


def attempt(scene, library, expected, fault):
    """Whether the fault was reached, and what went wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        scene.prepare(folder)
        ended, operations = observed(scene, library, folder, **fault)
        reached = any(operation[0] == "fault" for operation in operations)
        if ended.returncode not in CLEAN:
            return reached, f"exit code {ended.returncode}: {ended.stderr.strip()}"
        if ended.returncode == 0 and scene.result(folder) != expected:
            return reached, "success, but another result"
        if ended.returncode == 2 and "error:" not in ended.stderr:
            return reached, "failure without a sentence"
        again = scene.run(folder)
        if not scene.is_done(again) or scene.result(folder) != expected:
            return reached, f"not resumed: {again.stderr.strip()}"
        return reached, None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    library, failures = shim(), 0
    print(HEADER)
    for scene in SCENES:
        total, expected = undisturbed(scene, library)
        end = time.monotonic() + options.seconds / len(SCENES)
        injected = wrong = places = 0
        for place in random.sample(range(1, total + 1), total):
            if time.monotonic() > end and injected:
                break
            places += 1
            for code, sticky in KINDS:
                fault = {"FAULT_AT": place, "FAULT_ERRNO": code, "FAULT_STICKY": sticky}
                reached, problem = attempt(scene, library, expected, fault)
                injected += reached
                if problem:
                    wrong += 1
                    kind = f"error {code}{' and on' if sticky else ''}"
                    print(f"{scene.name}, operation {place}, {kind}: {problem}", file=sys.stderr)
        print(f"| faults: {scene.name} | {injected} | {wrong} | {places} of {total} operations |", flush=True)
        failures += wrong
    library.unlink()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
