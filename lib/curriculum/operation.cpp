// SPDX-License-Identifier: Apache-2.0
#include "curriculum/operation.hpp"

namespace cudal1::curriculum {

namespace {

// What spoils a line: a second operation that changes nothing, gives a constant, or cannot be told from rounding.
constexpr Operation table[] = {
    {"relu", "torch.relu({v})", "fmaxf(v, 0.0f)", Form::pointwise, " relu abs leaky_relu "},
    {"sigmoid", "torch.sigmoid({v})", "1.0f / (1.0f + expf(-v))", Form::pointwise, " relu abs leaky_relu sigmoid "},
    {"tanh", "torch.tanh({v})", "tanhf(v)", Form::pointwise, " tanh "},
    {"silu", "F.silu({v})", "v / (1.0f + expf(-v))", Form::pointwise, " "},
    {"gelu", "F.gelu({v})", "0.5f * v * (1.0f + erff(v * 0.70710678f))", Form::pointwise, " "},
    {"leaky_relu", "F.leaky_relu({v}, 0.1)", "v > 0.0f ? v : 0.1f * v", Form::pointwise, " "},
    {"softplus", "F.softplus({v})", "v > 20.0f ? v : log1pf(expf(v))", Form::pointwise, " relu abs leaky_relu "},
    {"abs", "torch.abs({v})", "fabsf(v)", Form::pointwise, " relu abs leaky_relu "},
    {"square", "({v}) ** 2", "v * v", Form::pointwise, " relu abs leaky_relu square "},
    {"half", "({v}) * 0.5", "v * 0.5f", Form::pointwise, " half shift "},
    {"shift", "({v}) + 1.0", "v + 1.0f", Form::pointwise, " half shift softmax log_softmax layer_norm "},
    {"clamp", "torch.clamp({v}, -1.0, 1.0)", "fminf(fmaxf(v, -1.0f), 1.0f)", Form::pointwise, " clamp tanh "},
    {"add", "({v}) + {w}", "v + w", Form::with_matrix, " "},
    {"subtract", "({v}) - {w}", "v - w", Form::with_matrix, " "},
    {"multiply", "({v}) * {w}", "v * w", Form::with_matrix, " "},
    {"maximum", "torch.maximum({v}, {w})", "fmaxf(v, w)", Form::with_matrix, " "},
    {"add_row", "({v}) + {w}", "v + w", Form::with_row, " "},
    {"scale_row", "({v}) * {w}", "v * w", Form::with_row, " "},
    {"softmax", "torch.softmax({v}, dim=1)",
     "float most = row(0), sum = 0.0f;\n  for (int i = 1; i < C; ++i) most = fmaxf(most, row(i));\n"
     "  for (int i = 0; i < C; ++i) sum += expf(row(i) - most);\n  for (int i = 0; i < C; ++i) out_[start + i] = expf(row(i) - most) / sum;",
     Form::row, " relu abs leaky_relu square sigmoid tanh clamp softplus softmax sum mean "},
    {"log_softmax", "torch.log_softmax({v}, dim=1)",
     "float most = row(0), sum = 0.0f;\n  for (int i = 1; i < C; ++i) most = fmaxf(most, row(i));\n"
     "  for (int i = 0; i < C; ++i) sum += expf(row(i) - most);\n  float shift = most + logf(sum);\n  for (int i = 0; i < C; ++i) out_[start + i] = row(i) - shift;",
     Form::row, " relu sigmoid clamp softmax log_softmax "},
    {"layer_norm", "F.layer_norm({v}, ({C},))",
     "float sum = 0.0f, squares = 0.0f;\n  for (int i = 0; i < C; ++i) sum += row(i);\n  float mean = sum / C;\n"
     "  for (int i = 0; i < C; ++i) squares += (row(i) - mean) * (row(i) - mean);\n  float scale = rsqrtf(squares / C + 1e-5f);\n"
     "  for (int i = 0; i < C; ++i) out_[start + i] = (row(i) - mean) * scale;",
     Form::row, " layer_norm sum mean half shift "},
    {"cumsum", "torch.cumsum({v}, dim=1)", "float sum = 0.0f;\n  for (int i = 0; i < C; ++i) {\n    sum += row(i);\n    out_[start + i] = sum;\n  }", Form::row,
     " cumsum sigmoid tanh clamp softmax "},
    {"sum", "torch.sum({v}, dim=1)", "float sum = 0.0f;\n  for (int i = 0; i < C; ++i) sum += row(i);\n  out_[t] = sum;", Form::row_total, " "},
    {"mean", "torch.mean({v}, dim=1)", "float sum = 0.0f;\n  for (int i = 0; i < C; ++i) sum += row(i);\n  out_[t] = sum / C;", Form::row_total, " "},
    {"amax", "torch.amax({v}, dim=1)", "float most = row(0);\n  for (int i = 1; i < C; ++i) most = fmaxf(most, row(i));\n  out_[t] = most;", Form::row_total, " "},
    {"logsumexp", "torch.logsumexp({v}, dim=1)",
     "float most = row(0), sum = 0.0f;\n  for (int i = 1; i < C; ++i) most = fmaxf(most, row(i));\n"
     "  for (int i = 0; i < C; ++i) sum += expf(row(i) - most);\n  out_[t] = most + logf(sum);",
     Form::row_total, " "},
    {"column_sum", "torch.sum({v}, dim=0)", "sum += v;", Form::column_total, " "},
    {"transpose", "({v}).t()", "v", Form::transposed, " transpose "},
    {"matmul", "({v}) @ {w}", "", Form::product, " matmul "},
};

}  // namespace

std::span<const Operation> operations() { return table; }

}  // namespace cudal1::curriculum
