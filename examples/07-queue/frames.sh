#!/bin/sh
# A durable queue and three workers: each frame is rendered once, whoever dies on the way.
set -eu
atoll=${ATOLL:-atoll}
queue=frames-$$
"$atoll" queue create "$queue" --attempts 3
seq -f 'frame %g' 12 | "$atoll" queue put "$queue" -
"$atoll" queue close "$queue"
# Frame 7 fails at its first attempt and is given back.
"$atoll" queue work "$queue" --parallel 3 -- sh -c '
  if [ "$ATOLL_ITEM" = "frame 7" ] && [ "$ATOLL_ITEM_ATTEMPT" = 1 ]; then exit 1; fi
  echo "rendered $ATOLL_ITEM"'
"$atoll" queue stats "$queue"
"$atoll" queue delete "$queue" --yes
