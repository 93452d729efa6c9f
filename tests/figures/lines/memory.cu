// SPDX-License-Identifier: Apache-2.0
// Lines that memory bounds, of 64 MiB and more.

//@ task    gelu
//@ torch   Y = F.gelu(X)
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  apply<F><<<ceil_div(N * M, 256), 256>>>(X, Y, N * M)
struct F { __device__ float operator()(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); } };

//@ task    scale_bias_relu
//@ torch   Y = torch.relu(X * scale + bias)
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ input   scale: float32[M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  row<<<ceil_div(N * M, 256), 256>>>(X, scale, bias, Y, N * M, M)
__global__ void row(const float* x, const float* s, const float* b, float* y, long long n, int m) {
  RESULT(i, n);
  const float v = x[i] * s[i % m] + b[i % m];
  y[i] = v < 0 ? 0 : v;
}

//@ task    add_mul
//@ torch   Y = A + B * C
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   A: float32[N, M]
//@ input   B: float32[N, M]
//@ input   C: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  three<<<ceil_div(N * M, 256), 256>>>(A, B, C, Y, N * M)
__global__ void three(const float* a, const float* b, const float* c, float* y, long long n) {
  RESULT(i, n);
  y[i] = a[i] + b[i] * c[i];
}

//@ task    row_sum
//@ torch   Y = torch.sum(X, dim=1)
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[N]
//@ launch  reduce<Sum><<<ceil_div(N, 256), 256>>>(X, Y, N, M, 1)

//@ task    long_row_sum
//@ torch   Y = torch.sum(X, dim=1)
//@ size    N = 64, M = 1048576
//@ check   N = 3, M = 20000
//@ input   X: float32[N, M]
//@ output  Y: float32[N]
//@ launch  reduce<Sum><<<ceil_div(N, 256), 256>>>(X, Y, N, M, 1)

//@ task    column_mean
//@ torch   Y = torch.mean(X, dim=0)
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[M]
//@ launch  reduce<Mean><<<ceil_div(M, 256), 256>>>(X, Y, 1, N, M)

//@ task    middle_sum
//@ torch   Y = torch.sum(X, dim=1)
//@ size    B = 32, N = 2048, M = 1024
//@ check   B = 3, N = 33, M = 40
//@ input   X: float32[B, N, M]
//@ output  Y: float32[B, M]
//@ launch  reduce<Sum><<<ceil_div(B * M, 256), 256>>>(X, Y, B, N, M)

//@ task    odd_middle_sum
//@ torch   Y = torch.sum(X, dim=1)
//@ size    B = 64, N = 1024, M = 1023
//@ check   B = 3, N = 33, M = 41
//@ input   X: float32[B, N, M]
//@ output  Y: float32[B, M]
//@ launch  reduce<Sum><<<ceil_div(B * M, 256), 256>>>(X, Y, B, N, M)

//@ task    full_sum
//@ torch   Y = torch.sum(X)
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32
//@ launch  reduce<Sum><<<1, 256>>>(X, Y, 1, N * M, 1)

//@ task    argmax
//@ torch   Y = torch.argmax(X, dim=1)
//@ size    N = 16384, M = 4096
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: int64[N]
//@ launch  arg<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void arg(const float* x, long long* y, int n, int m) {
  RESULT(i, n);
  int at = 0;
  for (int k = 1; k < m; ++k) at = x[i * m + k] > x[i * m + at] ? k : at;
  y[i] = at;
}

//@ task    argmin_columns
//@ torch   Y = torch.argmin(X, dim=1)
//@ size    B = 32, N = 2048, M = 1024
//@ check   B = 3, N = 33, M = 40
//@ input   X: float32[B, N, M]
//@ output  Y: int64[B, M]
//@ launch  arg<<<ceil_div(B * M, 256), 256>>>(X, Y, B, N, M)
__global__ void arg(const float* x, long long* y, int b, int n, int m) {
  RESULT(i, b * m);
  x += i / m * n * m + i % m;
  long long at = 0;
  for (int k = 1; k < n; ++k) at = x[1ll * k * m] < x[at * m] ? k : at;
  y[i] = at;
}

