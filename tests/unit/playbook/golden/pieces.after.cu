//@ of      pieces.before.cu sha256:5ca25dac3e235a07b50e0810c3cd0af9769866ad012e9e7100b70c94dd93dcf1
//@ tune    THREADS = 256 | 512 | 1024
//@ launch  rows<<<ceil_div(C, max(1, 256 / THREADS)), dim3(THREADS, max(1, 256 / THREADS))>>>(X, weight, bias, Y, B * (H * W), C, H * W, B, (C * H) * W)
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

template <bool WHOLE>
__device__ __forceinline__ void rows_body(const float* __restrict__ X, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int n4, int C, int n6, int B, int n8) {
  constexpr int VEC = 4;
  constexpr int ROWS = THREADS < 256 ? 256 / THREADS : 1;
  constexpr int ITEMS = (8192 + THREADS * VEC - 1) / (THREADS * VEC);
  const int first = int(blockIdx.x) * ROWS + threadIdx.y;
  const bool live = first < C;
  const int line = live ? first : C - 1;  // idle threads keep the barriers whole
  const float* X_0_line = X + size_t(line) * n6;
  const float weight_12 = float(weight[line]);
  const float bias_14 = float(bias[line]);
  float acc1 = 0;
  Pack<float, VEC> X_0_kept[ITEMS];
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    if (WHOLE) {
      X_0_kept[item] = load<true, VEC>(X_0_line + ((column % n6) + size_t((column / n6)) * n8), n4 - column);
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < n4) X_0_kept[item].at[i] = X_0_line[(((column + i)) % n6) + size_t((((column + i)) / n6)) * n8];
    }
  }
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      if (column + (WHOLE ? 0 : i) < n4) {
        acc1 += v0;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < n4; column += THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    if (WHOLE) {
      X_0_pack = load<true, VEC>(X_0_line + ((column % n6) + size_t((column / n6)) * n8), n4 - column);
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < n4) X_0_pack.at[i] = X_0_line[(((column + i)) % n6) + size_t((((column + i)) / n6)) * n8];
    }
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      if (column + (WHOLE ? 0 : i) < n4) {
        acc1 += v0;
      }
    }
  }
  const float v1 = reduce_row<THREADS, ROWS>(acc1, Sum());
  const float v3 = v1 / float(float(n4));
  float acc6 = 0;
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v4 = v0 - v3;
      const float v5 = v4 * v4;
      if (column + (WHOLE ? 0 : i) < n4) {
        acc6 += v5;
      }
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < n4; column += THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    if (WHOLE) {
      X_0_pack = load<true, VEC>(X_0_line + ((column % n6) + size_t((column / n6)) * n8), n4 - column);
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < n4) X_0_pack.at[i] = X_0_line[(((column + i)) % n6) + size_t((((column + i)) / n6)) * n8];
    }
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      const float v4 = v0 - v3;
      const float v5 = v4 * v4;
      if (column + (WHOLE ? 0 : i) < n4) {
        acc6 += v5;
      }
    }
  }
  const float v6 = reduce_row<THREADS, ROWS>(acc6, Sum());
  const float v7 = v6 / float(float(n4));
  const float v9 = v7 + 1e-05f;
  const float v10 = rsqrt(v9);
  float* out0_line = Y + size_t(line) * n6;
  #pragma unroll
  for (int item = 0; item < ITEMS; ++item) {
    const int column = (item * THREADS + int(threadIdx.x)) * VEC;
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_kept[item].at[i];
      const float v4 = v0 - v3;
      const float v11 = v4 * v10;
      const float v13 = v11 * weight_12;
      const float v15 = v13 + bias_14;
      out0.at[i] = v15;
    }
    if (WHOLE) {
      if (live) store<true, VEC>(out0_line + ((column % n6) + size_t((column / n6)) * n8), out0, n4 - column);
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (live && column + i < n4) out0_line[(((column + i)) % n6) + size_t((((column + i)) / n6)) * n8] = out0.at[i];
    }
  }
  for (int column = (ITEMS * THREADS + int(threadIdx.x)) * VEC; column < n4; column += THREADS * VEC) {
    Pack<float, VEC> X_0_pack = {};
    if (WHOLE) {
      X_0_pack = load<true, VEC>(X_0_line + ((column % n6) + size_t((column / n6)) * n8), n4 - column);
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (column + i < n4) X_0_pack.at[i] = X_0_line[(((column + i)) % n6) + size_t((((column + i)) / n6)) * n8];
    }
    Pack<float, VEC> out0;
    #pragma unroll
    for (int i = 0; i < VEC; ++i) {
      const float v0 = X_0_pack.at[i];
      const float v4 = v0 - v3;
      const float v11 = v4 * v10;
      const float v13 = v11 * weight_12;
      const float v15 = v13 + bias_14;
      out0.at[i] = v15;
    }
    if (WHOLE) {
      if (live) store<true, VEC>(out0_line + ((column % n6) + size_t((column / n6)) * n8), out0, n4 - column);
    } else {
    #pragma unroll
    for (int i = 0; i < VEC; ++i)
      if (live && column + i < n4) out0_line[(((column + i)) % n6) + size_t((((column + i)) / n6)) * n8] = out0.at[i];
    }
  }
}

__global__ void __launch_bounds__((THREADS < 256 ? 256 : THREADS)) rows(const float* __restrict__ X, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int n4, int C, int n6, int B, int n8) {
  if (n4 % 4 == 0 && n6 % 4 == 0 && n8 % 4 == 0) rows_body<true>(X, weight, bias, Y, n4, C, n6, B, n8);
  else rows_body<false>(X, weight, bias, Y, n4, C, n6, B, n8);
}
