#!/usr/bin/env python3
"""Writes licences.txt, which `bqnco --licences` prints: every crate in the program, its licence, and the texts.

Usage: crates/cli/licences.py [--check]   (--check only tells whether the file is current; exit code 1 if not)

Of a choice of licences the one that needs no text of its own is taken: Apache-2.0 before MIT, whose texts differ in their
copyright lines.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FILE = HERE / "licences.txt"
PLATFORM = "x86_64-unknown-linux-gnu"
PREFERRED = ["Apache-2.0", "MIT", "BSD-3-Clause", "BSD-2-Clause", "ISC", "Zlib", "BSL-1.0", "Unlicense"]
# How the names of files with licences begin.
NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")


def metadata():
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", PLATFORM]
    return json.loads(subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True).stdout)


def crates(data):
    """The crates that are linked into the program, without our own."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    packages = {package["id"]: package for package in data["packages"]}
    open_ids = [package["id"] for package in data["packages"] if package["name"] == "bqnco-cli"]
    seen = set(open_ids)
    while open_ids:
        for dependency in nodes[open_ids.pop()]["deps"]:
            kinds = [kind["kind"] for kind in dependency["dep_kinds"]]
            if None in kinds and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                open_ids.append(dependency["pkg"])
    linked = [packages[identity] for identity in seen if packages[identity]["source"]]
    return sorted(linked, key=lambda package: (package["name"], package["version"]))


def chosen(expression):
    """The licence that is taken of a choice; an expression with `AND` is kept."""
    choices = [choice.strip(" ()") for choice in re.split(r"\bOR\b|/", expression)]
    if "AND" in expression:
        return expression
    return next((licence for licence in PREFERRED if licence in choices), expression)


def texts(package, licence):
    """The texts of the licence that come with a crate."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.upper().startswith(NAMES))
    word = licence.split("-")[0].upper()
    named = [path for path in files if word in path.name.upper()]
    notices = [path for path in files if path.name.upper().startswith("NOTICE")]
    return [tidy(path.read_text(errors="replace")) for path in dict.fromkeys((named or files) + notices)]


def tidy(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def key(text):
    """Equal for texts that differ in blanks only."""
    return " ".join(text.split())


def document():
    all_crates, found = crates(metadata()), {}
    lines = ["bqnco contains code of the following crates, under the licences beside them.", ""]
    for package in all_crates:
        licence = chosen(package["license"] or "see its text")
        lines.append(f"{package['name']} {package['version']}: {licence}")
        for text in texts(package, licence):
            found.setdefault(key(text), (text, []))[1].append(package["name"])
    for text, names in sorted(found.values(), key=lambda entry: entry[1][0]):
        lines += ["", "=" * 80, f"For {', '.join(dict.fromkeys(names))}:", "", text]
    return "\n".join(lines) + "\n"


def main():
    current = document()
    if "--check" in sys.argv[1:]:
        if not FILE.exists() or FILE.read_text() != current:
            sys.exit("crates/cli/licences.txt is not current: run crates/cli/licences.py")
        return
    FILE.write_text(current)


if __name__ == "__main__":
    main()
