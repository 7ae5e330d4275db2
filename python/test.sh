#!/usr/bin/env bash
# Tests the Python package with the library as `cargo test` has built it (debug; a wheel by maturin would be built anew):
# its tests, the examples of its docstrings and pages, mypy. Its environment is target/python; PYTHON names the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
environment=$target/python
needed=(numpy pytest mypy gymnasium networkx matplotlib pyvrp)

if ! "$environment/bin/python" -c "import $(IFS=,; echo "${needed[*]}")" 2>/dev/null; then
    rm -rf "$environment"
    "${PYTHON:-python3}" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${needed[@]}"
fi
cargo build --workspace --locked --quiet --lib --example cpu_paths # as the tests have left it: nothing is built twice
installed=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/bqnco
rm -rf "$installed"
cp -r python/bqnco "$installed"
cp "$target"/debug/lib_bqnco.[sd][oy]* "$installed/_bqnco.abi3.so"

BQNCO_COMMAND=$target/debug/bqnco "$environment/bin/pytest" --quiet -p no:cacheprovider python/tests
"$environment/bin/mypy" --python-executable "$environment/bin/python" --cache-dir "$target/mypy"
