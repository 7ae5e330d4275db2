#!/usr/bin/env bash
# Measures the built-in experts against LKH, HGS and OR-Tools and against published optima; writes benchmarks/experts.md.
# Peers are installed from PyPI into a temporary environment. Takes about 25 minutes on two otherwise idle cores; every
# figure comes from the command printed beside it.
#   benchmarks/experts.sh              everything, into a new report
#   benchmarks/experts.sh op knapsack  these parts only, appended to the report (tsp atsp cvrp op knapsack labels)
#   BQNCO_DATA   folder with the public instances (default: ../shared/data)
#   BQNCO_PEERS  a Python with elkai, hygese, ortools, numpy (default: a temporary one)
#   BQNCO        the program to measure (default: built from this checkout)
set -euo pipefail
. "$(dirname "$0")/program.sh"
cd "$(dirname "$0")/.."
data=${BQNCO_DATA:-../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
report=benchmarks/experts.md

if [ -z "${BQNCO_PEERS:-}" ]; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet elkai hygese ortools numpy
    BQNCO_PEERS=$work/venv/bin/python
fi

peer() { # solver, set, seconds: makes $work/SET-SOLVER-SECONDS.csv and notes the mean time
    local table=$work/$2-$1-${3:-0}.csv
    "$BQNCO_PEERS" benchmarks/peers.py "$1" "$work/$2.jsonl" "$table" ${3:-}
    awk -F, -v what="$1 on $2" 'NR > 1 { sum += $3 } END { printf "| (%s, for comparison) | | %.1f ms per instance and core | `benchmarks/peers.py` |\n", what, 1000 * sum / (NR - 1) }' "$table" | tee -a "$report"
}

row() { # what, target, command...: one row of the table
    local what=$1 target=$2
    shift 2
    local mean command
    mean=$("$bqnco" "$@" --quiet --json | python3 -c 'import sys, json
gaps = [json.loads(line)["gap_percent"] for line in sys.stdin]
print(f"{sum(gaps) / len(gaps):.3f} % over {len(gaps)}")')
    command=$(sed "s#$work/##g; s#$data#DATA#g" <<<"$*")
    if [ ${#command} -gt 200 ]; then command="solve FILES ${command#*"${command%% --search*}"}"; fi
    printf '| %s | %s | **%s** | `bqnco %s` |\n' "$what" "$target" "$mean" "${command/  / }" | tee -a "$report"
}

below() { # table, folder, extension, column of the size, limit: files of instances below the limit
    awk -F, -v folder="$2" -v extension="$3" -v column="$4" -v limit="$5" \
        'NR > 1 && $column < limit { print folder "/" $1 "." extension }' "$1"
}

begin() {
cat >"$report" <<EOF
# Experts, measured

Made by \`benchmarks/experts.sh\` on $(date -u +%Y-%m-%d): $(nproc) cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1),
$(rustc --version). One thread per instance. Gaps are means, positive is worse than the reference.
Random sets: \`bqnco generate\` with seed 1. DATA is the folder of public instances; its tables hold the optima.

| set and limit | target | mean gap | command |
|---|---|---|---|
EOF
}

set_of() { "$bqnco" generate "$1" --size "$2" --count "$3" --seed 1 -o "$work/$1$2.jsonl"; }

tsp() {
    set_of tsp 100 1000
    peer lkh tsp100
    row "TSP100, 1,000 random, 40 ms, against LKH" "<= 0.05 %" solve "$work/tsp100.jsonl" --search expert --time-limit 0.04 --optimum "$work/tsp100-lkh-0.csv"
    set_of tsp 1000 16
    peer lkh tsp1000
    row "TSP1000, 16 random, 1 s, against LKH" "<= 1.5 %" solve "$work/tsp1000.jsonl" --search expert --time-limit 1 --optimum "$work/tsp1000-lkh-0.csv"
    row "d18512, 30 s, against the optimum" "<= 5 %" solve "$data/tsplib/d18512.tsp" --search expert --time-limit 30 --optimum "$data/tsplib/optimal.csv"
    row "TSPLIB below 1,000 nodes, 5 s" "<= 0.3 %" solve $(below "$data/tsplib/optimal.csv" "$data/tsplib" tsp 2 1000) --search expert --time-limit 5 --optimum "$data/tsplib/optimal.csv"

}

atsp() {
    set_of atsp 100 200
    peer lkh atsp100
    row "ATSP100, 200 random, 60 ms, against LKH" "<= 0.3 %" solve "$work/atsp100.jsonl" --search expert --time-limit 0.06 --optimum "$work/atsp100-lkh-0.csv"
    row "TSPLIB .atsp, 2 s" "<= 0.5 %" solve "$data/atsp" --search expert --time-limit 2 --optimum "$data/atsp/optimal.csv"

}

cvrp() {
    set_of cvrp 100 200
    peer hgs cvrp100 1 &
    peer hgs cvrp100 2
    wait
    row "CVRP100, 200 random, 1 s, against HGS at 1 s" "<= 0.5 %" solve "$work/cvrp100.jsonl" --search expert --time-limit 1 --optimum "$work/cvrp100-hgs-1.csv"
    row "CVRP100, 200 random, 0.15 s, against HGS at 2 s" "<= 1.5 %" solve "$work/cvrp100.jsonl" --search expert --time-limit 0.15 --optimum "$work/cvrp100-hgs-2.csv"
    row "CVRPLIB X below 400 nodes, 20 of them, 30 s" "<= 1.5 %" solve $(below <(grep '^set\|^X' "$data/cvrplib/bks.csv" | cut -d, -f2-) "$data/cvrplib/X" vrp 2 400 | awk 'NR % 2 == 1' | head -n 20) --search expert --time-limit 30 --optimum "$data/cvrplib/bks.csv"

}

op() {
    set_of op 100 32
    "$bqnco" solve "$work/op100.jsonl" --search expert --time-limit 5 --seed 7 --quiet --json |
    python3 -c 'import sys, json; print("name,optimum"); [print(o["name"], o["prize"], sep=",") for o in map(json.loads, sys.stdin)]' >"$work/op100-long.csv"
    row "OP100, 32 random, 100 ms, against 5 s of the same" "<= 0.5 %" solve "$work/op100.jsonl" --search expert --time-limit 0.1 --optimum "$work/op100-long.csv"
    awk -F, 'NR > 1 && $5 <= 200 { print $3, $1 }' "$data/op/best_known.csv" | while read -r gen name; do echo "$data/op/gen$gen/$name.oplib"; done >"$work/oplib"
    row "OPLib up to 200 nodes, 2 s" "<= 1.5 %" solve $(cat "$work/oplib") --search expert --time-limit 2 --optimum "$data/op/best_known.csv"

}

knapsack() {
    set_of knapsack 200 1000
    peer ortools knapsack200
    row "Knapsack, 1,000 random of 200 items, against OR-Tools" "0 %" solve "$work/knapsack200.jsonl" --search expert --optimum "$work/knapsack200-ortools-0.csv"
    row "kplib, 377 instances" "0 %" solve $(find "$data/kp/kplib" -name '*.kp' | sort) --search expert --time-limit 2 --optimum "$data/kp/kplib_optimal.csv"
    row "instances_01_KP, 31 instances" "0 %" solve $(find "$data/kp/instances_01_KP" -type f | sort) --search expert --time-limit 2 --optimum "$data/kp/instances_01_KP_optimal.csv"

}

labels() {
    {
        printf '\n## Labels per minute on %s cores\n\nAt the default effort of `bqnco generate --expert` (`bqnco bench experts`):\n\n```\n' "$(nproc)"
        "$bqnco" bench experts
        printf '```\n'
    } >>"$report"
}

if [ $# = 0 ]; then
    begin
    set -- tsp atsp cvrp op knapsack labels
fi
for part in "$@"; do "$part"; done
