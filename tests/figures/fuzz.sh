#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every parser under libFuzzer with address and undefined-behaviour sanitizers, ten minutes each.
#   fuzz.sh [SECONDS]     # needs clang-19 and libclang-rt-19-dev
set -eu
seconds=${1:-600}
cd "$(dirname "$0")/../.."
cmake --preset fuzz -Wno-dev >/dev/null
ninja -C build/fuzz fuzz_torch_line fuzz_kernel_file fuzz_ptx fuzz_printf_format
for target in torch_line kernel_file ptx printf_format; do
  found=$(mktemp -d)
  dictionary=tests/fuzz/corpus/$target.dict
  build/fuzz/tests/fuzz/fuzz_$target "$found" "tests/fuzz/corpus/$target" $([ ! -f "$dictionary" ] || echo "-dict=$dictionary") \
    -artifact_prefix="$found/" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=10 >"$found/log" 2>&1 ||
    { echo "$target: a finding, see $found"; tail -5 "$found/log"; exit 1; }
  echo "$target: no finding, $(grep -o '^Done [0-9]* runs in [0-9]* second' "$found/log")s"
done
