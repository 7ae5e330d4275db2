#!/usr/bin/env bash
# Builds the Python package as the tests have built the library (debug), installs the wheel into an environment under
# target/, and runs its tests, the examples of its docstrings and pages, and mypy. PYTHON names the interpreter.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
environment=$target/python
packages=(maturin numpy pytest mypy gymnasium networkx)

if ! "$environment/bin/python" -c 'import maturin, numpy, pytest, mypy, gymnasium, networkx' 2>/dev/null; then
    rm -rf "$environment"
    "${PYTHON:-python3}" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
fi
rm -rf "$target/wheels/test"
"$environment/bin/maturin" build --quiet --profile dev --locked --out "$target/wheels/test"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$target"/wheels/test/*.whl

export BQNCO_COMMAND=$PWD/$target/debug/bqnco
case $target in /*) BQNCO_COMMAND=$target/debug/bqnco ;; esac
"$environment/bin/pytest" --quiet -p no:cacheprovider python/tests
"$environment/bin/mypy" --python-executable "$environment/bin/python" --cache-dir "$target/mypy"
