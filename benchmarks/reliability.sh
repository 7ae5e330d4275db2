#!/usr/bin/env bash
# Faults on purpose (fuzz/README.md): damaged inputs, kills, failing writes, power cuts, random shapes on every CPU path,
# numbers of threads, a soak. Prints one table; the exit code is 1 if anything was wrong.
# Usage: benchmarks/reliability.sh [--minutes N, default 10] [--profile release|dev] [--seed N]
set -uo pipefail
cd "$(dirname "$0")/.."
minutes=10 profile=release seed=1
while [ $# -gt 0 ]; do
    case $1 in
    --minutes | --profile | --seed) ;;
    *) echo "unknown option $1" >&2 && exit 2 ;;
    esac
    if [ $# -lt 2 ]; then echo "$1 needs a value" >&2 && exit 2; fi
    printf -v "${1#--}" %s "$2"
    shift 2
done
target=${CARGO_TARGET_DIR:-target}
built=$target/$([ "$profile" = dev ] && echo debug || echo "$profile")
share() { awk "BEGIN { print $minutes * 60 * $1 / 100 }"; } # seconds from a percentage

build() { cargo build --profile "$profile" --locked "$@"; }
if command -v mpirun >/dev/null && command -v mpicc >/dev/null &&
    build --package bqnco-cli --features bqnco-cli/mpi && cp "$built/bqnco" "$built/bqnco-mpi"; then
    export BQNCO_MPI=$built/bqnco-mpi
else
    echo "without MPI: no jobs of several processes are killed" >&2
fi
build --package bqnco-cli --package bqnco-fuzz || exit 1
build --package bqnco-kernels --example cpu_paths || exit 1
export BQNCO=$built/bqnco

wrong=0
part() { # a command that prints rows of the table
    "$@" | grep --line-buffered -v -e '^| part ' -e '^|---'
    local codes=("${PIPESTATUS[@]}")
    [ "${codes[*]}" = "0 0" ] || wrong=1 # without rows nothing was tried
}

tests() { # variable, package, test, part of names: whether there are such tests, and all pass
    local said
    if said=$(env "$1" cargo test --profile "$profile" --locked --package "$2" --test "$3" "$4" 2>&1) &&
        grep -q '^test result: ok. [1-9]' <<<"$said"; then return 0; fi
    echo "$said" >&2
    return 1
}

shapes() { # about 25 shapes per second and core
    local count path bad=0 all=0
    count=$(awk "BEGIN { print int($(share 8) * 5) + 9 }")
    for path in $("$built/examples/cpu_paths"); do
        if [ "$path" = bf16 ]; then continue; fi # products of three digits: not to be compared with 1e-4
        bad=0
        BQNCO_CPU=$path tests "BQNCO_SHAPES=$count" bqnco-net net fused_equals_plain || bad=1 all=1
        echo "| fused against plain: $path | $count | $bad | random shapes, forward and backward |"
    done
    return $all
}

threads() {
    local count bad=0
    count=$(awk "BEGIN { print int($(share 4) / 4) + 4 }")
    tests "BQNCO_INSTANCES=$count" bqnco library threads:: || bad=1
    echo "| threads 1, 2, 3, 8 | $count | $bad | instances per problem and search, bit by bit |"
    return $bad
}

echo "$(git describe --always --dirty), $(date -u +%F), $(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
printf '\n| part | tried | wrong | details |\n|---|---|---|---|\n'
part "$built/bqnco-fuzz" --seconds "$(share 35)" --seed "$seed"
part python3 fuzz/kills.py --seconds "$(share 20)" --seed "$seed"
part python3 fuzz/faults.py --seconds "$(share 12)" --seed "$seed"
part python3 fuzz/power.py --seconds "$(share 13)" --seed "$seed"
part python3 fuzz/soak.py --seconds "$(share 8)"
part shapes
part threads
exit $wrong
