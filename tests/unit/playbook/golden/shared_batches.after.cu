//@ of      shared_batches.before.cu sha256:67a654f3c8d7dc34a5c79b50290f7a3c5bf73b8e616fa9b1487f31b3031ca5de
//@ tune    ITEMS = 4 | 2 | 8
//@ tune    THREADS = 256 | 128 | 512
//@ tune    TILE_N = 64
//@ tune    TILE_M = 64
//@ tune    STEP = 16
//@ tune    ITEMS_2 = 4
//@ tune    THREADS_2 = 256
//@ scratch S: float32[H, Q * N, M]
//@ scratch S_2: float32[H, Q * N, K]
//@ launch  pointwise<<<(H * Q) * ceil_div(N * K, ITEMS * THREADS * 4), THREADS>>>(A, S_2, N * K, H * Q, Q, H, (H * N) * K, (Q * N) * K)
//@ launch  matmul<<<dim3(ceil_div(M, TILE_M), ceil_div(Q * N, TILE_N), H), 256>>>(S_2, B, S, Q * N, M, K, H, (Q * N) * M, (Q * N) * K, K * M)
//@ launch  pointwise_2<<<(Q * H) * ceil_div(N * M, ITEMS_2 * THREADS_2 * 4), THREADS_2>>>(S, Y, N * M, Q * H, H, Q, (Q * N) * M, (H * N) * M)
// playbook: as written/fused

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
__device__ __forceinline__ void pointwise_body(const float* __restrict__ A, float* __restrict__ S_2, int n2, int n3, int Q, int H, int n6, int n7) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int chunks = (n2 + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const int at1 = line % Q;
  const int at0 = line / Q;
  const float* A_0_line = A + size_t(at0) * n2 + size_t(at1) * n6;
  float* out0_line = S_2 + size_t(at0) * n7 + size_t(at1) * n2;
  Pack<float, VEC> A_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    A_0_kept[item] = load<WHOLE, VEC>(A_0_line + column, n2 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = A_0_kept[item].at[i];
      out0.at[i] = v0;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n2 - column);
  }
}

__global__ void __launch_bounds__(THREADS) pointwise(const float* __restrict__ A, float* __restrict__ S_2, int n2, int n3, int Q, int H, int n6, int n7) {
  if (n2 % 4 == 0 && n6 % 4 == 0 && n7 % 4 == 0) pointwise_body<true>(A, S_2, n2, n3, Q, H, n6, n7);
  else pointwise_body<false>(A, S_2, n2, n3, Q, H, n6, n7);
}

template <bool WHOLE>
__device__ __forceinline__ void matmul_body(const float* __restrict__ S_2, const float* __restrict__ B, float* __restrict__ S, int n3, int M, int K, int H, int n7, int n8, int n9, float left_tile[2][STEP][TILE_N + 4], float right_tile[2][STEP][TILE_M + 4]) {
  constexpr int TN = TILE_N / 16, TM = TILE_M / 16;
  const float* left = S_2 + size_t(blockIdx.z) * n8;
  const float* right = B + size_t(blockIdx.z) * n9;
  const int row_start = blockIdx.y * TILE_N, column_start = blockIdx.x * TILE_M;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int at0 = blockIdx.z;
  float4 left_held[TILE_N * STEP / 1024], right_held[TILE_M * STEP / 1024];
  float sum[TN][TM] = {};
  fetch_tile<WHOLE, true, TILE_N, STEP>(left_held, left, row_start, n3, 0, K);
  fetch_tile<WHOLE, false, TILE_M, STEP>(right_held, right, column_start, M, 0, K);
  place_tile<true, TILE_N, STEP>(left_held, left_tile[0]);
  place_tile<false, TILE_M, STEP>(right_held, right_tile[0]);
  __syncthreads();
  int now = 0;
  for (int start = 0; start < K; start += STEP) {
    const bool more = start + STEP < K;
    if (more) {
      fetch_tile<WHOLE, true, TILE_N, STEP>(left_held, left, row_start, n3, start + STEP, K);
      fetch_tile<WHOLE, false, TILE_M, STEP>(right_held, right, column_start, M, start + STEP, K);
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
    if (row >= n3) continue;
#pragma unroll
    for (int j = 0; j < TM; ++j) {
      const int column = column_start + j / 4 * 64 + tx * 4 + j % 4;
      if (column >= M) continue;
      const float produced = sum[i][j];
      S[size_t(at0) * n7 + size_t(row) * M + column] = produced;
    }
  }
}

__global__ void __launch_bounds__(256) matmul(const float* __restrict__ S_2, const float* __restrict__ B, float* __restrict__ S, int n3, int M, int K, int H, int n7, int n8, int n9) {
  __shared__ __align__(16) float left_tile[2][STEP][TILE_N + 4], right_tile[2][STEP][TILE_M + 4];
  if (K % 4 == 0 && M % 4 == 0 && n8 % 4 == 0 && n9 % 4 == 0) matmul_body<true>(S_2, B, S, n3, M, K, H, n7, n8, n9, left_tile, right_tile);
  else matmul_body<false>(S_2, B, S, n3, M, K, H, n7, n8, n9, left_tile, right_tile);
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_2_body(const float* __restrict__ S, float* __restrict__ Y, int n2, int n3, int H, int Q, int n6, int n7) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS_2 * THREADS_2 * VEC;
  const int chunks = (n2 + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const int at1 = line % H;
  const int at0 = line / H;
  const float* S_0_line = S + size_t(at0) * n2 + size_t(at1) * n6;
  float* out0_line = Y + size_t(at0) * n7 + size_t(at1) * n2;
  Pack<float, VEC> S_0_kept[ITEMS_2];
  #pragma unroll
  for (int item = 0; item < ITEMS_2; ++item) {
    const int column = start + item * THREADS_2 * VEC;
    S_0_kept[item] = load<WHOLE, VEC>(S_0_line + column, n2 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS_2; ++item) {
    const int column = start + item * THREADS_2 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = S_0_kept[item].at[i];
      out0.at[i] = v0;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n2 - column);
  }
}

__global__ void __launch_bounds__(THREADS_2) pointwise_2(const float* __restrict__ S, float* __restrict__ Y, int n2, int n3, int H, int Q, int n6, int n7) {
  if (n2 % 4 == 0 && n6 % 4 == 0 && n7 % 4 == 0) pointwise_2_body<true>(S, Y, n2, n3, H, Q, n6, n7);
  else pointwise_2_body<false>(S, Y, n2, n3, H, Q, n6, n7);
}
