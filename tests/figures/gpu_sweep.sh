#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The modules of tests/kernelbench with real sizes as a sweep on a GPU: killed with kill -9 and gone on with, and its
# second level again in four shards that are merged. Needs a GPU and PyTorch for it. Prints what must be equal.
#   sh tests/figures/gpu_sweep.sh build/release/cli/cudal1 DIR
set -eu
binary=$(realpath "$1")
figures=$(realpath "$(dirname "$0")")
mkdir -p "$2" && cd "$2"
python3 "$figures/../kernelbench/real_sizes.py" real
sweep="sweep real --device cuda:0 --rounds 1 --samples 2 --no-sanitizer"

"$binary" $sweep --out main & process=$!
while [ "$(cat main/journal.jsonl 2>/dev/null | wc -l)" -lt 11 ] && kill -0 $process 2>/dev/null; do sleep 0.2; done
kill -9 $process
cp main/journal.jsonl before.jsonl
"$binary" $sweep --out main --export kernelbench --export torch --export host || true
for shard in 1 2 3 4; do "$binary" $sweep --level 2 --shard $shard/4 --out shards > /dev/null || true; done
"$binary" sweep --merge shards/shard-*-of-4 --json > merged.json
python3 - <<'PYTHON'
import json
before, after = (open(path).read().splitlines() for path in ("before.jsonl", "main/journal.jsonl"))
rows = {row["key"]: row for row in map(json.loads, after[1:])}
print(f"killed after {len(before) - 1} tasks; now {len(after) - 1} rows of {len(rows)} tasks; "
      f"rows from before the kill {'unchanged' if after[:len(before)] == before else 'CHANGED'}")
merged = json.load(open("merged.json"))
for row in merged["tasks"]:
    print(row["key"], *(f"{each['status']} {each['verdict']}" for each in (row, rows[row["key"]])), sep="; ")
print("remarks of the merge:", merged["remarks"])
PYTHON
