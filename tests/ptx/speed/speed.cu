// SPDX-License-Identifier: Apache-2.0
// The kernels of tests/benchmarks/sim_speed.cpp; speed.ptx is NVRTC's output (--gpu-architecture=compute_90).
extern "C" __global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void gelu(const float* __restrict__ a, float* __restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = a[i];
    c[i] = 0.5f * x * (1.f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  }
}
extern "C" __global__ void mm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n && c < n) {
    float s = 0.f;
    for (int k = 0; k < n; k++) s += A[r * n + k] * B[k * n + c];
    C[r * n + c] = s;
  }
}
#define T 32
extern "C" __global__ void mmt(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n) {
  __shared__ float As[T][T], Bs[T][T];
  int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * T + ty, c = blockIdx.x * T + tx;
  float s = 0.f;
  for (int t = 0; t < n; t += T) {
    As[ty][tx] = A[r * n + t + tx];
    Bs[ty][tx] = B[(t + ty) * n + c];
    __syncthreads();
    for (int k = 0; k < T; k++) s += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[r * n + c] = s;
}
extern "C" __global__ void softmax(const float* __restrict__ X, float* __restrict__ Y, int n) {
  __shared__ float red[32];
  const float* x = X + (size_t)blockIdx.x * n;
  float* y = Y + (size_t)blockIdx.x * n;
  int t = threadIdx.x, l = t & 31, w = t >> 5;
  float m = -3.4e38f;
  for (int i = t; i < n; i += blockDim.x) m = fmaxf(m, x[i]);
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (!l) red[w] = m;
  __syncthreads();
  if (w == 0) {
    m = l < blockDim.x / 32 ? red[l] : -3.4e38f;
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (!l) red[0] = m;
  }
  __syncthreads();
  m = red[0];
  __syncthreads();
  float s = 0.f;
  for (int i = t; i < n; i += blockDim.x) s += expf(x[i] - m);
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
  if (!l) red[w] = s;
  __syncthreads();
  if (w == 0) {
    s = l < blockDim.x / 32 ? red[l] : 0.f;
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (!l) red[0] = s;
  }
  __syncthreads();
  s = red[0];
  for (int i = t; i < n; i += blockDim.x) y[i] = expf(x[i] - m) / s;
}
