// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "catch.hpp"
#include "task/check_sizes.hpp"
#include "task/task.hpp"

#include <string>

using namespace cudal1;

namespace {

const std::string kernel_code = R"(
__global__ void scale(const float* A, const float* B, float* C, int N, int M) {
  int column = blockIdx.x * 128 + threadIdx.x;
  if (column < M) C[size_t(blockIdx.y) * M + column] = A[blockIdx.y] * B[size_t(blockIdx.y) * M + column];
}
)";

std::string task_text(const std::string& sizes = "//@ size   N = 64, M = 2 * N\n//@ check  N = 5\n",
                      const std::string& torch = "C = torch.diag(A) @ B") {
  return "//@ task   diag_matmul\n//@ torch  " + torch + "\n" + sizes +
         "//@ input  A: float32[N]\n//@ input  B: float32[N, M]\n//@ output C: float32[N, M]\n"
         "//@ launch scale<<<dim3(ceil_div(M, 128), N), 128>>>(A, B, C, N, M)\n" +
         kernel_code;
}

}  // namespace

TEST_CASE("a task knows its workloads, check sizes and torch line") {
  const auto task = task::from_source(task_text(), "folder/x.cu");
  CHECK(task.name() == "diag_matmul");
  CHECK(task.folder() == "folder");
  REQUIRE(task.workloads.size() == 1);
  CHECK(task.workloads[0].sizes.at("M") == 128);
  CHECK(task.workloads[0].label() == "N=64");
  REQUIRE(task.checks.size() == 1);
  CHECK(task.checks[0].sizes.at("M") == 10);
  REQUIRE(task.torch);
  CHECK(task.necessary_bytes(0) == 4.0 * (64 + 2 * 64 * 128));
  CHECK(task.written_operations(0) >= 2.0 * 64 * 64 * 128);
  CHECK(task.input_types().at("B").shape[1].values == std::vector<std::int64_t>{128, 10});
}

TEST_CASE("an override replaces a size and recomputes what follows from it") {
  const auto task = task::from_source(task_text(), "x.cu", {{"N", 16}});
  CHECK(task.workloads[0].sizes.at("M") == 32);
  CHECK(task.digest != task::from_source(task_text(), "x.cu").digest);
  CHECK_THROWS_WITH(task::from_source(task_text(), "x.cu", {{"NN", 16}}), containing("no size \"NN\""));
}

TEST_CASE("several size lines are several workloads") {
  const auto task = task::from_source(task_text("//@ size N = 64, M = 32\n//@ size N = 8, M = 16\n"), "x.cu");
  REQUIRE(task.workloads.size() == 2);
  CHECK(task.workloads[1].sizes.at("M") == 16);
}

TEST_CASE("without a check line small ragged sizes are tried that the shapes allow") {
  const auto task = task::from_source(task_text("//@ size N = 4096, M = 1024\n"), "x.cu");
  REQUIRE(task.checks.size() == 2);
  for (const auto& check : task.checks) {
    CHECK(check.sizes.at("N") < 128);
    CHECK(check.sizes.at("N") != check.sizes.at("M"));
  }
}

TEST_CASE("of many sizes each is tried so small that their product is") {
  const auto task = task::from_source(task_text("//@ size N = 4096, M = 1024, D = 64, H = 128, W = 96\n"), "x.cu");
  REQUIRE(task.checks.size() == 2);
  for (const auto& check : task.checks) {
    double product = 1;
    for (const auto& [name, value] : check.sizes) {
      CHECK(value > 8);
      product *= static_cast<double>(value);
    }
    CHECK(product < 1e6);
  }
}

TEST_CASE("an unknown torch function leaves the task without an oracle and says why") {
  const auto task = task::from_source(task_text("//@ size N = 64, M = 32\n", "C = torch.frobnicate(A) @ B"), "x.cu");
  CHECK_FALSE(task.torch);
  CHECK_THAT(task.no_oracle_reason, containing("torch.frobnicate is not known to the evaluator"));
  const auto near = task::from_source(task_text("//@ size N = 64, M = 32\n", "C = torch.daig(A) @ B"), "x.cu");
  CHECK_THAT(near.no_oracle_reason, containing("(did you mean torch.diag?)"));
}

TEST_CASE("a torch line whose shape differs from the declared output is refused") {
  CHECK_THROWS_WITH(task::from_source(task_text("//@ size N = 64, M = 32\n", "C = (torch.diag(A) @ B).sum(dim=1)"), "x.cu"),
                    containing("the torch line gives C the shape [64]"));
}

TEST_CASE("a task without output, launch or memory is refused with the next step") {
  CHECK_THROWS_WITH(task::from_source("//@ task t\n//@ size N = 4\n//@ input A: float32[N]\n//@ launch k<<<1, 1>>>(A)\n"
                                      "__global__ void k(const float* A) {}\n", "x.cu"),
                    containing("declares no output"));
  CHECK_THROWS_WITH(task::from_source(task_text("//@ size N = 60000, M = 2000000\n"), "x.cu"), containing("--set"));
  CHECK_THROWS_WITH(task::from_source("int main() {}\n", "x.cu"), containing("cudal1 init"));
}

TEST_CASE("sizes that a block, a division or the bound of an index fixes are not varied as others are") {
  const std::string text = R"(//@ size   N = 4096, V = 100, T = 64
//@ input  A: float32[N]
//@ input  I: int32[N] ~ randint(0, 100)
//@ input  L: float32[V]
//@ output C: float32[N]
//@ launch k<<<N / 64, T>>>(A, I, L, C)
__global__ void k(const float* A, const int* I, const float* L, float* C) { C[blockIdx.x * 64 + threadIdx.x] = A[0] + L[I[0]]; }
)";
  const auto task = task::from_source(text, "k.cu");
  REQUIRE(!task.checks.empty());
  for (const auto& check : task.checks) {
    CHECK(check.sizes.at("V") == 100);
    CHECK(check.sizes.at("T") == 64);
    CHECK(check.sizes.at("N") % 64 == 0);
    CHECK(check.sizes.at("N") < 4096);
  }
  CHECK_THAT(task::picked_sizes_hint(task, "C[3] is nan (" + task.checks.front().label() + ", the declared distribution)"), containing("//@ check N = 4096, V = 100"));
  CHECK(task::picked_sizes_hint(task, "something else").empty());
}
