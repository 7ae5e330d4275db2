#!/usr/bin/env bash
# Makes README's table of results from the newest reports in benchmarks/results; --check only tests whether it is up to
# date. The table of a suite is made from DATE-SUITE.csv, the results.csv of `bqnco eval`.
set -euo pipefail
cd "$(dirname "$0")/.."
begin='<!-- results: made by benchmarks/summary.sh -->' end='<!-- /results -->'

newest() { # suite: its newest table
    find benchmarks/results -name "????-??-??-$1.csv" | sort | tail -n 1
}

# A row per problem and method, a column per size: mean gaps over instances, the paper's in brackets.
table1() {
    awk '
    function split_line(line, field,    n, k, c, quoted) { # fields of a CSV line, quotes taken off
        n = 1; field[1] = ""; quoted = 0
        for (k = 1; k <= length(line); k++) {
            c = substr(line, k, 1)
            if (c == "\"") quoted = !quoted
            else if (c == "," && !quoted) field[++n] = ""
            else field[n] = field[n] c
        }
        return n
    }
    NR == 1 { n = split_line($0, head); for (k = 1; k <= n; k++) at[head[k]] = k; next }
    {
        split_line($0, field)
        size = field[at["size"]]; line = field[at["problem"]] "\t" field[at["method"]]
        if (!(size in sizes)) { sizes[size]; order[++columns] = size }
        if (!(line in lines)) { lines[line]; listed[++rows] = line }
        solved[line, size]++
        if (field[at["gap"]] != "") { sum[line, size] += field[at["gap"]]; count[line, size]++ }
        published[line, size] = field[at["published"]]
    }
    END {
        printf "| problem | method |"; for (k = 1; k <= columns; k++) printf " %s |", order[k]; printf "\n|---|---|"
        for (k = 1; k <= columns; k++) printf "---|"; printf "\n"
        printf "| | instances |"; for (k = 1; k <= columns; k++) printf " %d |", solved[listed[1], order[k]]; printf "\n"
        for (r = 1; r <= rows; r++) {
            split(listed[r], name, "\t"); printf "| %s | %s |", toupper(name[1]), name[2]
            for (k = 1; k <= columns; k++) {
                key = listed[r] SUBSEP order[k]
                cell = key in count ? sprintf("%.2f %%", sum[key] / count[key]) : "-"
                sub(/^-0\.00/, "0.00", cell)
                printf " %s%s |", cell, published[key] == "" ? "" : " (" published[key] ")"
            }
            printf "\n"
        }
    }' "$1"
}

section() {
    local file report
    echo "$begin"
    file=$(newest table1)
    if [ -n "$file" ]; then
        report=${file%.csv}.md
        echo "Mean gap on random instances by size, in brackets what the paper prints for the same search with its network"
        echo "([all figures, networks, references and the machine]($report)):"
        echo
        table1 "$file"
        for picture in "${file%.csv}"-tsp.svg; do
            [ ! -f "$picture" ] || printf '\n![gap against time](%s)\n' "$picture"
        done
    fi
    echo "$end"
}

made=$(section)
now=$(awk -v begin="$begin" -v end="$end" '$0 == begin { show = 1 } show { print } $0 == end { show = 0 }' README.md)
if [ "${1:-}" = --check ]; then
    if [ "$made" != "$now" ]; then
        echo "README.md does not show what benchmarks/results says; run benchmarks/summary.sh" >&2
        diff <(echo "$now") <(echo "$made") >&2 || true
        exit 1
    fi
    exit 0
fi
if [ -z "$now" ]; then
    echo "README.md has no line '$begin'" >&2
    exit 1
fi
MADE=$made awk -v begin="$begin" -v end="$end" '
    $0 == begin { print ENVIRON["MADE"]; hidden = 1 }
    !hidden { print }
    $0 == end { hidden = 0 }' README.md >README.md.tmp
mv README.md.tmp README.md
