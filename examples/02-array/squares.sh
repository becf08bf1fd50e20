#!/bin/sh
#ATOLL --name squares --cpus 0.5 --mem 64Mi --time 1m --array 1-20%4
# One task per index, at most four at a time. Each sees its own index.
echo "$ATOLL_ARRAY_INDEX squared is $((ATOLL_ARRAY_INDEX * ATOLL_ARRAY_INDEX))"
