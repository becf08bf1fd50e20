#!/bin/sh
#ATOLL --name count --cpus 1 --mem 64Mi --time 5m
# Counts to 30 in slices of 10. After a slice it saves where it is and leaves with exit code 85, which asks Atoll to
# run it again; the next attempt finds the checkpoint and goes on. Training loops do the same with their model.
checkpoint=$ATOLL_CHECKPOINT_DIR/at
at=0
if [ -f "$checkpoint" ]; then
    at=$(cat "$checkpoint")
    echo "attempt $ATOLL_ATTEMPT resumes at $at"
else
    echo "attempt $ATOLL_ATTEMPT starts at 0"
fi

slice=0
while [ "$at" -lt 30 ]; do
    if [ "$slice" -eq 10 ]; then
        echo "$at" >"$checkpoint.new" && mv "$checkpoint.new" "$checkpoint"
        echo "checkpoint at $at"
        exit 85
    fi
    at=$((at + 1))
    slice=$((slice + 1))
    sleep 0.05
done
echo "reached $at"
