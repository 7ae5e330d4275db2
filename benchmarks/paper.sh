#!/usr/bin/env bash
# The paper's recipes for a share of their labels and updates, each beside our own choices on the same labels and as many
# samples: paper.sh FOLDER [RECIPE...], for instance paper.sh runs/paper tsp cvrp
#
# FOLDER/RECIPE-gap.svg and -loss.svg draw greedy gap and loss against samples. Interrupted runs resume. SHARE (default
# 0.0002: 200 labels, 100,000 samples and 20 validations, about half an hour of two idle cores for the paper's network) is
# the share, BQNCO names the binary (default: built from this checkout).
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/benchmarks/program.sh"
share=${SHARE:-0.0002}
folder=$1
shift
mkdir -p "$folder"
[ $# -gt 0 ] || set -- tsp cvrp op atsp knapsack tsp_perceiver cvrp_perceiver

# Our choices: a smaller network that sees tails from their origin, Muon, tails of all lengths in batches of 128.
ours=(training.batch=128 training.sampling=mixed training.optimizer=muon training.rate=2e-3 training.schedule=linear
    training.clip=1.0 training.average=0.99)
small="network={preset='small'}" path=training.auxiliary=0.5
declare -A changes=(
    [tsp]="$small $path" [cvrp]="$small $path training.order=outside-in" [op]="$small $path"
    [atsp]="network={preset='small',costs='both-ways',end_costs='seen'} $path"
    [knapsack]="network={preset='small',costs='unseen'} training.order=best-first"
    [tsp_perceiver]="$path network={preset='perceiver',frame='origin',end_costs='seen',residual='pre-norm',cut='likeliest'}"
)
changes[cvrp_perceiver]="${changes[tsp_perceiver]} training.order=outside-in"

for recipe in "$@"; do
    file=$here/recipes/paper/$recipe.toml
    steps=$(sed -n 's/^steps = \([0-9_]*\).*/\1/p' "$file" | tr -d _)
    part=$share
    # A tenth of the epochs, so more labels; not ten times as many, because its tails are twice as long.
    [ "$recipe" != knapsack ] || part=$(awk -v share="$share" 'BEGIN { print 4 * share }')
    read -ra own <<<"${changes[$recipe]}"
    "$bqnco" train "$file" "share=$part" training.save_every=10 -q -o "$folder/$recipe-paper"
    "$bqnco" train "$file" "share=$part" "${ours[@]}" "${own[@]}" "training.steps=$((8 * steps))" \
        training.validate_every=7816 training.save_every=80 -q -o "$folder/$recipe-ours"
    "$bqnco" plot "$folder/$recipe-paper" "$folder/$recipe-ours" -o "$folder/$recipe-gap.svg"
    "$bqnco" plot "$folder/$recipe-paper" "$folder/$recipe-ours" --loss -o "$folder/$recipe-loss.svg"
done
