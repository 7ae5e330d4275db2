#!/usr/bin/env bash
# Gap against time of every search, and overruns of time limits: benchmarks/search.md and its charts.
# INSTANCES per problem (default: 128, about two and a quarter hours of one otherwise idle core). An interrupted run
# resumes. BQNCO names the binary (default: built from this checkout).
set -euo pipefail
. "$(dirname "$0")/program.sh"
cd "$(dirname "$0")/.."
folder=runs/search
"$bqnco" eval search --threads 1 --instances "${INSTANCES:-128}" --report "$folder" >/dev/null
limits=$(
    "$bqnco" bench deadlines --problem tsp --sizes 100,1000,10000
    "$bqnco" bench deadlines --problem cvrp --sizes 100,1000 | tail -n +3
)
rm -f benchmarks/search-*.{csv,svg}
cp "$folder/results.csv" benchmarks/search.csv
for picture in "$folder"/gap-time-*.svg; do
    cp "$picture" "benchmarks/search-${picture##*gap-time-}"
done
{
    cat "$folder/report.md"
    printf '\n## Gap against time\n'
    for picture in benchmarks/search-*.svg; do
        printf '\n![gap against time](%s)\n' "$(basename "$picture")"
    done
    printf '\n## Time limits\n\nBy how much a search overran its time limit, once each; reading files and loading the network come before:\n\n%s\n' "$limits"
} >benchmarks/search.md
