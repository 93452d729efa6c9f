// SPDX-License-Identifier: Apache-2.0
//$ In fp32, both factors through registers into shared memory.

__global__ void __launch_bounds__(256) $name$($parameters$) {
  // Output channels by positions, summed over channels and taps: a product whose right factor is gathered.
  constexpr int TO = $tile_o$ / 16, TP = $tile_p$ / 16, NOWHERE = -(1 << 28);
  struct Tap { int from, weight, d, h, w; };
  __shared__ __align__(16) float inputs[$step$][$tile_p$ + 4], weights[$step$][$tile_o$ + 4];
  __shared__ Tap taps[$step$];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
$part$
$guard$
  const int depth = $channels$ * TD * TH * TW, positions = $batch$ * QD * QH * QW;
$open$
  const int o_start = blockIdx.y * $tile_o$;
//$ with gathered_position.cuh
  float input_held[$tile_p$ * $step$ / 256], weight_held[($tile_o$ * $step$ + 255) / 256];
  const auto fetch = [&]() {
#pragma unroll
    for (int i = 0; i < $tile_p$ * $step$ / 256; ++i) {
      const Tap at = taps[i * (256 / $tile_p$) + threadIdx.x / $tile_p$];
$window$
      const bool there = $there$;
      input_held[i] = there ? x[base + at.from] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < ($tile_o$ * $step$ + 255) / 256; ++i) {
      const int o = o_start + (i * 256 + int(threadIdx.x)) / $step$, from = taps[threadIdx.x % $step$].weight;
      weight_held[i] = o < $O$ && from >= 0 ? kernel[o * $weight_result$ + from] : 0.0f;
    }
  };
  float sum[TO][TP] = {};
  if (threadIdx.x < $step$) taps[threadIdx.x] = tap(threadIdx.x);
  __syncthreads();
  fetch();
  __syncthreads();
  for (int start = 0; start < depth; start += $step$) {
#pragma unroll
    for (int i = 0; i < $tile_p$ * $step$ / 256; ++i) inputs[i * (256 / $tile_p$) + threadIdx.x / $tile_p$][own] = input_held[i];
#pragma unroll
    for (int i = 0; i < ($tile_o$ * $step$ + 255) / 256; ++i)
      if (i * 256 + threadIdx.x < $tile_o$ * $step$) weights[threadIdx.x % $step$][(i * 256 + threadIdx.x) / $step$] = weight_held[i];
    if (threadIdx.x < $step$) taps[threadIdx.x] = tap(start + $step$ + threadIdx.x);
    __syncthreads();
    if (start + $step$ < depth) fetch();
#pragma unroll
    for (int k = 0; k < $step$; ++k) {
      float a[TO], b[TP];
#pragma unroll
      for (int i = 0; i < TO; ++i) a[i] = weights[k][ty * TO + i];
#pragma unroll
      for (int j = 0; j < TP; j += 4)
        *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&inputs[k][j * 16 + tx * 4]);
#pragma unroll
      for (int i = 0; i < TO; ++i)
#pragma unroll
        for (int j = 0; j < TP; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < TP; ++j) {
    const int at = $block$ * $tile_p$ + j / 4 * 64 + tx * 4 + j % 4;
    if (at >= positions) break;
    const int at_b = at / (QD * QH * QW), at_d = $result_d$, at_h = $result_h$, at_w = $result_w$;
#pragma unroll
    for (int i = 0; i < TO; ++i) {
      if (o_start + ty * TO + i >= $O$) break;
      const int at_o = group * $O$ + o_start + ty * TO + i;
      const float produced = sum[i][j];
$epilogue$
      $store$
    }
  }
$close$
}
