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
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import namedtuple

import peers

HERE = pathlib.Path(__file__).resolve().parent
SEARCHES = ["auto", "expert", "hybrid", "reconstruct"]
# Peers: title, package, the libraries they are for, the largest number of nodes.
Peer = namedtuple("Peer", "title package libraries largest")
PEERS = {
    "pyvrp": Peer("PyVRP", "pyvrp", ["x", "xl"], 7000),
    "hgs": Peer("HGS-CVRP", "hygese", ["x", "xl"], 7000),
    "lkh": Peer("LKH", "elkai", ["tsplib", "atsp"], 4000),  # beyond, a minute passes before its first trial
    "ortools": Peer("OR-Tools", "ortools", ["tsplib", "x", "atsp", "kp", "xl"], 7000),  # a matrix in Python
}
# Libraries: title, what the reference is, whether it is proven, limits and threads.
Library = namedtuple("Library", "title reference proven limits threads", defaults=([1.0, 10.0], [1, 2]))
LIBRARIES = {
    "tsplib": Library("TSPLIB (tsp)", "the optimum", True),
    "x": Library("CVRPLIB X", "the best known value", False),
    "oplib": Library("OPLib, up to 1,100 nodes", "the best known score", False),
    "atsp": Library("TSPLIB (atsp)", "the optimum", True),
    "kp": Library("Knapsack: kplib and instances_01_KP", "the optimum", True),
    "xl": Library("CVRP, XL demonstration set", "the best of four published solvers", False, [60.0], [2]),
}
COLUMNS = [
    "library", "file", "size", "method", "threads", "limit", "value", "reference", "gap", "second_reference",
    "second_gap", "seconds", "share", "found_by", "program", "date", "note",
]
KP = ["kplib", "instances_01_KP"]  # collections of the library kp
DEFAULT_FILES = 20
NONE_FOUND = "no solution within the limit"
File = namedtuple("File", "library path size reference second")
Job = namedtuple("Job", "file method threads limit")


# Instances.


def table(path):
    with open(path, newline="") as lines:
        return list(csv.DictReader(lines))


def all_files(data, library):
    """The files of a library with their references, by size."""

    def rows():
        if library == "tsplib":
            for row in table(data / "tsplib/optimal.csv"):
                if row["name"] != "linhp318":  # lin318 with a fixed edge
                    yield f"tsplib/{row['name']}.tsp", row["dimension"], row["optimum"], None
        elif library == "atsp":
            for row in table(data / "atsp/optimal.csv"):
                yield f"atsp/{row['name']}.atsp", row["dimension"], row["optimum"], None
        elif library == "x":
            for row in table(data / "cvrplib/bks.csv"):
                if row["set"] == "X":
                    yield f"cvrplib/X/{row['name']}.vrp", row["n"], row["bks"], None
        elif library == "oplib":
            for row in table(data / "op/best_known.csv"):
                if int(row["n"]) <= 1100:
                    file = f"op/gen{row['gen']}/{row['name']}.oplib"
                    yield file, row["n"], row["best_known_score"], row["ea4op_score"]
        elif library == "kp":
            for row in (row for name in KP for row in table(data / f"kp/{name}_optimal.csv")):
                yield f"kp/{row['file']}", row["n"], row["optimum"], None
        elif library == "xl":
            for row in table(data / "xl/published.csv"):
                best = min((row[key] for key in row if key.endswith("_cost")), key=float)
                yield f"xl/{row['name']}.vrp", row["n"], best, None

    files = [
        File(library, path, int(size), float(reference), float(second) if second else None)
        for path, size, reference, second in rows()
    ]
    return sorted(files, key=lambda file: (file.size, file.path))


