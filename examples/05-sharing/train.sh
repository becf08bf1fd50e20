#!/bin/sh
#ATOLL --name train --tier opportunistic --grace 1m --mem 64Mi --time 10m
# Uses whatever is left over. When others need the room it gets SIGTERM, finds in $ATOLL_NOTICE_FILE why and until when,
# saves where it is, and leaves a note that it did. Atoll runs it again by itself, and it goes on from there.
checkpoint=$ATOLL_CHECKPOINT_DIR/at
at=0
[ -f "$checkpoint" ] && at=$(cat "$checkpoint") && echo "resumes at $at"

make_room() {
    echo "asked to go: $(cat "$ATOLL_NOTICE_FILE")"
    echo "$at" >"$checkpoint.new" && mv "$checkpoint.new" "$checkpoint"
    touch "$ATOLL_CHECKPOINT_NOTE"
    echo "saved at $at"
    exit 0
}
trap make_room TERM

echo counting
while [ "$at" -lt 100 ]; do
    at=$((at + 1))
    sleep 0.05
done
echo "reached $at"
