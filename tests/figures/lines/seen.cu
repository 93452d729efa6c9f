// SPDX-License-Identifier: Apache-2.0
// Thirty torch lines in the style of KernelBench levels 1 and 2, which the playbook's rules may be written for.

//@ task    square_matmul
//@ torch   C = A @ B
//@ size    N = 2048
//@ check   N = 70
//@ input   A: float32[N, N]
//@ input   B: float32[N, N]
//@ output  C: float32[N, N]
//@ launch  matmul<false, false><<<ceil_div(N * N, 256), 256>>>(A, B, C, 1, N, N, N)

//@ task    outer_shaped_matmul
//@ torch   C = A @ B
//@ size    N = 8192, M = 8192, K = 32
//@ check   N = 65, M = 130, K = 8
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ output  C: float32[N, M]
//@ launch  matmul<false, false><<<ceil_div(N * M, 256), 256>>>(A, B, C, 1, N, M, K)

//@ task    batched_matmul
//@ torch   C = torch.bmm(A, B)
//@ size    B_ = 32, N = 512, M = 512, K = 1024
//@ check   B_ = 3, N = 33, M = 20, K = 40
//@ input   A: float32[B_, N, K]
//@ input   B: float32[B_, K, M]
//@ output  C: float32[B_, N, M]
//@ launch  matmul<false, false><<<ceil_div(B_ * N * M, 256), 256>>>(A, B, C, B_, N, M, K)

//@ task    swish
//@ torch   Y = X * torch.sigmoid(X)
//@ size    N = 4096, M = 16384
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  apply<F><<<ceil_div(N * M, 256), 256>>>(X, Y, N * M)
struct F { __device__ float operator()(float x) { return x / (1 + expf(-x)); } };

//@ task    new_gelu
//@ torch   Y = 0.5 * X * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (X + 0.044715 * torch.pow(X, 3.0))))
//@ size    N = 8192, M = 8192
//@ check   N = 7, M = 130
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  apply<F><<<ceil_div(N * M, 256), 256>>>(X, Y, N * M)
struct F { __device__ float operator()(float x) { return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); } };

//@ task    group_norm
//@ torch   Y = F.group_norm(X, 8, weight, bias)
//@ size    B = 16, C = 64, H = 256, W = 256
//@ check   B = 2, C = 16, H = 5, W = 7
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C]
//@ input   bias: float32[C]
//@ output  Y: float32[B, C, H, W]
//@ launch  normalise<true><<<B * 8, 256>>>(X, weight, bias, Y, C / 8 * H * W, C, H * W)

//@ task    max_pool2d
//@ torch   Y = F.max_pool2d(X, kernel_size=3, stride=2, padding=1)
//@ size    B = 16, C = 64, H = 256, W = 256, OH = (H - 1) / 2 + 1, OW = (W - 1) / 2 + 1
//@ check   B = 2, C = 3, H = 9, W = 14
//@ input   X: float32[B, C, H, W]
//@ output  Y: float32[B, C, OH, OW]
//@ launch  pool<Max, 2, 3, 2, 1, 1><<<ceil_div(B * C * OH * OW, 256), 256>>>(X, Y, B * C, 1, H, W, 1, OH, OW)

//@ task    avg_pool1d
//@ torch   Y = F.avg_pool1d(X, kernel_size=8, stride=1, padding=4)
//@ size    B = 32, C = 64, L = 16384, O = L + 1
//@ check   B = 2, C = 3, L = 37
//@ input   X: float32[B, C, L]
//@ output  Y: float32[B, C, O]
//@ launch  pool<Mean, 1, 8, 1, 4, 1><<<ceil_div(B * C * O, 256), 256>>>(X, Y, B * C, 1, 1, L, 1, 1, O)

//@ task    mean_over_dimension
//@ torch   Y = torch.mean(X, dim=1)
//@ size    B = 32, N = 2048, M = 1024
//@ check   B = 3, N = 33, M = 40
//@ input   X: float32[B, N, M]
//@ output  Y: float32[B, M]
//@ launch  reduce<Mean><<<ceil_div(B * M, 256), 256>>>(X, Y, B, N, M)

//@ task    conv2d_square
//@ torch   Y = F.conv2d(X, weight)
//@ size    B = 16, C = 32, O = 64, H = 128, W = 128, OH = H - 2, OW = W - 2
//@ check   B = 2, C = 3, O = 9, H = 9, W = 11
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 0, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