def sample(files, count):
    """The middle ones of `count` equal parts of the list."""
    if count >= len(files):
        return files
    return [files[(2 * part + 1) * len(files) // (2 * count)] for part in range(count)]


def chosen_files(data, library, count, below):
    """The sample of a library, of sizes below a limit; half of that of the knapsack is from either collection."""
    files = [file for file in all_files(data, library) if file.size < below]
    if library != "kp":
        return sample(files, count)
    large, small = ([file for file in files if file.path.startswith(f"kp/{name}/")] for name in KP)
    return sample(large, count - count // 2) + sample(small, count // 2)


# Measurements.


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


# The report.

STUDENT = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
]


def student(freedom):
    """The 97.5 % quantile of Student's t."""
    return STUDENT[freedom - 1] if freedom <= len(STUDENT) else 1.95996 + 2.3723 / freedom + 2.8225 / freedom**2


def mean(numbers):
    return sum(numbers) / len(numbers)


def interval(numbers):
    """Mean and 95 % interval (Student's t) in words."""
    if len(numbers) < 2:
        return f"{mean(numbers):.3f}" if numbers else "-"
    middle = mean(numbers)
    deviation = math.sqrt(sum((x - middle) ** 2 for x in numbers) / (len(numbers) - 1))
    return f"{middle:.3f} ± {student(len(numbers) - 1) * deviation / math.sqrt(len(numbers)):.3f}"


def title(method, threads):
    if method in PEERS:
        return PEERS[method].title + (" (one thread)" if threads > 1 else "")
    return f"bqnco {method}"


def report(rows, options):
    """The text of auto.md."""
    groups = {}  # by library, limit, threads: by method: by file
    for row in rows:
        threads = [int(row["threads"])]
        if row["method"] in PEERS:  # beside the searches with any number of threads
            here = (r for r in rows if (r["library"], r["limit"]) == (row["library"], row["limit"]))
            threads = {int(r["threads"]) for r in here if r["method"] in SEARCHES} or {1}
        for count in threads:
            group = groups.setdefault((row["library"], float(row["limit"]), count), {})
            group.setdefault(row["method"], {})[row["file"]] = row
    text = heading(rows, options)
    text += differences(groups)
    for library, about in LIBRARIES.items():
        chosen = [group for group in groups if group[0] == library]
        if chosen:
            total = len(all_files(options.data, library))
            text += f"\n## {about.title}\n\nGaps to {about.reference}, in %; {total} files in all.\n"
        for _, limit, threads in sorted(chosen):
            text += methods_table(groups[library, limit, threads], library, limit, threads)
    return text + remarks(rows)


def heading(rows, options):
    dates = sorted({row["date"] for row in rows})
    programs = sorted({row["program"] for row in rows if row["method"] in SEARCHES})
    versions = sorted({row["program"] for row in rows if row["method"] in PEERS})
    shares = [float(row["share"]) for row in rows if row["threads"] == "1" and float(row["seconds"] or 0) > 0.5]
    model = re.search(r"^model name[^:]*: (.*)", read("/proc/cpuinfo"), re.MULTILINE)
    largest = ", ".join(f"{peer.largest:,} ({peer.title})" for peer in PEERS.values())
    words = [word for word in sys.argv[1:] if not word.startswith("--output=")]
    if "--output" in words:
        where = words.index("--output")
        del words[where : where + 2]
    return f"""# The default search and others, measured

Made by `{shlex.join(["benchmarks/auto.sh", *words])}` on {" to ".join(sorted({dates[0], dates[-1]}))}: \
{os.cpu_count()} cores of {model[1] if model else platform.processor() or "an unknown processor"}.
Runs on one thread got {100 * mean(shares or [1]):.0f} % of a core on average (below 90 %: other work disturbed them).
bqnco {", ".join(programs) or "-"} (start of the program's SHA-256).
Peers: {", ".join(versions) or "none"}. All rows are in [auto.csv](auto.csv).

- **Sample**: the files of a library in the order of their sizes, cut into equal parts; the middle one of each
  (`--files` parts, {DEFAULT_FILES} by default; of the knapsack half from either collection). TSPLIB is without linhp318
  (lin318 with a fixed edge).
- **Gap**: positive is worse than the reference. **±**: 95 % interval of the mean over files (Student's t).
- **Values**: of solutions checked by bqnco and, independently, by `benchmarks/peers.py`, on the rounded distances of
  the file; no solver's own figure is used.
- **Time**: wall clock of the search; reading files, loading networks and filling matrices are not included. Runs on one
  thread: two at a time, a core each; on two threads: alone. Peers have one thread. LKH applies its limit only after its
  preparations, and LKH and HGS count processor time, so that they get more time than others if the machine is busy.
- **Peers** are left out for files with more nodes than {largest}.
"""


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def gaps(by_file):
    return {file: float(row["gap"]) for file, row in by_file.items() if row["gap"]}


def paired(these, those):
    """Differences of gaps on the files that both have."""
    these, those = gaps(these), gaps(those)
    return [these[file] - those[file] for file in these if file in those]


def differences(groups):
    lines = []
    libraries = list(LIBRARIES)
    for name in sorted(groups, key=lambda name: (libraries.index(name[0]), *name[1:])):
        (library, limit, threads), group = name, groups[name]
        pairs = paired(group.get("auto", {}), group.get("expert", {}))
        if pairs:
            better, worse = (sum(sign * pair < 0 for pair in pairs) for sign in (1, -1))
            counts = f"{better} / {len(pairs) - better - worse} / {worse}"
            where = f"{LIBRARIES[library].title} | {limit:g} s | {threads}"
            lines.append(f"| {where} | {len(pairs)} | {interval(pairs)} | {counts} |\n")
    if not lines:
        return ""
    return f"""
## auto against expert

Paired difference of gaps on the same files, in percentage points; negative: auto is better.

| library | limit | threads | files | auto - expert | better / equal / worse |
|---|---|---|---|---|---|
{"".join(lines)}"""


def methods_table(group, library, limit, threads):
    base = "auto" if "auto" in group else "expert"
    second = "mean gap to EA4OP | " if library == "oplib" else ""
    text = f"\n**{limit:g} s, {threads} thread{'s' if threads > 1 else ''}**\n\n"
    text += f"| method | files | mean gap | {second}worst gap | seconds (longest) | {base} - it, same files |\n"
    text += "|---|---|---|---|---|---|" + "---|" * bool(second) + "\n"
    for method in [*SEARCHES, *PEERS]:
        if method not in group:
            continue
        by_file = group[method]
        found, seconds = list(gaps(by_file).values()), [float(r["seconds"]) for r in by_file.values() if r["seconds"]]
        none = sum(row["note"] == NONE_FOUND for row in by_file.values())
        files = f"{len(found)}" + (f" ({none} without a solution)" if none else "")
        cells = [title(method, threads), files, interval(found)]
        if second:
            cells.append(interval([float(row["second_gap"]) for row in by_file.values() if row["second_gap"]]))
        cells.append(f"{max(found):.3f}" if found else "-")
        cells.append(f"{mean(seconds):.2f} ({max(seconds):.2f})" if seconds else "-")
        cells.append(interval(paired(group[base], by_file)) if method != base and base in group else "")
        text += f"| {' | '.join(cells)} |\n"
    return text


def remarks(rows):
    """Failures and results that cannot be right."""
    lines = []
    for row in rows:
        where = f"{row['file']}, {row['method']}, {row['limit']} s, threads: {row['threads']}"
        if row["note"].startswith("failed"):
            lines.append(f"- {where}: {row['note']}\n")
        elif row["gap"] and float(row["gap"]) < -1e-4 and LIBRARIES[row["library"]].proven:
            lines.append(f"- {where}: {row['value']} is better than the optimum {row['reference']}\n")
    late = [row for row in rows if row["method"] in SEARCHES and row["seconds"]]
    late = [row for row in late if float(row["seconds"]) > float(row["limit"]) + 0.1]
    for row in late:
        lines.append(f"- {row['file']}, {row['method']}: {row['seconds']} s at a limit of {row['limit']} s\n")
    return f"\n## To be looked at\n\n{''.join(lines)}" if lines else ""


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
    add("--output", type=pathlib.Path, default=HERE, help="folder of auto.csv and auto.md (default: benchmarks)")
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
        results = Results(options.output / "auto.csv")
        wanted = {key(job): job for library in options.libraries for job in jobs_of(library, options)}
        jobs = [job for job in wanted.values() if job.method in options.again or not results.has(job)]
        others = {row["program"] for row in results.rows.values() if row["method"] in SEARCHES}
        if others - set(measurement.programs.values()):
            print("note: the table has rows of another build of bqnco; --again measures them anew", file=sys.stderr)
        if options.load > 0.5 and jobs:
            print(f"note: load average {options.load:.2f}; other work disturbs the measurements", file=sys.stderr)
        at_once = min(2, os.cpu_count())
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
                (options.output / "auto.md").write_text(report(table(results.path), options))


if __name__ == "__main__":
    main()
