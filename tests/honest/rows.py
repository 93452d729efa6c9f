# SPDX-License-Identifier: Apache-2.0
"""Rows of a matrix: sums of a term, in eleven orders; extremes; rows normalised; running sums."""

from operation import Operation, filled

A = ["A: float32[N, M]"]
AB = A + ["B: float32[N, M]"]
SIZE, CHECKS = "N = 24, M = 512", ["N = 7, M = 300", "N = 3, M = 1030"]

# A row's sum, one program each. X is the term of element l, R the type of a sum, F what becomes of it.
HEAD = """\
#define X(l) (@TERM@)
#define F(s) (@FINISH@)
"""
ONE_THREAD = "//@ launch  k<<<ceil_div(N, 64), 64>>>(@NAMES@, C, N, M)\n" + HEAD + """\
__global__ void k(@POINTERS@, float* C, int N, int M) {
  int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= N) return;
  A += r * M;@MOVE_B@
  @LOOP@
  C[r] = F(s);
}
"""
LOOPS = {
    "sequential": "float s = 0; for (int l = 0; l < M; ++l) s += X(l);",
    "double": "double s = 0; for (int l = 0; l < M; ++l) s += double(X(l));",
    "backwards": "float s = 0; for (int l = M; l-- > 0;) s += X(l);",
    "four": "float p[4] = {}; for (int l = 0; l < M; ++l) p[l % 4] += X(l); float s = (p[0] + p[1]) + (p[2] + p[3]);",
    "halves": "float s = 0, t = 0; for (int l = 0; l < M / 2; ++l) s += X(l); for (int l = M / 2; l < M; ++l) t += X(l); s += t;",
    "kahan": "float s = 0, c = 0; for (int l = 0; l < M; ++l) { float y = X(l) - c, t = s + y; c = (t - s) - y; s = t; }",
    "chunks": "float s = 0; for (int b = 0; b < M; b += 32) { float p = 0; for (int l = b; l < min(M, b + 32); ++l) p += X(l); s += p; }",
}
WARP = "//@ launch  k<<<N, 32>>>(@NAMES@, C, M)\n" + HEAD + """\
__global__ void k(@POINTERS@, float* C, int M) {
  A += blockIdx.x * M;@MOVE_B_BLOCK@
  float s = 0;
  for (int l = threadIdx.x; l < M; l += 32) s += X(l);
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x == 0) C[blockIdx.x] = F(s);
}
"""
TREE = "//@ launch  k<<<N, 128>>>(@NAMES@, C, M)\n" + HEAD + """\
__global__ void k(@POINTERS@, float* C, int M) {
  __shared__ float part[128];
  A += blockIdx.x * M;@MOVE_B_BLOCK@
  float s = 0;
  for (int l = threadIdx.x; l < M; l += 128) s += X(l);
  part[threadIdx.x] = s;
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  s = part[0];
  if (threadIdx.x == 0) C[blockIdx.x] = F(s);
}
"""
ATOMICS = """\
//@ scratch S: float32[N] = 0
//@ launch  k<<<dim3(4, N), 64>>>(@NAMES@, S, M)
//@ launch  finish<<<ceil_div(N, 64), 64>>>(S, C, N, M)
""" + HEAD + """\
__global__ void k(@POINTERS@, float* S, int M) {
  int r = blockIdx.y;
  A += r * M;@MOVE_B@
  float s = 0;
  for (int l = blockIdx.x * 64 + threadIdx.x; l < M; l += 256) s += X(l);
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) atomicAdd(S + r, s);
}
__global__ void finish(const float* S, float* C, int N, int M) {
  int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= N) return;
  float s = S[r];
  C[r] = F(s);
}
"""
RECURSIVE = "//@ launch  k<<<ceil_div(N, 64), 64>>>(@NAMES@, C, N, M)\n" + HEAD + """\
__device__ float add_up(@POINTERS@, int from, int M) {
  if (M > 8) return add_up(@NAMES@, from, M / 2) + add_up(@NAMES@, from + M / 2, M - M / 2);
  float s = 0;
  for (int l = from; l < from + M; ++l) s += X(l);
  return s;
}
__global__ void k(@POINTERS@, float* C, int N, int M) {
  int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= N) return;
  A += r * M;@MOVE_B@
  float s = add_up(@NAMES@, 0, M);
  C[r] = F(s);
}
"""


