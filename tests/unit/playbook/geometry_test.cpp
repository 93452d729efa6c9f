// SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"

#include "families/row_geometry.hpp"

using namespace cudal1;
using namespace cudal1::families;

namespace {

// A softmax of `rows` rows of `columns` elements, as one kernel.
struct Softmax {
  Dag dag;
  Region region;

  Softmax(std::int64_t rows, std::int64_t columns, tensor::Dtype dtype) {
    const tensor::Shape whole{literal(rows, 1), literal(columns, 1)}, reduced{literal(rows, 1), literal(1, 1)};
    const int x = dag.add({Input{"X"}, {}, dtype, whole});
    const int most = dag.add({Reduce{"max", {1}}, {x}, tensor::Dtype::float32, reduced});
    const int away = dag.add({Pointwise{"sub"}, {x, most}, tensor::Dtype::float32, whole});
    const int powers = dag.add({Pointwise{"exp"}, {away}, tensor::Dtype::float32, whole});
    const int sum = dag.add({Reduce{"sum", {1}}, {powers}, tensor::Dtype::float32, reduced});
    const int result = dag.add({Pointwise{"div"}, {powers, sum}, dtype, whole});
    region = *grow(dag, {{result, "Y"}}, {{x, "X"}}, true, -1, 1).region;
    collapse(region, dag);
  }

  RowGeometry geometry(const Variant& variant, int multiprocessors) const {
    schedule::Machine machine;
    machine.multiprocessors = multiprocessors;
    return geometry_of({region, dag, walk_of(region, dag), 1, false, variant, machine, true}, RowPasses(region, dag, 1));
  }
};

Variant with_rows(Variant::Rows rows) {
  Variant result;
  result.rows = rows;
  return result;
}

}  // namespace

TEST_CASE("rows of 4096 halves are packs of eight, kept by 128 to 512 threads") {
  const RowGeometry geometry = Softmax(4096, 4096, tensor::Dtype::float16).geometry({}, 108);
  CHECK(geometry.vec == 8);
  CHECK(geometry.packs == 512);
  CHECK(geometry.cached);
  CHECK(geometry.blocks == RowGeometry::Blocks::short_lived);
  CHECK(geometry.threads == std::vector<std::int64_t>{256, 512, 128});
}

TEST_CASE("a row of odd length has packs of one") { CHECK(Softmax(64, 4097, tensor::Dtype::float32).geometry({}, 132).vec == 1); }

TEST_CASE("teams of blocks fill the multiprocessors that there are") {
  const Softmax softmax(64, 1 << 17, tensor::Dtype::float32);
  CHECK_FALSE(softmax.geometry({}, 132).cached);
  const RowGeometry large = softmax.geometry(with_rows(Variant::Rows::team_meeting_once), 132),
                    small = softmax.geometry(with_rows(Variant::Rows::team_meeting_once), 82);
  REQUIRE(large.blocks == RowGeometry::Blocks::team);
  REQUIRE(small.blocks == RowGeometry::Blocks::team);
  CHECK(large.meeting.powers >= 0);
  CHECK(large.team_blocks.front() == 4 * 128);
  CHECK(small.team_blocks.front() == 4 * 82);
  CHECK(small.capacity * 128 == large.capacity * 82);
}

TEST_CASE("a trailing team has under way what half of the L2 cache holds at most") {
  const Softmax softmax(512, 1 << 16, tensor::Dtype::float32);
  const RowGeometry geometry = softmax.geometry(with_rows(Variant::Rows::team_trailing), 132);
  REQUIRE(geometry.blocks == RowGeometry::Blocks::team);
  CHECK(geometry.capacity == std::min<std::int64_t>(128 * 65536 / 8, schedule::Machine{}.l2_bytes / 32));
  CHECK(geometry.of_thread == 8);
}

TEST_CASE("what softmax reads, reduces and keeps in each pass") {
  const Softmax softmax(64, 4096, tensor::Dtype::float32);
  const RowPasses passes(softmax.region, softmax.dag, 1);
  CHECK(passes.last() == 2);
  CHECK(passes.count() == 3);
  CHECK(passes.kept_count() == 2);  // the elements, and their exponentials
}
