#!/usr/bin/env bash
# Compares networks on the validation sets of models/validation.json: greedy gaps in percent with 95 % intervals, and
# differences on the same instances. Only the first halves of public sets and a third of each library are used to choose
# networks; `--report` measures others. `benchmarks/validate.sh --help` lists the options.
#   benchmarks/validate.sh tsp tsp runs/tsp/best
#   BQNCO_DATA   folder with the public instances (default: ../shared/data)
#   BQNCO        the program (default: built from this checkout)
set -euo pipefail
. "$(dirname "$0")/program.sh"
cd "$(dirname "$0")/.."
exec python3 benchmarks/validate.py "$@"
