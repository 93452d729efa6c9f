# SPDX-License-Identifier: Apache-2.0
"""Products of matrices, with what is done to them afterwards, in nine orders and splittings."""

from operation import Operation, filled

HEAD = """\
#define LEFT(i, k) @LEFT@
#define RIGHT(k, j) @RIGHT@
#define F(s) (@FINISH@)
"""
PARAMETERS = "const float* A, const float* B, @BIAS@float* C, int N, int K, int M"
ARGUMENTS = "A, B, @D@C, N, K, M"
EACH = "//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 8)), dim3(16, 8)>>>(" + ARGUMENTS + ")\n" + HEAD + """\
@EXTRA@__global__ void k(""" + PARAMETERS + """) {
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= N || j >= M) return;
  @LOOP@
  C[i * M + j] = F(s);
}
"""
LOOPS = {
    "sequential": "float s = 0; for (int k = 0; k < K; ++k) s += LEFT(i, k) * RIGHT(k, j);",
    "double": "double s = 0; for (int k = 0; k < K; ++k) s += double(LEFT(i, k)) * RIGHT(k, j);",
    "backwards": "float s = 0; for (int k = K; k-- > 0;) s += LEFT(i, k) * RIGHT(k, j);",
    "no_fma": "float s = 0; for (int k = 0; k < K; ++k) s = __fadd_rn(s, __fmul_rn(LEFT(i, k), RIGHT(k, j)));",
    "kahan": "float s = 0, c = 0; for (int k = 0; k < K; ++k) { float y = LEFT(i, k) * RIGHT(k, j) - c, t = s + y; c = (t - s) - y; s = t; }",
    "blocks": "float s = 0; for (int b = 0; b < K; b += 16) { float p = 0; for (int k = b; k < min(K, b + 16); ++k) p += LEFT(i, k) * RIGHT(k, j); s += p; }",
    "even_odd": "float s = 0, t = 0; for (int k = 0; k < K; ++k) (k % 2 ? t : s) += LEFT(i, k) * RIGHT(k, j); s += t;",
    "three_tf32": "float s = 0; for (int k = 0; k < K; ++k) { float a = LEFT(i, k), b = RIGHT(k, j), x = cut(a), y = cut(b); s += x * cut(b - y) + cut(a - x) * y; s += x * y; }",
    "six_bfloat16": "float s = 0, t = 0; for (int k = 0; k < K; ++k) { float a = LEFT(i, k), b = RIGHT(k, j), a0 = low(a), a1 = low(a - a0), a2 = low(a - a0 - a1), "
                    "b0 = low(b), b1 = low(b - b0), b2 = low(b - b0 - b1); t += a0 * b2 + a1 * b1 + a2 * b0; t += a0 * b1 + a1 * b0; s += a0 * b0; } s += t;",
}
EXTRAS = {
    "three_tf32": "__device__ float cut(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000) & 0xffffe000u); }\n",
    "six_bfloat16": "__device__ float low(float v) { return __uint_as_float((__float_as_uint(v) + 0x7fff + ((__float_as_uint(v) >> 16) & 1)) & 0xffff0000u); }\n",
}
TILED = "//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 16)), dim3(16, 16)>>>(" + ARGUMENTS + ")\n" + HEAD + """\
__global__ void k(""" + PARAMETERS + """) {
  __shared__ float a[16][17], b[16][17];
  int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 16 + x, i = blockIdx.y * 16 + y;
  float s = 0;
  for (int first = 0; first < K; first += 16) {
    a[y][x] = i < N && first + x < K ? LEFT(i, first + x) : 0;
    b[y][x] = j < M && first + y < K ? RIGHT(first + y, j) : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) s += a[y][k] * b[k][x];
    __syncthreads();
  }
  if (i < N && j < M) C[i * M + j] = F(s);
}
"""
SPLIT = """\
//@ scratch S: float32[N, M] = 0
//@ launch  k<<<dim3(ceil_div(M, 16), ceil_div(N, 8), 4), dim3(16, 8)>>>(A, B, S, N, K, M)
//@ launch  finish<<<dim3(ceil_div(M, 16), ceil_div(N, 8)), dim3(16, 8)>>>(S, @D@C, N, M)
""" + HEAD + """\
__global__ void k(const float* A, const float* B, float* S, int N, int K, int M) {
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= N || j >= M) return;
  float s = 0;
  for (int k = blockIdx.z; k < K; k += 4) s += LEFT(i, k) * RIGHT(k, j);
  atomicAdd(S + i * M + j, s);
}
__global__ void finish(const float* S, @BIAS@float* C, int N, int M) {
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= N || j >= M) return;
  float s = S[i * M + j];
  C[i * M + j] = F(s);
}
"""