//@ task    conv1d_dilated_strided
//@ torch   Y = F.conv1d(X, weight, stride=3, dilation=4)
//@ size    B = 16, C = 64, O = 128, L = 16384, P = (L - 9) / 3 + 1
//@ check   B = 2, C = 3, O = 5, L = 40
//@ input   X: float32[B, C, L]
//@ input   weight: float32[O, C, 3] ~ uniform(-0.07, 0.07)
//@ output  Y: float32[B, O, P]
//@ launch  conv<1, 3, 0, 4, 1, false><<<ceil_div(B * O * P, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, 1, L, 1, 1, 3, 1, 1, P)

//@ task    depthwise_conv2d
//@ torch   Y = F.conv2d(X, weight, bias, padding=1, groups=64)
//@ size    B = 16, C = 64, H = 256, W = 256
//@ check   B = 2, C = 64, H = 7, W = 9
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, 1, 3, 3] ~ uniform(-0.3, 0.3)
//@ input   bias: float32[C]
//@ output  Y: float32[B, C, H, W]
//@ launch  conv<2, 1, 1, 1, 64, true><<<ceil_div(B * C * H * W, 256), 256>>>(X, weight, bias, Y, B, C, C, 1, H, W, 1, 3, 3, 1, H, W)

//@ task    conv_transpose2d_strided
//@ torch   Y = F.conv_transpose2d(X, weight, stride=2, padding=1)
//@ size    B = 8, C = 32, O = 32, H = 128, W = 128, OH = 2 * H - 1, OW = 2 * W - 1
//@ check   B = 2, C = 3, O = 9, H = 5, W = 6
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 3, 3] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv_transpose<2, 2, 1, 1, false><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, weight, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)

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

//@ task    cross_entropy
//@ torch   L = F.cross_entropy(X, T)
//@ size    N = 32768, C = 1024
//@ check   N = 70, C = 10
//@ input   X: float32[N, C]
//@ input   T: int64[N] ~ randint(0, 10)
//@ output  L: float32
//@ scratch S: float32[N]
//@ launch  row<<<ceil_div(N, 256), 256>>>(X, T, S, N, C)
//@ launch  reduce<Mean><<<1, 256>>>(S, L, 1, N, 1)
__global__ void row(const float* x, const long long* t, float* s, int n, int c) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < c; ++k) sum += expf(x[i * c + k]);
  s[i] = logf(sum) - x[i * c + t[i]];
}

//@ task    linear_gelu_softmax
//@ torch   Y = F.softmax(F.gelu(F.linear(X, weight, bias)), dim=1)
//@ size    N = 1024, M = 4096, K = 4096
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.02, 0.02)
//@ input   bias: float32[M] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[N, M]
//@ scratch S: float32[N, M]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  apply<F><<<ceil_div(N * M, 256), 256>>>(S, S, N * M)
//@ launch  softmax<<<ceil_div(N, 256), 256>>>(S, Y, N, M, 1)
struct F { __device__ float operator()(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); } };

//@ task    matmul_divide_sum_scale
//@ torch   Y = (X @ weight.T / 2).sum(dim=1, keepdim=True) * 1.5
//@ size    N = 1024, M = 4096, K = 4096
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[N, 1]
//@ scratch S: float32[N, M]
//@ launch  matmul<false, true><<<ceil_div(N * M, 256), 256>>>(X, weight, S, 1, N, M, K)
//@ launch  reduce<Sum><<<ceil_div(N, 256), 256>>>(S, Y, N, M, 1)
//@ launch  apply<F><<<ceil_div(N, 256), 256>>>(Y, Y, N)
struct F { __device__ float operator()(float x) { return x / 2 * 1.5f; } };

//@ task    linear_subtract_multiply_relu
//@ torch   Y = torch.relu((F.linear(X, weight, bias) - 2.0) * 1.5)
//@ size    N = 1024, M = 4096, K = 4096
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.05, 0.05)
//@ input   bias: float32[M]
//@ output  Y: float32[N, M]
//@ scratch S: float32[N, M]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  apply<F><<<ceil_div(N * M, 256), 256>>>(S, Y, N * M)
struct F { __device__ float operator()(float x) { return fmaxf((x - 2) * 1.5f, 0); } };

//@ task    linear_group_norm_hardtanh
//@ torch   Y = F.hardtanh(F.group_norm(F.linear(X, weight, bias), 16, gamma, beta), -2.0, 2.0)
//@ size    N = 1024, M = 4096, K = 2048
//@ check   N = 9, M = 64, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.02, 0.02)
//@ input   bias: float32[M] ~ uniform(-0.02, 0.02)
//@ input   gamma: float32[M]
//@ input   beta: float32[M]
//@ output  Y: float32[N, M]
//@ scratch S: float32[N, M]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  normalise<true><<<N * 16, 256>>>(S, gamma, beta, Y, M / 16, M, 1)
//@ launch  apply<F><<<ceil_div(N * M, 256), 256>>>(Y, Y, N * M)
struct F { __device__ float operator()(float x) { return fminf(fmaxf(x, -2), 2); } };

