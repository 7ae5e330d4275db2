#!/usr/bin/env bash
# Measures the searches of `bqnco solve` (auto, expert, hybrid, reconstruct) and well-known solvers on the same public
# instances, in the same run; writes auto.csv and auto.md in benchmarks/ (or others: --name). An interrupted run resumes: rows that
# the table has are not measured again. `benchmarks/auto.sh --help` lists the options. Prints how long it will take
# (everything: a good two hours of two otherwise idle cores).
#   benchmarks/auto.sh                                   everything except the XL set
#   benchmarks/auto.sh --libraries xl --name xl          the XL set: 60 s, two threads
#   benchmarks/auto.sh --libraries x --below 600 --threads 1 --limits 10,60 --methods auto,pyvrp,hgs --name x
#   benchmarks/auto.sh --libraries tsplib --limits 1 --files 4
#   BQNCO_DATA   folder with the public instances (default: ../shared/data)
#   BQNCO_PEERS  a Python with elkai, hygese, ortools, pyvrp, numpy (default: a temporary one)
#   BQNCO        the program to measure (default: built from this checkout)
set -euo pipefail
case " $* " in *" -h "* | *" --help "*) exec python3 "$(dirname "$0")/auto.py" --help ;; esac
. "$(dirname "$0")/program.sh"
cd "$(dirname "$0")/.."
if [ -z "${BQNCO_PEERS:-}" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python3 -m venv "$work/venv"
    for package in numpy elkai hygese ortools pyvrp; do # one by one: those that cannot be installed are left out
        "$work/venv/bin/pip" install --quiet "$package" || echo "$package cannot be installed" >&2
    done
    export BQNCO_PEERS=$work/venv/bin/python
fi
python3 benchmarks/auto.py "$@"
