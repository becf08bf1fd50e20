#!/bin/sh
# Makes 24 files, puts their names into a queue, and runs the workflow that fetches them.
set -e
atoll=${ATOLL:-atoll}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
queue=fetches-$$
mkdir "$work/archive"
for i in $(seq 1 24); do
  seq 1 $((i * 100)) >"$work/archive/part-$i.txt"
done
"$atoll" queue create "$queue"
ls "$work"/archive/*.txt | "$atoll" queue put "$queue" -
cp "$here/fetch.yaml" "$work"
cd "$work"
"$atoll" run fetch.yaml --set queue="$queue"
"$atoll" workflow outputs last fetch
"$atoll" queue delete "$queue" --yes
rm -rf "$work"
