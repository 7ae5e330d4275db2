"""The report of auto.py: means, intervals and paired differences by library, limit and threads."""

import math
import os
import pathlib
import platform
import re
import shlex
import sys

from libraries import DEFAULT_FILES, LIBRARIES, NONE_FOUND, PEERS, SEARCHES, all_files

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
    """The text of the report."""
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
Peers: {", ".join(versions) or "none"}. All rows are in [{options.name}.csv]({options.name}.csv).

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
