#!/usr/bin/env bash
# Tests the Python package with the library as `cargo test` has built it (debug; a wheel by maturin would be built anew):
# its tests, the examples of its docstrings and pages, mypy, and the stubs against the library. PYTHON names the interpreter.
#
# The environment is target/python. Tests with PyTorch have target/python-torch (several GB), which is made with CI=true, and
# used wherever it exists; without it they are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export BQNCO_COMMAND=$target/debug/bqnco

all_there='import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, sys.argv[1:])))'

environment() { # folder, packages: makes it if they are not there, and installs bqnco
    local folder=$1 installed
    shift
    if ! "$folder/bin/python" -c "$all_there" "$@" 2>/dev/null; then
        rm -rf "$folder"
        "${PYTHON:-python3}" -m venv "$folder"
        "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    fi
    installed=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/bqnco
    rm -rf "$installed"
    cp -r python/bqnco "$installed"
    cp "$target"/debug/lib_bqnco.[sd][oy]* "$installed/_bqnco.abi3.so"
}

# As the tests have left it: nothing is built twice.
cargo build --workspace --locked --features bqnco-cli/postgres --quiet --lib --bin bqnco --example cpu_paths
main=$target/python torch=$target/python-torch
tests=(--quiet -p no:cacheprovider)

environment "$main" numpy pytest mypy gymnasium networkx matplotlib pandas pyvrp vrplib tqdm nbclient ipykernel
if [ "${CI:-}" = true ] || [ -d "$torch" ]; then
    environment "$torch" numpy pytest nbclient ipykernel torch rl4co
    "$torch/bin/pytest" "${tests[@]}" python/tests/test_torch.py
    "$main/bin/pytest" "${tests[@]}" python/tests --ignore python/tests/test_torch.py
else
    "$main/bin/pytest" "${tests[@]}" python/tests
fi
"$main/bin/mypy" --python-executable "$main/bin/python" --cache-dir "$target/mypy"
"$main/bin/stubtest" bqnco._bqnco
