#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The modules of tests/kernelbench with real sizes as a sweep on a GPU: killed with kill -9 and gone on with; then its
# replies again for four modules, in one piece and in four shards that are merged. Needs a GPU and PyTorch for it. Prints
# what must be equal, and what each task took.
#   sh tests/figures/gpu_sweep.sh build/release/cli/cudal1 DIR [sweep|shards]
set -eu
binary=$(realpath "$1")
figures=$(realpath "$(dirname "$0")")
parts=${3:-sweep shards}
mkdir -p "$2" && cd "$2"
python3 "$figures/../kernelbench/real_sizes.py" real
sweep="sweep real --device cuda:0 --rounds 1 --samples 2 --no-sanitizer"

case $parts in *sweep*)
  "$binary" $sweep --out main & process=$!
  while [ "$(cat main/journal.jsonl 2>/dev/null | wc -l)" -lt 11 ] && kill -0 $process 2>/dev/null; do sleep 0.2; done
  kill -9 $process
  cp main/journal.jsonl before.jsonl
  "$binary" $sweep --out main --format markdown || true
  python3 "$figures/sweep_rows.py" killed before.jsonl main/journal.jsonl
esac
case $parts in *shards*)
  again="$sweep --level 2 --id 1,2,4,6 --baseline eager --model replay:main"
  "$binary" $again --out whole > /dev/null || true
  for shard in 1 2 3 4; do "$binary" $again --shard $shard/4 --out shards > /dev/null || true; done
  "$binary" sweep --merge shards/shard-*-of-4 --json > merged.json
  python3 "$figures/sweep_rows.py" merged whole/summary.json merged.json
esac
