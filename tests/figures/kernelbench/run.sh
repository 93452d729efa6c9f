#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch modules on a GPU at real sizes: verdicts against every baseline, and the most memory in use.
#   sh run.sh path/to/cudal1 [cuda:0]
set -u
tool=$(realpath "$1"); device=${2:-cuda:0}
here=$(dirname "$(realpath "$0")"); tasks=$here/../../kernelbench/level1
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
verify() { "$tool" verify "$@" --device "$device"; }
peak() { python3 "$here/peak.py" "$tool" verify "$@" --device "$device" --quick; }
swish() { sed "s/COUNT/$1ll/" "$here/swish.cu" > "$work/swish_$1.cu"; echo "$work/swish_$1.cu"; }
side() { echo "--set batch_size=$1 --set dim=$2"; }
echo "== 4096 x 4096"; verify $(side 4096 4096) "$tasks/4_Swish.py" "$(swish 16777216)"
echo "== TF32 convolution, exact answer"; verify --baseline eager,eager/fp32,graph "$here/conv.py" "$here/conv.cu"
echo "== 4 GiB of inputs"; peak --baseline eager,compile $(side 16384 65536) "$tasks/4_Swish.py" "$(swish 1073741824)"
echo "== 16 GiB in, 16 GiB out"; peak --baseline eager $(side 65536 65536) "$tasks/4_Swish.py" "$(swish 4294967296)"
echo "== 16 GiB in, little out"; sed 's/dim, 33/dim, 16384/' "$tasks/10_Sum.py" > "$work/sum.py"
peak --baseline eager $(side 64 4096) "$work/sum.py" "$here/sum.cu"
echo "== 16 GiB, counted in 32 bits"; verify --quick --baseline eager $(side 65536 65536) "$tasks/4_Swish.py" "$here/swish_32_bits.cu"
