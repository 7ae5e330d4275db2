#!/bin/sh
# Runs the paper's network here and in PyTorch on the same shapes and prints the ratios (above 1: ours is faster).
# PyTorch comes from PyPI into an environment that is thrown away; name a Python that has torch to skip that:
#   PYTHON=/path/to/python benchmarks/torch_compare.sh [seconds per line]
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-2}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -z "${PYTHON:-}" ]; then
    python3 -m venv "$scratch/env"
    "$scratch/env/bin/pip" install --quiet torch numpy
    PYTHON=$scratch/env/bin/python
fi
cargo build --quiet --release -p bqnco-net --features bench --example bench_net
target/release/examples/bench_net "$seconds" | tee "$scratch/ours"
"$PYTHON" benchmarks/torch_net.py "$seconds" | tee "$scratch/theirs"
echo
awk 'NR == FNR { ours[$1 " " $2 (($3 ~ /x/) ? " " $3 : "")] = $(NF - 1); next }
     FNR > 1 { name = $1 " " $2 (($3 ~ /x/) ? " " $3 : ""); if (name in ours) printf "%-24s %5.2fx\n", name, $(NF - 1) / ours[name] }' \
    "$scratch/ours" "$scratch/theirs"