//@ task    softmax
//@ torch   Y = torch.softmax(X, dim=1)
//@ size    N = 16384, M = 4096
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  softmax<<<ceil_div(N, 256), 256>>>(X, Y, N, M, 1)

//@ task    long_softmax
//@ torch   Y = torch.softmax(X, dim=1)
//@ size    N = 512, M = 131072
//@ check   N = 3, M = 20000
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  softmax<<<ceil_div(N, 256), 256>>>(X, Y, N, M, 1)

//@ task    column_softmax
//@ torch   Y = torch.softmax(X, dim=1)
//@ size    B = 64, N = 64, H = 128, W = 128
//@ check   B = 2, N = 5, H = 6, W = 7
//@ input   X: float32[B, N, H, W]
//@ output  Y: float32[B, N, H, W]
//@ launch  softmax<<<ceil_div(B * H * W, 256), 256>>>(X, Y, B, N, H * W)

//@ task    logsumexp
//@ torch   Y = torch.logsumexp(X, dim=1)
//@ size    N = 16384, M = 4096
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[N]
//@ launch  reduce<LogSumExp><<<ceil_div(N, 256), 256>>>(X, Y, N, M, 1)

//@ task    layer_norm
//@ torch   Y = F.layer_norm(X, (M,), weight, bias)
//@ size    N = 16384, M = 4096
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ input   weight: float32[M]
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ launch  normalise<true><<<N, 256>>>(X, weight, bias, Y, M, M, 1)

//@ task    rms_norm
//@ torch   Y = F.rms_norm(X, (M,), weight, 1e-6)
//@ size    N = 16384, M = 4096
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ input   weight: float32[M]
//@ output  Y: float32[N, M]
//@ launch  rms<<<ceil_div(N, 256), 256>>>(X, weight, Y, N, M)
__global__ void rms(const float* x, const float* w, float* y, int n, int m) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < m; ++k) sum += x[i * m + k] * x[i * m + k];
  for (int k = 0; k < m; ++k) y[i * m + k] = x[i * m + k] / sqrtf(sum / m + 1e-6f) * w[k];
}

//@ task    group_norm
//@ torch   Y = F.group_norm(X, 8, weight, bias)
//@ size    B = 16, C = 64, H = 256, W = 256
//@ check   B = 2, C = 16, H = 5, W = 7
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C]
//@ input   bias: float32[C]
//@ output  Y: float32[B, C, H, W]
//@ launch  normalise<true><<<B * 8, 256>>>(X, weight, bias, Y, C / 8 * H * W, C, H * W)

//@ task    instance_norm
//@ torch   Y = F.instance_norm(X)
//@ size    B = 16, C = 64, H = 256, W = 256
//@ check   B = 2, C = 16, H = 5, W = 7
//@ input   X: float32[B, C, H, W]
//@ output  Y: float32[B, C, H, W]
//@ launch  normalise<false><<<B * C, 256>>>(X, X, X, Y, H * W, C, H * W)

//@ task    batch_norm
//@ torch   Y = F.batch_norm(X, mean, variance, weight, bias)
//@ size    B = 16, C = 64, H = 256, W = 256
//@ check   B = 2, C = 16, H = 5, W = 7
//@ input   X: float32[B, C, H, W]
//@ input   mean: float32[C]
//@ input   variance: float32[C] ~ uniform(0.5, 2)
//@ input   weight: float32[C]
//@ input   bias: float32[C]
//@ output  Y: float32[B, C, H, W]
//@ launch  batch<<<ceil_div(B * C * H * W, 256), 256>>>(X, mean, variance, weight, bias, Y, B * C * H * W, C, H * W)
__global__ void batch(const float* x, const float* m, const float* v, const float* w, const float* b, float* y, long long n, int channels, int inner) {
  RESULT(i, n);
  const int c = i / inner % channels;
  y[i] = (x[i] - m[c]) / sqrtf(v[c] + 1e-5f) * w[c] + b[c];
}

