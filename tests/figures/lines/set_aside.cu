// SPDX-License-Identifier: Apache-2.0
// Thirty torch lines in the style of KernelBench levels 1 and 2 that no rule of the playbook is written for: only measured.

//@ task    matmul_transposed_both
//@ torch   C = torch.matmul(A.T, B.T)
//@ size    N = 2048, M = 1024, K = 4096
//@ check   N = 33, M = 70, K = 40
//@ input   A: float32[K, N]
//@ input   B: float32[M, K]
//@ output  C: float32[N, M]
//@ launch  matmul<true, true><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    matrix_vector
//@ torch   C = torch.matmul(A, B)
//@ size    N = 2048, K = 32768
//@ check   N = 9, K = 1030
//@ input   A: float32[N, K]
//@ input   B: float32[K, 1]
//@ output  C: float32[N, 1]
//@ launch  matmul<false, false><<<ceil_div(N, 256), 256>>>(A, B, C, 1, N, 1, K)

//@ task    lower_triangular_matmul
//@ torch   C = torch.tril(torch.matmul(torch.tril(A), torch.tril(B)))
//@ size    N = 2048
//@ check   N = 70
//@ input   A: float32[N, N]
//@ input   B: float32[N, N]
//@ output  C: float32[N, N]
//@ launch  lower<<<ceil_div(N * N, 256), 256>>>(A, B, C, N)
__global__ void lower(const float* a, const float* b, float* c, int n) {
  RESULT(i, 1ll * n * n);
  const int row = i / n, column = i % n;
  float sum = 0;
  for (int k = column; k <= row; ++k) sum += a[1ll * row * n + k] * b[1ll * k * n + column];
  c[i] = sum;
}

//@ task    leaky_relu
//@ torch   Y = F.leaky_relu(X, negative_slope=0.01)
//@ size    N = 4096, M = 16384
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  apply<F><<<ceil_div(N * M, 256), 256>>>(X, Y, N * M)
struct F { __device__ float operator()(float x) { return x > 0 ? x : 0.01f * x; } };

//@ task    log_softmax
//@ torch   Y = torch.log_softmax(X, dim=1)
//@ size    N = 4096, M = 16384
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  rows<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void rows(const float* x, float* y, int n, int m) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < m; ++k) sum += expf(x[i * m + k]);
  for (int k = 0; k < m; ++k) y[i * m + k] = x[i * m + k] - logf(sum);
}

//@ task    rms_norm_over_channels
//@ torch   Y = X / torch.sqrt(torch.mean(X ** 2, dim=1, keepdim=True) + 1e-5)
//@ size    B = 16, C = 64, H = 256, W = 256
//@ check   B = 2, C = 5, H = 6, W = 7
//@ input   X: float32[B, C, H, W]
//@ output  Y: float32[B, C, H, W]
//@ launch  rms_over_channels<<<ceil_div(B * H * W, 256), 256>>>(X, Y, B, C, H * W)
__global__ void rms_over_channels(const float* x, float* y, int b, int c, long long inner) {
  RESULT(i, b * inner);
  const long long at = i / inner * c * inner + i % inner;
  float sum = 0;
  for (int k = 0; k < c; ++k) sum += x[at + k * inner] * x[at + k * inner];
  for (int k = 0; k < c; ++k) y[at + k * inner] = x[at + k * inner] / sqrtf(sum / c + 1e-5f);
}

//@ task    avg_pool3d
//@ torch   Y = F.avg_pool3d(X, kernel_size=3, stride=2, padding=1)
//@ size    B = 8, C = 32, D = 32, H = 64, W = 64, OD = D / 2, OH = H / 2, OW = W / 2
//@ check   B = 2, C = 3, D = 6, H = 8, W = 10
//@ input   X: float32[B, C, D, H, W]
//@ output  Y: float32[B, C, OD, OH, OW]
//@ launch  pool<Mean, 3, 3, 2, 1, 1><<<ceil_div(B * C * OD * OH * OW, 256), 256>>>(X, Y, B * C, D, H, W, OD, OH, OW)

//@ task    max_pool1d_dilated
//@ torch   Y = F.max_pool1d(X, kernel_size=8, stride=1, padding=4, dilation=3)
//@ size    B = 32, C = 64, L = 16384, O = L - 13
//@ check   B = 2, C = 3, L = 41
//@ input   X: float32[B, C, L]
//@ output  Y: float32[B, C, O]
//@ launch  pool<Max, 1, 8, 1, 4, 3><<<ceil_div(B * C * O, 256), 256>>>(X, Y, B * C, 1, 1, L, 1, 1, O)