//@ task    linear_max_pool_sum_scale
//@ torch   Y = F.max_pool1d(F.linear(X, weight, bias).unsqueeze(1), 2).squeeze(1).sum(dim=1) * 0.5
//@ size    N = 1024, M = 4096, K = 2048
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.02, 0.02)
//@ input   bias: float32[M] ~ uniform(-0.02, 0.02)
//@ output  Y: float32[N]
//@ scratch S: float32[N, M]
//@ scratch T: float32[N, M / 2]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  pool<Max, 1, 2, 2, 0, 1><<<ceil_div(N * M / 2, 256), 256>>>(S, T, N, 1, 1, M, 1, 1, M / 2)
//@ launch  reduce<Sum><<<ceil_div(N, 256), 256>>>(T, Y, N, M / 2, 1)
//@ launch  apply<F><<<ceil_div(N, 256), 256>>>(Y, Y, N)
struct F { __device__ float operator()(float x) { return x * 0.5f; } };

//@ task    linear_swish_residual_norm
//@ torch   H = F.linear(X, weight, bias); Y = F.layer_norm(H * torch.sigmoid(H) + R, (M,), gamma, beta)
//@ size    N = 1024, M = 4096, K = 1024
//@ check   N = 9, M = 70, K = 33
//@ input   X: float32[N, K]
//@ input   weight: float32[M, K] ~ uniform(-0.03, 0.03)
//@ input   bias: float32[M] ~ uniform(-0.03, 0.03)
//@ input   R: float32[N, M]
//@ input   gamma: float32[M]
//@ input   beta: float32[M]
//@ output  Y: float32[N, M]
//@ scratch S: float32[N, M]
//@ launch  linear<<<ceil_div(N * M, 256), 256>>>(X, weight, bias, S, N, M, K)
//@ launch  apply2<F><<<ceil_div(N * M, 256), 256>>>(S, R, S, N * M)
//@ launch  normalise<true><<<N, 256>>>(S, gamma, beta, Y, M, M, 1)
struct F { __device__ float operator()(float x, float r) { return x / (1 + expf(-x)) + r; } };

//@ task    conv2d_relu_bias
//@ torch   Y = torch.relu(F.conv2d(X, weight, bias)) + extra
//@ size    B = 32, C = 16, O = 32, H = 128, W = 128, OH = H - 2, OW = W - 2
//@ check   B = 2, C = 3, O = 5, H = 9, W = 11
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.08, 0.08)
//@ input   bias: float32[O]
//@ input   extra: float32[O, 1, 1]
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 0, 1, 1, true><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, bias, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)
//@ launch  per_channel<F><<<ceil_div(B * O * OH * OW, 256), 256>>>(Y, extra, Y, B * O * OH * OW, O, OH * OW)
struct F { __device__ float operator()(float x, float b) { return fmaxf(x, 0) + b; } };

//@ task    conv2d_min_tanh_tanh
//@ torch   Y = torch.tanh(torch.tanh(torch.min(F.conv2d(X, weight, bias), dim=1, keepdim=True)[0]))
//@ size    B = 32, C = 16, O = 64, H = 128, W = 128, OH = H - 2, OW = W - 2
//@ check   B = 2, C = 3, O = 5, H = 9, W = 11
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.08, 0.08)
//@ input   bias: float32[O] ~ uniform(-0.08, 0.08)
//@ output  Y: float32[B, 1, OH, OW]
//@ scratch S: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 0, 1, 1, true><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)
//@ launch  reduce<Min><<<ceil_div(B * OH * OW, 256), 256>>>(S, Y, B, O, OH * OW)
//@ launch  apply<F><<<ceil_div(B * OH * OW, 256), 256>>>(Y, Y, B * OH * OW)
struct F { __device__ float operator()(float x) { return tanhf(tanhf(x)); } };

