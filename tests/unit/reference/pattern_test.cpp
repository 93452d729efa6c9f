// SPDX-License-Identifier: Apache-2.0
#include "reference/trial.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

using namespace cudal1;
using reference::Pattern;

namespace {

task::Task make_task(const std::string& torch, const std::string& interface, const std::string& sizes = "N = 40, K = 12, M = 24") {
  return task::from_source("//@ torch   " + torch + "\n//@ size    " + sizes + "\n//@ check   N = 33\n" + interface +
                               "//@ launch  k<<<1, 32>>>()\n__global__ void k() {}\n",
                           "task.cu");
}

const std::string product_interface = "//@ input A: float32[N, K]\n//@ input B: float32[K, M]\n//@ output C: float32[N, M]\n";

template <typename Element = float>
std::vector<Element> values(const reference::Bytes& bytes) {
  std::vector<Element> result(bytes.size() / sizeof(Element));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

std::vector<float> input(const task::Task& task, const reference::Trial& trial, std::size_t which = 0) {
  return values(reference::inputs(task, task.workloads[0], trial)[which]);
}

std::set<Pattern> patterns(const task::Task& task) {
  std::set<Pattern> result;
  for (const auto& trial : reference::trials(task, task.workloads[0], 1, 2, true, outcome::Precision::fp32)) result.insert(trial.pattern);
  return result;
}

}  // namespace

TEST_CASE("where patterns are mixed, no look at a buffer's ends tells the trial") {
  const auto task = make_task("C = A @ B", product_interface);
  const auto declared = input(task, {Pattern::declared, 5});
  for (const Pattern pattern : {Pattern::stray, Pattern::bands, Pattern::tiny}) {
    const auto mixed = input(task, {pattern, 5});
    CHECK(std::equal(declared.begin(), declared.begin() + 64, mixed.begin()));
    CHECK(std::equal(declared.end() - 64, declared.end(), mixed.end() - 64));
    CHECK(declared != mixed);
  }
}

TEST_CASE("stray elements are few, and some are too large for a plain exp") {
  const auto task = make_task("C = torch.softmax(A, dim=1)", "//@ input A: float32[N, M] ~ uniform(0, 1)\n//@ output C: float32[N, M]\n");
  const auto declared = input(task, {Pattern::declared, 5}), mixed = input(task, {Pattern::stray, 5});
  int strays = 0, large = 0;
  for (std::size_t i = 0; i < mixed.size(); ++i) strays += mixed[i] != declared[i] ? 1 : 0, large += mixed[i] > 89 ? 1 : 0;
  CHECK(strays > 10);
  CHECK(strays < 100);
  CHECK(large >= 1);
}

TEST_CASE("bands give every index of an axis a pattern of its own") {
  const auto task = make_task("C = A @ B", product_interface, "N = 64, K = 48, M = 24");
  const auto rows = input(task, {Pattern::bands, 5, 1});
  std::set<int> kinds;
  for (std::size_t row = 3; row < 60; ++row) {
    double sum = 0, least = 1e9;
    for (std::size_t k = 0; k < 48; ++k) sum += std::fabs(rows[row * 48 + k]), least = std::min<double>(least, rows[row * 48 + k]);
    kinds.insert(sum == 0 ? 0 : sum < 1e-3 ? 1 : least >= 0 ? 2 : sum > 500 ? 3 : 4);
  }
  CHECK(kinds.size() == 5);   // zeros, 2^-20, positive, wide or with outliers, ordinary
}

TEST_CASE("a lone element strays, of either sign, far or less far") {
  const auto task = make_task("C = A @ B", product_interface, "N = 64, K = 48, M = 24");
  const auto plain = input(task, {Pattern::declared, 5});
  for (const std::size_t turn : {0, 1, 2}) {
    const auto lone = input(task, {Pattern::lone, 5, turn});
    std::size_t changed = 0;
    for (std::size_t i = 0; i < lone.size(); ++i) {
      if (lone[i] == plain[i]) continue;
      ++changed;
      CHECK((turn == 1 ? -lone[i] : lone[i]) >= (turn == 2 ? 14 : 90));
      CHECK(std::fabs(lone[i]) <= (turn == 2 ? 18 : 110));
    }
    CHECK(changed == 1);
  }
}

TEST_CASE("bands of the class half hold nothing whose products float16 does not hold") {
  const auto task = make_task("C = A @ B", product_interface, "N = 64, K = 48, M = 24");
  const auto largest = [&](reference::Trial trial) {
    const auto rows = input(task, trial);
    return std::fabs(*std::max_element(rows.begin(), rows.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); }));
  };
  CHECK(largest({Pattern::bands, 5, 1}) > 0x1p13F);
  for (std::uint64_t seed = 1; seed < 9; ++seed) CHECK(largest({Pattern::bands, seed, 1, true}) < 0x1p13F);
  for (const auto& trial : reference::trials(task, task.workloads[0], 1, 2, true, outcome::Precision::half))
    if (trial.pattern == Pattern::bands) CHECK(trial.half);
}