//@ task    argmin_over_dimension
//@ torch   Y = torch.argmin(X, dim=1)
//@ size    B = 16, N = 2048, M = 1024
//@ check   B = 3, N = 33, M = 40
//@ input   X: float32[B, N, M]
//@ output  Y: int64[B, M]
//@ launch  first<<<ceil_div(B * M, 256), 256>>>(X, Y, B, N, M)
__global__ void first(const float* x, long long* y, int b, int n, int m) {
  RESULT(i, 1ll * b * m);
  const float* at = x + i / m * n * m + i % m;
  int best = 0;
  for (int k = 1; k < n; ++k)
    if (at[1ll * k * m] < at[1ll * best * m]) best = k;
  y[i] = best;
}

//@ task    conv3d_asymmetric
//@ torch   Y = F.conv3d(X, weight, bias)
//@ size    B = 8, C = 3, O = 32, D = 32, H = 48, W = 48, OD = D - 2, OH = H - 4, OW = W - 6
//@ check   B = 2, C = 3, O = 5, D = 5, H = 7, W = 9
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[O, C, 3, 5, 7] ~ uniform(-0.06, 0.06)
//@ input   bias: float32[O]
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  conv<3, 1, 0, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, Y, B, C, O, D, H, W, 3, 5, 7, OD, OH, OW)

//@ task    pointwise_conv2d
//@ torch   Y = F.conv2d(X, weight)
//@ size    B = 16, C = 64, O = 128, H = 128, W = 128
//@ check   B = 2, C = 3, O = 5, H = 9, W = 11
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 1, 1] ~ uniform(-0.1, 0.1)
//@ output  Y: float32[B, O, H, W]
//@ launch  conv<2, 1, 0, 1, 1, false><<<ceil_div(B * O * H * W, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 1, 1, 1, H, W)

//@ task    depthwise_separable_conv2d
//@ torch   Y = F.conv2d(F.conv2d(X, depth, stride=2, padding=2, groups=32), point)
//@ size    B = 16, C = 32, O = 64, H = 128, W = 128, OH = H / 2, OW = W / 2
//@ check   B = 2, C = 32, O = 5, H = 8, W = 10
//@ input   X: float32[B, C, H, W]
//@ input   depth: float32[C, 1, 5, 5] ~ uniform(-0.2, 0.2)
//@ input   point: float32[O, C, 1, 1] ~ uniform(-0.2, 0.2)
//@ output  Y: float32[B, O, OH, OW]
//@ scratch S: float32[B, C, OH, OW]
//@ launch  conv<2, 2, 2, 1, 32, false><<<ceil_div(B * C * OH * OW, 256), 256>>>(X, depth, depth, S, B, C, C, 1, H, W, 1, 5, 5, 1, OH, OW)
//@ launch  conv<2, 1, 0, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(S, point, point, Y, B, C, O, 1, OH, OW, 1, 1, 1, 1, OH, OW)

//@ task    conv_transpose1d_grouped
//@ torch   Y = F.conv_transpose1d(X, weight, bias, stride=2, padding=1, groups=4)
//@ size    B = 16, C = 32, O = 64, L = 16384, P = 2 * L + 1
//@ check   B = 2, C = 8, O = 12, L = 21
//@ input   X: float32[B, C, L]
//@ input   weight: float32[C, O / 4, 5] ~ uniform(-0.1, 0.1)
//@ input   bias: float32[O]
//@ output  Y: float32[B, O, P]
//@ launch  conv_transpose<1, 2, 1, 4, true><<<ceil_div(B * O * P, 256), 256>>>(X, weight, bias, Y, B, C, O, 1, 1, L, 1, 1, 5, 1, 1, P)

//@ task    reverse_cumsum
//@ torch   Y = torch.cumsum(X.flip(1), dim=1).flip(1)
//@ size    N = 8192, M = 8192
//@ check   N = 5, M = 1030
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  scan<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void scan(const float* x, float* y, int n, int m) {
  RESULT(i, n);
  float sum = 0;
  for (int k = m - 1; k >= 0; --k) y[i * m + k] = sum += x[i * m + k];
}

