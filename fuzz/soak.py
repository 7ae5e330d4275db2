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

from scenes import BINARY, run

SEARCHES = ["auto", "expert", "greedy", "beam4", "sample4", "reconstruct"]
PROBLEMS = ["tsp", "cvrp", "op", "atsp", "knapsack"]


def memory(process):
    """Megabytes of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1]) / 1024


def load(url, bodies, end, log):
    """Sends requests one after the other; logs seconds beyond the limit, or the error."""
    while time.monotonic() < end:
        limit = random.choice([0.05, 0.2, 0.5])
        query = f"search={random.choice(SEARCHES)}&seconds={limit}&seed={random.randint(0, 99)}"
        body = random.choice(bodies)
        if random.random() < 0.2:
            body = bytes(random.choice(b"{}[]0,x\n") if random.random() < 0.01 else byte for byte in body)
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{url}/v1/solve?{query}", data=body), timeout=60) as answer:
                log.append(json.load(answer).get("seconds", 0.0) - limit)
        except urllib.error.HTTPError as error:
            if error.code >= 500 and error.code != 503:
                log.append(f"status {error.code}: {error.read()[:200]}")
        except OSError as error:
            log.append(str(error))


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
        command = [str(Path(BINARY).resolve()), "serve", "--listen", "127.0.0.1:0", "--store", str(folder / "jobs.redb")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            url = server.stdout.readline().split()[-1]
            marks, log = [], []
            started = time.monotonic()
            workers = [threading.Thread(target=load, args=(url, bodies, started + options.seconds, log)) for _ in range(4)]
            for worker in workers:
                worker.start()
            for tenth in range(1, 11):
                time.sleep(max(0, started + options.seconds * tenth / 10 - time.monotonic()))
                marks.append(memory(server.pid))
            for worker in workers:
                worker.join()
            server.terminate()
            code = server.wait(60)
    errors = [entry for entry in log if isinstance(entry, str)]
    late = sorted(entry for entry in log if isinstance(entry, float))
    worst = late[min(len(late) - 1, int(len(late) * 0.999))] if late else 0.0
    for error in errors[:5]:
        print(error, file=sys.stderr)
    print("| soak | requests | errors | memory after 20 % and at the end, MB | overrun p99.9, ms |\n|---|---|---|---|---|")
    print(f"| {options.seconds:.0f} s | {len(log)} | {len(errors)} | {marks[1]:.0f}, {marks[-1]:.0f} | {1000 * worst:.0f} |")
    flat = marks[-1] < 1.3 * marks[1] + 50
    sys.exit(0 if flat and not errors and code == 0 else 1)


if __name__ == "__main__":
    main()
