// SPDX-License-Identifier: Apache-2.0
// Running sums along rows: a thread per row (0), a block with steps in shared memory (1), with shuffles (2), four elements per thread (3).
//@ size    N = 8192, M = 1024
//@ check   N = 256
//@ input   A: float32[N, M]
//@ output  C: float32[N, M]
//@ tune    FORM = 0 | 1 | 2 | 3
//@ tune    BLOCK = 64 | 256 if FORM != 3 || BLOCK == 256
//@ launch  scan<<<FORM == 0 ? N / BLOCK : N, BLOCK>>>(A, C, M)

__device__ float warp_scan(float v) {
  for (int d = 1; d < 32; d *= 2) {
    float other = __shfl_up_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 >= d) v += other;
  }
  return v;
}

__device__ float block_scan(float v, float* part) {
  if constexpr (FORM == 1) {
    part[threadIdx.x] = v;
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
      float other = threadIdx.x >= d ? part[threadIdx.x - d] : 0.0f;
      __syncthreads();
      part[threadIdx.x] = v += other;
      __syncthreads();
    }
    return v;
  }
  v = warp_scan(v);
  if (threadIdx.x % 32 == 31) part[threadIdx.x / 32] = v;
  __syncthreads();
  for (int k = 0; k < threadIdx.x / 32; ++k) v += part[k];
  return v;
}

__global__ void scan(const float* A, float* C, int M) {
  __shared__ float part[BLOCK], last;
  if constexpr (FORM == 0) {
    int row = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < M; ++i) C[row * M + i] = sum += A[row * M + i];
  } else if constexpr (FORM == 3) {
    float4 v = reinterpret_cast<const float4*>(A + blockIdx.x * M)[threadIdx.x];
    v.y += v.x, v.z += v.y, v.w += v.z;
    float before = block_scan(v.w, part) - v.w;
    reinterpret_cast<float4*>(C + blockIdx.x * M)[threadIdx.x] = make_float4(v.x + before, v.y + before, v.z + before, v.w + before);
  } else {
    float carry = 0;
    for (int start = 0; start < M; start += BLOCK) {
      float v = carry + block_scan(A[blockIdx.x * M + start + threadIdx.x], part);
      C[blockIdx.x * M + start + threadIdx.x] = v;
      if (threadIdx.x == BLOCK - 1) last = v;
      __syncthreads();
      carry = last;
    }
  }
}
