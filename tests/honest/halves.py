# SPDX-License-Identifier: Apache-2.0
"""Results in 16 bits: computed in float32 and rounded once, or rounded after every function as PyTorch does. What is rounded to few
numbers is off in one direction by chance, and is right."""

from operation import Operation, filled

SHORT = {"bfloat16": ("__nv_bfloat16", "cuda_bf16.h", "__bfloat162float", "__float2bfloat16"),
         "float16": ("__half", "cuda_fp16.h", "__half2float", "__float2half")}

HEAD = """\
#include <@HEADER@>
__device__ float in(@TYPE@ value) { return @FROM@(value); }
__device__ @TYPE@ out(float value) { return @INTO@(value); }
__device__ float r(float value) { return in(out(value)); }
"""
ELEMENT = """\
//@ launch  k<<<ceil_div(N, 128), 128>>>(A, C, N)
@HEAD@__global__ void k(const @TYPE@* A, @TYPE@* C, int N) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  @REAL@ x = in(A[i]);
  C[i] = out(float(@BODY@));
}
"""
ROW = """\
//@ launch  k<<<ceil_div(N, 32), 32>>>(A, C, N, M)
@HEAD@__global__ void k(const @TYPE@* A, @TYPE@* C, int N, int M) {
  int row = blockIdx.x * 32 + threadIdx.x;
  if (row >= N) return;
  A += row * M, C += row * M;
  @BODY@
}
"""
PRODUCT = """\
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(A, B, C, N, K, M)
@HEAD@__global__ void k(const @TYPE@* A, const @TYPE@* B, @TYPE@* C, int N, int K, int M) {
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  if (i >= N || j >= M) return;
  @BODY@
}
"""


def source(form, dtype, body, real="float"):
    kind, header, from_short, to_short = SHORT[dtype]
    return filled(form, head=filled(HEAD, header=header, type=kind, **{"from": from_short, "into": to_short}), type=kind, body=body, real=real)


# Name, line, formula, the same with every function's result rounded.
POINTWISE = [
    ("silu", "A * torch.sigmoid(A)", "x / (1 + exp(-x))", "x * r(1 / (1 + expf(-x)))"),
    ("shifted_sigmoid", "(torch.sigmoid(A) + 0.25) * A", "(1 / (1 + exp(-x)) + 0.25f) * x", "r(r(1 / (1 + expf(-x))) + 0.25f) * x"),
    ("residual_tanh", "A + torch.tanh(A) * 0.5", "x + tanh(x) * 0.5f", "x + r(r(tanhf(x)) * 0.5f)"),
    ("affine", "A * 1.25 + 0.7", "x * 1.25 + 0.7", "r(x * 1.25f) + 0.7f"),
    ("gelu", "torch.nn.functional.gelu(A)", "x * (1 + erf(x * 0.7071067811865476)) * 0.5f", "0.5f * x * (1 + erff(x * 0.70710678f))"),
]
# Name, line, in one pass after the other, in another way.
ROWS = [
    ("softmax", "torch.softmax(A, 1)",
     "@REAL@ m = -INFINITY, s = 0; for (int k = 0; k < M; ++k) m = fmax(m, @REAL@(in(A[k]))); for (int k = 0; k < M; ++k) s += exp(in(A[k]) - m); "
     "for (int k = 0; k < M; ++k) C[k] = out(exp(in(A[k]) - m) / s);",
     "float m = -INFINITY, s = 0; for (int k = 0; k < M; ++k) { float x = in(A[k]), n = fmaxf(m, x); s = s * expf(m - n) + expf(x - n); m = n; } "
     "for (int k = 0; k < M; ++k) C[k] = out(expf(in(A[k]) - m) * (1 / s));"),
    ("cumsum", "torch.cumsum(A, 1)", "@REAL@ s = 0; for (int k = 0; k < M; ++k) C[k] = out(s += in(A[k]));",
     "float s = 0, lost = 0; for (int k = 0; k < M; ++k) { float y = in(A[k]) - lost, t = s + y; lost = t - s - y; s = t; C[k] = out(s); }"),
]
TERM = "in(A[i * K + k]) * in(B[k * M + j])"


def halves():
    for dtype in SHORT:
        for name, line, formula, rounded in POINTWISE:
            yield Operation(f"{name}_{dtype}", f"C = {line}", "N = 4096", ["N = 1001"], [f"A: {dtype}[N]"], [f"C: {dtype}[N]"], source(ELEMENT, dtype, formula),
                            source(ELEMENT, dtype, formula, "double"), [("once", source(ELEMENT, dtype, formula)), ("rounded", source(ELEMENT, dtype, rounded))], False)
        for name, line, passes, other in ROWS:
            naive, accurate = (source(ROW, dtype, passes.replace("@REAL@", real)) for real in ("float", "double"))
            yield Operation(f"{name}_{dtype}", f"C = {line}", "N = 64, M = 128", ["N = 33, M = 70"], [f"A: {dtype}[N, M]"], [f"C: {dtype}[N, M]"], naive, accurate,
                            [("once", naive), ("other", source(ROW, dtype, other))], False)
        naive, accurate, four = (source(PRODUCT, dtype, body) for body in (
            f"float s = 0; for (int k = 0; k < K; ++k) s += {TERM}; C[i * M + j] = out(s);", f"double s = 0; for (int k = 0; k < K; ++k) s += double({TERM}); C[i * M + j] = out(s);",
            f"float s[4] = {{}}; for (int k = 0; k < K; ++k) s[k % 4] += {TERM}; C[i * M + j] = out(s[0] + s[1] + (s[2] + s[3]));"))
        yield Operation(f"product_{dtype}", "C = A @ B", "N = 64, K = 512, M = 64", ["N = 33, K = 70, M = 45"], [f"A: {dtype}[N, K]", f"B: {dtype}[K, M]"],
                        [f"C: {dtype}[N, M]"], naive, accurate, [("once", naive), ("four", four)], False)


HALVES = list(halves())
