#!/bin/sh
# Adds up one region.
set -e
awk '{ sum += $1 } END { print sum }' "work/$1.txt" > "work/$1.sum"
echo "# cloudmesh status=done progress=100 pid=$$"
