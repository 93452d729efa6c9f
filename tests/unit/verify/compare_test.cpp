// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.hpp"

#include "base/random.hpp"

#include "catch.hpp"

#include <cmath>
#include <cstring>

using namespace cudal1;

namespace {

float to_tf32(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  bits = (bits + 0x1000U) & 0xffffe000U;
  std::memcpy(&value, &bits, 4);
  return value;
}

// Rows of sums of K products: truth, a sequential float sum as the reference.
struct Sums {
  reference::Expected expected;
  std::vector<double> reversed, tf32;

  Sums(std::int64_t rows, std::int64_t columns, int length, std::uint64_t seed) {
    base::Random random(seed);
    expected.output = "C";
    expected.shape = {rows, columns};
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      double truth = 0;
      double squares = 0;
      float forward = 0;
      float other = 0;
      float narrow = 0;
      std::vector<std::pair<float, float>> terms;
      for (int k = 0; k < length; ++k)
        terms.emplace_back(static_cast<float>(2 * random.uniform() - 1), static_cast<float>(2 * random.uniform() - 1));
      for (const auto& [a, b] : terms) {
        truth += static_cast<double>(a) * b;
        squares += std::pow(static_cast<double>(a) * b, 2);
        forward += a * b;
        narrow += to_tf32(a) * to_tf32(b);
      }
      for (auto term = terms.rbegin(); term != terms.rend(); ++term) other += term->first * term->second;
      expected.truth.push_back(truth);
      expected.sigma.push_back(0.41 * 0x1p-24 * std::sqrt(length * (truth * truth / 3 + squares / 6) + squares + truth * truth));
      expected.reference.push_back(forward);
      reversed.push_back(other);
      tf32.push_back(narrow);
    }
  }
};

}  // namespace

TEST_CASE("another order of summation is right, TF32 operands are not") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Sums sums(16, 64, 500, seed);
    const auto other = verify::compare(sums.expected, sums.reversed, std::nullopt);
    INFO(other.why);
    CHECK(other.right);
    CHECK(other.relative_l2 < 1e-6);
    const auto narrow = verify::compare(sums.expected, sums.tf32, std::nullopt);
    CHECK_FALSE(narrow.right);
    REQUIRE(narrow.first);
    CHECK(narrow.first->index.size() == 2);
  }
}

TEST_CASE("one zeroed row of many is found") {
  Sums sums(256, 64, 100, 3);
  auto got = sums.reversed;
  for (int i = 0; i < 64; ++i) got[200 * 64 + static_cast<std::size_t>(i)] = 0;
  const auto comparison = verify::compare(sums.expected, got, std::nullopt);
  CHECK_FALSE(comparison.right);
  REQUIRE(comparison.first);
  CHECK(comparison.first->index[0] == 200);
}

// Sums from the left in parts of `length`, each on top of the ones before it, as scans on a GPU are computed.
std::vector<double> running_sums(const std::vector<float>& terms, std::size_t row, std::size_t length) {
  std::vector<double> result;
  float before = 0, within = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i % row == 0) before = within = 0;
    else if (i % length == 0) before += within, within = 0;
    within += terms[i];
    result.push_back(before + within);
  }
  return result;
}

TEST_CASE("running sums more exact than the reference's are right, also in a row where the reference had luck") {
  constexpr std::size_t rows = 1024, row = 8192;
  base::Random random(3);
  std::vector<float> terms(rows * row);
  for (float& term : terms) term = static_cast<float>(2 * random.uniform() - 1);
  reference::Expected expected;
  expected.output = "C";
  expected.shape = {rows, row};
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    expected.truth.push_back(sum = (i % row == 0 ? 0 : sum) + static_cast<double>(terms[i]));
    squares = (i % row == 0 ? 0 : squares) + sum * sum;
    expected.sigma.push_back(0.41 * 0x1p-24 * std::sqrt(squares + 4 * squares / static_cast<double>(i % row + 1)));
  }
  expected.reference = running_sums(terms, row, 2048);
  auto got = running_sums(terms, row, 512);
  const auto better = verify::compare(expected, got, std::nullopt);
  INFO(better.why);
  CHECK(better.right);
  CHECK(better.relative_l2 < better.reference_relative_l2);
  for (std::size_t i = 5 * row; i < 6 * row; ++i) got[i] *= 1 + 2e-5;
  CHECK_FALSE(verify::compare(expected, got, std::nullopt).right);
}

