#!/usr/bin/env bash
# Load on `bqnco serve` over loopback, beside `bqnco solve` on the same instances as a file, and requests that schemathesis
# makes from /openapi.json: benchmarks/server.md. Usage: benchmarks/server.sh [SECONDS of each load, default 60]; with 600
# it takes 35 minutes. Needs wrk, curl and schemathesis (PyPI; SCHEMATHESIS names it if it is not on the path). BQNCO names a
# binary that is already built.
set -euo pipefail
seconds=${1:-60}
schemathesis=${SCHEMATHESIS:-schemathesis}
for program in wrk curl "$schemathesis"; do
    command -v "$program" >/dev/null || { echo "$program is not installed" >&2 && exit 2; }
done
schemathesis=$(realpath "$(command -v "$schemathesis")")
. "$(dirname "$0")/program.sh"
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT

start() { # options of the server
    "$bqnco" serve --listen 127.0.0.1:0 --store "$folder/jobs.redb" "$@" >"$folder/out" 2>"$folder/log" &
    server=$!
    until grep -q listening "$folder/out"; do sleep 0.1; done
    url=$(sed 's/listening on //' "$folder/out")
}

stop() {
    kill "$server"
    wait "$server"
    server=
}

metric() { curl -sS "$url/metrics" | awk -v name="$1" '$1 == name { printf "%.0f", $2 }'; }
memory() { echo "$(($(metric bqnco_memory_bytes) / 1000000))"; }
cpu() { awk -v hertz="$(getconf CLK_TCK)" '{ printf "%.0f", ($14 + $15) * 1000 / hertz }' "/proc/$server/stat"; } # ms

cat >"$folder/post.lua" <<'LUA'
local bodies, k = {}, 0
for line in io.lines(os.getenv("SET")) do bodies[#bodies + 1] = line end
function request()
  k = k % #bodies + 1
  return wrk.format("POST", nil, nil, bodies[k])
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("%d %.2f %.0f %.0f %d\n", summary.requests, summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
LUA

load() { # name, connections, query, seconds
    local before requests rate median slow errors cpu_before
    before=$(memory) cpu_before=$(cpu)
    { sleep $(($4 / 2)) && memory >"$folder/middle"; } &
    read -r requests rate median slow errors < <(SET="$folder/set.jsonl" wrk -t 1 -c "$2" -d "${4}s" --timeout 60 \
        -s "$folder/post.lua" "$url/v1/solve?$3" | tail -1)
    wait $!
    printf '| %s, %s s | %s | %s | %s | %s | %s | %s, %s, %s |\n' "$1" "$4" "$rate" "$median" "$slow" "$errors" \
        "$((($(cpu) - cpu_before) / requests))" "$before" "$(cat "$folder/middle")" "$(memory)"
}

file() { # name, file, options of solve
    local name=$1 set=$2 began ended
    shift 2
    began=$(date +%s%N)
    "$bqnco" solve "$set" --quiet "$@" >/dev/null
    ended=$(date +%s%N)
    printf '| %s | %s | | | | | |\n' "$name" "$(awk "BEGIN { printf \"%.2f\", $(wc -l <"$set") / ($ended - $began) * 1e9 }")"
}

fuzz() { # until the time is over, each time with another seed
    local end=$((SECONDS + seconds)) seed=0
    while [ "$SECONDS" -lt "$end" ]; do
        seed=$((seed + 1))
        (cd "$folder" && exec timeout $((end - SECONDS + 5)) "$schemathesis" --no-color run "$url/openapi.json" --seed "$seed" --max-examples 200 \
            --checks not_a_server_error,response_schema_conformance) >"$folder/fuzz-$seed" 2>&1 || [ $? -eq 124 ] ||
            { cp "$folder/fuzz-$seed" benchmarks/server-fuzz.txt && failed="; the last failure is in server-fuzz.txt"; }
    done
    local requests failures
    requests=$(curl -sS "$url/metrics" | awk '/^bqnco_requests_total/ { sum += $2 } END { print sum }')
    failures=$(curl -sS "$url/metrics" | awk '/^bqnco_requests_total.*status="5/ { sum += $2 } END { print sum + 0 }')
    printf '%s s, %s requests, %s answers with a status of 500 or above%s; memory at the end %s MB.\n' \
        "$seconds" "$requests" "$failures" "${failed:-}" "$(memory)"
}

"$bqnco" generate cvrp --size 100 --count 64 -o "$folder/set.jsonl" >/dev/null 2>&1
for _ in $(seq 8); do cat "$folder/set.jsonl"; done >"$folder/long.jsonl" # so that the start of the program does not count
head -16 "$folder/set.jsonl" >"$folder/short.jsonl"
threads=$(nproc)
start --max-queue 256
rows=$(
    file "file: greedy" "$folder/long.jsonl" --search greedy
    load "greedy, 1 connection" 1 "search=greedy" $((seconds / 10 + 1))
    load "greedy, 16 connections" 16 "search=greedy" "$seconds"
    file "file: auto, 1 s" "$folder/short.jsonl" --time-limit 1
    load "auto, 1 s, $threads connections" "$threads" "search=auto&seconds=1" "$seconds"
)
stop
rm -f benchmarks/server-fuzz.txt
start --max-seconds 0.5 --max-size 200
fuzzed=$(fuzz)
stop
cat >benchmarks/server.md <<MD
# The server under load

\`benchmarks/server.sh $seconds\` on $threads cores of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(date +%F): \`bqnco serve\` over
loopback with wrk, which has its share of the same cores; random CVRP instances with 100 customers. Rows named "file" are
\`bqnco solve\` on the same instances as a file, all cores. CPU is that of the server's process.

| load | requests/s | p50 ms | p99 ms | errors | CPU ms per request | MB at start, middle, end |
|---|---|---|---|---|---|---|
$rows

Greedy requests that wait at the same time share the network's passes: compare the CPU per request of 1 and 16 connections.

## Requests made from /openapi.json

schemathesis, with every operation and a new seed per run: $fuzzed
MD
cat benchmarks/server.md
