// SPDX-License-Identifier: Apache-2.0
#include "tensor/rounding.hpp"

#include "base/random.hpp"
#include "tensor/function.hpp"
#include "tensor/part.hpp"
#include "tensor/rounding_rule.hpp"

#include "catch.hpp"

#include <algorithm>
#include <cmath>

using namespace cudal1;
using tensor::Array;

namespace {

Array drawn(std::vector<std::int64_t> shape, std::uint64_t seed, double low = -1) {
  base::Random random(seed);
  Array array{tensor::Dtype::float32, std::move(shape), {}};
  std::int64_t count = 1;
  for (const std::int64_t extent : array.shape) count *= extent;
  for (std::int64_t i = 0; i < count; ++i) array.values.push_back(static_cast<float>(low + (1 - low) * random.uniform()));
  return array;
}

tensor::RoundedArray rounded(const std::string& line, const std::map<std::string, Array>& inputs, tensor::RoundingOptions options = {}) {
  std::vector<std::string> names;
  for (const auto& [name, array] : inputs) names.push_back(name);
  const auto graph = tensor::parse(line, names, {}, {"C"});
  REQUIRE(graph);
  auto result = tensor::evaluate_rounded(*graph, inputs, {}, options);
  REQUIRE(result);
  return std::move(result->at("C"));
}

// Root mean square of errors over that of sigma.
double ratio(const tensor::RoundedArray& right, const std::vector<float>& got) {
  double errors = 0;
  double variances = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    errors += std::pow(got[i] - right.value.values[i], 2);
    variances += std::pow(right.sigma[i], 2);
  }
  return std::sqrt(errors / variances);
}

}  // namespace

TEST_CASE("without runs there is an error of a sum's own, and none that was sampled") {
  tensor::RoundingOptions options;
  options.runs = 0;
  const auto sum = rounded("C = A.sum(dim=1)", {{"A", drawn({3, 50}, 1)}}, options);
  CHECK(!sum.sampled);
  CHECK(sum.sigma.at(0) > 0);
}

TEST_CASE("every function that is evaluated has a rule for its rounding") {
  for (const auto& family : {tensor::pointwise_rows(), tensor::reduction_rows(), tensor::scan_rows(), tensor::shape_rows(), tensor::indexing_rows(),
                             tensor::creation_rows(), tensor::linear_algebra_rows(), tensor::attention_rows(), tensor::convolution_rows(),
                             tensor::pooling_rows(), tensor::normalization_rows(), tensor::loss_rows(), tensor::resampling_rows()})
    for (const tensor::Row& row : family) {
      const std::string name(row.signature.substr(0, row.signature.find('(')));
      INFO(name);
      CHECK(tensor::rounding_rule(name) != nullptr);
    }
}

TEST_CASE("one float accumulator is off by about sigma, in sums of either sign and of one") {
  for (const double low : {-1.0, 0.0}) {
    const Array a = drawn({64, 3000}, 1, low);
    const auto right = rounded("C = A.sum(dim=1)", {{"A", a}});
    CHECK_FALSE(right.sampled);
    std::vector<float> got;
    for (std::size_t row = 0; row < 64; ++row) {
      float sum = 0;
      for (std::size_t k = 0; k < 3000; ++k) sum += static_cast<float>(a.values[row * 3000 + k]);
      got.push_back(sum);
    }
    INFO(low);
    CHECK(ratio(right, got) > 0.5);
    CHECK(ratio(right, got) < 1.6);
  }
}

TEST_CASE("errors of one function move the next: a softmax of products") {
  const Array q = drawn({8, 64}, 2), k = drawn({32, 64}, 3);
  const auto right = rounded("C = torch.softmax(8 * (Q @ K.t()), 1)", {{"Q", q}, {"K", k}});
  CHECK(right.sampled);
  std::vector<float> got;
  for (std::size_t row = 0; row < 8; ++row) {
    std::vector<float> scores;
    for (std::size_t column = 0; column < 32; ++column) {
      float sum = 0;
      for (std::size_t l = 0; l < 64; ++l) sum += static_cast<float>(q.values[row * 64 + l]) * static_cast<float>(k.values[column * 64 + l]);
      scores.push_back(8 * sum);
    }
    const float top = *std::max_element(scores.begin(), scores.end());
    float total = 0;
    for (float& score : scores) total += score = std::exp(score - top);
    for (const float score : scores) got.push_back(score / total);
  }
  CHECK(ratio(right, got) > 0.2);
  CHECK(ratio(right, got) < 2);
}

TEST_CASE("sums of small integers are exact, and copies are") {
  Array a = drawn({4, 100}, 4);
  for (double& value : a.values) value = std::nearbyint(3 * value);
  for (const char* line : {"C = A.sum(dim=1)", "C = A @ A.t()", "C = A.t()", "C = torch.relu(A)", "C = torch.cumsum(A, 1)"}) {
    const auto right = rounded(line, {{"A", a}});
    INFO(line);
    CHECK(std::all_of(right.sigma.begin(), right.sigma.end(), [](double sigma) { return sigma == 0; }));
  }
}

