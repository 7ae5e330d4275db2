"""Makes the k-th file operation fail, for every k: the command must say so, and do its work once the fault is gone."""

import atexit
import errno
import functools
import os
import random
import subprocess
import tempfile
from pathlib import Path

from scenes import SCENES, campaign

CLEAN = (0, 2)  # exit codes that are no crash
KINDS = [(code, sticky) for code in (errno.ENOSPC, errno.EIO) for sticky in ("", "1")]


@functools.cache
def shim():
    """The preloaded library, which is removed at the end."""
    source = Path(__file__).with_name("shim.c")
    library = Path(tempfile.gettempdir()) / f"bqnco-shim-{os.getpid()}.so"
    atexit.register(library.unlink, missing_ok=True)
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


def tries(scene):
    library = shim()
    total, expected = undisturbed(scene, library)

    def rounds():
        for place in random.sample(range(1, total + 1), total):
            injected, problems = 0, []
            for code, sticky in KINDS:
                fault = {"FAULT_AT": place, "FAULT_ERRNO": code, "FAULT_STICKY": sticky}
                reached, problem = attempt(scene, library, expected, fault)
                injected += reached
                if problem:
                    problems.append(f"operation {place}, error {code}{' and on' if sticky else ''}: {problem}")
            yield injected, problems

    return f"of {total} operations", rounds()


if __name__ == "__main__":
    campaign(__doc__, "faults", SCENES, tries)
