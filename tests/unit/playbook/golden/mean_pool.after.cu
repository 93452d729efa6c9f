//@ of      mean_pool.before.cu sha256:2815d1696370d8d569e5ca52ca08c801535a422f941198b1add072f254a02e47
//@ tune    THREADS = 128 | 256
//@ tune    OUT_ROWS = 1
//@ launch  pool<<<ceil_div((B * C) * 1 * ceil_div(1, OUT_ROWS) * ceil_div((L - 1) / 2 + 1, 128) * 32, THREADS), THREADS>>>(X, Y, C, B, L, C * ((L - 1) / 2 + 1), (L - 1) / 2 + 1, B * C)
// playbook: as written/fused

struct Sum {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Product {
  template <typename T> __device__ T operator()(T a, T b) const { return a * b; }
};
// Of a NaN and a number the NaN wins, as in torch.
struct Larger {
  template <typename T> __device__ T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
struct Smaller {
  template <typename T> __device__ T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};

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
__device__ __forceinline__ void pool_body(const float* __restrict__ X, float* __restrict__ Y, int C, int B, int L, int n5, int n6, int n7) {
  // A thread makes four neighbouring results of OUT_ROWS rows. It combines along a row first, then the rows.
  // Results change lanes in shared memory, so that neighbours are stored by neighbours.
  constexpr int LANES = 32, PACKS = 4, FIRST = 3, INPUT_ROWS = (OUT_ROWS - 1) * 1 + 1;
  __shared__ __align__(16) float results[THREADS / 32][OUT_ROWS][128];
  const int lane = threadIdx.x % LANES, warp = threadIdx.x / 32;
  const int chunks = (n6 + LANES * 4 - 1) / (LANES * 4), strips = (1 + OUT_ROWS - 1) / OUT_ROWS;
  const int place = (int(blockIdx.x) * THREADS + threadIdx.x) / LANES;
  const int chunk = place % chunks, strip = place / chunks % strips;
  const int plane = place / chunks / strips;
  const bool live = plane < n7;
  const float* x = X + size_t(live ? plane : 0) * L;
  const int w0 = (chunk * LANES + lane) * 8 - 4, h0 = strip * OUT_ROWS * 1 - 0;
  float held[OUT_ROWS][4];
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) held[j][i] = 0.0f;
#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {
    const bool there = live && unsigned(h0 + r) < unsigned(1);
    float row[PACKS * 4];
#pragma unroll
    for (int q = 0; q < PACKS; ++q)
      fetch_pack<WHOLE>(row + q * 4, x + size_t(h0 + r) * L, w0 + q * 4, L, there, 0.0f);
    float across[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      across[i] = row[FIRST + i * 2];
#pragma unroll
      for (int c = 1; c < 4; ++c) across[i] = Sum()(across[i], row[FIRST + i * 2 + c * 1]);
    }
#pragma unroll
    for (int j = 0; j < OUT_ROWS; ++j) {
      const int b = r - j * 1;
      if (b < 0 || b % 1 != 0 || b / 1 >= 1) continue;
#pragma unroll
      for (int i = 0; i < 4; ++i) held[j][i] = Sum()(held[j][i], across[i]);
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
      if (at_w >= n6) break;
      float produced = results[warp][j][threadIdx.x % 32 / LANES * LANES * 4 + i * LANES + lane];
      const int start_w = at_w * 2 - 1;
      const int count_w = min(start_w + 4, L) - max(start_w, 0);
      produced /= float(count_w);
      Y[size_t(at0) * n5 + size_t(at1) * n6 + at_w] = produced;
    }
  }
}

__global__ void __launch_bounds__(THREADS) pool(const float* __restrict__ X, float* __restrict__ Y, int C, int B, int L, int n5, int n6, int n7) {
  if (L % 4 == 0) pool_body<true>(X, Y, C, B, L, n5, n6, n7);
  else pool_body<false>(X, Y, C, B, L, n5, n6, n7);
}
