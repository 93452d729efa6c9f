//@ of      depthwise.before.cu sha256:d8883db39f1b4eea11eeaeeda06a6ffd9d8a5e3006e56850f7e8fe938be6bc20
//@ tune    THREADS = 128 | 256
//@ tune    OUT_ROWS = 1
//@ launch  depthwise_convolution<<<ceil_div((B * C) * 1 * ceil_div(1, OUT_ROWS) * ceil_div(L, 128) * 32, THREADS), THREADS>>>(X, weight, Y, C, B, C * L, L, B * C)
// playbook: as written/fused

// Four neighbours of a row, `outside` where it has none. WHOLE: they are aligned, and all or none of them exist.
template <bool WHOLE>
__device__ __forceinline__ void fetch_pack(float* to, const float* row, int column, int columns, bool there, float outside) {
  if (WHOLE) {
    const bool inside = there && unsigned(column) < unsigned(columns);
    const float4 pack = inside ? *reinterpret_cast<const float4*>(row + column) : make_float4(outside, outside, outside, outside);
    to[0] = pack.x, to[1] = pack.y, to[2] = pack.z, to[3] = pack.w;
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = there && unsigned(column + i) < unsigned(columns) ? row[column + i] : outside;
  }
}

template <bool WHOLE>
__device__ __forceinline__ void depthwise_convolution_body(const float* __restrict__ X, const float* __restrict__ weight, float* __restrict__ Y, int C, int B, int n5, int L, int n7) {
  // A thread makes four neighbouring results of OUT_ROWS rows.
  // Results change lanes in shared memory, so that neighbours are stored by neighbours.
  constexpr int LANES = 32, PACKS = 3, FIRST = 2, INPUT_ROWS = (OUT_ROWS - 1) * 1 + 1;
  __shared__ __align__(16) float results[THREADS / 32][OUT_ROWS][128];
  const int lane = threadIdx.x % LANES, warp = threadIdx.x / 32;
  const int chunks = (L + LANES * 4 - 1) / (LANES * 4), strips = (1 + OUT_ROWS - 1) / OUT_ROWS;
  const int place = (int(blockIdx.x) * THREADS + threadIdx.x) / LANES;
  const int chunk = place % chunks, strip = place / chunks % strips;
  const int plane = place / chunks / strips;
  const bool live = plane < n7;
  const float* x = X + size_t(live ? plane : 0) * L;
  const int w0 = (chunk * LANES + lane) * 4 - 4, h0 = strip * OUT_ROWS * 1 - 0;
  float held[OUT_ROWS][4];
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) held[j][i] = 0.0f;
  float weights[5];
#pragma unroll
  for (int k = 0; k < 5; ++k) weights[k] = weight[size_t(live ? plane % C : 0) * 5 + k];
#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {
    const bool there = live && unsigned(h0 + r) < unsigned(1);
    float row[PACKS * 4];
#pragma unroll
    for (int q = 0; q < PACKS; ++q)
      fetch_pack<WHOLE>(row + q * 4, x + size_t(h0 + r) * L, w0 + q * 4, L, there, 0.0f);
#pragma unroll
    for (int j = 0; j < OUT_ROWS; ++j) {
      const int b = r - j * 1;
      if (b < 0 || b % 1 != 0 || b / 1 >= 1) continue;
#pragma unroll
      for (int c = 0; c < 5; ++c)
#pragma unroll
        for (int i = 0; i < 4; ++i) held[j][i] += weights[b / 1 * 5 + c] * row[FIRST + i * 1 + c * 1];
    }
  }
  const int at1 = plane % C;
  const int at0 = plane / C;
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j)
    *reinterpret_cast<float4*>(&results[warp][j][threadIdx.x % 32 * 4]) = make_float4(held[j][0], held[j][1], held[j][2], held[j][3]);
  __syncwarp();
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j) {
    const int at_h = strip * OUT_ROWS + j;
    if (!live || at_h >= 1) break;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at_w = (chunk * 4 + i) * LANES + lane;
      if (at_w >= L) break;
      float produced = results[warp][j][threadIdx.x % 32 / LANES * LANES * 4 + i * LANES + lane];
      Y[size_t(at0) * n5 + size_t(at1) * L + at_w] = produced;
    }
  }
}

__global__ void __launch_bounds__(THREADS) depthwise_convolution(const float* __restrict__ X, const float* __restrict__ weight, float* __restrict__ Y, int C, int B, int n5, int L, int n7) {
  if (L % 4 == 0) depthwise_convolution_body<true>(X, weight, Y, C, B, n5, L, n7);
  else depthwise_convolution_body<false>(X, weight, Y, C, B, n5, L, n7);
}
