#!/usr/bin/env bash
# All checks, cheapest first, on a machine with nothing but a Rust toolchain: formatting, lints, tests, examples, docs.
set -euo pipefail
cd "$(dirname "$0")"

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

step "formatting"
cargo fmt --all --check

step "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings

if command -v cargo-deny >/dev/null; then
    step "licences and sources"
    cargo deny --all-features check
else
    echo "cargo-deny is not installed: licences and sources were not checked"
fi

step "tests"
cargo test --workspace --locked

step "networks on lesser CPUs"
for cpu in avx512 avx2 portable; do
    BQNCO_CPU=$cpu cargo test --workspace --locked --quiet --test net
    BQNCO_CPU=$cpu cargo test --workspace --locked --quiet --lib fused
done

if command -v mpirun >/dev/null && command -v mpicc >/dev/null; then
    step "training by two processes"
    cargo test --workspace --locked --features bqnco-cli/mpi --test mpi # the workspace: Burn is not built anew
else
    echo "MPI is not installed: training by several processes was not tested"
fi

step "examples"
cargo build --workspace --examples --locked # as the tests have left them: nothing is built twice
for example in examples/*.rs; do
    "${CARGO_TARGET_DIR:-target}/debug/examples/$(basename "$example" .rs)" >/dev/null
done

step "a core and networks without threads or clocks"
cargo check --locked --package bqnco-core --no-default-features
cargo check --locked --package bqnco-net --no-default-features

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

printf '\nall checks passed in %ss\n' "$SECONDS"
