//@ of      lstm.before.cu sha256:b8d6e0a60d9a7cc8a7c345bc49be5e56ddeabf52235ae5dc74099a8efa9367ab
//@ tune    THREADS = 256 | 512 | 128
//@ launch  recurrence<<<B * 8, THREADS, (2 * H + ceil_div(H, 8) * (5 + 4 * H)) * 4>>>(G, W, h, c, v, Y, T, B, H, B * (2 * (H)), 2 * (H)) cluster(8)
// playbook: as written/fused
#include <hopper.cuh>

// Writes to the same place of every block's shared memory.
__device__ __forceinline__ void give_all(float* place, float value) {
  using namespace hopper;
  const u32 here = shared_address(place), blocks = cluster_blocks();
  for (u32 rank = 0; rank < blocks; ++rank) store_remote(remote(here, rank), value);
}

// All steps of one sequence. 8 blocks share its units: each multiplies the last hidden state by the rows of the weights that its own
// units have, and gives their new state to all.
__global__ void __launch_bounds__(THREADS) recurrence(const float* __restrict__ G, const float* __restrict__ W, const float* __restrict__ h, const float* __restrict__ c, const float* __restrict__ v, float* __restrict__ Y, int T, int B, int H, int n9, int n10) {
  extern __shared__ float recurrent_memory[];
  const int sequence = blockIdx.x / 8, part = int(hopper::cluster_rank()), units = (H + 8 - 1) / 8, first = part * units;
  const int own = max(0, min(units, H - first)), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float* const hidden_states = recurrent_memory;         // of all units: after the last step, and after this one
  float* const cells = hidden_states + 2 * H;
  float* const sums = cells + units;                     // what the last hidden state gives to each gate
  float* const kept = sums + 4 * units;            // rows of the weights, where they fit
  const auto row_of = [&](int r) { return size_t(r / own * H + first + r % own); };
  if (true)
    for (int i = threadIdx.x; i < 4 * own * H; i += THREADS) kept[i] = W[row_of(i / H) * H + i % H];
  for (int i = threadIdx.x; i < H; i += THREADS) hidden_states[i] = h[size_t(sequence) * H + i];
  for (int i = threadIdx.x; i < own; i += THREADS) cells[i] = c[size_t(sequence) * H + first + i];
  hopper::cluster_sync();
  for (int step = 0; step < T; ++step) {
    const float* const last = hidden_states + step % 2 * H;
    for (int r = warp; r < 4 * own; r += THREADS / 32) {
      const float* const line = true ? kept + r * H : W + row_of(r) * H;
      float total = 0;
#pragma unroll 8
      for (int k = lane; k < H; k += 32) total += line[k] * last[k];
#pragma unroll
      for (int offset = 16; offset > 0; offset /= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
      if (lane == 0) sums[r] = total + v[row_of(r)];
    }
    __syncthreads();
    const int t = false ? T - 1 - step : step;
    for (int unit = threadIdx.x; unit < own; unit += THREADS) {
      const auto given = [&](int gate) { return G[(size_t(t) * B + sequence) * 4 * H + gate * H + first + unit]; };
      const auto gate = [&](int which) { return given(which) + sums[which * own + unit]; };
      const auto open = [](float value) { return 1 / (1 + expf(-value)); };
      float states[2];
      cells[unit] = open(gate(1)) * cells[unit] + open(gate(0)) * tanhf(gate(2));
      states[0] = open(gate(3)) * tanhf(cells[unit]);
      states[1] = cells[unit];      {
        const float value = states[0];
        float* const there = hidden_states + (step + 1) % 2 * H + first + unit;
        give_all(there, value);
      }
#pragma unroll
      for (int s = 0; s < 2; ++s) {
        const int place = s * H + first + unit;
        const float produced = states[s];
        Y[size_t(t) * n9 + size_t(sequence) * n10 + place] = produced;
      }
    }
    hopper::cluster_sync();
  }
}
