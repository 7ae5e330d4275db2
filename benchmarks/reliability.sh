#!/usr/bin/env bash
# Faults on purpose (fuzz/README.md): damaged inputs, kills, failing writes, power cuts, random shapes on every CPU path,
# numbers of threads, a soak. Prints one table; the exit code is 1 if anything was wrong.
# Usage: benchmarks/reliability.sh [--minutes N, default 10] [--parts a,b,..., default all] [--profile release|dev] [--seed N]
# Parts: damaged, kills, faults, power, soak, shapes, threads, which share the minutes, and address, which takes its time.
set -uo pipefail
cd "$(dirname "$0")/.."
minutes=10 profile=release seed=1 parts=damaged,kills,faults,power,soak,shapes,threads,address
while [ $# -gt 0 ]; do
    case $1 in
    --minutes | --parts | --profile | --seed) ;;
    *) echo "unknown option $1" >&2 && exit 2 ;;
    esac
    if [ $# -lt 2 ]; then echo "$1 needs a value" >&2 && exit 2; fi
    printf -v "${1#--}" %s "$2"
    shift 2
done
target=${CARGO_TARGET_DIR:-target}
built=$target/$([ "$profile" = dev ] && echo debug || echo "$profile")
declare -A weight=([damaged]=35 [kills]=20 [faults]=12 [power]=13 [soak]=8 [shapes]=8 [threads]=4 [address]=0)
total=0
for name in ${parts//,/ }; do
    if [ -z "${weight[$name]:-}" ]; then echo "unknown part $name; there are ${!weight[*]}" >&2 && exit 2; fi
    total=$((total + weight[$name]))
done
share() { awk "BEGIN { print $minutes * 60 * ${weight[$1]} / $total }"; } # seconds of a part

build() { cargo build --profile "$profile" --locked "$@"; }
if [[ ,$parts, != *,kills,* ]]; then
    : # only jobs of several processes that are killed need MPI
elif command -v mpirun >/dev/null && command -v mpicc >/dev/null &&
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
    # Beside the packages that are built already, so that Burn is not built anew with other features.
    local packages=(--package bqnco-cli --package bqnco-fuzz --package "$2")
    if said=$(env "$1" cargo test --profile "$profile" --locked "${packages[@]}" --test "$3" "$4" 2>&1) &&
        grep -q '^test result: ok. [1-9]' <<<"$said"; then return 0; fi
    echo "$said" >&2
    return 1
}

shapes() { # about 60 shapes per second
    local count path paths bad=0 all=0
    paths=$("$built/examples/cpu_paths" | grep -vx bf16) # products of three digits: not to be compared with 1e-4
    count=$(awk "BEGIN { print int($(share shapes) * 60 / $(wc -w <<<"$paths")) + 9 }")
    for path in $paths; do
        bad=0
        BQNCO_CPU=$path tests "BQNCO_SHAPES=$count" bqnco-net net fused_equals_plain || bad=1 all=1
        echo "| fused against plain: $path | $count | $bad | random shapes, forward and backward |"
    done
    return $all
}

threads() {
    local count bad=0
    count=$(awk "BEGIN { print int($(share threads) / 4) + 4 }")
    tests "BQNCO_INSTANCES=$count" bqnco library threads:: || bad=1
    echo "| threads 1, 2, 3, 8 | $((count * 6 * 5)) | $bad | $count instances of 6 problems by 5 searches, bit by bit |"
    return $bad
}

address() { # the tests of the unsafe code and of the networks above it; the compiler's option is not stable
    local bad=0 host said
    host=$(rustc -vV | sed -n 's/^host: //p')
    said=$(RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=$target/address cargo test --locked --target "$host" \
        --package bqnco-kernels --lib --package bqnco-net --test net 2>&1) || bad=1
    if [ $bad = 1 ]; then echo "$said" >&2; fi
    echo "| address sanitizer | $(grep -c ' \.\.\. ok$' <<<"$said") | $bad | tests of the kernels and of networks |"
    return $bad
}

echo "$(git describe --always --dirty), $(date -u +%F), $(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)"
printf '\n| part | tried | wrong | details |\n|---|---|---|---|\n'
for name in ${parts//,/ }; do
    case $name in
    damaged) part "$built/bqnco-fuzz" --seconds "$(share damaged)" --seed "$seed" ;;
    soak) part python3 fuzz/soak.py --seconds "$(share soak)" ;;
    shapes | threads | address) part "$name" ;;
    *) part python3 "fuzz/$name.py" --seconds "$(share "$name")" --seed "$seed" ;;
    esac
done
exit $wrong