def row_source(form, inputs, **values):
    two = len(inputs) == 2
    return filled(form, names="A, B" if two else "A", pointers="const float* A, const float* B" if two else "const float* A",
                  move_b=" B += r * M;" if two else "", move_b_block=" B += blockIdx.x * M;" if two else "", **values)


def row_sum(name, torch, term, finish="s", inputs=A, held=False, distribution=""):
    def loop(kind):
        return row_source(ONE_THREAD, inputs, term=term, finish=finish, loop=LOOPS[kind])
    variants = [(kind, loop(kind)) for kind in LOOPS if kind != "sequential"]
    variants += [(kind, row_source(form, inputs, term=term, finish=finish)) for kind, form in (("warp", WARP), ("tree", TREE), ("atomics", ATOMICS), ("recursive", RECURSIVE))]
    return Operation(name, f"C = {torch}", SIZE, CHECKS, [each + distribution for each in inputs], ["C: float32[N]"], loop("sequential"), loop("double"), variants, held)


SUMS = [
    row_sum("row_sum", "A.sum(dim=1)", "A[l]"),
    row_sum("row_sum_positive", "A.sum(dim=1)", "A[l]", distribution=" ~ uniform(0, 1)"),
    row_sum("row_sum_tiny", "(1e-12 * A).sum(dim=1)", "1e-12f * A[l]"),
    row_sum("row_mean", "A.mean(dim=1)", "A[l]", "s / M"),
    row_sum("row_squares", "(A * A).sum(dim=1)", "A[l] * A[l]"),
    row_sum("row_norm", "torch.norm(A, dim=1)", "A[l] * A[l]", "sqrt(s)"),
    row_sum("row_l1", "A.abs().sum(dim=1)", "fabsf(A[l])", held=True),
    row_sum("row_dot", "(A * B).sum(dim=1)", "A[l] * B[l]", inputs=AB),
    row_sum("row_mse", "((A - B) ** 2).mean(dim=1)", "(A[l] - B[l]) * (A[l] - B[l])", "s / M", AB),
    row_sum("row_mae", "(A - B).abs().mean(dim=1)", "fabsf(A[l] - B[l])", "s / M", AB),
    row_sum("row_huber", "F.smooth_l1_loss(A, B, reduction='none').mean(dim=1)",
            "fabsf(A[l] - B[l]) < 1 ? 0.5f * (A[l] - B[l]) * (A[l] - B[l]) : fabsf(A[l] - B[l]) - 0.5f", "s / M", AB, held=True),
    row_sum("row_hinge", "torch.clamp(1 - A * B, min=0).mean(dim=1)", "fmaxf(1 - A[l] * B[l], 0.f)", "s / M", AB),
    row_sum("row_log_cosh", "torch.log1p(A * A).mean(dim=1)", "log1pf(A[l] * A[l])", "s / M"),
    row_sum("row_sigmoid_sum", "torch.sigmoid(A).sum(dim=1)", "1 / (1 + expf(-A[l]))"),
]

