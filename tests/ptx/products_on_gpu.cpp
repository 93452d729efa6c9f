// SPDX-License-Identifier: Apache-2.0
// Sums of wgmma on a GPU beside the simulator's, bit for bit: all numbers of columns, all floating types, A from shared memory and from
// registers, six kinds of numbers; and the products of hopper.cuh in tests/ptx/hopper/products.cu.
//   products_on_gpu [--tiles N | --products N] [--only TEXT] [--write FILE | --read FILE]
// Each of the 654 kinds of product computes N tiles; with --products all kinds together compute at least N, with about as many sums of
// each number of columns. --only takes those whose name holds TEXT. --write keeps what the GPU computed, --read takes that in place of a
// GPU (with the same tiles and names).
#include "product_kernel.hpp"

#include "cuda/cuda.hpp"

#include <cstdio>
#include <deque>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <thread>

#include <fmt/format.h>

using namespace cudal1;
using namespace cudal1::sim::test;

namespace {

struct Options {
  std::size_t tiles = 12, products = 0;
  std::string only;
  std::ifstream kept;
  std::ofstream keeps;
};

// What the simulator makes of one kind of product.
struct Simulated {
  ProductTiles tiles;
  std::vector<float> sums;
  std::string problem;
};

std::string ptx_of(const ProductCase& one) { return one.other.empty() ? text_of("tests/ptx/hopper/products.ptx") : product_kernel(one); }

Simulated simulate(const ProductCase& one, std::size_t tiles) {
  Simulated result{product_tiles(one, tiles, 17), {}, ""};
  const auto simulator = sim::open({.gpu = "H200", .threads = 1});
  result.sums = run_products(*simulator, ptx_of(one), one, result.tiles, tiles, result.problem);
  return result;
}

struct Count {
  std::size_t products = 0, sums = 0, wrong = 0, by_numbers[6] = {};
};

void compare(const ProductCase& one, const Simulated& expected, const std::vector<float>& got, Count& count) {
  const std::size_t size = 64 * one.columns;
  std::size_t shown = 0;
  for (std::size_t k = 0; k < expected.sums.size(); ++k) {
    const auto ours = std::bit_cast<std::uint32_t>(expected.sums[k]), theirs = std::bit_cast<std::uint32_t>(got[k]);
    if (ours == theirs) continue;
    ++count.by_numbers[k / size % 6], ++count.wrong;
    if (++shown <= 2)
      fmt::print("  {} tile {} row {} column {}: GPU {:#010x} {:.9g}, simulator {:#010x} {:.9g}, addend {:.9g}\n", one.kernel, k / size, k % size / one.columns, k % one.columns, theirs, got[k],
                 ours, expected.sums[k], expected.tiles.c[k]);
  }
  count.products += got.size() / size, count.sums += got.size();
}

// How many tiles each case computes.
std::vector<std::size_t> tiles_of(const std::vector<ProductCase>& cases, const Options& options) {
  double shares = 0;
  for (const ProductCase& one : cases) shares += 1.0 / static_cast<double>(one.columns);
  std::vector<std::size_t> tiles;
  for (const ProductCase& one : cases)
    tiles.push_back(options.products ? static_cast<std::size_t>(std::ceil(static_cast<double>(options.products) / shares / static_cast<double>(one.columns))) : options.tiles);
  return tiles;
}

// Null, with the reason on the output, where there is no GPU that has wgmma.
std::unique_ptr<device::Device> hopper() {
  const auto present = cuda::inventory();
  if (present.devices.empty()) return fmt::print("skipped: {}\n", present.problem), nullptr;
  auto gpu = cuda::open(0);
  if (gpu->facts().major != 9) return fmt::print("skipped: {} has no wgmma\n", gpu->facts().name), nullptr;
  return gpu;
}

int run(Options options) {
  std::unique_ptr<device::Device> gpu;
  if (!options.kept.is_open() && !(gpu = hopper())) return 77;
  std::vector<ProductCase> cases;
  for (const auto& list : {all_product_cases(), product_cases()})
    for (const ProductCase& one : list)
      if (one.kernel.find(options.only) != std::string::npos) cases.push_back(one);
  if (cases.empty()) return fmt::print("no kind of product has \"{}\" in its name\n", options.only), 1;
  const std::vector<std::size_t> tiles = tiles_of(cases, options);
  // The simulator is ahead of the GPU by as many cases as there are threads.
  std::deque<std::future<Simulated>> ahead;
  std::size_t next = 0;
  const auto begin_next = [&] {
    if (next < cases.size()) ahead.push_back(std::async(std::launch::async, simulate, cases[next], tiles[next])), ++next;
  };
  for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()); ++i) begin_next();
  std::map<std::string, Count> counts;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const ProductCase& one = cases[i];
    const Simulated expected = ahead.front().get();
    ahead.pop_front();
    begin_next();
    std::string problem = expected.problem;
    std::vector<float> got(expected.tiles.c.size());
    if (gpu) got = run_products(*gpu, ptx_of(one), one, expected.tiles, tiles[i], problem);
    else if (!options.kept.read(reinterpret_cast<char*>(got.data()), static_cast<std::streamsize>(4 * got.size()))) problem = "is not in the file that --read names";
    options.keeps.write(reinterpret_cast<const char*>(got.data()), static_cast<std::streamsize>(4 * got.size()));
    Count& count = counts[one.kernel.substr(0, one.kernel.rfind('_'))];
    if (problem.empty()) compare(one, expected, got, count);
    else fmt::print("{} {}\n", one.kernel, problem), ++count.wrong;
    std::fflush(stdout);
  }
  fmt::print("{:28} {:>9} {:>12} {:>8}  wrong by kind of numbers: alike, sizes, bits, zeros, small, one sign\n", "kind", "products", "sums", "wrong");
  Count all;
  for (const auto& [kind, count] : counts) {
    const auto& by = count.by_numbers;
    fmt::print("{:28} {:9} {:12} {:8}  {} {} {} {} {} {}\n", kind, count.products, count.sums, count.wrong, by[0], by[1], by[2], by[3], by[4], by[5]);
    all.products += count.products, all.sums += count.sums, all.wrong += count.wrong;
  }
  fmt::print("{:28} {:9} {:12} {:8}\n", "all", all.products, all.sums, all.wrong);
  return all.wrong != 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--tiles") options.tiles = std::stoull(argv[i + 1]);
    if (option == "--products") options.products = std::stoull(argv[i + 1]);
    if (option == "--only") options.only = argv[i + 1];
    if (option == "--read") options.kept.open(argv[i + 1], std::ios::binary);
    if (option == "--write") options.keeps.open(argv[i + 1], std::ios::binary);
  }
  return run(std::move(options));
}
