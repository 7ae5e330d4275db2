"""The methods, the libraries of public instances and the samples of them that auto.py measures."""

import csv
from collections import namedtuple

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
