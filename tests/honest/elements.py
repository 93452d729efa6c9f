# SPDX-License-Identifier: Apache-2.0
"""Functions of single elements. Each has one formula that holds in float and in double (T), others in float alone, and comes in
several forms of loop."""

from operation import Operation, filled

ONE = ["A: float32[N]"]
TWO = ONE + ["B: float32[N]"]
THREE = TWO + ["D: float32[N]"]

CALL = {1: "A[i]", 2: "A[i], B[i]", 3: "A[i], B[i], D[i]"}
WIDE = {1: "double(A[i])", 2: "double(A[i]), double(B[i])", 3: "double(A[i]), double(B[i]), double(D[i])"}
PARAMETERS = {1: "T x", 2: "T x, T y", 3: "T x, T y, T z"}
POINTERS = {1: "const float* A", 2: "const float* A, const float* B", 3: "const float* A, const float* B, const float* D"}
NAMES = {1: "A", 2: "A, B", 3: "A, B, D"}

FUNCTION = """\
template <class T> __device__ T f(@PARAMETERS@) { @BODY@ }
"""
PLAIN = """\
//@ launch  k<<<ceil_div(N, 256), 256>>>(@NAMES@, C, N)
@FUNCTION@__global__ void k(@POINTERS@, float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < N) C[i] = @VALUE@;
}
"""
STRIDED = """\
//@ launch  k<<<4, 128>>>(@NAMES@, C, N)
@FUNCTION@__global__ void k(@POINTERS@, float* C, int N) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) C[i] = @VALUE@;
}
"""
FOUR = """\
//@ launch  k<<<ceil_div(N, 512), 128>>>(@NAMES@, C, N)
@FUNCTION@__global__ void k(@POINTERS@, float* __restrict__ C, int N) {
  int first = (blockIdx.x * 128 + threadIdx.x) * 4;
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (int i = first + j; i < N) C[i] = @VALUE@;
}
"""
VIRTUAL = """\
//@ launch  k<<<ceil_div(N, 256), 256>>>(@NAMES@, C, N)
@FUNCTION@struct Base { __device__ virtual float at(@POINTERS@, int i) const = 0; };
struct First : Base { __device__ float at(@POINTERS@, int i) const override { return @VALUE@; } };
struct Second : Base { __device__ float at(@POINTERS@, int i) const override { float y = @VALUE@; return y; } };
__global__ void k(@POINTERS@, float* C, int N) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= N) return;
  First first;
  Second second;
  const Base* base = i % 3 ? static_cast<const Base*>(&first) : &second;
  C[i] = base->at(@NAMES@, i);
}
"""


def source(form, inputs, body, double=False):
    function = filled(FUNCTION, parameters=PARAMETERS[inputs], body=body if "return" in body else f"return {body};")
    value = f"float(f<double>({WIDE[inputs]}))" if double else f"f<float>({CALL[inputs]})"
    return filled(form, function=function, names=NAMES[inputs], pointers=POINTERS[inputs], value=value)


def element(name, torch, formula, others=(), inputs=1, held=False, distribution=""):
    declared = [each + distribution for each in {1: ONE, 2: TWO, 3: THREE}[inputs]]
    variants = [("double", source(PLAIN, inputs, formula, True)), ("strided", source(STRIDED, inputs, formula)), ("four", source(FOUR, inputs, formula)),
                ("virtual", source(VIRTUAL, inputs, formula))]
    variants += [(other, source(PLAIN, inputs, body)) for other, body in others]
    return Operation(name, f"C = {torch}", "N = 4096", ["N = 1001"], declared, ["C: float32[N]"], source(PLAIN, inputs, formula),
                     source(PLAIN, inputs, formula, True), variants, held)


U = "T u = T(0.7978845608028654) * (x + T(0.044715) * x * x * x); "
LOGITS = "fmax(x, T(0)) - x * y + log1p(exp(-fabs(x)))"