TEST_CASE("what a function gives below the smallest normal number may be flushed to zero") {
  const Array a{tensor::Dtype::float32, {3}, {-88, -95, 1e-39}};
  const auto powers = rounded("C = torch.exp(A)", {{"A", a}});
  for (const std::size_t i : {0U, 1U}) CHECK(powers.sigma[i] >= powers.value.values[i]);
  CHECK(powers.sigma[2] < 1e-6);
  CHECK(rounded("C = A.view(3)", {{"A", a}}).sigma[2] == 0);
}

TEST_CASE("operands that may be rounded add their error to products, and to convolutions apart") {
  const Array a = drawn({8, 50}, 5), x = drawn({1, 4, 9, 9}, 6), w = drawn({5, 4, 3, 3}, 7);
  tensor::RoundingOptions only_convolutions;
  only_convolutions.convolution_operands = 0x1p-11;
  const auto size = [&](const std::string& line, const std::map<std::string, Array>& inputs, const tensor::RoundingOptions& options) {
    double squares = 0;
    for (const double sigma : rounded(line, inputs, options).sigma) squares += sigma * sigma;
    return std::sqrt(squares);
  };
  CHECK(size("C = A @ A.t()", {{"A", a}}, only_convolutions) == size("C = A @ A.t()", {{"A", a}}, {}));
  const std::string line = "C = torch.conv2d(X, W)";
  CHECK(size(line, {{"X", x}, {"W", w}}, only_convolutions) > 100 * size(line, {{"X", x}, {"W", w}}, {}));
}

TEST_CASE("an index may be another where rounding decides it") {
  const Array a = drawn({3, 7}, 8);
  const auto clear = rounded("C = torch.argmax(A, 1)", {{"A", a}});
  CHECK(clear.alternatives.empty());
  Array tenths = a;
  for (double& value : tenths.values) value = 0.1F;
  const auto tied = rounded("C = torch.floor(A * 10).long()", {{"A", tenths}});
  CHECK(tied.value.values.front() == 1);   // 0.1F is a little more than 0.1
  CHECK_FALSE(tied.alternatives.empty());
}

TEST_CASE("a line is cut along the axes whose elements do not meet") {
  const std::map<std::string, Array> inputs{{"A", drawn({6, 5}, 9)}, {"B", drawn({5, 7}, 10)}, {"D", drawn({7}, 11)}};
  const auto graph = tensor::parse("C = torch.softmax(A @ B + D, 1)", {"A", "B", "D"}, {}, {"C"});
  REQUIRE(graph);
  const auto rows = tensor::cuts(*graph, inputs, {}, "C", 0);
  REQUIRE(rows);
  CHECK(*rows == std::map<std::string, int>{{"A", 0}, {"B", -1}, {"D", -1}});
  CHECK_FALSE(tensor::cuts(*graph, inputs, {}, "C", 1));
  const auto whole = tensor::evaluate(*graph, inputs, {});
  std::map<std::string, Array> part = inputs;
  part["A"] = tensor::cut(inputs.at("A"), 0, {1, 4});
  const auto some = tensor::evaluate(*graph, part, {});
  REQUIRE(whole);
  REQUIRE(some);
  CHECK(tensor::cut(whole->at("C"), 0, {1, 4}).values == some->at("C").values);
}

TEST_CASE("a product with itself is not cut") {
  const std::map<std::string, Array> inputs{{"A", drawn({6, 5}, 9)}};
  const auto graph = tensor::parse("C = A @ A.t()", {"A"}, {}, {"C"});
  REQUIRE(graph);
  CHECK_FALSE(tensor::cuts(*graph, inputs, {}, "C", 0));
}

TEST_CASE("a sum in which half of the terms are alike is off by the same rounding many times") {
  Array a = drawn({32, 1000}, 9, 0);
  for (std::size_t i = 0; i < a.values.size(); i += 2) a.values[i] = 0.7F;
  const auto right = rounded("C = A.sum(dim=1)", {{"A", a}});
  std::vector<float> got;
  for (std::size_t row = 0; row < 32; ++row) {
    float sum = 0;
    for (std::size_t k = 0; k < 1000; ++k) sum += static_cast<float>(a.values[row * 1000 + k]);
    got.push_back(sum);
  }
  CHECK(ratio(right, got) < 2);
  CHECK(ratio(right, got) > 0.1);
}

