#!/usr/bin/env bash
# Installs the Python package from a clean clone into a fresh environment, as `pip install .` does, builds the wheel, runs the
# tests and README's example, and measures: benchmarks/python.py says what. Writes benchmarks/python.md.
#
#   benchmarks/python.sh                 # release builds, then about ten minutes
#   RL4CO=false benchmarks/python.sh     # without RL4CO and its several GB
#   PROFILE=dev COUNT=20 ROUNDS=1 OUT=/tmp/python.md benchmarks/python.sh # tries out the script itself
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${PROFILE:-release} out=$(realpath -m "${OUT:-benchmarks/python.md}")
export CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}") # what has been compiled need not be compiled again
built=$CARGO_TARGET_DIR/${profile/dev/debug}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git clone --quiet . "$work/bqnco" # what is committed
cd "$work/bqnco"
"${PYTHON:-python3}" -m venv "$work/env"
pip() { "$work/env/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
pip install maturin pytest gymnasium networkx matplotlib pandas pyvrp vrplib tqdm nbclient ipykernel

cargo build --profile "$profile" --locked --quiet --package bqnco-cli
[ "$profile" = release ] || export MATURIN_PEP517_ARGS="--profile $profile"
pip install .
"$work/env/bin/maturin" build --profile "$profile" --quiet --interpreter "$work/env/bin/python" --out "$work/wheel"

export BQNCO_COMMAND=$built/bqnco
tested=$("$work/env/bin/pytest" --quiet -p no:cacheprovider python/tests | tee -a /dev/stderr | tail -1)
if [ "${RL4CO:-true}" = true ]; then
    pip install rl4co || echo "RL4CO cannot be installed here" >&2
fi
"$work/env/bin/python" benchmarks/python.py --command "$built/bqnco" --wheel "$work"/wheel/*.whl --count "${COUNT:-1000}" \
    --rounds "${ROUNDS:-5}" --note "\`pytest python/tests\` with this wheel: $tested." >"$work/python.md"
mv "$work/python.md" "$out"
