// SPDX-License-Identifier: Apache-2.0
// Group norm, a block for each group of channels, sums in double at the end.
//@ torch   Y = F.group_norm(X, 4, weight, bias, 1e-5)
//@ size    N = 8, C = 16, H = 14, W = 14
//@ check   N = 2, C = 8, H = 5, W = 7
//@ input   X: float32[N, C, H, W]
//@ input   weight: float32[C]
//@ input   bias: float32[C]
//@ output  Y: float32[N, C, H, W]
//@ launch  norm<4><<<N * 4, 96>>>(X, weight, bias, Y, C, H * W)
template <int GROUPS>
__global__ void norm(const float* __restrict__ X, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int C, int S) {
  const int group = blockIdx.x % GROUPS, per = C / GROUPS, count = per * S;
  const size_t start = size_t(blockIdx.x) * count;
  __shared__ double sums[2][3];
  double sum = 0, square = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += X[start + i], square += double(X[start + i]) * X[start + i];
  for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o), square += __shfl_down_sync(~0u, square, o);
  if (threadIdx.x % 32 == 0) sums[0][threadIdx.x / 32] = sum, sums[1][threadIdx.x / 32] = square;
  __syncthreads();
  const double mean = (sums[0][0] + sums[0][1] + sums[0][2]) / count;
  const double variance = (sums[1][0] + sums[1][1] + sums[1][2]) / count - mean * mean;
  const float scale = float(1 / sqrt(variance + 1e-5));
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int channel = group * per + i / S;
    Y[start + i] = (X[start + i] - float(mean)) * scale * weight[channel] + bias[channel];
  }
}