TEST_CASE("the spotlight falls on an index where the outputs are small") {
  const auto task = make_task("C = (A @ B) * torch.exp(-torch.arange(M))", product_interface);
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    const auto lit = input(task, {Pattern::spotlight, seed, 1}, 1);   // B, along M
    std::set<std::size_t> columns;
    for (std::size_t i = 0; i < lit.size(); ++i)
      if (lit[i] != 0) columns.insert(i % 24);
    REQUIRE(columns.size() == 1);
    CHECK(*columns.begin() >= 18);
  }
  const auto rows = input(task, {Pattern::spotlight, 3, 0}, 0);       // A, along N
  std::set<std::size_t> lit;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] != 0) lit.insert(i / 12);
  CHECK(lit.size() == 1);
}

TEST_CASE("a large element meets zeros, so that the outputs do not depend on it") {
  const auto task = make_task("C = A @ B", product_interface);
  for (const std::size_t turn : {0, 1}) {
    const auto inputs = reference::inputs(task, task.workloads[0], {Pattern::meets_zero, 5, turn});
    const auto large = values(inputs[turn]), zeros = values(inputs[1 - turn]);
    std::set<std::size_t> at;
    for (std::size_t i = 0; i < large.size(); ++i)
      if (std::fabs(large[i]) > 1000) at.insert(turn == 0 ? i % 12 : i / 24);
    REQUIRE_FALSE(at.empty());
    for (std::size_t i = 0; i < zeros.size(); ++i)
      if (at.contains(turn == 0 ? i / 24 : i % 12)) CHECK(zeros[i] == 0);
    CHECK(*std::max_element(large.begin(), large.end()) >= (turn == 0 ? 0x1p20F : 0x1p24F));
  }
}

TEST_CASE("magnitudes fall by powers of two of their own, but not before a function that cancels") {
  const auto task = make_task("C = A @ B", product_interface);
  const auto declared = input(task, {Pattern::declared, 5}), scaled = input(task, {Pattern::magnitudes, 5, 1});
  std::set<float> factors;
  for (std::size_t row = 0; row < 40; ++row) {
    factors.insert(scaled[row * 12] / declared[row * 12]);
    CHECK(scaled[row * 12 + 5] / declared[row * 12 + 5] == scaled[row * 12] / declared[row * 12]);
  }
  CHECK(factors.size() > 15);
  CHECK_FALSE(patterns(make_task("C = torch.tanh(A @ B)", product_interface)).contains(Pattern::magnitudes));
}

TEST_CASE("NaN and infinities come where any sound order of evaluation leaves them") {
  const std::string one = "//@ input A: float32[N, M]\n//@ output C: float32[N, M]\n";
  const auto kinds = [&](const std::string& line, const std::string& interface) {
    const auto all = patterns(make_task(line, interface));
    return std::pair(all.contains(Pattern::not_a_number), all.contains(Pattern::infinite));
  };
  CHECK(kinds("C = torch.relu(A) + 1", one) == std::pair(true, true));
  CHECK(kinds("C = torch.exp(A)", one) == std::pair(true, false));              // an argument in two parts is NaN there
  CHECK(kinds("C = torch.softmax(A, dim=1)", one) == std::pair(true, false));   // an online softmax starts from -inf
  CHECK(kinds("C = A @ B", product_interface) == std::pair(true, false));
  CHECK(kinds("C = torch.diag(A) @ B", "//@ input A: float32[K]\n//@ input B: float32[K, M]\n//@ output C: float32[K, M]\n") ==
        std::pair(false, false));                                               // what is multiplied by 0 may be left out
  CHECK(kinds("C = A.amax(dim=1)", "//@ input A: float32[N, M]\n//@ output C: float32[N]\n") == std::pair(false, false));
  const auto task = make_task("C = torch.relu(A) + 1", one);
  const auto nan = input(task, {Pattern::not_a_number, 5}), infinite = input(task, {Pattern::infinite, 5});
  CHECK(std::any_of(nan.begin(), nan.end(), [](float value) { return std::isnan(value); }));
  CHECK(std::any_of(infinite.begin(), infinite.end(), [](float value) { return std::isinf(value); }));
}

