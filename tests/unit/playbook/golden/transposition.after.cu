//@ of      transposition.before.cu sha256:a2a40edf8520ec89f1f4a7d6ad5319165866475ca776d3c8d8292dfa8860c0b2
//@ tune    ROWS = 8 | 16 | 4
//@ launch  transposition<<<dim3(ceil_div(N, 32) * ceil_div(M, 32)), dim3(32, ROWS)>>>(X, Y, N, M)
// playbook: as written/fused

__global__ void __launch_bounds__(32 * ROWS) transposition(const float* __restrict__ X, float* __restrict__ Y, int N, int M) {
  constexpr int TILE = 32;
  const int across = (N + TILE - 1) / TILE;
  const int column_start = int(blockIdx.x % across) * TILE, row_start = int(blockIdx.x / across) * TILE;
  __shared__ float tile0[TILE][TILE + 1];
#pragma unroll
  for (int j = threadIdx.y; j < TILE; j += ROWS) {
#pragma unroll
    for (int i = threadIdx.x; i < TILE; i += 32) {
      const int row = row_start + i, column = column_start + j;
      if (row < M && column < N) {
        tile0[j][i] = X[row + size_t(column) * M];
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = threadIdx.y; i < TILE; i += ROWS) {
#pragma unroll
    for (int j = threadIdx.x; j < TILE; j += 32) {
      const int row = row_start + i, column = column_start + j;
      if (row >= M || column >= N) continue;
      const float v0 = float(tile0[j][i]);
      const float v1 = v0 < 0 ? 0 : v0;
      Y[size_t(row) * N + column] = v1;
    }
  }
}
