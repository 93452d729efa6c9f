// SPDX-License-Identifier: Apache-2.0
#include "reference/part.hpp"

#include "catch.hpp"

#include <cmath>
#include <numeric>

using namespace cudal1;

namespace {

struct Line {
  explicit Line(const std::string& torch, const std::string& output = "float32[N, M]")
      : task(task::from_source("//@ torch   " + torch + "\n//@ size    N = 600, M = 500\n//@ input   A: float32[N, M]\n//@ output  C: " + output +
                                   "\n//@ launch  k<<<1, 32>>>(A, C)\n__global__ void k(const float* A, void* C) {}\n",
                               "task.cu")),
        inputs(reference::inputs(task, task.workloads[0], {})) {}
  std::optional<std::vector<reference::Expected>> in_pieces() const { return reference::oracle_in_pieces(task, task.workloads[0], inputs, {}, 2); }

  task::Task task;
  std::vector<reference::Bytes> inputs;
};

}  // namespace

TEST_CASE("pieces of a truth are the whole truth, and their sigma is that of the whole") {
  const Line line("C = (A - A.mean(dim=1, keepdim=True)).exp()");   // five pieces by rows
  const auto whole = reference::oracle(line.task, line.task.workloads[0], line.inputs, reference::Soundness{}, 2);
  const auto pieces = line.in_pieces();
  REQUIRE(pieces);
  REQUIRE(whole);
  REQUIRE(pieces->at(0).truth.size() == 600 * 500);
  CHECK((pieces->at(0).truth == whole->at(0).truth));
  const auto squares = [](const std::vector<double>& values) { return std::inner_product(values.begin(), values.end(), values.begin(), 0.0); };
  CHECK(std::fabs(squares(pieces->at(0).sigma) / squares(whole->at(0).sigma) - 1) < 0.05);
}

TEST_CASE("what cannot be cut, or has no rounding, is not computed in pieces") {
  CHECK(Line("C = A.exp()").in_pieces());
  CHECK(!Line("C = A / A.sum()").in_pieces());
  CHECK(!Line("C = A.argmax(dim=1)", "int64[N]").in_pieces());
}

TEST_CASE("an element far larger than those at its place in the part is off by as much of its own size") {
  reference::Part part;
  part.axis = 0;
  part.indices = {0, 1};
  part.expected.shape = {2, 3};
  part.expected.truth = {1, 1, 1, 1, 1, 1};
  part.expected.sigma.assign(6, 1e-7);
  const std::vector<double> sigma = reference::spread(part, {2, 3}, {1, 0.5, 100, 1, 0, -0.25});
  CHECK(sigma[2] >= 0.99e-5);
  CHECK(sigma[3] >= 0.99e-7);
  CHECK(sigma[3] <= 1.01e-7);
}
