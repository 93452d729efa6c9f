// SPDX-License-Identifier: Apache-2.0
// A tile with its halo in shared memory and the weights in a local array.
//@ torch   Y = F.relu(F.conv2d(X, W, padding=1))
//@ size    N = 2, H = 32
//@ check   N = 1, H = 21
//@ input   X: float32[N, 1, H, H]
//@ input   W: float32[1, 1, 3, 3]
//@ output  Y: float32[N, 1, H, H]
//@ launch  conv<<<dim3(ceil_div(H, 16), ceil_div(H, 8), N), dim3(16, 8)>>>(X, W, Y, H)
__global__ void conv(const float* X, const float* W, float* Y, int H) {
  __shared__ float tile[10][18];
  const int left = blockIdx.x * 16 - 1, top = blockIdx.y * 8 - 1;
  const float* image = X + blockIdx.z * H * H;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 180; i += 128) {
    const int r = top + i / 18, s = left + i % 18;
    tile[i / 18][i % 18] = r >= 0 && r < H && s >= 0 && s < H ? image[r * H + s] : 0;
  }
  float w[9];
  for (int i = 0; i < 9; ++i) w[i] = W[i];
  __syncthreads();
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= H || y >= H) return;
  float sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += w[i * 3 + j] * tile[threadIdx.y + i][threadIdx.x + j];
  Y[(blockIdx.z * H + y) * H + x] = max(sum, 0.0f);
}