//@ task    triplet_margin_loss
//@ torch   L = F.triplet_margin_loss(A, P, N_, margin=1.0)
//@ size    N = 16384, M = 1024
//@ check   N = 70, M = 33
//@ input   A: float32[N, M]
//@ input   P: float32[N, M]
//@ input   N_: float32[N, M]
//@ output  L: float32
//@ scratch S: float32[N]
//@ launch  rows<<<ceil_div(N, 256), 256>>>(A, P, N_, S, N, M)
//@ launch  reduce<Mean><<<1, 256>>>(S, L, 1, N, 1)
__global__ void rows(const float* a, const float* p, const float* q, float* s, int n, int m) {
  RESULT(i, n);
  float near = 0, far = 0;
  for (int k = 0; k < m; ++k) {
    const float u = a[i * m + k] - p[i * m + k] + 1e-6f, v = a[i * m + k] - q[i * m + k] + 1e-6f;
    near += u * u;
    far += v * v;
  }
  s[i] = fmaxf(sqrtf(near) - sqrtf(far) + 1, 0);
}

//@ task    linear_sigmoid_sum_logsumexp
//@ torch   Y = torch.logsumexp(F.linear(torch.sigmoid(F.linear(X, weight, bias)), weight2, bias2), dim=1)
//@ size    N = 4096, K = 1024, M = 2048, O = 512
//@ check   N = 9, K = 33, M = 40, O = 20
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.03, 0.03)
//@ input   bias: float32[M] ~ uniform(-0.03, 0.03)
//@ input   weight2: float32[O, M] ~ uniform(-0.02, 0.02)
//@ input   bias2: float32[O] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[N]
//@ scratch S: float32[N, M]
//@ scratch T: float32[N, O]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  apply<F><<<ceil_div(N * M, 256), 256>>>(S, S, N * M)
//@ launch  linear<<<ceil_div(N * O, 256), 256>>>(S, weight2, bias2, T, N, O, M)
//@ launch  reduce<LogSumExp><<<ceil_div(N, 256), 256>>>(T, Y, N, O, 1)
struct F { __device__ float operator()(float x) { return 1 / (1 + expf(-x)); } };

//@ task    linear_batch_norm_scale_softmax
//@ torch   Y = torch.softmax(scale * F.batch_norm(F.linear(X, weight, bias), mean, variance, gamma, beta), dim=1)
//@ size    N = 1024, M = 4096, K = 4096
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.02, 0.02)
//@ input   bias: float32[M] ~ uniform(-0.02, 0.02)
//@ input   mean: float32[M] ~ uniform(-0.1, 0.1)
//@ input   variance: float32[M] ~ uniform(0.5, 1.5)
//@ input   gamma: float32[M]
//@ input   beta: float32[M]
//@ input   scale: float32[1]
//@ output  Y: float32[N, M]
//@ scratch S: float32[N, M]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  shift<<<ceil_div(N * M, 256), 256>>>(S, mean, variance, gamma, beta, scale, N, M)
//@ launch  softmax<<<ceil_div(N, 256), 256>>>(S, Y, N, M, 1)
__global__ void shift(float* s, const float* mean, const float* variance, const float* gamma, const float* beta,
                      const float* scale, int n, int m) {
  RESULT(i, 1ll * n * m);
  const int c = i % m;
  s[i] = scale[0] * ((s[i] - mean[c]) / sqrtf(variance[c] + 1e-5f) * gamma[c] + beta[c]);
}

//@ task    linear_residual_multiply_mish
//@ torch   H = F.linear(X, weight, bias); Y = F.mish(F.mish(H + R) * 0.5 + H)
//@ size    N = 1024, M = 4096, K = 2048
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.02, 0.02)
//@ input   bias: float32[M] ~ uniform(-0.02, 0.02)
//@ input   R: float32[N, M]
//@ output  Y: float32[N, M]
//@ scratch S: float32[N, M]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  apply2<F><<<ceil_div(N * M, 256), 256>>>(S, R, Y, N * M)
struct F {
  __device__ float mish(float x) { return x * tanhf(log1pf(expf(x))); }
  __device__ float operator()(float h, float r) { return mish(mish(h + r) * 0.5f + h); }
};

