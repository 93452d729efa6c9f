// SPDX-License-Identifier: Apache-2.0
// Asynchronous code of Hopper: every fault is found, with the right kind and line; its healthy twin gives no finding.
#include "product_case.hpp"
#include "catch.hpp"

#include "sim/small_float.hpp"

#include <algorithm>
#include <sstream>

using namespace cudal1;
using sim::test::Bench;
using sim::test::text_of;

namespace {

struct Fault {
  std::string kernel, kind;
  std::vector<int> lines;  // that bear the mark
};

std::vector<Fault> faults() {
  static const std::vector<std::string> kinds{"out_of_bounds", "misaligned", "shared_race", "divergent_barrier", "bad_warp_mask", "in_flight_read"};
  std::vector<Fault> found;
  std::istringstream source(text_of("tests/ptx/hopper/hopper.cu"));
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.rfind("KERNEL(", 0) == 0) {
      const std::string name = line.substr(7, line.find(')') - 7);
      if (!name.ends_with("_bad")) continue;
      Fault fault{name.substr(0, name.size() - 4), "", {}};
      for (const auto& kind : kinds)
        if (name.rfind(kind, 0) == 0) fault.kind = kind;
      found.push_back(fault);
    } else if (line.find("// FAULT") != std::string::npos && !found.empty()) {
      found.back().lines.push_back(number);
    }
  }
  return found;
}

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
  const auto all = faults();
  REQUIRE(all.size() >= 18);
  for (const Fault& fault : all) {
    const auto bad = run(*device, ptx, fault.kernel + "_bad");
    bool right = false;
    std::string seen;
    for (const auto& finding : bad.findings) {
      seen += outcome::render(finding);
      right |= outcome::kind_name(finding.kind) == fault.kind && std::find(fault.lines.begin(), fault.lines.end(), finding.line) != fault.lines.end();
    }
    INFO(fault.kernel << " expects " << fault.kind << " at line " << (fault.lines.empty() ? 0 : fault.lines.front()) << ", saw:\n" << seen << bad.message);
    CHECK(right);
    const auto good = run(*device, ptx, fault.kernel + "_ok");
    std::string blamed;
    for (const auto& finding : good.findings) blamed += outcome::render(finding);
    INFO(fault.kernel << "_ok is blamed:\n" << blamed << good.message);
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
float described(const std::vector<float>& a, const std::vector<float>& b, float c, int least) {
  const auto exponent = [](float v, int smallest) { return v == 0 ? -1000 : std::max(std::ilogb(v), smallest); };
  int largest = exponent(c, -126);
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, exponent(a[k], least) + exponent(b[k], least));
  if (largest < -500) return 0;
  long double sum = std::trunc(std::ldexp(static_cast<long double>(c), 25 - largest));
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::trunc(std::ldexp(static_cast<long double>(a[k]) * b[k], 25 - largest));
  sum = std::ldexp(sum, largest - 25);
  const float nearest = static_cast<float>(sum);
  const float below = std::fabs(static_cast<long double>(nearest)) > std::fabs(sum) ? std::nextafter(nearest, 0.0f) : nearest;
  return below == 0 ? 0.0f : below;
}

}  // namespace

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
    const std::size_t depth = one.type == "tf32" ? 8 : 16;
    const auto value = [&](const std::vector<std::uint32_t>& words, std::size_t row, std::size_t k) {
      if (one.type == "tf32") return std::bit_cast<float>(words[row * 8 + k] & ~0x1fffu);
      const auto bits = static_cast<std::uint16_t>(words[row * 8 + k / 2] >> (16 * (k % 2)));
      return one.type == "f16" ? sim::to_float(sim::Half{bits}) : sim::to_float(sim::Bfloat{bits});
    };
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      if (tile % 6 == 2) continue;  // infinities
      for (std::size_t cell = 0; cell < 64 * one.columns; cell += 7) {
        const std::size_t row = cell / one.columns, column = cell % one.columns, at = tile * 64 * one.columns + cell;
        std::vector<float> a, b;
        for (std::size_t k = 0; k < depth; ++k) a.push_back(value(made.a, tile * 64 + row, k)), b.push_back(value(made.b, tile * one.columns + column, k));
        INFO("tile " << tile << " row " << row << " column " << column);
        REQUIRE(std::bit_cast<std::uint32_t>(got[at]) == std::bit_cast<std::uint32_t>(described(a, b, made.c[at], one.type == "f16" ? -14 : -126)));
      }
    }
  }
}
