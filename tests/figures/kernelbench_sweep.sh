#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# KernelBench tasks on the GPUs of a machine, in calls of at most SECONDS each: the same call goes on. FOLDER/PART.jsonl gets what is
# finished, compact, and is all that has to be kept between two machines: put it back, and a fresh machine goes on at the same commit.
# Tasks are drawn in a fixed random order, none begins in the last TAIL seconds of a call, and those that began are ended: the tasks
# with a row are a fair sample wherever the last call ended. Ends with 0 once every task of every part has its row, with 75 before.
#   sh tests/figures/kernelbench_sweep.sh PART,PART… BINARY KERNELBENCH FOLDER [SECONDS [OPTION…]]
# The parts, in the order in which they are named; KERNELBENCH holds main/levelN and v0/levelN:
#   main, v0    both sizes, levels 1 to 3; main-12, v0-3 … only these levels
#   repeat1, repeat2 …   level 1 of v0 again, with other secret inputs (seeds from 2; the others have 1); `kernelbench_rows.py same` compares them
#   answers     the published answers in $ANSWERS to the tasks of v0
#   all         what is worth most first: v0-12,main-12,repeat1,repeat2,v0-3,main-3,answers,repeat3,repeat4 (answers where $ANSWERS is set)
#   interrupt   how long a sweep of four jobs takes to end after an interrupt, and whether a row that it told is missing
# One part alone may be cut into shards for several machines, each with a FOLDER of its own: OPTION is given to cudal1, such as --shard 1/4.
# On one GPU, all of it, ten minutes at a time; what is left and how long it will take is printed at the end of each call:
#   sh tests/figures/kernelbench_sweep.sh all build/release/cli/cudal1 KernelBench "$OUT" 590
# Then rows and page: sh tests/figures/kernelbench_sweep.sh page FOLDER [h200]
# A part that has all its rows is left out; with AGAIN=1 its tasks that failed are tried again.
# TAIL (40 to 120 s, by part), JOBS (four a GPU), DEVICE (auto; sim without a GPU) and COMMIT come from the environment.
set -eu
figures=$(dirname "$0")
if [ "$1" = page ]; then
  for rows in "$2"/*.jsonl; do
    part=$(basename "$rows" .jsonl)
    case $part in repeat* | interrupt) continue ;; esac
    python3 "$figures/kernelbench_rows.py" renew "$rows" "$figures/kernelbench_results/${part%%-*}-${3:-h200}.jsonl"
  done
  [ ! -s "$2/repeat1.jsonl" ] || python3 "$figures/kernelbench_rows.py" same $(ls "$2"/v0-12.jsonl "$2"/repeat*.jsonl 2>/dev/null)
  exec python3 "$figures/kernelbench_page.py"
fi
parts=$1 binary=$2 tasks=$3 folder=$4 seconds=${5:-590}
if [ $# -gt 5 ]; then shift 5; else set --; fi
[ "$parts" != all ] || parts=v0-12,main-12,repeat1,repeat2,v0-3,main-3,${ANSWERS:+answers,}repeat3,repeat4
ends=$(($(date +%s) + seconds))
gpus=$(nvidia-smi -L 2>/dev/null | wc -l)
device=${DEVICE:-$([ "$gpus" -gt 0 ] && echo auto || echo sim)}
jobs=${JOBS:-$([ "$gpus" -gt 0 ] && echo $((4 * gpus)) || echo 2)}
commit=${COMMIT:-$(git -C "$figures" rev-parse --short HEAD 2>/dev/null || echo unknown)}
mkdir -p "$folder"

# arguments_of PART: what cudal1 is given for it, a line each.
arguments_of() {
  case $1 in
  main* | v0*)
    printf '%s\n' sweep "$tasks/${1%%-*}" --rounds 1 --samples 2 --order random
    case $1 in *-*) printf '%s\n' --level "$(echo "${1#*-}" | sed 's/./&,/g; s/,$//')" ;; esac ;;
  repeat*) printf '%s\n' sweep "$tasks/v0" --level 1 --rounds 1 --samples 2 --order random --baseline eager --seed $((${1#repeat} + 1)) ;;
  answers) printf '%s\n' verify --answers "$ANSWERS" --tasks "$tasks/v0" --order random ;;
  interrupt) printf '%s\n' sweep "$tasks/v0" --level 1 --rounds 1 --samples 2 --order random --baseline eager ;;
  *) echo "main, v0, main-12, v0-3 …, repeat1, repeat2 …, answers, all or interrupt, not $1" >&2; exit 2 ;;
  esac
}

# The seconds before a call's end in which no task of a part begins: about what its longest take.
tail_of() {
  case $1 in
  v0-12 | repeat*) echo "${TAIL:-40}" ;;
  main-12 | answers) echo "${TAIL:-75}" ;;
  *) echo "${TAIL:-120}" ;;
  esac
}

# shard_in OPTION…: I/N of --shard, nothing without one.
shard_in() { printf '%s\n' "$@" | sed -n '/^--shard$/{n;p;}; s/^--shard=//p'; }

# journal_of PLACE SHARD: where cudal1 keeps it.
journal_of() {
  case $2 in
  '' | 1/1) echo "$1/journal.jsonl" ;;
  [1-9]*/[1-9]*) echo "$1/shard-${2%/*}-of-${2#*/}/journal.jsonl" ;;
  *) echo "--shard I/N, not $2" >&2; return 2 ;;
  esac
}

