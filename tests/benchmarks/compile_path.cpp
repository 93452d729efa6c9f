// SPDX-License-Identifier: Apache-2.0
// What the compile child costs: one small kernel through Compiler (warm child, sandbox, no cache) against the same NVRTC
// call in this process. The two take turns, because a shared machine's speed changes by the minute. Prints both medians
// and their ratio; exit code 1 when the ratio is above 1.5.
//   bench_compile_path [rounds]
#include "base/clock.hpp"
#include "base/error.hpp"
#include "compile/assemble.hpp"
#include "compile/compiler.hpp"
#include "compile/nvrtc.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace cudal1;

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The number keeps every source different from the one before.
compile::Request request(int number) {
  compile::Request one;
  one.name = "scale.cu";
  one.prelude = "constexpr int BLOCK = 256;\n";
  one.source = "__global__ void scale(const float* A, const float* B, float* C, int N, int M) {\n"
               "  __shared__ float a;\n  if (threadIdx.x == 0) a = A[blockIdx.y];\n  __syncthreads();\n"
               "  int column = blockIdx.x * BLOCK + threadIdx.x;\n"
               "  if (column < M) C[size_t(blockIdx.y) * M + column] = a * B[size_t(blockIdx.y) * M + column] + " +
               std::to_string(number) + ";\n}\n";
  one.kernels = {"scale"};
  return one;
}

int measure(int rounds, const base::Program& worker) {
  compile::CompilerOptions options;
  options.worker = worker;
  compile::Compiler compiler(options);
  const compile::NvrtcIdentity identity = compile::find_nvrtc();
  const compile::Nvrtc nvrtc(identity.library, identity.builtins);
  std::vector<double> through, direct, ratios;
  for (int i = -3; i < rounds; ++i) {
    double seconds[2];
    for (int turn = 0; turn < 2; ++turn) {
      const bool child = (turn + i) % 2 == 0;
      const compile::Request one = request(2 * i + turn + 10);
      const base::Seconds start = base::now();
      if (child) {
        if (!compiler.compile(one)) return 2;
      } else {
        if (!nvrtc.compile(compile::job_of(one, compile::names_of(one), identity)).compiled) return 2;
      }
      seconds[child ? 0 : 1] = (base::now() - start).count();
    }
    if (i < 0) continue;  // both warm up
    through.push_back(seconds[0]);
    direct.push_back(seconds[1]);
    ratios.push_back(seconds[0] / seconds[1]);
  }
  std::printf("through the child %.1f ms, direct %.1f ms, ratio %.3f (medians of %d)\n", median(through) * 1e3, median(direct) * 1e3,
              median(ratios), rounds);
  return median(ratios) <= 1.5 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "worker") return compile::worker_main();
    return measure(argc > 1 ? std::max(1, std::atoi(argv[1])) : 50, {base::own_executable(), {"worker"}});
  } catch (const base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
