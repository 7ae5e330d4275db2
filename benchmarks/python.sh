#!/usr/bin/env bash
# Installs the Python package from a clean clone into a fresh environment, as `pip install .` does, builds the wheel from the
# source distribution, runs the tests and README's example, and measures: benchmarks/python.py says what. Writes
# benchmarks/python.md.
#
#   benchmarks/python.sh                 # release builds (of our crates in two folders), then about ten minutes
#   RL4CO=false benchmarks/python.sh     # without RL4CO and its several GB; or the path of a Python that has it
#   PROFILE=dev COUNT=20 ROUNDS=1 OUT=/tmp/python.md benchmarks/python.sh # tries out the script itself
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${PROFILE:-release} out=$(realpath -m "${OUT:-benchmarks/python.md}")
export CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}") # what has been compiled need not be compiled again
built=$CARGO_TARGET_DIR/${profile/dev/debug}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

environment() { # name, packages
    "${PYTHON:-python3}" -m venv "$work/$1"
    "$work/$1/bin/python" -m pip --quiet --disable-pip-version-check install "${@:2}"
}

git clone --quiet . "$work/bqnco" # what is committed
cd "$work/bqnco"
environment env maturin pytest gymnasium networkx matplotlib pandas pyvrp vrplib tqdm nbclient ipykernel

cargo build --profile "$profile" --locked --quiet --package bqnco-cli
[ "$profile" = release ] || export MATURIN_PEP517_ARGS="--profile $profile"
"$work/env/bin/python" -m pip --quiet --disable-pip-version-check install .

# Elsewhere, and not under git: what it lacks cannot be found by accident.
"$work/env/bin/maturin" sdist --out "$work/sdist"
mkdir "$work/unpacked"
tar -xzf "$work"/sdist/*.tar.gz -C "$work/unpacked" --strip-components=1
(cd "$work/unpacked" &&
    "$work/env/bin/maturin" build --profile "$profile" --quiet --interpreter "$work/env/bin/python" --out "$work/wheel")

export BQNCO_COMMAND=$built/bqnco
tested=$("$work/env/bin/pytest" --quiet -p no:cacheprovider python/tests | tee -a /dev/stderr | tail -1)
peer=()
if [ -x "${RL4CO:-}" ]; then
    peer=(--rl4co "$RL4CO")
elif [ "${RL4CO:-true}" = true ]; then # in an environment of its own: it would replace numpy in ours
    if environment rl4co rl4co; then
        peer=(--rl4co "$work/rl4co/bin/python")
    else
        echo "RL4CO cannot be installed here" >&2
    fi
fi
"$work/env/bin/python" benchmarks/python.py --command "$built/bqnco" --wheel "$work"/wheel/*.whl --sdist "$work"/sdist/*.tar.gz \
    "${peer[@]}" --count "${COUNT:-1000}" --rounds "${ROUNDS:-5}" \
    --note "\`pytest python/tests\` with this package: $tested." >"$work/python.md"
mv "$work/python.md" "$out"
