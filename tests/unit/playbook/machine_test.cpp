// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "kernel/plan.hpp"
#include "playbook/candidate.hpp"
#include "playbook/golden.hpp"
#include "schedule/machine.hpp"

#include <string>
#include <vector>

using namespace cudal1;
using outcome::DeviceFacts;
using playbook::candidates_for;

namespace {

DeviceFacts device(const std::string& name, int multiprocessors, int threads, std::size_t shared_kib, std::size_t l2_mib) {
  DeviceFacts facts;
  facts.name = name;
  facts.sm_count = multiprocessors;
  facts.max_threads_per_sm = threads;
  facts.shared_bytes_per_sm = shared_kib << 10;
  facts.shared_bytes_per_block_optin = (shared_kib - 1) << 10;
  facts.l2_bytes = l2_mib << 20;
  return facts;
}

const DeviceFacts h200 = device("H200", 132, 2048, 228, 50), h20 = device("H20", 78, 2048, 228, 60), a100 = device("A100", 108, 2048, 164, 40),
                  rtx_3090 = device("RTX 3090", 82, 1536, 100, 6);

std::string source(const playbook::Candidates& candidates, const std::string& id) {
  const playbook::Candidate* found = playbook::find(candidates, id);
  return found == nullptr ? "" : found->source;
}

// Every launch of every member of every candidate, at the first workload.
template <typename Check>
void each_launch(const task::Task& task, const playbook::Candidates& candidates, Check check) {
  for (const playbook::Candidate& candidate : candidates.list) {
    INFO(candidate.id);
    const auto file = kernel::bind(task.file, kernel::parse(candidate.source, "answer.cu").value()).value();
    const std::vector<kernel::Environment> members = kernel::family(file).value();
    for (const kernel::Environment& member : members) {
      kernel::Environment environment = task.workloads[0].environment;
      environment.insert(member.begin(), member.end());
      const kernel::Plan plan = kernel::resolve(file, environment).value();
      for (const kernel::PlanStep& step : plan.steps)
        if (const auto* launch = std::get_if<kernel::Launch>(&step)) check(*launch);
    }
  }
}

}  // namespace

TEST_CASE("kernels are written for the device: another one has another grid") {
  const task::Task task = task::load(playbook::golden("ahead.before.cu"));
  const auto grid = [&](const DeviceFacts& facts) { return source(candidates_for(task, outcome::Precision::fp32, facts), "as written/ahead"); };
  CHECK(grid({}).find("<<<132 * (") != std::string::npos);
  CHECK(grid(h200) == grid({}));
  CHECK(grid(a100).find("<<<108 * (") != std::string::npos);
  CHECK(grid(h20).find("<<<78 * (") != std::string::npos);
  CHECK(grid(rtx_3090).find("132") == std::string::npos);
}

TEST_CASE("for an H200 all is as where no device is known") {
  for (const char* name : {"team", "trailing", "total_of_rows", "split_sums", "deep_product", "staged_convolution", "attention", "depthwise", "scan", "transposition"}) {
    INFO(name);
    const task::Task task = task::load(playbook::golden(std::string(name) + ".before.cu"));
    const auto known = candidates_for(task, outcome::Precision::fp32, h200).list, unknown = candidates_for(task).list;
    REQUIRE(known.size() == unknown.size());
    for (std::size_t i = 0; i < known.size(); ++i) CHECK(known[i].source == unknown[i].source);
  }
}

TEST_CASE("what is launched fits into the device") {
  const char* tasks[] = {"ahead",         "team",       "trailing",         "meeting_softmax",      "product_on_tensor_cores",
                         "deep_product",  "attention",  "spelt_attention",  "staged_convolution",   "convolution_on_tensor_cores",
                         "pointwise_convolution", "transposed_on_tensor_cores"};
  for (const DeviceFacts& facts : {h200, h20, a100, rtx_3090})
    for (const char* name : tasks) {
      INFO(facts.name << ", " << name);
      const task::Task task = task::load(playbook::golden(std::string(name) + ".before.cu"));
      const schedule::Machine machine = schedule::machine_of(facts);
      const auto candidates = candidates_for(task, outcome::Precision::fp32, facts);
      CHECK_FALSE(candidates.list.empty());
      each_launch(task, candidates, [&](const kernel::Launch& launch) {
        CHECK(static_cast<std::int64_t>(launch.shared_bytes) <= machine.shared_bytes_of_block);
        if (!launch.cooperative) return;
        const std::int64_t blocks = launch.grid[0], threads = launch.block[0], of_each = (blocks + machine.multiprocessors - 1) / machine.multiprocessors;
        CHECK(of_each * threads <= machine.threads);  // blocks that wait for each other are all resident
      });
    }
}

