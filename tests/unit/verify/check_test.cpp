// SPDX-License-Identifier: Apache-2.0
#include "verify/check.hpp"

#include "host_device.hpp"
#include "task/task.hpp"

#include "catch.hpp"

#include <cmath>
#include <cstring>

using namespace cudal1;
using outcome::Verdict;

namespace {

const std::string source = R"(//@ torch   C = A + 1; B = D * 2
//@ size    N = 1000
//@ check   N = 37
//@ input   A: float32[N]
//@ output  C: float32[N]
//@ inout   D: float32[N]
//@ output  B: float32[N]
//@ launch  k<<<1, 32>>>(A, C, D, B, N)
__global__ void k(const float* A, float* C, float* D, float* B, int N) {}
)";

constexpr int count = 37;

float* floats(std::byte* bytes) { return reinterpret_cast<float*>(bytes); }

// What the task asks for; D is left alone.
void honest(const std::vector<std::byte*>& buffers) {
  for (int i = 0; i < count; ++i) {
    floats(buffers[1])[i] = floats(buffers[0])[i] + 1;
    floats(buffers[3])[i] = floats(buffers[2])[i] * 2;
  }
}

struct Bench {
  task::Task task;
  HostDevice device;
  base::Random random{5};
  HostDevice::Code reference;
  kernel::Plan plan;
  std::optional<verify::Case> subject;

  explicit Bench(reference::Pattern pattern = reference::Pattern::declared)
      : task(task::from_source(text(), "task.cu")) {
    reference.kernel = honest;
    plan = *kernel::resolve(task.file, task.checks.at(0).environment);
    auto made = verify::make_case(device, task, task.checks[0], {pattern, 9}, {&reference, &plan}, random, options());
    if (!made) FAIL(made.error());
    subject = *std::move(made);
  }
  static std::string text() {
    std::string result = source;
    result.replace(result.find("; B = D * 2"), 11, "; B = D * 2; D = D");
    return result;
  }
  verify::CaseOptions options() const {
    verify::CaseOptions result;
    result.assignment = 1;
    return result;
  }
  verify::Evidence check(HostDevice::Kernel kernel) {
    HostDevice::Code code;
    code.kernel = std::move(kernel);
    reference::Buffers buffers(device, plan, random);
    return verify::check(device, task.file, {&code, &plan}, *subject, buffers, true);
  }
};

}  // namespace

TEST_CASE("an honest variant is right under every pattern of inputs") {
  using reference::Pattern;
  for (const auto pattern : {Pattern::declared, Pattern::normal, Pattern::stray, Pattern::wide, Pattern::integers}) {
    Bench bench(pattern);
    const auto evidence = bench.check(honest);
    INFO(evidence.message);
    CHECK_FALSE(evidence.fault);
    CHECK(bench.device.allocations() == 0);
  }
}

TEST_CASE("an empty kernel is wrong and the elements are said to be unwritten") {
  Bench bench;
  const auto evidence = bench.check([](const auto&) {});
  CHECK(evidence.fault == Verdict::wrong_result);
  CHECK_THAT(evidence.message, containing("37 of 37 elements of C were never written"));
}

TEST_CASE("a kernel that only works on poisoned outputs is wrong") {
  Bench bench;
  const auto evidence = bench.check([](const std::vector<std::byte*>& buffers) {
    if (floats(buffers[1])[0] != floats(buffers[1])[0]) honest(buffers);
  });
  CHECK(evidence.fault == Verdict::wrong_result);
}

TEST_CASE("changing an input or writing beside a buffer is tampering") {
  Bench bench;
  const auto changed = bench.check([](const std::vector<std::byte*>& buffers) {
    honest(buffers);
    floats(buffers[0])[3] = 0;
  });
  CHECK(changed.fault == Verdict::tampered);
  CHECK_THAT(changed.message, containing("input A was changed"));
  const auto beyond = bench.check([](const std::vector<std::byte*>& buffers) {
    honest(buffers);
    floats(buffers[1])[count] = 0;
  });
  CHECK(beyond.fault == Verdict::tampered);
  CHECK_THAT(beyond.message, containing("memory outside C"));
  const auto before = bench.check([](const std::vector<std::byte*>& buffers) {
    honest(buffers);
    floats(buffers[3])[-1] = 0;
  });
  CHECK(before.fault == Verdict::tampered);
}

TEST_CASE("what one run leaves in an inout buffer does not reach the next") {
  Bench bench;
  int runs = 0;
  const auto evidence = bench.check([&](const std::vector<std::byte*>& buffers) {
    honest(buffers);
    if (++runs == 1) floats(buffers[2])[0] = 77;
  });
  CHECK(evidence.fault == Verdict::wrong_result);  // D itself is an output
  CHECK(evidence.first_wrong->output == "D");
}

