// SPDX-License-Identifier: Apache-2.0
// Fifty-six torch lines for what the others leave out: several outputs, 16 bits, integers and truth values, parts and places, and
// every piece of algebra once more. At their check sizes every answer has to be right.

//@ task    diag_both
//@ torch   Y = torch.diag(A) @ X @ torch.diag(B)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   A: float32[N]
//@ input   B: float32[M]
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  diag_both_<<<ceil_div(N * M, 256), 256>>>(A, B, X, Y, N * M, M)
__global__ void diag_both_(const float* A, const float* B, const float* X, float* Y, long long n, int M) {
  RESULT(i, n);
  Y[i] = A[i / M] * X[i] * B[i % M];
}

//@ task    scaled_identity
//@ torch   Y = (2.0 * torch.eye(N)) @ W
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   W: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  scaled_identity_<<<ceil_div(N * M, 256), 256>>>(W, Y, N * M)
__global__ void scaled_identity_(const float* W, float* Y, long long n) {
  RESULT(i, n);
  Y[i] = 2 * W[i];
}

//@ task    one_hot_rows
//@ torch   Y = F.one_hot(I, K).float() @ W
//@ size    N = 65536, K = 512, M = 256
//@ check   N = 9, K = 7, M = 13
//@ input   I: int64[N] ~ randint(0, 7)
//@ input   W: float32[K, M]
//@ output  Y: float32[N, M]
//@ launch  one_hot_rows_<<<ceil_div(N * M, 256), 256>>>(I, W, Y, N * M, M)
__global__ void one_hot_rows_(const long long* I, const float* W, float* Y, long long n, int M) {
  RESULT(i, n);
  Y[i] = W[I[i / M] * M + i % M];
}

//@ task    strict_triangle
//@ torch   Y = torch.tril(A, -1) @ X
//@ size    N = 2048, M = 2048
//@ check   N = 17, M = 5
//@ input   A: float32[N, N]
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  strict_triangle_<<<ceil_div(N * M, 256), 256>>>(A, X, Y, N * M, N, M)
__global__ void strict_triangle_(const float* A, const float* X, float* Y, long long n, int N, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < i / M; ++k) sum += A[i / M * N + k] * X[k * M + i % M];
  Y[i] = sum;
}

//@ task    quadratic_form
//@ torch   Y = V @ (A @ A.T) @ V
//@ size    N = 4096, M = 1024
//@ check   N = 9, M = 7
//@ input   A: float32[N, M] ~ uniform(-0.1, 0.1)
//@ input   V: float32[N]
//@ output  Y: float32
//@ launch  quadratic_form_<<<ceil_div(1, 256), 256>>>(A, V, Y, 1, N, M)
__global__ void quadratic_form_(const float* A, const float* V, float* Y, long long n, int N, int M) {
  RESULT(i, n);
  float total = 0;
  for (int m = 0; m < M; ++m) {
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += A[1ll * k * M + m] * V[k];
    total += sum * sum;
  }
  Y[i] = total;
}

//@ task    linear_residual_mean
//@ torch   Y = (F.linear(X, W, B) + R).mean(dim=1)
//@ size    N = 2048, M = 2048, K = 1024
//@ check   N = 9, M = 7, K = 5
//@ input   X: float32[N, K]
//@ input   W: float32[M, K]
//@ input   B: float32[M]
//@ input   R: float32[N, M]
//@ output  Y: float32[N]
//@ launch  linear_residual_mean_<<<ceil_div(N, 256), 256>>>(X, W, B, R, Y, N, M, K)
__global__ void linear_residual_mean_(const float* X, const float* W, const float* B, const float* R, float* Y, long long n, int M, int K) {
  RESULT(i, n);
  float total = 0;
  for (int m = 0; m < M; ++m) {
    float sum = B[m] + R[i * M + m];
    for (int k = 0; k < K; ++k) sum += X[i * K + k] * W[1ll * m * K + k];
    total += sum;
  }
  Y[i] = total / M;
}

//@ task    convolution_channel_sum
//@ torch   Y = F.conv2d(X, W, B, padding=1).sum(dim=1)
//@ size    N = 16, C = 32, O = 64, H = 128, V = 128
//@ check   N = 2, C = 3, O = 4, H = 6, V = 9
//@ input   X: float32[N, C, H, V]
//@ input   W: float32[O, C, 3, 3]
//@ input   B: float32[O]
//@ output  Y: float32[N, H, V]
//@ launch  convolution_channel_sum_<<<ceil_div(N * H * V, 256), 256>>>(X, W, B, Y, N * H * V, C, O, H, V)
__global__ void convolution_channel_sum_(const float* X, const float* W, const float* B, float* Y, long long n, int C, int O, int H, int V) {
  RESULT(i, n);
  float total = 0;
  for (int o = 0; o < O; ++o) {
    float sum = B[o];
    for (int c = 0; c < C; ++c)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
          const int h = i / V % H + a - 1, v = i % V + b - 1;
          if (h >= 0 && h < H && v >= 0 && v < V) sum += X[((i / V / H * C + c) * H + h) * V + v] * W[((o * C + c) * 3 + a) * 3 + b];
        }
    total += sum;
  }
  Y[i] = total;
}

//@ task    convolution_total
//@ torch   Y = F.conv2d(X, W, B).mean(dim=(0, 1, 2, 3))
//@ size    N = 4, C = 32, O = 64, H = 128, V = 128
//@ check   N = 2, C = 3, O = 4, H = 6, V = 9
//@ input   X: float32[N, C, H, V]
//@ input   W: float32[O, C, 3, 3]
//@ input   B: float32[O]
//@ output  Y: float32
//@ launch  convolution_total_<<<ceil_div(1, 256), 256>>>(X, W, B, Y, 1, N, C, O, H, V)
__global__ void convolution_total_(const float* X, const float* W, const float* B, float* Y, long long n, int N, int C, int O, int H, int V) {
  RESULT(i, n);
  float total = 0;
  for (int r = 0; r < N * O * (H - 2) * (V - 2); ++r) {
    const int v = r % (V - 2), h = r / (V - 2) % (H - 2), o = r / (V - 2) / (H - 2) % O, s = r / (V - 2) / (H - 2) / O;
    float sum = B[o];
    for (int c = 0; c < C; ++c)
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) sum += X[((s * C + c) * H + h + a) * V + v + b] * W[((o * C + c) * 3 + a) * 3 + b];
    total += sum;
  }
  Y[i] = total / (1.0f * N * O * (H - 2) * (V - 2));
}

