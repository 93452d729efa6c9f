// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "tensor/distribution.hpp"
#include "tensor/generator.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

using namespace cudal1;
using tensor::Distribution;
using tensor::Dtype;

namespace {

std::vector<double> filled(Dtype dtype, const char* text, std::size_t count, std::uint64_t seed = 7, std::uint64_t stream = 1) {
  std::vector<std::byte> bytes(count * tensor::size_of(dtype));
  tensor::fill(dtype, tensor::parse_distribution(text).value(), seed, stream, count, bytes.data());
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(tensor::load(dtype, bytes.data() + i * tensor::size_of(dtype)));
  return values;
}

}  // namespace

TEST_CASE("the portable Philox agrees with the host's and with the published vectors") {
  const auto zero = tensor::generator::philox(0, 0, 0);
  CHECK(zero.x == 0x6627e8d5U);
  CHECK(zero.y == 0xe169c58dU);
  CHECK(zero.z == 0xbc57ac4cU);
  CHECK(zero.w == 0x9b00dbd8U);
  const auto ones = tensor::generator::philox(~0ULL, ~0ULL, ~0ULL);
  CHECK(ones.x == 0x408f276dU);
  CHECK(ones.w == 0x6d5451fdU);
  for (std::uint64_t i = 0; i < 50; ++i) {
    const auto a = tensor::generator::philox(0x1234567890abcdefULL * i, ~i, i << 33);
    const auto b = base::philox(0x1234567890abcdefULL * i, ~i, i << 33);
    CHECK((a.x == b[0] && a.y == b[1] && a.z == b[2] && a.w == b[3]));
  }
}

TEST_CASE("the bulk loop gives the same bits as single elements") {
  for (Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int32, Dtype::bool_})
    for (const char* text : {"normal", "uniform(-1, 3)", "randint(-5, 9)", "arange", "ones", "zeros"}) {
      const auto distribution = tensor::parse_distribution(text).value();
      const std::size_t count = 1000, size = tensor::size_of(dtype);
      std::vector<std::byte> bytes(count * size);
      tensor::fill(dtype, distribution, ~5ULL, 1ULL << 40, count, bytes.data());
      bool equal = true;
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = tensor::generator::element(static_cast<int>(dtype), static_cast<int>(distribution.kind), ~5ULL,
                                                              1ULL << 40, i, distribution.low, distribution.high);
        equal = equal && std::memcmp(&bits, bytes.data() + i * size, size) == 0;
      }
      INFO(tensor::name(dtype) << " " << text);
      CHECK(equal);
    }
}

TEST_CASE("a normal stream has the moments of a normal and fills the significand") {
  const auto values = filled(Dtype::float32, "normal", 1 << 18);
  double sum = 0, square = 0, fourth = 0;
  int fine = 0;
  for (double v : values) {
    sum += v, square += v * v, fourth += v * v * v * v;
    fine += std::fmod(v * 4096, 1.0) != 0;
  }
  const double n = static_cast<double>(values.size());
  CHECK(std::abs(sum / n) < 0.01);
  CHECK(std::abs(square / n - 1) < 0.02);
  CHECK(std::abs(fourth / n - 2.9) < 0.1);  // 3 - 1.2 / 12, the kurtosis of a sum of twelve
  CHECK(fine > n * 0.9);
}

TEST_CASE("bounds are kept, and streams and seeds differ") {
  for (Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    bool inside = true;
    double sum = 0;
    for (double v : filled(dtype, "uniform(1, 2)", 20000)) inside = inside && v >= 1 && v < 2, sum += v;
    CHECK(inside);
    CHECK(std::abs(sum / 20000 - 1.5) < 0.01);
  }
  std::vector<int> seen(5);
  for (double v : filled(Dtype::int64, "randint(-2, 3)", 5000)) ++seen[static_cast<std::size_t>(v + 2)];
  for (int n : seen) CHECK(std::abs(n - 1000) < 150);
  CHECK(filled(Dtype::float32, "normal", 8, 1, 0) != filled(Dtype::float32, "normal", 8, 2, 0));
  CHECK(filled(Dtype::float32, "normal", 8, 1, 0) != filled(Dtype::float32, "normal", 8, 1, 1));
  CHECK(filled(Dtype::int32, "arange", 3) == std::vector<double>{0, 1, 2});
}