TEST_CASE("outputs long enough for several threads are judged as short ones are") {
  constexpr std::int64_t rows = 3000, columns = 300;
  reference::Expected expected;
  expected.output = "C";
  expected.shape = {rows, columns};
  base::Random random(7);
  for (std::int64_t i = 0; i < rows * columns; ++i) expected.truth.push_back(1 + random.uniform());
  std::vector<double> got;
  for (const double truth : expected.truth) got.push_back(static_cast<float>(truth));
  expected.sigma.assign(expected.truth.size(), 2e-7);
  CHECK(verify::compare(expected, got, std::nullopt).right);

  auto row = got;
  for (std::int64_t i = 0; i < columns; ++i) row[2900 * columns + i] *= 1 + 2e-5;
  const auto found = verify::compare(expected, row, std::nullopt);
  REQUIRE_FALSE(found.right);
  CHECK(found.first->index[0] == 2900);

  auto missing = got;
  missing[2800 * columns + 7] = missing[2999 * columns + 1] = std::nan("");
  const auto nan = verify::compare(expected, missing, std::nullopt);
  REQUIRE_FALSE(nan.right);
  CHECK(nan.first->index == std::vector<std::int64_t>{2800, 7});
}

TEST_CASE("zeros do not pass for a small softmax") {
  reference::Expected expected;
  expected.output = "Y";
  expected.shape = {1, 4096};
  expected.truth.assign(4096, 1.0 / 4096);
  expected.reference = expected.truth;
  CHECK_FALSE(verify::compare(expected, std::vector<double>(4096, 0.0), std::nullopt).right);
}

TEST_CASE("NaN is no wildcard and an expected NaN must be there") {
  reference::Expected expected;
  expected.output = "Y";
  expected.shape = {3};
  expected.truth = {1, std::nan(""), HUGE_VAL};
  expected.reference = expected.truth;
  CHECK(verify::compare(expected, {1, std::nan(""), HUGE_VAL}, std::nullopt).right);
  CHECK_FALSE(verify::compare(expected, {std::nan(""), std::nan(""), HUGE_VAL}, std::nullopt).right);
  CHECK_FALSE(verify::compare(expected, {1, 2, HUGE_VAL}, std::nullopt).right);
  CHECK_FALSE(verify::compare(expected, {1, std::nan(""), -HUGE_VAL}, std::nullopt).right);
}

TEST_CASE("integers are exact, and a declared tolerance decides alone") {
  reference::Expected expected;
  expected.output = "I";
  expected.dtype = tensor::Dtype::int32;
  expected.shape = {2};
  expected.truth = {5, 7};
  CHECK(verify::compare(expected, {5, 7}, std::nullopt).right);
  CHECK_FALSE(verify::compare(expected, {5, 8}, std::nullopt).right);
  expected.dtype = tensor::Dtype::float32;
  CHECK_FALSE(verify::compare(expected, {5, 7.001}, std::nullopt).right);
  CHECK(verify::compare(expected, {5, 7.001}, verify::Bounds{0.001, 0}).right);
  CHECK_FALSE(verify::compare(expected, {5, 7.01}, verify::Bounds{0.001, 0}).right);
}

TEST_CASE("the index of an equally large element is right") {
  reference::Expected expected;
  expected.output = "I";
  expected.dtype = tensor::Dtype::int64;
  expected.shape = {2};
  expected.truth = {1, 0};
  expected.choice = reference::Expected::Choice{{3, 9, 9, 8, 2, 1}, 3, 1, {}};
  CHECK(verify::compare(expected, {2, 0}, std::nullopt).right);
  CHECK_FALSE(verify::compare(expected, {0, 0}, std::nullopt).right);
  CHECK_FALSE(verify::compare(expected, {1, 7}, std::nullopt).right);
  CHECK_FALSE(verify::compare(expected, {0.5, 0}, std::nullopt).right);
}

TEST_CASE("a sound error where a ReLU's threshold was not crossed by any sample is right, a large one is not") {
  reference::Expected expected;
  expected.output = "C";
  expected.shape = {32, 32};
  for (std::size_t i = 0; i < 1024; ++i) {
    const bool cut = (i + i / 32) % 2 == 0;   // in every row and column
    expected.truth.push_back(cut ? 0 : 1);
    expected.sigma.push_back(cut ? 0 : 1e-6);
  }
  auto got = expected.truth;
  got[35] = 2e-6;
  CHECK_FALSE(verify::compare(expected, got, std::nullopt).right);
  expected.sampled = true;
  CHECK(verify::compare(expected, got, std::nullopt).right);
  got[35] = 2e-5;
  CHECK_FALSE(verify::compare(expected, got, std::nullopt).right);
}

