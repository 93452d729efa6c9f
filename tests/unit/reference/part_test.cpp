// SPDX-License-Identifier: Apache-2.0
#include "reference/part.hpp"

#include "catch.hpp"

using namespace cudal1;

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