//@ task    linear_max_subtract_mean_gelu
//@ torch   H = torch.max(F.linear(X, weight, bias), dim=1, keepdim=True).values; Y = F.gelu(H - H.mean(dim=0, keepdim=True))
//@ size    N = 1024, M = 4096, K = 2048
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.02, 0.02)
//@ input   bias: float32[M] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[N, 1]
//@ scratch S: float32[N, M]
//@ scratch T: float32[N]
//@ scratch U: float32[1]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  reduce<Max><<<ceil_div(N, 256), 256>>>(S, T, N, M, 1)
//@ launch  reduce<Mean><<<1, 256>>>(T, U, 1, N, 1)
//@ launch  per_run<F><<<ceil_div(N, 256), 256>>>(T, U, Y, N, N)
struct F { __device__ float operator()(float x, float m) { x -= m; return 0.5f * x * (1 + erff(x * 0.70710678f)); } };

//@ task    linear_scale_clamp_logsumexp_mish
//@ torch   H = torch.logsumexp(torch.clamp(F.linear(X, weight, bias) * 2.0, -1.0, 1.0), dim=1, keepdim=True); Y = H * F.mish(H)
//@ size    N = 1024, M = 8192, K = 2048
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.02, 0.02)
//@ input   bias: float32[M] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[N, 1]
//@ scratch S: float32[N, M]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  apply<Clamp><<<ceil_div(N * M, 256), 256>>>(S, S, N * M)
//@ launch  reduce<LogSumExp><<<ceil_div(N, 256), 256>>>(S, Y, N, M, 1)
//@ launch  apply<Mish><<<ceil_div(N, 256), 256>>>(Y, Y, N)
struct Clamp { __device__ float operator()(float x) { return fminf(fmaxf(x * 2, -1), 1); } };
struct Mish { __device__ float operator()(float x) { return x * x * tanhf(log1pf(expf(x))); } };

//@ task    bmm_instance_norm_residual
//@ torch   H = F.linear(X, weight, bias); Y = (F.instance_norm(H.unsqueeze(1)).squeeze(1) + R) * R
//@ size    N = 1024, M = 4096, K = 2048
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.02, 0.02)
//@ input   bias: float32[M] ~ uniform(-0.02, 0.02)
//@ input   R: float32[N, M]
//@ output  Y: float32[N, M]
//@ scratch S: float32[N, M]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  normalise<false><<<N, 256>>>(S, S, S, S, M, 1, M)
//@ launch  apply2<F><<<ceil_div(N * M, 256), 256>>>(S, R, Y, N * M)
struct F { __device__ float operator()(float x, float r) { return (x + r) * r; } };

//@ task    conv2d_mish_mish
//@ torch   Y = F.mish(F.mish(F.conv2d(X, weight, bias)))
//@ size    B = 32, C = 16, O = 32, H = 128, W = 128, OH = H - 2, OW = W - 2
//@ check   B = 2, C = 3, O = 5, H = 9, W = 11
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.08, 0.08)
//@ input   bias: float32[O]
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 0, 1, 1, true><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, bias, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)
//@ launch  apply<F><<<ceil_div(B * O * OH * OW, 256), 256>>>(Y, Y, B * O * OH * OW)
struct F {
  __device__ float mish(float x) { return x * tanhf(log1pf(expf(x))); }
  __device__ float operator()(float x) { return mish(mish(x)); }
};

//@ task    conv2d_hardswish_max_pool_mish
//@ torch   Y = F.mish(F.max_pool2d(F.hardswish(F.conv2d(X, weight, bias) - 0.5), 2))
//@ size    B = 16, C = 16, O = 32, H = 130, W = 130, OH = H - 2, OW = W - 2, PH = OH / 2, PW = OW / 2
//@ check   B = 2, C = 3, O = 5, H = 10, W = 13
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.08, 0.08)
//@ input   bias: float32[O]
//@ output  Y: float32[B, O, PH, PW]
//@ scratch S: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 0, 1, 1, true><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)
//@ launch  apply<Swish><<<ceil_div(B * O * OH * OW, 256), 256>>>(S, S, B * O * OH * OW)
//@ launch  pool<Max, 2, 2, 2, 0, 1><<<ceil_div(B * O * PH * PW, 256), 256>>>(S, Y, B * O, 1, OH, OW, 1, PH, PW)
//@ launch  apply<Mish><<<ceil_div(B * O * PH * PW, 256), 256>>>(Y, Y, B * O * PH * PW)
struct Swish { __device__ float operator()(float x) { x -= 0.5f; return x * fminf(fmaxf(x + 3, 0), 6) / 6; } };
struct Mish { __device__ float operator()(float x) { return x * tanhf(log1pf(expf(x))); } };

