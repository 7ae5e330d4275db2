#!/usr/bin/env bash
# Measures greedy constructions and beams by the built-in networks with each way to save passes switched on: passes per
# step, milliseconds per instance and gap, on public and on generated instances. Writes benchmarks/construction.csv and
# benchmarks/construction.md. Variants of a set run one after the other, so that they meet the same conditions.
# `benchmarks/construction.sh --help` lists the options.
#   BQNCO_DATA   folder with the public instances (default: ../shared/data)
#   BQNCO        the program to measure (default: built from this checkout)
set -euo pipefail
. "$(dirname "$0")/program.sh"
cd "$(dirname "$0")/.."
exec python3 benchmarks/construction.py "$@"
