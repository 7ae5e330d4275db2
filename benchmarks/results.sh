#!/usr/bin/env bash
# Evaluates networks and baselines as in the paper's tables and ablations and keeps the dated reports in benchmarks/results
# (csv, md, svg); then updates README's table. An interrupted run resumes, on the same day or with DATE.
#   MODELS      folders of networks, comma-separated (default: the built-in ones); the ablations train their own
#   INSTANCES   random instances with 100 nodes, fewer of larger ones (default: 252, and then 90, 23 and 8 of 200, 500 and
#               1000; of the knapsacks 100, 26 and 9 with 200, 500 and 1000 items; of table 4 23 and 9 of 500 and 1000)
#   DATA        folder of public instances (default: ../shared/data, or BQNCO_DATA); missing sets are skipped
#   SUITES      suites to run (default: all): table1 (table 1), tsplib and cvrplib (table 2), kp (table 3), knn (table 4),
#               perceiver, approximate and order (appendix E.1 to E.3), oplib, atsp
#   DATE        of the reports (default: today)
#   BQNCO       the binary (default: built from this checkout)
set -euo pipefail
. "$(dirname "$0")/program.sh"
cd "$(dirname "$0")/.."
data=${DATA:-${BQNCO_DATA:-../shared/data}} instances=${INSTANCES:-252} date=${DATE:-$(date -u +%Y-%m-%d)}
suites=${SUITES:-table1 tsplib cvrplib kp knn perceiver approximate order oplib atsp}

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

wanted() { # suite
    case " $suites " in *" $1 "*) ;; *) return 1 ;; esac
}

keep() { # suite, folder of its report
    local kept=benchmarks/results/$date-$1 picture
    mkdir -p benchmarks/results
    cp "$2/results.csv" "$kept.csv"
    cp "$2/report.md" "$kept.md"
    for picture in "$2"/gap-time-*.svg; do
        cp "$picture" "$kept-$(basename "${picture#*gap-time-}")"
    done
}

evaluate() { # suite, problems, arguments
    local suite=$1 problems=$2 report=runs/results/$date-$1
    shift 2
    wanted "$suite" || return 0
    # shellcheck disable=SC2046,SC2086
    "$bqnco" eval "$suite" --report "$report" $(networks $problems) "$@" >/dev/null
    keep "$suite" "$report"
}

ablate() { # suite: its networks are trained first
    wanted "$1" || return 0
    benchmarks/appendix_e.sh "runs/results/$date-appendix-e" "$1"
    keep "$1" "runs/results/$date-appendix-e/$1"
}

evaluate table1 "tsp cvrp op atsp" --instances "$instances"
for library in "tsplib tsp tsplib" "cvrplib cvrp cvrplib" "oplib op op" "atsp atsp atsp"; do
    read -r suite problem folder <<<"$library"
    [ ! -d "$data/$folder" ] || evaluate "$suite" "$problem" --data "$data/$folder"
done
evaluate kp knapsack --instances $((instances > 2 ? 2 * instances / 5 : 1)) # the smallest have 200 items
for ablation in perceiver approximate order; do
    ablate "$ablation"
done
evaluate knn "tsp cvrp" --instances $(((instances + 10) / 11)) # the smallest have 500 nodes, and take longest
benchmarks/summary.sh