//@ task    conv2d_group_norm_tanh_residual_logsumexp
//@ torch   H_ = F.conv2d(X, weight, bias); Y = torch.logsumexp(H_ + F.hardswish(torch.tanh(F.group_norm(H_, 8, gamma, beta))), dim=1, keepdim=True)
//@ size    B = 16, C = 8, O = 32, H = 128, W = 128, OH = H - 2, OW = W - 2
//@ check   B = 2, C = 3, O = 16, H = 9, W = 11
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.1, 0.1)
//@ input   bias: float32[O] ~ uniform(-0.1, 0.1)
//@ input   gamma: float32[O]
//@ input   beta: float32[O]
//@ output  Y: float32[B, 1, OH, OW]
//@ scratch S: float32[B, O, OH, OW]
//@ scratch T: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 0, 1, 1, true><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)
//@ launch  normalise<true><<<B * 8, 256>>>(S, gamma, beta, T, O / 8 * OH * OW, O, OH * OW)
//@ launch  apply2<F><<<ceil_div(B * O * OH * OW, 256), 256>>>(S, T, T, B * O * OH * OW)
//@ launch  reduce<LogSumExp><<<ceil_div(B * OH * OW, 256), 256>>>(T, Y, B, O, OH * OW)
struct F {
  __device__ float operator()(float x, float n) {
    n = tanhf(n);
    return x + n * fminf(fmaxf(n + 3, 0), 6) / 6;
  }
};

//@ task    conv3d_leaky_relu_add_clamp_gelu
//@ torch   Y = F.gelu(torch.clamp(F.leaky_relu(F.conv3d(X, weight, bias), 0.2) + extra, -1.0, 1.0))
//@ size    B = 16, C = 8, O = 32, D = 16, H = 32, W = 32, OD = D - 2, OH = H - 2, OW = W - 2
//@ check   B = 2, C = 3, O = 5, D = 5, H = 6, W = 7
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[O, C, 3, 3, 3] ~ uniform(-0.06, 0.06)
//@ input   bias: float32[O]
//@ input   extra: float32[O, 1, 1, 1]
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  conv<3, 1, 0, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, Y, B, C, O, D, H, W, 3, 3, 3, OD, OH, OW)
//@ launch  per_channel<F><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(Y, extra, Y, B * O * OD * OH * OW, O, OD * OH * OW)
struct F {
  __device__ float operator()(float x, float e) {
    x = fminf(fmaxf((x > 0 ? x : 0.2f * x) + e, -1), 1);
    return 0.5f * x * (1 + erff(x * 0.70710678f));
  }
};

//@ task    conv3d_max_pool_logsumexp_relu
//@ torch   Y = torch.relu(torch.logsumexp(F.max_pool3d(F.conv3d(X, weight, bias, padding=1), kernel_size=2, stride=2), dim=1, keepdim=True))
//@ size    B = 8, C = 8, O = 32, D = 16, H = 64, W = 64, OD = D / 2, OH = H / 2, OW = W / 2
//@ check   B = 2, C = 3, O = 5, D = 4, H = 6, W = 8
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[O, C, 3, 3, 3] ~ uniform(-0.06, 0.06)
//@ input   bias: float32[O] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, 1, OD, OH, OW]
//@ scratch S: float32[B, O, D, H, W]
//@ scratch T: float32[B, O, OD, OH, OW]
//@ launch  conv<3, 1, 1, 1, 1, true><<<ceil_div(B * O * D * H * W, 256), 256>>>(X, weight, bias, S, B, C, O, D, H, W, 3, 3, 3, D, H, W)
//@ launch  pool<Max, 3, 2, 2, 0, 1><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(S, T, B * O, D, H, W, OD, OH, OW)
//@ launch  reduce<LogSumExp><<<ceil_div(B * OD * OH * OW, 256), 256>>>(T, Y, B, O, OD * OH * OW)
//@ launch  apply<F><<<ceil_div(B * OD * OH * OW, 256), 256>>>(Y, Y, B * OD * OH * OW)
struct F { __device__ float operator()(float x) { return fmaxf(x, 0); } };

