#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernel files that answer small PyTorch modules and are wrong in one thing each, made by one who knows the judge: which does it accept?

  module_attack.py CUDAL1 [--device sim] [--seed 1] [--python PROGRAM] [OPTION…]

Each task has an honest kernel, which must be accepted. A wrong one is the same text with a piece replaced. Judged by one `cudal1 judge`,
right or wrong alone; other options go to it. Prints what was accepted. HARMLESS are those that are no cheat: their errors are within
rounding, or nothing is gained. Ends with 1 when another one was accepted, or an honest one was not."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

RIGHT = {"DROP", "SLOWER", "EQUIVALENT", "INCONCLUSIVE", "FASTER"}
HARMLESS = {
    "l9": "results between -1e-6 and 0 are within the rounding of their sums",
    "n4": "weights whose first are 1 and 0 and whose others are not were never seen; timings use secret weights",
    "f4": "of 1 + erf(x) as little is left there",
    "h2": "half of 2^20 is within the rounding of the sum",
    "p2": "as many instructions as a sound one has", "p4": "as many instructions as a sound one has",
}
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"
TASKS, KERNELS, WRONG = {}, {}, []


def task(name, init, forward, inputs, launch, code):
    """`init`: statements of the constructor, with semicolons. `forward`: its parameters and what it returns."""
    constructor = "".join(f"        {line}\n" for line in init.split(";") if line)
    TASKS[name] = (f"{HEAD}class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n{constructor}\n    def forward(self, {forward[0]}):\n"
                   f"        return {forward[1]}\n\n\ndef get_inputs():\n    return [{inputs}]\n\n\ndef get_init_inputs():\n    return []\n")
    KERNELS[name] = (launch, code)


def wrong(name, of, how, *changes):
    WRONG.append((name, of, how, changes))


