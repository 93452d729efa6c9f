// SPDX-License-Identifier: Apache-2.0
// Clusters: every fault is found, with the right kind and line; its healthy twin gives no finding.
#include "fault_pairs.hpp"
#include "catch.hpp"

using namespace cudal1;
using sim::test::Bench;
using sim::test::fault_pairs;
using sim::test::is_found;
using sim::test::seen;
using sim::test::text_of;

namespace {

struct Ran {
  device::RunResult result;
  std::vector<float> out;
};

Ran run(device::Device& device, const std::string& ptx, const std::string& kernel, kernel::Dim3 grid = {4, 1, 1}, kernel::Dim3 cluster = {4, 1, 1}) {
  Bench bench(device);
  bench.load(ptx, "clusters.cu");
  std::vector<float> x(1024);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97) / 16;
  bench.input(x, "x");
  const auto out = bench.input(std::vector<float>(std::size_t{128} * grid[0] * grid[1]), "out");
  bench.launch.cluster = cluster;
  return {bench.run(kernel, grid, {128, 1, 1}), bench.read<float>(out)};
}

}  // namespace

TEST_CASE("faults of clusters are found at the right line, and their twins are not blamed") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const std::string ptx = text_of("tests/ptx/hopper/clusters.ptx");
  const auto all = fault_pairs("tests/ptx/hopper/clusters.cu");
  REQUIRE(all.size() >= 18);
  for (const auto& fault : all) {
    const auto bad = run(*device, ptx, fault.kernel + "_bad").result;
    INFO(fault.kernel << " expects " << fault.kind << " at line " << (fault.lines.empty() ? 0 : fault.lines.front()) << ", saw:\n" << seen(bad));
    CHECK(is_found(fault, bad));
    const auto good = run(*device, ptx, fault.kernel + "_ok").result;
    INFO(fault.kernel << "_ok is blamed:\n" << seen(good));
    CHECK(good.status == device::RunResult::Status::ok);
  }
}

TEST_CASE("blocks of a cluster read each other's shared memory, on one thread and on several") {
  const std::string ptx = text_of("tests/ptx/hopper/clusters.ptx");
  for (const int threads : {1, 3}) {
    auto device = sim::open({.gpu = "H200", .threads = threads});
    const auto ran = run(*device, ptx, "shared_race_read_without_barrier_ok", {8, 2, 1}, {2, 2, 1});
    INFO(seen(ran.result));
    REQUIRE(ran.result.status == device::RunResult::Status::ok);
    CHECK(ran.out[5] == 5.0f / 16);
    CHECK(run(*device, ptx, "shared_race_two_write_the_same_ok").out[5] == 15.0f / 16);
    CHECK(run(*device, ptx, "shared_race_multicast_too_early_ok").out[3 * 128 + 5] == 5.0f / 16 + static_cast<float>(133 % 97) / 16);
    CHECK(run(*device, ptx, "other_barrier_of_another_block_ok").out[128 + 5] == 5.0f / 16);
    CHECK(run(*device, ptx, "shared_race_add_no_proxy_fence_ok").out[5] == 4 * 5.0f / 16);
  }
}

TEST_CASE("a cluster that a launch cannot have is refused with its reason") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const std::string ptx = text_of("tests/ptx/hopper/clusters.ptx");
  CHECK(run(*device, ptx, "shared_race_block_has_left_ok", {4, 1, 1}, {3, 1, 1}).result.message == "the grid's x is 4, which is no multiple of the cluster's 3");
  CHECK(run(*device, ptx, "shared_race_block_has_left_ok", {32, 1, 1}, {32, 1, 1}).result.message == "a cluster of 32 blocks is not possible: 1 to 16");
  CHECK(run(*device, ptx, "sixteen", {16, 1, 1}, {0, 0, 0}).result.message == "sixteen was compiled for clusters of 16 blocks; more than 8 are possible only where the launch names the cluster");
  CHECK(run(*device, ptx, "sixteen", {16, 1, 1}, {16, 1, 1}).result.status == device::RunResult::Status::ok);
  auto older = sim::open({.gpu = "A100", .threads = 1});
  CHECK(run(*older, ptx, "shared_race_block_has_left_ok").result.message.find("no clusters: they need compute capability 9.0") != std::string::npos);
}

TEST_CASE("the barrier of a cluster of one block waits for all its threads") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const std::string ptx = text_of("tests/ptx/hopper/clusters.ptx");
  for (const unsigned named : {0u, 1u}) {   // in a launch without clusters too
    const auto ran = run(*device, ptx, "shared_race_next_warp_ok", {4, 1, 1}, {named, named, named});
    INFO(seen(ran.result));
    REQUIRE(ran.result.status == device::RunResult::Status::ok);
    CHECK(ran.out[5] == 37.0f / 16);
    CHECK(ran.out[128 + 97] == 1.0f / 16);
    CHECK(run(*device, ptx, "shared_race_next_warp_bad", {4, 1, 1}, {named, named, named}).result.status == device::RunResult::Status::findings);
  }
}

TEST_CASE("the cluster's barrier lets go where a warp's end was what it waited for and others spin") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const auto ran = run(*device, text_of("tests/ptx/hopper/clusters.ptx"), "ends_while_others_spin");
  INFO(seen(ran.result));
  REQUIRE(ran.result.status == device::RunResult::Status::ok);
  CHECK(ran.out[128 + 5] == 5.0f / 16);
}

TEST_CASE("a kernel can tell whose shared memory an address is in, and whether it has a cluster") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const std::string ptx = text_of("tests/ptx/hopper/clusters.ptx");
  const auto ran = run(*device, ptx, "spaces");
  INFO(seen(ran.result));
  REQUIRE(ran.result.status == device::RunResult::Status::ok);
  CHECK(ran.out[5] == 5);
  for (const unsigned blocks : {0u, 1u, 2u}) {
    const auto told = run(*device, ptx, "explicit_cluster", {4, 1, 1}, {blocks, blocks > 0, blocks > 0});
    INFO(seen(told.result));
    CHECK(told.out[5] == (blocks > 0));
  }
}

TEST_CASE("without a cluster an address far above shared memory is out of bounds, and no rank is named") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  const auto ran = run(*device, text_of("tests/ptx/hopper/clusters.ptx"), "far_above", {4, 1, 1}, {0, 0, 0});
  REQUIRE(!ran.result.findings.empty());
  INFO(seen(ran.result));
  CHECK(ran.result.findings.front().message.find("bytes of shared memory") != std::string::npos);
}
