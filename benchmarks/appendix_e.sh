#!/usr/bin/env bash
# The ablations of the paper's appendix E at a size that two cores can train: appendix_e.sh FOLDER [SUITE...]
#
# All arms train on the same number of samples of instances with 20 nodes or customers, as recipes/appendix_e says, about
# five minutes of two idle cores each, perceivers ten. Suites (default: all) are
#   perceiver      E.1: a transformer and a perceiver, TSP and CVRP
#   approximate    E.2: all layers, or only the top one, recomputed at each step, TSP
#   order          E.3: the fullest route first, routes in any order, and our order, CVRP
# and their reports, on 20, 50 and 100 nodes, are in FOLDER/SUITE. Interrupted arms and reports resume. INSTANCES (default
# 500) are of the smallest size, BQNCO names the binary (default: built from this checkout).
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/benchmarks/program.sh"
folder=$1
shift
mkdir -p "$folder"
[ $# -gt 0 ] || set -- perceiver approximate order

perceiver="network={preset='perceiver',n_layers=4,dim=128,dim_ff=256}"
declare -A arms=(
    [tsp]=tsp [cvrp]=cvrp
    [tsp-perceiver]="tsp $perceiver" [cvrp-perceiver]="cvrp $perceiver"
    [approximate]="tsp network.architecture=approximate"
    [any]="cvrp training.order=any" [outside-in]="cvrp training.order=outside-in"
)
declare -A suites=(
    [perceiver]="tsp tsp-perceiver cvrp cvrp-perceiver" [approximate]="tsp approximate" [order]="cvrp any outside-in"
)

for suite in "$@"; do
    models=()
    for arm in ${suites[$suite]}; do
        read -r recipe changes <<<"${arms[$arm]}"
        # shellcheck disable=SC2086
        "$bqnco" train "$here/recipes/appendix_e/$recipe.toml" $changes -q -o "$folder/$arm"
        models+=("$folder/$arm/best")
    done
    "$bqnco" eval "$suite" --sizes 20,50,100 --instances "${INSTANCES:-500}" --model "$(IFS=,; echo "${models[*]}")" \
        --baselines heuristic,constructions --report "$folder/$suite" -q >/dev/null
done
