// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "cuda_code/device_code.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace cudal1;
using cuda_code::device_code;
using cuda_code::Hole;

namespace {

std::vector<Hole> filled() {
  return {{"name", "total"}, {"parameters", "float* Y"}, {"H", "64"}, {"R", "R"}, {"S", "S"}, {"O", "Y"}, {"rows", 128}, {"parts", 4}};
}

}  // namespace

TEST_CASE("every hole of device code takes its text, numbers too") {
  const std::string code = device_code("attention_total.cuh", filled());
  CHECK(code.find("total(float* Y)") != std::string::npos);
  CHECK(code.find("128") != std::string::npos);
  CHECK(cuda_code::holes_of(code).empty());
  CHECK(code.find("//$") == std::string::npos);
}

TEST_CASE("a hole without a text and a text without a hole are mistakes") {
  std::vector<Hole> holes = filled();
  holes.pop_back();
  CHECK_THROWS_AS(device_code("attention_total.cuh", holes), std::logic_error);
  holes = filled();
  holes.emplace_back("colour", "blue");
  CHECK_THROWS_AS(device_code("attention_total.cuh", holes), std::logic_error);
  CHECK_NOTHROW(device_code("attention_total.cuh", cuda_code::holes_in("attention_total.cuh", holes)));
  CHECK_THROWS_AS(device_code("no such file.cuh"), std::logic_error);
}

TEST_CASE("the head of a file of device code says what it needs, and is in no generated file") {
  const auto file = cuda_code::read_device_file("// SPDX-License-Identifier: Apache-2.0\n//$ Adds.\n//$ needs a.cuh b.cuh\n\nvoid f() {\n$body$\n  g($rows$);\n}\n");
  CHECK(file.needs == std::vector<std::string>{"a.cuh", "b.cuh"});
  CHECK(file.code == "void f() {\n$body$\n  g($rows$);\n}\n");
  CHECK(cuda_code::holes_of(file.code) == std::vector<std::string>{"body", "rows"});
  CHECK(cuda_code::device_file("powers.cuh").needs == std::vector<std::string>{"parts.cuh"});
}

TEST_CASE("what several kernels have in common stands in one file, some of whose holes each of them fills") {
  const auto file = cuda_code::read_device_file("void f() {\n//$ with warpgroup_results.cuh; place =; outside = row >= $N$ || late;first_column=start\n}\n");
  CHECK(file.code.find("if (row >= $N$ || late) continue;") != std::string::npos);
  CHECK(file.code.find("const int column = start + 32 * j + lane;\n#pragma unroll 4\n") != std::string::npos);  // no line is left of a hole that is empty
  CHECK(cuda_code::holes_of(file.code) == std::vector<std::string>{"N", "store"});
  CHECK_THROWS_AS(cuda_code::read_device_file("void f() {\n//$ with no such file.cuh\n}\n"), std::logic_error);
}

TEST_CASE("a hole with a line to itself stands for whole lines or for none") {
  CHECK(cuda_code::fill("{\n$body$\n}\n", {{"body", "  x;\n  y;\n"}}) == "{\n  x;\n  y;\n}\n");
  CHECK(cuda_code::fill("{\n$body$\n}\n", {{"body", ""}}) == "{\n}\n");
  CHECK(cuda_code::fill("{\n  $body$\n}\n", {{"body", "x;"}}) == "{\n  x;\n}\n");
  CHECK(cuda_code::fill("$a$$b$\n", {{"a", "x"}, {"b", "y"}}) == "xy\n");
}
