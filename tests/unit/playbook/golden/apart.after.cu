//@ of      apart.before.cu sha256:26bd660a037dea1f2a49e30e8960af0f5e08067bb2edffa93f16e166646341a2
//@ tune    THREADS = 256 | 512 | 128
//@ tune    THREADS_2 = 8
//@ tune    THREADS_3 = 256
//@ tune    THREADS_4 = 8
//@ tune    ITEMS = 4
//@ tune    THREADS_5 = 256
//@ scratch S: float32[1, C, 1, 1]
//@ scratch S_2: float32[17, 1, C, 1, 1]
//@ scratch S_3: float32[17, 1, C, 1, 1]
//@ scratch S_4: float32[1, 1, C, 1, 1]
//@ launch  row_parts<<<dim3(ceil_div(C, max(1, 256 / THREADS)), 17), dim3(THREADS, max(1, 256 / THREADS))>>>(X, S_2, B * (H * W), C, H * W, B, (C * H) * W)
//@ launch  columns<<<ceil_div(C, 32), dim3(32, THREADS_2)>>>(S_2, S, C)
//@ launch  row_parts_2<<<dim3(ceil_div(C, max(1, 256 / THREADS_3)), 17), dim3(THREADS_3, max(1, 256 / THREADS_3))>>>(X, S, S_3, B * (H * W), C, H * W, B, (C * H) * W)
//@ launch  columns_2<<<ceil_div(C, 32), dim3(32, THREADS_4)>>>(S_3, S_4, C)
//@ launch  pointwise<<<(B * C) * ceil_div(H * W, ITEMS * THREADS_5 * 4), THREADS_5>>>(X, S, S_4, weight, bias, Y, H * W, B * C, C, B, (C * H) * W, (B * H) * W)
// playbook: as written/reductions apart

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

template <typename T>
__device__ __forceinline__ T exchange(T value, int offset) {
  return __shfl_xor_sync(0xffffffffu, value, offset);
}

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

// The values of one row's THREADS threads, combined; every thread gets the result.
template <int THREADS, int ROWS, typename T, typename Combine>
__device__ T reduce_row(T value, Combine combine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value = combine(value, exchange(value, offset));
  if constexpr (THREADS > 32) {
    __shared__ T partial[ROWS][THREADS / 32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.y][threadIdx.x / 32] = value;
    __syncthreads();
    value = partial[threadIdx.y][0];
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; ++warp) value = combine(value, partial[threadIdx.y][warp]);
  }
  return value;
}

// The values of one column's THREADS threads (threadIdx.y), combined; every thread gets the result.
template <int THREADS, int LINES, typename T, typename Combine>
__device__ T reduce_column(T value, Combine combine) {
  if constexpr (THREADS > 1) {
    __shared__ T partial[THREADS][LINES];
    __syncthreads();
    partial[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    value = partial[0][threadIdx.x];
    for (int other = 1; other < THREADS; ++other) value = combine(value, partial[other][threadIdx.x]);
  }
  return value;
}

template <bool WHOLE>
__device__ __forceinline__ void row_parts_body(const float* __restrict__ X, float* __restrict__ S_2, int n2, int C, int n4, int B, int n6) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < C;
  const int line = live ? first : C - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + size_t(line) * n4;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = (int(blockIdx.y) * THREADS + int(threadIdx.x)) * VEC; column < n2; column += int(gridDim.y) * THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    if (WHOLE) {
      X_0_pack = load<true, VEC>(X_0_line + ((column % n4) + size_t((column / n4)) * n6), n2 - column);
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < n2) X_0_pack.at[i] = X_0_line[(((column + i)) % n4) + size_t((((column + i)) / n4)) * n6];
    }
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      if (column + (WHOLE ? 0 : i) < n2) {
        acc1 += v0;
      }
    }
  }
  const float v1 = reduce_row<THREADS, ROWS>(acc1, Sum());
  if (live && threadIdx.x == 0) S_2[line + size_t(blockIdx.y) * C] = v1;
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) row_parts(const float* __restrict__ X, float* __restrict__ S_2, int n2, int C, int n4, int B, int n6) {
  if (n2 % 4 == 0 && n4 % 4 == 0 && n6 % 4 == 0) row_parts_body<true>(X, S_2, n2, C, n4, B, n6);
  else row_parts_body<false>(X, S_2, n2, C, n4, B, n6);
}

__global__ void __launch_bounds__(32 * THREADS_2) columns(const float* __restrict__ S_2, float* __restrict__ S, int C) {
  const int first = int(blockIdx.x) * 32 + threadIdx.x;
  const bool live = first < C;
  const int line = live ? first : C - 1;  // idle threads keep the barriers whole
  const float* S_2_0_line = S_2 + line;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = threadIdx.y; column < 17; column += THREADS_2) {
    const float v0 = S_2_0_line[size_t(column) * C];
    acc1 += v0;
  }
  const float v1 = reduce_column<THREADS_2, 32>(acc1, Sum());
  if (live && threadIdx.y == 0) S[line] = v1;
}

