"""Measure searches of `bqnco solve` and well-known solvers on public instances; called by auto.sh, which explains it.

Every value is that of a solution that two programs have checked: `bqnco` (its own while solving, those of peers by
`bqnco check`) and the evaluation in peers.py. Standard library only; peers run in the Python that BQNCO_PEERS names.
"""

import argparse
import concurrent.futures
import csv
import datetime
import hashlib
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import peers
from auto_report import report
from libraries import COLUMNS, DEFAULT_FILES, LIBRARIES, NONE_FOUND, PEERS, SEARCHES, Job, chosen_files, table

HERE = pathlib.Path(__file__).resolve().parent


class Measurement:
    """What is needed to run a job."""

    def __init__(self, bqnco, python, data, work):
        self.bqnco, self.python, self.data, self.work = bqnco, python, data, work
        self.converting = threading.Lock()
        self.running = set()
        self.last = threading.local()  # share: processor time per second of the thread's last command
        self.programs = {method: hashlib.sha256(bqnco.read_bytes()).hexdigest()[:8] for method in SEARCHES}

    def available(self, methods):
        """These methods without those that cannot be run, with a message about each of these."""
        searches = re.findall(r"^ *- (\w+):", self.call([self.bqnco, "solve", "--help"]), re.MULTILINE)
        left = []
        for method in methods:
            if method in PEERS:
                package = PEERS[method].package
                try:
                    question = f"import {package}, importlib.metadata as m; print(m.version({package!r}))"
                    self.programs[method] = f"{package} {self.call([self.python, '-c', question]).strip()}"
                    left.append(method)
                except (RuntimeError, OSError) as error:
                    print(f"{PEERS[method].title} is left out: {last_line(error)}", file=sys.stderr)
            elif method in searches:
                left.append(method)
            else:
                print(f"{method} is left out: this program has no --search {method}", file=sys.stderr)
        return left

    def call(self, command, cores=None, timeout=60.0):
        """The standard output of a command on these cores, or RuntimeError with the last line of its messages."""
        command = [str(word) for word in command]
        if cores and shutil.which("taskset"):
            command = ["taskset", "-c", ",".join(map(str, cores)), *command]
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as messages:
            started = time.monotonic()
            streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": messages}
            process = subprocess.Popen(command, **streams, start_new_session=True)  # not interrupted by Ctrl-C
            self.running.add(process)
            alarm = threading.Timer(timeout, process.kill)
            alarm.start()
            _, status, usage = os.wait4(process.pid, 0)  # unlike Popen, tells the processor time
            self.running.remove(process)
            alarm.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            elapsed = time.monotonic() - started
            self.last.share = (usage.ru_utime + usage.ru_stime) / elapsed
            output.seek(0)
            messages.seek(0)
            if elapsed > timeout:
                raise RuntimeError(f"still running after {timeout:.0f} s")
            if process.returncode:
                raise RuntimeError(last_line(messages.read()) or f"exit code {process.returncode}")
            return output.read()

    def instance(self, file):
        """The file of the instance for peers."""
        target = self.work / (file.path.replace("/", "-") + ".jsonl")
        with self.converting:
            if not target.exists():
                self.call([self.bqnco, "convert", self.data / file.path, "-o", target])
        return target

    def run(self, job, cores):
        """The row of a job."""
        row = {
            "library": job.file.library, "file": job.file.path, "size": job.file.size, "method": job.method,
            "threads": job.threads, "limit": f"{job.limit:g}", "reference": number(job.file.reference),
            "second_reference": number(job.file.second), "program": self.programs[job.method],
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        }
        try:
            row |= (self.peer if job.method in PEERS else self.search)(job, cores)
            value = row["value"]
            row["value"] = number(value)
            if value is None:
                row["note"] = NONE_FOUND
            for gap, reference in ("gap", job.file.reference), ("second_gap", job.file.second):
                if value is not None and reference:
                    worse = reference - value if job.file.library in ("oplib", "kp") else value - reference
                    row[gap] = f"{100 * worse / reference:.5f}"
        except (RuntimeError, ValueError, KeyError, OSError) as error:
            hidden = last_line(error).replace(str(self.data), "DATA").replace(str(self.work), "WORK")
            row["note"] = f"failed: {hidden.replace(str(HERE.parent), '.')[:200]}"
        return row

    def search(self, job, cores):
        command = [self.bqnco, "solve", self.data / job.file.path, "--search", job.method, "--json", "--quiet"]
        command += ["--time-limit", f"{job.limit:g}", "--threads", job.threads]
        result = json.loads(self.call(command, cores, patience(job)))
        row = self.times(result) | {"value": result[result["objective"]], "found_by": result["found_by"]}
        with open(self.instance(job.file)) as lines:
            self.agree(row["value"], peers.objective(json.load(lines), result["solution"]))
        return row

    def peer(self, job, cores):
        stem = self.work / f"{threading.get_ident()}"
        answer, solution = stem.with_suffix(".jsonl"), stem.with_suffix(".json")
        command = [self.python, HERE / "peers.py", job.method, self.instance(job.file), answer, job.limit]
        self.call(command, cores, patience(job))
        result = json.loads(answer.read_text())
        row = self.times(result)
        if result["solution"] is None:
            return row | {"value": None}
        solution.write_text(json.dumps({"solution": result["solution"]}))
        checked = json.loads(self.call([self.bqnco, "check", self.data / job.file.path, solution, "--json"]))
        row["value"] = next(checked[name] for name in ("length", "prize", "value") if name in checked)
        self.agree(row["value"], result["cost"])
        return row

    def times(self, result):
        return {"seconds": f"{result['seconds']:.3f}", "share": f"{self.last.share:.2f}"}

    def agree(self, value, other):
        if abs(value - other) > 1e-6 * max(1, abs(value)):
            raise ValueError(f"bqnco says {value}, peers.py says {other}")


