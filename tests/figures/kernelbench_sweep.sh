#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# KernelBench tasks on the GPUs of a machine, in calls of at most SECONDS each: the same call goes on. FOLDER/PART.jsonl gets what is
# finished, compact, and is all that has to be kept between two machines: put it back, and a fresh machine goes on. Tasks are drawn in
# a fixed random order, none begins in the last TAIL seconds of a call, and those that began are ended: the tasks with a row are a fair
# sample wherever the last call ended. Ends with 0 once every task of every part has its row, with 75 before.
#   sh tests/figures/kernelbench_sweep.sh PART,PART… BINARY KERNELBENCH FOLDER [SECONDS [OPTION…]]
# The parts, in the order in which they are named; KERNELBENCH holds main/levelN and v0/levelN:
#   main, v0    both sizes, levels 1 to 3
#   repeat1, repeat2 …   level 1 of v0 again, with other secret inputs; `kernelbench_rows.py same` compares them
#   answers     the published answers in $ANSWERS to the tasks of v0
# One part alone may be cut into shards for several machines: OPTION is given to cudal1, such as --shard 1/4.
# On two GPUs, six tasks at a time:
#   sh tests/figures/kernelbench_sweep.sh main,v0 build/release/cli/cudal1 KernelBench "$OUT" 590
# Then the page: sh tests/figures/kernelbench_sweep.sh page FOLDER [h200]
# TAIL (150), JOBS (three a GPU), DEVICE (auto; sim without a GPU) and COMMIT come from the environment.
set -eu
figures=$(dirname "$0")
if [ "$1" = page ]; then
  for rows in "$2"/*.jsonl; do
    part=$(basename "$rows" .jsonl)
    case $part in repeat*) continue ;; esac
    python3 "$figures/kernelbench_rows.py" renew "$rows" "$figures/kernelbench_results/$part-${3:-h200}.jsonl"
  done
  [ ! -s "$2/repeat1.jsonl" ] || python3 "$figures/kernelbench_rows.py" same "$2"/repeat*.jsonl
  exec python3 "$figures/kernelbench_page.py"
fi
parts=$1 binary=$2 tasks=$3 folder=$4 seconds=${5:-590}
if [ $# -gt 5 ]; then shift 5; else set --; fi
ends=$(($(date +%s) + seconds))
gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
device=${DEVICE:-$([ "$gpus" -gt 0 ] && echo auto || echo sim)}
jobs=${JOBS:-$([ "$gpus" -gt 0 ] && echo $((3 * gpus)) || echo 2)}
commit=${COMMIT:-$(git -C "$figures" rev-parse --short HEAD 2>/dev/null || echo unknown)}
mkdir -p "$folder"

# one_part PART OPTION…: until its end or until time is up.
one_part() {
  part=$1 place=$folder/$1 rows=$folder/$1.jsonl
  shift
  left=$((ends - $(date +%s) - 10)) begin=$((ends - $(date +%s) - ${TAIL:-150}))
  [ "$begin" -gt 0 ] || return 75
  mkdir -p "$place"
  if [ -s "$rows" ] && [ ! -s "$place/journal.jsonl" ]; then cp "$rows" "$place/journal.jsonl"; fi
  case $part in
  main | v0) set -- sweep "$tasks/$part" --rounds 1 --samples 2 --order random "$@" ;;
  repeat*) set -- sweep "$tasks/v0" --level 1 --rounds 1 --samples 2 --order random --baseline eager --seed "${part#repeat}" "$@" ;;
  answers) set -- verify --answers "$ANSWERS" --tasks "$tasks/v0" --order random "$@" ;;
  *) echo "main, v0, repeat1, repeat2 … or answers, not $part" >&2; return 2 ;;
  esac
  code=0
  timeout --signal=INT --kill-after=8 "$left" "$binary" "$@" --device "$device" --jobs "$jobs" --begin-within "$begin" --out "$place" > "$place/last.txt" || code=$?
  if [ -s "$place/journal.jsonl" ]; then
    python3 "$figures/kernelbench_rows.py" compact "$place/journal.jsonl" "$rows" "$commit"
    python3 "$figures/kernelbench_rows.py" table "$rows"
  fi
  case $code in
  0 | 8) return 0 ;;
  75 | 124 | 130) return 75 ;;
  *) return "$code" ;;
  esac
}

for part in $(echo "$parts" | tr , ' '); do
  code=0
  one_part "$part" "$@" || code=$?
  [ "$code" -ne 75 ] || echo "$part: time is up; the same command goes on"
  [ "$code" -eq 0 ] || exit "$code"
done
