#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job on a GPU, example by example: verdict, speed-up over the example, time, share of the limit, wall time.
#   on_gpu.sh CUDAL1 [EXAMPLE…]
# Needs a GPU; nvcc for the winner's host function and PyTorch for the copy, each left out with a word where absent.
set -eu
cudal1=$(realpath "$1")
shift
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../examples
[ $# -gt 0 ] || set -- diag_matmul
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for name in "$@"; do
  begin=$(date +%s.%N)
  "$cudal1" optimize "$examples/$name.cu" --device cuda:0 --model builtin --seed 1 -o "$name.best.cu" --json \
    >"$name.json" 2>"$name.log" || { echo "$name: exit $?"; tail -3 "$name.log"; }
  end=$(date +%s.%N)
  python3 - "$name" "$begin" "$end" <<'PYTHON'
import json, sys
name, begin, end = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
try:
    run = json.load(open(name + ".json"))
except ValueError:
    print(f"{name:22} no result"); sys.exit()
best = run["best"]
if not best:
    print(f"{name:22} nothing right, {end - begin:.1f} s"); sys.exit()
final = [v for v in run["variants"] if v["id"] == best["id"]][0]
judgement = final["confirmation"] or final["judgement"]
workload = judgement["workloads"][0]
low, high = best["interval"]
print(f"{name:22} {best['verdict']:12} {best['level']:9} {best['speedup']:9.3f}x [{low:.3f}, {high:.3f}]  "
      f"{run['reference_time_ms']:.4f} -> {workload['time_ms']:.4f} ms  {workload['share_of_limit'] * 100:.0f} % of the limit  "
      f"sanitizer {judgement['sanitizer'] or '-'}  {run['judged']} judged, {end - begin:.1f} s")
PYTHON
done

if command -v nvcc >/dev/null && [ -f diag_matmul.best.cu ]; then
  nvcc -arch=native -DWINNER="\"$work/diag_matmul.best.cu\"" "$here/diag_matmul_main.cu" -o winner
  ./winner
else
  echo "nvcc is absent: the winner's host function was not run"
fi
if python3 -c 'import torch' 2>/dev/null; then
  python3 "$here/device_copy.py" 64
else
  echo "PyTorch is absent: the copy was not timed"
fi
