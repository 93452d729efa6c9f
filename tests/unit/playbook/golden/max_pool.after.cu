//@ of      max_pool.before.cu sha256:5bd3693981c7743abb30fd1035c1b8a9832a390fbb9d3efbf7244bc83eb6f96c
//@ tune    THREADS = 256 | 128 | 512
//@ launch  pool<<<ceil_div(((B * C) * ((H - 1) / 2 + 1)) * ((W - 1) / 2 + 1), THREADS), THREADS>>>(X, Y, ((B * C) * ((H - 1) / 2 + 1)) * ((W - 1) / 2 + 1), (W - 1) / 2 + 1, (H - 1) / 2 + 1, C, B, H * W, H, W, ((H - 1) / 2 + 1) * ((W - 1) / 2 + 1), (C * ((H - 1) / 2 + 1)) * ((W - 1) / 2 + 1))
// playbook: as written/fused

__global__ void __launch_bounds__(THREADS) pool(const float* __restrict__ X, float* __restrict__ Y, int n2, int n3, int n4, int C, int B, int n7, int H, int W, int n10, int n11) {
  const int index = int(blockIdx.x) * THREADS + threadIdx.x;
  if (index >= n2) return;
  const int at3 = index % n3;
  const int at2 = index / n3 % n4;
  const int at1 = index / n3 / n4 % C;
  const int at0 = index / n3 / n4 / C;
  const float* x = X + size_t(index / n10) * n7;
  float produced = __int_as_float(0xff800000);
#pragma unroll
    for (int b = 0; b < 3; ++b) {
      const int h = at2 * 2 - 1 + b;
      if (h < 0 || h >= H) continue;
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const int w = at3 * 2 - 1 + c;
        if (w < 0 || w >= W) continue;
        const float value = x[(h) * W + w];
        produced = value > produced || value != value ? value : produced;
      }
    }
  const float v1 = produced < 0 ? 0 : produced;
  Y[size_t(at0) * n11 + size_t(at1) * n10 + size_t(at2) * n3 + at3] = v1;
}