TEST_CASE("values are rounded once to nearest even") {
  const auto through = [](Dtype dtype, double value) {
    std::byte bytes[8];
    tensor::store(dtype, value, bytes);
    return tensor::load(dtype, bytes);
  };
  CHECK(through(Dtype::float16, 1 + 0x1p-11) == 1);
  CHECK(through(Dtype::float16, 1 + 3 * 0x1p-11) == 1 + 0x1p-9);
  CHECK(through(Dtype::float16, 1 + 0x1p-11 + 0x1p-40) == 1 + 0x1p-10);  // would be 1 by way of float
  CHECK(through(Dtype::float16, 65519) == 65504);
  CHECK(std::isinf(through(Dtype::float16, 65520)));
  CHECK(through(Dtype::float16, 0x1p-24) == 0x1p-24);
  CHECK(through(Dtype::float16, 0x1p-25) == 0);
  CHECK(through(Dtype::float16, 1.5 * 0x1p-25) == 0x1p-24);
  CHECK(through(Dtype::float16, 0x1p-14 - 0x1p-26) == 0x1p-14);
  CHECK(through(Dtype::bfloat16, 1 + 0x1p-8) == 1);
  CHECK(through(Dtype::bfloat16, -3.0e38) < -2.9e38);
  CHECK(std::isnan(through(Dtype::bfloat16, std::nan(""))));
  CHECK(through(Dtype::int8, 200) == -56);
  CHECK(through(Dtype::uint8, -1) == 255);
  CHECK(through(Dtype::int32, -2.9) == -2);
  CHECK(through(Dtype::bool_, 0.5) == 1);
  for (int bits = 0; bits < 65536; ++bits)
    for (Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
      std::byte bytes[2], again[2];
      std::memcpy(bytes, &bits, 2);
      const double value = tensor::load(dtype, bytes);
      tensor::store(dtype, value, again);
      if (!std::isnan(value) && std::memcmp(bytes, again, 2) != 0) FAIL("bits " << bits);
    }
}

TEST_CASE("a distribution is read and printed") {
  for (const char* text : {"normal", "uniform(-0.5, 2)", "randint(0, 10)", "zeros", "ones", "arange", "file(\"x.npy\")"})
    CHECK(tensor::to_string(tensor::parse_distribution(text).value()) == text);
  for (const char* text : {"", "gauss", "uniform(1)", "uniform(2, 1)", "randint(0.5, 2)", "normal(1)", "file(x)", "randint(0, 1", "uniform(nan, 1)"})
    CHECK_FALSE(tensor::parse_distribution(text).has_value());
  CHECK(tensor::parse_distribution(" uniform ( 0 , 1 ) ").value().kind == Distribution::Kind::uniform);
}

TEST_CASE("values in order: sorted, shuffled, row pointers, a constant, a normal elsewhere") {
  const auto values = [](const std::string& text, Dtype dtype, std::size_t count) {
    std::vector<std::byte> bytes(count * tensor::size_of(dtype));
    tensor::fill(dtype, tensor::parse_distribution(text).value(), 7, 1, count, bytes.data());
    std::vector<double> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(tensor::load(dtype, bytes.data() + i * tensor::size_of(dtype)));
    return result;
  };
  const auto sorted = values("sorted(-4, 9)", Dtype::float32, 1000);
  CHECK(std::is_sorted(sorted.begin(), sorted.end()));
  CHECK(sorted.front() >= -4);
  CHECK(sorted.back() < 9);
  auto shuffled = values("permutation", Dtype::int32, 1000);
  CHECK_FALSE(std::is_sorted(shuffled.begin(), shuffled.end()));
  std::sort(shuffled.begin(), shuffled.end());
  for (std::size_t i = 0; i < shuffled.size(); ++i) CHECK(shuffled[i] == static_cast<double>(i));
  const auto rows = values("offsets(5000)", Dtype::int32, 257);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  CHECK(rows.front() == 0);
  CHECK(rows.back() == 5000);
  CHECK(values("constant(-inf)", Dtype::float32, 2)[1] == -INFINITY);
  double mean = 0;
  for (const double value : values("normal(10, 0.5)", Dtype::float32, 4096)) mean += value / 4096;
  CHECK(std::abs(mean - 10) < 0.1);
  CHECK(tensor::parse_distribution("randint(0, 2 * N)").value().high_text == "2 * N");
  CHECK_FALSE(tensor::parse_distribution("normal(0, 0)").has_value());
  CHECK_FALSE(tensor::parse_distribution("permutation(3)").has_value());
}

TEST_CASE("a .npy file fills an input of its type and size, and nothing else") {
  base::TemporaryFolder folder;
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(118, ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + char(118) + '\0' + header;
  for (int i = 0; i < 6; ++i) {
    const float value = static_cast<float>(i) / 2;
    bytes.append(reinterpret_cast<const char*>(&value), 4);
  }
  base::write_file(folder.path() / "x.npy", bytes);
  Distribution distribution;
  distribution.kind = Distribution::Kind::file;
  distribution.path = "x.npy";
  float out[6] = {};
  tensor::fill(Dtype::float32, distribution, 0, 0, 6, reinterpret_cast<std::byte*>(out), folder.path());
  CHECK(out[5] == 2.5F);
  CHECK_THROWS_AS(tensor::fill(Dtype::float32, distribution, 0, 0, 5, reinterpret_cast<std::byte*>(out), folder.path()), base::Error);
  CHECK_THROWS_AS(tensor::fill(Dtype::int32, distribution, 0, 0, 6, reinterpret_cast<std::byte*>(out), folder.path()), base::Error);
  base::write_file(folder.path() / "x.npy", bytes.substr(0, bytes.size() - 1));
  CHECK_THROWS_AS(tensor::fill(Dtype::float32, distribution, 0, 0, 6, reinterpret_cast<std::byte*>(out), folder.path()), base::Error);
}
