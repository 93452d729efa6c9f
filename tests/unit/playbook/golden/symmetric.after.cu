//@ of      symmetric.before.cu sha256:0eb18d13f969fa782a771c8ade27c5779a9610849b12a763748c49b164c45cbf
//@ tune    THREADS = 256 | 128
//@ launch  transposition<<<dim3(ceil_div(N, 32) * ceil_div(N, 32)), THREADS>>>(X, Y, N)
// playbook: symmetric/fused

__global__ void __launch_bounds__(THREADS) transposition(const float* __restrict__ X, float* __restrict__ Y, int N) {
  constexpr int TILE = 32;
  const int across = (N + TILE - 1) / TILE;
  const int column_start = int(blockIdx.x % across) * TILE, row_start = int(blockIdx.x / across) * TILE;
  __shared__ __align__(16) float tile1[TILE * TILE];
  const bool whole = N % 4 == 0;
#pragma unroll
  for (int patch = threadIdx.x; patch < TILE * TILE / 16; patch += THREADS) {
    const int i = patch % (TILE / 4) * 4, j = patch / (TILE / 4) * 4;
    {
      __align__(16) float held[4][4];
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int row = row_start + i, column = column_start + j + q;
        const float* from = X + row + size_t(column) * N;
        if (whole && row < N && column < N) {
          *reinterpret_cast<float4*>(held[q]) = *reinterpret_cast<const float4*>(from);
        } else {
#pragma unroll
          for (int r = 0; r < 4; ++r) held[q][r] = row + r < N && column < N ? from[r] : 0;
        }
      }
#pragma unroll
      for (int r = 0; r < 4; ++r)
        *reinterpret_cast<float4*>(&tile1[(i + r) * TILE + (j / 4 ^ i / 4) * 4]) = make_float4(held[0][r], held[1][r], held[2][r], held[3][r]);
    }
  }
  __syncthreads();
#pragma unroll
  for (int pack = threadIdx.x; pack < TILE * TILE / 4; pack += THREADS) {
    const int i = pack / (TILE / 4), j = pack % (TILE / 4) * 4, row = row_start + i;
    if (row >= N) continue;
    __align__(16) float results[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int column = column_start + j + q;
      if (column < N) {
        const float v0 = float(X[size_t(row) * N + column]);
        const float v1 = float(tile1[i * TILE + (j / 4 ^ i / 4) * 4 + q]);
        const float v2 = v0 + v1;
        const float v3 = v2 < 0 ? 0 : v2;
        results[q] = v3;
      }
    }
    const int column = column_start + j;
    float* to = Y + size_t(row) * N + column;
    if (whole && column < N) {
      *reinterpret_cast<float4*>(to) = *reinterpret_cast<const float4*>(results);
    } else {
#pragma unroll
      for (int q = 0; q < 4; ++q)
        if (column + q < N) to[q] = results[q];
    }
  }
}
