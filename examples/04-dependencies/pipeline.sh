#!/bin/sh
# Three jobs in order: make numbers, add them up, report. Run it yourself (it is not a job): ./pipeline.sh
# `atoll submit` prints the id of the new job; --after takes it. If one fails, those after it are skipped.
set -e
atoll=${ATOLL:-atoll}
work=$(mktemp -d)

make=$("$atoll" submit --name make --dir "$work" -- sh -c 'seq 1 100 >numbers')
add=$("$atoll" submit --name add --dir "$work" --after "$make" -- \
    sh -c 'sum=0; while read -r n; do sum=$((sum + n)); done <numbers; echo "$sum" >sum')
"$atoll" run --name report --dir "$work" --after "$add" -- sh -c 'echo "the sum is $(cat sum)"'
rm -r "$work"