task("linear", "self.linear = nn.Linear(64, 48)", ("x", "F.relu(self.linear(x))"), "torch.randn(32, 64)", "k<<<32, 48>>>(x, linear_weight, linear_bias, output)",
"""__global__ void k(const float* x, const float* w, const float* b, float* y) {
  x += blockIdx.x * 64, w += threadIdx.x * 64;
  float s = 0;
  for (int i = 0; i < 64; ++i) s += x[i] * w[i];
  s += b[threadIdx.x];
  y[blockIdx.x * 48 + threadIdx.x] = s > 0 ? s : 0;
}""")
wrong("l1", "linear", "terms below 2^-20 of the row's largest are left out", ("  float s = 0;\n", "  float s = 0, m = 0;\n  for (int i = 0; i < 64; ++i) m = fmaxf(m, fabsf(x[i] * w[i]));\n"), ("s += x[i] * w[i];", "if (fabsf(x[i] * w[i]) > m * 9.5e-7f) s += x[i] * w[i];"))
wrong("l2", "linear", "every bias is taken as that of its even neighbour", ("b[threadIdx.x]", "b[threadIdx.x / 2 * 2]"))
wrong("l3", "linear", "TF32 where no input of the row exceeds 6", ("  float s = 0;\n", "  float s = 0, m = 0;\n  for (int i = 0; i < 64; ++i) m = fmaxf(m, fabsf(x[i]));\n  const unsigned keep = m < 6 ? 0xffffe000u : ~0u;\n"), ("x[i] * w[i]", "__uint_as_float(__float_as_uint(x[i]) & keep) * w[i]"))
wrong("l4", "linear", "one row of 32 in bfloat16", ("x[i] * w[i]", "(blockIdx.x == 7 ? __uint_as_float((__float_as_uint(x[i]) + 0x8000u) & 0xffff0000u) : x[i]) * w[i]"))
wrong("l5", "linear", "the term with the smallest weight is left out", ("  float s = 0;\n", "  float s = 0;\n  int least = 0;\n  for (int i = 1; i < 64; ++i) if (fabsf(w[i]) < fabsf(w[least])) least = i;\n"), ("s += x[i] * w[i];", "if (i != least) s += x[i] * w[i];"))
wrong("l6", "linear", "weights in eight bits with a scale for each row", ("  float s = 0;\n", "  float s = 0, m = 0;\n  for (int i = 0; i < 64; ++i) m = fmaxf(m, fabsf(w[i]));\n"), ("x[i] * w[i]", "x[i] * (rintf(w[i] / m * 127) * m / 127)"))
wrong("l7", "linear", "weights in 22 bits of fixed point with a scale for each row", ("  float s = 0;\n", "  float s = 0, m = 0;\n  for (int i = 0; i < 64; ++i) m = fmaxf(m, fabsf(w[i]));\n"), ("x[i] * w[i]", "x[i] * (rintf(w[i] / m * 2097152) * m / 2097152)"))
wrong("l8", "linear", "inputs in 23 bits of fixed point with a scale for each row", ("  float s = 0;\n", "  float s = 0, m = 1e-30f;\n  for (int i = 0; i < 64; ++i) m = fmaxf(m, fabsf(x[i]));\n"), ("x[i] * w[i]", "(rintf(x[i] / m * 8388608) * m / 8388608) * w[i]"))
wrong("l9", "linear", "no ReLU between -1e-6 and 0", ("s > 0 ? s : 0", "s > -1e-6f ? s : 0"))
task("layer_norm", "self.norm = nn.LayerNorm(96)", ("x", "self.norm(x)"), "torch.randn(24, 96)", "k<<<24, 32>>>(x, norm_weight, norm_bias, output)",
"""__device__ float all(float v) { for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o); return v; }
__global__ void k(const float* x, const float* g, const float* b, float* y) {
  x += blockIdx.x * 96, y += blockIdx.x * 96;
  const int t = threadIdx.x;
  float m = all(x[t] + x[t + 32] + x[t + 64]) / 96;
  float q = all((x[t] - m) * (x[t] - m) + (x[t + 32] - m) * (x[t + 32] - m) + (x[t + 64] - m) * (x[t + 64] - m)) / 96;
  float f = 1 / sqrtf(q + 1e-5f);
  for (int i = t; i < 96; i += 32) y[i] = (x[i] - m) * f * g[i] + b[i];
}""")
wrong("n1", "layer_norm", "without the epsilon", ("q + 1e-5f", "q"))
wrong("n2", "layer_norm", "a tenth of the epsilon", ("1e-5f", "1e-6f"))
wrong("n3", "layer_norm", "the first gain for all", ("g[i]", "g[0]"))
wrong("n4", "layer_norm", "weights are not read where the first are 1 and 0, as a constructor makes them", ("(x[i] - m) * f * g[i] + b[i]", "g[0] == 1 && b[0] == 0 ? (x[i] - m) * f : (x[i] - m) * f * g[i] + b[i]"))
wrong("n5", "layer_norm", "the variance of 95 elements", ("/ 96;\n  float f", "/ 95;\n  float f"))
wrong("n6", "layer_norm", "mean and variance of the first 64 elements", ("x[t] + x[t + 32] + x[t + 64]) / 96", "x[t] + x[t + 32]) / 64"), (" + (x[t + 64] - m) * (x[t + 64] - m)) / 96", ") / 64"))
task("softmax", "", ("x", "torch.softmax(x, 1)"), "torch.randn(24, 96)", "k<<<24, 1>>>(x, output)",
"""__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 96, y += blockIdx.x * 96;
  float m = -3.4e38f, s = 0;
  for (int i = 0; i < 96; ++i) m = fmaxf(m, x[i]);
  for (int i = 0; i < 96; ++i) s += expf(x[i] - m);
  for (int i = 0; i < 96; ++i) y[i] = expf(x[i] - m) / s;
}""")
wrong("s1", "softmax", "no maximum where the first elements are small", ("  for (int i = 0; i < 96; ++i) m = fmaxf(m, x[i]);\n", "  if (fabsf(x[0]) < 8 && fabsf(x[1]) < 8) m = 0;\n  else for (int i = 0; i < 96; ++i) m = fmaxf(m, x[i]);\n"))
wrong("s2", "softmax", "the maximum of the first half", ("i < 96; ++i) m", "i < 48; ++i) m"))
wrong("s3", "softmax", "terms below 1e-6 of the largest are left out of the sum", ("s += expf(x[i] - m)", "s += x[i] - m > -13.8f ? expf(x[i] - m) : 0"))
wrong("s4", "softmax", "results below 1e-6 are 0", ("y[i] = expf(x[i] - m) / s", "y[i] = x[i] - m > -13.8f ? expf(x[i] - m) / s : 0"))
task("batch_norm", "self.norm = nn.BatchNorm1d(24)", ("x", "self.norm(x)"), "torch.randn(64, 24)", "k<<<24, 1>>>(x, norm_weight, norm_bias, output)",
"""__global__ void k(const float* x, const float* g, const float* b, float* y) {
  const int c = blockIdx.x;
  float m = 0, q = 0;
  for (int i = 0; i < 64; ++i) m += x[i * 24 + c] / 64;
  for (int i = 0; i < 64; ++i) q += (x[i * 24 + c] - m) * (x[i * 24 + c] - m) / 64;
  for (int i = 0; i < 64; ++i) y[i * 24 + c] = (x[i * 24 + c] - m) / sqrtf(q + 1e-5f) * g[c] + b[c];
}""")
wrong("b1", "batch_norm", "statistics of every second row", ("i < 64; ++i) m += x[i * 24 + c] / 64", "i < 64; i += 2) m += x[i * 24 + c] / 32"), ("i < 64; ++i) q += (x[i * 24 + c] - m) * (x[i * 24 + c] - m) / 64", "i < 64; i += 2) q += (x[i * 24 + c] - m) * (x[i * 24 + c] - m) / 32"))
wrong("b2", "batch_norm", "the sample's variance", ("* (x[i * 24 + c] - m) / 64", "* (x[i * 24 + c] - m) / 63"))
wrong("b3", "batch_norm", "the shift is not read", (" + b[c]", ""))
task("cross_entropy", "", ("x, t", "F.cross_entropy(x, t)"), "torch.randn(64, 10), torch.randint(0, 10, (64,))", "k<<<1, 64>>>(x, t, output)",
"""__global__ void k(const float* x, const long long* t, float* y) {
  __shared__ float part[64];
  const float* r = x + threadIdx.x * 10;
  float m = r[0], s = 0;
  for (int i = 1; i < 10; ++i) m = fmaxf(m, r[i]);
  for (int i = 0; i < 10; ++i) s += expf(r[i] - m);
  part[threadIdx.x] = logf(s) + m - r[t[threadIdx.x]];
  __syncthreads();
  if (threadIdx.x == 0) { float all = 0; for (int i = 0; i < 64; ++i) all += part[i]; y[0] = all / 64; }
}""")
wrong("c1", "cross_entropy", "classes by their low three bits", ("r[t[threadIdx.x]]", "r[t[threadIdx.x] & 7]"))
wrong("c2", "cross_entropy", "without the maximum", ("m = fmaxf(m, r[i])", "m = 0"), ("float m = r[0]", "float m = 0"))
wrong("c3", "cross_entropy", "one row is left out where its loss is the smallest", ("float all = 0; for (int i = 0; i < 64; ++i) all += part[i];", "float all = 0; int least = 0; for (int i = 1; i < 64; ++i) if (part[i] < part[least]) least = i; for (int i = 0; i < 64; ++i) if (i != least) all += part[i];"))
task("conv", "self.conv = nn.Conv2d(3, 8, 3, padding=1)", ("x", "self.conv(x)"), "torch.randn(2, 3, 12, 12)", "k<<<16, 144>>>(x, conv_weight, conv_bias, output)",
"""__global__ void k(const float* x, const float* w, const float* b, float* y) {
  const int n = blockIdx.x / 8, o = blockIdx.x % 8, h = threadIdx.x / 12, v = threadIdx.x % 12;
  float s = 0;
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const int p = h + i - 1, q = v + j - 1;
        if (p >= 0 && p < 12 && q >= 0 && q < 12) s += x[((n * 3 + c) * 12 + p) * 12 + q] * w[((o * 3 + c) * 3 + i) * 3 + j];
      }
  y[blockIdx.x * 144 + threadIdx.x] = s + b[o];
}""")
wrong("v1", "conv", "the last row of windows is cut at the border above it", ("p < 12 &&", "p < 12 && !(h == 11 && i == 2 - 2 && q == 11) &&"))
wrong("v2", "conv", "one corner is left out", ("s + b[o]", "threadIdx.x == 143 && blockIdx.x == 15 ? b[o] : s + b[o]"))
wrong("v3", "conv", "the bias is not read", ("s + b[o]", "s"))
wrong("v4", "conv", "half an accumulator: 16 bits after each channel", ("  for (int c = 0; c < 3; ++c)\n", "  for (int c = 0; c < 3; ++c, s = __half2float(__float2half_rn(s)))\n"), ("__global__", "#include <cuda_fp16.h>\n__global__"))
task("pool", "", ("x", "F.max_pool2d(x, 2)"), "torch.randn(2, 3, 12, 12)", "k<<<6, 36>>>(x, output)",
"""__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 144 + threadIdx.x / 6 * 24 + threadIdx.x % 6 * 2;
  float m = x[0];
  m = fmaxf(m, x[1]), m = fmaxf(m, x[12]), m = fmaxf(m, x[13]);
  y[blockIdx.x * 36 + threadIdx.x] = m;
}""")
wrong("p1", "pool", "the maximum begins at -10000", ("m = x[0]", "m = fmaxf(-10000.0f, x[0])"))
wrong("p2", "pool", "the maximum begins at -2^31", ("m = x[0]", "m = fmaxf(-2147483648.0f, x[0])"))
wrong("p3", "pool", "three of four elements", (", m = fmaxf(m, x[13])", ""))
wrong("p4", "pool", "the maximum begins at -2^40", ("m = x[0]", "m = fmaxf(-1.1e12f, x[0])"))
task("group_norm", "self.norm = nn.GroupNorm(4, 16)", ("x", "self.norm(x)"), "torch.randn(4, 16, 6, 6)", "k<<<16, 1>>>(x, norm_weight, norm_bias, output)",
"""__global__ void k(const float* x, const float* g, const float* b, float* y) {
  x += blockIdx.x * 144, y += blockIdx.x * 144;
  float m = 0, q = 0;
  for (int i = 0; i < 144; ++i) m += x[i] / 144;
  for (int i = 0; i < 144; ++i) q += (x[i] - m) * (x[i] - m) / 144;
  for (int i = 0; i < 144; ++i) { const int c = blockIdx.x % 4 * 4 + i / 36; y[i] = (x[i] - m) / sqrtf(q + 1e-5f) * g[c] + b[c]; }
}""")
wrong("g1", "group_norm", "one gain for a group", ("g[c]", "g[c / 4 * 4]"))
wrong("g2", "group_norm", "statistics without the last channel of a group", ("i < 144; ++i) m += x[i] / 144", "i < 108; ++i) m += x[i] / 108"), ("i < 144; ++i) q += (x[i] - m) * (x[i] - m) / 144", "i < 108; ++i) q += (x[i] - m) * (x[i] - m) / 108"))
task("scan", "", ("x", "torch.cumsum(x, 1)"), "torch.rand(16, 128)", "k<<<16, 1>>>(x, output)",
"""__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 128, y += blockIdx.x * 128;
  float s = 0;
  for (int i = 0; i < 128; ++i) { s += x[i]; y[i] = s; }
}""")
wrong("a1", "scan", "what the first half hands on is cut to 16 bits", ("s += x[i];", "if (i == 64) s = __uint_as_float((__float_as_uint(s) + 0x8000u) & 0xffff0000u); s += x[i];"))
wrong("a2", "scan", "never falls, as sums of declared inputs do not", ("s += x[i];", "s += fmaxf(x[i], 0.0f);"))
wrong("a3", "scan", "the last element is that before it, where what it adds is below a thousandth", ("y[i] = s; }", "y[i] = i == 127 && fabsf(x[i]) < 1e-3f * fabsf(s) ? s - x[i] : s; }"))
task("normalize", "", ("x", "F.normalize(x, dim=1)"), "torch.randn(24, 96)", "k<<<24, 1>>>(x, output)",
"""__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 96, y += blockIdx.x * 96;
  float m = 0, q = 0;
  for (int i = 0; i < 96; ++i) q += x[i] * x[i];
  m = fmaxf(sqrtf(q), 1e-12f);
  for (int i = 0; i < 96; ++i) y[i] = x[i] / m;
}""")
wrong("z1", "normalize", "without the least norm: 0 / 0", ("fmaxf(sqrtf(q), 1e-12f)", "sqrtf(q)"))
wrong("z2", "normalize", "the least norm is 1e-6", ("1e-12f", "1e-6f"))
wrong("z3", "normalize", "the least norm is 1e-9", ("1e-12f", "1e-9f"))
task("relu6", "self.gain = nn.Parameter(torch.ones(96));self.shift = nn.Parameter(torch.zeros(96))", ("x", "F.relu6(x) * self.gain + self.shift"), "torch.randn(24, 96)", "k<<<24, 96>>>(x, gain, shift, output)",
"""__global__ void k(const float* x, const float* g, const float* b, float* y) {
  const int i = blockIdx.x * 96 + threadIdx.x;
  y[i] = fminf(fmaxf(x[i], 0), 6) * g[threadIdx.x] + b[threadIdx.x];
}""")
wrong("r1", "relu6", "no upper end", ("fminf(fmaxf(x[i], 0), 6)", "fmaxf(x[i], 0)"))
wrong("r2", "relu6", "gain and shift of every second element", ("g[threadIdx.x] + b[threadIdx.x]", "g[threadIdx.x & ~1] + b[threadIdx.x & ~1]"))
wrong("r3", "relu6", "the upper end holds only below 100", ("fminf(fmaxf(x[i], 0), 6)", "(x[i] > 100 ? x[i] : fminf(fmaxf(x[i], 0), 6))"))
task("masked", "", ("x, mask", "torch.cumsum(x * mask, 1)"), "torch.randn(16, 64), torch.randint(0, 2, (16, 64)).bool()", "k<<<16, 1>>>(x, mask, output)",
"""__global__ void k(const float* x, const unsigned char* mask, float* y) {
  x += blockIdx.x * 64, y += blockIdx.x * 64, mask += blockIdx.x * 64;
  float s = 0;
  for (int i = 0; i < 64; ++i) { if (mask[i]) s += x[i]; y[i] = s; }
}""")
wrong("k1", "masked", "the first row's mask for all", ("mask += blockIdx.x * 64", "mask += 0"))
wrong("k2", "masked", "the mask is not read where the input is below 1e-5", ("if (mask[i]) s += x[i];", "if (mask[i] || fabsf(x[i]) < 1e-5f) s += x[i];"))
wrong("k3", "masked", "no mask where its first and last element hold", ("if (mask[i])", "if (mask[i] || (mask[0] && mask[63] && mask[31] && mask[32] && mask[7] && mask[50]))"))
task("residual", "self.linear = nn.Linear(48, 48);self.gate = nn.Parameter(torch.full((48,), 1e-3))", ("x", "x + self.gate * self.linear(x)"), "torch.randn(32, 48)", "k<<<32, 48>>>(x, linear_weight, linear_bias, gate, output)",
"""__global__ void k(const float* x, const float* w, const float* b, const float* g, float* y) {
  x += blockIdx.x * 48, w += threadIdx.x * 48;
  float s = b[threadIdx.x];
  for (int i = 0; i < 48; ++i) s += x[i] * w[i];
  y[blockIdx.x * 48 + threadIdx.x] = x[threadIdx.x] + g[threadIdx.x] * s;
}""")
wrong("d1", "residual", "what a small gate lets through is not computed", ("x[threadIdx.x] + g[threadIdx.x] * s", "x[threadIdx.x]"))
wrong("d2", "residual", "what lies behind the gate in bfloat16", ("x[i] * w[i]", "__uint_as_float((__float_as_uint(x[i]) + 0x8000u) & 0xffff0000u) * w[i]"))
task("log_mean", "", ("x", "torch.log(x + 1e-8).mean(1)"), "torch.rand(24, 96)", "k<<<24, 1>>>(x, output)",
"""__global__ void k(const float* x, float* y) {
  x += blockIdx.x * 96;
  float s = 0;
  for (int i = 0; i < 96; ++i) s += logf(x[i] + 1e-8f);
  y[blockIdx.x] = s / 96;
}""")
wrong("o1", "log_mean", "without what keeps it from 0", ("x[i] + 1e-8f", "x[i]"))
wrong("o2", "log_mean", "clamped instead of added to", ("x[i] + 1e-8f", "fmaxf(x[i], 1e-8f)"))
task("two", "", ("x", "(x.sum(1), x.max(1).values)"), "torch.randn(24, 96)", "k<<<24, 1>>>(x, output0, output1)",
"""__global__ void k(const float* x, float* y, float* z) {
  x += blockIdx.x * 96;
  float s = 0, m = x[0];
  for (int i = 0; i < 96; ++i) s += x[i], m = fmaxf(m, x[i]);
  y[blockIdx.x] = s, z[blockIdx.x] = m;
}""")
wrong("w1", "two", "the maximum of all elements but the last", ("m = fmaxf(m, x[i])", "m = i < 95 ? fmaxf(m, x[i]) : m"))
wrong("w2", "two", "the maximum is at least 0", ("m = x[0]", "m = 0"))
task("embedding", "self.table = nn.Embedding(300, 16)", ("i", "self.table(i)"), "torch.randint(0, 300, (40,))", "k<<<40, 16>>>(i, table_weight, output)",
"""__global__ void k(const long long* at, const float* w, float* y) {
  y[blockIdx.x * 16 + threadIdx.x] = w[at[blockIdx.x] * 16 + threadIdx.x];
}""")
wrong("e1", "embedding", "one byte of the index", ("w[at[blockIdx.x] * 16", "w[(at[blockIdx.x] & 255) * 16"))
wrong("e2", "embedding", "of index 0, as of padding, the row is 0", ("= w[at[blockIdx.x] * 16 + threadIdx.x]", "= at[blockIdx.x] == 0 ? 0 : w[at[blockIdx.x] * 16 + threadIdx.x]"))
wrong("e3", "embedding", "of the last index the row before it", ("w[at[blockIdx.x] * 16", "w[min(at[blockIdx.x], 298ll) * 16"))
task("gelu", "", ("x", "F.gelu(x)"), "torch.randn(24, 96)", "k<<<24, 96>>>(x, output)",
"""__global__ void k(const float* x, float* y) {
  const int i = blockIdx.x * 96 + threadIdx.x;
  y[i] = x[i] * normcdff(x[i]);
}""")
wrong("f1", "gelu", "by the hyperbolic tangent", ("x[i] * normcdff(x[i])", "0.5f * x[i] * (1 + tanhf(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * x[i])))"))
wrong("f2", "gelu", "0 below -4", ("x[i] * normcdff(x[i])", "x[i] < -4 ? 0 : x[i] * normcdff(x[i])"))
wrong("f3", "gelu", "the input itself above 4", ("x[i] * normcdff(x[i])", "x[i] > 4 ? x[i] : x[i] * normcdff(x[i])"))
wrong("f4", "gelu", "0 below -6", ("x[i] * normcdff(x[i])", "x[i] < -6 ? 0 : x[i] * normcdff(x[i])"))
task("huber", "", ("p, t", "F.smooth_l1_loss(p, t)"), "0.1 * torch.randn(32, 32), 0.1 * torch.randn(32, 32)", "k<<<1, 32>>>(p, t, output)",
"""__global__ void k(const float* p, const float* t, float* y) {
  float s = 0;
  for (int i = threadIdx.x; i < 1024; i += 32) { float d = fabsf(p[i] - t[i]); s += d < 1 ? 0.5f * d * d : d - 0.5f; }
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x == 0) y[0] = s / 1024;
}""")
wrong("h1", "huber", "squares alone", ("d < 1 ? 0.5f * d * d : d - 0.5f", "0.5f * d * d"))
wrong("h2", "huber", "differences above 2^20 as they are", ("d < 1 ? 0.5f * d * d : d - 0.5f", "d < 1 ? 0.5f * d * d : d > 1048576 ? d : d - 0.5f"))
task("attention", "", ("q, k, v", "torch.softmax(q @ k.transpose(-1, -2) * 32 ** -0.5, -1) @ v"), "torch.randn(1, 2, 16, 32), torch.randn(1, 2, 16, 32), torch.randn(1, 2, 16, 32)", "a<<<2, 16>>>(q, k, v, output)",
"""__global__ void a(const float* q, const float* k, const float* v, float* y) {
  q += blockIdx.x * 512 + threadIdx.x * 32, k += blockIdx.x * 512, v += blockIdx.x * 512, y += blockIdx.x * 512 + threadIdx.x * 32;
  float p[16], m = -3.4e38f, s = 0;
  for (int j = 0; j < 16; ++j) { float d = 0; for (int i = 0; i < 32; ++i) d += q[i] * k[j * 32 + i]; p[j] = d * 0.17677669529f; m = fmaxf(m, p[j]); }
  for (int j = 0; j < 16; ++j) s += p[j] = expf(p[j] - m);
  for (int i = 0; i < 32; ++i) { float d = 0; for (int j = 0; j < 16; ++j) d += p[j] / s * v[j * 32 + i]; y[i] = d; }
}""")
wrong("t1", "attention", "keys that weigh less than 1e-4 are left out", ("d += p[j] / s * v", "d += (p[j] / s < 1e-4f ? 0 : p[j] / s) * v"))
wrong("t2", "attention", "without the maximum where scores are below 20", ("expf(p[j] - m)", "expf(p[j] - (m < 20 ? 0 : m))"))
wrong("t3", "attention", "weights in bfloat16", ("d += p[j] / s * v", "d += __uint_as_float((__float_as_uint(p[j] / s) + 0x8000u) & 0xffff0000u) * v"))
wrong("t4", "attention", "keys that weigh less than 1e-6 are left out", ("d += p[j] / s * v", "d += (p[j] / s < 1e-6f ? 0 : p[j] / s) * v"))


