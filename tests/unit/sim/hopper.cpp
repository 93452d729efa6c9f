// SPDX-License-Identifier: Apache-2.0
// Asynchronous code of Hopper: every fault is found, with the right kind and line; its healthy twin gives no finding.
#include "fault_pairs.hpp"
#include "product_kernel.hpp"
#include "catch.hpp"

using namespace cudal1;
using sim::test::Bench;
using sim::test::fault_pairs;
using sim::test::is_found;
using sim::test::seen;
using sim::test::text_of;

namespace {

device::RunResult run(device::Device& device, const std::string& ptx, const std::string& kernel) {
  Bench bench(device);
  bench.load(ptx, "hopper.cu");
  std::vector<std::uint16_t> x(2048);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = sim::to_half(static_cast<float>(i % 97) / 16).bits;
  bench.input(x, "x");
  bench.output(4096, "out");
  return bench.run(kernel, {1, 1, 1}, {128, 1, 1});
}

}  // namespace

TEST_CASE("faults of asynchronous code are found at the right line, and their twins are not blamed") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const std::string ptx = text_of("tests/ptx/hopper/hopper.ptx");
  const auto all = fault_pairs("tests/ptx/hopper/hopper.cu");
  REQUIRE(all.size() >= 18);
  for (const auto& fault : all) {
    const auto bad = run(*device, ptx, fault.kernel + "_bad");
    INFO(fault.kernel << " expects " << fault.kind << " at line " << (fault.lines.empty() ? 0 : fault.lines.front()) << ", saw:\n" << seen(bad));
    CHECK(is_found(fault, bad));
    const auto good = run(*device, ptx, fault.kernel + "_ok");
    INFO(fault.kernel << "_ok is blamed:\n" << seen(good));
    CHECK(good.status == device::RunResult::Status::ok);
  }
}

TEST_CASE("a transaction count that never completes says how many bytes are missing") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const auto result = run(*device, text_of("tests/ptx/hopper/hopper.ptx"), "divergent_barrier_too_many_bytes_bad");
  REQUIRE(!result.findings.empty());
  CHECK(result.findings.front().message == "an mbarrier's phase never completes: 0 of 1 arrivals are missing, 256 bytes that are expected and never copied");
}

namespace {

// The sum as it is described, for one cell: exponents of the factors, everything cut to 25 bits below the largest, the sum cut to a float.
float described(const std::vector<float>& a, const std::vector<float>& b, float c, int least, int bits) {
  const auto exponent = [](float v, int smallest) { return v == 0 ? -1000 : std::max(std::ilogb(v), smallest); };
  int largest = exponent(c, -126);
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, exponent(a[k], least) + exponent(b[k], least));
  if (largest < -500) return 0;
  largest = std::max(largest, -133);
  long double sum = std::trunc(std::ldexp(static_cast<long double>(c), bits - largest));
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::trunc(std::ldexp(static_cast<long double>(a[k]) * b[k], bits - largest));
  sum = std::ldexp(sum, largest - bits);
  const float nearest = static_cast<float>(sum);
  const float below = std::fabs(static_cast<long double>(nearest)) > std::fabs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
  if (bits == 13) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(below == 0 ? 0.0f : below) & ~0x3ffu);
  return below == 0 ? 0.0f : below;
}

}  // namespace

TEST_CASE("a bulk copy counts all bytes that it reads, so that it is not taken for scattered loads") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const auto counters = run(*device, text_of("tests/ptx/hopper/hopper.ptx"), "misaligned_bulk_ok").counters;
  CHECK(counters.global_load_requests == 1);
  CHECK(counters.global_load_bytes == 256);
}

// Products of 2^-25 and of something smaller, which says whether a half is nearer to 0 or to its smallest number, 2^-24.
TEST_CASE("a sum of wgmma that becomes a half is aligned to 2^-21 or more") {
  const sim::test::ProductCase one{"f16_f16_f16_shared_8", "f16", 8, "f16", false, true};
  const auto half = [&](int exponent) { return sim::test::product_element("f16", std::ldexp(1.0f, exponent)); };
  const auto sum = [&](int exponent, int other) {
    sim::test::ProductTiles tiles{std::vector<std::uint32_t>(64 * 8), std::vector<std::uint32_t>(8 * 8), std::vector<float>(64 * 8)};
    tiles.a[0] = half(-12) | half(exponent) << 16;
    tiles.b[0] = half(-13) | half(other) << 16;
    std::string problem;
    const auto device = sim::open({.gpu = "H200", .threads = 1});
    const auto sums = sim::test::run_products(*device, sim::test::product_kernel(one), one, tiles, 1, problem);
    INFO(problem);
    REQUIRE(sums.size() == 64 * 8);
    return sums[0];
  };
  CHECK(sum(-24, -24) == 0.0f);        // cut off below 2^-46, so that the sum lies in the middle, and the even one is 0
  CHECK(sum(-24, -21) == 0x1p-24f);
}

TEST_CASE("wgmma cuts its sums as Hopper does, whichever way they are computed") {
  auto device = sim::open({.gpu = "H200", .threads = 2});
  const std::string ptx = text_of("tests/ptx/hopper/products.ptx");
  for (const auto& one : sim::test::product_cases()) {
    const std::size_t tiles = 6;
    const auto made = sim::test::product_tiles(one, tiles, 5);
    std::string problem;
    const auto got = sim::test::run_products(*device, ptx, one, made, tiles, problem);
    INFO(one.kernel << " " << problem);
    REQUIRE(problem.empty());
    const auto value = [&](const std::vector<std::uint32_t>& words, std::size_t row, std::size_t k) {
      const float v = sim::test::product_value(one.type, words, row, k);
      return one.type == "tf32" ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & ~0x1fffu) : v;
    };
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      if (tile % 6 == 2) continue;  // infinities
      for (std::size_t cell = 0; cell < 64 * one.columns; cell += 7) {
        const std::size_t row = cell / one.columns, column = cell % one.columns, at = tile * 64 * one.columns + cell;
        std::vector<float> a, b;
        for (std::size_t k = 0; k < one.depth(); ++k) a.push_back(value(made.a, tile * 64 + row, k)), b.push_back(value(made.b, tile * one.columns + column, k));
        INFO("tile " << tile << " row " << row << " column " << column);
        REQUIRE(std::bit_cast<std::uint32_t>(got[at]) == std::bit_cast<std::uint32_t>(described(a, b, made.c[at], one.type == "f16" ? -14 : one.type == "e4m3" ? -6 : -126, one.type == "e4m3" ? 13 : 25)));
      }
    }
  }
}