# one_part PART OPTION…: until its end or until time is up. Its caller asks how it ended, so that set -e does not hold here.
one_part() {
  part=$1 place=$folder/$1 rows=$folder/$1.jsonl began=$(date +%s)
  shift
  left=$((ends - began - 10)) begin=$((ends - began - $(tail_of "$part")))
  [ "$begin" -gt 0 ] || return 75
  if [ -s "$rows" ] && grep -o '"commit":"[^"]*"' "$rows" | grep -qv "\"$commit\""; then
    echo "$rows is of another commit than $commit; give another FOLDER" >&2
    return 2
  fi
  journal=$(journal_of "$place" "$(shard_in "$@")") || return 2
  if [ -z "${AGAIN:-}" ] && [ -s "$rows" ] && python3 "$figures/kernelbench_rows.py" complete "$rows" "$(shard_in "$@")"; then
    echo "$part: every task has its row; AGAIN=1 tries those again that failed"
    return 0
  fi
  mkdir -p "$(dirname "$journal")" || return 1
  before=$(grep -c '"key"' "$rows" 2>/dev/null || true)
  if [ -s "$rows" ] && [ ! -s "$journal" ]; then cp "$rows" "$journal" || return 1; fi
  arguments=$(arguments_of "$part") || return 2
  ended=0
  (IFS='
'
    exec timeout --signal=INT --kill-after=8 "$left" "$binary" $arguments "$@" --device "$device" --jobs "$jobs" --begin-within "$begin" --out "$place") \
    > "$place/last.txt" || ended=$?
  if [ -s "$journal" ]; then
    python3 "$figures/kernelbench_rows.py" compact "$journal" "$rows" "$commit" || return 1
    python3 "$figures/kernelbench_rows.py" spent "$rows" "$place/calls" $(($(date +%s) - began)) "${before:-0}" || return 1
    python3 "$figures/kernelbench_rows.py" table "$rows" || return 1
  fi
  case $ended in
  0 | 8) return 0 ;;
  75 | 124 | 130) return 75 ;;
  *) return "$ended" ;;
  esac
}

# A sweep of four jobs gets SIGINT in the midst of its tasks.
interrupted() {
  place=$folder/interrupt
  rm -rf "$place"
  mkdir -p "$place"
  (IFS='
'
    exec "$binary" $(arguments_of interrupt) "$@" --device "$device" --jobs 4 --out "$place") > "$place/last.txt" 2> "$place/told.txt" &
  sweep=$!
  waited=0
  while [ "$(grep -c '^\[' "$place/told.txt" || true)" -lt 2 ] && [ "$waited" -lt $((seconds - 20)) ] && kill -0 "$sweep" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
  done
  at=$(date +%s%N)
  kill -INT "$sweep"
  ended=0
  wait "$sweep" || ended=$?
  took=$((($(date +%s%N) - at) / 1000000))
  told=$(grep -c '^\[' "$place/told.txt" || true)
  kept=$(grep -c '"key"' "$place/journal.jsonl" || true)
  echo "interrupt: ended with $ended after $took ms; told $told rows, kept $kept"
  [ "$ended" -eq 130 ] && [ "$took" -le 10000 ] && [ "$told" -gt 0 ] && [ "$kept" -ge "$told" ]
}

last=0
for part in $(echo "$parts" | tr , ' '); do
  code=0
  if [ "$part" = interrupt ]; then interrupted "$@" || code=$?; else one_part "$part" "$@" || code=$?; fi
  [ "$code" -ne 75 ] || echo "$part: time is up; the same command goes on"
  last=$code
  [ "$code" -eq 0 ] || break
done
python3 "$figures/kernelbench_rows.py" left "$folder" "$tasks" "$parts"
exit "$last"
