//@ of      convolution.before.cu sha256:37a881d178ab60f1e79fd794fae89a6e1971976d652c0c53daffaf27c8a2e281
//@ tune    TILE_O = 64 | 32
//@ tune    TILE_P = 128 | 64
//@ tune    STEP = 16 | 8
//@ launch  convolution<<<dim3(ceil_div((B * ((H - 1) / 2 + 1)) * ((V - 1) / 2 + 1), TILE_P), ceil_div(O, TILE_O)), 256>>>(X, weight, bias, Y, V, (V - 1) / 2 + 1, H, (H - 1) / 2 + 1, C, O, B, (O * ((H - 1) / 2 + 1)) * ((V - 1) / 2 + 1), ((H - 1) / 2 + 1) * ((V - 1) / 2 + 1), H * V)
// playbook: as written/fused

__global__ void __launch_bounds__(256) convolution(const float* __restrict__ X, const float* __restrict__ weight_, const float* __restrict__ bias, float* __restrict__ Y, int V, int n5, int H, int n7, int C, int O, int B, int n11, int n12, int n13) {
  // Output channels by positions, summed over channels and taps: a product whose right factor is gathered.
  constexpr int TO = TILE_O / 16, TP = TILE_P / 16, NOWHERE = -(1 << 28);
  struct Tap { int from, weight, d, h, w; };
  __shared__ __align__(16) float inputs[STEP][TILE_P + 4], weights[STEP][TILE_O + 4];
  __shared__ Tap taps[STEP];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  constexpr int group = 0;
  const int QW = n5;
  constexpr int TW = 3;
  constexpr int first_w = 0, add_w = -1;
  const int QH = n7;
  constexpr int TH = 3;
  constexpr int first_h = 0, add_h = -1;
  constexpr int QD = 1;
  constexpr int TD = 1;
  constexpr int first_d = 0, add_d = 0;
  const int depth = C * TD * TH * TW, positions = B * QD * QH * QW;
  if (int(blockIdx.x) * TILE_P >= positions) return;
  const int o_start = blockIdx.y * TILE_O;
  const auto tap = [&](int k) {
    if (k >= depth) return Tap{0, -1, 0, 0, NOWHERE};
    const int channel = k / (TD * TH * TW), d = k / (TH * TW) % TD, h = k / TW % TH, w = k % TW;
    return Tap{((channel * 1 + d * 1) * H + h * 1) * V + w * 1,
               channel * 9 + ((first_d + d * 1) * 3 + first_h + h * 1) * 3 + first_w + w * 1,
               d * 1, h * 1, w * 1};
  };
  // The position that this thread gathers for; beyond the last one its results are dropped.
  const int own = threadIdx.x % TILE_P, position = min(int(blockIdx.x) * TILE_P + own, positions - 1);
  const int d0 = position / (QH * QW) % QD * 1 + add_d, h0 = position / QW % QH * 2 + add_h;
  const int w0 = position % QW * 2 + add_w;
  const float* x = X + (size_t(position / (QD * QH * QW)) * C + group * C) * n13;
  const int base = (d0 * H + h0) * V + w0;
  const float* kernel = weight_ + size_t(group) * O * C * 9;
  float input_held[TILE_P * STEP / 256], weight_held[(TILE_O * STEP + 255) / 256];
  const auto fetch = [&]() {
#pragma unroll
    for (int i = 0; i < TILE_P * STEP / 256; ++i) {
      const Tap at = taps[i * (256 / TILE_P) + threadIdx.x / TILE_P];
      const int d = d0 + at.d, h = h0 + at.h, w = w0 + at.w;
      const bool there = unsigned(h) < unsigned(H) && unsigned(w) < unsigned(V);
      input_held[i] = there ? x[base + at.from] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < (TILE_O * STEP + 255) / 256; ++i) {
      const int o = o_start + (i * 256 + int(threadIdx.x)) / STEP, from = taps[threadIdx.x % STEP].weight;
      weight_held[i] = o < O && from >= 0 ? kernel[o * C * 9 + from] : 0.0f;
    }
  };
  float sum[TO][TP] = {};
  if (threadIdx.x < STEP) taps[threadIdx.x] = tap(threadIdx.x);
  __syncthreads();
  fetch();
  __syncthreads();
  for (int start = 0; start < depth; start += STEP) {
#pragma unroll
    for (int i = 0; i < TILE_P * STEP / 256; ++i) inputs[i * (256 / TILE_P) + threadIdx.x / TILE_P][own] = input_held[i];
#pragma unroll
    for (int i = 0; i < (TILE_O * STEP + 255) / 256; ++i)
      if (i * 256 + threadIdx.x < TILE_O * STEP) weights[threadIdx.x % STEP][(i * 256 + threadIdx.x) / STEP] = weight_held[i];
    if (threadIdx.x < STEP) taps[threadIdx.x] = tap(start + STEP + threadIdx.x);
    __syncthreads();
    if (start + STEP < depth) fetch();
#pragma unroll
    for (int k = 0; k < STEP; ++k) {
      float a[TO], b[TP];
#pragma unroll
      for (int i = 0; i < TO; ++i) a[i] = weights[k][ty * TO + i];
#pragma unroll
      for (int j = 0; j < TP; j += 4)
        *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&inputs[k][j * 16 + tx * 4]);
#pragma unroll
      for (int i = 0; i < TO; ++i)
#pragma unroll
        for (int j = 0; j < TP; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < TP; ++j) {
    const int at = int(blockIdx.x) * TILE_P + j / 4 * 64 + tx * 4 + j % 4;
    if (at >= positions) break;
    const int at_b = at / (QD * QH * QW), at_d = at / (QH * QW) % QD, at_h = at / QW % QH, at_w = at % QW;
#pragma unroll
    for (int i = 0; i < TO; ++i) {
      if (o_start + ty * TO + i >= O) break;
      const int at_o = group * O + o_start + ty * TO + i;
      const float produced = sum[i][j];
      const float v1 = float(bias[at_o]);
      const float v2 = produced + v1;
      const float v3 = v2 < 0 ? 0 : v2;
      Y[size_t(at_b) * n11 + size_t(at_o) * n12 + size_t(at_h) * n5 + at_w] = v3;
    }
  }
}
