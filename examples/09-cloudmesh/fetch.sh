#!/bin/sh
# Makes the data; the lines that begin with "# cloudmesh" drive the bar.
set -e
mkdir -p work
for region in north south west; do
  seq 1 100 > "work/$region.txt"
done
for percent in 25 50 75 100; do
  echo "# cloudmesh status=running progress=$percent pid=$$"
done