//@ task    certain_clamp
//@ torch   Y = torch.clamp(torch.softmax(X, dim=1), max=1.0)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  certain_clamp_<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void certain_clamp_(const float* X, float* Y, long long n, int M) {
  RESULT(i, n);
  float most = -1e30f, sum = 0;
  for (int m = 0; m < M; ++m) most = fmaxf(most, X[i * M + m]);
  for (int m = 0; m < M; ++m) sum += expf(X[i * M + m] - most);
  for (int m = 0; m < M; ++m) Y[i * M + m] = expf(X[i * M + m] - most) / sum;
}

//@ task    broadcast_total
//@ torch   Y = (X + B[:, None]).sum()
//@ size    N = 64, C = 256, H = 1024
//@ check   N = 2, C = 3, H = 5
//@ input   X: float32[N, C, H]
//@ input   B: float32[C]
//@ output  Y: float32
//@ launch  broadcast_total_<<<ceil_div(1, 256), 256>>>(X, B, Y, 1, N, C, H)
__global__ void broadcast_total_(const float* X, const float* B, float* Y, long long n, int N, int C, int H) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < N * C * H; ++k) sum += X[k] + B[k / H % C];
  Y[i] = sum;
}

//@ task    rotary
//@ torch   A = X[..., :D // 2]; B = X[..., D // 2:]; Y = X * c + torch.cat([-B, A], dim=-1) * s
//@ size    N = 64, T = 2048, D = 128
//@ check   N = 2, T = 5, D = 8
//@ input   X: float32[N, T, D]
//@ input   c: float32[T, D]
//@ input   s: float32[T, D]
//@ output  Y: float32[N, T, D]
//@ launch  rotary_<<<ceil_div(N * T * D, 256), 256>>>(X, c, s, Y, N * T * D, T, D)
__global__ void rotary_(const float* X, const float* c, const float* s, float* Y, long long n, int T, int D) {
  RESULT(i, n);
  const int d = i % D;
  const float other = d < D / 2 ? -X[i + D / 2] : X[i - D / 2];
  Y[i] = X[i] * c[i % (T * D)] + other * s[i % (T * D)];
}

//@ task    swiglu
//@ torch   A, B = X.chunk(2, dim=-1); Y = F.silu(A) * B
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 6
//@ input   X: float32[N, 2 * M]
//@ output  Y: float32[N, M]
//@ launch  swiglu_<<<ceil_div(N * M, 256), 256>>>(X, Y, N * M, M)
__global__ void swiglu_(const float* X, float* Y, long long n, int M) {
  RESULT(i, n);
  const float a = X[i / M * 2 * M + i % M], b = X[(i / M * 2 + 1) * M + i % M];
  Y[i] = a / (1 + expf(-a)) * b;
}

//@ task    gated
//@ torch   Y = F.glu(X, dim=0)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 6
//@ input   X: float32[2 * N, M]
//@ output  Y: float32[N, M]
//@ launch  gated_<<<ceil_div(N * M, 256), 256>>>(X, Y, N * M, N, M)
__global__ void gated_(const float* X, float* Y, long long n, int N, int M) {
  RESULT(i, n);
  Y[i] = X[i] / (1 + expf(-X[i + N * M]));
}

//@ task    half_gelu
//@ torch   Y = F.gelu(X, approximate='tanh')
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float16[N, M]
//@ output  Y: float16[N, M]
//@ launch  half_gelu_<<<ceil_div(N * M, 256), 256>>>(X, Y, N * M)
#include <cuda_fp16.h>
__global__ void half_gelu_(const __half* X, __half* Y, long long n) {
  RESULT(i, n);
  const float x = __half2float(X[i]);
  Y[i] = __float2half(0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x))));
}

//@ task    bfloat16_sum
//@ torch   Y = A + B * 0.5
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   A: bfloat16[N, M]
//@ input   B: bfloat16[M]
//@ output  Y: bfloat16[N, M]
//@ launch  bfloat16_sum_<<<ceil_div(N * M, 256), 256>>>(A, B, Y, N * M, M)
#include <cuda_bf16.h>
__global__ void bfloat16_sum_(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* Y, long long n, int M) {
  RESULT(i, n);
  Y[i] = __float2bfloat16(__bfloat162float(A[i]) + __bfloat162float(B[i % M]) * 0.5f);
}

//@ task    integer_quotients
//@ torch   Y = torch.floor_divide(A, B) + A % B
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   A: int64[N, M] ~ randint(-50, 50)
//@ input   B: int64[N, M] ~ randint(1, 9)
//@ output  Y: int64[N, M]
//@ launch  integer_quotients_<<<ceil_div(N * M, 256), 256>>>(A, B, Y, N * M)
__global__ void integer_quotients_(const long long* A, const long long* B, long long* Y, long long n) {
  RESULT(i, n);
  const long long q = A[i] / B[i], r = A[i] % B[i];
  Y[i] = r < 0 ? q - 1 + r + B[i] : q + r;
}

//@ task    bits
//@ torch   Y = (A & 7) | (B ^ A)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   A: int32[N, M] ~ randint(0, 90)
//@ input   B: int32[N, M] ~ randint(0, 90)
//@ output  Y: int32[N, M]
//@ launch  bits_<<<ceil_div(N * M, 256), 256>>>(A, B, Y, N * M)
__global__ void bits_(const int* A, const int* B, int* Y, long long n) {
  RESULT(i, n);
  Y[i] = (A[i] & 7) | (B[i] ^ A[i]);
}

//@ task    truth_and_choice
//@ torch   Y = (A > 0) & (B < 0.5); Z = torch.where(A > B, A - B, A * B)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   A: float32[N, M]
//@ input   B: float32[N, M]
//@ output  Y: bool[N, M]
//@ output  Z: float32[N, M]
//@ launch  truth_and_choice_<<<ceil_div(N * M, 256), 256>>>(A, B, Y, Z, N * M)
__global__ void truth_and_choice_(const float* A, const float* B, bool* Y, float* Z, long long n) {
  RESULT(i, n);
  Y[i] = A[i] > 0 && B[i] < 0.5f;
  Z[i] = A[i] > B[i] ? A[i] - B[i] : A[i] * B[i];
}

