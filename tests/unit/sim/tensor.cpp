// SPDX-License-Identifier: Apache-2.0
// Matrix products on tensor cores against plain sums. The inputs are small integers, so every order of summation is exact.
#include "bench_device.hpp"
#include "catch.hpp"

#include "sim/small_float.hpp"

using namespace cudal1;
using sim::test::Bench;
using sim::test::text_of;

namespace {

int small(std::size_t i, unsigned salt) { return static_cast<int>((i * 2654435761u + salt * 40503u) >> 13 & 7) - 3; }

// Runs `kernel` on n x n matrices of T and compares the upper left rows x columns of C = A B, where A's first `depth` columns count.
template <class T, class R, class Make>
void check_product(const std::string& kernel, std::size_t n, std::size_t rows, std::size_t columns, std::size_t depth, kernel::Dim3 grid, Make make) {
  auto device = sim::open({.gpu = "H200", .threads = 2});
  Bench bench(*device);
  bench.load(text_of("tests/ptx/kernels/tensor.ptx"), "tensor.cu");
  std::vector<T> a(n * n), b(n * n);
  for (std::size_t i = 0; i < n * n; ++i) a[i] = make(small(i, 1)), b[i] = make(small(i, 2));
  bench.input(a), bench.input(b);
  const auto out = bench.output(n * n * sizeof(R));
  bench.scalar(static_cast<int>(n));
  const auto result = bench.run(kernel, grid, {32, 1, 1});
  for (const auto& finding : result.findings) UNSCOPED_INFO(outcome::render(finding));
  UNSCOPED_INFO(result.message);
  REQUIRE(result.status == device::RunResult::Status::ok);
  const auto c = bench.read<R>(out);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      int sum = 0;
      for (std::size_t k = 0; k < depth; ++k) sum += small(i * n + k, 1) * small(k * n + j, 2);
      INFO(kernel << " row " << i << " column " << j);
      REQUIRE(c[i * n + j] == static_cast<R>(sum));
    }
  CHECK(result.counters.tensor_flops == 2.0 * static_cast<double>(rows * columns * depth));
}

std::uint16_t half(int v) { return sim::to_half(static_cast<float>(v)).bits; }
std::uint16_t bfloat(int v) { return sim::to_bfloat(static_cast<float>(v)).bits; }

}  // namespace

TEST_CASE("wmma multiplies f16 and bf16 matrices") {
  check_product<std::uint16_t, float>("wmma_f16", 32, 32, 32, 32, {2, 2, 1}, half);
  check_product<std::uint16_t, float>("wmma_f16_wide", 32, 32, 32, 32, {1, 4, 1}, half);
  check_product<std::uint16_t, float>("wmma_bf16", 32, 32, 32, 32, {2, 2, 1}, bfloat);
  check_product<std::uint16_t, float>("wmma_shared_column", 16, 16, 16, 16, {1, 1, 1}, half);
}

TEST_CASE("mma.sync multiplies in the layouts of the PTX manual") {
  check_product<std::uint16_t, float>("mma_f16", 16, 16, 8, 16, {1, 1, 1}, half);
  check_product<float, float>("mma_tf32", 16, 16, 8, 8, {1, 1, 1}, [](int v) { return static_cast<float>(v); });
  check_product<double, double>("mma_f64", 8, 8, 8, 4, {1, 1, 1}, [](int v) { return static_cast<double>(v); });
  check_product<signed char, int>("mma_s8", 32, 16, 8, 32, {1, 1, 1}, [](int v) { return static_cast<signed char>(v); });
}

TEST_CASE("a matrix product of 4096 is predicted from a sample of its blocks") {
  auto device = sim::open({.gpu = "H200", .threads = 2});
  Bench bench(*device);
  bench.load(text_of("tests/ptx/kernels/kernels.ptx"));
  const std::size_t n = 4096;
  bench.input(std::vector<float>(n * n, 1.0f)), bench.input(std::vector<float>(n * n, 1.0f));
  bench.output(4 * n * n);
  bench.scalar(static_cast<int>(n));
  const auto prediction = bench.predict("matmul_tiled", {256, 256, 1}, {16, 16, 1});
  CHECK(prediction.counters.fp32_flops > 1.9 * 4096.0 * 4096 * 4096);
  CHECK(prediction.counters.fp32_flops < 2.3 * 4096.0 * 4096 * 4096);
  CHECK(prediction.ms > 2);
  CHECK(prediction.ms < 500);
}
