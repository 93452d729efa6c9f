//@ of      max_pool_3d.before.cu sha256:c0610014fad2eb70693bd2ca7ecd7dbd8e4a7f6ec64945cb269d2a3aa8c371b6
//@ tune    THREADS = 128 | 256
//@ tune    OUT_ROWS = 1 | 2 | 4
//@ tune    OUT_PLANES = 2 | 1
//@ launch  pool<<<ceil_div(B * ceil_div((D - 1) / 2 + 1, OUT_PLANES) * ceil_div((H - 1) / 2 + 1, OUT_ROWS) * ceil_div((W - 1) / 2 + 1, 32) * 8, THREADS), THREADS>>>(X, Y, B, (((D - 1) / 2 + 1) * ((H - 1) / 2 + 1)) * ((W - 1) / 2 + 1), ((H - 1) / 2 + 1) * ((W - 1) / 2 + 1), (W - 1) / 2 + 1, H, W, (D - 1) / 2 + 1, (D * H) * W, (H - 1) / 2 + 1)
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
__device__ __forceinline__ void pool_body(const float* __restrict__ X, float* __restrict__ Y, int B, int n3, int n4, int n5, int H, int W, int n8, int n9, int n10) {
  // A thread makes four neighbouring results of OUT_ROWS rows of OUT_PLANES planes. It combines along a row first, then the rows, then the planes.
  // Results change lanes in shared memory, so that neighbours are stored by neighbours.
  constexpr int LANES = 8, PACKS = 3, FIRST = 3, INPUT_ROWS = (OUT_ROWS - 1) * 2 + 3;
  __shared__ __align__(16) float results[THREADS / 32][OUT_ROWS][128];
  const int lane = threadIdx.x % LANES, warp = threadIdx.x / 32;
  const int chunks = (n5 + LANES * 4 - 1) / (LANES * 4), strips = (n10 + OUT_ROWS - 1) / OUT_ROWS;
  const int place = (int(blockIdx.x) * THREADS + threadIdx.x) / LANES;
  const int chunk = place % chunks, strip = place / chunks % strips;
  const int slabs = (n8 + OUT_PLANES - 1) / OUT_PLANES, slab = place / chunks / strips % slabs;
  const int plane = place / chunks / strips / slabs;
  const bool live = plane < B;
  const float* x = X + size_t(live ? plane : 0) * n9;
  const int w0 = (chunk * LANES + lane) * 8 - 4, h0 = strip * OUT_ROWS * 2 - 1;
  float planes[OUT_PLANES][OUT_ROWS][4];
#pragma unroll
  for (int e = 0; e < OUT_PLANES; ++e)
#pragma unroll
    for (int j = 0; j < OUT_ROWS; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) planes[e][j][i] = __int_as_float(0xff800000);
#pragma unroll
  for (int a = 0; a < (OUT_PLANES - 1) * 2 + 3; a += 1) {
  const int d = slab * (OUT_PLANES * 2) - 1 + a;
  if (unsigned(d) >= unsigned(n5)) continue;
  float held[OUT_ROWS][4];
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) held[j][i] = __int_as_float(0xff800000);
#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {
    const bool there = live && unsigned(h0 + r) < unsigned(H);
    float row[PACKS * 4];
#pragma unroll
    for (int q = 0; q < PACKS; ++q)
      fetch_pack<WHOLE>(row + q * 4, x + (size_t(d) * H + h0 + r) * W, w0 + q * 4, W, there, __int_as_float(0xff800000));
    float across[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      across[i] = row[FIRST + i * 2];
#pragma unroll
      for (int c = 1; c < 3; ++c) across[i] = Larger()(across[i], row[FIRST + i * 2 + c * 1]);
    }
#pragma unroll
    for (int j = 0; j < OUT_ROWS; ++j) {
      const int b = r - j * 2;
      if (b < 0 || b % 1 != 0 || b / 1 >= 3) continue;
#pragma unroll
      for (int i = 0; i < 4; ++i) held[j][i] = Larger()(held[j][i], across[i]);
    }
  }
#pragma unroll
  for (int e = 0; e < OUT_PLANES; ++e) {
    if (a < e * 2 || a - e * 2 >= 3) continue;
#pragma unroll
    for (int j = 0; j < OUT_ROWS; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) planes[e][j][i] = Larger()(planes[e][j][i], held[j][i]);
  }
  }
  const int at0 = plane;
#pragma unroll
  for (int e = 0; e < OUT_PLANES; ++e) {
  const int at_d = slab * OUT_PLANES + e;
  const auto& held = planes[e];
  if (e > 0) __syncwarp();
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j)
    *reinterpret_cast<float4*>(&results[warp][j][threadIdx.x % 32 * 4]) = make_float4(held[j][0], held[j][1], held[j][2], held[j][3]);
  __syncwarp();
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j) {
    const int at_h = strip * OUT_ROWS + j;
    if (!live || at_d >= n8 || at_h >= n10) break;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at_w = (chunk * 4 + i) * LANES + lane;
      if (at_w >= n5) break;
      float produced = results[warp][j][threadIdx.x % 32 / LANES * LANES * 4 + i * LANES + lane];
      Y[size_t(at0) * n3 + size_t(at_d) * n4 + size_t(at_h) * n5 + at_w] = produced;
    }
  }
  }
}

__global__ void __launch_bounds__(THREADS) pool(const float* __restrict__ X, float* __restrict__ Y, int B, int n3, int n4, int n5, int H, int W, int n8, int n9, int n10) {
  if (W % 4 == 0) pool_body<true>(X, Y, B, n3, n4, n5, H, W, n8, n9, n10);
  else pool_body<false>(X, Y, B, n3, n4, n5, H, W, n8, n9, n10);
}