//@ task    largest_and_place
//@ torch   V, I = torch.max(X, dim=1); W = torch.min(X, dim=1).values
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ output  V: float32[N]
//@ output  I: int64[N]
//@ output  W: float32[N]
//@ launch  largest_and_place_<<<ceil_div(N, 256), 256>>>(X, V, I, W, N, M)
__global__ void largest_and_place_(const float* X, float* V, long long* I, float* W, long long n, int M) {
  RESULT(i, n);
  int best = 0;
  float least = X[i * M];
  for (int m = 1; m < M; ++m) {
    if (X[i * M + m] > X[i * M + best]) best = m;
    least = fminf(least, X[i * M + m]);
  }
  V[i] = X[i * M + best];
  I[i] = best;
  W[i] = least;
}

//@ task    variance_and_mean
//@ torch   Y = torch.var(X, dim=1); Z = X.mean(dim=1)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ output  Y: float32[N]
//@ output  Z: float32[N]
//@ launch  variance_and_mean_<<<ceil_div(N, 256), 256>>>(X, Y, Z, N, M)
__global__ void variance_and_mean_(const float* X, float* Y, float* Z, long long n, int M) {
  RESULT(i, n);
  float sum = 0, squares = 0;
  for (int m = 0; m < M; ++m) sum += X[i * M + m];
  for (int m = 0; m < M; ++m) squares += (X[i * M + m] - sum / M) * (X[i * M + m] - sum / M);
  Y[i] = squares / (M - 1);
  Z[i] = sum / M;
}

//@ task    three_norms
//@ torch   Y = torch.norm(X, p=3, dim=1); Z = torch.norm(X, p=float('inf'), dim=1); W = torch.norm(X, p=1, dim=1)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ output  Y: float32[N]
//@ output  Z: float32[N]
//@ output  W: float32[N]
//@ launch  three_norms_<<<ceil_div(N, 256), 256>>>(X, Y, Z, W, N, M)
__global__ void three_norms_(const float* X, float* Y, float* Z, float* W, long long n, int M) {
  RESULT(i, n);
  float cubes = 0, most = 0, sum = 0;
  for (int m = 0; m < M; ++m) {
    const float x = fabsf(X[i * M + m]);
    cubes += x * x * x;
    most = fmaxf(most, x);
    sum += x;
  }
  Y[i] = cbrtf(cubes);
  Z[i] = most;
  W[i] = sum;
}

//@ task    count
//@ torch   Y = (X > 0.5).sum(dim=1)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ output  Y: int64[N]
//@ launch  count_<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void count_(const float* X, long long* Y, long long n, int M) {
  RESULT(i, n);
  int count = 0;
  for (int m = 0; m < M; ++m) count += X[i * M + m] > 0.5f;
  Y[i] = count;
}

//@ task    ragged_l2_norm
//@ torch   Y = X / torch.norm(X, p=2, dim=1, keepdim=True)
//@ size    N = 2048, M = 65535
//@ check   N = 7, M = 33
//@ check   N = 3, M = 5001
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  ragged_l2_norm_<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void ragged_l2_norm_(const float* X, float* Y, long long n, int M) {
  RESULT(i, n);
  float squares = 0;
  for (int k = 0; k < M; ++k) squares += X[i * M + k] * X[i * M + k];
  for (int k = 0; k < M; ++k) Y[i * M + k] = X[i * M + k] / sqrtf(squares);
}

//@ task    masked_softmax
//@ torch   Y = torch.softmax((X * 0.125).masked_fill(K == 0, float('-inf')), dim=-1)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 133
//@ input   X: float32[N, M]
//@ input   K: int64[N, M] ~ randint(0, 5)
//@ output  Y: float32[N, M]
//@ launch  masked_softmax_<<<ceil_div(N, 256), 256>>>(X, K, Y, N, M)
__global__ void masked_softmax_(const float* X, const long long* K, float* Y, long long n, int M) {
  RESULT(i, n);
  float most = -1e30f, sum = 0;
  for (int m = 0; m < M; ++m) most = fmaxf(most, (K[i * M + m] == 0 ? -1e30f : X[i * M + m] * 0.125f));
  for (int m = 0; m < M; ++m) sum += expf((K[i * M + m] == 0 ? -1e30f : X[i * M + m] * 0.125f) - most);
  for (int m = 0; m < M; ++m) Y[i * M + m] = K[i * M + m] == 0 ? 0 : expf(X[i * M + m] * 0.125f - most) / sum;
}

//@ task    softmax_between
//@ torch   Y = torch.softmax(X, dim=1)
//@ size    N = 64, M = 512, K = 512
//@ check   N = 3, M = 5, K = 7
//@ input   X: float32[N, M, K]
//@ output  Y: float32[N, M, K]
//@ launch  softmax_between_<<<ceil_div(N * K, 256), 256>>>(X, Y, N * K, M, K)
__global__ void softmax_between_(const float* X, float* Y, long long n, int M, int K) {
  RESULT(i, n);
  const float* x = X + i / K * M * K + i % K;
  float most = -1e30f, sum = 0;
  for (int m = 0; m < M; ++m) most = fmaxf(most, x[1ll * m * K]);
  for (int m = 0; m < M; ++m) sum += expf(x[1ll * m * K] - most);
  for (int m = 0; m < M; ++m) Y[i / K * M * K + i % K + 1ll * m * K] = expf(x[1ll * m * K] - most) / sum;
}

//@ task    column_scores
//@ torch   Y = (X - X.mean(dim=0)) / (X.std(dim=0) + 1e-5)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  column_scores_<<<ceil_div(M, 256), 256>>>(X, Y, M, N, M)
__global__ void column_scores_(const float* X, float* Y, long long n, int N, int M) {
  RESULT(i, n);
  float sum = 0, squares = 0;
  for (int k = 0; k < N; ++k) sum += X[1ll * k * M + i];
  for (int k = 0; k < N; ++k) squares += (X[1ll * k * M + i] - sum / N) * (X[1ll * k * M + i] - sum / N);
  for (int k = 0; k < N; ++k) Y[1ll * k * M + i] = (X[1ll * k * M + i] - sum / N) / (sqrtf(squares / (N - 1)) + 1e-5f);
}

