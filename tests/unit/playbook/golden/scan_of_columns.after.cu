//@ of      scan_of_columns.before.cu sha256:d144733586e2993057e23d9c2800d41b09d18b28a90fa3e05f1405229afdcfd5
//@ tune    THREADS = 128 | 64 | 256
//@ launch  scan<<<ceil_div(M, THREADS), THREADS>>>(X, Y, N, M)
// playbook: as written/fused

__global__ void __launch_bounds__(THREADS) scan(const float* __restrict__ X, float* __restrict__ Y, int N, int M) {
  const int index = blockIdx.x * THREADS + threadIdx.x;
  if (index >= M) return;
  const int front = index / M, back = index % M;
  const int at1 = back;
  const float* x0 = X + at1;
  float produced = 1;
#pragma unroll 8
  for (int k = 0; k < N; ++k) {
    const int along = k;
    {
      const float v0 = float(x0[size_t(along) * M]);
      produced *= v0;
    }
    Y[size_t(along) * M + at1] = produced;
  }
}
