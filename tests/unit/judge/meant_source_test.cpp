// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "judge/meant_source.hpp"

#include <string>

using namespace cudal1;

TEST_CASE("a decimal that no float is exactly is marked with the number that it means, where code may be") {
  const std::string source = R"(#define EPS 1e-5f
#if 0.1f
#endif
constexpr float scale = 0.7f;
__constant__ float table[2] = {0.1f, 0.2f};
__global__ void k(const float* x, float* y) {
  constexpr float fixed = 0.3f;
  static const float kept = 0.4f;
  y[0] = x[0] * 0.7071067811865475f + 0.5f + 2.0f + 0.1 + EPS;  // 0.9f
}
)";
  const std::string marked = judge::with_meant_literals(source);
  CAPTURE(marked);
  CHECK(marked.find("#define EPS cudal1_meant_literal(1e-5f, 1.0000000000000001e-05)\n") != std::string::npos);
  CHECK(marked.find("x[0] * cudal1_meant_literal(0.7071067811865475f, 0.70710678118654746) + 0.5f + 2.0f + 0.1 + EPS;  // 0.9f\n") != std::string::npos);
  for (const char* kept : {"#if 0.1f\n", "scale = 0.7f;", "{0.1f, 0.2f}", "fixed = 0.3f;", "kept = 0.4f;"}) CHECK(marked.find(kept) != std::string::npos);
}

TEST_CASE("functions of the library are marked under all their names") {
  const std::string prelude = judge::meant_functions_prelude();
  for (const char* name : {"logf", "log", "__logf", "tanhf", "erff", "powf"}) CHECK(prelude.find("#define " + std::string(name) + " cudal1_meant_" + name + "\n") != std::string::npos);
  CHECK(prelude.find("cudal1_meant_logf(float x) { const float y = ::logf(x); float r; asm(\"meant.log.f32 %0, %1, %2;\"") != std::string::npos);
  CHECK(prelude.find("cudal1_meant_pow(double x, double z) { const double y = ::pow(x, z); double r; asm(\"meant.pow.f64 %0, %1, %2, %3;\"") != std::string::npos);
}