TEST_CASE("tiny elements lie between ordinary ones, and some are subnormal") {
  const auto task = make_task("C = A + 1", "//@ input A: float32[N, M]\n//@ output C: float32[N, M]\n", "N = 200, M = 40");
  int small = 0, subnormal = 0, zeros = 0, ordinary = 0;
  for (const float value : input(task, {Pattern::tiny, 5})) {
    ++(value == 0 ? zeros : std::fpclassify(value) == FP_SUBNORMAL ? subnormal : std::fabs(value) < 0x1p-17F ? small : ordinary);
  }
  CHECK(subnormal > 10);
  CHECK(zeros > 10);
  CHECK(small > 2000);
  CHECK(ordinary > 3000);
}

TEST_CASE("integers that only meet sums fill their type, and those that choose keep their range") {
  const std::string interface = "//@ input A: int64[N, M] ~ randint(0, 30)\n//@ output C: int64[N]\n";
  const auto task = make_task("C = A.sum(dim=1)", interface);
  CHECK(patterns(task).contains(Pattern::full_width));
  const auto full = values<std::int64_t>(reference::inputs(task, task.workloads[0], {Pattern::full_width, 5})[0]);
  CHECK(*std::max_element(full.begin(), full.end()) > std::int64_t{1} << 32);
  CHECK(*std::max_element(full.begin(), full.end()) < (std::int64_t{1} << 53) / 960);
  CHECK(*std::min_element(full.begin(), full.end()) >= 0);
  CHECK_FALSE(patterns(make_task("C = torch.gather(B, 1, A)", "//@ input A: int64[N, M] ~ randint(0, 30)\n"
                                 "//@ input B: float32[N, M]\n//@ output C: float32[N, M]\n", "N = 40, M = 30")).contains(Pattern::full_width));
  const auto compared = [&](const char* line) { return patterns(make_task(line, "//@ input A: int64[N, M] ~ randint(0, 30)\n//@ output C: bool[N, M, 30]\n")); };
  CHECK_FALSE(compared("C = A.unsqueeze(2) == torch.arange(30).reshape(1, 30)").contains(Pattern::full_width));
  CHECK(compared("C = (A + 1).unsqueeze(2) > torch.arange(30)").contains(Pattern::full_width));
}

TEST_CASE("integers lie all far below 0 once, and once one of two factors is as large as both may be") {
  const auto task = make_task("C = A @ B", "//@ input A: int32[N, M] ~ randint(-9, 9)\n//@ input B: int32[M, N] ~ randint(-9, 9)\n//@ output C: int32[N, N]\n", "N = 20, M = 30");
  const auto largest = [&](std::size_t turn, std::size_t buffer) {
    const auto all = values<std::int32_t>(reference::inputs(task, task.workloads[0], {Pattern::full_width, 5, turn})[buffer]);
    return std::pair{*std::min_element(all.begin(), all.end()), *std::max_element(all.begin(), all.end())};
  };
  CHECK(largest(1, 0).second < -100);
  const auto left = largest(2, 0), right = largest(2, 1);
  CHECK(std::max(left.second, right.second) > 1 << 20);
  CHECK(std::min(left.second, right.second) <= 2);
}

TEST_CASE("constant inputs move in every element, one by one and together") {
  const auto task = make_task("C = A * B + D", "//@ input A: float32[N]\n//@ input B: float32[N] ~ ones\n//@ input D: float32[N] ~ zeros\n"
                              "//@ output C: float32[N]\n");
  const auto trials = reference::trials(task, task.workloads[0], 1, 2, true, outcome::Precision::fp32);
  CHECK(std::count_if(trials.begin(), trials.end(), [](const auto& trial) { return trial.pattern == Pattern::constants; }) == 3);
  const auto moved = [&](std::size_t turn, std::size_t which, float constant) {
    const auto all = input(task, {Pattern::constants, 5, turn}, which);
    return std::count_if(all.begin(), all.end(), [&](float value) { return value != constant; });
  };
  CHECK(moved(0, 1, 1) == 40);
  CHECK(moved(0, 2, 0) == 40);
  CHECK(moved(1, 1, 1) == 40);
  CHECK(moved(1, 2, 0) == 0);
  CHECK(moved(2, 1, 1) == 0);
  CHECK(moved(2, 2, 0) == 40);
}