def product(name, torch, left="A[(i) * K + (k)]", right="B[(k) * M + (j)]", shapes=("N, K", "K, M"), finish="s", bias=False, held=False, only=None, distribution=""):
    def text(form, kind=""):
        return filled(form, loop=LOOPS.get(kind, ""), extra=EXTRAS.get(kind, ""), left=left, right=right, finish=finish,
                      bias="const float* D, " if bias else "", d="D, " if bias else "")
    variants = [(kind, text(EACH, kind)) for kind in LOOPS if kind != "sequential"] + [("tiled", text(TILED)), ("split", text(SPLIT))]
    if bias:   # an accumulator that begins at the bias, and not at 0
        begun = filled(EACH, loop=LOOPS["sequential"].replace("float s = 0", "float s = D[j]"), extra="", left=left, right=right, finish=finish.replace("s + D[j]", "s"), bias="const float* D, ", d="D, ")
        variants.append(("bias_first", begun))
    inputs = [f"A: float32[{shapes[0]}]{distribution}", f"B: float32[{shapes[1]}]{distribution}"] + (["D: float32[M]"] if bias else [])
    return Operation(name, f"C = {torch}", "N = 32, K = 96, M = 32", ["N = 19, K = 70, M = 23", "N = 5, K = 200, M = 9"], inputs, ["C: float32[N, M]"],
                     text(EACH, "sequential"), text(EACH, "double"), [each for each in variants if only is None or each[0] in only], held)


FEW = ("double", "backwards", "blocks", "tiled", "split", "three_tf32", "bias_first")
PRODUCTS = [
    product("matmul", "A @ B"),
    product("matmul_positive", "A @ B", distribution=" ~ uniform(0, 1)"),
    product("matmul_tiny", "(1e-9 * A) @ B", left="(1e-9f * A[(i) * K + (k)])", only=FEW),
    product("matmul_turned", "A.t() @ B", left="A[(k) * N + (i)]", shapes=("K, N", "K, M"), held=True),
    product("matmul_rows", "A @ B.t()", right="B[(j) * K + (k)]", shapes=("N, K", "M, K")),
    product("linear_relu", "torch.relu(F.linear(A, B, D))", right="B[(j) * K + (k)]", shapes=("N, K", "M, K"), finish="s + D[j] > 0 ? s + D[j] : 0", bias=True, only=FEW),
    product("linear_gelu", "F.gelu(F.linear(A, B, D))", right="B[(j) * K + (k)]", shapes=("N, K", "M, K"),
            finish="0.5f * (s + D[j]) * (1 + erff((s + D[j]) * 0.70710678f))", bias=True, held=True, only=FEW),
    product("scaled_scores", "torch.sigmoid((A @ B.t()) * 0.125)", right="B[(j) * K + (k)]", shapes=("N, K", "M, K"), finish="1 / (1 + expf(-0.125f * float(s)))", only=FEW),
    product("distances", "torch.sqrt(((A.unsqueeze(1) - B.unsqueeze(0)) ** 2).sum(dim=2))", left="(A[(i) * K + (k)] - B[(j) * K + (k)])",
            right="(A[(i) * K + (k)] - B[(j) * K + (k)])", shapes=("N, K", "M, K"), finish="sqrt(s)", only=("double", "backwards", "blocks", "kahan", "even_odd")),
]