//@ task    conv2d_instance_norm_divide
//@ torch   Y = F.instance_norm(F.conv2d(X, weight, bias)) / 2.0
//@ size    B = 16, C = 32, O = 64, H = 128, W = 128, OH = H - 2, OW = W - 2
//@ check   B = 2, C = 3, O = 5, H = 9, W = 11
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[O, C, 3, 3] ~ uniform(-0.06, 0.06)
//@ input   bias: float32[O] ~ uniform(-0.06, 0.06)
//@ output  Y: float32[B, O, OH, OW]
//@ scratch S: float32[B, O, OH, OW]
//@ launch  conv<2, 1, 0, 1, 1, true><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)
//@ launch  normalise<false><<<B * O, 256>>>(S, S, S, Y, OH * OW, O, OH * OW)
//@ launch  apply<F><<<ceil_div(B * O * OH * OW, 256), 256>>>(Y, Y, B * O * OH * OW)
struct F { __device__ float operator()(float x) { return x / 2; } };

//@ task    conv3d_min_softmax
//@ torch   Y = torch.softmax(torch.min(F.conv3d(X, weight, bias), dim=2)[0], dim=1)
//@ size    B = 16, C = 3, O = 24, D = 24, H = 32, W = 32, OD = D - 2, OH = H - 2, OW = W - 2
//@ check   B = 2, C = 3, O = 5, D = 5, H = 6, W = 7
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[O, C, 3, 3, 3] ~ uniform(-0.1, 0.1)
//@ input   bias: float32[O] ~ uniform(-0.1, 0.1)
//@ output  Y: float32[B, O, OH, OW]
//@ scratch S: float32[B, O, OD, OH, OW]
//@ scratch T: float32[B, O, OH, OW]
//@ launch  conv<3, 1, 0, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, D, H, W, 3, 3, 3, OD, OH, OW)
//@ launch  reduce<Min><<<ceil_div(B * O * OH * OW, 256), 256>>>(S, T, B * O, OD, OH * OW)
//@ launch  softmax<<<ceil_div(B * OH * OW, 256), 256>>>(T, Y, B, O, OH * OW)

//@ task    conv3d_hardswish_group_norm_mean
//@ torch   Y = torch.mean(F.group_norm(F.hardswish(F.conv3d(X, weight, bias)), 4, gamma, beta), dim=[2, 3, 4])
//@ size    B = 32, C = 3, O = 16, D = 16, H = 32, W = 32, OD = D - 3, OH = H - 3, OW = W - 3
//@ check   B = 2, C = 3, O = 8, D = 5, H = 6, W = 7
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[O, C, 4, 4, 4] ~ uniform(-0.1, 0.1)
//@ input   bias: float32[O] ~ uniform(-0.1, 0.1)
//@ input   gamma: float32[O]
//@ input   beta: float32[O]
//@ output  Y: float32[B, O]
//@ scratch S: float32[B, O, OD, OH, OW]
//@ scratch T: float32[B, O, OD, OH, OW]
//@ launch  conv<3, 1, 0, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, D, H, W, 4, 4, 4, OD, OH, OW)
//@ launch  apply<F><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(S, S, B * O * OD * OH * OW)
//@ launch  normalise<true><<<B * 4, 256>>>(S, gamma, beta, T, O / 4 * OD * OH * OW, O, OD * OH * OW)
//@ launch  reduce<Mean><<<ceil_div(B * O, 256), 256>>>(T, Y, B * O, OD * OH * OW, 1)
struct F { __device__ float operator()(float x) { return x * fminf(fmaxf(x + 3, 0), 6) / 6; } };

//@ task    conv_transpose3d_subtract_mean
//@ torch   H_ = F.conv_transpose3d(X, weight, bias, stride=2, padding=1); Y = H_ - torch.mean(H_, dim=(2, 3, 4), keepdim=True)
//@ size    B = 8, C = 16, O = 32, D = 16, H = 32, W = 32, OD = 2 * D - 1, OH = 2 * H - 1, OW = 2 * W - 1
//@ check   B = 2, C = 3, O = 4, D = 3, H = 4, W = 5
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 3, 3, 3] ~ uniform(-0.04, 0.04)
//@ input   bias: float32[O] ~ uniform(-0.04, 0.04)
//@ output  Y: float32[B, O, OD, OH, OW]
//@ scratch S: float32[B, O, OD, OH, OW]
//@ scratch T: float32[B, O]
//@ launch  conv_transpose<3, 2, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, D, H, W, 3, 3, 3, OD, OH, OW)
//@ launch  reduce<Mean><<<ceil_div(B * O, 256), 256>>>(S, T, B * O, OD * OH * OW, 1)
//@ launch  per_run<F><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(S, T, Y, B * O * OD * OH * OW, OD * OH * OW)
struct F { __device__ float operator()(float x, float m) { return x - m; } };

