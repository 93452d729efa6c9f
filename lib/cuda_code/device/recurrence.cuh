// SPDX-License-Identifier: Apache-2.0

// All steps of one sequence. $parts$ blocks share its units: each multiplies the last hidden state by the rows of the weights that its own
// units have, and gives their new state to all.
__global__ void __launch_bounds__($threads$) $name$($parameters$) {
  extern __shared__ float recurrent_memory[];
  const int sequence = blockIdx.x / $parts$, part = $part$, units = ($H$ + $parts$ - 1) / $parts$, first = part * units;
  const int own = max(0, min(units, $H$ - first)), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* const hidden_states = recurrent_memory;         // of all units: after the last step, and after this one
  float* const cells = hidden_states + 2 * $H$;
  float* const sums = cells + units;                     // what the last hidden state gives to each gate
  float* const kept = sums + $gates$ * units;            // rows of the weights, where they fit
  const auto row_of = [&](int r) { return size_t(r / own * $H$ + first + r % own); };
  if ($keeps$)
    for (int i = threadIdx.x; i < $gates$ * own * $H$; i += $threads$) kept[i] = $weight$[row_of(i / $H$) * $H$ + i % $H$];
  for (int i = threadIdx.x; i < $H$; i += $threads$) hidden_states[i] = $hidden$[size_t(sequence) * $H$ + i];
  for (int i = threadIdx.x; i < own; i += $threads$) cells[i] = $first_cell$;
  $meet$
  for (int step = 0; step < $T$; ++step) {
    const float* const last = hidden_states + step % 2 * $H$;
    for (int r = warp; r < $gates$ * own; r += $threads$ / 32) {
      const float* const line = $keeps$ ? kept + r * $H$ : $weight$ + row_of(r) * $H$;
      float total = 0;
#pragma unroll 8
      for (int k = lane; k < $H$; k += 32) total += line[k] * last[k];
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
      if (lane == 0) sums[r] = total$bias$;
    }
    __syncthreads();
    const int t = $reverse$ ? $T$ - 1 - step : step;
    for (int unit = threadIdx.x; unit < own; unit += $threads$) {
      const auto given = [&](int gate) { return $x$[(size_t(t) * $B$ + sequence) * $gates$ * $H$ + gate * $H$ + first + unit]; };
      const auto gate = [&](int which) { return given(which) + sums[which * own + unit]; };
      const auto open = [](float value) { return 1 / (1 + expf(-value)); };
      float states[$states$];
$cell$
      {
        const float value = states[0];
        float* const there = hidden_states + (step + 1) % 2 * $H$ + first + unit;
        $publish$
      }
#pragma unroll
      for (int s = 0; s < $states$; ++s) {
        const int place = s * $H$ + first + unit;
        const float produced = states[s];
$epilogue$
        $store$
      }
    }
    $meet$
  }
}
