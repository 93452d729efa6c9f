// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "curriculum/structure.hpp"

using namespace cudal1;

namespace {

std::string structure(const std::string& torch) {
  const auto graph = tensor::parse("Y = " + torch, {"A", "B", "C"}, {"N", "M"}, {"Y"});
  REQUIRE(graph);
  return curriculum::structure(*graph);
}

}  // namespace

TEST_CASE("names, numbers, spelling and the order of operands that may be exchanged are no structure") {
  CHECK(structure("torch.relu(A @ B) * 0.5") == structure("0.25 * (B.matmul(C)).relu()"));
  CHECK(structure("A + B") == structure("B + A"));
  CHECK(structure("torch.sigmoid(A) * B + C") == structure("C + A * torch.sigmoid(B)"));
  CHECK(structure("A.t().t() + B") == structure("A + B"));
  CHECK(structure("F.layer_norm(A, (M,))") == structure("F.layer_norm(A, (64,))"));
}

TEST_CASE("what is computed, along which axis and of which inputs is structure") {
  CHECK(structure("A - B") != structure("A + B"));
  CHECK(structure("torch.sum(A, dim=0)") != structure("torch.sum(A, dim=1)"));
  CHECK(structure("A * A") != structure("A * B"));
  CHECK(structure("torch.exp(A) * torch.exp(A)") != structure("torch.exp(A) * torch.exp(B)"));
  CHECK(structure("torch.relu(A)") != structure("torch.relu(torch.relu(A) + B)"));
  CHECK(structure("torch.sum(A, dim=1, keepdim=True)") != structure("torch.sum(A, dim=1)"));
}

TEST_CASE("a structure is for testing or for training, whatever else there is") {
  int tests = 0;
  for (int i = 0; i < 2000; ++i) tests += curriculum::is_test(std::to_string(i)) ? 1 : 0;
  CHECK(tests > 150);
  CHECK(tests < 250);
  CHECK(curriculum::is_test("relu(x0,)") == curriculum::is_test("relu(x0,)"));
  CHECK(curriculum::group("relu(x0,)").size() == 16);
}

TEST_CASE("without a torch line the kernel is the structure, at any size") {
  const auto task = [](const char* size, const char* body) {
    return task::from_source(std::string("//@ task t\n//@ size N = ") + size + "\n//@ input X: float32[N]\n//@ output Y: float32[N]\n//@ launch t<<<ceil_div(N, 32), 32>>>(X, Y, N)\n"
                             "__global__ void t(const float* X, float* Y, int N) {\n  int i = blockIdx.x * 32 + threadIdx.x;\n  if (i < N) Y[i] = " + body + ";\n}\n", "t.cu");
  };
  CHECK(curriculum::structure(task("64", "X[i]")) == curriculum::structure(task("128", "X[i]  /* the same */")));
  CHECK(curriculum::structure(task("64", "X[i]")) != curriculum::structure(task("64", "2 * X[i]")));
}

TEST_CASE("similarity is 1 for the same tokens, whatever their numbers, and small for others") {
  CHECK(curriculum::similarity("relu(x0, 3)", "relu(x0, 4.5)") == 1);
  CHECK(curriculum::similarity("softmax(add(x0,x1,),dim=1,)", "matmul(x0,x1,)") < 0.3);
  const double near = curriculum::similarity("relu(add(matmul(x0,x1,),x2,),)", "tanh(add(matmul(x0,x1,),x2,),)");
  CHECK(near > 0.6);
  CHECK(near < 1);
}