//@ task    bfloat16_rms_norm
//@ torch   Y = (X.float() * torch.rsqrt(X.float().pow(2).mean(-1, keepdim=True) + 1e-6)).to(torch.bfloat16) * W
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: bfloat16[N, M]
//@ input   W: bfloat16[M]
//@ output  Y: bfloat16[N, M]
//@ launch  bfloat16_rms_norm_<<<ceil_div(N, 256), 256>>>(X, W, Y, N, M)
#include <cuda_bf16.h>
__global__ void bfloat16_rms_norm_(const __nv_bfloat16* X, const __nv_bfloat16* W, __nv_bfloat16* Y, long long n, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int m = 0; m < M; ++m) sum += __bfloat162float(X[i * M + m]) * __bfloat162float(X[i * M + m]);
  const float scale = rsqrtf(sum / M + 1e-6f);
  for (int m = 0; m < M; ++m)
    Y[i * M + m] = __float2bfloat16(__bfloat162float(__float2bfloat16(__bfloat162float(X[i * M + m]) * scale)) * __bfloat162float(W[m]));
}

//@ task    frobenius
//@ torch   Y = X / torch.norm(X, p='fro')
//@ size    N = 2048, M = 2048
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  frobenius_<<<ceil_div(1, 256), 256>>>(X, Y, 1, N, M)
__global__ void frobenius_(const float* X, float* Y, long long n, int N, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < N * M; ++k) sum += X[k] * X[k];
  for (int k = 0; k < N * M; ++k) Y[i + k] = X[k] / sqrtf(sum);
}

//@ task    integer_scan
//@ torch   Y = torch.cumsum(A, dim=-1)
//@ size    N = 4096, M = 4096
//@ check   N = 3, M = 1030
//@ input   A: int64[N, M]
//@ output  Y: int64[N, M]
//@ launch  integer_scan_<<<ceil_div(N, 256), 256>>>(A, Y, N, M)
__global__ void integer_scan_(const long long* A, long long* Y, long long n, int M) {
  RESULT(i, n);
  long long sum = 0;
  for (int m = 0; m < M; ++m) Y[i * M + m] = sum += A[i * M + m];
}

//@ task    products_so_far
//@ torch   Y = torch.cumprod(X, dim=1)
//@ size    N = 4096, M = 4096
//@ check   N = 3, M = 130
//@ input   X: float32[N, M] ~ uniform(0.99, 1.01)
//@ output  Y: float32[N, M]
//@ launch  products_so_far_<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void products_so_far_(const float* X, float* Y, long long n, int M) {
  RESULT(i, n);
  float product = 1;
  for (int m = 0; m < M; ++m) Y[i * M + m] = product *= X[i * M + m];
}

//@ task    sums_before
//@ torch   Y = torch.cumsum(X, dim=0) - X
//@ size    N = 4096, M = 4096
//@ check   N = 130, M = 7
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  sums_before_<<<ceil_div(M, 256), 256>>>(X, Y, M, N, M)
__global__ void sums_before_(const float* X, float* Y, long long n, int N, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < N; ++k) {
    Y[1ll * k * M + i] = sum;
    sum += X[1ll * k * M + i];
  }
}

//@ task    channel_shuffle
//@ torch   Y = X.view(N, 3, C // 3, H, V).transpose(1, 2).reshape(N, C, H, V)
//@ size    N = 16, C = 12, H = 256, V = 256
//@ check   N = 2, C = 6, H = 5, V = 3
//@ input   X: float32[N, C, H, V]
//@ output  Y: float32[N, C, H, V]
//@ launch  channel_shuffle_<<<ceil_div(N * C * H * V, 256), 256>>>(X, Y, N * C * H * V, C, H, V)
__global__ void channel_shuffle_(const float* X, float* Y, long long n, int C, int H, int V) {
  RESULT(i, n);
  const long long c = i / V / H % C;
  Y[i] = X[i + (c % 3 * (C / 3) + c / 3 - c) * H * V];
}

//@ task    reflected
//@ torch   Y = F.pad(X, (2, 1, 3, 2), mode='reflect')
//@ size    N = 16, C = 12, H = 256, V = 256
//@ check   N = 2, C = 3, H = 6, V = 9
//@ input   X: float32[N, C, H, V]
//@ output  Y: float32[N, C, H + 5, V + 3]
//@ launch  reflected_<<<ceil_div(N * C * (H + 5) * (V + 3), 256), 256>>>(X, Y, N * C * (H + 5) * (V + 3), H, V)
__global__ void reflected_(const float* X, float* Y, long long n, int H, int V) {
  RESULT(i, n);
  int v = i % (V + 3) - 2, h = i / (V + 3) % (H + 5) - 3;
  v = v < 0 ? -v : v >= V ? 2 * V - 2 - v : v;
  h = h < 0 ? -h : h >= H ? 2 * H - 2 - h : h;
  Y[i] = X[(i / (V + 3) / (H + 5) * H + h) * V + v];
}

//@ task    padded_convolution
//@ torch   Y = F.conv2d(F.pad(X, (1, 1, 0, 2), value=0.5), W)
//@ size    N = 16, C = 32, O = 64, H = 128, V = 128
//@ check   N = 2, C = 3, O = 4, H = 6, V = 9
//@ input   X: float32[N, C, H, V]
//@ input   W: float32[O, C, 3, 3]
//@ output  Y: float32[N, O, H, V]
//@ launch  padded_convolution_<<<ceil_div(N * O * H * V, 256), 256>>>(X, W, Y, N * O * H * V, C, O, H, V)
__global__ void padded_convolution_(const float* X, const float* W, float* Y, long long n, int C, int O, int H, int V) {
  RESULT(i, n);
  float sum = 0;
  for (int c = 0; c < C; ++c)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        const int h = i / V % H + a, v = i % V + b - 1;
        const float x = h < H && v >= 0 && v < V ? X[((i / V / H / O * C + c) * H + h) * V + v] : 0.5f;
        sum += x * W[((i / V / H % O * C + c) * 3 + a) * 3 + b];
      }
  Y[i] = sum;
}

//@ task    pixel_shuffle
//@ torch   Y = F.pixel_shuffle(X, 2)
//@ size    N = 16, C = 12, H = 128, V = 128
//@ check   N = 2, C = 6, H = 5, V = 3
//@ input   X: float32[N, 4 * C, H, V]
//@ output  Y: float32[N, C, 2 * H, 2 * V]
//@ launch  pixel_shuffle_<<<ceil_div(N * 4 * C * H * V, 256), 256>>>(X, Y, N * 4 * C * H * V, H, V)
__global__ void pixel_shuffle_(const float* X, float* Y, long long n, int H, int V) {
  RESULT(i, n);
  const long long v = i % (2 * V), h = i / (2 * V) % (2 * H), c = i / (2 * V) / (2 * H);
  Y[i] = X[((c * 4 + h % 2 * 2 + v % 2) * H + h / 2) * V + v / 2];
}

