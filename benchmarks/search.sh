#!/usr/bin/env bash
# Measures all searches against time, and the overruns of time limits; writes benchmarks/search.md and the charts beside it.
# The machine should be otherwise idle.
#   INSTANCES, FEW   instances for searches up to 1 s each, and for longer ones (default: 128, 16)
set -euo pipefail
cd "$(dirname "$0")/.."
instances=${INSTANCES:-128} few=${FEW:-16}
cargo build --release --quiet --package bqnco-cli
bqnco=$PWD/target/release/bqnco report=$PWD/benchmarks/search.md

rm -f benchmarks/search-{tsp,cvrp}100.{csv,svg} # rows of other networks

compare() { # problem
    "$bqnco" bench search --problem "$1" --instances "$instances" --few "$few"
}

text=$(
    cat <<EOT
# Search, measured

Made by \`benchmarks/search.sh\` on $(date -u +%Y-%m-%d): $(nproc) cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1),
the program's own networks. Random instances of \`bqnco bench search\`, seed 1. The gap is to our own expert with five
times its usual rounds. Seconds are wall clock per instance: without a limit all instances are solved in one batch; with a
limit one after the other, with the whole machine for each, but for the expert, which has one thread per instance.
Limits above a second have fewer instances, the first of the others'.

## TSP100

$(compare tsp)

![TSP100](search-tsp100.svg)

## CVRP100

$(compare cvrp)

![CVRP100](search-cvrp100.svg)

## Time limits

By how much a search overran its time limit; reading files and loading the network come before:

$("$bqnco" bench deadlines --problem tsp --sizes 100,1000,10000)
$("$bqnco" bench deadlines --problem cvrp --sizes 100,1000 | tail -n +3)
EOT
)
printf '%s\n' "$text" >"$report"
