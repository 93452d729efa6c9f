// SPDX-License-Identifier: Apache-2.0
//$ The weights of a convolution as halves: for each tap a matrix of results by channels. A block for each result, with a scale of its own.
//$ needs split_halves.cuh

__global__ void __launch_bounds__(256) $name$($parameters$) {
  __shared__ float2 by_warp[8];
  constexpr int taps = $taps$;
  const int group = blockIdx.x / $O$, result = blockIdx.x % $O$, count = $C$ * taps;
  const float* from = $from$;
  Range line;
  const auto element = [&](int i) { return i < count ? from[size_t(i / taps) * $between_channels$ + i % taps] : 0.0f; };
  for (int i = threadIdx.x * 4; i < count; i += 1024) line.take(make_float4(element(i), element(i + 1), element(i + 2), element(i + 3)));
  line.join_block(by_warp);
  const float scale = scale_of_line(line.largest);
  bool tiny = false;  // a tap alone may be all that a result meets
  for (int i = threadIdx.x; i < count; i += 256) {
    const int tap = i / $C$, c = i % $C$;
    const float x = from[size_t(c) * $between_channels$ + tap] * scale;
    tiny = tiny || (x != 0 && fabsf(x) < $least$);
    const size_t to = ((size_t(group) * taps + tap) * $O$ + result) * $pitch$ + c;
    const __half high = __float2half_rn(x);
    $H$[to] = high;
$low$
  }
  tiny = __syncthreads_or(tiny);
  if (threadIdx.x == 0) $back$[blockIdx.x] = tiny ? __int_as_float(0x7fffffff) : undoing(scale, line);
}
