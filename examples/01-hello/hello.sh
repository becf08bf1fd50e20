#!/bin/sh
#ATOLL --name hello --cpus 1 --mem 64Mi --time 1m
# Says where it runs and counts to five, one line every 0.3 seconds, so that there is something to watch.
echo "Hello from job $ATOLL_JOB_ID on $(hostname), in $PWD"
for step in 1 2 3 4 5; do
    sleep 0.3
    echo "step $step of 5"
done
echo "done"