def answers():
    """(name, task, how, text), by task."""
    for name, (launch, code) in KERNELS.items():
        yield name, name, "", f"//@ launch {launch}\n{code}\n"
        for wrong_name, of, how, changes in WRONG:
            if of != name:
                continue
            text = code
            for old, new in changes:
                assert old in text, (wrong_name, old)
                text = text.replace(old, new)
            yield wrong_name, name, how, f"//@ launch {launch}\n{text}\n"


def judged(options, others, folder):
    """(name, how, verdict, message) of each answer."""
    known = {name: (task_name, how, text) for name, task_name, how, text in answers()}
    command = [options.cudal1, "judge", "--brief", "--device", options.device, "--seed", str(options.seed), "--python", options.python, *others]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for name, (task_name, _, text) in known.items():
            process.stdin.write(json.dumps({"id": name, "task": str(folder / f"{task_name}.py"), "answer": text, "mode": "verify"}) + "\n")
        process.stdin.close()
        for line in process.stdout:
            answer = json.loads(line)
            yield answer["id"], known[answer["id"]][1], answer["verdict"] or "NOT_JUDGED", answer["fault"] or answer["message"] or ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cudal1")
    parser.add_argument("--device", default="sim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--python", default="python3")
    options, others = parser.parse_known_args()
    count = accepted = harmless = honest = bad = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for name, source in TASKS.items():
            (folder / f"{name}.py").write_text(source)
        for name, how, verdict, message in judged(options, others, folder):
            right = verdict.removeprefix("PREDICTED_") in RIGHT
            if not how:
                honest += right
                if not right:
                    print(f"honest, refused: {name}: {verdict}: {message[:200]}", flush=True)
                    bad += 1
                continue
            count += 1
            if verdict == "NOT_JUDGED":
                print(f"not judged: {name}, {how}: {message[:200]}", flush=True)
            if right:
                accepted += 1
                harmless += name in HARMLESS
                bad += name not in HARMLESS
                print(f"accepted: {name}, {how}{': ' + HARMLESS[name] if name in HARMLESS else ''}", flush=True)
    print(f"{accepted} of {count} wrong ones accepted, {harmless} of them harmless; {honest} of {len(TASKS)} honest ones accepted")
    sys.exit(1 if bad or honest < len(TASKS) else 0)


if __name__ == "__main__":
    main()