//@ task    nearest
//@ torch   Y = F.interpolate(X, scale_factor=2, mode='nearest')
//@ size    N = 16, C = 12, H = 128, V = 128
//@ check   N = 2, C = 6, H = 5, V = 3
//@ input   X: float32[N, C, H, V]
//@ output  Y: float32[N, C, 2 * H, 2 * V]
//@ launch  nearest_<<<ceil_div(N * 4 * C * H * V, 256), 256>>>(X, Y, N * 4 * C * H * V, H, V)
__global__ void nearest_(const float* X, float* Y, long long n, int H, int V) {
  RESULT(i, n);
  Y[i] = X[(i / (2 * V) / (2 * H) * H + i / (2 * V) % (2 * H) / 2) * V + i % (2 * V) / 2];
}

//@ task    rolled
//@ torch   Y = torch.roll(X.flip(1), (3, -2), dims=(0, 1))
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  rolled_<<<ceil_div(N * M, 256), 256>>>(X, Y, N * M, N, M)
__global__ void rolled_(const float* X, float* Y, long long n, int N, int M) {
  RESULT(i, n);
  const long long row = (i / M + N - 3) % N, column = (i % M + 2) % M;
  Y[i] = X[row * M + M - 1 - column];
}

//@ task    repeated
//@ torch   Y = X.repeat_interleave(3, dim=1) + A.repeat(1, 3)
//@ size    N = 4096, M = 2048
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ input   A: float32[N, M]
//@ output  Y: float32[N, 3 * M]
//@ launch  repeated_<<<ceil_div(N * 3 * M, 256), 256>>>(X, A, Y, N * 3 * M, M)
__global__ void repeated_(const float* X, const float* A, float* Y, long long n, int M) {
  RESULT(i, n);
  Y[i] = X[i / 3] + A[i / (3 * M) * M + i % M];
}

//@ task    dilated_pool
//@ torch   Y = F.max_pool2d(X, 2, stride=2, dilation=3, padding=1)
//@ size    N = 16, C = 12, H = 256, V = 256, P = (H - 2) / 2 + 1, Q = (V - 2) / 2 + 1
//@ check   N = 2, C = 3, H = 6, V = 9
//@ input   X: float32[N, C, H, V]
//@ output  Y: float32[N, C, P, Q]
//@ launch  dilated_pool_<<<ceil_div(N * C * P * Q, 256), 256>>>(X, Y, N * C * P * Q, H, V, P, Q)
__global__ void dilated_pool_(const float* X, float* Y, long long n, int H, int V, int P, int Q) {
  RESULT(i, n);
  float most = -1e30f;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      const int h = i / Q % P * 2 - 1 + 3 * a, v = i % Q * 2 - 1 + 3 * b;
      if (h >= 0 && h < H && v >= 0 && v < V) most = fmaxf(most, X[(i / Q / P * H + h) * V + v]);
    }
  Y[i] = most;
}

//@ task    half_pool
//@ torch   Y = F.max_pool2d(X, 2)
//@ size    N = 16, C = 12, H = 256, V = 256, P = H / 2, Q = V / 2
//@ check   N = 2, C = 3, H = 6, V = 9
//@ input   X: float16[N, C, H, V]
//@ output  Y: float16[N, C, P, Q]
//@ launch  half_pool_<<<ceil_div(N * C * P * Q, 256), 256>>>(X, Y, N * C * P * Q, H, V, P, Q)
#include <cuda_fp16.h>
__global__ void half_pool_(const __half* X, __half* Y, long long n, int H, int V, int P, int Q) {
  RESULT(i, n);
  float most = -1e30f;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) most = fmaxf(most, __half2float(X[(i / Q / P * H + i / Q % P * 2 + a) * V + i % Q * 2 + b]));
  Y[i] = __float2half(most);
}

//@ task    adaptive_pool
//@ torch   Y = F.adaptive_avg_pool2d(X, (5, 3))
//@ size    N = 16, C = 64, H = 250, V = 252
//@ check   N = 2, C = 3, H = 10, V = 6
//@ input   X: float32[N, C, H, V]
//@ output  Y: float32[N, C, 5, 3]
//@ launch  adaptive_pool_<<<ceil_div(N * C * 15, 256), 256>>>(X, Y, N * C * 15, H, V)
__global__ void adaptive_pool_(const float* X, float* Y, long long n, int H, int V) {
  RESULT(i, n);
  float sum = 0;
  for (int h = 0; h < H / 5; ++h)
    for (int v = 0; v < V / 3; ++v) sum += X[(i / 15 * H + i / 3 % 5 * (H / 5) + h) * V + i % 3 * (V / 3) + v];
  Y[i] = sum / (H / 5 * (V / 3));
}

//@ task    logits_loss
//@ torch   L = F.binary_cross_entropy_with_logits(X, T)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ input   T: float32[N, M] ~ uniform(0, 1)
//@ output  L: float32
//@ launch  logits_loss_<<<ceil_div(1, 256), 256>>>(X, T, L, 1, N, M)
__global__ void logits_loss_(const float* X, const float* T, float* L, long long n, int N, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < N * M; ++k) sum += fmaxf(X[k], 0) - X[k] * T[k] + log1pf(expf(-fabsf(X[k])));
  L[i] = sum / (1.0f * N * M);
}

//@ task    huber
//@ torch   L = F.huber_loss(X, T, delta=0.7)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ input   T: float32[N, M]
//@ output  L: float32
//@ launch  huber_<<<ceil_div(1, 256), 256>>>(X, T, L, 1, N, M)
__global__ void huber_(const float* X, const float* T, float* L, long long n, int N, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < N * M; ++k) {
    const float d = fabsf(X[k] - T[k]);
    sum += d < 0.7f ? 0.5f * d * d : 0.7f * (d - 0.35f);
  }
  L[i] = sum / (1.0f * N * M);
}

