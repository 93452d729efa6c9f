# SPDX-License-Identifier: Apache-2.0
"""Convolutions and pooling, sums over columns and over everything, and attention."""

from operation import Operation, filled

POINT = """\
//@ launch  k<<<ceil_div(@COUNT@, 64), 64>>>(@NAMES@)
__global__ void k(@POINTERS@) {
  int at = blockIdx.x * 64 + threadIdx.x;
  @BODY@
}
"""


def point(name, torch, size, checks, inputs, output, count, names, pointers, naive, accurate, variants, held=False):
    def text(body):
        return filled(POINT, count=count, names=names, pointers=pointers, body=body)
    return Operation(name, f"C = {torch}", size, checks, inputs, [output], text(naive), text(accurate), [(kind, text(body)) for kind, body in variants.items()], held)


def convolution():
    place = "if (at >= O * R * R) return; int o = at / (R * R), y = at / R % R, x = at % R; "
    term = "A[(c * H + y + v) * H + x + u] * W[((o * I + c) * 3 + v) * 3 + u]"
    over = "for (int c = 0; c < I; ++c) for (int v = 0; v < 3; ++v) for (int u = 0; u < 3; ++u) "
    other = "for (int v = 0; v < 3; ++v) for (int u = 0; u < 3; ++u) for (int c = 0; c < I; ++c) "
    return point("convolution", "F.conv2d(A, W)", "I = 8, O = 8, H = 14, R = H - 2", ["I = 5, O = 7, H = 9", "I = 16, O = 3, H = 7"],
                 ["A: float32[I, H, H]", "W: float32[O, I, 3, 3]"], "C: float32[O, R, R]", "O * R * R", "A, W, C, I, O, H, R",
                 "const float* A, const float* W, float* C, int I, int O, int H, int R", f"{place}float s = 0; {over}s += {term}; C[at] = s;",
                 f"{place}double s = 0; {over}s += double(A[(c * H + y + v) * H + x + u]) * W[((o * I + c) * 3 + v) * 3 + u]; C[at] = float(s);",
                 {"taps_outside": f"{place}float s = 0; {other}s += {term}; C[at] = s;",
                  "channel_sums": f"{place}float s = 0; for (int c = 0; c < I; ++c) {{ float p = 0; for (int v = 0; v < 3; ++v) for (int u = 0; u < 3; ++u) p += {term}; s += p; }} C[at] = s;",
                  "no_fma": f"{place}float s = 0; {over}s = __fadd_rn(s, __fmul_rn(A[(c * H + y + v) * H + x + u], W[((o * I + c) * 3 + v) * 3 + u])); C[at] = s;"})


def depthwise():
    place = "if (at >= I * R * R) return; int c = at / (R * R), y = at / R % R, x = at % R; "
    term = "A[(c * H + y + v) * H + x + u] * W[(c * 3 + v) * 3 + u]"
    return point("depthwise", "F.conv2d(A.unsqueeze(0), W, groups=8).squeeze(0)", "I = 8, H = 14, R = H - 2", ["H = 9"], ["A: float32[I, H, H]", "W: float32[I, 1, 3, 3]"],
                 "C: float32[I, R, R]", "I * R * R", "A, W, C, I, H, R", "const float* A, const float* W, float* C, int I, int H, int R",
                 f"{place}float s = 0; for (int v = 0; v < 3; ++v) for (int u = 0; u < 3; ++u) s += {term}; C[at] = s;",
                 f"{place}double s = 0; for (int v = 0; v < 3; ++v) for (int u = 0; u < 3; ++u) s += double(A[(c * H + y + v) * H + x + u]) * W[(c * 3 + v) * 3 + u]; C[at] = float(s);",
                 {"columns": f"{place}float s = 0; for (int u = 0; u < 3; ++u) for (int v = 0; v < 3; ++v) s += {term}; C[at] = s;",
                  "row_sums": f"{place}float s = 0; for (int v = 0; v < 3; ++v) {{ float p = 0; for (int u = 0; u < 3; ++u) p += {term}; s += p; }} C[at] = s;"})


def convolution_1d():
    place = "if (at >= O * R) return; int o = at / R, x = at % R; "
    term, over = "A[c * L + x + u] * W[(o * I + c) * 5 + u]", "for (int c = 0; c < I; ++c) for (int u = 0; u < 5; ++u) "
    return point("convolution_1d", "F.conv1d(A, W)", "I = 8, O = 8, L = 60, R = L - 4", ["I = 5, O = 3, L = 33"], ["A: float32[I, L]", "W: float32[O, I, 5]"], "C: float32[O, R]",
                 "O * R", "A, W, C, I, O, L, R", "const float* A, const float* W, float* C, int I, int O, int L, int R", f"{place}float s = 0; {over}s += {term}; C[at] = s;",
                 f"{place}double s = 0; {over}s += double(A[c * L + x + u]) * W[(o * I + c) * 5 + u]; C[at] = float(s);",
                 {"taps_outside": f"{place}float s = 0; for (int u = 0; u < 5; ++u) for (int c = 0; c < I; ++c) s += {term}; C[at] = s;",
                  "channel_sums": f"{place}float s = 0; for (int c = 0; c < I; ++c) {{ float p = 0; for (int u = 0; u < 5; ++u) p += {term}; s += p; }} C[at] = s;"}, held=True)


