// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "curriculum/operation.hpp"
#include "curriculum/sampler.hpp"
#include "curriculum/structure.hpp"
#include "task/task.hpp"

#include <set>

using namespace cudal1;

TEST_CASE("every sampled task reads as a kernel file whose torch line is evaluated") {
  std::set<std::string> structures;
  for (std::uint64_t number = 0; number < 300; ++number) {
    const auto made = curriculum::sample({}, number, 0);
    INFO(made.source);
    const auto task = task::from_source(made.source, made.name + ".cu");   // throws where shapes do not fit
    REQUIRE(task.torch);
    CHECK(made.operations >= 1);
    CHECK(made.operations <= 4);
    CHECK(task.workloads.size() == 1);
    structures.insert(curriculum::structure(task));
  }
  CHECK(structures.size() > 200);
}

TEST_CASE("versions of a number have one structure and other sizes, and equal seeds give equal tasks") {
  std::set<std::string> sources;
  for (std::uint64_t number = 0; number < 20; ++number) {
    const auto structure = [&](int version) {
      const auto made = curriculum::sample({}, number, version);
      sources.insert(made.source);
      return curriculum::structure(task::from_source(made.source, "t.cu"));
    };
    CHECK(structure(0) == structure(1));
    CHECK(structure(0) == structure(2));
    CHECK(curriculum::sample({}, number, 1).source == curriculum::sample({}, number, 1).source);
    CHECK(curriculum::sample({2, 4}, number, 0).source != curriculum::sample({}, number, 0).source);
  }
  CHECK(sources.size() == 60);
}

TEST_CASE("an operation does not follow one that spoils it") {
  for (std::uint64_t number = 0; number < 300; ++number) {
    const std::string torch = curriculum::sample({}, number, 0).torch;
    INFO(torch);
    CHECK(torch.find("torch.relu(torch.relu(") == std::string::npos);
    CHECK(torch.find("torch.mean(torch.softmax(") == std::string::npos);
    CHECK(torch.find("torch.abs(torch.sigmoid(") == std::string::npos);
  }
}
