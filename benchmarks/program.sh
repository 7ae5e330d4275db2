# Sourced by the scripts beside it, before they change the folder. Sets `bqnco`, and BQNCO for what they start, to the
# absolute path of the program: BQNCO if that is given, else this checkout's release build (in CARGO_TARGET_DIR if given).
# shellcheck shell=bash
if [ -n "${BQNCO:-}" ]; then
    bqnco=$(command -v "$BQNCO") || { echo "BQNCO=$BQNCO: there is no such program" >&2 && exit 2; }
    bqnco=$(realpath "$bqnco")
else
    root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
    target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
    cargo build --release --quiet --package bqnco-cli --manifest-path "$root/Cargo.toml" --target-dir "$target"
    bqnco=$target/release/bqnco
fi
export BQNCO=$bqnco
