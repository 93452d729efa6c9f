// SPDX-License-Identifier: Apache-2.0
//$ parameters = const float* __restrict__ from, float* __restrict__ to, int C, int O, int row
//$ residues =   const int first_w = (blockIdx.z % 2 + 1) % 2, TW = (3 - first_w + 1) / 2;\n  const int first_h = (blockIdx.z / 2 % 2 + 1) % 2, TH = (3 - first_h + 1) / 2;\n  const int first_d = (blockIdx.z / 2 / 2 % 1 + 0) % 1, TD = (1 - first_d + 0) / 1;\n
//$ step_d = 1
//$ step_h = 2
//$ step_w = 2
//$ groups = 1
//$ taps = 9
//$ KH = 3
//$ KW = 3

__global__ void __launch_bounds__(256) $name$($parameters$) {
  // For each group and residue a matrix of results by channels and taps.
$residues$
  const int index = blockIdx.x * 256 + threadIdx.x, o = index / $row$, k = index % $row$, taps = TD * TH * TW;
  if (o >= $O$) return;
  float value = 0;
  if (k < $C$ * taps) {
    const int d = first_d + k % taps / (TH * TW) * $step_d$, h = first_h + k / TW % TH * $step_h$, w = first_w + k % TW * $step_w$;
    value = $from$[((size_t(blockIdx.z % $groups$) * $C$ + k / taps) * $O$ + o) * $taps$ + (d * $KH$ + h) * $KW$ + w];
  }
  $to$[(size_t(blockIdx.z) * $O$ + o) * $row$ + k] = value;
}