# Whole rows in one thread or one warp: BODY reads A[0 … M) and writes to C, which is the row's own place.
ROW = """\
//@ launch  k<<<ceil_div(N, 32), 32>>>(A, C, N, M)
__global__ void k(const float* A, @OUT@* C, int N, int M) {
  int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= N) return;
  A += r * M; C += @WIDTH@;
  @BODY@
}
"""
ROW_WARP = """\
//@ launch  k<<<N, 32>>>(A, C, M)
__device__ float add(float v) { for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o); return v; }
__device__ float largest(float v) { for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o)); return v; }
__global__ void k(const float* A, float* C, int M) {
  int r = blockIdx.x, t = threadIdx.x;
  A += r * M; C += @WIDTH@;
  @BODY@
}
"""
MAX = "float m = A[0]; for (int l = 1; l < M; ++l) m = fmaxf(m, A[l]); "
WARP_MAX = "float m = -3.4e38f; for (int l = t; l < M; l += 32) m = fmaxf(m, A[l]); m = largest(m); "
ONLINE = ("float m = A[0], s = 1; for (int l = 1; l < M; ++l) { float x = A[l]; if (x > m) { s = s * expf(m - x) + 1; m = x; } else s += expf(x - m); } ")
WARP_ONLINE = ("float m = -3.4e38f, s = 0; for (int l = t; l < M; l += 32) { float x = A[l], n = fmaxf(m, x); s = s * expf(m - n) + expf(x - n); m = n; } "
               "float n = largest(m); s = add(s * expf(m - n)); m = n; ")
EACH, WARP_EACH = "for (int l = 0; l < M; ++l) ", "for (int l = t; l < M; l += 32) "


def whole(name, torch, naive, accurate, variants, shape="[N, M]", out="float", held=False, inputs=None):
    width, dtype = ("r * M" if "M" in shape else "r"), {"float": "float32", "long long": "int64"}[out]

    def text(body, warp=False):
        return filled(ROW_WARP if warp else ROW, out=out, width=width, body=body)
    return Operation(name, f"C = {torch}", SIZE, CHECKS, inputs or A, [f"C: {dtype}{shape}"], text(naive), text(accurate),
                     [(kind, text(body, kind.startswith("warp"))) for kind, body in variants.items()], held)


def softmax(name, torch, sign, held=False):
    x, m = f"{sign}A[l]", MAX.replace("A[", f"{sign}A[")
    warp_max, online, warp_online = (each.replace("A[", f"{sign}A[") for each in (WARP_MAX, ONLINE, WARP_ONLINE))
    return whole(
        name, torch, f"{m}float s = 0; {EACH}s += expf({x} - m); {EACH}C[l] = expf({x} - m) / s;",
        f"{m}double s = 0; {EACH}s += exp(double({x}) - m); {EACH}C[l] = float(exp(double({x}) - m) / s);",
        {"reciprocal": f"{m}float s = 0; {EACH}s += expf({x} - m); s = 1 / s; {EACH}C[l] = expf({x} - m) * s;",
         "kept": f"{m}float s = 0; {EACH}{{ float e = expf({x} - m); C[l] = e; s += e; }} {EACH}C[l] /= s;",
         "exp2": f"{m}float s = 0; {EACH}s += exp2f(({x} - m) * 1.44269504f); {EACH}C[l] = exp2f(({x} - m) * 1.44269504f) / s;",
         "exp2_fma": f"{m}float s = 0, d = m * 1.44269504f; {EACH}s += exp2f(fmaf({x}, 1.44269504f, -d)); {EACH}C[l] = exp2f(fmaf({x}, 1.44269504f, -d)) / s;",
         "online": f"{online}{EACH}C[l] = expf({x} - m) / s;",
         "warp": f"{warp_max}float s = 0; {WARP_EACH}s += expf({x} - m); s = add(s); {WARP_EACH}C[l] = expf({x} - m) / s;",
         "warp_online": f"{warp_online}{WARP_EACH}C[l] = expf({x} - m) / s;"}, held=held)