template <bool WHOLE>
__device__ __forceinline__ void row_parts_2_body(const float* __restrict__ X, const float* __restrict__ S, float* __restrict__ S_3, int n3, int C, int n5, int B, int n7) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS_3 < 256 ? 256 / THREADS_3 : 1;
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < C;
  const int line = live ? first : C - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + size_t(line) * n5;
  const float S_1 = float(S[line]);
  const float v3 = S_1 / float(float(n3));
  float acc6 = 0;
  #pragma unroll 4
  for (int column = (int(blockIdx.y) * THREADS_3 + int(threadIdx.x)) * VEC; column < n3; column += int(gridDim.y) * THREADS_3 * VEC) {
    Pack<float, VEC> X_0_pack = {};
    if (WHOLE) {
      X_0_pack = load<true, VEC>(X_0_line + ((column % n5) + size_t((column / n5)) * n7), n3 - column);
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < n3) X_0_pack.at[i] = X_0_line[(((column + i)) % n5) + size_t((((column + i)) / n5)) * n7];
    }
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      const float v4 = v0 - v3;
      const float v5 = v4 * v4;
      if (column + (WHOLE ? 0 : i) < n3) {
        acc6 += v5;
      }
    }
  }
  const float v6 = reduce_row<THREADS_3, ROWS>(acc6, Sum());
  if (live && threadIdx.x == 0) S_3[line + size_t(blockIdx.y) * C] = v6;
}

__global__ void __launch_bounds__((THREADS_3 < 256 ? 256 : THREADS_3)) row_parts_2(const float* __restrict__ X, const float* __restrict__ S, float* __restrict__ S_3, int n3, int C, int n5, int B, int n7) {
  if (n3 % 4 == 0 && n5 % 4 == 0 && n7 % 4 == 0) row_parts_2_body<true>(X, S, S_3, n3, C, n5, B, n7);
  else row_parts_2_body<false>(X, S, S_3, n3, C, n5, B, n7);
}

__global__ void __launch_bounds__(32 * THREADS_4) columns_2(const float* __restrict__ S_3, float* __restrict__ S_4, int C) {
  const int first = int(blockIdx.x) * 32 + threadIdx.x;
  const bool live = first < C;
  const int line = live ? first : C - 1;  // idle threads keep the barriers whole
  const float* S_3_0_line = S_3 + line;
  float acc1 = 0;
  #pragma unroll 4
  for (int column = threadIdx.y; column < 17; column += THREADS_4) {
    const float v0 = S_3_0_line[size_t(column) * C];
    acc1 += v0;
  }
  const float v1 = reduce_column<THREADS_4, 32>(acc1, Sum());
  if (live && threadIdx.y == 0) S_4[line] = v1;
}

template <bool WHOLE>
__device__ __forceinline__ void pointwise_body(const float* __restrict__ X, const float* __restrict__ S, const float* __restrict__ S_4, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int n6, int n7, int C, int B, int n10, int n11) {
  constexpr int VEC = 4;
  constexpr int TILE = ITEMS * THREADS_5 * VEC;
  const int chunks = (n6 + TILE - 1) / TILE;
  const int line = int(blockIdx.x / chunks);
  const int start = int(blockIdx.x % chunks) * TILE + int(threadIdx.x) * VEC;
  const int at1 = line % C;
  const int at0 = line / C;
  const float* X_0_line = X + size_t(at0) * n10 + size_t(at1) * n6;
  const float S_1 = float(S[at1]);
  const float S_4_5 = float(S_4[at1]);
  const float weight_11 = float(weight[at1]);
  const float bias_13 = float(bias[at1]);
  const float v3 = S_1 / float(float(n11));
  const float v6 = S_4_5 / float(float(n11));
  const float v8 = v6 + 1e-05f;
  const float v9 = rsqrt(v8);
  float* out0_line = Y + size_t(at0) * n10 + size_t(at1) * n6;
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS_5 * VEC;
    X_0_kept[item] = load<WHOLE, VEC>(X_0_line + column, n6 - column);
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = start + item * THREADS_5 * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v4 = v0 - v3;
      const float v10 = v4 * v9;
      const float v12 = v10 * weight_11;
      const float v14 = v12 + bias_13;
      out0.at[i] = v14;
    }
    store<WHOLE, VEC>(out0_line + column, out0, n6 - column);
  }
}

__global__ void __launch_bounds__(THREADS_5) pointwise(const float* __restrict__ X, const float* __restrict__ S, const float* __restrict__ S_4, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int n6, int n7, int C, int B, int n10, int n11) {
  if (n6 % 4 == 0 && n10 % 4 == 0) pointwise_body<true>(X, S, S_4, weight, bias, Y, n6, n7, C, B, n10, n11);
  else pointwise_body<false>(X, S, S_4, weight, bias, Y, n6, n7, C, B, n10, n11);
}
