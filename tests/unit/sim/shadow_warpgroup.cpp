// SPDX-License-Identifier: Apache-2.0
// What Hopper's products and bulk copies do with shadows.
#include "product_kernel.hpp"
#include "catch.hpp"

#include "sim/sim.hpp"

#include <cmath>

using namespace cudal1;
using sim::ShadowMode;
using sim::test::Bench;

namespace {

std::vector<double> shadows_of(device::Device& device, Bench& bench, std::size_t out, const std::string& kernel, kernel::Dim3 grid, kernel::Dim3 block) {
  const auto plain = bench.run(kernel, grid, block);
  for (const auto& finding : plain.findings) UNSCOPED_INFO(outcome::render(finding));
  REQUIRE(plain.status == device::RunResult::Status::ok);
  bench.plan.buffers[out].role = kernel::PlanBuffer::Role::output;
  for (auto& buffer : bench.plan.buffers) buffer.dtype = tensor::Dtype::float32;
  const auto run = sim::run_shadowed(device, bench.bound(), ShadowMode::exact, 1);
  REQUIRE(run.result.message == "");
  REQUIRE(run.result.status == device::RunResult::Status::ok);
  return run.outputs.at(out).values;
}

}  // namespace

TEST_CASE("the shadow of a wgmma is the sum of its products without rounding") {
  for (const auto& one : sim::test::all_product_cases()) {
    if (one.columns != 24) continue;
    auto device = sim::open({.gpu = "H200", .threads = 1});
    sim::test::ProductTiles made = sim::test::product_tiles(one, 1, 3);   // numbers that are like one another
    for (float& c : made.c) c = 0.25f;
    Bench bench(*device);
    bench.load(product_kernel(one));
    bench.input(made.a, "a"), bench.input(made.b, "b"), bench.input(made.c, "c");
    const auto out = bench.output(made.c.size() * 4);
    const auto shadows = shadows_of(*device, bench, out, one.kernel, {1, 1, 1}, {128, 1, 1});
    const auto sums = bench.read<float>(out);
    std::size_t apart = 0;
    for (std::size_t row = 0; row < 64; ++row)
      for (std::size_t column = 0; column < one.columns; ++column) {
        double exact = 0.25;
        for (std::size_t k = 0; k < one.depth(); ++k)
          exact += static_cast<double>(sim::test::product_value(one.type, made.a, row, k)) * static_cast<double>(sim::test::product_value(one.type_b(), made.b, column, k));
        const std::size_t at = row * one.columns + column;
        INFO(one.kernel << " row " << row << " column " << column);
        REQUIRE(std::fabs(shadows[at] - exact) <= 1e-14);
        apart += static_cast<double>(sums[at]) != shadows[at];
      }
    INFO(one.kernel);
    CHECK(apart > 64);   // what the tensor cores cut off
  }
}

TEST_CASE("bulk copies and bulk additions carry shadows along") {
  const std::string ptx = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{
 .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
 .shared .align 128 .b8 first[128];
 .shared .align 128 .b8 second[128];
 .shared .align 8 .b8 bar[8];
 ld.param.u64 %rd1, [a];
 ld.param.u64 %rd2, [b];
 ld.param.u64 %rd3, [c];
 mov.u32 %r1, %tid.x;
 mul.wide.u32 %rd4, %r1, 4;
 add.s64 %rd5, %rd1, %rd4;
 add.s64 %rd6, %rd3, %rd4;
 shl.b32 %r2, %r1, 2;
 mov.u32 %r3, first;
 mov.u32 %r4, second;
 mov.u32 %r5, bar;
 add.s32 %r6, %r3, %r2;
 add.s32 %r7, %r4, %r2;
 ld.global.f32 %f1, [%rd5];
 div.rn.f32 %f2, %f1, 0f40400000;
 st.shared.f32 [%r6], %f2;
 fence.proxy.async.shared::cta;
 setp.eq.u32 %p1, %r1, 0;
 @%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
 @%p1 fence.mbarrier_init.release.cluster;
 bar.sync 0;
 @!%p1 bra wait;
 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 128;
 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd2], [%r3], 128;
 cp.async.bulk.commit_group;
 cp.async.bulk.wait_group 0;
 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r5], 128;
 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd2], 128, [%r5];
wait:
 mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%r5], 0;
 @!%p2 bra wait;
 ld.shared.f32 %f3, [%r7];
 st.global.f32 [%rd6], %f3;
 ret;
}
)";
  auto device = sim::open({.gpu = "H200", .threads = 1});
  Bench bench(*device);
  bench.load(ptx);
  std::vector<float> x;
  for (int i = 0; i < 32; ++i) x.push_back(1 + 0.37f * static_cast<float>(i));
  bench.input(x, "a");
  bench.output(128, "b");
  const auto out = bench.output(128, "c");
  const auto shadows = shadows_of(*device, bench, out, "k", {1, 1, 1}, {32, 1, 1});
  const auto values = bench.read<float>(out);
  std::size_t apart = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK(shadows[i] == static_cast<double>(x[i]) / 3 + static_cast<double>(x[i]) / 3);
    apart += static_cast<double>(values[i]) != shadows[i];
  }
  CHECK(apart > 16);
}

TEST_CASE("shadows go to other blocks of a cluster and come back") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  Bench bench(*device);
  bench.load(sim::test::text_of("tests/ptx/hopper/clusters.ptx"), "clusters.cu");
  bench.launch.cluster = {4, 1, 1};
  std::vector<float> x;
  for (int i = 0; i < 128; ++i) x.push_back(1 + 0.37f * static_cast<float>(i));
  bench.input(x, "x");
  const auto out = bench.output(2048, "out");
  const auto shadows = shadows_of(*device, bench, out, "sevenths", {4, 1, 1}, {128, 1, 1});
  const auto values = bench.read<float>(out);
  std::size_t apart = 0;
  for (std::size_t i = 0; i < 512; ++i) {
    const double seventh = static_cast<double>(x[i % 128]) / 7;
    CHECK(shadows[i] == seventh + seventh + seventh);
    apart += static_cast<double>(values[i]) != shadows[i];
  }
  CHECK(apart > 256);
}
