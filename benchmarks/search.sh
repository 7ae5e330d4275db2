#!/usr/bin/env bash
# Measures all searches against time, and the overruns of time limits; writes benchmarks/search.md and the charts beside it.
# With 128 instances and the limits below it takes about an hour on two cores, which should be otherwise idle.
#   TSP_MODEL, CVRP_MODEL   folders of the networks (default: models/tsp, models/cvrp)
#   INSTANCES, FEW          instances for searches up to 1 s each, and for longer ones (default: 128, 16)
#   QUIET                   a command that runs another one undisturbed (default: none)
set -euo pipefail
cd "$(dirname "$0")/.."
tsp=${TSP_MODEL:-models/tsp} cvrp=${CVRP_MODEL:-models/cvrp} instances=${INSTANCES:-128} few=${FEW:-16} quiet=${QUIET:-}
cargo build --release --quiet --package bqnco-cli
bqnco=$PWD/target/release/bqnco report=$PWD/benchmarks/search.md

compare() { # problem, model: the table of a problem; in parts, because each keeps the machine to itself
    for part in nearest construction greedy "best of" beam; do
        $quiet "$bqnco" bench search --problem "$1" --model "$2" --instances "$instances" --only "$part" >/dev/null
    done
    for part in reconstruct hybrid expert; do
        $quiet "$bqnco" bench search --problem "$1" --model "$2" --instances "$instances" --only "$part" --limits 1 >/dev/null
        for limit in 5 20; do
            $quiet "$bqnco" bench search --problem "$1" --model "$2" --instances "$few" --only "$part" --limits "$limit" >/dev/null
        done
    done
    "$bqnco" bench search --problem "$1" --model "$2" --instances 1 --only none
}

cat >"$report" <<EOT
# Search, measured

Made by \`benchmarks/search.sh\` on $(date -u +%Y-%m-%d): $(nproc) cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1).
Random instances of \`bqnco bench search\`, seed 1. The gap is to our own expert with five times its usual rounds. Seconds
are wall clock per instance: without a limit all instances are solved in one batch; with a limit one after the other, with
the whole machine for each, but for the expert, which has one thread per instance. Longer limits have fewer instances.

## TSP100

$(compare tsp "$tsp")

![TSP100](search-tsp100.svg)

## CVRP100

$(compare cvrp "$cvrp")

![CVRP100](search-cvrp100.svg)

## Time limits

By how much a search overran its time limit; reading files and loading the network come before:

$($quiet "$bqnco" bench deadlines --problem tsp --model "$tsp" --sizes 100,1000,10000)
$($quiet "$bqnco" bench deadlines --problem cvrp --model "$cvrp" --sizes 100,1000 | tail -n +3)
EOT
