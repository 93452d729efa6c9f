//@ of      direct_convolution.before.cu sha256:1cd14d5582b978bd693beb5d9e5d7620b6712d4e0f3db8dcfbc205f1e2b6dd05
//@ tune    THREADS = 256 | 128 | 512
//@ launch  direct_convolution<<<ceil_div((B * C) * L, THREADS), THREADS>>>(X, weight, Y, (B * C) * L, L, C, B, C * L)
// playbook: as written/fused

__global__ void __launch_bounds__(THREADS) direct_convolution(const float* __restrict__ X, const float* __restrict__ weight, float* __restrict__ Y, int n3, int L, int C, int B, int n7) {
  const int index = int(blockIdx.x) * THREADS + threadIdx.x;
  if (index >= n3) return;
  const int at2 = index % L;
  const int at1 = index / L % C;
  const int at0 = index / L / C;
  const int group = at1 / (C / 8);
  const float* x = X + (size_t(at0) * C + group * 2) * L;
  const float* weights = weight + size_t(at1) * 2 * 5;
  float produced = 0;
  for (int channel = 0; channel < 2; ++channel, x += L, weights += 5) {
#pragma unroll
    for (int c = 0; c < 5; ++c) {
      const int w = at2 - 2 + c;
      if (w < 0 || w >= L) continue;
      produced += x[w] * weights[c];
    }
  }
  Y[size_t(at0) * n7 + size_t(at1) * L + at2] = produced;
}