TEST_CASE("one element just beyond a threshold may be off as its neighbours may, two may not") {
  reference::Expected expected;
  expected.output = "C";
  expected.shape = {32, 32};
  expected.truth.assign(1024, 1);
  expected.sigma.assign(1024, 1e-6);
  expected.sigma[35] = expected.sigma[700] = 1e-9;
  auto got = expected.truth;
  got[35] += 4e-6;
  CHECK_FALSE(verify::compare(expected, got, std::nullopt).right);
  expected.sampled = true;
  CHECK(verify::compare(expected, got, std::nullopt).right);
  got[700] += 4e-6;
  CHECK_FALSE(verify::compare(expected, got, std::nullopt).right);
  got[700] = 1;
  got[35] = 1 + 2e-5;
  CHECK_FALSE(verify::compare(expected, got, std::nullopt).right);
}

TEST_CASE("sigma of few runs may be far too small anywhere") {
  reference::Expected expected;
  expected.output = "C";
  expected.shape = {32, 32};
  expected.truth.assign(1024, 1);
  expected.sigma.assign(1024, 1e-6);
  auto got = expected.truth;
  for (std::size_t i = 7; i < 1024; i += 100) expected.sigma[i] = 1e-9, got[i] += 2e-6;
  expected.sampled = true;
  CHECK_FALSE(verify::compare(expected, got, std::nullopt).right);
  expected.few_runs = true;
  CHECK(verify::compare(expected, got, std::nullopt).right);
}

TEST_CASE("results in 16 bits are rounded, not cut off") {
  base::Random random(11);
  reference::Expected expected;
  expected.output = "C";
  expected.dtype = tensor::Dtype::bfloat16;
  expected.shape = {64, 64};
  std::vector<double> rounded;
  std::vector<double> cut;
  for (std::size_t i = 0; i < 4096; ++i) {
    const double truth = 1 + random.uniform();
    expected.truth.push_back(truth);
    expected.sigma.push_back(0.41 * 0x1p-8 * truth);
    rounded.push_back(std::nearbyint(truth * 128) / 128);
    cut.push_back(std::floor(truth * 128) / 128);
  }
  CHECK(verify::compare(expected, rounded, std::nullopt).right);
  const auto comparison = verify::compare(expected, cut, std::nullopt);
  CHECK_FALSE(comparison.right);
  CHECK(comparison.why.find("one direction") != std::string::npos);
  auto some = rounded;
  for (std::size_t i = 0; i < 4096; ++i)
    if (i * 2654435761U % 4096 < 4096 * 3 / 5) some[i] = cut[i];
  CHECK_FALSE(verify::compare(expected, some, std::nullopt).right);
}

TEST_CASE("results in 16 bits that are all rounded up alike are right") {
  reference::Expected expected;
  expected.output = "C";
  expected.dtype = tensor::Dtype::bfloat16;
  expected.shape = {64, 64};
  for (std::size_t i = 0; i < 4096; ++i) expected.truth.push_back(1 + 0.6 * 0x1p-7 + 1e-7 * static_cast<double>(i % 7));
  expected.sigma.assign(4096, 0.6 * 0x1p-7);
  const std::vector<double> rounded(4096, 1 + 0x1p-7);
  CHECK(verify::compare(expected, rounded, std::nullopt).right);
  const std::vector<double> other(4096, 1);    // one step off in each element, as may come of rounding after each of two functions
  CHECK(verify::compare(expected, other, std::nullopt).right);
}

TEST_CASE("a column of a slightly wrong size is named by its axis") {
  reference::Expected expected;
  expected.output = "C";
  expected.shape = {400, 100};
  expected.truth.assign(40000, 1);
  expected.sigma.assign(40000, 1e-6);
  auto got = expected.truth;
  for (std::size_t row = 0; row < 400; ++row) got[row * 100 + 17] += 1.2e-5;
  const auto comparison = verify::compare(expected, got, std::nullopt);
  REQUIRE_FALSE(comparison.right);
  CHECK(comparison.why == "index 17 of axis 1 is off by 12 times what rounding explains, at most 8 is right");
  CHECK(verify::compare(expected, got, std::nullopt, 2).right);
}
