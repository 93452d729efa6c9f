// SPDX-License-Identifier: Apache-2.0
// Lines of many products: how they are multiplied, and how many plans are written.
#include "catch.hpp"

#include "playbook/candidate.hpp"
#include "playbook/playbook.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

using namespace cudal1;
using playbook::Candidates, playbook::candidates_for, playbook::find;

namespace {

const outcome::DeviceFacts hopper = [] {
  outcome::DeviceFacts facts;
  facts.name = "H200";
  facts.major = 9;
  facts.sm_count = 132;
  facts.max_threads_per_sm = 2048;
  facts.shared_bytes_per_sm = 228 << 10;
  facts.shared_bytes_per_block_optin = 227 << 10;
  facts.l2_bytes = 50 << 20;
  return facts;
}();

// A small convolution, and a product of 4,096 rows and columns.
const char* const small_and_large =
    "//@ task two\n//@ torch z = torch.relu(F.conv2d(x, w)); y = F.linear(u, v)\n//@ input x: float32[1, 64, 34, 34]\n//@ input w: float32[64, 64, 3, 3]\n"
    "//@ input u: float32[4096, 4096]\n//@ input v: float32[4096, 4096]\n//@ output z: float32[1, 64, 32, 32]\n//@ output y: float32[4096, 4096]\n";

task::Task two_layers() { return task::from_source(small_and_large, "two.py", {}, std::size_t{1} << 40); }

task::Task layers(int count) {
  std::string line = "t0 = torch.relu(F.linear(x, w))";
  for (int i = 1; i < count; ++i) line += fmt::format("; t{} = torch.relu(F.linear(t{}, w))", i, i - 1);
  return task::from_source(fmt::format("//@ task many\n//@ torch {}; y = t{} + 1\n//@ input x: float32[512, 512]\n//@ input w: float32[512, 512]\n"
                                       "//@ output y: float32[512, 512]\n",
                                       line, count - 1),
                           "many.py", {}, std::size_t{1} << 40);
}

}  // namespace

TEST_CASE("by cost, each product of a line is written in the way that should take the least time") {
  const Candidates candidates = candidates_for(two_layers(), outcome::Precision::fp32, hopper);
  const playbook::Candidate *by_cost = find(candidates, "as written/by cost"), *warpgroups = find(candidates, "as written/warpgroups");
  REQUIRE((by_cost != nullptr && warpgroups != nullptr));
  CHECK(warpgroups->source.find("warpgroup_convolution") != std::string::npos);
  CHECK(by_cost->source.find("warpgroup_convolution") == std::string::npos);
  CHECK(by_cost->source.find("warpgroup_matmul") != std::string::npos);
  for (const char* other : {"as written/fused", "as written/tensor cores", "as written/warpgroups"})
    if (const playbook::Candidate* each = find(candidates, other); each != nullptr)
      CHECK(playbook::expected_seconds(*by_cost, {}) <= playbook::expected_seconds(*each, {}));
}

TEST_CASE("in the reference's precision convolutions by warpgroups are rounded beside products that are not") {
  const Candidates candidates = candidates_for(two_layers(), outcome::Precision::reference, hopper);
  const playbook::Candidate* found = find(candidates, "as written/warpgroups");
  REQUIRE(found != nullptr);
  CHECK(found->source.find("HALVES = 1") != std::string::npos);
  CHECK(found->source.find("HALVES = 2") != std::string::npos);
}

TEST_CASE("a network is not cut once more, and its rows are written in one way") {
  const auto any = [](const Candidates& candidates, const std::string& part) {
    return std::any_of(candidates.list.begin(), candidates.list.end(), [&](const playbook::Candidate& each) { return each.id.find(part) != std::string::npos; });
  };
  const Candidates few = candidates_for(layers(4)), many = candidates_for(layers(30));
  CHECK(any(few, ", cut after"));
  CHECK(any(few, "/plain"));
  CHECK_FALSE(any(many, ", cut after"));
  CHECK_FALSE(any(many, "/plain"));
  CHECK(any(many, "/tensor cores"));
  CHECK(any(many, "/unfused"));
}

TEST_CASE("a network's failed answers fall back to exact products, then to the plainest form") {
  const task::Task network = layers(30);
  const auto model = playbook::open(network, outcome::Precision::tf32);
  const auto repair = [&](int sample) {
    model::Question question;
    question.key = {1, sample, 1};
    question.samples = 2;
    question.device = hopper;
    question.failure.emplace().source = "// playbook: as written/by cost\n";
    return model->answer(question, {}).text;
  };
  const std::string first = repair(1), second = repair(2);
  CHECK(first.find("as written/by cost, as float32") != std::string::npos);
  CHECK(second.find("as written/plain") != std::string::npos);
  CHECK(playbook::repairs_for(network, outcome::Precision::fp32, candidates_for(network, outcome::Precision::fp32, hopper), hopper).size() == 1);
}

TEST_CASE("layers that differ in names alone share a kernel") {
  const Candidates candidates = candidates_for(layers(30), outcome::Precision::fp32, hopper);
  const playbook::Candidate* found = find(candidates, "as written/tensor cores");
  REQUIRE(found != nullptr);
  const auto count = [&](const std::string& part) {
    std::size_t result = 0;
    for (std::size_t at = found->source.find(part); at != std::string::npos; at = found->source.find(part, at + 1)) ++result;
    return result;
  };
  CHECK(count("//@ launch") >= 30);
  CHECK(count("__global__") <= 6);
}

TEST_CASE("more products than a grid has layers stand along its first axis") {
  const task::Task task = task::from_source("//@ task many\n//@ torch Y = torch.bmm(A, B)\n//@ input A: float32[70000, 4, 8]\n//@ input B: float32[70000, 8, 4]\n"
                                            "//@ output Y: float32[70000, 4, 4]\n",
                                            "many.py", {}, std::size_t{1} << 40);
  for (const playbook::Candidate& each : candidates_for(task, outcome::Precision::fp32, hopper).list) {
    INFO(each.source);
    CHECK(each.source.find("<<<dim3(70000, ceil_div(4, ") != std::string::npos);
  }
}
