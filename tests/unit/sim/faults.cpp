// SPDX-License-Identifier: Apache-2.0
// Every faulty kernel is found, with the right kind and line; its healthy twin gives no finding.
#include "bench_device.hpp"
#include "catch.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include <fmt/format.h>

using namespace cudal1;
using sim::test::Bench;
using sim::test::text_of;

namespace {

struct Fault {
  std::string kernel, kind;      // "shared_race_tile", "shared_race"
  std::vector<int> lines;        // that bear the mark
};

// Kernels and their marks, from the source itself.
std::vector<Fault> faults() {
  static const std::vector<std::string> kinds{"out_of_bounds", "misaligned",       "uninitialised",    "shared_race", "global_race",
                                              "divergent_barrier", "bad_warp_mask", "division_by_zero", "trap",        "in_flight_read", "stack_overflow"};
  std::vector<Fault> found;
  std::istringstream source(text_of("tests/ptx/faults/faults.cu"));
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.rfind("KERNEL(", 0) == 0) {
      const std::string name = line.substr(7, line.find(')') - 7);
      if (name.size() > 4 && name.substr(name.size() - 4) == "_bad") {
        Fault fault{name.substr(0, name.size() - 4), "", {}};
        for (const auto& kind : kinds)
          if (name.rfind(kind, 0) == 0) fault.kind = kind;
        found.push_back(fault);
      }
    }
    if (number > 6 && line.find("// FAULT") != std::string::npos && !found.empty()) found.back().lines.push_back(number);
  }
  return found;
}

device::RunResult run(device::Device& device, const std::string& ptx, const std::string& kernel) {
  Bench bench(device);
  bench.load(ptx, "faults.cu");
  std::vector<float> a(128);
  std::vector<int> b(128);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i) / 128;
  std::iota(b.begin(), b.end(), 0);
  bench.input(a, "a"), bench.input(b, "b");
  bench.output(512, "c");
  bench.scalar(128);
  bench.launch.shared_bytes = 1024;
  return bench.run(kernel, {2, 1, 1}, {64, 1, 1});
}

}  // namespace

TEST_CASE("faulty kernels are found at the right line, and their twins are not blamed") {
  auto device = sim::open({.gpu = "H200", .threads = 2});
  const std::string ptx = text_of("tests/ptx/faults/faults.ptx");
  const auto all = faults();
  REQUIRE(all.size() >= 50);
  for (const Fault& fault : all) {
    const auto bad = run(*device, ptx, fault.kernel + "_bad");
    bool right = false;
    std::string seen;
    for (const auto& finding : bad.findings) {
      seen += outcome::render(finding);
      const bool line = std::find(fault.lines.begin(), fault.lines.end(), finding.line) != fault.lines.end() ||
                        std::find(fault.lines.begin(), fault.lines.end(), finding.other_line) != fault.lines.end();
      right |= outcome::kind_name(finding.kind) == fault.kind && line;
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

TEST_CASE("findings do not depend on the number of threads") {
  const std::string ptx = text_of("tests/ptx/faults/faults.ptx");
  std::vector<std::string> texts;
  for (const int threads : {1, 4}) {
    auto device = sim::open({.gpu = "H200", .threads = threads});
    std::string text;
    for (const char* kernel : {"out_of_bounds_index_bad", "shared_race_tile_bad", "division_by_zero_quotient_bad"})
      for (const auto& finding : run(*device, ptx, kernel).findings) text += outcome::render(finding);
    texts.push_back(text);
  }
  CHECK(texts[0] == texts[1]);
}
