// SPDX-License-Identifier: Apache-2.0
// Sums of wgmma on a GPU beside the simulator's, bit for bit.
//   products_on_gpu [--tiles N] [--write FILE | --read FILE]
// --write keeps what the GPU computed, --read takes that in place of a GPU (with the same number of tiles).
#include "product_case.hpp"

#include "cuda/cuda.hpp"

#include <cstdio>
#include <fstream>
#include <memory>

#include <fmt/format.h>

using namespace cudal1;
using namespace cudal1::sim::test;

int main(int argc, char** argv) {
  std::size_t tiles = 96;
  std::ifstream kept;
  std::ofstream keeps;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--tiles") tiles = std::stoull(argv[i + 1]);
    if (option == "--read") kept.open(argv[i + 1], std::ios::binary);
    if (option == "--write") keeps.open(argv[i + 1], std::ios::binary);
  }
  std::unique_ptr<device::Device> gpu;
  if (!kept.is_open()) {
    const auto present = cuda::inventory();
    if (present.devices.empty()) {
      fmt::print("skipped: {}\n", present.problem);
      return 77;
    }
    gpu = cuda::open(0);
    if (gpu->facts().major != 9) {
      fmt::print("skipped: {} has no wgmma\n", gpu->facts().name);
      return 77;
    }
  }
  auto simulator = sim::open({.gpu = "H200", .threads = 4});
  const std::string ptx = text_of("tests/ptx/hopper/products.ptx");
  std::size_t wrong_all = 0, sums_all = 0;
  fmt::print("{:20} {:>10} {:>10}  wrong by kind of numbers: alike, sizes, bits, zeros, small, one sign\n", "kernel", "sums", "wrong");
  for (const ProductCase& one : product_cases()) {
    const ProductTiles made = product_tiles(one, tiles, 17);
    std::string problem;
    const auto expected = run_products(*simulator, ptx, one, made, tiles, problem);
    std::vector<float> got(made.c.size());
    if (gpu) got = run_products(*gpu, ptx, one, made, tiles, problem);
    else kept.read(reinterpret_cast<char*>(got.data()), static_cast<std::streamsize>(4 * got.size()));
    keeps.write(reinterpret_cast<const char*>(got.data()), static_cast<std::streamsize>(4 * got.size()));
    if (!problem.empty() || got.size() != expected.size()) {
      fmt::print("{:20} {}\n", one.kernel, problem);
      ++wrong_all;
      continue;
    }
    std::size_t wrong[6] = {}, all = 0, shown = 0;
    const std::size_t size = 64 * one.columns;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (std::bit_cast<std::uint32_t>(expected[k]) == std::bit_cast<std::uint32_t>(got[k])) continue;
      ++wrong[k / size % 6], ++all;
      if (++shown > 3) continue;
      fmt::print("  {} tile {} row {} column {}: GPU {:#010x} {:.9g}, simulator {:#010x} {:.9g}, addend {:.9g}\n", one.kernel, k / size, k % size / one.columns,
                 k % one.columns, std::bit_cast<std::uint32_t>(got[k]), got[k], std::bit_cast<std::uint32_t>(expected[k]), expected[k], made.c[k]);
    }
    fmt::print("{:20} {:10} {:10}  {} {} {} {} {} {}\n", one.kernel, expected.size(), all, wrong[0], wrong[1], wrong[2], wrong[3], wrong[4], wrong[5]);
    wrong_all += all, sums_all += expected.size();
    std::fflush(stdout);
  }
  fmt::print("{:20} {:10} {:10}\n", "all", sums_all, wrong_all);
  return wrong_all != 0;
}
