#!/usr/bin/env bash
# Runs the paper's network in bqnco and in PyTorch on the same shapes, in turns, and prints a page with the best times of
# both, their ratios (above 1: ours is faster), and the overhead of rollouts over their forward passes.
#   benchmarks/torch_compare.sh > benchmarks/net.md
# PyTorch is installed from PyPI into a temporary environment, unless PYTHON names a Python that has torch.
# SECONDS_PER_LINE (2) and ROUNDS (2) set the length of the measurement; ROLLOUTS=no skips the rollouts, which take minutes.
# BQNCO names the binary (default: built from this checkout).
set -eu
. "$(dirname "$0")/program.sh"
cd "$(dirname "$0")/.."
seconds=${SECONDS_PER_LINE:-2} rounds=${ROUNDS:-2}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -z "${PYTHON:-}" ]; then
    python3 -m venv "$scratch/env"
    "$scratch/env/bin/pip" install --quiet torch numpy >&2
    PYTHON=$scratch/env/bin/python
fi
vectors=$(grep -m 1 -o amx_bf16 /proc/cpuinfo || true) # CPUs with AMX are also measured without it
round=0
while [ "$round" -lt "$rounds" ]; do
    "$bqnco" bench net --no-rollouts --seconds "$seconds" | tee -a "$scratch/ours" >&2
    [ -z "$vectors" ] || BQNCO_CPU=avx512 "$bqnco" bench net --no-rollouts --seconds "$seconds" | tee -a "$scratch/vectors" >&2
    "$PYTHON" benchmarks/torch_net.py "$seconds" | tee -a "$scratch/theirs" >&2
    round=$((round + 1))
done
[ "${ROLLOUTS:-yes}" = no ] || "$bqnco" bench net --only-rollouts | tee "$scratch/rollouts" >&2

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
cat <<PAGE
# Networks, measured

Made by \`benchmarks/torch_compare.sh\` on $(date +%Y-%m-%d): $(getconf _NPROCESSORS_ONLN) cores of ${cpu:-an unknown CPU},
$(rustc --version), $("$PYTHON" -c 'import torch; print("PyTorch", torch.__version__)'). The paper's network: 9 layers, 12 heads, 192 numbers per token, feed-forward 512, ReZero.
Best of $rounds rounds of $seconds s per line, ours (\`bqnco bench net\`) and PyTorch (\`benchmarks/torch_net.py\`) in turns. The
limit is a plain matmul of 2048 x 2048 x 2048; a train step is forward, loss, backward and AdamW. Compare within a line.
The peak is what the CPU's vector units reach on values that stay in registers; AMX may be faster.

PAGE
table() {
    printf '| work | ms | GFLOP/s | of limit | PyTorch ms | GFLOP/s | ratio |\n|---|---|---|---|---|---|---|\n'
    awk -F '  +' '
    $1 == "work" { next }
    NR == FNR { if (!($1 in ours)) order[++n] = $1; if (!($1 in ours) || $2 + 0 < ours[$1]) { ours[$1] = $2 + 0; rate[$1] = $3 + 0 } next }
    { if (!($1 in theirs) || $2 + 0 < theirs[$1]) { theirs[$1] = $2 + 0; their_rate[$1] = $3 + 0 } }
    END {
        for (k = 1; k <= n; k++) {
            w = order[k]
            if (w ~ /^peak/) { printf "| %s | | %.0f | %.0f %% | | | |\n", w, rate[w], 100 * rate[w] / rate[order[1]]; continue }
            printf "| %s | %.2f | %.0f | %.0f %% | %.2f | %.0f | **%.2f** |\n", w, ours[w], rate[w], 100 * rate[w] / rate[order[1]], theirs[w], their_rate[w], theirs[w] / ours[w]
        }
    }' "$1" "$scratch/theirs"
}
table "$scratch/ours"
if [ -n "$vectors" ]; then
    printf '\nThe same run without AMX (`BQNCO_CPU=avx512`):\n\n'
    table "$scratch/vectors"
fi
if [ -f "$scratch/rollouts" ]; then
    printf '\nGreedy rollouts with random weights (`bqnco bench net --only-rollouts`):\n\n```\n'
    cat "$scratch/rollouts"
    printf '```\n'
fi