//@ task    batch_norm_training
//@ torch   Y = F.batch_norm(X, None, None, weight, bias, training=True)
//@ size    B = 64, C = 64, H = 128, W = 128
//@ check   B = 3, C = 5, H = 6, W = 7
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C]
//@ input   bias: float32[C]
//@ output  Y: float32[B, C, H, W]
//@ launch  train<<<ceil_div(C, 256), 256>>>(X, weight, bias, Y, B, C, H * W)
__global__ void train(const float* x, const float* w, const float* b, float* y, int batch, int channels, int inner) {
  RESULT(c, channels);
  const int n = batch * inner;
  const auto at = [&](int k) { return (k / inner * channels + c) * inner + k % inner; };
  float sum = 0, squares = 0;
  for (int k = 0; k < n; ++k) sum += x[at(k)];
  for (int k = 0; k < n; ++k) squares += (x[at(k)] - sum / n) * (x[at(k)] - sum / n);
  for (int k = 0; k < n; ++k) y[at(k)] = (x[at(k)] - sum / n) / sqrtf(squares / n + 1e-5f) * w[c] + b[c];
}

//@ task    long_layer_norm
//@ torch   Y = F.layer_norm(X, (N, M), weight, bias)
//@ size    B = 256, N = 64, M = 4096
//@ check   B = 3, N = 5, M = 7
//@ input   X: float32[B, N, M]
//@ input   weight: float32[N, M]
//@ input   bias: float32[N, M]
//@ output  Y: float32[B, N, M]
//@ launch  normalise<true><<<B, 256>>>(X, weight, bias, Y, N * M, N * M, 1)

//@ task    l2_normalise
//@ torch   Y = F.normalize(X, dim=1)
//@ size    N = 16384, M = 4096
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  unit<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void unit(const float* x, float* y, int n, int m) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < m; ++k) sum += x[i * m + k] * x[i * m + k];
  for (int k = 0; k < m; ++k) y[i * m + k] = x[i * m + k] / fmaxf(sqrtf(sum), 1e-12f);
}

//@ task    transpose
//@ torch   Y = X.T
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[M, N]
//@ launch  turn<<<ceil_div(N * M, 256), 256>>>(X, Y, N, M)
__global__ void turn(const float* x, float* y, int n, int m) {
  RESULT(i, 1ll * n * m);
  y[i] = x[i % n * m + i / n];
}

//@ task    permute
//@ torch   Y = X.permute(0, 2, 1, 3)
//@ size    B = 16, N = 1024, H = 32, W = 64
//@ check   B = 2, N = 5, H = 6, W = 8
//@ input   X: float32[B, N, H, W]
//@ output  Y: float32[B, H, N, W]
//@ launch  turn<<<ceil_div(B * N * H * W, 256), 256>>>(X, Y, N, H, W, B * N * H * W)
__global__ void turn(const float* x, float* y, int n, int h, int w, long long all) {
  RESULT(i, all);
  const long long c = i % w, k = i / w % n, r = i / w / n % h, b = i / w / n / h;
  y[i] = x[((b * n + k) * h + r) * w + c];
}

//@ task    max_pool1d
//@ torch   Y = F.max_pool1d(X, kernel_size=4, stride=2, padding=1)
//@ size    B = 32, C = 64, L = 16384, O = L / 2
//@ check   B = 2, C = 3, L = 38
//@ input   X: float32[B, C, L]
//@ output  Y: float32[B, C, O]
//@ launch  pool<Max, 1, 4, 2, 1, 1><<<ceil_div(B * C * O, 256), 256>>>(X, Y, B * C, 1, 1, L, 1, 1, O)

