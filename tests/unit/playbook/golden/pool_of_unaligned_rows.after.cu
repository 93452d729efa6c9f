//@ of      pool_of_unaligned_rows.before.cu sha256:5312af98b10ed4acf9ef31b0bb140b3ecc2c414cbe1c547bd11f0c2fd2c2e40f
//@ tune    THREADS = 128 | 256
//@ tune    OUT_ROWS = 4 | 8 | 2
//@ launch  pool<<<ceil_div((B * C) * 1 * ceil_div((H - 1) / 2 + 1, OUT_ROWS) * ((W - 1) / 2 + 1), THREADS), THREADS>>>(X, Y, C, B, H, W, (C * ((H - 1) / 2 + 1)) * ((W - 1) / 2 + 1), ((H - 1) / 2 + 1) * ((W - 1) / 2 + 1), (W - 1) / 2 + 1, B * C, H * W, (H - 1) / 2 + 1)
// playbook: as written/columns

struct Sum {
  template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Product {
  template <typename T> __device__ T operator()(T a, T b) const { return a * b; }
};
// Of a NaN and a number the NaN wins, as in torch.
struct Larger {
  template <typename T> __device__ T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
struct Smaller {
  template <typename T> __device__ T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};

__global__ void __launch_bounds__(THREADS) pool(const float* __restrict__ X, float* __restrict__ Y, int C, int B, int H, int W, int n6, int n7, int n8, int n9, int n10, int n11) {
  // A thread makes OUT_ROWS results of a column, its neighbours those beside them, so that neighbours are loaded and stored by
  // neighbours. It combines along a row first, then the rows.
  constexpr int INPUT_ROWS = (OUT_ROWS - 1) * 2 + 3;
  const int strips = (n11 + OUT_ROWS - 1) / OUT_ROWS;
  const int place = int(blockIdx.x) * THREADS + threadIdx.x;
  const int at_w = place % n8, strip = place / n8 % strips;
  const int plane = place / n8 / strips;
  if (plane >= n9) return;
  const float* x = X + size_t(plane) * n10;
  const int w0 = at_w * 2 - 1, h0 = strip * OUT_ROWS * 2 - 1;
  float held[OUT_ROWS][1];
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j)
#pragma unroll
    for (int i = 0; i < 1; ++i) held[j][i] = 0.0f;
#pragma unroll
  for (int r = 0; r < INPUT_ROWS; ++r) {
    const bool there = unsigned(h0 + r) < unsigned(H);
    float across = 0.0f;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const int w = w0 + c * 1;
      across = Sum()(across, there && unsigned(w) < unsigned(W) ? x[size_t(h0 + r) * W + w] : 0.0f);
    }
#pragma unroll
    for (int j = 0; j < OUT_ROWS; ++j) {
      const int b = r - j * 2;
      if (b < 0 || b % 1 != 0 || b / 1 >= 3) continue;
      held[j][0] = Sum()(held[j][0], across);
    }
  }
  const int at1 = plane % C;
  const int at0 = plane / C;
#pragma unroll
  for (int j = 0; j < OUT_ROWS; ++j) {
    const int at_h = strip * OUT_ROWS + j;
    if (at_h >= n11) break;
    float produced = held[j][0];
    const int start_h = at_h * 2 - 1;
    const int count_h = min(start_h + 3, H) - max(start_h, 0);
    const int start_w = at_w * 2 - 1;
    const int count_w = min(start_w + 3, W) - max(start_w, 0);
    produced /= float(count_h * count_w);
    Y[size_t(at0) * n6 + size_t(at1) * n7 + size_t(at_h) * n8 + at_w] = produced;
  }
}
