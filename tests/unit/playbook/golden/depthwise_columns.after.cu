//@ of      depthwise_columns.before.cu sha256:473321444a0261021d1854e1743b50db0b1b066275444e5b976c124cbc732737
//@ tune    THREADS = 256 | 128 | 512
//@ launch  depthwise_convolution<<<ceil_div(((B * C) * (ceil_div((H - 1) / 2 + 1, 8))) * L, THREADS), THREADS>>>(X, weight, bias, Y, ((B * C) * (ceil_div((H - 1) / 2 + 1, 8))) * L, L, ceil_div((H - 1) / 2 + 1, 8), C, B, (C * ((H - 1) / 2 + 1)) * L, ((H - 1) / 2 + 1) * L, (H - 1) / 2 + 1, H * L, H)
// playbook: as written/columns

__global__ void __launch_bounds__(THREADS) depthwise_convolution(const float* __restrict__ X, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int n4, int L, int n6, int C, int B, int n9, int n10, int n11, int n12, int H) {
  // Neighbouring threads make neighbouring columns of 8 results below each other, which share their inputs.
  const int index = int(blockIdx.x) * THREADS + threadIdx.x;
  if (index >= n4) return;
  const int at3 = index % L;
  const int at2 = index / L % n6;
  const int at1 = index / L / n6 % C;
  const int at0 = index / L / n6 / C;
  const int first = at2 * 8, group = at1 / (C / 16);
  const float* x = X + (size_t(at0) * C + group * 1) * n12;
  const float* weights = weight + size_t(at1) * 1 * 9;
  float sums[8] = {};
  for (int channel = 0; channel < 1; ++channel, x += n12, weights += 9) {
    float held[9];
#pragma unroll
    for (int k = 0; k < 9; ++k) held[k] = weights[k];
#pragma unroll
    for (int a = 0; a < 1; ++a) {
      const int d = 0 + a * 1;
      const float* layer = x + d * H * L;
#pragma unroll
      for (int r = 0; r < 17; ++r) {
        const int h = first * 2 - 1 + r;
#pragma unroll
        for (int c = 0; c < 3; ++c) {
          const int w = at3 * 1 - 1 + c * 1;
          const bool there = unsigned(d) < unsigned(1) && unsigned(h) < unsigned(H) && unsigned(w) < unsigned(L);
          const float value = there ? layer[h * L + w] : 0.0f;
#pragma unroll
          for (int i = 0; i < 8; ++i)
            if (r - i * 2 >= 0 && r - i * 2 < 3) sums[i] += value * held[(a * 3 + r - i * 2) * 3 + c];
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = first + i;
    if (row >= n11) break;
    const float produced = sums[i];
    const float v1 = float(bias[at1]);
    const float v2 = produced + v1;
    const float v3 = v2 < 0 ? 0 : v2;
    Y[size_t(at0) * n9 + size_t(at1) * n10 + size_t(row) * L + at3] = v3;
  }
}
