"""Mixed requests to one server for a long time: memory must stay flat, limits must hold, nothing may be left behind."""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from scenes import BINARY, HEADER, run

SEARCHES = ["auto", "expert", "greedy", "beam4", "sample4", "reconstruct"]
PROBLEMS = ["tsp", "cvrp", "op", "atsp", "knapsack"]


def memory(process):
    """Megabytes of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1]) / 1024


REFUSED = object()  # a request that the server has good reason to refuse


def load(url, bodies, large, end, log):
    """Sends requests one after the other; logs seconds beyond the limit, refusals and errors."""
    while time.monotonic() < end:
        limit = random.choice([0.05, 0.2, 0.5])
        query = f"search={random.choice(SEARCHES)}&seconds={limit}&seed={random.randint(0, 99)}"
        body = large if random.random() < 0.01 else random.choice(bodies)
        if random.random() < 0.2:
            body = bytes(random.choice(b"{}[]0,x\n") if random.random() < 0.01 else byte for byte in body)
        try:
            with urllib.request.urlopen(f"{url}/v1/solve?{query}", data=body, timeout=60) as answer:
                log.append(json.load(answer)["seconds"] - limit)
        except urllib.error.HTTPError as error:
            is_wrong = error.code >= 500 and error.code != 503
            log.append(f"status {error.code}: {error.read()[:200]}" if is_wrong else REFUSED)
        except (OSError, ValueError, KeyError) as error:
            log.append(repr(error))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bodies = []
        for problem in PROBLEMS:
            for size in (10, 50, 200):
                made = run(folder, ["generate", problem, "--size", str(size), "--seed", str(size)], check=True)
                bodies.append(made.stdout.encode())
        made = run(folder, ["generate", "tsp", "--size", "5000", "--seed", "1"], check=True)
        large = made.stdout.encode()
        command = [str(Path(BINARY).resolve()), "serve", "--listen", "127.0.0.1:0"]
        command += ["--store", str(folder / "jobs.redb")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            url = server.stdout.readline().split()[-1]
            marks, log = [], []
            started = time.monotonic()
            arguments = (url, bodies, large, started + options.seconds, log)
            workers = [threading.Thread(target=load, args=arguments) for _ in range(4)]
            for worker in workers:
                worker.start()
            for tenth in range(1, 11):
                time.sleep(max(0, started + options.seconds * tenth / 10 - time.monotonic()))
                marks.append(memory(server.pid))
            for worker in workers:
                worker.join()
            server.terminate()
            code = server.wait(60)
        left = [path.name for path in folder.iterdir() if path.name.startswith(".bqnco-")]
    errors = [entry for entry in log if isinstance(entry, str)]
    late = sorted(entry for entry in log if isinstance(entry, float))
    worst = late[min(len(late) - 1, int(len(late) * 0.999))] if late else 0.0
    for error in errors[:5]:
        print(error, file=sys.stderr)
    # Most requests are whole, and a server that refuses them all would look well.
    wrongs = {
        "memory grows": marks[-1] >= 1.3 * marks[1] + 50,
        f"exit code {code}": code != 0,
        f"files are left: {left}": bool(left),
        f"only {len(late)} of {len(log)} requests were answered": 2 * len(late) < len(log) or not late,
    }
    found = [reason for reason, is_so in wrongs.items() if is_so]
    for reason in found:
        print(reason, file=sys.stderr)
    memories = f"{marks[1]:.0f} MB after a fifth of {options.seconds:.0f} s, {marks[-1]:.0f} MB at the end"
    details = f"{len(late)} answered, {memories}, overrun p99.9 {1000 * worst:.0f} ms"
    print(f"{HEADER}\n| soak: requests | {len(log)} | {len(errors) + len(found)} | {details} |")
    sys.exit(1 if errors or found else 0)


if __name__ == "__main__":
    main()