ELEMENTS = [
    element("relu", "torch.relu(A)", "x > 0 ? x : T(0)", [("fmax", "fmaxf(x, 0.f)")]),
    element("relu6", "F.relu6(A)", "x < 0 ? T(0) : x > 6 ? T(6) : x", [("sat", "x < 0 ? 0.f : x > 6 ? 6.f : x")]),
    element("leaky_relu", "F.leaky_relu(A, 0.01)", "x > 0 ? x : T(0.01) * x", [("larger", "fmaxf(x, 0.01f * x)"), ("chosen", "x * (x > 0 ? 1.f : 0.01f)")]),
    element("sigmoid", "torch.sigmoid(A)", "1 / (1 + exp(-x))",
            [("tanh", "0.5f + 0.5f * tanhf(0.5f * x)"), ("fdividef", "__fdividef(1.f, 1 + expf(-x))"),
             ("symmetric", "float e = expf(-fabsf(x)), s = 1 / (1 + e); return x >= 0 ? s : e * s;")]),
    element("tanh", "torch.tanh(A)", "tanh(x)",
            [("quotient", "float t = expf(-2 * fabsf(x)); return copysignf((1 - t) / (1 + t), x);"), ("sigmoid", "2 / (1 + expf(-2 * x)) - 1"),
             ("expm1", "float t = expm1f(-2 * fabsf(x)); return copysignf(-t / (t + 2), x);")]),
    element("gelu", "F.gelu(A)", "T(0.5) * x * (1 + erf(x * T(0.7071067811865476)))",
            [("normcdf", "x * normcdff(x)"), ("erfc", "0.5f * x * erfcf(-0.70710678f * x)")]),
    element("gelu_tanh", "F.gelu(A, approximate='tanh')", U + "return T(0.5) * x * (1 + tanh(u));", [("sigmoid", U + "return x / (1 + expf(-2 * u));")]),
    element("silu", "F.silu(A)", "x / (1 + exp(-x))", [("product", "x * (1 / (1 + expf(-x)))"), ("tanh", "float h = 0.5f * x; return h + h * tanhf(h);")]),
    element("mish", "F.mish(A)", "x * tanh(log1p(exp(x)))", [("rational", "if (x > 20) return x; float e = expf(x), n = e * (e + 2); return x * (n / (n + 2));")], held=True),
    element("softplus", "F.softplus(A)", "x > 20 ? x : log1p(exp(x))",
            [("stable", "fmaxf(x, 0.f) + log1pf(expf(-fabsf(x)))"), ("plain", "x > 20 ? x : logf(1 + expf(x))")]),
    element("elu", "F.elu(A)", "x > 0 ? x : expm1(x)", [("minus_one", "x > 0 ? x : expf(x) - 1")]),
    element("selu", "F.selu(A)", "T(1.0507009873554805) * (x > 0 ? x : T(1.6732632423543772) * expm1(x))",
            [("minus_one", "x > 0 ? 1.05070098f * x : 1.75809934f * (expf(x) - 1)"), ("scaled", "x > 0 ? 1.05070098f * x : 1.75809934f * expm1f(x)")], held=True),
    element("celu", "F.celu(A, 1.5)", "x > 0 ? x : T(1.5) * expm1(x / T(1.5))", [("reciprocal", "x > 0 ? x : 1.5f * expm1f(x * 0.666666667f)")]),
    element("hardtanh", "F.hardtanh(A)", "x < -1 ? T(-1) : x > 1 ? T(1) : x", [("ordered", "x > 1 ? 1.f : x < -1 ? -1.f : x")]),
    element("hardsigmoid", "F.hardsigmoid(A)", "fmin(fmax(x + 3, T(0)), T(6)) / 6", [("saturate", "__saturatef(x * 0.166666667f + 0.5f)")]),
    element("hardswish", "F.hardswish(A)", "x * fmin(fmax(x + 3, T(0)), T(6)) / 6", [("sixth", "x * (fminf(fmaxf(x + 3, 0.f), 6.f) * 0.166666667f)")], held=True),
    element("softsign", "F.softsign(A)", "x / (1 + fabs(x))", [("fdividef", "__fdividef(x, 1 + fabsf(x))"), ("reciprocal", "x * (1 / (1 + fabsf(x)))")]),
    element("exp", "torch.exp(A)", "exp(x)",
            [("split", "float t = x * 1.44269504f, r = fmaf(x, 1.44269504f, -t) + x * 1.92596299e-8f; if (!(fabsf(t) < 120)) return expf(x); "
                       "return exp2f(t) * fmaf(r, 0.693147181f, 1.f);")]),
    element("log_of", "torch.log(A.abs() + 0.1)", "log(fabs(x) + T(0.1))", [("log2", "log2f(fabsf(x) + 0.1f) * 0.693147181f")]),
    element("log1p_of", "torch.log1p(A.abs())", "log1p(fabs(x))", [("log", "logf(1 + fabsf(x))")]),
    element("expm1", "torch.expm1(A)", "expm1(x)", [("minus_one", "expf(x) - 1")]),
    element("sqrt_of", "torch.sqrt(A.abs())", "sqrt(fabs(x))", [("rn", "__fsqrt_rn(fabsf(x))")]),
    element("rsqrt_of", "torch.rsqrt(A * A + 0.5)", "1 / sqrt(x * x + T(0.5))", [("rsqrt", "rsqrtf(x * x + 0.5f)"), ("fma", "rsqrtf(fmaf(x, x, 0.5f))")]),
    element("reciprocal_of", "1 / (A * A + 1)", "1 / (x * x + 1)", [("rcp", "__frcp_rn(x * x + 1)"), ("no_fma", "1 / __fadd_rn(__fmul_rn(x, x), 1.f)")]),
    element("cube", "A ** 3", "x * x * x", [("other_order", "x * __fmul_rn(x, x)")], held=True),
    element("polynomial", "2 * A * A - 3 * A + 1", "2 * x * x - 3 * x + 1", [("horner", "(2 * x - 3) * x + 1"), ("no_fma", "__fadd_rn(__fsub_rn(__fmul_rn(2 * x, x), 3 * x), 1.f)")]),
    element("sine", "torch.sin(A)", "sin(x)", [("pair", "float s, c; sincosf(x, &s, &c); return s;")]),
    element("cosine", "torch.cos(A)", "cos(x)", [("pair", "float s, c; sincosf(x, &s, &c); return c;")]),
    element("arctangent", "torch.atan(A)", "atan(x)", [("two", "atan2f(x, 1.f)")]),
    element("error_function", "torch.erf(A)", "erf(x)", [("complement", "copysignf(1 - erfcf(fabsf(x)), x)")], held=True),
    element("logsigmoid", "F.logsigmoid(A)", "fmin(x, T(0)) - log1p(exp(-fabs(x)))", [("log", "fminf(x, 0.f) - logf(1 + expf(-fabsf(x)))")]),
    element("softshrink", "F.softshrink(A, 0.5)", "x > T(0.5) ? x - T(0.5) : x < T(-0.5) ? x + T(0.5) : x - x",
            [("sign", "fabsf(x) > 0.5f ? x - copysignf(0.5f, x) : x - x")]),
    element("hardshrink", "F.hardshrink(A, 0.5)", "x > T(0.5) || x < T(-0.5) ? x : T(0)", [("abs", "fabsf(x) > 0.5f ? x : 0.f")]),
    element("threshold", "F.threshold(A, 0.1, 2.5)", "x <= T(0.1) ? T(2.5) : x", [("kept", "!(x <= 0.1f) ? x : 2.5f")]),
    element("squared_hinge", "torch.clamp(1 - A, min=0) ** 2", "T h = 1 - x < 0 ? T(0) : 1 - x; return h * h;", [("other", "float h = 1 - x; return h < 0 ? 0.f : h * h;")]),
    element("axpy", "2.5 * A + B", "T(2.5) * x + y", [("no_fma", "__fadd_rn(__fmul_rn(2.5f, x), y)"), ("fma", "fmaf(2.5f, x, y)")], 2),
    element("addcmul", "A + 0.5 * B * D", "x + T(0.5) * y * z", [("other_order", "fmaf(y * z, 0.5f, x)")], 3),
    element("addcdiv", "A + 0.5 * B / (D * D + 1)", "x + T(0.5) * y / (z * z + 1)", [("reciprocal", "x + 0.5f * y * (1 / (z * z + 1))")], 3, held=True),
    element("lerp", "torch.lerp(A, B, 0.3)", "x + T(0.3) * (y - x)", [("weights", "0.7f * x + 0.3f * y")], 2),
    element("swiglu", "F.silu(A) * B", "x / (1 + exp(-x)) * y", [("order", "x * y / (1 + expf(-x))"), ("fdividef", "__fdividef(x, 1 + expf(-x)) * y")], 2),
    element("geglu", "F.gelu(A) * B", "T(0.5) * x * (1 + erf(x * T(0.7071067811865476))) * y", [("normcdf", "x * y * normcdff(x)")], 2, held=True),
    element("squared_error", "(A - B) ** 2", "(x - y) * (x - y)", [("no_fma", "__fmul_rn(x - y, x - y)")], 2),
    element("bce_logits", "A.clamp(min=0) - A * B + torch.log1p(torch.exp(-A.abs()))", LOGITS,
            [("log", "fmaxf(x, 0.f) - x * y + logf(1 + expf(-fabsf(x)))"), ("no_fma", "__fsub_rn(fmaxf(x, 0.f), __fmul_rn(x, y)) + log1pf(expf(-fabsf(x)))")], 2),
    element("largest_of", "torch.maximum(A, B)", "x > y ? x : y", [("fmax", "fmaxf(x, y)")], 2),
    element("scaled_residual", "0.5 * torch.relu(A) + B", "T(0.5) * (x > 0 ? x : T(0)) + y", [("folded", "(x > 0 ? 0.5f * x : 0.f) + y")], 2),
]