//@ task    avg_pool1d
//@ torch   Y = F.avg_pool1d(X, kernel_size=8, stride=1, padding=4)
//@ size    B = 32, C = 64, L = 16384, O = L + 1
//@ check   B = 2, C = 3, L = 37
//@ input   X: float32[B, C, L]
//@ output  Y: float32[B, C, O]
//@ launch  pool<Mean, 1, 8, 1, 4, 1><<<ceil_div(B * C * O, 256), 256>>>(X, Y, B * C, 1, 1, L, 1, 1, O)

//@ task    max_pool2d
//@ torch   Y = F.max_pool2d(X, kernel_size=3, stride=2, padding=1)
//@ size    B = 16, C = 64, H = 256, W = 256, OH = (H - 1) / 2 + 1, OW = (W - 1) / 2 + 1
//@ check   B = 2, C = 3, H = 9, W = 14
//@ input   X: float32[B, C, H, W]
//@ output  Y: float32[B, C, OH, OW]
//@ launch  pool<Max, 2, 3, 2, 1, 1><<<ceil_div(B * C * OH * OW, 256), 256>>>(X, Y, B * C, 1, H, W, 1, OH, OW)

//@ task    avg_pool2d
//@ torch   Y = F.avg_pool2d(X, 2)
//@ size    B = 16, C = 64, H = 256, W = 256, OH = H / 2, OW = W / 2
//@ check   B = 2, C = 3, H = 8, W = 14
//@ input   X: float32[B, C, H, W]
//@ output  Y: float32[B, C, OH, OW]
//@ launch  pool<Mean, 2, 2, 2, 0, 1><<<ceil_div(B * C * OH * OW, 256), 256>>>(X, Y, B * C, 1, H, W, 1, OH, OW)

//@ task    odd_max_pool2d
//@ torch   Y = F.max_pool2d(X, 3, stride=2)
//@ size    B = 16, C = 64, H = 257, W = 259, OH = (H - 3) / 2 + 1, OW = (W - 3) / 2 + 1
//@ check   B = 2, C = 3, H = 9, W = 15
//@ input   X: float32[B, C, H, W]
//@ output  Y: float32[B, C, OH, OW]
//@ launch  pool<Max, 2, 3, 2, 0, 1><<<ceil_div(B * C * OH * OW, 256), 256>>>(X, Y, B * C, 1, H, W, 1, OH, OW)

//@ task    wide_avg_pool2d
//@ torch   Y = F.avg_pool2d(X, 5, stride=1, padding=2)
//@ size    B = 16, C = 64, H = 256, W = 256
//@ check   B = 2, C = 3, H = 8, W = 14
//@ input   X: float32[B, C, H, W]
//@ output  Y: float32[B, C, H, W]
//@ launch  pool<Mean, 2, 5, 1, 2, 1><<<ceil_div(B * C * H * W, 256), 256>>>(X, Y, B * C, 1, H, W, 1, H, W)

//@ task    max_pool3d
//@ torch   Y = F.max_pool3d(X, 3, stride=2, padding=1)
//@ size    B = 16, C = 32, D = 32, H = 64, W = 64, OD = (D - 1) / 2 + 1, OH = (H - 1) / 2 + 1, OW = (W - 1) / 2 + 1
//@ check   B = 2, C = 3, D = 6, H = 8, W = 14
//@ input   X: float32[B, C, D, H, W]
//@ output  Y: float32[B, C, OD, OH, OW]
//@ launch  pool<Max, 3, 3, 2, 1, 1><<<ceil_div(B * C * OD * OH * OW, 256), 256>>>(X, Y, B * C, D, H, W, OD, OH, OW)

//@ task    cumsum
//@ torch   Y = torch.cumsum(X, dim=1)
//@ size    N = 8192, M = 8192
//@ check   N = 5, M = 1030
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  scan<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void scan(const float* x, float* y, int n, int m) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < m; ++k) y[i * m + k] = sum += x[i * m + k];
}

