// SPDX-License-Identifier: Apache-2.0
// What the reference kernels of the lines are put together from: one thread per result, no thought for speed.
#define RESULT(i, n)                                                \
  const long long i = blockIdx.x * 256ll + threadIdx.x; \
  if (i >= (n)) return

struct Sum {
  static constexpr float start = 0;
  __device__ static float join(float a, float b) { return a + b; }
  __device__ static float finish(float a, long long) { return a; }
};
struct Mean : Sum {
  __device__ static float finish(float a, long long n) { return a / n; }
};
struct Max {
  static constexpr float start = -3.4e38f;
  __device__ static float join(float a, float b) { return a > b ? a : b; }
  __device__ static float finish(float a, long long) { return a; }
};
struct Min {
  static constexpr float start = 3.4e38f;
  __device__ static float join(float a, float b) { return a < b ? a : b; }
  __device__ static float finish(float a, long long) { return a; }
};
struct LogSumExp : Sum {  // of small numbers
  __device__ static float join(float a, float b) { return a + expf(b); }
  __device__ static float finish(float a, long long) { return logf(a); }
};

template <typename F>
__global__ void apply(const float* x, float* y, long long n) {
  RESULT(i, n);
  y[i] = F()(x[i]);
}
template <typename F>
__global__ void apply2(const float* x, const float* z, float* y, long long n) {
  RESULT(i, n);
  y[i] = F()(x[i], z[i]);
}
// z has one number for each of `channels` runs of `inner`.
template <typename F>
__global__ void per_channel(const float* x, const float* z, float* y, long long n, int channels, long long inner) {
  RESULT(i, n);
  y[i] = F()(x[i], z[i / inner % channels]);
}
// z has one number for each run of `inner`.
template <typename F>
__global__ void per_run(const float* x, const float* z, float* y, long long n, long long inner) {
  RESULT(i, n);
  y[i] = F()(x[i], z[i / inner]);
}
template <typename F>
__global__ void reduce(const float* x, float* y, long long outer, long long length, long long inner) {
  RESULT(i, outer * inner);
  float a = F::start;
  for (long long k = 0; k < length; ++k) a = F::join(a, x[(i / inner * length + k) * inner + i % inner]);
  y[i] = F::finish(a, length);
}
__global__ void softmax(const float* x, float* y, long long outer, long long length, long long inner) {
  RESULT(i, outer * inner);
  const long long at = i / inner * length * inner + i % inner;
  float most = -3.4e38f, sum = 0;
  for (long long k = 0; k < length; ++k) most = fmaxf(most, x[at + k * inner]);
  for (long long k = 0; k < length; ++k) sum += expf(x[at + k * inner] - most);
  for (long long k = 0; k < length; ++k) y[at + k * inner] = expf(x[at + k * inner] - most) / sum;
}
// Rows of `length` normalised; then weight and bias of the channel, of which each has `inner` neighbours. A block per row.
template <bool WEIGHTED>
__global__ void normalise(const float* x, const float* weight, const float* bias, float* y, long long length, int channels,
                          long long inner) {
  __shared__ float part[256];
  const long long row = blockIdx.x * length;
  float mean = 0, variance = 0;
  for (int pass = 0; pass < 2; ++pass) {
    float sum = 0;
    for (long long k = threadIdx.x; k < length; k += 256)
      sum += pass == 0 ? x[row + k] : (x[row + k] - mean) * (x[row + k] - mean);
    part[threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 256; ++k) sum += part[k];
    __syncthreads();
    (pass == 0 ? mean : variance) = sum / length;
  }
  for (long long k = threadIdx.x; k < length; k += 256) {
    const int c = (row + k) / inner % channels;
    const float value = (x[row + k] - mean) / sqrtf(variance + 1e-5f);
    y[row + k] = WEIGHTED ? value * weight[c] + bias[c] : value;
  }
}
template <bool A_TURNED, bool B_TURNED>
__global__ void matmul(const float* a, const float* b, float* c, long long batch, int n, int m, int k) {
  RESULT(i, batch * n * m);
  const long long at = i / (1ll * n * m);
  const int row = i / m % n, column = i % m;
  float sum = 0;
  for (int d = 0; d < k; ++d)
    sum += a[at * n * k + (A_TURNED ? 1ll * d * n + row : 1ll * row * k + d)] *
           b[at * k * m + (B_TURNED ? 1ll * column * k + d : 1ll * d * m + column)];
  c[i] = sum;
}
__global__ void linear(const float* x, const float* w, const float* b, float* y, int n, int m, int k) {
  RESULT(i, 1ll * n * m);
  float sum = b[i % m];
  for (int d = 0; d < k; ++d) sum += x[i / m * k + d] * w[i % m * k + d];
  y[i] = sum;
}
// The last AXES of three spatial axes have the stride, padding and dilation.
template <int AXES, int STRIDE, int PADDING, int DILATION, int GROUPS, bool BIAS>
__global__ void conv(const float* x, const float* w, const float* b, float* y, int batch, int in, int out, int D, int H,
                     int W, int KD, int KH, int KW, int OD, int OH, int OW) {
  RESULT(i, 1ll * batch * out * OD * OH * OW);
  const int ow = i % OW, oh = i / OW % OH, od = i / OW / OH % OD, o = i / OW / OH / OD % out, n = i / OW / OH / OD / out;
  constexpr int SD = AXES > 2 ? STRIDE : 1, SH = AXES > 1 ? STRIDE : 1, PD = AXES > 2 ? PADDING : 0, PH = AXES > 1 ? PADDING : 0;
  const int group = o / (out / GROUPS), each = in / GROUPS;
  float sum = BIAS ? b[o] : 0;
  for (int c = 0; c < each; ++c)
    for (int kd = 0; kd < KD; ++kd)
      for (int kh = 0; kh < KH; ++kh)
        for (int kw = 0; kw < KW; ++kw) {
          const int d = od * SD - PD + kd * DILATION, h = oh * SH - PH + kh * DILATION, v = ow * STRIDE - PADDING + kw * DILATION;
          if (d < 0 || d >= D || h < 0 || h >= H || v < 0 || v >= W) continue;
          sum += x[(((1ll * n * in + group * each + c) * D + d) * H + h) * W + v] * w[(((1ll * o * each + c) * KD + kd) * KH + kh) * KW + kw];
        }
  y[i] = sum;
}
template <int AXES, int STRIDE, int PADDING, int GROUPS, bool BIAS>
__global__ void conv_transpose(const float* x, const float* w, const float* b, float* y, int batch, int in, int out, int D,
                               int H, int W, int KD, int KH, int KW, int OD, int OH, int OW) {
  RESULT(i, 1ll * batch * out * OD * OH * OW);
  const int ow = i % OW, oh = i / OW % OH, od = i / OW / OH % OD, o = i / OW / OH / OD % out, n = i / OW / OH / OD / out;
  constexpr int SD = AXES > 2 ? STRIDE : 1, SH = AXES > 1 ? STRIDE : 1, PD = AXES > 2 ? PADDING : 0, PH = AXES > 1 ? PADDING : 0;
  const int per = out / GROUPS, group = o / per, each = in / GROUPS;
  float sum = BIAS ? b[o] : 0;
  for (int c = group * each; c < (group + 1) * each; ++c)
    for (int kd = 0; kd < KD; ++kd)
      for (int kh = 0; kh < KH; ++kh)
        for (int kw = 0; kw < KW; ++kw) {
          const int d = od + PD - kd, h = oh + PH - kh, v = ow + PADDING - kw;
          if (d < 0 || d % SD || d / SD >= D || h < 0 || h % SH || h / SH >= H || v < 0 || v % STRIDE || v / STRIDE >= W) continue;
          sum += x[(((1ll * n * in + c) * D + d / SD) * H + h / SH) * W + v / STRIDE] *
                 w[(((1ll * c * per + o % per) * KD + kd) * KH + kh) * KW + kw];
        }
  y[i] = sum;
}
// Strides, paddings and dilations of each axis; taps.
template <int SD, int SH, int SW, int PD, int PH, int PW, int DD, int DH, int DW, int KD, int KH, int KW, int GROUPS>
__global__ void convolved(const float* x, const float* w, float* y, int batch, int in, int out, int D, int H, int W, int OD, int OH, int OW) {
  RESULT(i, 1ll * batch * out * OD * OH * OW);
  const int ow = i % OW, oh = i / OW % OH, od = i / OW / OH % OD, o = i / OW / OH / OD % out, n = i / OW / OH / OD / out;
  const int each = in / GROUPS, first = o / (out / GROUPS) * each;
  float sum = 0;
  for (int c = 0; c < each; ++c)
    for (int kd = 0; kd < KD; ++kd)
      for (int kh = 0; kh < KH; ++kh)
        for (int kw = 0; kw < KW; ++kw) {
          const int d = od * SD - PD + kd * DD, h = oh * SH - PH + kh * DH, v = ow * SW - PW + kw * DW;
          if (d < 0 || d >= D || h < 0 || h >= H || v < 0 || v >= W) continue;
          sum += x[(((1ll * n * in + first + c) * D + d) * H + h) * W + v] * w[(((1ll * o * each + c) * KD + kd) * KH + kh) * KW + kw];
        }
  y[i] = sum;
}
template <int SD, int SH, int SW, int PD, int PH, int PW, int DD, int DH, int DW, int KD, int KH, int KW, int GROUPS>
__global__ void transposed(const float* x, const float* w, float* y, int batch, int in, int out, int D, int H, int W, int OD, int OH, int OW) {
  RESULT(i, 1ll * batch * out * OD * OH * OW);
  const int ow = i % OW, oh = i / OW % OH, od = i / OW / OH % OD, o = i / OW / OH / OD % out, n = i / OW / OH / OD / out;
  const int per = out / GROUPS, each = in / GROUPS, first = o / per * each;
  float sum = 0;
  for (int c = first; c < first + each; ++c)
    for (int kd = 0; kd < KD; ++kd)
      for (int kh = 0; kh < KH; ++kh)
        for (int kw = 0; kw < KW; ++kw) {
          const int d = od + PD - kd * DD, h = oh + PH - kh * DH, v = ow + PW - kw * DW;
          if (d < 0 || d % SD || d / SD >= D || h < 0 || h % SH || h / SH >= H || v < 0 || v % SW || v / SW >= W) continue;
          sum += x[(((1ll * n * in + c) * D + d / SD) * H + h / SH) * W + v / SW] * w[(((1ll * c * per + o % per) * KD + kd) * KH + kh) * KW + kw];
        }
  y[i] = sum;
}
// Mean counts the padding.
template <typename F, int AXES, int KERNEL, int STRIDE, int PADDING, int DILATION>
__global__ void pool(const float* x, float* y, long long planes, int D, int H, int W, int OD, int OH, int OW) {
  RESULT(i, planes * OD * OH * OW);
  const int ow = i % OW, oh = i / OW % OH, od = i / OW / OH % OD;
  const long long plane = i / OW / OH / OD;
  float a = F::start;
  for (int kd = 0; kd < (AXES > 2 ? KERNEL : 1); ++kd)
    for (int kh = 0; kh < (AXES > 1 ? KERNEL : 1); ++kh)
      for (int kw = 0; kw < KERNEL; ++kw) {
        const int d = AXES > 2 ? od * STRIDE - PADDING + kd * DILATION : 0, h = AXES > 1 ? oh * STRIDE - PADDING + kh * DILATION : 0,
                  v = ow * STRIDE - PADDING + kw * DILATION;
        if (d < 0 || d >= D || h < 0 || h >= H || v < 0 || v >= W) continue;
        a = F::join(a, x[((plane * D + d) * H + h) * W + v]);
      }
  y[i] = F::finish(a, (AXES > 2 ? KERNEL : 1) * (AXES > 1 ? KERNEL : 1) * KERNEL);
}
// Each of `batches` heads of `length` rows of `width`.
template <bool CAUSAL>
__global__ void attention(const float* q, const float* k, const float* v, float* o, int batches, int length, int width) {
  RESULT(i, (long long)(batches) * length * width);
  const long long row = i / width, first = row / length * length, last = CAUSAL ? row : first + length - 1;
  float largest = -3.4e38f, total = 0, sum = 0;
  for (long long key = first; key <= last; ++key) {
    float score = 0;
    for (int h = 0; h < width; ++h) score += q[row * width + h] * k[key * width + h];
    score /= sqrtf(float(width));
    const float most = score > largest ? score : largest, shrink = expf(largest - most), weight = expf(score - most);
    total = total * shrink + weight;
    sum = sum * shrink + weight * v[key * width + i % width];
    largest = most;
  }
  o[i] = sum / total;
}
