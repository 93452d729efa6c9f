//@ of      own_staging.before.cu sha256:5799567cca7bfde7d114471ea3ba01b5680cb3ebd01a64defde7109ae15e9964
//@ tune    ITEMS = 8 | 4 | 2
//@ launch  matmul<<<dim3(ceil_div(M, 16 * ITEMS), ceil_div(N, 16 * ITEMS)), dim3(16, 16)>>>(A, B, C, N, K, M)
// playbook: own kernel/staging, read-only

__global__ void matmul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N, int K, int M) {
  constexpr int STEPS = 16;
  __shared__ __align__(16) float A_tile[STEPS][16 * ITEMS + 4];
  __shared__ __align__(16) float B_tile_2[STEPS][16 * ITEMS + 4];
  float sum_of[ITEMS][ITEMS] = {};
#pragma unroll
  for (int item_y = 0; item_y < ITEMS; ++item_y)
#pragma unroll
  for (int item_x = 0; item_x < ITEMS; ++item_x) {
    const int column = static_cast<int>(blockIdx.x) * (16 * ITEMS) + item_x * 16 + threadIdx.x;
    const int row = static_cast<int>(blockIdx.y) * (16 * ITEMS) + threadIdx.y * ITEMS + item_y;
    if (row < N && column < M) {
      float &sum = sum_of[item_y][item_x];
      sum = 0;
    }
  }
  const int line = threadIdx.y * 16 + threadIdx.x;
  for (int k_0 = 0; k_0 < K; k_0 += STEPS) {
#pragma unroll
    for (int place = line; place < STEPS * (16 * ITEMS); place += 256) {
      const int row = static_cast<int>(blockIdx.y) * (16 * ITEMS) + place / STEPS;
      const int k = k_0 + place % STEPS;
      A_tile[place % STEPS][place / STEPS] = row < N && k < K ? A[row * K + k] : 0;
    }
#pragma unroll
    for (int place = line; place < STEPS * (16 * ITEMS); place += 256) {
      const int column = static_cast<int>(blockIdx.x) * (16 * ITEMS) + place % (16 * ITEMS);
      const int k = k_0 + place / (16 * ITEMS);
      B_tile_2[place / (16 * ITEMS)][place % (16 * ITEMS)] = column < M && k < K ? B[k * M + column] : 0;
    }
    __syncthreads();
    const auto walk = [&](int step) {
      float A_held[ITEMS];
#pragma unroll
      for (int item_x = 0; item_x < ITEMS; ++item_x) A_held[item_x] = A_tile[step][threadIdx.y * ITEMS + item_x];
      float B_held_2[ITEMS];
#pragma unroll
      for (int item_x = 0; item_x < ITEMS; ++item_x) B_held_2[item_x] = B_tile_2[step][item_x * 16 + threadIdx.x];
#pragma unroll
      for (int item_y = 0; item_y < ITEMS; ++item_y)
#pragma unroll
      for (int item_x = 0; item_x < ITEMS; ++item_x) {
        const int column = static_cast<int>(blockIdx.x) * (16 * ITEMS) + item_x * 16 + threadIdx.x;
        const int row = static_cast<int>(blockIdx.y) * (16 * ITEMS) + threadIdx.y * ITEMS + item_y;
        float &sum = sum_of[item_y][item_x];
        sum += A_held[item_y] * B_held_2[item_x];
      }
    };
    const int steps = K - k_0 < STEPS ? static_cast<int>(K - k_0) : STEPS;
    if (steps == STEPS) {
#pragma unroll
      for (int step = 0; step < STEPS; ++step) walk(step);
    } else {
      for (int step = 0; step < steps; ++step) walk(step);
    }
    __syncthreads();
  }
#pragma unroll
  for (int item_y = 0; item_y < ITEMS; ++item_y)
#pragma unroll
  for (int item_x = 0; item_x < ITEMS; ++item_x) {
    const int column = static_cast<int>(blockIdx.x) * (16 * ITEMS) + item_x * 16 + threadIdx.x;
    const int row = static_cast<int>(blockIdx.y) * (16 * ITEMS) + threadIdx.y * ITEMS + item_y;
    if (row < N && column < M) {
      float &sum = sum_of[item_y][item_x];
      C[row * M + column] = sum;
    }
  }
}