MEAN = "float u = 0; for (int l = 0; l < M; ++l) u += A[l]; u /= M; "
SPREAD = MEAN + "float v = 0; for (int l = 0; l < M; ++l) v += (A[l] - u) * (A[l] - u); "
EXACT = "double u = 0, v = 0; for (int l = 0; l < M; ++l) u += A[l]; u /= M; for (int l = 0; l < M; ++l) v += (A[l] - u) * (A[l] - u); "
WELFORD = "float u = 0, v = 0; for (int l = 0; l < M; ++l) { float d = A[l] - u; u += d / (l + 1); v += d * (A[l] - u); } "
SHIFTED = ("float a = A[0], p = 0, q = 0; for (int l = 0; l < M; ++l) { p += A[l] - a; } float u = a + p / M; "
           "for (int l = 0; l < M; ++l) { float d = A[l] - u; q += d * d; } float v = q; ")
WARP_SPREAD = ("float u = 0, v = 0; for (int l = t; l < M; l += 32) u += A[l]; u = add(u) / M; "
               "for (int l = t; l < M; l += 32) v += (A[l] - u) * (A[l] - u); v = add(v); ")


def spread(name, torch, finish, held=False):
    return whole(name, torch, f"{SPREAD}*C = {finish};", f"{EXACT}*C = float({finish});",
                 {"welford": f"{WELFORD}*C = {finish};", "shifted": f"{SHIFTED}*C = {finish};", "double": f"{EXACT}*C = float({finish});",
                  "warp": f"{WARP_SPREAD}if (t == 0) *C = {finish};"}, "[N]", held=held)


def scaled(name, torch, naive, accurate, variants, held=False):
    return whole(name, torch, naive, accurate, variants, held=held)


NORM = "float q = 0; for (int l = 0; l < M; ++l) q += A[l] * A[l]; "
NORM_EXACT = "double q = 0; for (int l = 0; l < M; ++l) q += double(A[l]) * A[l]; "
NORM_WARP = "float q = 0; for (int l = t; l < M; l += 32) q += A[l] * A[l]; q = add(q); "
NORM_CHUNKS = "float q = 0; for (int b = 0; b < M; b += 16) { float p = 0; for (int l = b; l < min(M, b + 16); ++l) p += A[l] * A[l]; q += p; } "