//@ task    conv_transpose3d_softmax_sigmoid
//@ torch   Y = torch.sigmoid(torch.softmax(F.conv_transpose3d(X, weight, bias, stride=2, padding=1, output_padding=1), dim=1))
//@ size    B = 8, C = 16, O = 32, D = 8, H = 32, W = 32, OD = 2 * D, OH = 2 * H, OW = 2 * W
//@ check   B = 2, C = 3, O = 4, D = 2, H = 3, W = 4
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 3, 3, 3] ~ uniform(-0.06, 0.06)
//@ input   bias: float32[O] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ scratch S: float32[B, O, OD, OH, OW]
//@ launch  conv_transpose<3, 2, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, D, H, W, 3, 3, 3, OD, OH, OW)
//@ launch  softmax<<<ceil_div(B * OD * OH * OW, 256), 256>>>(S, Y, B, O, OD * OH * OW)
//@ launch  apply<F><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(Y, Y, B * O * OD * OH * OW)
struct F { __device__ float operator()(float x) { return 1 / (1 + expf(-x)); } };

//@ task    conv_transpose3d_clamp_divide
//@ torch   Y = torch.clamp(F.conv_transpose3d(X, weight, bias, stride=2, padding=1), min=-0.5) / 2.0
//@ size    B = 8, C = 32, O = 16, D = 12, H = 24, W = 24, OD = 2 * D - 1, OH = 2 * H - 1, OW = 2 * W - 1
//@ check   B = 2, C = 3, O = 4, D = 2, H = 3, W = 4
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 3, 3, 3] ~ uniform(-0.06, 0.06)
//@ input   bias: float32[O] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ launch  conv_transpose<3, 2, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, Y, B, C, O, D, H, W, 3, 3, 3, OD, OH, OW)
//@ launch  apply<F><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(Y, Y, B * O * OD * OH * OW)
struct F { __device__ float operator()(float x) { return fmaxf(x, -0.5f) / 2; } };

//@ task    conv_transpose3d_swish_group_norm
//@ torch   Y = F.hardswish(F.group_norm(F.silu(F.conv_transpose3d(X, weight, bias, stride=2, padding=1)), 4, gamma, beta))
//@ size    B = 8, C = 3, O = 16, D = 16, H = 32, W = 32, OD = 2 * D - 1, OH = 2 * H - 1, OW = 2 * W - 1
//@ check   B = 2, C = 3, O = 8, D = 2, H = 3, W = 4
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 3, 3, 3] ~ uniform(-0.1, 0.1)
//@ input   bias: float32[O] ~ uniform(-0.1, 0.1)
//@ input   gamma: float32[O]
//@ input   beta: float32[O]
//@ output  Y: float32[B, O, OD, OH, OW]
//@ scratch S: float32[B, O, OD, OH, OW]
//@ launch  conv_transpose<3, 2, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, D, H, W, 3, 3, 3, OD, OH, OW)
//@ launch  apply<Silu><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(S, S, B * O * OD * OH * OW)
//@ launch  normalise<true><<<B * 4, 256>>>(S, gamma, beta, Y, O / 4 * OD * OH * OW, O, OD * OH * OW)
//@ launch  apply<Hard><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(Y, Y, B * O * OD * OH * OW)
struct Silu { __device__ float operator()(float x) { return x / (1 + expf(-x)); } };
struct Hard { __device__ float operator()(float x) { return x * fminf(fmaxf(x + 3, 0), 6) / 6; } };

//@ task    conv_transpose2d_pool_bias_logsumexp
//@ torch   Y = torch.sum(torch.logsumexp(torch.mean(F.conv_transpose2d(X, weight, bias), dim=(2, 3), keepdim=True) + extra, dim=1, keepdim=True), dim=(2, 3)) * 10.0
//@ size    B = 16, C = 64, O = 128, H = 128, W = 128, OH = H + 2, OW = W + 2
//@ check   B = 2, C = 3, O = 4, H = 5, W = 6
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 3, 3] ~ uniform(-0.06, 0.06)
//@ input   bias: float32[O] ~ uniform(-0.06, 0.06)
//@ input   extra: float32[O, 1, 1]
//@ output  Y: float32[B, 1]
//@ scratch S: float32[B, O, OH, OW]
//@ scratch T: float32[B, O]
//@ launch  conv_transpose<2, 1, 0, 1, true><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)
//@ launch  reduce<Mean><<<ceil_div(B * O, 256), 256>>>(S, T, B * O, OH * OW, 1)
//@ launch  per_channel<Add><<<ceil_div(B * O, 256), 256>>>(T, extra, T, B * O, O, 1)
//@ launch  reduce<LogSumExp><<<1, 256>>>(T, Y, B, O, 1)
//@ launch  apply<Ten><<<1, 256>>>(Y, Y, B)
struct Add { __device__ float operator()(float x, float b) { return x + b; } };
struct Ten { __device__ float operator()(float x) { return x * 10; } };