//@ task    dice
//@ torch   I = (X * T).sum(dim=(1, 2)); L = 1 - (2 * I + 1.0) / (X.sum(dim=(1, 2)) + T.sum(dim=(1, 2)) + 1.0)
//@ size    N = 128, M = 512, K = 512
//@ check   N = 3, M = 5, K = 7
//@ input   X: float32[N, M, K] ~ uniform(0, 1)
//@ input   T: float32[N, M, K] ~ uniform(0, 1)
//@ output  L: float32[N]
//@ launch  dice_<<<ceil_div(N, 256), 256>>>(X, T, L, N, M, K)
__global__ void dice_(const float* X, const float* T, float* L, long long n, int M, int K) {
  RESULT(i, n);
  float both = 0, x = 0, t = 0;
  for (int k = 0; k < M * K; ++k) {
    both += X[i * M * K + k] * T[i * M * K + k];
    x += X[i * M * K + k];
    t += T[i * M * K + k];
  }
  L[i] = 1 - (2 * both + 1) / (x + t + 1);
}

//@ task    half_layer
//@ torch   Y = F.relu(F.linear(X, W, B))
//@ size    N = 4096, M = 4096, K = 1024
//@ check   N = 9, M = 7, K = 5
//@ input   X: float16[N, K]
//@ input   W: float16[M, K]
//@ input   B: float16[M]
//@ output  Y: float16[N, M]
//@ launch  half_layer_<<<ceil_div(N * M, 256), 256>>>(X, W, B, Y, N * M, M, K)
#include <cuda_fp16.h>
__global__ void half_layer_(const __half* X, const __half* W, const __half* B, __half* Y, long long n, int M, int K) {
  RESULT(i, n);
  float sum = __half2float(B[i % M]);
  for (int k = 0; k < K; ++k) sum += __half2float(X[i / M * K + k]) * __half2float(W[i % M * K + k]);
  Y[i] = __float2half(fmaxf(sum, 0));
}

//@ task    einsum
//@ torch   Y = torch.einsum('bqhd,bkhd->bhqk', A, B)
//@ size    Q = 4, H = 16, N = 512, M = 512, D = 64
//@ check   Q = 2, H = 3, N = 9, M = 7, D = 5
//@ input   A: float32[Q, N, H, D]
//@ input   B: float32[Q, M, H, D]
//@ output  Y: float32[Q, H, N, M]
//@ launch  einsum_<<<ceil_div(Q * H * N * M, 256), 256>>>(A, B, Y, Q * H * N * M, H, N, M, D)
__global__ void einsum_(const float* A, const float* B, float* Y, long long n, int H, int N, int M, int D) {
  RESULT(i, n);
  const long long m = i % M, k = i / M % N, h = i / M / N % H, q = i / M / N / H;
  float sum = 0;
  for (int d = 0; d < D; ++d) sum += A[((q * N + k) * H + h) * D + d] * B[((q * M + m) * H + h) * D + d];
  Y[i] = sum;
}

//@ task    gram
//@ torch   Y = X @ X.T
//@ size    N = 4096, M = 512
//@ check   N = 9, M = 7
//@ input   X: float32[N, M]
//@ output  Y: float32[N, N]
//@ launch  gram_<<<ceil_div(N * N, 256), 256>>>(X, Y, N * N, N, M)
__global__ void gram_(const float* X, float* Y, long long n, int N, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int m = 0; m < M; ++m) sum += X[i / N * M + m] * X[i % N * M + m];
  Y[i] = sum;
}

//@ task    shared_batches
//@ torch   Y = torch.matmul(A, B)
//@ size    Q = 8, H = 16, N = 256, M = 256, K = 128
//@ check   Q = 2, H = 3, N = 9, M = 7, K = 5
//@ input   A: float32[Q, H, N, K]
//@ input   B: float32[H, K, M]
//@ output  Y: float32[Q, H, N, M]
//@ launch  shared_batches_<<<ceil_div(Q * H * N * M, 256), 256>>>(A, B, Y, Q * H * N * M, H, N, M, K)
__global__ void shared_batches_(const float* A, const float* B, float* Y, long long n, int H, int N, int M, int K) {
  RESULT(i, n);
  const long long m = i % M, h = i / M / N % H;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[i / M * K + k] * B[(h * K + k) * M + m];
  Y[i] = sum;
}

//@ task    cross_attention
//@ torch   Y = F.scaled_dot_product_attention(Q, K, V)
//@ size    B = 4, H = 8, T = 512, S = 768, D = 64
//@ check   B = 1, H = 2, T = 9, S = 11, D = 8
//@ input   Q: float32[B, H, T, D]
//@ input   K: float32[B, H, S, D]
//@ input   V: float32[B, H, S, D]
//@ output  Y: float32[B, H, T, D]
//@ launch  cross_attention_<<<ceil_div(B * H * T, 256), 256>>>(Q, K, V, Y, B * H * T, T, S, D)
__global__ void cross_attention_(const float* Q, const float* K, const float* V, float* Y, long long n, int T, int S, int D) {
  RESULT(i, n);
  float most = -1e30f, sum = 0;
  const auto score = [&](int s) {
    float dot = 0;
    for (int d = 0; d < D; ++d) dot += Q[i * D + d] * K[(i / T * S + s) * D + d];
    return dot / sqrtf(D);
  };
  for (int s = 0; s < S; ++s) most = fmaxf(most, score(s));
  for (int s = 0; s < S; ++s) sum += expf(score(s) - most);
  for (int d = 0; d < D; ++d) {
    float total = 0;
    for (int s = 0; s < S; ++s) total += expf(score(s) - most) * V[(i / T * S + s) * D + d];
    Y[i * D + d] = total / sum;
  }
}

//@ task    masked_attention
//@ torch   Y = F.scaled_dot_product_attention(Q, K, V, attn_mask=M)
//@ size    B = 4, H = 8, T = 512, S = 768, D = 64
//@ check   B = 1, H = 2, T = 9, S = 11, D = 8
//@ input   Q: float32[B, H, T, D]
//@ input   K: float32[B, H, S, D]
//@ input   V: float32[B, H, S, D]
//@ input   M: bool[T, S]
//@ output  Y: float32[B, H, T, D]
//@ launch  masked_attention_<<<ceil_div(B * H * T, 256), 256>>>(Q, K, V, M, Y, B * H * T, T, S, D)
__global__ void masked_attention_(const float* Q, const float* K, const float* V, const bool* M, float* Y, long long n, int T, int S, int D) {
  RESULT(i, n);
  float most = -1e30f, sum = 0;
  const auto score = [&](int s) {
    float dot = 0;
    for (int d = 0; d < D; ++d) dot += Q[i * D + d] * K[(i / T * S + s) * D + d];
    return M[i % T * S + s] ? dot / sqrtf(D) : -1e30f;
  };
  for (int s = 0; s < S; ++s) most = fmaxf(most, score(s));
  for (int s = 0; s < S; ++s) sum += expf(score(s) - most);
  for (int d = 0; d < D; ++d) {
    float total = 0;
    for (int s = 0; s < S; ++s) total += expf(score(s) - most) * V[(i / T * S + s) * D + d];
    Y[i * D + d] = total / sum;
  }
}

