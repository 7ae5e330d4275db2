#!/usr/bin/env bash
# Evaluates networks and baselines as in the paper's tables and keeps the dated reports in benchmarks/results (csv, md,
# svg); then updates README's table. An interrupted run resumes.
#   MODELS      folders of networks, comma-separated (default: the built-in ones)
#   INSTANCES   random instances of the smallest size, fewer of larger ones (default: 16)
#   DATA        folder of public instances (default: ../shared/data, or BQNCO_DATA); missing sets are skipped
#   SUITES      suites to run (default: table1 tsplib cvrplib oplib atsp kp)
set -euo pipefail
cd "$(dirname "$0")/.."
data=${DATA:-${BQNCO_DATA:-../shared/data}} instances=${INSTANCES:-16} date=$(date -u +%Y-%m-%d)
cargo build --release --quiet --package bqnco-cli
bqnco=$PWD/target/release/bqnco

MODELS=${MODELS:-}
for model in ${MODELS//,/ }; do
    [ -f "$model/config.json" ] || { echo "MODELS: $model is no folder of a network" >&2; exit 2; }
done

networks() { # problems of a suite: the networks for these
    local chosen=() model problem
    for model in ${MODELS//,/ }; do
        problem=$(sed -n 's/.*"problem": "\(.*\)".*/\1/p' "$model/config.json")
        case " $* " in *" $problem "*) chosen+=("$model") ;; esac
    done
    (IFS=,; [ ${#chosen[@]} -eq 0 ] || printf -- '--model %s' "${chosen[*]}")
}

evaluate() { # suite, problems, arguments
    local suite=$1 problems=$2 kept=benchmarks/results/$date-$1 report=runs/results/$date-$1 picture
    shift 2
    case " ${SUITES:-table1 tsplib cvrplib oplib atsp kp} " in *" $suite "*) ;; *) return 0 ;; esac
    # shellcheck disable=SC2046,SC2086
    "$bqnco" eval "$suite" --report "$report" $(networks $problems) "$@" >/dev/null
    mkdir -p benchmarks/results
    cp "$report/results.csv" "$kept.csv"
    cp "$report/report.md" "$kept.md"
    for picture in "$report"/gap-time-*.svg; do
        cp "$picture" "$kept-$(basename "${picture#*gap-time-}")"
    done
}

evaluate table1 "tsp cvrp op atsp" --instances "$instances"
evaluate kp knapsack --instances "$instances"
for library in "tsplib tsp tsplib" "cvrplib cvrp cvrplib" "oplib op op" "atsp atsp atsp"; do
    read -r suite problem folder <<<"$library"
    [ ! -d "$data/$folder" ] || evaluate "$suite" "$problem" --data "$data/$folder"
done
benchmarks/summary.sh
