#!/bin/sh
# A workflow that runs each second. Three of its runs are shown, then it is paused and deleted.
set -eu
atoll=${ATOLL:-atoll}
here=$(dirname "$0")
name=tick-$$

"$atoll" schedule create "$name" "$here/tick.yaml" --calendar '*:*:*' --overlap allow --param-from-time at --quiet >/dev/null
trap '"$atoll" schedule delete "$name" --yes --quiet >/dev/null' EXIT

runs() { "$atoll" schedule show "$name" -o json | jq -r '.firings | reverse | .[] | select(.state == "opened") | .workflow'; }
until [ "$(runs | wc -l)" -ge 3 ]; do sleep 0.2; done
"$atoll" schedule pause "$name" --quiet >/dev/null
for run in $(runs | head -n 3); do
  until job=$("$atoll" workflow steps "$run" -o json | jq -er '.[] | select(.outcome == "succeeded") | .job'); do sleep 0.1; done
  "$atoll" logs "$job"
done
echo paused