//@ task    slope_by_channel
//@ torch   Y = F.prelu(X, W) + F.celu(X, 0.7)
//@ size    N = 16, C = 12, H = 256, V = 256
//@ check   N = 2, C = 3, H = 6, V = 9
//@ input   X: float32[N, C, H, V]
//@ input   W: float32[C]
//@ output  Y: float32[N, C, H, V]
//@ launch  slope_by_channel_<<<ceil_div(N * C * H * V, 256), 256>>>(X, W, Y, N * C * H * V, C, H, V)
__global__ void slope_by_channel_(const float* X, const float* W, float* Y, long long n, int C, int H, int V) {
  RESULT(i, n);
  const float x = X[i];
  Y[i] = (x > 0 ? x : x * W[i / V / H % C]) + (x > 0 ? x : 0.7f * expm1f(x / 0.7f));
}

//@ task    smoothed_loss
//@ torch   L = F.cross_entropy(X, T, weight=W, label_smoothing=0.1)
//@ size    N = 32768, C = 1024
//@ check   N = 7, C = 10
//@ input   X: float32[N, C]
//@ input   T: int64[N] ~ randint(0, 10)
//@ input   W: float32[C] ~ uniform(0.5, 2)
//@ output  L: float32
//@ launch  smoothed_loss_<<<1, 256>>>(X, T, W, L, N, C)
__global__ void smoothed_loss_(const float* X, const long long* T, const float* W, float* L, int N, int C) {
  RESULT(i, 1);
  float total = 0, weights = 0;
  for (int r = 0; r < N; ++r) {
    const float* x = X + 1ll * r * C;
    float sum = 0, all = 0;
    for (int c = 0; c < C; ++c) sum += expf(x[c]);
    for (int c = 0; c < C; ++c) all += W[c] * (logf(sum) - x[c]);
    total += 0.9f * W[T[r]] * (logf(sum) - x[T[r]]) + 0.1f / C * all;
    weights += W[T[r]];
  }
  L[i] = total / weights;
}

//@ task    loss_of_probabilities
//@ torch   L = F.cross_entropy(X, T)
//@ size    N = 32768, C = 1024
//@ check   N = 7, C = 10
//@ input   X: float32[N, C]
//@ input   T: float32[N, C] ~ uniform(0, 1)
//@ output  L: float32
//@ launch  loss_of_probabilities_<<<1, 256>>>(X, T, L, N, C)
__global__ void loss_of_probabilities_(const float* X, const float* T, float* L, int N, int C) {
  RESULT(i, 1);
  float total = 0;
  for (int r = 0; r < N; ++r) {
    const float* x = X + 1ll * r * C;
    float sum = 0;
    for (int c = 0; c < C; ++c) sum += expf(x[c]);
    for (int c = 0; c < C; ++c) total += T[1ll * r * C + c] * (logf(sum) - x[c]);
  }
  L[i] = total / N;
}

//@ task    half_linear
//@ torch   Y = F.relu(F.linear(X, W, B))
//@ size    N = 2048, K = 2048, M = 2048
//@ check   N = 70, K = 40, M = 50
//@ check   N = 9, K = 5, M = 7
//@ input   X: float16[N, K]
//@ input   W: float16[M, K]
//@ input   B: float16[M]
//@ output  Y: float16[N, M]
//@ launch  half_linear_<<<ceil_div(N * M, 256), 256>>>(X, W, B, Y, N * M, K, M)
#include <cuda_fp16.h>
__global__ void half_linear_(const __half* X, const __half* W, const __half* B, __half* Y, long long n, int K, int M) {
  RESULT(i, n);
  float sum = __half2float(B[i % M]);
  for (int k = 0; k < K; ++k) sum += __half2float(X[i / M * K + k]) * __half2float(W[i % M * K + k]);
  Y[i] = __float2half(sum > 0 ? sum : 0);
}

//@ task    bfloat16_product
//@ torch   Y = A.T @ B
//@ size    N = 2048, K = 2048, M = 2048
//@ check   N = 72, K = 40, M = 136
//@ check   N = 9, K = 5, M = 7
//@ input   A: bfloat16[K, N]
//@ input   B: bfloat16[K, M]
//@ output  Y: bfloat16[N, M]
//@ launch  bfloat16_product_<<<ceil_div(N * M, 256), 256>>>(A, B, Y, N * M, K, N, M)
#include <cuda_bf16.h>
__global__ void bfloat16_product_(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* Y, long long n, int K, int N, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += __bfloat162float(A[k * N + i / M]) * __bfloat162float(B[k * M + i % M]);
  Y[i] = __float2bfloat16(sum);
}

//@ task    positions
//@ torch   Y = X + torch.arange(M) * 0.5 - torch.arange(3, 3 + 2 * M, 2)
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   X: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  positions_<<<ceil_div(N * M, 256), 256>>>(X, Y, N * M, M)
__global__ void positions_(const float* X, float* Y, long long n, int M) {
  RESULT(i, n);
  Y[i] = X[i] + i % M * 0.5f - (3 + 2 * (i % M));
}

//@ task    copied_signs
//@ torch   Y = torch.copysign(A, B) / (1 + torch.linalg.vecdot(A, B).abs().unsqueeze(1))
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ input   A: float32[N, M]
//@ input   B: float32[N, M]
//@ output  Y: float32[N, M]
//@ launch  copied_signs_<<<ceil_div(N * M, 256), 256>>>(A, B, Y, N * M, M)
__global__ void copied_signs_(const float* A, const float* B, float* Y, long long n, int M) {
  RESULT(i, n);
  float sum = 0;
  for (long long j = i / M * M; j < i / M * M + M; ++j) sum += A[j] * B[j];
  Y[i] = copysignf(A[i], B[i]) / (1 + fabsf(sum));
}

