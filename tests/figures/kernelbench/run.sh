#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch modules on a GPU at real sizes: what each step takes, the verdicts, and the most memory in use on the card.
#   sh run.sh path/to/figure_kernelbench [cuda:0]
set -u
tool=$(realpath "$1"); device=${2:-cuda:0}
here=$(dirname "$(realpath "$0")"); tasks=$here/../../kernelbench/level1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
peak() {  # the most that nvidia-smi saw while a command ran
  nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -lms 50 > "$work/memory" & watch=$!
  "$@"; echo "exit $?"
  kill $watch; echo "peak MiB on the card: $(sort -n "$work/memory" | tail -1)"
}
swish() { sed "s/COUNT/$1ll/" "$here/swish.cu" > "$work/swish_$1.cu"; echo "$work/swish_$1.cu"; }
side() { echo "--set batch_size=$1 --set dim=$2"; }
echo "== 4096 x 4096"; "$tool" "$device" $(side 4096 4096) "$tasks/4_Swish.py" "$(swish 16777216)"
echo "== TF32 convolution, exact answer"; "$tool" "$device" --baseline eager --baseline eager/fp32 --baseline graph "$here/conv.py" "$here/conv.cu"
echo "== 4 GiB of inputs"; peak "$tool" "$device" --baseline eager --baseline compile $(side 16384 65536) "$tasks/4_Swish.py" "$(swish 1073741824)"
echo "== 16 GiB in and out"; peak "$tool" "$device" --baseline eager --baseline graph $(side 65536 65536) "$tasks/4_Swish.py" "$(swish 4294967296)" "$here/swish_32_bits.cu"
echo "== 16 GiB in, little out"; sed 's/dim, 33/dim, 16384/' "$tasks/10_Sum.py" > "$work/sum.py"
peak "$tool" "$device" --baseline eager $(side 64 4096) "$work/sum.py" "$here/sum.cu"
for answer in plain flags stream half cuda; do
  echo "== swish_$answer.py"; "$tool" "$device" --baseline eager $(side 4096 4096) "$tasks/4_Swish.py" "$here/swish_$answer.py"
done