TEST_CASE("partial sums below the smallest normal number may be flushed to zero, as atomic sums are") {
  Array a = drawn({64, 100}, 10);
  for (double& value : a.values) value *= 0x1p-126;
  const auto right = rounded("C = A.sum(dim=1)", {{"A", a}});
  const auto flushed = [](float value) { return std::fabs(value) < 0x1p-126F ? 0.0F : value; };
  std::vector<float> got;
  for (std::size_t row = 0; row < 64; ++row) {
    float sum = 0;
    for (std::size_t first = 0; first < 100; first += 10) {   // one atomic sum for ten terms
      float part = 0;
      for (std::size_t k = first; k < first + 10; ++k) part += static_cast<float>(a.values[row * 100 + k]);
      sum = flushed(sum + flushed(part));
    }
    got.push_back(sum);
  }
  CHECK(ratio(right, got) > 0.05);
  CHECK(ratio(right, got) < 2);
  for (double& value : a.values) value *= 0x1p40;   // far above, nothing is flushed
  const auto larger = rounded("C = A.sum(dim=1)", {{"A", a}});
  CHECK(larger.sigma[0] < 1e-5 * std::fabs(right.sigma[0]) * 0x1p40);
}

TEST_CASE("a variance in one pass about the first element is as exact as that element lets it be") {
  Array a = drawn({16, 500}, 11);
  for (std::size_t row = 0; row < 16; ++row) a.values[row * 500] = 30;
  const auto right = rounded("C = A.var(dim=1)", {{"A", a}});
  std::vector<float> got;
  for (std::size_t row = 0; row < 16; ++row) {
    float sum = 0, squares = 0;
    for (std::size_t k = 0; k < 500; ++k) {
      const float off = static_cast<float>(a.values[row * 500 + k]) - 30;
      sum += off;
      squares += off * off;
    }
    got.push_back((squares - sum * sum / 500) / 499);
  }
  CHECK(ratio(right, got) > 0.1);
  CHECK(ratio(right, got) < 3);
}

TEST_CASE("a large input disturbs all results of a tile of Winograd's, whichever taps it meets") {
  Array x = drawn({1, 1, 4, 4}, 12);
  const Array w{tensor::Dtype::float32, {1, 1, 3, 3}, {0.001F, 0.9F, 0.8F, 0.7F, 0.9F, 0.6F, 0.9F, 0.8F, 0.7F}};
  x.values[0] = 0, x.values[5] = 1e5F;   // meets every tap of the kernel, the smallest in the last result
  const auto right = rounded("C = torch.conv2d(X, W)", {{"X", x}, {"W", w}});
  // Transformed as F(2x2, 3x3) does along each axis: B' d, G g and A' m.
  const auto input = [](float a, float b, float c, float d, int i) { return i == 0 ? a - c : i == 1 ? b + c : i == 2 ? c - b : b - d; };
  const auto taps = [](float a, float b, float c, int i) { return i == 0 ? a : i == 1 ? 0.5F * (a + b + c) : i == 2 ? 0.5F * (a - b + c) : c; };
  const auto result = [](float a, float b, float c, float d, int i) { return i == 0 ? a + b + c : b - c - d; };
  float d[4][4], g[4][4], m[4][4], half[4][4];
  const auto value = [](const Array& array, int i, int j, int width) { return static_cast<float>(array.values[static_cast<std::size_t>(i * width + j)]); };
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) half[i][j] = input(value(x, 0, j, 4), value(x, 1, j, 4), value(x, 2, j, 4), value(x, 3, j, 4), i);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) d[i][j] = input(half[i][0], half[i][1], half[i][2], half[i][3], j);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) half[i][j] = taps(value(w, 0, j, 3), value(w, 1, j, 3), value(w, 2, j, 3), i);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) g[i][j] = taps(half[i][0], half[i][1], half[i][2], j);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) m[i][j] = d[i][j] * g[i][j];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) half[i][j] = result(m[0][j], m[1][j], m[2][j], m[3][j], i);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const auto at = static_cast<std::size_t>(2 * i + j);
      INFO(at);
      CHECK(std::fabs(result(half[i][0], half[i][1], half[i][2], half[i][3], j) - right.value.values[at]) < 6 * right.sigma[at]);
    }
}

TEST_CASE("attention of 16 bits may round its weights where operands may be rounded; factors of 16 bits are exact") {
  const auto short_floats = [](Array array) {
    array.dtype = tensor::Dtype::bfloat16;
    for (double& value : array.values) value = std::round(value * 128) / 128;
    return array;
  };
  const std::map<std::string, Array> inputs = {{"K", short_floats(drawn({1, 60, 16}, 2))}, {"Q", short_floats(drawn({1, 60, 16}, 1))}, {"V", short_floats(drawn({1, 60, 16}, 3))}};
  tensor::RoundingOptions half;
  half.product_operands = 0x1p-8;
  const auto variance = [&](const std::string& line, const tensor::RoundingOptions& options) {
    double sum = 0;
    for (const double sigma : rounded(line, inputs, options).sigma) sum += sigma * sigma;
    return sum;
  };
  const std::string attention = "C = F.scaled_dot_product_attention(Q, K, V)", product = "C = torch.matmul(Q, K.transpose(-2, -1)) + V.sum()";
  CHECK(variance(attention, half) > 1.2 * variance(attention, {}));
  CHECK(variance(product, half) == variance(product, {}));
}
