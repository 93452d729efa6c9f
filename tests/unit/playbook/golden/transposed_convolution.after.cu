//@ of      transposed_convolution.before.cu sha256:49ccd83ae674d1db898aa5fdd434c6cc76358705067d9534f9ca0d7774ddb78e
//@ tune    TILE_O = 32
//@ tune    TILE_P = 128 | 64
//@ tune    STEP = 16 | 8
//@ launch  transposed_convolution<<<dim3(ceil_div((B * (ceil_div((H - 1) * 2 + 1, 2))) * (ceil_div((V - 1) * 2 + 1, 2)), TILE_P), ceil_div((O * 2) / 2, TILE_O), 2 * 2 * 2), 256>>>(X, weight, Y, V, (V - 1) * 2 + 1, H, (H - 1) * 2 + 1, C / 2, (O * 2) / 2, B, ((O * 2) * ((H - 1) * 2 + 1)) * ((V - 1) * 2 + 1), ((H - 1) * 2 + 1) * ((V - 1) * 2 + 1), C, H * V)
// playbook: as written/fused

__global__ void __launch_bounds__(256) transposed_convolution(const float* __restrict__ X, const float* __restrict__ weight_, float* __restrict__ Y, int V, int n4, int H, int n6, int n7, int n8, int B, int n10, int n11, int C, int n13) {
  // Output channels by positions, summed over channels and taps: a product whose right factor is gathered.
  constexpr int TO = TILE_O / 16, TP = TILE_P / 16, NOWHERE = -(1 << 28);
  struct Tap { int from, weight, d, h, w; };
  __shared__ __align__(16) float inputs[STEP][TILE_P + 4], weights[STEP][TILE_O + 4];
  __shared__ Tap taps[STEP];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int group = blockIdx.z % 2;
  const int r_w = blockIdx.z / 2 % 2, QW = (n4 - r_w + 1) / 2;
  const int first_w = (r_w + 1) % 2, TW = (3 - first_w + 1) / 2, add_w = (r_w + 1) / 2;
  const int r_h = blockIdx.z / 2 / 2 % 2, QH = (n6 - r_h + 1) / 2;
  const int first_h = (r_h + 1) % 2, TH = (3 - first_h + 1) / 2, add_h = (r_h + 1) / 2;
  constexpr int QD = 1;
  constexpr int TD = 1;
  constexpr int first_d = 0, add_d = 0;
  const int depth = n7 * TD * TH * TW, positions = B * QD * QH * QW;
  if (int(blockIdx.x) * TILE_P >= positions) return;
  const int o_start = blockIdx.y * TILE_O;
  const auto tap = [&](int k) {
    if (k >= depth) return Tap{0, -1, 0, 0, NOWHERE};
    const int channel = k / (TD * TH * TW), d = k / (TH * TW) % TD, h = k / TW % TH, w = k % TW;
    return Tap{((channel * 1 + d * -1) * H + h * -1) * V + w * -1,
               channel * n8 * 9 + ((first_d + d * 1) * 3 + first_h + h * 2) * 3 + first_w + w * 2,
               d * -1, h * -1, w * -1};
  };
  // The position that this thread gathers for; beyond the last one its results are dropped.
  const int own = threadIdx.x % TILE_P, position = min(int(blockIdx.x) * TILE_P + own, positions - 1);
  const int d0 = position / (QH * QW) % QD * 1 + add_d, h0 = position / QW % QH * 1 + add_h;
  const int w0 = position % QW * 1 + add_w;
  const float* x = X + (size_t(position / (QD * QH * QW)) * C + group * n7) * n13;
  const int base = (d0 * H + h0) * V + w0;
  const float* kernel = weight_ + size_t(group) * n7 * n8 * 9;
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
      weight_held[i] = o < n8 && from >= 0 ? kernel[o * 9 + from] : 0.0f;
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
    const int at_b = at / (QD * QH * QW), at_d = at / (QH * QW) % QD, at_h = at / QW % QH * 2 + r_h, at_w = at % QW * 2 + r_w;
#pragma unroll
    for (int i = 0; i < TO; ++i) {
      if (o_start + ty * TO + i >= n8) break;
      const int at_o = group * n8 + o_start + ty * TO + i;
      const float produced = sum[i][j];
      Y[size_t(at_b) * n10 + size_t(at_o) * n11 + size_t(at_h) * n4 + at_w] = produced;
    }
  }
}
