// SPDX-License-Identifier: Apache-2.0
#include "task/kind.hpp"

#include "catch.hpp"

#include <fmt/format.h>

using namespace cudal1;

namespace {

std::string kind_of(const std::string& line) {
  const std::string text = fmt::format("//@ task t\n//@ torch {}\n//@ size N = 8\n//@ input A: float32[N, N]\n//@ output C: float32[N, N]\n"
                                       "//@ launch k<<<1, 1>>>(A, C)\n__global__ void k(const float* A, float* C) {{}}\n", line);
  return std::string(task::kind(task::from_source(text, "t.cu")));
}

}  // namespace

TEST_CASE("a task's kind is the heaviest thing that its torch line does") {
  CHECK(kind_of("C = A + 1") == "pointwise");
  CHECK(kind_of("C = torch.clamp(A, min=0, max=1)") == "pointwise");
  CHECK(kind_of("C = A - A.mean(1, keepdim=True)") == "reduction");
  CHECK(kind_of("C = torch.softmax(A - A.amax(), 1)") == "normalisation");
  CHECK(kind_of("C = torch.cumsum(torch.softmax(A, 1), 1)") == "scan");
  CHECK(kind_of("C = torch.softmax(A @ A, 1)") == "product");
  CHECK(kind_of("C = F.scaled_dot_product_attention(A, A, A) @ A") == "attention");
  CHECK(kind_of("C = torch.no_such_thing(A)") == "kernel");
}
