//@ of      triangular.before.cu sha256:9a6f3f1a66f8f75b83a0a56c9fb0a174ac547773798876c6786002a9bc4e68ca
//@ tune    THREADS = 128
//@ tune    THREADS_2 = 128
//@ tune    TILE_N = 64
//@ tune    TILE_M = 64
//@ tune    STEP = 16
//@ scratch S: float32[N, N]
//@ scratch S_2: float32[N, N]
//@ launch  pointwise<<<ceil_div(N, 256 / THREADS) * ceil_div(N, 1 * THREADS * 4), dim3(THREADS, 256 / THREADS)>>>(A, S, N)
//@ launch  pointwise_2<<<ceil_div(N, 256 / THREADS_2) * ceil_div(N, 1 * THREADS_2 * 4), dim3(THREADS_2, 256 / THREADS_2)>>>(B, S_2, N)
//@ launch  matmul<<<dim3(ceil_div(N, TILE_M), ceil_div(N, TILE_N)), 256>>>(S, S_2, C, N)
// playbook: triangular/fused

template <typename T, int VEC>
struct alignas(sizeof(T) * VEC) Pack {
  T at[VEC];
};

// VEC elements of which `left` exist. WHOLE: all or none do, and `from` is aligned to all of them.
template <bool WHOLE, int VEC, typename T, typename Index>
__device__ __forceinline__ Pack<T, VEC> load(const T* from, Index left) {
  Pack<T, VEC> pack = {};
  if (WHOLE) {
    if (left > 0) pack = *reinterpret_cast<const Pack<T, VEC>*>(from);
  } else {
#pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (i < left) pack.at[i] = from[i];
  }
  return pack;
}

template <bool WHOLE, int VEC, typename T, typename Index>
__device__ __forceinline__ void store(T* to, const Pack<T, VEC>& pack, Index left) {
  if (WHOLE) {
    if (left > 0) *reinterpret_cast<Pack<T, VEC>*>(to) = pack;
  } else {
#pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (i < left) to[i] = pack.at[i];
  }
}

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
__device__ __forceinline__ void pointwise_body(const float* __restrict__ A, float* __restrict__ S, int N) {
  constexpr int VEC = 4;
  constexpr int ITEMS = 1;
  constexpr int ROWS = 256 / THREADS;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int chunks = (N + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks) * ROWS + threadIdx.y;
  if (line >= N) return;
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const long long v1 = static_cast<long long>(line);
  const float* A_5_line = A + size_t(line) * N;
  float* out0_line = S + size_t(line) * N;
  Pack<float, VEC> A_5_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    A_5_kept[item] = load<WHOLE, VEC>(A_5_line + column, N - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const long long v0 = static_cast<long long>(column + i);
      const long long v2 = v0 - v1;
      const bool v4 = v2 <= 0;
      const float v5 = A_5_kept[item].at[i];
      const float v7 = v4 ? v5 : 0.0f;
      out0.at[i] = v7;
    }
    store<WHOLE, VEC>(out0_line + column, out0, N - column);
  }
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) pointwise(const float* __restrict__ A, float* __restrict__ S, int N) {
  if (N % 4 == 0) pointwise_body<true>(A, S, N);
  else pointwise_body<false>(A, S, N);
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_2_body(const float* __restrict__ B, float* __restrict__ S_2, int N) {
  constexpr int VEC = 4;
  constexpr int ITEMS = 1;
  constexpr int ROWS = 256 / THREADS_2;
  constexpr int TILE = ITEMS * THREADS_2 * VEC;
  const int chunks = (N + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks) * ROWS + threadIdx.y;
  if (line >= N) return;
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const long long v1 = static_cast<long long>(line);
  const float* B_5_line = B + size_t(line) * N;
  float* out0_line = S_2 + size_t(line) * N;
  Pack<float, VEC> B_5_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS_2 * VEC;
    B_5_kept[item] = load<WHOLE, VEC>(B_5_line + column, N - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS_2 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const long long v0 = static_cast<long long>(column + i);
      const long long v2 = v0 - v1;
      const bool v4 = v2 <= 0;
      const float v5 = B_5_kept[item].at[i];
      const float v7 = v4 ? v5 : 0.0f;
      out0.at[i] = v7;
    }
    store<WHOLE, VEC>(out0_line + column, out0, N - column);
  }
}

__global__ void __launch_bounds__((THREADS_2 < 256 ? 256 : THREADS_2)) pointwise_2(const float* __restrict__ B, float* __restrict__ S_2, int N) {
  if (N % 4 == 0) pointwise_2_body<true>(B, S_2, N);
  else pointwise_2_body<false>(B, S_2, N);
}

template <bool WHOLE>
__device__ __forceinline__ void matmul_body(const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ C, int N, float left_tile[2][STEP][TILE_N + 4], float right_tile[2][STEP][TILE_M + 4]) {
  constexpr int TN = TILE_N / 16, TM = TILE_M / 16;
  const float* left = S;
  const float* right = S_2;
  const int row_start = blockIdx.y * TILE_N, column_start = blockIdx.x * TILE_M;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  // The other depths meet zeros of a triangular factor.
  const int begin = max(0, column_start) / STEP * STEP, end = min(N, row_start + TILE_N);
  float4 left_held[TILE_N * STEP / 1024], right_held[TILE_M * STEP / 1024];
  float sum[TN][TM] = {};
  fetch_tile<WHOLE, true, TILE_N, STEP>(left_held, left, row_start, N, begin, N);
  fetch_tile<WHOLE, false, TILE_M, STEP>(right_held, right, column_start, N, begin, N);
  place_tile<true, TILE_N, STEP>(left_held, left_tile[0]);
  place_tile<false, TILE_M, STEP>(right_held, right_tile[0]);
  __syncthreads();
  int now = 0;
  for (int start = begin; start < end; start += STEP) {
    const bool more = start + STEP < end;
    if (more) {
      fetch_tile<WHOLE, true, TILE_N, STEP>(left_held, left, row_start, N, start + STEP, N);
      fetch_tile<WHOLE, false, TILE_M, STEP>(right_held, right, column_start, N, start + STEP, N);
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
    if (row >= N) continue;
#pragma unroll
    for (int j = 0; j < TM; ++j) {
      const int column = column_start + j / 4 * 64 + tx * 4 + j % 4;
      if (column >= N) continue;
      const float produced = sum[i][j];
      C[size_t(row) * N + column] = produced;
    }
  }
}

__global__ void __launch_bounds__(256) matmul(const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ C, int N) {
  __shared__ __align__(16) float left_tile[2][STEP][TILE_N + 4], right_tile[2][STEP][TILE_M + 4];
  if (N % 4 == 0) matmul_body<true>(S, S_2, C, N, left_tile, right_tile);
  else matmul_body<false>(S, S_2, C, N, left_tile, right_tile);
}