//@ task    masked_cumsum
//@ torch   Y = torch.cumsum(X * K, dim=1)
//@ size    N = 8192, M = 8192
//@ check   N = 5, M = 1030
//@ input   X: float32[N, M]
//@ input   K: bool[N, M]
//@ output  Y: float32[N, M]
//@ launch  scan<<<ceil_div(N, 256), 256>>>(X, K, Y, N, M)
__global__ void scan(const float* x, const bool* at, float* y, int n, int m) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < m; ++k) y[i * m + k] = sum += x[i * m + k] * at[i * m + k];
}

//@ task    cumsum_columns
//@ torch   Y = torch.cumsum(X, dim=1)
//@ size    B = 64, N = 512, M = 2048
//@ check   B = 3, N = 33, M = 40
//@ input   X: float32[B, N, M]
//@ output  Y: float32[B, N, M]
//@ launch  scan<<<ceil_div(B * M, 256), 256>>>(X, Y, B, N, M)
__global__ void scan(const float* x, float* y, int b, int n, int m) {
  RESULT(i, b * m);
  float sum = 0;
  for (long long k = 0, at = i / m * n * m + i % m; k < n; ++k, at += m) y[at] = sum += x[at];
}

//@ task    cross_entropy
//@ torch   L = F.cross_entropy(X, T)
//@ size    N = 32768, C = 1024
//@ check   N = 70, C = 10
//@ input   X: float32[N, C]
//@ input   T: int64[N] ~ randint(0, 10)
//@ output  L: float32
//@ launch  row<<<ceil_div(N, 256), 256>>>(X, T, S, N, C)
//@ launch  reduce<Mean><<<1, 256>>>(S, L, 1, N, 1)
//@ scratch S: float32[N]
__global__ void row(const float* x, const long long* t, float* s, int n, int c) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < c; ++k) sum += expf(x[i * c + k]);
  s[i] = logf(sum) - x[i * c + t[i]];
}

//@ task    mse_loss
//@ torch   L = F.mse_loss(X, T)
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ input   T: float32[N, M]
//@ output  L: float32
//@ launch  terms<<<ceil_div(N, 256), 256>>>(X, T, S, N, M)
//@ launch  reduce<Sum><<<1, 256>>>(S, L, 1, N, 1)
//@ scratch S: float32[N]
__global__ void terms(const float* x, const float* t, float* s, int n, int m) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < m; ++k) {
    const float a = x[i * m + k], b = t[i * m + k];
    sum += (a - b) * (a - b);
  }
  s[i] = sum / (float(n) * m);
}

//@ task    smooth_l1_loss
//@ torch   L = F.smooth_l1_loss(X, T)
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ input   T: float32[N, M]
//@ output  L: float32
//@ launch  terms<<<ceil_div(N, 256), 256>>>(X, T, S, N, M)
//@ launch  reduce<Sum><<<1, 256>>>(S, L, 1, N, 1)
//@ scratch S: float32[N]
__global__ void terms(const float* x, const float* t, float* s, int n, int m) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < m; ++k) {
    const float a = x[i * m + k], b = t[i * m + k];
    sum += fabsf(a - b) < 1 ? 0.5f * (a - b) * (a - b) : fabsf(a - b) - 0.5f;
  }
  s[i] = sum / (float(n) * m);
}

//@ task    kl_div
//@ torch   L = F.kl_div(X, T, reduction='batchmean')
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ input   T: float32[N, M] ~ uniform(0.1, 1)
//@ output  L: float32
//@ launch  terms<<<ceil_div(N, 256), 256>>>(X, T, S, N, M)
//@ launch  reduce<Sum><<<1, 256>>>(S, L, 1, N, 1)
//@ scratch S: float32[N]
__global__ void terms(const float* x, const float* t, float* s, int n, int m) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < m; ++k) {
    const float a = x[i * m + k], b = t[i * m + k];
    sum += b * (logf(b) - a);
  }
  s[i] = sum / (n);
}
