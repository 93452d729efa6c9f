//@ of      depthwise_columns.before.cu sha256:57684efa19faaca58f01c175a059a432fab08a57e2e32f30fe71ca1087eec874
//@ tune    THREADS = 128 | 256
//@ tune    OUT_ROWS = 4 | 8 | 2
//@ launch  depthwise_convolution<<<ceil_div((B * C) * 1 * ceil_div((H - 1) / 2 + 1, OUT_ROWS) * L, THREADS), THREADS>>>(X, weight, bias, Y, C, B, (C * ((H - 1) / 2 + 1)) * L, ((H - 1) / 2 + 1) * L, L, H, B * C, H * L, (H - 1) / 2 + 1)
// playbook: as written/columns

__global__ void __launch_bounds__(THREADS) depthwise_convolution(const float* __restrict__ X, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ Y, int C, int B, int n6, int n7, int L, int H, int n10, int n11, int n12) {
  // A thread makes OUT_ROWS results of a column, its neighbours those beside them, so that neighbours are loaded and stored by
  // neighbours.
  constexpr int INPUT_ROWS = (OUT_ROWS - 1) * 2 + 3;
  const int strips = (n12 + OUT_ROWS - 1) / OUT_ROWS;
  const int place = int(blockIdx.x) * THREADS + threadIdx.x;
  const int at_w = place % L, strip = place / L % strips;
  const int plane = place / L / strips;
  if (plane >= n10) return;
  const float* x = X + size_t(plane) * n11;
  const int w0 = at_w * 1 - 1, h0 = strip * OUT_ROWS * 2 - 1;
  float held[OUT_ROWS][1];
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j)
#pragma unroll
    for (int i = 0; i < 1; ++i) held[j][i] = 0.0f;
  float weights[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) weights[k] = weight[size_t(plane % C) * 9 + k];
#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {
    const bool there = unsigned(h0 + r) < unsigned(H);
    float row[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const int w = w0 + c * 1;
      row[c] = there && unsigned(w) < unsigned(L) ? x[size_t(h0 + r) * L + w] : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < OUT_ROWS; ++j) {
      const int b = r - j * 2;
      if (b < 0 || b % 1 != 0 || b / 1 >= 3) continue;
#pragma unroll
      for (int c = 0; c < 3; ++c)
#pragma unroll
        for (int i = 0; i < 1; ++i) held[j][i] += weights[b / 1 * 3 + c] * row[c];
    }
  }
  const int at1 = plane % C;
  const int at0 = plane / C;
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j) {
    const int at_h = strip * OUT_ROWS + j;
    if (at_h >= n12) break;
    float produced = held[j][0];
    const float v1 = float(bias[at1]);
    const float v2 = produced + v1;
    const float v3 = v2 < 0 ? 0 : v2;
    Y[size_t(at0) * n6 + size_t(at1) * n7 + size_t(at_h) * L + at_w] = v3;
  }
}
