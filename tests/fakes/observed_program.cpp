// SPDX-License-Identifier: Apache-2.0
// Launches three times scale and twice add, on the fake GPU. Words: "write" writes memory between launches, "capture" makes
// the first launch part of a graph, "more" launches scale a thousand times, "many" ten thousand times, "eager" ends with 7 unless
// kernels are to be loaded when they are needed.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>

int main(int argc, char** argv) {
  const auto said = [&](const char* word) { return argc > 1 && std::strcmp(argv[1], word) == 0; };
  const char* const loading = std::getenv("CUDA_MODULE_LOADING");
  if (said("eager") && (loading == nullptr || std::strcmp(loading, "LAZY") != 0)) return 7;
  cuInit(0);
  CUdeviceptr x = 0, y = 0;
  cuMemAlloc(&x, 64);
  cuMemAlloc(&y, 96);
  auto* const values = reinterpret_cast<float*>(x);
  for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(i), reinterpret_cast<float*>(y)[i + 4] = 1;
  CUfunction scale = nullptr, add = nullptr;
  cuModuleGetFunction(&scale, nullptr, "_Z5scalePffi");
  cuModuleGetFunction(&add, nullptr, "_ZN2ns3addIfEEvPT_PKS1_");
  float by = 0.25F;
  int n = 16;
  CUdeviceptr from = y + 16;
  void* scaled[] = {&x, &by, &n};
  void* added[] = {&x, &from};
  auto* const stream = reinterpret_cast<CUstream>(said("capture") ? 7 : 0);
  for (int round = 0; round < (said("many") ? 10'000 : said("more") ? 1000 : 3); ++round) cuLaunchKernel(scale, 2, 1, 1, 8, 1, 1, 0, stream, scaled, nullptr);
  if (said("write")) values[3] = 100;
  for (int round = 0; round < 2; ++round) cuLaunchKernel(add, 1, 1, 1, 16, 1, 1, 0, nullptr, added, nullptr);
  std::printf("ended\n");
  return 0;
}