//@ task    conv_transpose3d_norm_pool_gelu
//@ torch   Y = F.gelu(F.avg_pool3d(F.layer_norm(F.conv_transpose3d(X, weight, bias, stride=2, padding=1) + 1.0, (OW,), gamma, beta), 2))
//@ size    B = 8, C = 16, O = 32, D = 8, H = 16, W = 32, OD = 2 * D, OH = 2 * H, OW = 2 * W
//@ check   B = 2, C = 3, O = 4, D = 2, H = 3, W = 4
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 4, 4, 4] ~ uniform(-0.04, 0.04)
//@ input   bias: float32[O] ~ uniform(-0.04, 0.04)
//@ input   gamma: float32[OW]
//@ input   beta: float32[OW]
//@ output  Y: float32[B, O, D, H, W]
//@ scratch S: float32[B, O, OD, OH, OW]
//@ scratch T: float32[B, O, OD, OH, OW]
//@ launch  conv_transpose<3, 2, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, D, H, W, 4, 4, 4, OD, OH, OW)
//@ launch  apply<Plus><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(S, S, B * O * OD * OH * OW)
//@ launch  normalise<true><<<B * O * OD * OH, 256>>>(S, gamma, beta, T, OW, OW, 1)
//@ launch  pool<Mean, 3, 2, 2, 0, 1><<<ceil_div(B * O * D * H * W, 256), 256>>>(T, Y, B * O, OD, OH, OW, D, H, W)
//@ launch  apply<Gelu><<<ceil_div(B * O * D * H * W, 256), 256>>>(Y, Y, B * O * D * H * W)
struct Plus { __device__ float operator()(float x) { return x + 1; } };
struct Gelu { __device__ float operator()(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); } };

//@ task    conv_transpose3d_max_pool_sum
//@ torch   Y = torch.sum(F.max_pool3d(F.conv_transpose3d(X, weight, bias, stride=2, padding=1), 2), dim=1, keepdim=True)
//@ size    B = 8, C = 16, O = 32, D = 8, H = 16, W = 32, OD = 2 * D, OH = 2 * H, OW = 2 * W
//@ check   B = 2, C = 3, O = 4, D = 2, H = 3, W = 4
//@ input   X: float32[B, C, D, H, W]
//@ input   weight: float32[C, O, 4, 4, 4] ~ uniform(-0.04, 0.04)
//@ input   bias: float32[O] ~ uniform(-0.04, 0.04)
//@ output  Y: float32[B, 1, D, H, W]
//@ scratch S: float32[B, O, OD, OH, OW]
//@ scratch T: float32[B, O, D, H, W]
//@ launch  conv_transpose<3, 2, 1, 1, true><<<ceil_div(B * O * OD * OH * OW, 256), 256>>>(X, weight, bias, S, B, C, O, D, H, W, 4, 4, 4, OD, OH, OW)
//@ launch  pool<Max, 3, 2, 2, 0, 1><<<ceil_div(B * O * D * H * W, 256), 256>>>(S, T, B * O, OD, OH, OW, D, H, W)
//@ launch  reduce<Sum><<<ceil_div(B * D * H * W, 256), 256>>>(T, Y, B, O, D * H * W)

//@ task    conv_transpose2d_bias_clamp_scale
//@ torch   Y = torch.clamp(torch.clamp(F.conv_transpose2d(X, weight, bias, stride=2, padding=1, output_padding=1) + extra, 0.0, 1.0) * 2.0, 0.0, 1.0) / 2.0
//@ size    B = 16, C = 32, O = 32, H = 64, W = 64, OH = 2 * H, OW = 2 * W
//@ check   B = 2, C = 3, O = 4, H = 5, W = 6
//@ input   X: float32[B, C, H, W]
//@ input   weight: float32[C, O, 3, 3] ~ uniform(-0.06, 0.06)
//@ input   bias: float32[O] ~ uniform(-0.06, 0.06)
//@ input   extra: float32[O, 1, 1]
//@ output  Y: float32[B, O, OH, OW]
//@ launch  conv_transpose<2, 2, 1, 1, true><<<ceil_div(B * O * OH * OW, 256), 256>>>(X, weight, bias, Y, B, C, O, 1, H, W, 1, 3, 3, 1, OH, OW)
//@ launch  per_channel<F><<<ceil_div(B * O * OH * OW, 256), 256>>>(Y, extra, Y, B * O * OH * OW, O, OH * OW)
struct F {
  __device__ float operator()(float x, float b) { return fminf(fmaxf(fminf(fmaxf(x + b, 0), 1) * 2, 0), 1) / 2; }
};