def pooling(name, torch, naive, accurate, variants, held=False):
    place = "if (at >= I * R * R) return; int c = at / (R * R), y = at / R % R * 2, x = at % R * 2; const float* a = A + (c * H + y) * H + x; "
    return point(name, torch, "I = 8, R = 8, H = 2 * R", ["I = 5, R = 7"], ["A: float32[I, H, H]"], "C: float32[I, R, R]", "I * R * R", "A, C, I, H, R",
                 "const float* A, float* C, int I, int H, int R", place + naive, place + accurate, {kind: place + body for kind, body in variants.items()}, held)


def columns(name, torch, term, finish, inputs, pointers, names, held=False):
    place = "if (at >= M) return; "
    loops = {"sequential": f"float s = 0; for (int r = 0; r < N; ++r) s += {term};", "double": f"double s = 0; for (int r = 0; r < N; ++r) s += double({term});",
             "backwards": f"float s = 0; for (int r = N; r-- > 0;) s += {term};", "four": f"float p[4] = {{}}; for (int r = 0; r < N; ++r) p[r % 4] += {term}; float s = (p[0] + p[1]) + (p[2] + p[3]);",
             "chunks": f"float s = 0; for (int b = 0; b < N; b += 16) {{ float p = 0; for (int r = b; r < min(N, b + 16); ++r) p += {term}; s += p; }}"}
    text = {kind: f"{place}{loop} C[at] = {finish};" for kind, loop in loops.items()}
    return point(name, torch, "N = 400, M = 48", ["N = 301, M = 33"], inputs, "C: float32[M]", "M", names, pointers, text["sequential"], text["double"],
                 {kind: body for kind, body in text.items() if kind != "sequential"}, held)


def inference_norm():
    """What a batch norm does with kept statistics: by channel, or as a factor and an addend that are taken first."""
    place = "if (at >= N * I) return; int c = at % I; "
    names, pointers = "A, W, B, U, V, C, N, I", "const float* A, const float* W, const float* B, const float* U, const float* V, float* C, int N, int I"
    inputs = ["A: float32[N, I]", "W: float32[I]", "B: float32[I]", "U: float32[I]", "V: float32[I] ~ uniform(0.2, 2)"]
    return point("inference_norm", "F.batch_norm(A, U, V, W, B, training=False, eps=1e-3)", "N = 96, I = 40", ["N = 33, I = 7"], inputs, "C: float32[N, I]", "N * I", names, pointers,
                 place + "C[at] = (A[at] - U[c]) / sqrtf(V[c] + 1e-3f) * W[c] + B[c];", place + "C[at] = float((double(A[at]) - U[c]) / sqrt(V[c] + 1e-3) * W[c] + B[c]);",
                 {"rsqrt": place + "C[at] = (A[at] - U[c]) * rsqrtf(V[c] + 1e-3f) * W[c] + B[c];", "folded": place + "float f = W[c] * rsqrtf(V[c] + 1e-3f); C[at] = A[at] * f + (B[c] - U[c] * f);"})


ALL = """\
//@ launch  k<<<1, @THREADS@>>>(@NAMES@, C, N)
#define X(i) (@TERM@)
__global__ void k(@POINTERS@, float* C, int N) {
  __shared__ @TYPE@ part[@THREADS@];
  @TYPE@ s = 0;
  for (int i = threadIdx.x; i < N; i += @THREADS@) s += X(i);
  part[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x > 0) return;
  s = 0;
  for (int t = 0; t < @THREADS@; ++t) s += part[t];
  C[0] = float(s@FINISH@);
}
"""
ALL_ATOMICS = """\
//@ scratch S: float32[1] = 0
//@ launch  k<<<8, 64>>>(@NAMES@, S, N)
//@ launch  finish<<<1, 1>>>(S, C, N)
#define X(i) (@TERM@)
__global__ void k(@POINTERS@, float* S, int N) {
  float s = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < N; i += 512) s += X(i);
  atomicAdd(S, s);
}
__global__ void finish(const float* S, float* C, int N) { C[0] = S[0]@FINISH@; }
"""


def everything(name, torch, term, finish="", two=False, held=False):
    def text(form, threads=1, kind="float"):
        return filled(form, threads=threads, type=kind, term=term, finish=finish, names="A, B" if two else "A",
                      pointers="const float* A, const float* B" if two else "const float* A")
    inputs = ["A: float32[N]"] + (["B: float32[N]"] if two else [])
    return Operation(name, f"C = {torch}", "N = 4096", ["N = 3001"], inputs, ["C: float32"], text(ALL), text(ALL, 32, "double"),
                     [("threads_32", text(ALL, 32)), ("threads_256", text(ALL, 256)), ("double", text(ALL, 64, "double")), ("atomics", text(ALL_ATOMICS))], held)


