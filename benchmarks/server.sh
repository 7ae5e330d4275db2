#!/usr/bin/env bash
# Load on `bqnco serve` over loopback: requests per second, latency and memory, beside `bqnco solve` on the same
# instances as a file. Needs wrk and curl. Usage: benchmarks/server.sh [SECONDS per load, default 60]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
bqnco=${BQNCO:-target/release/bqnco}
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT

"$bqnco" generate cvrp --size 100 --count 64 -o "$folder/set.jsonl" >/dev/null 2>&1
"$bqnco" serve --listen 127.0.0.1:0 --store "$folder/jobs.redb" --max-queue 256 >"$folder/out" &
server=$!
until grep -q listening "$folder/out"; do sleep 0.1; done
url=$(sed 's/listening on //' "$folder/out")

cat >"$folder/post.lua" <<'LUA'
local bodies, k = {}, 0
for line in io.lines(os.getenv("SET")) do bodies[#bodies + 1] = line end
function request()
  k = k % #bodies + 1
  return wrk.format("POST", nil, nil, bodies[k])
end
function done(summary, latency)
  io.write(string.format("%.1f requests/s, p50 %.0f ms, p99 %.0f ms, %d errors\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, summary.errors.status + summary.errors.read + summary.errors.timeout))
end
LUA

memory() { curl -sS "$url/metrics" | awk '/^bqnco_memory_bytes / { printf "%.0f MB", $2 / 1e6 }'; }
load() { # name, connections, query
    local before
    before=$(memory)
    printf '%-28s %s' "$1" "$(SET="$folder/set.jsonl" wrk -t 1 -c "$2" -d "${seconds}s" --timeout 60 -s "$folder/post.lua" "$url/v1/solve?$3" | tail -1)"
    printf ', memory %s to %s\n' "$before" "$(memory)"
}

printf '%-28s %s\n' "file, greedy" "$("$bqnco" solve "$folder/set.jsonl" --search greedy --quiet | tail -1)"
load "greedy, 1 connection" 1 "search=greedy"
load "greedy, 16 connections" 16 "search=greedy"
load "auto 1 s, 2 connections" 2 "search=auto&seconds=1"
