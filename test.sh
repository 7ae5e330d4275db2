#!/usr/bin/env bash
# All checks, cheapest first, on a machine with nothing but a Rust toolchain. What could not be tested for lack of data,
# programs, a network or CPU features is listed at the end; with CI=true, lack of data or programs is a failure.
set -euo pipefail
cd "$(dirname "$0")"
BQNCO_SKIPPED=$(mktemp) # a line per skipped test: kind, name, reason; tests add theirs (crates/testing)
export BQNCO_SKIPPED
python_log=$(mktemp)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -f "$BQNCO_SKIPPED" "$python_log"' EXIT

features=bqnco-cli/postgres # what a server can have, in the same build as all else
# In a clean clone there is no earlier build to reuse. Whoever compiles there later has this folder.
[ -d "${CARGO_TARGET_DIR:-target}/debug/incremental" ] || export CARGO_INCREMENTAL=0
step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

skip() { # kind, test, reason
    printf '%s\t%s\t%s\n' "$@" >>"$BQNCO_SKIPPED"
    echo "SKIPPED: $2 ($1): $3"
    case ${CI:-}:$1 in true:data | true:program) echo "this must not be skipped in CI" && exit 1 ;; esac
}

step "formatting"
cargo fmt --all --check

step "licences, sources and known vulnerabilities"
if ! command -v cargo-deny >/dev/null; then
    skip program "licences, sources and known vulnerabilities" "cargo-deny is not installed"
else
    cargo deny --all-features check bans licenses sources
    if cargo deny fetch db >/dev/null 2>&1; then
        cargo deny --all-features check --disable-fetch advisories
    else
        skip network "known vulnerabilities" "the RustSec database cannot be fetched"
    fi
fi

step "licences that the program prints"
if command -v python3 >/dev/null; then
    crates/cli/licences.py --check
else
    skip program "licences that the program prints" "python3 is not installed"
fi

step "lints"
cargo clippy --workspace --all-targets --locked --features "$features" -- -D warnings

step "tests"
cargo test --workspace --locked --features "$features"

step "networks on lesser CPUs"
cargo build --workspace --locked --features "$features" --quiet --example cpu_paths # as the tests have left it: nothing is built twice
paths=$("${CARGO_TARGET_DIR:-target}/debug/examples/cpu_paths")
for cpu in amx avx512 avx2 portable; do
    if grep -qx "$cpu" <<<"$paths"; then
        BQNCO_CPU=$cpu cargo test --workspace --locked --features "$features" --quiet --test net
        BQNCO_CPU=$cpu cargo test --workspace --locked --features "$features" --quiet --lib -- matmul product simd
    else
        skip cpu "networks with BQNCO_CPU=$cpu" "this CPU has no $cpu"
    fi
done

step "training by two processes"
if command -v mpirun >/dev/null && command -v mpicc >/dev/null && PATH=$PATH:/sbin ldconfig -p | grep libclang >/dev/null; then
    cargo test --workspace --locked --features "$features,bqnco-cli/mpi" --test mpi # the workspace: only the program is built anew
else
    for test in $(sed -n '/^#\[test\]/{n;s/^fn \(.*\)() {/\1/p;}' crates/cli/tests/mpi.rs); do
        skip program "$test" "MPI (mpirun, mpicc) or libclang is not installed"
    done
fi

step "examples"
# As the tests have left them: nothing is built twice. Also what the tests have not built: the Python package, bqnco-fuzz.
cargo build --workspace --lib --bins --examples --locked --features "$features"
for example in examples/*.rs; do
    "${CARGO_TARGET_DIR:-target}/debug/examples/$(basename "$example" .rs)" >/dev/null
done

step "Python; meanwhile a core and networks without threads or clocks, documentation"
python=$(command -v python3 || true)
if [ -z "$python" ] || ! "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    skip program "the Python package" "python3 (3.9 or newer, with venv) is not installed"
else
    python/test.sh >"$python_log" 2>&1 & # its environment is target/python
    python_tests=$!
fi
# Neither needs more than one core for long; `--jobs -1` leaves one to Python.
cargo check --jobs -1 --locked --package bqnco-core --no-default-features
cargo check --jobs -1 --locked --package bqnco-net --no-default-features
RUSTDOCFLAGS="-D warnings" cargo doc --jobs -1 --workspace --no-deps --locked
status=0
wait ${python_tests:+"$python_tests"} || status=$?
cat "$python_log"
[ "$status" = 0 ]

step "a few faults on purpose" # benchmarks/reliability.sh tries many
if command -v python3 >/dev/null && command -v cc >/dev/null; then
    export BQNCO=${CARGO_TARGET_DIR:-target}/debug/bqnco
    for part in power faults kills; do
        python3 "fuzz/$part.py" --seconds 8
    done
else
    skip program "a few faults on purpose" "python3 or cc is not installed"
fi
"${CARGO_TARGET_DIR:-target}/debug/bqnco-fuzz" --seconds 11 >/dev/null # the table is for the campaign

if [ -s "$BQNCO_SKIPPED" ]; then
    sort -u "$BQNCO_SKIPPED" -o "$BQNCO_SKIPPED"
    printf '\n%s tests skipped:\n' "$(wc -l <"$BQNCO_SKIPPED")"
    awk -F '\t' '{ printf "  %-8s %s: %s\n", $1, $2, $3 }' "$BQNCO_SKIPPED"
else
    printf '\nno test was skipped\n'
fi
echo "all other checks passed in ${SECONDS}s (tests of graphics devices are not among them: docs/networks.md)"
