#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Judges the honest variants on the simulator and counts those that were refused; ends with 1 when any was.
#
#   every.sh FOLDER CHEATS [SEEDS [what table.py takes]]
#
# FOLDER takes the kernel files, CHEATS is the program of tests/cheats. DEVICE=cuda:0 judges them on a GPU.
set -eu
folder=$1 cheats=$2 seeds=${3:-10}
[ $# -le 3 ] && set -- "$1" "$2" "$seeds"
shift 3
here=$(dirname "$0")
PYTHONDONTWRITEBYTECODE=1 python3 "$here/table.py" "$folder" "$@"
seed=1 refused=0 runs=0
while [ "$seed" -le "$seeds" ]; do
  if "$cheats" "${DEVICE:-sim}" --folder "$folder" --seed "$seed" > "$folder/seed$seed.txt"; then :; else
    [ $? -eq 77 ] && { cat "$folder/seed$seed.txt"; exit 77; }
  fi
  grep '^FAIL' "$folder/seed$seed.txt" | sed "s/^/seed $seed: /" || true
  refused=$((refused + $(grep -c '^FAIL' "$folder/seed$seed.txt" || true)))
  runs=$((runs + $(grep -c '^ok  \|^FAIL' "$folder/seed$seed.txt" || true)))
  seed=$((seed + 1))
done
echo "$refused refused of $runs runs"
[ "$runs" -gt 0 ] && [ "$refused" -eq 0 ]
