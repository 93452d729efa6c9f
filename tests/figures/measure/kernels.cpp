// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace figures {

namespace {

std::string header(long elements, long read) {
  return fmt::format("//@ task    work\n//@ size    N = {}, E = {}\n//@ check   N = 1000, E = 100\n"
                     "//@ input   X: float32[N + E]\n//@ output  Y: float32[N]\n",
                     elements, read);
}

}  // namespace

Kernel example(const std::string& name) {
  const char* folder = std::getenv("CUDAL1_EXAMPLES");
  const std::string source = base::read_file((folder != nullptr ? folder : CUDAL1_SOURCE_DIR "/examples") + ("/" + name + ".cu"));
  return {name, source, source};
}

Kernel traffic(long elements, double percent) {
  const long extra = std::max(std::lround(static_cast<double>(elements) * percent / 100), 1L);
  const std::string task = header(elements, extra) +
                           "//@ launch  plain<<<ceil_div(N, 256), 256>>>(X, Y, N)\n"
                           "__global__ void plain(const float* X, float* Y, int N) {\n"
                           "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < N) Y[i] = 2 * X[i];\n}\n";
  const std::string more = "//@ scratch S: float32[E]\n//@ launch  more<<<ceil_div(N + E, 256), 256>>>(X, Y, S, N, E)\n"
                           "__global__ void more(const float* X, float* Y, float* S, int N, int E) {\n"
                           "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < N) Y[i] = 2 * X[i];\n  else if (i < N + E) S[i - N] = 2 * X[i];\n}\n";
  return {fmt::format("traffic_{}k", elements >> 10), task, percent == 0 ? task : more};
}

Kernel arithmetic(long steps, double percent) {
  const auto body = [](long count) {
    return fmt::format("//@ launch  chain<<<ceil_div(N, 256), 256>>>(X, Y, N)\n"
                       "__global__ void chain(const float* X, float* Y, int N) {{\n"
                       "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i >= N) return;\n  float y = X[i], z = y;\n"
                       "#pragma unroll 1\n  for (int k = 0; k < {}; ++k) {{ z = fmaf(z, 0.5f, 0.25f); z = fmaf(z, 0.5f, 0.25f);"
                       " z = fmaf(z, 0.5f, 0.25f); z = fmaf(z, 0.5f, 0.25f); }}\n"
                       "  Y[i] = y + (z > 2 ? 1.0f : 0.0f);\n}}\n", count);
  };
  const std::string task = header(1 << 20, 1) + body(steps);
  return {fmt::format("arithmetic_{}", steps), task,
          percent == 0 ? task : body(std::lround(static_cast<double>(steps) * (1 + percent / 100)))};
}

std::vector<Kernel> identical_kernels() {
  return {traffic(1 << 14, 0), traffic(1 << 20, 0), traffic(1 << 22, 0), arithmetic(160, 0), example("rms_norm"),
          example("gelu_bias"), example("transpose"), example("row_sum"), example("argmax"), arithmetic(12000, 0),
          arithmetic(22000, 0)};
}

base::Seconds limit() {
  const char* given = std::getenv("CUDAL1_FIGURE_LIMIT");
  return base::Seconds(given != nullptr ? std::atof(given) : 120);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace figures