TEST_CASE("a reference that is not what its torch line says is refused with the element") {
  Bench bench;
  HostDevice::Code wrong;
  wrong.kernel = [](const std::vector<std::byte*>& buffers) {
    honest(buffers);
    floats(buffers[1])[5] += 0.5F;
  };
  const auto made = verify::make_case(bench.device, bench.task, bench.task.checks[0], {reference::Pattern::declared, 9},
                                      {&wrong, &bench.plan}, bench.random, bench.options());
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error(), containing("C[5]"));
}

TEST_CASE("shadows of doubles say what is right only where the kernel's own output is right by them") {
  const task::Task task = task::from_source("//@ size N = 64\n//@ check N = 64\n//@ input A: float64[N] ~ uniform(1, 2)\n//@ output C: float64[N]\n"
                                            "//@ launch k<<<1, 32>>>(A, C, N)\n__global__ void k(const double* A, double* C, int N) {}\n", "task.cu");
  const kernel::Plan plan = *kernel::resolve(task.file, task.checks.at(0).environment);
  HostDevice device;
  base::Random random{5};
  HostDevice::Code own;
  own.kernel = [](const std::vector<std::byte*>& buffers) { std::memcpy(buffers[1], buffers[0], 64 * sizeof(double)); };
  const auto refuted_by = [&](double relative) {
    verify::CaseOptions options;
    options.shadows = [&](const auto& workload, const auto&, const auto& inputs) {
      auto expected = reference::outputs(task, workload);
      expected[0].truth = reference::decode(tensor::Dtype::float64, inputs[0]);
      for (double& value : expected[0].truth) value *= 1 + relative;
      expected[0].sigma.assign(64, 1e-16);
      return expected;
    };
    const auto made = verify::make_case(device, task, task.checks[0], {reference::Pattern::declared, 9}, {&own, &plan}, random, options);
    if (!made) FAIL(made.error());
    CHECK(made->shadowed == (made->refuted == 0));
    return made->refuted;
  };
  CHECK(refuted_by(1e-16) == 0);
  CHECK(refuted_by(5e-15) == 1);   // 50 times what is explained: sixteen times the bound would let it stand as the truth
}

TEST_CASE("what sigma from few runs refuses at full size is compared once more with sigma from enough") {
  const task::Task task = task::from_source("//@ torch C = torch.tanh(A @ B)\n//@ size N = 64, K = 8192\n//@ check N = 8, K = 8\n"
                                            "//@ input A: float32[N, K] ~ normal(0, 0.01)\n//@ input B: float32[K, N]\n//@ output C: float32[N, N]\n"
                                            "//@ launch k<<<1, 32>>>(A, B, C, N, K)\n__global__ void k(const float* A, const float* B, float* C, int N, int K) {}\n", "task.cu");
  const kernel::Plan plan = *kernel::resolve(task.file, task.workloads.at(0).environment);
  HostDevice device;
  base::Random random{5};
  const auto product = [](float wrong) {
    HostDevice::Code code;
    code.kernel = [wrong](const std::vector<std::byte*>& buffers) {
      for (int i = 0; i < 64; ++i)
        for (int j = 0; j < 64; ++j) {
          float sum = wrong;
          for (int k = 0; k < 8192; ++k) sum += floats(buffers[0])[i * 8192 + k] * floats(buffers[1])[k * 64 + j];
          floats(buffers[2])[i * 64 + j] = std::tanh(sum);
        }
    };
    return code;
  };
  const HostDevice::Code sound = product(0), off = product(0.01F);
  verify::CaseOptions options;
  options.full_size = true;
  auto made = verify::make_case(device, task, task.workloads[0], {reference::Pattern::declared, 9}, {&sound, &plan}, random, options);
  if (!made) FAIL(made.error());
  CHECK(made->expected[0].few_runs);
  REQUIRE(made->settle);
  CHECK_FALSE(made->settle()[0].few_runs);
  reference::Buffers buffers(device, plan, random);
  const auto fault_of = [&](const HostDevice::Code& code) { return verify::check(device, task.file, {&code, &plan}, *made, buffers, false).fault; };
  CHECK_FALSE(fault_of(sound));
  CHECK(fault_of(off) == Verdict::wrong_result);
  for (double& sigma : made->expected[0].sigma) sigma /= 1e6;   // as far too small as few runs may make it
  CHECK_FALSE(fault_of(sound));
  CHECK(fault_of(off) == Verdict::wrong_result);
  made->settle = nullptr;
  CHECK(fault_of(sound) == Verdict::wrong_result);
}
