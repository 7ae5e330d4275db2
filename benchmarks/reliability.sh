#!/usr/bin/env bash
# Faults on purpose (fuzz/README.md): damaged inputs, kills, failing writes, power cuts, random shapes on every CPU path,
# numbers of threads, a soak. Prints one table per part; the exit code is 1 if anything was wrong.
# Usage: benchmarks/reliability.sh [--minutes N, default 10] [--profile release|dev] [--seed N]
set -uo pipefail
cd "$(dirname "$0")/.."
minutes=10 profile=release seed=1
while [ $# -gt 1 ]; do
    case $1 in
    --minutes) minutes=$2 ;;
    --profile) profile=$2 ;;
    --seed) seed=$2 ;;
    *) echo "unknown option $1" >&2 && exit 2 ;;
    esac
    shift 2
done
target=${CARGO_TARGET_DIR:-target}
built=$target/$([ "$profile" = dev ] && echo debug || echo "$profile")
share() { awk "BEGIN { print $minutes * 60 * $1 / 100 }"; } # seconds from a percentage
wrong=0
part() { # title, command...
    printf '\n### %s\n\n' "$1"
    shift
    "$@" || wrong=1
}

cargo build --profile "$profile" --locked --package bqnco-cli --package bqnco-fuzz || exit 1
export BQNCO=$built/bqnco
echo "$(git describe --always --dirty), $(date -u +%F), $(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"

part "Damaged inputs" "$built/bqnco-fuzz" --seconds "$(share 35)" --seed "$seed"
part "Kills" python3 fuzz/kills.py --seconds "$(share 20)" --seed "$seed"
part "Failing writes" python3 fuzz/faults.py --seconds "$(share 12)"
part "Power cuts" python3 fuzz/power.py --seconds "$(share 13)" --seed "$seed"
part "Soak" python3 fuzz/soak.py --seconds "$(share 8)"

shapes() { # about 25 shapes per second and core
    local count
    count=$(awk "BEGIN { print int($(share 8) * 5) + 9 }")
    printf '| CPU path | shapes | wrong |\n|---|---|---|\n'
    for path in $("$built/examples/cpu_paths"); do
        if [ "$path" = bf16 ]; then continue; fi # products of three digits: not to be compared with 1e-4
        local bad=0
        BQNCO_CPU=$path BQNCO_SHAPES=$count cargo test --profile "$profile" --locked --quiet --package bqnco-net --test net \
            fused_equals_plain >/dev/null || bad=1 wrong=1
        echo "| $path | $count | $bad |"
    done
}
threads() {
    local count bad=0
    count=$(awk "BEGIN { print int($(share 4) / 4) + 4 }")
    BQNCO_INSTANCES=$count cargo test --profile "$profile" --locked --quiet --package bqnco --test threads >/dev/null || bad=1 wrong=1
    printf '| threads | instances per problem and search | wrong |\n|---|---|---|\n| 1, 2, 3, 8 | %s | %s |\n' "$count" "$bad"
}
cargo build --profile "$profile" --locked --package bqnco-kernels --example cpu_paths || exit 1
part "Fused against plain kernels" shapes
part "Numbers of threads" threads
exit $wrong
