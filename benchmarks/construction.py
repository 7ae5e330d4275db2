"""Measure constructions by networks, with each way to save passes switched on; called by construction.sh."""

import argparse
import csv
import datetime
import json
import pathlib
import platform
import sys
import tempfile
from collections import namedtuple

from sets import HERE, gaps, generated, half, mean, solve

# Sets: the lines of a public file from the middle on (the first half chooses settings), or generated instances with
# solutions of the built-in expert.
Set = namedtuple("Set", "name problem file instances size seed")
SETS = [
    Set("TSP100", "tsp", None, 200, 100, 2000021),
    Set("TSP200 (lehd)", "tsp", "lehd_tsp200_n128", 64, 200, None),
    Set("TSP500 (lehd)", "tsp", "lehd_tsp500_n128", 24, 500, None),
    Set("TSP1000 (fu)", "tsp", "fu_tsp1000_n128_coords", 12, 1000, None),
    Set("CVRP100 (goal)", "cvrp", "goal_cvrp100_n128", 64, 100, None),
    Set("CVRP200 (lehd)", "cvrp", "lehd_cvrp200_n128", 64, 200, None),
    Set("CVRP500 (lehd)", "cvrp", "lehd_cvrp500_n128", 24, 500, None),
    Set("OP100", "op", None, 64, 100, 2000023),
    Set("ATSP100", "atsp", None, 64, 100, 2000024),
]
GREEDY = ["--search", "greedy"]
BEAM = ["--search", "beam", "--width", "16"]
ONE = ["--ends", "one"]
VARIANTS = [  # title, arguments
    ("one step per pass, f32", [*GREEDY, *ONE, "--precision", "f32", "--follow", "1"]),
    ("bf16", [*GREEDY, *ONE, "--follow", "1"]),
    ("bf16, several steps", [*GREEDY, *ONE]),
    ("bf16, several steps, verified", [*GREEDY, *ONE, "--verify"]),
    ("bf16, both ends", [*GREEDY, "--ends", "both", "--follow", "1"]),
    ("bf16, both ends, several steps", [*GREEDY, "--ends", "both"]),
    ("default", GREEDY),
    ("beam 16, f32", [*BEAM, *ONE, "--precision", "f32"]),
    ("beam 16, bf16", [*BEAM, *ONE]),
    ("beam 16, bf16, share 0.05", [*BEAM, *ONE, "--keep", "0.05"]),
]
COLUMNS = ["set", "instances", "variant", "batch", "passes_per_step", "ms", "gap", "interval", "network", "date"]


def instances(chosen, scale, work):
    """The instances of a set as a file, and their references (None: in the file)."""
    count = max(2, int(chosen.instances * scale))
    if chosen.file is None:
        return generated(chosen.problem, chosen.size, count, chosen.seed, work), None
    return half(chosen.file, 1, count, work)


def follow_of(problem):
    """The least joint probability in the configuration of the problem's network; None: it takes single steps only."""
    config = json.loads((HERE.parent / "models" / problem / "config.json").read_text())
    return config["config"].get("follow"), config["checksum"]


def measure(chosen, path, references, variant, arguments, batch, options):
    follow, network = follow_of(chosen.problem)
    if "--verify" in arguments:
        arguments = [*arguments, "--follow", str(follow)]
    one_by_one = ["--time-limit", "1000"] if batch == 1 else []
    rows = solve(path, "--threads", options.threads, *arguments, *one_by_one)
    gap = mean(gaps(rows, references))
    visits = [len([node for node in row["solution"] if node != 0]) for row in rows]
    return {
        "set": chosen.name, "instances": len(rows), "variant": variant, "batch": batch,
        "passes_per_step": f"{sum(row['passes'] for row in rows) / sum(visits):.3f}",
        "ms": f"{1000 * sum(row['seconds'] for row in rows) / len(rows):.2f}", "gap": f"{gap.value:.4f}",
        "interval": f"{gap.interval:.4f}", "network": network,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
    }


def fits(chosen, arguments):
    """Whether a problem's network knows successors (several steps), and its paths can be reversed (both ends)."""
    several = "--follow" not in arguments or "--verify" in arguments
    if several and arguments is not GREEDY and "beam" not in arguments and follow_of(chosen.problem)[0] is None:
        return False
    return "both" not in arguments or chosen.problem in ("tsp", "op")


def report(rows, options):
    lines = [
        "# Constructions by the built-in networks", "",
        "Passes per step, milliseconds per instance and mean gap with its 95 % interval, with each way to save passes",
        "switched on. `together`: many instances in one batch; `alone`: one instance at a time. Public sets: second halves",
        "(the first halves chose the settings), references as stored beside them; the others: `bqnco generate --expert`.",
        f"{cpu()}, {options.threads} threads, {rows[0]['date']}; `benchmarks/construction.sh {' '.join(sys.argv[1:])}`.".replace(" `.", "`."), "",
    ]
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        lines += [f"## {name}, {own[0]['instances']} instances, network {own[0]['network'].removeprefix('crc32:')}", "",
                  "| construction | passes per step | ms together | ms alone | gap |", "|---|---|---|---|---|"]
        for variant in dict.fromkeys(row["variant"] for row in own):
            by_batch = {row["batch"]: row for row in own if row["variant"] == variant}
            together, alone = by_batch.get(64), by_batch.get(1)
            some = together or alone
            cell = lambda row: row["ms"] if row else "-"
            lines.append(f"| {variant} | {float(some['passes_per_step']):.2f} | {cell(together)} | {cell(alone)} "
                         f"| {float(some['gap']):.3f} ± {float(some['interval']):.3f} % |")
        lines.append("")
    return "\n".join(lines)


def cpu():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return names[0] if names else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", help="names of sets, by their beginnings (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the instances (default: 1)")
    parser.add_argument("--threads", type=int, default=2, help="threads (default: 2)")
    parser.add_argument("--no-beams", action="store_true", help="leave out beams")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for chosen in SETS:
            if options.sets and not any(chosen.name.startswith(name) for name in options.sets):
                continue
            path, references = instances(chosen, options.scale, pathlib.Path(folder))
            for variant, arguments in VARIANTS:
                if not fits(chosen, arguments) or ("beam" in arguments and (options.no_beams or chosen.size > 200)):
                    continue
                for batch in (64, 1) if "beam" not in arguments else (64,):
                    row = measure(chosen, path, references, variant, arguments, batch, options)
                    print(*row.values(), file=sys.stderr)
                    rows.append(row)
    with open(HERE / "construction.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    (HERE / "construction.md").write_text(report(rows, options))


main()