def last_line(message):
    lines = str(message).strip().splitlines()
    return lines[-1] if lines else ""


def number(value):
    return "" if value is None else f"{value:.10g}"


def patience(job):
    """Seconds after which a command is given up."""
    return 10 * job.limit + 300


def expected(job):
    """About how many seconds a job takes, with preparations and checks."""
    pairs = job.file.size**2 if job.method in PEERS and job.file.library != "kp" else 0
    return job.limit + 0.3 + 2e-6 * pairs


def key(job):
    return job.file.library, job.file.path, job.method, str(job.threads), f"{job.limit:g}"


def jobs_of(library, options):
    """All jobs of a library; methods change fastest, so that those of a file meet the same conditions."""
    files = chosen_files(options.data, library, options.files, options.below)
    for threads in options.threads or LIBRARIES[library].threads:
        for limit in options.limits or LIBRARIES[library].limits:
            for file in files:
                for method in options.methods:
                    peer = PEERS.get(method)
                    if peer is None:
                        yield Job(file, method, threads, limit)
                    elif library in peer.libraries and file.size <= peer.largest:
                        yield Job(file, method, 1, limit)  # peers have one thread


class Results:
    """The table of results, a file that grows by a row at a time."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        self.rows = {}  # by key; of several the last, which replaces a failure
        for row in table(path) if path.exists() else []:
            self.rows[tuple(row[name] for name in ("library", "file", "method", "threads", "limit"))] = row

    def has(self, job):
        row = self.rows.get(key(job))
        return row is not None and bool(row["value"] or row["note"] == NONE_FOUND)

    def write(self):
        """Writes all rows in a fixed order."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        libraries, methods = list(LIBRARIES), [*SEARCHES, *PEERS]
        order = lambda row: (
            libraries.index(row["library"]), float(row["limit"]), int(row["threads"]), int(row["size"]), row["file"],
            methods.index(row["method"]),
        )
        draft = self.path.with_suffix(".csv.tmp")
        with open(draft, "w", newline="") as out:
            rows = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
            rows.writeheader()
            rows.writerows(sorted(self.rows.values(), key=order))
        draft.replace(self.path)

    def add(self, job, row):
        with self.lock:
            self.rows[key(job)] = {name: str(row.get(name, "")) for name in COLUMNS}
            with open(self.path, "a", newline="") as out:
                csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n").writerow(row)


