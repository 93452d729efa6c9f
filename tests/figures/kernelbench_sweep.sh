#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A folder of KernelBench tasks on a GPU, in calls of at most SECONDS each: the same call goes on. ROWS gets what is finished,
# compact, and is all that has to be kept between two machines. Ends with 0 once every task has its row, with 75 before.
#   sh tests/figures/kernelbench_sweep.sh sweep BINARY TASKS FOLDER ROWS [SECONDS [OPTION…]]
#   sh tests/figures/kernelbench_sweep.sh answers BINARY TASKS FOLDER ROWS ANSWERS [SECONDS [OPTION…]]
# Both sizes, level 1 to 3, and the published answers to the smaller ones, on one GPU and three tasks at a time:
#   sh tests/figures/kernelbench_sweep.sh sweep build/release/cli/cudal1 KernelBench/main build/kb-main tests/figures/kernelbench_results/main-h200.jsonl 570
#   sh tests/figures/kernelbench_sweep.sh sweep build/release/cli/cudal1 KernelBench/v0 build/kb-v0 tests/figures/kernelbench_results/v0-h200.jsonl 570 --jobs 3
#   sh tests/figures/kernelbench_sweep.sh answers build/release/cli/cudal1 KernelBench/v0 build/kb-a tests/figures/kernelbench_results/answers-h200.jsonl h100.json 570
# Then: python3 tests/figures/kernelbench_page.py
set -eu
kind=$1 binary=$2 tasks=$3 folder=$4 rows=$5
shift 5
if [ "$kind" = answers ]; then answers=$1; shift; fi
seconds=${1:-570}
[ $# -eq 0 ] || shift
figures=$(dirname "$0")
commit=${COMMIT:-$(git -C "$figures" rev-parse --short HEAD 2>/dev/null || echo unknown)}
mkdir -p "$folder" "$(dirname "$rows")"
# A fresh machine goes on from the rows.
if [ -s "$rows" ] && [ ! -s "$folder/journal.jsonl" ]; then cp "$rows" "$folder/journal.jsonl"; fi
code=0
case $kind in
sweep) timeout --signal=INT --kill-after=20 "$seconds" "$binary" sweep "$tasks" --out "$folder" --rounds 1 --samples 2 "$@" > "$folder/last.txt" || code=$? ;;
answers) timeout --signal=INT --kill-after=20 "$seconds" "$binary" verify --answers "$answers" --tasks "$tasks" --out "$folder" "$@" > "$folder/last.txt" || code=$? ;;
*) echo "sweep or answers, not $kind" >&2; exit 2 ;;
esac
[ -s "$folder/journal.jsonl" ] || exit "$code"
python3 "$figures/kernelbench_rows.py" compact "$folder/journal.jsonl" "$rows" "$commit"
python3 "$figures/kernelbench_rows.py" table "$rows"
case $code in
0 | 8) exit 0 ;;
124 | 130) echo "time is up; the same command goes on"; exit 75 ;;
*) exit "$code" ;;
esac
