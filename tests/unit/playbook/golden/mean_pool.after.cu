//@ of      mean_pool.before.cu sha256:2815d1696370d8d569e5ca52ca08c801535a422f941198b1add072f254a02e47
//@ tune    THREADS = 256 | 128 | 512
//@ launch  pool<<<ceil_div((B * C) * ((L - 1) / 2 + 1), THREADS), THREADS>>>(X, Y, (B * C) * ((L - 1) / 2 + 1), (L - 1) / 2 + 1, C, B, L, C * ((L - 1) / 2 + 1))
// playbook: as written/fused

__global__ void __launch_bounds__(THREADS) pool(const float* __restrict__ X, float* __restrict__ Y, int n2, int n3, int C, int B, int L, int n7) {
  const int index = int(blockIdx.x) * THREADS + threadIdx.x;
  if (index >= n2) return;
  const int at2 = index % n3;
  const int at1 = index / n3 % C;
  const int at0 = index / n3 / C;
  const float* x = X + size_t(index / n3) * L;
  float produced = 0;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int w = at2 * 2 - 1 + c;
      if (w < 0 || w >= L) continue;
      const float value = x[w];
      produced += value;
    }
  const int start_w = at2 * 2 - 1;
  const int count_w = min(start_w + 4, L) - max(start_w, 0);
  produced /= float(count_w);
  Y[size_t(at0) * n7 + size_t(at1) * n3 + at2] = produced;
}
