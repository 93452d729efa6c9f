// SPDX-License-Identifier: Apache-2.0
//$ The weights of a straight convolution, rounded to TF32 and laid out as the tensor cores read them: for each slot of straight_convolution.cuh
//$ four channels of a result, its neighbours, and the next four channels. What does not exist is zero. A thread for four channels.
//$ needs tf32_rounding.cuh

// The tap at place `at` of a window that begins with tap `first` of `taps`, or -1; inputs of a transposed convolution meet the last tap first.
__device__ __forceinline__ int $name$_tap(int first, int at, int taps, int step) {
  const int met = (taps - first + step - 1) / step;
  return at >= met ? -1 : first + ($reversed$ ? met - 1 - at : at) * step;
}

__global__ void __launch_bounds__(256) $name$($parameters$) {
  int rest = blockIdx.x * 256 + threadIdx.x;
  const auto part = [&](int count) {
    const int result = rest % count;
    rest /= count;
    return result;
  };
  const int column = part($columns$), fours = part(2), at_h = part($most_h$), eights = part($parts$), at_w = part($most_w$), at_d = part($most_d$);
  const int step = part(($C$ + $channels$ - 1) / $channels$), first_w = part($step_w$), first_h = part($step_h$), first_d = part($step_d$);
  const int down = part(($O$ + $columns$ - 1) / $columns$), group = rest;
  if (group >= $groups$) return;
  const int d = $name$_tap(first_d, at_d, $taps_d$, $step_d$), h = $name$_tap(first_h, at_h, $taps_h$, $step_h$), w = $name$_tap(first_w, at_w, $taps_w$, $step_w$);
  const int c = step * $channels$ + eights * 8 + fours * 4, o = down * $columns$ + column;
  const bool there = d >= 0 && h >= 0 && w >= 0 && o < $O$;
  float four[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) four[i] = there && c + i < $C$ ? rounded_to_tf32($K$[$from$ + (d * $taps_h$ + h) * $taps_w$ + w]) : 0;
  *reinterpret_cast<float4*>($W$ + size_t(blockIdx.x * 256 + threadIdx.x) * 4) = make_float4(four[0], four[1], four[2], four[3]);
}
