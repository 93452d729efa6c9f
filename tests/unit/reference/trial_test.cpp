// SPDX-License-Identifier: Apache-2.0
#include "reference/trial.hpp"
#include "reference/truth.hpp"

#include "catch.hpp"

#include <cmath>
#include <cstring>

using namespace cudal1;
using reference::Pattern;

namespace {

task::Task make_task(const std::string& torch = "C = A.argmax(dim=1)", const std::string& output = "int64[N]") {
  return task::from_source("//@ torch   " + torch + "\n//@ size    N = 64, M = 128\n//@ check   N = 3, M = 5\n"
                           "//@ input   A: float32[N, M]\n//@ input   I: int32[M] ~ arange\n//@ output  C: " + output +
                           "\n//@ launch  k<<<1, 32>>>(A, I, C)\n__global__ void k(const float* A, const int* I, void* C) {}\n",
                           "task.cu");
}

std::vector<float> floats(const reference::Bytes& bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("trials hold every pattern and different seeds") {
  const auto trials = reference::trials(1, 2);
  CHECK(trials.size() == 6);
  CHECK(trials[0].seed != trials[1].seed);
  CHECK(reference::trials(1, 2)[3].seed == trials[3].seed);
  CHECK(reference::trials(2, 2)[3].seed != trials[3].seed);
}

TEST_CASE("patterns replace plain distributions only") {
  const auto task = make_task();
  const auto wide = reference::inputs(task, task.checks[0], {Pattern::wide, 4});
  const auto integers = reference::inputs(task, task.checks[0], {Pattern::integers, 4});
  REQUIRE(wide.size() == 3);
  CHECK(wide[0].size() == 60);
  CHECK(wide[2].empty());
  CHECK(wide[1] == integers[1]);  // arange stays
  for (const float value : floats(wide[0])) {
    CHECK(std::fabs(value) >= 1.0F / 1024);
    CHECK(std::fabs(value) <= 1024);
  }
  for (const float value : floats(integers[0])) {
    CHECK(value == std::round(value));
    CHECK(std::fabs(value) <= 3);
  }
}

TEST_CASE("the oracle keeps what an index chooses from") {
  const auto task = make_task();
  REQUIRE(task.torch);
  const auto inputs = reference::inputs(task, task.checks[0], {Pattern::declared, 4});
  const auto truth = reference::oracle(task, task.checks[0], inputs, true, 1);
  REQUIRE(truth);
  REQUIRE(truth->size() == 1);
  const auto& expected = truth->front();
  REQUIRE(expected.choice);
  CHECK(expected.choice->length == 5);
  CHECK(expected.choice->stride == 1);
  CHECK(expected.choice->slack == 0);
  const auto values = floats(inputs[0]);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 5; ++column)
      CHECK(values[row * 5 + column] <= values[row * 5 + static_cast<std::size_t>(expected.truth[row])]);
}

TEST_CASE("the perturbed truth differs by about one rounding") {
  const auto task = make_task("C = A.sum(dim=1)", "float32[N]");
  const auto inputs = reference::inputs(task, task.checks[0], {Pattern::declared, 4});
  const auto truth = reference::oracle(task, task.checks[0], inputs, true, 1);
  REQUIRE(truth);
  const auto& expected = truth->front();
  REQUIRE(expected.perturbed.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(expected.perturbed[i] != expected.truth[i]);
    CHECK(std::fabs(expected.perturbed[i] - expected.truth[i]) < 1e-5);
  }
  CHECK(reference::operations(task, 1) >= 12);
}
