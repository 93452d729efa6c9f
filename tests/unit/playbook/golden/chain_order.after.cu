//@ of      chain_order.before.cu sha256:94e71f754028846b2b46fd057d994bb5af541242797a30f04e69076b03e540fd
//@ tune    TILE_N = 64 | 128
//@ tune    TILE_M = 64 | 128
//@ tune    STEP = 16
//@ tune    TILE_N_2 = 64
//@ tune    TILE_M_2 = 64
//@ tune    STEP_2 = 16
//@ scratch S: float32[K, M]
//@ launch  matmul<<<dim3(ceil_div(M, TILE_M), ceil_div(K, TILE_N)), 256>>>(B, C, S, K, M, N)
//@ launch  matmul_2<<<dim3(ceil_div(M, TILE_M_2), ceil_div(N, TILE_N_2)), 256>>>(A, S, Y, N, M, K)
// playbook: chain order/fused

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
__device__ __forceinline__ void matmul_body(const float* __restrict__ B, const float* __restrict__ C, float* __restrict__ S, int K, int M, int N, float left_tile[2][STEP][TILE_N + 4], float right_tile[2][STEP][TILE_M + 4]) {
  constexpr int TN = TILE_N / 16, TM = TILE_M / 16;
  const float* left = B;
  const float* right = C;
  const int row_start = blockIdx.y * TILE_N, column_start = blockIdx.x * TILE_M;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float4 left_held[TILE_N * STEP / 1024], right_held[TILE_M * STEP / 1024];
  float sum[TN][TM] = {};
  fetch_tile<WHOLE, true, TILE_N, STEP>(left_held, left, row_start, K, 0, N);
  fetch_tile<WHOLE, false, TILE_M, STEP>(right_held, right, column_start, M, 0, N);
  place_tile<true, TILE_N, STEP>(left_held, left_tile[0]);
  place_tile<false, TILE_M, STEP>(right_held, right_tile[0]);
  __syncthreads();
  int now = 0;
  for (int start = 0; start < N; start += STEP) {
    const bool more = start + STEP < N;
    if (more) {
      fetch_tile<WHOLE, true, TILE_N, STEP>(left_held, left, row_start, K, start + STEP, N);
      fetch_tile<WHOLE, false, TILE_M, STEP>(right_held, right, column_start, M, start + STEP, N);
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
      place_tile<true, TILE_N, STEP>(left_held, left_tile[now ^ 1]);
      place_tile<false, TILE_M, STEP>(right_held, right_tile[now ^ 1]);
      __syncthreads();
      now ^= 1;
    }
  }
#pragma unroll
  for (int i = 0; i < TN; ++i) {
    const int row = row_start + i / 4 * 64 + ty * 4 + i % 4;
    if (row >= K) continue;
#pragma unroll
    for (int j = 0; j < TM; ++j) {
      const int column = column_start + j / 4 * 64 + tx * 4 + j % 4;
      if (column >= M) continue;
      const float produced = sum[i][j];
      S[size_t(row) * M + column] = produced;
    }
  }
}

__global__ void __launch_bounds__(256) matmul(const float* __restrict__ B, const float* __restrict__ C, float* __restrict__ S, int K, int M, int N) {
  __shared__ __align__(16) float left_tile[2][STEP][TILE_N + 4], right_tile[2][STEP][TILE_M + 4];
  if (N % 4 == 0 && M % 4 == 0) matmul_body<true>(B, C, S, K, M, N, left_tile, right_tile);
  else matmul_body<false>(B, C, S, K, M, N, left_tile, right_tile);
}

template <bool WHOLE>
__device__ __forceinline__ void matmul_2_body(const float* __restrict__ A, const float* __restrict__ S, float* __restrict__ Y, int N, int M, int K, float left_tile[2][STEP_2][TILE_N_2 + 4], float right_tile[2][STEP_2][TILE_M_2 + 4]) {
  constexpr int TN = TILE_N_2 / 16, TM = TILE_M_2 / 16;
  const float* left = A;
  const float* right = S;
  const int row_start = blockIdx.y * TILE_N_2, column_start = blockIdx.x * TILE_M_2;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float4 left_held[TILE_N_2 * STEP_2 / 1024], right_held[TILE_M_2 * STEP_2 / 1024];
  float sum[TN][TM] = {};
  fetch_tile<WHOLE, true, TILE_N_2, STEP_2>(left_held, left, row_start, N, 0, K);
  fetch_tile<WHOLE, false, TILE_M_2, STEP_2>(right_held, right, column_start, M, 0, K);
  place_tile<true, TILE_N_2, STEP_2>(left_held, left_tile[0]);
  place_tile<false, TILE_M_2, STEP_2>(right_held, right_tile[0]);
  __syncthreads();
  int now = 0;
  for (int start = 0; start < K; start += STEP_2) {
    const bool more = start + STEP_2 < K;
    if (more) {
      fetch_tile<WHOLE, true, TILE_N_2, STEP_2>(left_held, left, row_start, N, start + STEP_2, K);
      fetch_tile<WHOLE, false, TILE_M_2, STEP_2>(right_held, right, column_start, M, start + STEP_2, K);
    }
#pragma unroll
    for (int k = 0; k < STEP_2; ++k) {
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
      place_tile<true, TILE_N_2, STEP_2>(left_held, left_tile[now ^ 1]);
      place_tile<false, TILE_M_2, STEP_2>(right_held, right_tile[now ^ 1]);
      __syncthreads();
      now ^= 1;
    }
  }
#pragma unroll
  for (int i = 0; i < TN; ++i) {
    const int row = row_start + i / 4 * 64 + ty * 4 + i % 4;
    if (row >= N) continue;
#pragma unroll
    for (int j = 0; j < TM; ++j) {
      const int column = column_start + j / 4 * 64 + tx * 4 + j % 4;
      if (column >= M) continue;
      const float produced = sum[i][j];
      Y[size_t(row) * M + column] = produced;
    }
  }
}

__global__ void __launch_bounds__(256) matmul_2(const float* __restrict__ A, const float* __restrict__ S, float* __restrict__ Y, int N, int M, int K) {
  __shared__ __align__(16) float left_tile[2][STEP_2][TILE_N_2 + 4], right_tile[2][STEP_2][TILE_M_2 + 4];
  if (K % 4 == 0 && M % 4 == 0) matmul_2_body<true>(A, S, Y, N, M, K, left_tile, right_tile);
  else matmul_2_body<false>(A, S, Y, N, M, K, left_tile, right_tile);
}
