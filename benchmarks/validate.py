"""Compare a network with another one on the validation sets of models/validation.json; called by validate.sh."""

import argparse
import csv
import json
import pathlib
import tempfile

from sets import DATA, HERE, gaps, generated, half, mean, solve

# Libraries: the file of references, the columns of name, size and reference, and what an instance's file ends in.
LIBRARIES = {
    "tsplib": ("optimal.csv", "dimension", "optimum", "{name}.tsp"),
    "atsp": ("optimal.csv", "dimension", "optimum", "{name}.atsp"),
    "cvrplib": ("bks.csv", "n", "bks", "{set}/{name}.vrp"),
    "op": ("best_known.csv", "n", "best_known_score", "gen{gen}/{name}.oplib"),
}


def third(library, which, largest):
    """Every third file of a library in the order of names (those that have a map), and the references."""
    table, size, reference, path = LIBRARIES[library]
    with open(DATA / library / table, newline="") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: row["name"])
    files = [(DATA / library / path.format(**row), row) for row in rows]
    has_map = lambda file: library == "atsp" or "EXPLICIT" not in file.read_text(errors="replace")
    files = [(file, row) for file, row in files if file.exists() and int(row[size]) <= largest and has_map(file)]
    return [file for file, _ in files[which::3]], [float(row[reference]) for _, row in files[which::3]]


def instances(problem, chosen, which, work):
    """Files and references of a set: to validate (0) or to report (1)."""
    if "library" in chosen:
        return third(chosen["library"], which, chosen["largest"])
    if "file" in chosen:
        return half(chosen["file"], which, chosen["count"], work)
    return generated(problem, chosen["size"], chosen["count"], chosen["seed"] + 1_000_000 * which, work), None


def main():
    parser = argparse.ArgumentParser(prog="benchmarks/validate.sh", description=__doc__)
    parser.add_argument("problem")
    parser.add_argument("networks", nargs="+", help="networks: the first is what the others are compared with")
    parser.add_argument("--report", action="store_true", help="the other halves, which choose nothing")
    parser.add_argument("--sets", nargs="*", help="names of sets, by their beginnings (default: all)")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the instances (default: 1)")
    parser.add_argument("--work", help="folder for generated instances (default: a temporary one)")
    parser.add_argument("--arguments", default="--search greedy", help="of `bqnco solve` (default: --search greedy)")
    options = parser.parse_args()
    print("| set | instances | " + " | ".join(options.networks) + " |" + " difference |" * (len(options.networks) - 1))
    print("|" + "---|" * (2 * len(options.networks) + 1))
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or folder
        for chosen in json.loads((HERE.parent / "models/validation.json").read_text())[options.problem]:
            if options.sets and not any(chosen["name"].startswith(name) for name in options.sets):
                continue
            if "count" in chosen:
                chosen["count"] = max(2, int(chosen["count"] * options.scale))
            print(row(chosen, options, pathlib.Path(work)), flush=True)


def row(chosen, options, work):
    path, references = instances(options.problem, chosen, int(options.report), work)
    found = [gaps(solve(path, "--model", network, *options.arguments.split()), references) for network in options.networks]
    cells = [mean(own) for own in found]
    cells += [mean([after - before for before, after in zip(found[0], own)]) for own in found[1:]]
    return f"| {chosen['name']} | {len(found[0])} | " + " | ".join(f"{m.value:.3f} ± {m.interval:.3f}" for m in cells) + " |"


main()
