// SPDX-License-Identifier: Apache-2.0
#include "reference/trial.hpp"
#include "reference/truth.hpp"

#include "catch.hpp"

#include <algorithm>
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

TEST_CASE("trials hold every pattern that says something of the task, and different seeds") {
  const auto task = make_task("C = (A @ A.t()).sum(dim=1)", "float32[N]");
  const auto with = [&](std::uint64_t seed, bool every, outcome::Precision precision) {
    return reference::trials(task, task.checks[0], seed, 2, every, precision);
  };
  const auto trials = with(1, true, outcome::Precision::fp32);
  CHECK(trials[0].pattern == Pattern::declared);
  CHECK(trials[1].pattern == Pattern::declared);
  CHECK(trials[0].seed != trials[1].seed);
  const auto number = [](const std::vector<reference::Trial>& list, Pattern pattern) {
    return std::count_if(list.begin(), list.end(), [&](const auto& trial) { return trial.pattern == pattern; });
  };
  for (const auto pattern : {Pattern::sibling, Pattern::influence, Pattern::normal, Pattern::positive, Pattern::wide, Pattern::outliers,
                             Pattern::near_one, Pattern::integers, Pattern::wide_integers, Pattern::stray, Pattern::bands,
                             Pattern::magnitudes, Pattern::tiny, Pattern::not_a_number, Pattern::lone})
    CHECK(number(trials, pattern) >= 1);
  CHECK(number(trials, Pattern::bands) == 2);        // its axes
  CHECK(number(trials, Pattern::infinite) == 0);     // Kahan's sum of an infinity is NaN
  CHECK(number(trials, Pattern::constants) == 0);    // the float32 input is none
  CHECK(number(trials, Pattern::full_width) == 0);
  CHECK(with(1, false, outcome::Precision::fp32).size() < trials.size());
  CHECK(with(1, true, outcome::Precision::tf32).size() + 3 == trials.size());
  CHECK(number(with(1, true, outcome::Precision::half), Pattern::tiny) == 0);
  CHECK(with(1, true, outcome::Precision::fp32)[5].seed == trials[5].seed);
  CHECK(with(2, true, outcome::Precision::fp32)[5].seed != trials[5].seed);
}

TEST_CASE("a sibling agrees with the trial before it in its outermost elements only") {
  const auto task = make_task();
  const auto trials = reference::trials(task, task.checks[0], 1, 2, true, outcome::Precision::fp32);
  REQUIRE(trials[2].pattern == Pattern::sibling);
  const auto before = floats(reference::inputs(task, task.workloads[0], trials[1])[0]);
  const auto sibling = floats(reference::inputs(task, task.workloads[0], trials[2])[0]);
  CHECK(std::equal(before.begin(), before.begin() + 64, sibling.begin()));
  CHECK(std::equal(before.end() - 64, before.end(), sibling.end() - 64));
  CHECK(before[4096] != sibling[4096]);
}

TEST_CASE("the influence trial moves one element of each floating input, whatever its distribution") {
  const auto task = task::from_source("//@ size    N = 64\n//@ check   N = 9\n//@ input   A: float32[N]\n"
                                      "//@ input   W: float32[N] ~ ones\n//@ input   I: int32[N]\n//@ output  C: float32[N]\n"
                                      "//@ launch  k<<<1, 32>>>(A, W, I, C)\n"
                                      "__global__ void k(const float* A, const float* W, const int* I, float* C) {}\n",
                                      "task.cu");
  const auto plain = reference::inputs(task, task.checks[0], {Pattern::declared, 4});
  const auto moved = reference::inputs(task, task.checks[0], {Pattern::influence, 4});
  for (const std::size_t input : {0, 1}) {
    const auto before = floats(plain[input]), after = floats(moved[input]);
    int different = 0;
    for (std::size_t i = 0; i < before.size(); ++i) different += before[i] != after[i] ? 1 : 0;
    CHECK(different == 1);
  }
  CHECK(plain[2] == moved[2]);
}

TEST_CASE("wide integers fill twelve bits in one input, by turns, and choose in the others") {
  const auto task = task::from_source("//@ size    N = 64\n//@ check   N = 9\n//@ input   A: float32[N]\n//@ input   B: float32[N]\n"
                                      "//@ output  C: float32[N]\n//@ launch  k<<<1, 32>>>(A, B, C)\n"
                                      "__global__ void k(const float* A, const float* B, float* C) {}\n",
                                      "task.cu");
  for (const std::size_t turn : {0, 1}) {
    const auto inputs = reference::inputs(task, task.checks[0], {Pattern::wide_integers, 4, turn});
    for (const float value : floats(inputs[turn])) {
      CHECK(value >= 2049);
      CHECK(value <= 4093);
      CHECK(std::fmod(value, 4.0F) == 1);
    }
    for (const float value : floats(inputs[1 - turn])) CHECK((value == 0 || value == 1));
  }
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
  const auto truth = reference::oracle(task, task.checks[0], inputs, reference::Soundness{}, 1);
  REQUIRE(truth);
  REQUIRE(truth->size() == 1);
  const auto& expected = truth->front();
  REQUIRE(expected.choice);
  CHECK(expected.choice->length == 5);
  CHECK(expected.choice->stride == 1);
  CHECK(std::all_of(expected.choice->sigma.begin(), expected.choice->sigma.end(), [](double sigma) { return sigma == 0; }));
  const auto values = floats(inputs[0]);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t column = 0; column < 5; ++column)
      CHECK(values[row * 5 + column] <= values[row * 5 + static_cast<std::size_t>(expected.truth[row])]);
}

TEST_CASE("sigma is of the size of roundings, and of operands that a class of precision lets be rounded") {
  const auto relative = [](outcome::Precision precision) {
    const auto task = make_task("C = A @ A.t()", "float32[N, N]");
    const auto inputs = reference::inputs(task, task.checks[0], {Pattern::normal, 4});
    const auto truth = reference::oracle(task, task.checks[0], inputs, reference::Soundness{precision, 16, 1}, 1);
    REQUIRE(truth);
    const auto& expected = truth->front();
    REQUIRE(expected.sigma.size() == expected.truth.size());
    return expected.sigma.front() / std::fabs(expected.truth.front());
  };
  CHECK(relative(outcome::Precision::fp32) > 0x1p-26);
  CHECK(relative(outcome::Precision::fp32) < 0x1p-22);
  CHECK(relative(outcome::Precision::tf32) > 0x1p-14);
  CHECK(relative(outcome::Precision::half) > 4 * relative(outcome::Precision::tf32));
  CHECK(reference::operations(make_task(), 1) >= 12);
}
