//@ of      einsum.before.cu sha256:a6dbd8d31ff321c93d63481c31908de0213566b5031d95a553554aae5ec030dc
//@ tune    THREADS = 16
//@ tune    THREADS_2 = 256
//@ tune    TILE_N = 64
//@ tune    TILE_M = 64
//@ tune    STEP = 16
//@ scratch S: float32[Q * H, N, D]
//@ scratch S_2: float32[Q * H, D, M]
//@ launch  pointwise<<<ceil_div((Q * H) * N, 256 / THREADS) * ceil_div(D, 1 * THREADS * 4), dim3(THREADS, 256 / THREADS)>>>(A, S, D, (Q * H) * N, N, H, Q, (N * H) * D, H * D, N * D)
//@ launch  transposition<<<dim3(ceil_div(M, 32) * ceil_div(H * D, 32), Q), THREADS_2>>>(B, S_2, M, H * D, Q, (M * H) * D)
//@ launch  matmul<<<dim3(ceil_div(M, TILE_M), ceil_div(N, TILE_N), Q * H), 256>>>(S, S_2, Y, N, M, D, Q * H, N * M, N * D, D * M)
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
__device__ __forceinline__ void pointwise_body(const float* __restrict__ A, float* __restrict__ S, int D, int n3, int N, int H, int Q, int n7, int n8, int n9) {
  constexpr int VEC = 4;
  constexpr int ITEMS = 1;
  constexpr int ROWS = 256 / THREADS;
  constexpr int TILE = ITEMS * THREADS * VEC;
  const int chunks = (D + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks) * ROWS + threadIdx.y;
  if (line >= n3) return;
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const int at2 = line % N;
  const int at1 = line / N % H;
  const int at0 = line / N / H;
  const float* A_0_line = A + size_t(at0) * n7 + size_t(at1) * D + size_t(at2) * n8;
  float* out0_line = S + size_t(at0) * n7 + size_t(at1) * n9 + size_t(at2) * D;
  Pack<float, VEC> A_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS * VEC;
    A_0_kept[item] = load<WHOLE, VEC>(A_0_line + column, D - column);
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
    store<WHOLE, VEC>(out0_line + column, out0, D - column);
  }
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) pointwise(const float* __restrict__ A, float* __restrict__ S, int D, int n3, int N, int H, int Q, int n7, int n8, int n9) {
  if (D % 4 == 0 && n7 % 4 == 0 && n8 % 4 == 0 && n9 % 4 == 0) pointwise_body<true>(A, S, D, n3, N, H, Q, n7, n8, n9);
  else pointwise_body<false>(A, S, D, n3, N, H, Q, n7, n8, n9);
}

__global__ void __launch_bounds__(THREADS_2) transposition(const float* __restrict__ B, float* __restrict__ S_2, int M, int n3, int Q, int n5) {
  constexpr int TILE = 32;
  const int across = (M + TILE - 1) / TILE;
  const int column_start = int(blockIdx.x % across) * TILE, row_start = int(blockIdx.x / across) * TILE;
  const int at0 = blockIdx.y;
  __shared__ __align__(16) float tile0[TILE * TILE];
  const bool whole = n3 % 4 == 0 && M % 4 == 0 && n5 % 4 == 0;
#pragma unroll
  for (int patch = threadIdx.x; patch < TILE * TILE / 16; patch += THREADS_2) {
    const int i = patch % (TILE / 4) * 4, j = patch / (TILE / 4) * 4;
    {
      __align__(16) float held[4][4];
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int row = row_start + i, column = column_start + j + q;
        const float* from = B + size_t(at0) * n5 + row + size_t(column) * n3;
        if (whole && row < n3 && column < M) {
          *reinterpret_cast<float4*>(held[q]) = *reinterpret_cast<const float4*>(from);
        } else {
#pragma unroll
          for (int r = 0; r < 4; ++r) held[q][r] = row + r < n3 && column < M ? from[r] : 0;
        }
      }
#pragma unroll
      for (int r = 0; r < 4; ++r)
        *reinterpret_cast<float4*>(&tile0[(i + r) * TILE + (j / 4 ^ i / 4) * 4]) = make_float4(held[0][r], held[1][r], held[2][r], held[3][r]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * TILE / 4; pack += THREADS_2) {
    const int i = pack / (TILE / 4), j = pack % (TILE / 4) * 4, row = row_start + i;
    if (row >= n3) continue;
    __align__(16) float results[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int column = column_start + j + q;
      if (column < M) {
        const float v0 = float(tile0[i * TILE + (j / 4 ^ i / 4) * 4 + q]);
        results[q] = v0;
      }
    }
    const int column = column_start + j;
    float* to = S_2 + size_t(at0) * n5 + size_t(row) * M + column;
    if (whole && column < M) {
      *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(results);
    } else {
#pragma unroll
      for (int q = 0; q < 4; ++q)
        if (column + q < M) to[q] = results[q];
    }
  }
}

template <bool WHOLE>
__device__ __forceinline__ void matmul_body(const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ Y, int N, int M, int D, int n6, int n7, int n8, int n9, float left_tile[2][STEP][TILE_N + 4], float right_tile[2][STEP][TILE_M + 4]) {
  constexpr int TN = TILE_N / 16, TM = TILE_M / 16;
  const float* left = S + size_t(blockIdx.z) * n8;
  const float* right = S_2 + size_t(blockIdx.z) * n9;
  const int row_start = blockIdx.y * TILE_N, column_start = blockIdx.x * TILE_M;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int at0 = blockIdx.z;
  float4 left_held[TILE_N * STEP / 1024], right_held[TILE_M * STEP / 1024];
  float sum[TN][TM] = {};
  fetch_tile<WHOLE, true, TILE_N, STEP>(left_held, left, row_start, N, 0, D);
  fetch_tile<WHOLE, false, TILE_M, STEP>(right_held, right, column_start, M, 0, D);
  place_tile<true, TILE_N, STEP>(left_held, left_tile[0]);
  place_tile<false, TILE_M, STEP>(right_held, right_tile[0]);
  __syncthreads();
  int now = 0;
  for (int start = 0; start < D; start += STEP) {
    const bool more = start + STEP < D;
    if (more) {
      fetch_tile<WHOLE, true, TILE_N, STEP>(left_held, left, row_start, N, start + STEP, D);
      fetch_tile<WHOLE, false, TILE_M, STEP>(right_held, right, column_start, M, start + STEP, D);
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
      if (column >= M) continue;
      const float produced = sum[i][j];
      Y[size_t(at0) * n7 + size_t(row) * M + column] = produced;
    }
  }
}

__global__ void __launch_bounds__(256) matmul(const float* __restrict__ S, const float* __restrict__ S_2, float* __restrict__ Y, int N, int M, int D, int n6, int n7, int n8, int n9) {
  __shared__ __align__(16) float left_tile[2][STEP][TILE_N + 4], right_tile[2][STEP][TILE_M + 4];
  if (D % 4 == 0 && M % 4 == 0 && n8 % 4 == 0 && n9 % 4 == 0) matmul_body<true>(S, S_2, Y, N, M, D, n6, n7, n8, n9, left_tile, right_tile);
  else matmul_body<false>(S, S_2, Y, N, M, D, n6, n7, n8, n9, left_tile, right_tile);
}
