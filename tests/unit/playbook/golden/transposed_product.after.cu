//@ of      transposed_product.before.cu sha256:a1ae38219a4ad4133dc664983f05c36bc6badce0e2f4091959a4574eebf77692
//@ tune    TILE_N = 64 | 128
//@ tune    TILE_M = 64 | 128
//@ tune    STEP = 16
//@ launch  matmul<<<dim3(ceil_div(N, TILE_M), ceil_div(M, TILE_N)), 256>>>(B, A, Y, M, N, K)
// playbook: transposed product/fused

// TILE lines by STEP depths of a factor, four elements at a time. ALONG_DEPTH: neighbours in memory lie along the depth.
// WHOLE: packs of four are aligned and never cross an edge.
template <bool WHOLE, bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void fetch_tile(float4 (&held)[TILE * STEP / 1024], const float* __restrict__ from, int line_start,
                                           int lines, int depth_start, int depth) {
#pragma unroll
  for (int p = 0; p < TILE * STEP / 1024; ++p) {
    const int pack = p * 256 + threadIdx.x;
    const int line = line_start + (ALONG_DEPTH ? pack / (STEP / 4) : pack % (TILE / 4) * 4);
    const int k = depth_start + (ALONG_DEPTH ? pack % (STEP / 4) * 4 : pack / (TILE / 4));
    const float* at = from + (ALONG_DEPTH ? size_t(line) * depth + k : size_t(k) * lines + line);
    if (WHOLE) {
      held[p] = line < lines && k < depth ? *reinterpret_cast<const float4*>(at) : make_float4(0, 0, 0, 0);
    } else if (ALONG_DEPTH) {
      const int left = line < lines ? depth - k : 0;
      held[p] = make_float4(left > 0 ? at[0] : 0, left > 1 ? at[1] : 0, left > 2 ? at[2] : 0, left > 3 ? at[3] : 0);
    } else {
      const int left = k < depth ? lines - line : 0;
      held[p] = make_float4(left > 0 ? at[0] : 0, left > 1 ? at[1] : 0, left > 2 ? at[2] : 0, left > 3 ? at[3] : 0);
    }
  }
}

template <bool ALONG_DEPTH, int TILE, int STEP>
__device__ __forceinline__ void place_tile(const float4 (&held)[TILE * STEP / 1024], float (&tile)[STEP][TILE + 4]) {
#pragma unroll
  for (int p = 0; p < TILE * STEP / 1024; ++p) {
    const int pack = p * 256 + threadIdx.x;
    if (ALONG_DEPTH) {
      const int line = pack / (STEP / 4), k = pack % (STEP / 4) * 4;
      tile[k][line] = held[p].x;
      tile[k + 1][line] = held[p].y;
      tile[k + 2][line] = held[p].z;
      tile[k + 3][line] = held[p].w;
    } else {
      *reinterpret_cast<float4*>(&tile[pack / (TILE / 4)][pack % (TILE / 4) * 4]) = held[p];
    }
  }
}

template <bool WHOLE>
__device__ __forceinline__ void matmul_body(const float* __restrict__ B, const float* __restrict__ A, float* __restrict__ Y, int M, int N, int K, float left_tile[2][STEP][TILE_N + 4], float right_tile[2][STEP][TILE_M + 4]) {
  constexpr int TN = TILE_N / 16, TM = TILE_M / 16;
  const float* left = B;
  const float* right = A;
  const int row_start = blockIdx.y * TILE_N, column_start = blockIdx.x * TILE_M;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float4 left_held[TILE_N * STEP / 1024], right_held[TILE_M * STEP / 1024];
  float sum[TN][TM] = {};
  fetch_tile<WHOLE, false, TILE_N, STEP>(left_held, left, row_start, M, 0, K);
  fetch_tile<WHOLE, true, TILE_M, STEP>(right_held, right, column_start, N, 0, K);
  place_tile<false, TILE_N, STEP>(left_held, left_tile[0]);
  place_tile<true, TILE_M, STEP>(right_held, right_tile[0]);
  __syncthreads();
  int now = 0;
  for (int start = 0; start < K; start += STEP) {
    const bool more = start + STEP < K;
    if (more) {
      fetch_tile<WHOLE, false, TILE_N, STEP>(left_held, left, row_start, M, start + STEP, K);
      fetch_tile<WHOLE, true, TILE_M, STEP>(right_held, right, column_start, N, start + STEP, K);
    }
#pragma unroll
    for (int k = 0; k < STEP; ++k) {
      float a[TN], b[TM];
#pragma unroll
      for (int i = 0; i < TN; i += 4)
        *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&left_tile[now][k][i * 16 + ty * 4]);
#pragma unroll
      for (int j = 0; j < TM; j += 4)
        *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&right_tile[now][k][j * 16 + tx * 4]);
#pragma unroll
      for (int i = 0; i < TN; ++i)
#pragma unroll
        for (int j = 0; j < TM; ++j) sum[i][j] += a[i] * b[j];
    }
    if (more) {
      place_tile<false, TILE_N, STEP>(left_held, left_tile[now ^ 1]);
      place_tile<true, TILE_M, STEP>(right_held, right_tile[now ^ 1]);
      __syncthreads();
      now ^= 1;
    }
  }
#pragma unroll
  for (int i = 0; i < TN; ++i) {
    const int row = row_start + i / 4 * 64 + ty * 4 + i % 4;
    if (row >= M) continue;
#pragma unroll
    for (int j = 0; j < TM; ++j) {
      const int column = column_start + j / 4 * 64 + tx * 4 + j % 4;
      if (column >= N) continue;
      const float produced = sum[i][j];
      Y[size_t(row) * N + column] = produced;
    }
  }
}

__global__ void __launch_bounds__(256) matmul(const float* __restrict__ B, const float* __restrict__ A, float* __restrict__ Y, int M, int N, int K) {
  __shared__ __align__(16) float left_tile[2][STEP][TILE_N + 4], right_tile[2][STEP][TILE_M + 4];
  if (M % 4 == 0 && K % 4 == 0) matmul_body<true>(B, A, Y, M, N, K, left_tile, right_tile);
  else matmul_body<false>(B, A, Y, M, N, K, left_tile, right_tile);
}
