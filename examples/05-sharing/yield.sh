#!/bin/sh
# Fills the machine with opportunistic work, asks for all of it interactively, and shows what became of the former.
set -eu
atoll=${ATOLL:-atoll}
here=$(dirname "$0")
cpus=$("$atoll" site show local -o json | sed -n 's/^ *"cpus": \([0-9]*\).*/\1/p' | head -n 1)

train=$("$atoll" submit --cpus "$cpus" "$here/train.sh")
until "$atoll" logs "$train" | grep -q counting; do sleep 0.1; done
"$atoll" run --cpus "$cpus" --mem 64Mi --tier interactive -- echo "somebody sits here now"
"$atoll" wait "$train"
"$atoll" logs "$train.1"
"$atoll" logs "$train.2"
