// SPDX-License-Identifier: Apache-2.0
#include "bench/limit.hpp"

#include "catch.hpp"

using namespace cudal1;

TEST_CASE("the unit that is busy most of the time is the limit") {
  outcome::Counters none;
  CHECK(bench::binding_limit("?", {}, none) == "?");
  CHECK(bench::binding_limit("?", {{"dram_share", 0.9}, {"issue_active_share", 0.7}}, none) == "memory bandwidth");
  CHECK(bench::binding_limit("?", {{"dram_share", 0.2}, {"fma_pipe_share", 0.8}}, none) == "FP32 arithmetic");
  CHECK(bench::binding_limit("?", {{"issue_active_share", 0.75}, {"fma_pipe_share", 0.3}}, none) == "instruction issue");
  CHECK(bench::binding_limit(bench::launch_overhead, {{"dram_share", 0.9}}, none) == bench::launch_overhead);
}

TEST_CASE("where no unit is busy, accesses and resident warps say why") {
  outcome::Counters scattered;
  scattered.global_load_requests = 10;
  scattered.global_load_sectors = 320;
  CHECK_THAT(bench::binding_limit("?", {{"dram_share", 0.3}, {"warps_active_share", 0.9}}, scattered),
             containing("32 sectors a request"));
  const outcome::Counters none;
  CHECK_THAT(bench::binding_limit("?", {{"dram_share", 0.3}, {"warps_active_share", 0.12}}, none),
             containing("12 % of the warps"));
  CHECK(bench::binding_limit("?", {{"dram_share", 0.3}, {"warps_active_share", 0.9}}, none) == "latency");
}