TEST_CASE("a smaller device is kept busy by fewer blocks, which the expected time shows") {
  const task::Task task = task::from_source(
      "//@ task few\n//@ torch Y = torch.softmax(X, dim=1)\n//@ size N = 100, M = 8192\n//@ check N = 3, M = 70\n//@ input X: float32[N, M]\n"
      "//@ output Y: float32[N, M]\n//@ launch few<<<N, 256>>>(X, Y, N, M)\n__global__ void few(const float* X, float* Y, int N, int M) {}\n",
      "few.cu");
  const auto share = [&](const DeviceFacts& facts) {
    const auto candidates = candidates_for(task, outcome::Precision::fp32, facts);
    const playbook::Candidate* plain = playbook::find(candidates, "as written/plain");
    REQUIRE(plain != nullptr);
    return plain->total.moved / plain->total.bytes;
  };
  CHECK(share(rtx_3090) > share(a100));
  CHECK(share(a100) > share(h200));
}

TEST_CASE("products and convolutions are written for warpgroups where a GPU has their products, and nowhere else") {
  DeviceFacts with = h200, without = a100;
  with.major = 9, without.major = 8;
  for (const char* name : {"product_on_tensor_cores.before.cu", "convolution_on_tensor_cores.before.cu"}) {
    INFO(name);
    const task::Task task = task::load(playbook::golden(name));
    const auto labelled = [&](const DeviceFacts& facts, outcome::Precision precision) {
      const playbook::Candidates candidates = candidates_for(task, precision, facts);
      for (const playbook::Candidate& candidate : candidates.list)
        if (candidate.id.ends_with("/warpgroups")) return candidate.source;
      return std::string();
    };
    CHECK(labelled(without, outcome::Precision::fp32).empty());
    const std::string exact = labelled(with, outcome::Precision::fp32);
    CHECK(exact.find("hopper.cuh") != std::string::npos);
    CHECK(exact.find("warpgroup_") != std::string::npos);
    // As exact as float32 with two halves, and with a kernel for what they cannot hold.
    CHECK(exact.find("HALVES = 2") != std::string::npos);
    CHECK(exact.find("NaN undoes no scale") != std::string::npos);
    CHECK(labelled(with, outcome::Precision::tf32).find("HALVES = 2") == std::string::npos);
  }
}

TEST_CASE("families of kernels by warpgroups are written for compute capability 9.0 letter by letter") {
  DeviceFacts facts = h200;
  facts.major = 9;
  for (const char* name : {"warpgroup_product", "straight_product", "warpgroup_convolution", "warpgroup_attention"}) playbook::becomes(name, "as written/warpgroups", facts);
  playbook::becomes("straight_convolution", "as written/straight warpgroups", facts, outcome::Precision::tf32);
}

TEST_CASE("inputs of a convolution go to warpgroups as they lie only where they may be rounded to TF32") {
  DeviceFacts facts = h200;
  facts.major = 9;
  const task::Task task = task::load(playbook::golden("straight_convolution.before.cu"));
  CHECK(find(candidates_for(task, outcome::Precision::tf32, facts), "as written/straight warpgroups") != nullptr);
  CHECK(find(candidates_for(task, outcome::Precision::fp32, facts), "as written/straight warpgroups") == nullptr);
}

TEST_CASE("attention of 16 bits rounds its weights to 16 bits only where operands may be rounded so") {
  DeviceFacts facts = h200;
  facts.major = 9;
  const task::Task task = task::load(playbook::golden("warpgroup_attention.before.cu"));
  for (const auto& [precision, parts] : {std::pair{outcome::Precision::fp32, "PARTS = 2"}, {outcome::Precision::tf32, "PARTS = 2"}, {outcome::Precision::half, "PARTS = 1"}})
    CHECK(source(candidates_for(task, precision, facts), "as written/warpgroups").find(parts) != std::string::npos);
}
