// SPDX-License-Identifier: Apache-2.0
// Kernels of the kind that models write; kernels.ptx is NVRTC's output (--gpu-architecture=compute_90 --generate-line-info).
__constant__ float weights[3] = {1.0f, 2.0f, 3.0f};

extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void matmul_tiled(const float* A, const float* B, float* C, int n) {
  __shared__ float As[16][16], Bs[16][16];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    As[ty][tx] = row < n && t + tx < n ? A[row * n + t + tx] : 0.0f;
    Bs[ty][tx] = t + ty < n && column < n ? B[(t + ty) * n + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < n && column < n) C[row * n + column] = sum;
}

extern "C" __global__ void softmax(const float* X, float* Y, int n) {
  __shared__ float shared[32];
  const float* x = X + (size_t)blockIdx.x * n;
  float* y = Y + (size_t)blockIdx.x * n;
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  float most = -3.4e38f;
  for (int i = t; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
  for (int o = 16; o; o >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  if (lane == 0) shared[warp] = most;
  __syncthreads();
  most = lane < blockDim.x / 32 ? shared[lane] : -3.4e38f;
  for (int o = 16; o; o >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, o));
  __syncthreads();
  float sum = 0;
  for (int i = t; i < n; i += blockDim.x) sum += expf(x[i] - most);
  for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) shared[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? shared[lane] : 0.0f;
    for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
    if (lane == 0) shared[0] = sum;
  }
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) y[i] = expf(x[i] - most) / shared[0];
}

extern "C" __global__ void sum_atomic(const float* x, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
  if ((threadIdx.x & 31) == 0) atomicAdd(out, sum);
}

extern "C" __global__ void histogram(const unsigned* keys, unsigned* bins, int n) {
  __shared__ unsigned local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[keys[i] & 63], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * columns + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < rows && y + j < columns) out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}

__device__ __noinline__ float weighted(const float* x, int i) {
  float history[4];
  for (int k = 0; k < 4; ++k) history[(i + k) & 3] = x[i + k];
  return history[0] * weights[i % 3] + history[1] + history[2] - history[3];
}

extern "C" __global__ void calls(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = weighted(x, i);
}

extern "C" __global__ void dynamic_reverse(const float* x, float* y, int n) {
  extern __shared__ float buffer[];
  int i = threadIdx.x;
  buffer[i] = x[i];
  __syncthreads();
  y[i] = buffer[n - 1 - i];
}

extern "C" __global__ void copy4(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 v = x[i];
    v.x *= 2;
    v.w += 1;
    y[i] = v;
  }
}

extern "C" __global__ void collatz(const int* x, int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i], count = 0;
  while (v != 1) {
    if (v % 2) v = 3 * v + 1;
    else v /= 2;
    ++count;
  }
  steps[i] = count;
}

// A look-back over blocks: each waits for the one before.
extern "C" __global__ void chained_scan(const int* x, int* y, volatile int* totals, volatile int* ready, int n) {
  __shared__ int before;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ int values[256];
  values[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int o = 1; o < 256; o <<= 1) {
    int v = threadIdx.x >= o ? values[threadIdx.x - o] : 0;
    __syncthreads();
    values[threadIdx.x] += v;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    int sum = 0;
    if (blockIdx.x > 0) {
      while (!ready[blockIdx.x - 1]) {}
      __threadfence();
      sum = totals[blockIdx.x - 1];
    }
    totals[blockIdx.x] = sum + values[255];
    __threadfence();
    ready[blockIdx.x] = 1;
    before = sum;
  }
  __syncthreads();
  if (i < n) y[i] = before + values[threadIdx.x];
}

// Every block waits for all the others.
extern "C" __global__ void grid_barrier(int* counter, int* out) {
  if (threadIdx.x == 0) {
    atomicAdd(counter, 1);
    while (atomicAdd(counter, 0) < (int)gridDim.x) {}
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = *(volatile int*)counter;
}

// A lock that lanes of one warp take in turn.
extern "C" __global__ void lane_lock(int* lock, int* value) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      *value += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

extern "C" __global__ void says(int n) {
  if (threadIdx.x == 0) printf("block %d of %s: %5.2f %lld %%\n", (int)blockIdx.x, "grid", 1.5 * n, 1ll << 40);
}