NORMALISED = [
    softmax("softmax", "torch.softmax(A, dim=1)", ""),
    softmax("softmin", "F.softmin(A, dim=1)", "-", held=True),
    whole("log_softmax", "torch.log_softmax(A, dim=1)", f"{MAX}float s = 0; {EACH}s += expf(A[l] - m); s = logf(s); {EACH}C[l] = A[l] - m - s;",
          f"{MAX}double s = 0; {EACH}s += exp(double(A[l]) - m); s = log(s); {EACH}C[l] = float(double(A[l]) - m - s);",
          {"online": f"{ONLINE}s = logf(s); {EACH}C[l] = A[l] - m - s;", "log2": f"{MAX}float s = 0; {EACH}s += expf(A[l] - m); s = log2f(s) * 0.693147181f; {EACH}C[l] = (A[l] - m) - s;",
           "warp": f"{WARP_MAX}float s = 0; {WARP_EACH}s += expf(A[l] - m); s = logf(add(s)); {WARP_EACH}C[l] = A[l] - m - s;"}),
    whole("logsumexp", "torch.logsumexp(A, dim=1)", f"{MAX}float s = 0; {EACH}s += expf(A[l] - m); *C = m + logf(s);",
          f"{MAX}double s = 0; {EACH}s += exp(double(A[l]) - m); *C = float(m + log(s));",
          {"online": f"{ONLINE}*C = m + logf(s);", "log2": f"{MAX}float s = 0; {EACH}s += expf(A[l] - m); *C = m + log2f(s) * 0.693147181f;",
           "warp": f"{WARP_ONLINE}if (t == 0) *C = m + logf(s);"}, "[N]"),
    spread("row_variance", "A.var(dim=1)", "v / (M - 1)"),
    spread("row_deviation", "A.std(dim=1)", "sqrt(v / (M - 1))", held=True),
    scaled("layer_norm", "F.layer_norm(A, (M,))", f"{SPREAD}float f = 1 / sqrtf(v / M + 1e-5f); {EACH}C[l] = (A[l] - u) * f;",
           f"{EXACT}double f = 1 / sqrt(v / M + 1e-5); {EACH}C[l] = float((A[l] - u) * f);",
           {"rsqrt": f"{SPREAD}float f = rsqrtf(v / M + 1e-5f); {EACH}C[l] = (A[l] - u) * f;", "welford": f"{WELFORD}float f = rsqrtf(v / M + 1e-5f); {EACH}C[l] = (A[l] - u) * f;",
            "shifted": f"{SHIFTED}float f = rsqrtf(v / M + 1e-5f); {EACH}C[l] = (A[l] - u) * f;", "warp": f"{WARP_SPREAD}float f = rsqrtf(v / M + 1e-5f); {WARP_EACH}C[l] = (A[l] - u) * f;",
            "divided": f"{SPREAD}float f = sqrtf(v / M + 1e-5f); {EACH}C[l] = (A[l] - u) / f;"}),
    scaled("rms_norm", "A / torch.sqrt((A * A).mean(dim=1, keepdim=True) + 1e-6)", f"{NORM}float f = sqrtf(q / M + 1e-6f); {EACH}C[l] = A[l] / f;",
           f"{NORM_EXACT}double f = sqrt(q / M + 1e-6); {EACH}C[l] = float(A[l] / f);",
           {"rsqrt": f"{NORM}float f = rsqrtf(q / M + 1e-6f); {EACH}C[l] = A[l] * f;", "warp": f"{NORM_WARP}float f = rsqrtf(q / M + 1e-6f); {WARP_EACH}C[l] = A[l] * f;",
            "chunks": f"{NORM_CHUNKS}float f = 1 / sqrtf(q / M + 1e-6f); {EACH}C[l] = A[l] * f;"}, held=True),
    scaled("l2_normalised", "F.normalize(A, dim=1)", f"{NORM}float f = fmaxf(sqrtf(q), 1e-12f); {EACH}C[l] = A[l] / f;",
           f"{NORM_EXACT}double f = fmax(sqrt(q), 1e-12); {EACH}C[l] = float(A[l] / f);",
           {"reciprocal": f"{NORM}float f = 1 / fmaxf(sqrtf(q), 1e-12f); {EACH}C[l] = A[l] * f;", "warp": f"{NORM_WARP}float f = fmaxf(sqrtf(q), 1e-12f); {WARP_EACH}C[l] = A[l] / f;"}),
    scaled("centred", "A - A.mean(dim=1, keepdim=True)", f"{MEAN}{EACH}C[l] = A[l] - u;", f"{EXACT}{EACH}C[l] = float(A[l] - u);",
           {"warp": f"float u = 0; {WARP_EACH}u += A[l]; u = add(u) / M; {WARP_EACH}C[l] = A[l] - u;", "reciprocal": f"float u = 0; {EACH}u += A[l]; u *= 1.f / M; {EACH}C[l] = A[l] - u;"}),
    whole("row_largest", "torch.amax(A, dim=1)", f"{MAX}*C = m;", f"{MAX}*C = m;",
          {"warp": f"{WARP_MAX}if (t == 0) *C = m;", "compared": f"float m = A[0]; {EACH}m = A[l] > m ? A[l] : m; *C = m;"}, "[N]"),
    whole("row_largest_size", "A.norm(float('inf'), dim=1)", f"float m = 0; {EACH}m = fmaxf(m, fabsf(A[l])); *C = m;", f"float m = 0; {EACH}if (!(fabsf(A[l]) <= m)) m = fabsf(A[l]); *C = m;",
          {"bits": f"unsigned m = 0; {EACH}m = max(m, __float_as_uint(A[l]) & 0x7fffffffu); *C = __uint_as_float(m);"}, "[N]"),
    whole("row_smallest_index", "torch.argmin(A, dim=1)", f"int b = 0; {EACH}if (A[l] < A[b]) b = l; *C = b;", f"int b = 0; {EACH}if (A[l] < A[b]) b = l; *C = b;",
          {"backwards": "int b = M - 1; for (int l = M - 1; l >= 0; --l) if (A[l] <= A[b]) b = l; *C = b;"}, "[N]", "long long"),
]


