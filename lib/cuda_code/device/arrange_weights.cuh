// SPDX-License-Identifier: Apache-2.0

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