//@ task    double_linear
//@ torch   Y = torch.relu(A @ B.T + C)
//@ size    N = 2048, M = 2048, K = 2048
//@ check   N = 130, M = 66, K = 50
//@ check   N = 33, M = 71, K = 19
//@ input   A: float64[N, K]
//@ input   B: float64[M, K]
//@ input   C: float64[M]
//@ output  Y: float64[N, M]
//@ launch  double_linear_<<<ceil_div(N * M, 256), 256>>>(A, B, C, Y, N * M, M, K)
__global__ void double_linear_(const double* A, const double* B, const double* C, double* Y, long long n, int M, int K) {
  RESULT(i, n);
  double sum = C[i % M];
  for (int k = 0; k < K; ++k) sum += A[i / M * K + k] * B[i % M * K + k];
  Y[i] = sum > 0 ? sum : 0;
}

//@ task    double_triangles
//@ torch   C = torch.matmul(A.transpose(1, 2), torch.tril(B))
//@ size    L = 4, N = 1024
//@ check   L = 2, N = 100
//@ check   L = 1, N = 37
//@ input   A: float64[L, N, N]
//@ input   B: float64[L, N, N]
//@ output  C: float64[L, N, N]
//@ launch  double_triangles_<<<ceil_div(L * N * N, 256), 256>>>(A, B, C, L * N * N, N)
__global__ void double_triangles_(const double* A, const double* B, double* C, long long n, int N) {
  RESULT(i, n);
  const int row = i / N % N, column = i % N;
  const double *a = A + i / N / N * N * N, *b = B + i / N / N * N * N;
  double sum = 0;
  for (int k = column; k < N; ++k) sum += a[k * N + row] * b[k * N + column];
  C[i] = sum;
}

//@ task    gemm_in_place
//@ torch   C = 2 * (A @ B) + 0.5 * C
//@ size    N = 2048, M = 2048, K = 2048
//@ check   N = 130, M = 66, K = 50
//@ check   N = 33, M = 71, K = 19
//@ input   A: float32[N, K]
//@ input   B: float32[K, M]
//@ inout   C: float32[N, M]
//@ launch  gemm_in_place_<<<ceil_div(N * M, 256), 256>>>(A, B, C, N * M, M, K)
__global__ void gemm_in_place_(const float* A, const float* B, float* C, long long n, int M, int K) {
  RESULT(i, n);
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[i / M * K + k] * B[k * M + i % M];
  C[i] = 2 * sum + 0.5f * C[i];
}

//@ task    gemv_in_place
//@ torch   Y = torch.mv(A, X) - Y
//@ size    N = 4096, M = 4096
//@ check   N = 37, M = 300
//@ check   N = 3, M = 2049
//@ input   A: float32[N, M]
//@ input   X: float32[M]
//@ inout   Y: float32[N]
//@ launch  gemv_in_place_<<<ceil_div(N, 256), 256>>>(A, X, Y, N, M)
__global__ void gemv_in_place_(const float* A, const float* X, float* Y, long long n, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int m = 0; m < M; ++m) sum += A[i * M + m] * X[m];
  Y[i] = sum - Y[i];
}

//@ task    softmax_in_place
//@ torch   X = torch.softmax(X, dim=1) + Y
//@ size    N = 4096, M = 4096
//@ check   N = 7, M = 33
//@ check   N = 5, M = 2049
//@ inout   X: float32[N, M]
//@ input   Y: float32[M]
//@ launch  softmax_in_place_<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void softmax_in_place_(float* X, const float* Y, long long n, int M) {
  RESULT(i, n);
  float most = X[i * M], sum = 0;
  for (int m = 1; m < M; ++m) most = fmaxf(most, X[i * M + m]);
  for (int m = 0; m < M; ++m) sum += expf(X[i * M + m] - most);
  for (int m = 0; m < M; ++m) X[i * M + m] = expf(X[i * M + m] - most) / sum + Y[m];
}

//@ task    product_over_itself
//@ torch   X = X.T @ X + X
//@ size    N = 1024
//@ check   N = 66
//@ check   N = 33
//@ inout   X: float32[N, N]
//@ scratch S: float32[N, N]
//@ launch  product_over_itself_<<<ceil_div(N * N, 256), 256>>>(X, S, N * N, N)
//@ launch  product_over_itself_back<<<ceil_div(N * N, 256), 256>>>(S, X, N * N)
__global__ void product_over_itself_(const float* X, float* S, long long n, int N) {
  RESULT(i, n);
  float sum = X[i];
  for (int k = 0; k < N; ++k) sum += X[k * N + i / N] * X[k * N + i % N];
  S[i] = sum;
}
__global__ void product_over_itself_back(const float* S, float* X, long long n) {
  RESULT(i, n);
  X[i] = S[i];
}

//@ task    saved_before
//@ torch   Y = X.sum(dim=1); X = X + 1
//@ size    N = 4096, M = 1024
//@ check   N = 7, M = 33
//@ inout   X: float32[N, M]
//@ output  Y: float32[N]
//@ launch  saved_before_<<<ceil_div(N, 256), 256>>>(X, Y, N, M)
__global__ void saved_before_(float* X, float* Y, long long n, int M) {
  RESULT(i, n);
  float sum = 0;
  for (int m = 0; m < M; ++m) sum += X[i * M + m], X[i * M + m] += 1;
  Y[i] = sum;
}

//@ task    adam
//@ torch   M = 0.9 * M + 0.1 * G; V = 0.999 * V + 0.001 * G * G; P = P - 0.001 * M / (torch.sqrt(torch.abs(V)) + 0.1)
//@ size    N = 16777216
//@ check   N = 1027
//@ check   N = 4096
//@ input   G: float32[N]
//@ inout   M: float32[N]
//@ inout   V: float32[N]
//@ inout   P: float32[N]
//@ launch  adam_<<<ceil_div(N, 256), 256>>>(G, M, V, P, N)
__global__ void adam_(const float* G, float* M, float* V, float* P, long long n) {
  RESULT(i, n);
  M[i] = 0.9f * M[i] + 0.1f * G[i];
  V[i] = 0.999f * V[i] + 0.001f * G[i] * G[i];
  P[i] -= 0.001f * M[i] / (sqrtf(fabsf(V[i])) + 0.1f);
}
