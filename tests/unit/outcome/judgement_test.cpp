// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "catch.hpp"
#include "outcome/device_facts.hpp"
#include "outcome/judgement.hpp"

#include <cmath>

using namespace cudal1::outcome;

TEST_CASE("a judgement survives JSON and back") {
  Judgement judgement;
  judgement.verdict = Verdict::faster;
  judgement.predicted = true;
  judgement.level = Level::final_;
  judgement.labels = {Label::no_oracle, Label::launch_bound};
  judgement.message = "2.0x";
  judgement.speedup = Speedup{2, 1.5, 2.5};
  judgement.workloads.push_back({{{"N", 64}}, 2.0, 1.0, {2, 1.5, 2.5}, 24, 1.9, 0.5, "memory bandwidth", 0.5, 3.0});
  judgement.tunables = {{"BLOCK", 128}};
  judgement.code = "5ac3";
  judgement.resources.push_back({"k<128>", 32, 1024, 0, 0, 0, 16, 1024, "a function call"});
  judgement.counters.warp_instructions = 7;
  judgement.hot_lines[12].global_load_sectors = 3;
  judgement.diagnostics.push_back({cudal1::base::Diagnostic::Severity::warning, "a.cu", 3, 4, "unused", "int x;", ""});
  judgement.findings.push_back({Finding::Kind::shared_race, "k", "a.cu", 9, {1, 0, 0}, {2, 0, 0}, 16, "shared memory", 16, "two warps", 11, {1, 0, 0}, {34, 0, 0}});
  judgement.worst_wrong = WrongElement{"C", {1, 2}, 1.0, std::nan("")};
  judgement.errors = {1e-7, 1e-6, 2e-7, 5, 3e-3};
  judgement.sanitizer = "passed";
  judgement.hardware = {{"dram_share", 0.87}};
  judgement.step_seconds = {{"time", 0.2}};

  const std::string text = to_json(judgement);
  const Judgement back = judgement_from_json(text);
  CHECK(to_json(back) == text);
  CHECK(text.find("\"PREDICTED_FASTER\"") != std::string::npos);
  CHECK(text.find("\"predicted_speedup\"") != std::string::npos);
  CHECK(text.find("\"speedup\":{\"value\":2.0") != std::string::npos);
  CHECK(back.hardware.at("dram_share") == 0.87);
  CHECK(back.code == "5ac3");
  CHECK(back.step_seconds.at("time") == 0.2);
  CHECK(back.errors.kernelbench_tolerance == 3e-3);
  CHECK(text.find("\"accepts_at_1e-4\":false,\"accepts_at_1e-2\":true") != std::string::npos);
  CHECK(back.workloads[0].share_of_arithmetic == 3);
  CHECK(back.hot_lines.at(12).global_load_sectors == 3);
  CHECK(std::isnan(back.worst_wrong->got));
}

TEST_CASE("a judgement of another schema is refused by name") {
  CHECK_THROWS_WITH(judgement_from_json(R"({"schema": 99})"), containing("schema 99"));
}

TEST_CASE("every verdict's name reads back") {
  for (int i = 0; i <= static_cast<int>(Verdict::faster); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    CHECK(parse_verdict(name(verdict)) == verdict);
    CHECK(parse_verdict(name(verdict, true)) == verdict);
  }
  CHECK_FALSE(parse_verdict("FAST"));
}

TEST_CASE("occupancy names what limits it") {
  DeviceFacts h200;
  h200.major = 9;
  h200.shared_bytes_per_sm = 233472;
  CHECK(occupancy(h200, 32, 4000, 256).blocks_per_sm == 8);
  CHECK(occupancy(h200, 128, 0, 256).limited_by == "registers");
  CHECK(occupancy(h200, 128, 0, 256).blocks_per_sm == 2);
  CHECK(occupancy(h200, 32, 100000, 128).limited_by == "shared memory");
  CHECK(occupancy(h200, 32, 100000, 128).blocks_per_sm == 2);
  CHECK(occupancy(h200, 16, 0, 1024).fraction == 1.0);
  // Before 8.0 a block's shared memory is its own alone, in pieces of 256 bytes.
  DeviceFacts t4 = h200;
  t4.major = 7, t4.shared_bytes_per_sm = 65536, t4.max_threads_per_sm = 1024;
  CHECK(occupancy(t4, 32, 16384, 128).blocks_per_sm == 4);
  CHECK(occupancy(t4, 32, 16385, 128).blocks_per_sm == 3);
  CHECK(h200.arch() == "sm_90a");
}
