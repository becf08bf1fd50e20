#!/bin/sh
# A week of made-up work on ten nodes, under two policies side by side. Needs no server.
set -e
here=$(dirname "$0")
atoll=${ATOLL:-atoll}
trace=$(mktemp)
trap 'rm -f "$trace"' EXIT
"$atoll" simulate generate --days 7 --jobs 5000 --nodes 10 --groups 4 --load 1.0 --seed 7 > "$trace"
"$atoll" simulate --trace "$trace" --config "$here/even.yaml" --config "$here/lent.yaml" "$@"
