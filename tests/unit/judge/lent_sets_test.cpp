// SPDX-License-Identifier: Apache-2.0
#include "judge/lent_sets.hpp"
#include "judge/pytorch_turns.hpp"
#include "pytorch/kernel_module.hpp"
#include "sim/sim.hpp"
#include "task/module.hpp"

#include "catch.hpp"

#include <algorithm>
#include <span>

#include <fcntl.h>
#include <unistd.h>

using namespace cudal1;

namespace {

// The interface of a PyTorch module that doubles four numbers.
task::Task doubling() {
  return task::from_source("//@ task doubled\n//@ input x: float32[4]\n//@ output y: float32[4]\n", "doubled.py");
}

}  // namespace

TEST_CASE("another process writes inputs and reads outputs where a device has no memory to map") {
  const auto device = sim::open({"H200", 0});
  base::Random random(1, 1);
  const task::Task task = doubling();
  const kernel::Plan plan = task::interface_plan(task, task.workloads.front());
  judge::LentSets sets(*device, plan, random);
  REQUIRE(sets.count() == 3);
  REQUIRE(sets.places().size() == 3);
  const device::Lent input = sets.places()[1][0], output = sets.places()[1][1];
  REQUIRE(input.handle.empty());
  REQUIRE(input.bytes == 16);

  const int file = ::open(input.path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(file >= 0);
  const float given[4] = {1, 2, 3, 4};
  REQUIRE(pwrite(file, given, sizeof given, static_cast<off_t>(input.offset)) == 16);
  sets.seal(1);
  float arrived[4] = {};
  device->read(sets.set(1).region(0), std::as_writable_bytes(std::span(arrived)));
  CHECK(std::equal(given, given + 4, arrived));
  CHECK(sets.set(1).damage().empty());

  const float made[4] = {2, 4, 6, 8};
  device->write(sets.set(1).region(1), std::as_bytes(std::span(made)));
  sets.publish(1);
  float seen[4] = {};
  REQUIRE(pread(file, seen, sizeof seen, static_cast<off_t>(output.offset)) == 16);
  CHECK(std::equal(made, made + 4, seen));

  // Outputs that stand elsewhere are published in their set's place.
  reference::Buffers elsewhere(*device, plan, random);
  const float other[4] = {5, 6, 7, 8};
  device->write(elsewhere.region(1), std::as_bytes(std::span(other)));
  sets.publish(1, elsewhere);
  REQUIRE(pread(file, seen, sizeof seen, static_cast<off_t>(output.offset)) == 16);
  CHECK(std::equal(other, other + 4, seen));

  // What somebody wrote before it was sealed is right; what a kernel writes after is damage.
  device->write(sets.set(1).region(0), std::as_bytes(std::span(made)));
  CHECK(sets.set(1).damage() == "input x was changed; inputs are read-only");
  close(file);
}

TEST_CASE("slow baselines have eight samples before one is chosen, and quick ones twelve") {
  const auto taken = [](base::Seconds each) {
    std::size_t count = 0;
    while (judge::wants_first_samples(count, count < judge::pytorch_turn ? base::Seconds{100} : static_cast<double>(count) * each)) count += judge::pytorch_turn;
    return count;
  };
  CHECK(taken(base::Seconds{0.001}) == 12);
  CHECK(taken(base::Seconds{0.2}) == 8);
  CHECK(taken(base::Seconds{30}) == 8);
}

TEST_CASE("a torch line becomes a module with the declared inputs at the workload's sizes") {
  const auto task = task::from_source(
      "//@ task t\n//@ torch C = torch.diag(A) @ B\n//@ size N = 8, M = 4\n//@ input A: float32[N]\n//@ input B: float32[N, M] ~ uniform(-2, 3)\n"
      "//@ output C: float32[N, M]\n//@ launch k<<<N, M>>>(A, B, C)\n"
      "__global__ void k(const float* A, const float* B, float* C) { C[blockIdx.x * blockDim.x + threadIdx.x] = A[blockIdx.x] * B[blockIdx.x * blockDim.x + threadIdx.x]; }\n",
      "t.cu");
  const std::string text = pytorch::kernel_module(task, task.workloads.front());
  CHECK_THAT(text, containing("M = 4\nN = 8\n"));
  CHECK_THAT(text, containing("def forward(self, A, B):\n        C = torch.diag(A) @ B\n        return C.contiguous()\n"));
  CHECK_THAT(text, containing("torch.randn([8]).to(torch.float32)"));
  CHECK_THAT(text, containing("(torch.rand([8, 4]) * 5 + -2).to(torch.float32)"));
  CHECK(pytorch::kernel_module(doubling(), doubling().workloads.front()).empty());
}