ATTENTION = """\
//@ launch  k<<<ceil_div(T, 32), 32>>>(Q, K, V, O, T, H)
__global__ void k(const float* Q, const float* K, const float* V, float* O, int T, int H) {
  int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= T) return;
  @BODY@
}
"""


def attention():
    score = "for (int h = 0; h < H; ++h) x += Q[r * H + h] * K[t * H + h]; x *= 0.25f; "
    two = ("float m = -3.4e38f, s = 0; for (int t = 0; t < T; ++t) { float x = 0; @S@m = fmaxf(m, x); } for (int t = 0; t < T; ++t) { float x = 0; @S@s += @E@(x - m); } "
           "for (int j = 0; j < H; ++j) { float y = 0; for (int t = 0; t < T; ++t) { float x = 0; @S@y += @E@(x - m) * V[t * H + j]; } O[r * H + j] = y / s; }").replace("@S@", score)
    online = ("float m = -3.4e38f, s = 0, y[16] = {}; for (int t = 0; t < T; ++t) { float x = 0; @S@float n = fmaxf(m, x), f = expf(m - n), e = expf(x - n); s = s * f + e; "
              "for (int j = 0; j < H; ++j) y[j] = y[j] * f + e * V[t * H + j]; m = n; } for (int j = 0; j < H; ++j) O[r * H + j] = y[j] / s;").replace("@S@", score)
    exact = two.replace("float", "double").replace("fmaxf", "fmax").replace("0.25f", "0.25").replace("-3.4e38f", "-1e300").replace("O[r * H + j] = y / s", "O[r * H + j] = float(y / s)")
    exact = exact.replace("Q[r", "double(Q[r").replace("* K[t * H + h]", ") * K[t * H + h]").replace("Q[r * H + h] )", "Q[r * H + h])")
    names = ["Q: float32[T, H]", "K: float32[T, H]", "V: float32[T, H]"]

    def text(body):
        return filled(ATTENTION, body=body)
    return Operation("attention", "O = torch.softmax(Q @ K.t() * 0.25, dim=1) @ V", "T = 48, H = 16", ["T = 33, H = 16", "T = 20, H = 9"], names, ["O: float32[T, H]"],
                     text(two.replace("@E@", "expf")), text(exact.replace("@E@", "exp")),
                     [("online", text(online)), ("reciprocal", text(two.replace("@E@", "expf").replace("y / s", "y * (1 / s)"))),
                      ("weights_first", text(two.replace("@E@", "expf").replace("y += expf(x - m) * V", "y += expf(x - m) / s * V").replace("y / s;", "y;")))])


WINDOWS = [
    convolution(), depthwise(), convolution_1d(),
    pooling("average_pool", "F.avg_pool2d(A, 2)", "C[at] = (a[0] + a[1] + a[H] + a[H + 1]) / 4;", "C[at] = float((double(a[0]) + a[1] + a[H] + a[H + 1]) / 4);",
            {"pairs": "C[at] = ((a[0] + a[H]) + (a[1] + a[H + 1])) * 0.25f;", "scaled": "C[at] = 0.25f * a[0] + 0.25f * a[1] + 0.25f * a[H] + 0.25f * a[H + 1];"}, held=True),
    pooling("largest_pool", "F.max_pool2d(A, 2)", "C[at] = fmaxf(fmaxf(a[0], a[1]), fmaxf(a[H], a[H + 1]));", "C[at] = fmaxf(fmaxf(a[0], a[1]), fmaxf(a[H], a[H + 1]));",
            {"compared": "float m = a[0]; m = a[1] > m ? a[1] : m; m = a[H] > m ? a[H] : m; m = a[H + 1] > m ? a[H + 1] : m; C[at] = m;"}),
    columns("column_sum", "A.sum(dim=0)", "A[r * M + at]", "float(s)", ["A: float32[N, M]"], "const float* A, float* C, int N, int M", "A, C, N, M"),
    columns("column_mean", "A.mean(dim=0)", "A[r * M + at]", "float(s / N)", ["A: float32[N, M]"], "const float* A, float* C, int N, int M", "A, C, N, M", held=True),
    columns("vector_matrix", "V @ A", "V[r] * A[r * M + at]", "float(s)", ["V: float32[N]", "A: float32[N, M]"], "const float* V, const float* A, float* C, int N, int M", "V, A, C, N, M"),
    everything("sum_of_all", "A.sum()", "A[i]"),
    everything("mean_of_all", "A.mean()", "A[i]", " / N"),
    everything("mse_loss", "F.mse_loss(A, B)", "(A[i] - B[i]) * (A[i] - B[i])", " / N", two=True),
    everything("l1_loss", "F.l1_loss(A, B)", "fabsf(A[i] - B[i])", " / N", two=True, held=True),
    attention(), inference_norm(),
]