def scan(name, torch, at, held=False):
    """`at`: the element that step l of a row is about."""
    def text(body):
        return filled(ROW, out="float", width="r * M", body=body.replace("@AT@", at))
    each = "for (int l = 0; l < M; ++l) "
    variants = {
        "kahan": "float s = 0, c = 0; " + each + "{ float y = A[@AT@] - c, t = s + y; c = (t - s) - y; s = t; C[@AT@] = s; }",
        "chunks": "float s = 0; for (int b = 0; b < M; b += 32) { float p = 0; for (int l = b; l < min(M, b + 32); ++l) { p += A[@AT@]; C[@AT@] = s + p; } s += p; }",
        "double": "double s = 0; " + each + "{ s += A[@AT@]; C[@AT@] = float(s); }",
        "two": "float s = 0; int h = M / 2; for (int l = 0; l < h; ++l) { s += A[@AT@]; C[@AT@] = s; } float p = 0; for (int l = h; l < M; ++l) { p += A[@AT@]; C[@AT@] = s + p; }",
    }
    return Operation(name, f"C = {torch}", SIZE, CHECKS, A, ["C: float32[N, M]"], text("float s = 0; " + each + "{ s += A[@AT@]; C[@AT@] = s; }"),
                     text(variants["double"]), [(kind, text(body)) for kind, body in variants.items()], held)


# Of factors near 1, whose roundings are alike where the factors are.
GROWTH = ("double s = 1; for (int l = 0; l < M; ++l) { s *= 1 + 0.02 * A[l]; C[l] = float(s); }", "float s = 1; for (int l = 0; l < M; ++l) { s *= 1 + 0.02f * A[l]; C[l] = s; }")
GROWTH_WARP = ("float carry = 1; for (int b = 0; b < M; b += 32) { float v = b + t < M ? 1 + 0.02f * A[b + t] : 1.f; for (int o = 1; o < 32; o *= 2) { float u = __shfl_up_sync(~0u, v, o); if (t >= o) v *= u; } "
               "v *= carry; if (b + t < M) C[b + t] = v; carry = __shfl_sync(~0u, v, 31); }")
LOGS = "float m = -INFINITY, s = 0; for (int l = 0; l < M; ++l) { float n = fmaxf(m, A[l]); s = s * expf(m - n) + expf(A[l] - n); m = n; C[l] = m + logf(s); }"
LOGS_EXACT = "double m = A[0], s = 0; for (int l = 0; l < M; ++l) { double x = A[l]; if (x > m) { s *= exp(m - x); m = x; } s += exp(x - m); C[l] = float(m + log(s)); }"
LOGS_PAIRS = "float y = A[0]; C[0] = y; for (int l = 1; l < M; ++l) { float a = fmaxf(y, A[l]), b = fminf(y, A[l]); y = a + log1pf(expf(b - a)); C[l] = y; }"
RUNNING = [whole("running_product", "torch.cumprod(1 + 0.02 * A, dim=1)", GROWTH[1], GROWTH[0], {"warp": GROWTH_WARP, "double": GROWTH[0]}),
           whole("running_logsumexp", "torch.logcumsumexp(A, dim=1)", LOGS, LOGS_EXACT, {"pairs": LOGS_PAIRS, "online": LOGS})]

SCANS = RUNNING + [scan("running_sum", "torch.cumsum(A, dim=1)", "l"),
         scan("running_sum_reversed", "torch.flip(torch.cumsum(torch.flip(A, (1,)), dim=1), (1,))", "M - 1 - l", held=True)]

ROWS = SUMS + NORMALISED + SCANS