def measure(measurement, jobs, results):
    """Runs jobs of one thread two at a time, a core each, then those of more threads one at a time."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count()))
    free, stop, done = cores[:2], threading.Event(), 0

    def run(job):
        nonlocal done
        chosen = [free.pop()] if job.threads == 1 else cores[: job.threads]
        row = measurement.run(job, chosen)
        if job.threads == 1:
            free.extend(chosen)
        if stop.is_set():
            return
        results.add(job, row)
        done += 1
        gap = f"gap {float(row['gap']):.3f} %" if row.get("gap") else ""
        what = f"{job.file.path} {job.method} {job.limit:g} s {job.threads} thread{'s'[: job.threads - 1]}"
        print(f"[{done}/{len(jobs)}] {what}: {row.get('value', '')} {gap} {row.get('note', '')}", flush=True)

    for library in LIBRARIES:
        for alone in False, True:
            chosen = [job for job in jobs if job.file.library == library and (job.threads > 1) == alone]
            with concurrent.futures.ThreadPoolExecutor(1 if alone else len(free)) as pool:
                futures = [pool.submit(run, job) for job in chosen]
                try:
                    for future in futures:
                        future.result()
                except BaseException:
                    stop.set()
                    pool.shutdown(wait=False, cancel_futures=True)
                    for process in list(measurement.running):
                        process.kill()
                    raise


def listed(kind, among=None):
    def parse(text):
        values = [kind(word) for word in text.split(",")]
        for value in values:
            if among and value not in among:
                raise argparse.ArgumentTypeError(f"{value} is none of {', '.join(map(str, among))}")
        return values

    return parse


def arguments():
    parser = argparse.ArgumentParser(
        prog="benchmarks/auto.sh", description="Searches of `bqnco solve` and peers on public instances."
    )
    methods, usual = [*SEARCHES, *PEERS], [name for name in LIBRARIES if name != "xl"]
    add = parser.add_argument
    add("--libraries", type=listed(str, LIBRARIES), default=usual, help=f"of {','.join(LIBRARIES)} (default: not xl)")
    add("--methods", type=listed(str, methods), default=methods, help=f"of {','.join(methods)} (default: all)")
    add("--limits", type=listed(float), help="seconds (default: 1,10; xl: 60)")
    add("--threads", type=listed(int, [1, 2]), help="of bqnco; peers have one (default: 1,2; xl: 2)")
    add("--files", type=int, default=DEFAULT_FILES, help=f"files per library (default: {DEFAULT_FILES})")
    add("--below", type=int, default=sys.maxsize, help="only files with fewer nodes (default: all)")
    add("--again", type=listed(str, methods), default=[], help="methods whose rows are measured anew")
    add("--output", type=pathlib.Path, default=HERE, help="folder of the files (default: benchmarks)")
    add("--name", default="auto", help="their name: NAME.csv and NAME.md (default: auto)")
    add("--estimate", action="store_true", help="only print how long it takes")
    return parser.parse_args()


def main():
    options = arguments()
    options.data = pathlib.Path(os.environ.get("BQNCO_DATA", HERE.parent.parent / "shared/data")).resolve()
    options.load = os.getloadavg()[0]
    bqnco = pathlib.Path(os.environ.get("BQNCO", HERE.parent / "target/release/bqnco"))
    with tempfile.TemporaryDirectory() as work:
        python = os.environ.get("BQNCO_PEERS", sys.executable)
        measurement = Measurement(bqnco, python, options.data, pathlib.Path(work))
        options.methods = measurement.available(options.methods)
        results = Results(options.output / f"{options.name}.csv")
        wanted = {key(job): job for library in options.libraries for job in jobs_of(library, options)}
        jobs = [job for job in wanted.values() if job.method in options.again or not results.has(job)]
        others = {row["program"] for row in results.rows.values() if row["method"] in SEARCHES}
        if others - set(measurement.programs.values()):
            print("note: the table has rows of another build of bqnco; --again measures them anew", file=sys.stderr)
        if options.load > 0.5 and jobs:
            print(f"note: load average {options.load:.2f}; other work disturbs the measurements", file=sys.stderr)
        at_once = min(2, len(os.sched_getaffinity(0)))
        seconds = sum(expected(job) / (at_once if job.threads == 1 else 1) for job in jobs)
        there, minutes = len(wanted) - len(jobs), math.ceil(seconds / 60)
        print(f"{len(jobs)} measurements, {there} are there; about {minutes} minutes on idle cores", flush=True)
        if options.estimate:
            return
        results.write()
        try:
            measure(measurement, jobs, results)
        except KeyboardInterrupt:
            sys.exit("interrupted; the same command resumes")
        finally:
            results.write()
            if results.rows:
                (options.output / f"{options.name}.md").write_text(report(table(results.path), options))


if __name__ == "__main__":
    main()
