#!/usr/bin/env bash
# Arms of the ablation on TSP50 (docs/lab/2026-11-ablation.md): ablation.sh FOLDER [ARM...]
#
# Every arm trains on the same number of samples on one thread: about ten minutes of an idle core, twenty of a busy one.
# Arms of other sizes get as many samples as cost the same arithmetic, the long ones twice as many. Two arms run at a time.
# Interrupted arms resume, finished ones are skipped. At the end FOLDER/ablation.md and ablation.svg compare all finished
# arms. BQNCO names the binary (default: built from this checkout).
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/benchmarks/program.sh"
folder=$1
shift
mkdir -p "$folder"

paper=()
images=(training.augmentation=square)
scaled=("${images[@]}" network.frame=subproblem)
linear=("${scaled[@]}" training.schedule=linear training.warm_up=50)
prenorm=("${linear[@]}" network.residual=pre-norm)
costs=("${linear[@]}" network.costs=forward)
modern=("${prenorm[@]}" network.costs=forward)
muon=("${modern[@]}" training.optimizer=muon training.rate=2e-3 training.clip=1.0)
rezero_muon=("${costs[@]}" training.optimizer=muon training.rate=2e-3 training.clip=1.0)
averaged=("${muon[@]}" training.average=0.99)
batch64=("${muon[@]}" training.batch=64 training.steps=2600 training.validate_every=650)
batch32=("${muon[@]}" training.batch=32 training.steps=5200 training.validate_every=1300)
deeper=("${muon[@]}" network.n_layers=9 network.dim=192 network.n_heads=12 training.steps=500 training.validate_every=125)
shallower=("${muon[@]}" network.n_layers=3 training.steps=2600 training.validate_every=650)
auxiliary=("${muon[@]}" training.auxiliary=0.5)
auxiliary2=("${muon[@]}" training.auxiliary=2.0)
second=("${muon[@]}" training.second_target=0.5)
paper_long=("${paper[@]}" training.steps=2600 training.validate_every=650)
muon_long=("${muon[@]}" training.steps=2600 training.validate_every=650)

arms=(paper images scaled linear prenorm costs modern muon rezero_muon auxiliary auxiliary2 second averaged batch64 batch32 shallower deeper
    paper_long muon_long)

if [ ! -e "$folder/labels.npz" ]; then
    "$bqnco" generate tsp --size 50 --count 40000 --seed 11 --expert -o "$folder/labels.npz"
    "$bqnco" generate tsp --size 50 --count 500 --seed 1000011 --expert -o "$folder/validation.npz"
fi

run() {
    local -n changes=$1
    "$bqnco" train "$here/recipes/ablation.toml" "data={files=['$folder/labels.npz']}" "validation={files=['$folder/validation.npz']}" \
        "${changes[@]}" --threads 1 -o "$folder/$1" -q >"$folder/$1.log" 2>&1 || echo "$1 failed: $folder/$1.log" >&2
}

for arm in "${@:-${arms[@]}}"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    run "$arm" &
done
wait

# Loss: mean over the last fifth. Speed: 90th percentile over the rows, because other work may share the machine.
finished=()
{
    echo "| arm | samples | samples/s | minutes | loss | gap at 1/4 | 1/2 | 3/4 | end |"
    echo "|---|---|---|---|---|---|---|---|---|"
    for arm in "${arms[@]}"; do
        [ -e "$folder/$arm/curves.svg" ] || continue
        finished+=("$folder/$arm")
        speed=$(tail -n +2 "$folder/$arm/metrics.csv" | cut -d, -f7 | sort -g | awk '{v[NR] = $1} END {print v[int(0.9 * NR)]}')
        awk -F, -v arm="$arm" -v speed="$speed" 'NR > 1 {loss[NR] = $3; samples = $2; if ($5 != "") gaps = gaps sprintf(" %.2f %% |", $5)}
            END {for (row = int(NR * 0.8); row <= NR; row++) {sum += loss[row]; rows++}
                 printf "| %s | %d | %.0f | %.0f | %.3f |%s\n", arm, samples, speed, samples / speed / 60, sum / rows, gaps}' \
            "$folder/$arm/metrics.csv"
    done
} >"$folder/ablation.md"
"$bqnco" plot "${finished[@]}" -o "$folder/ablation.svg"
