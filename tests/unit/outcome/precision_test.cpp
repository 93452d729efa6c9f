// SPDX-License-Identifier: Apache-2.0
#include "outcome/precision.hpp"

#include "catch.hpp"

using namespace cudal1::outcome;

TEST_CASE("a class of precision means the same by its name, and each kind of operation has one") {
  for (const Precision each : {Precision::reference, Precision::fp32, Precision::tf32, Precision::half}) {
    CHECK(parse_precision(name(each)) == each);
    CHECK(describe(each).starts_with(name(each)));
    if (each == Precision::reference) continue;
    CHECK(of_convolutions(each) == each);
    CHECK(of_products(each) == each);
  }
  CHECK(of_convolutions(Precision::reference) == Precision::tf32);
  CHECK(of_products(Precision::reference) == Precision::fp32);
  CHECK(!parse_precision("fp64"));
}
