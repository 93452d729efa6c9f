// SPDX-License-Identifier: Apache-2.0
// What each family of instructions does with shadows. All begin with x = a / 3 and y = b / 7, which floats round and shadows do not.
#include "bench_device.hpp"
#include "catch.hpp"
#include "sim/sim.hpp"
#include "sim/tensor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>

using namespace cudal1;
using sim::ShadowMode;

namespace {

using Values = std::array<double, 32>;

// One warp runs a body that makes %f3 of %f1 (x) and %f2 (y); %r1 is the lane, %rd7 its place in the output.
class Lane {
 public:
  explicit Lane(const std::string& body, const std::string& functions = "") {
    const std::string ptx = fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
{}
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{{
 .reg .f32 %f<20>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %h<10>; .reg .pred %p<5>; .reg .f64 %d<10>;
 .shared .align 16 .b8 sh[2048];
 .local .align 16 .b8 lo[64];
 ld.param.u64 %rd1, [a];
 ld.param.u64 %rd2, [b];
 ld.param.u64 %rd3, [c];
 mov.u32 %r1, %tid.x;
 mul.wide.u32 %rd4, %r1, 4;
 add.s64 %rd5, %rd1, %rd4;
 add.s64 %rd6, %rd2, %rd4;
 add.s64 %rd7, %rd3, %rd4;
 shl.b32 %r2, %r1, 2;
 mov.u32 %r3, sh;
 add.s32 %r3, %r3, %r2;
 ld.global.f32 %f10, [%rd5];
 ld.global.f32 %f11, [%rd6];
 div.rn.f32 %f1, %f10, 0f40400000;
 div.rn.f32 %f2, %f11, 0f40E00000;
 {}
 st.global.f32 [%rd7], %f3;
 ret;
}}
)", functions, body);
    for (int l = 0; l < 32; ++l) {
      a_.push_back(1.0f + 0.173f * static_cast<float>(l));
      b_.push_back(9.0f - 0.211f * static_cast<float>(l));
      x[static_cast<std::size_t>(l)] = static_cast<double>(a_.back()) / 3;
      y[static_cast<std::size_t>(l)] = static_cast<double>(b_.back()) / 7;
    }
    bench_.load(ptx);
    bench_.input(a_), bench_.input(b_);
    out_ = bench_.output(128);
    bench_.run("k", {1, 1, 1}, {32, 1, 1});   // makes the plan
    bench_.plan.buffers[out_].role = kernel::PlanBuffer::Role::output;
    for (auto& buffer : bench_.plan.buffers) buffer.dtype = tensor::Dtype::float32;
  }
  sim::ShadowRun run(ShadowMode mode, std::uint64_t seed = 1) {
    auto result = sim::run_shadowed(*device_, bench_.bound(), mode, seed);
    REQUIRE(result.result.message == "");
    REQUIRE(result.result.status == device::RunResult::Status::ok);
    return result;
  }
  std::vector<double> shadows(ShadowMode mode = ShadowMode::exact, std::uint64_t seed = 1) { return run(mode, seed).outputs.at(out_).values; }
  std::size_t shadowed() { return run(ShadowMode::exact).outputs.at(out_).shadowed; }
  std::vector<float> floats() { return bench_.read<float>(out_); }

  Values x{}, y{};

 private:
  std::unique_ptr<device::Device> device_ = sim::open({.gpu = "H200", .threads = 1});
  sim::test::Bench bench_{*device_};
  std::vector<float> a_, b_;
  std::size_t out_ = 0;
};

// All shadows are what `expected` gives of x and y in double precision, and the floats are not.
void require_shadows(const std::string& body, const std::function<double(const Values&, const Values&, std::size_t)>& expected, const std::string& functions = "") {
  INFO(body);
  Lane lane(body, functions);
  const auto got = lane.shadows();
  const auto floats = lane.floats();
  CHECK(lane.shadowed() == 32);
  int rounded = 0;
  for (std::size_t l = 0; l < 32; ++l) {
    const double wanted = expected(lane.x, lane.y, l);
    INFO("lane " << l << ": " << fmt::format("{:.17g}, expected {:.17g}, float {:.17g}", got[l], wanted, floats[l]));
    CHECK(std::fabs(got[l] - wanted) <= 1e-14 * std::max(1.0, std::fabs(wanted)));
    CHECK(std::fabs(static_cast<double>(floats[l]) - wanted) <= 5e-3 * std::max(1.0, std::fabs(wanted)));
    rounded += std::fabs(static_cast<double>(floats[l]) - wanted) > 1e-11;
  }
  CHECK(rounded >= 8);
}

}  // namespace

TEST_CASE("shadows of arithmetic are what no operation rounds") {
  require_shadows("add.f32 %f3, %f1, %f2;", [](auto& x, auto& y, auto l) { return x[l] + y[l]; });
  require_shadows("sub.rn.f32 %f3, %f1, %f2;", [](auto& x, auto& y, auto l) { return x[l] - y[l]; });
  require_shadows("mul.ftz.f32 %f3, %f1, %f2;", [](auto& x, auto& y, auto l) { return x[l] * y[l]; });
  require_shadows("fma.rn.f32 %f3, %f1, %f2, %f1;", [](auto& x, auto& y, auto l) { return x[l] * y[l] + x[l]; });
  require_shadows("div.full.f32 %f3, %f1, %f2;", [](auto& x, auto& y, auto l) { return x[l] / y[l]; });
  require_shadows("rcp.rn.f32 %f3, %f1;", [](auto& x, auto&, auto l) { return 1 / x[l]; });
  require_shadows("sqrt.rn.f32 %f3, %f1;", [](auto& x, auto&, auto l) { return std::sqrt(x[l]); });
  require_shadows("rsqrt.approx.f32 %f3, %f1;", [](auto& x, auto&, auto l) { return 1 / std::sqrt(x[l]); });
  require_shadows("ex2.approx.ftz.f32 %f3, %f1;", [](auto& x, auto&, auto l) { return std::exp2(x[l]); });
  require_shadows("lg2.approx.f32 %f3, %f1;", [](auto& x, auto&, auto l) { return std::log2(x[l]); });
  require_shadows("sin.approx.f32 %f3, %f1;", [](auto& x, auto&, auto l) { return std::sin(x[l]); });
  require_shadows("cos.approx.f32 %f3, %f1;", [](auto& x, auto&, auto l) { return std::cos(x[l]); });
  require_shadows("tanh.approx.f32 %f3, %f1;", [](auto& x, auto&, auto l) { return std::tanh(x[l]); });
  require_shadows("neg.f32 %f4, %f1; abs.f32 %f3, %f4;", [](auto& x, auto&, auto l) { return x[l]; });
  require_shadows("min.f32 %f3, %f1, %f2;", [](auto& x, auto& y, auto l) { return std::min(x[l], y[l]); });
  require_shadows("max.f32 %f3, %f1, %f2;", [](auto& x, auto& y, auto l) { return std::max(x[l], y[l]); });
  require_shadows("cvt.f64.f32 %d1, %f1; add.f64 %d2, %d1, %d1; cvt.rn.f32.f64 %f3, %d2;", [](auto& x, auto&, auto l) { return 2 * x[l]; });
  require_shadows("mul.sat.f32 %f3, %f1, 0f3E99999A;", [](auto& x, auto&, auto l) { return std::min(1.0, x[l] * static_cast<double>(0.3f)); });
}

TEST_CASE("shadows of what a source means are not those of the instructions that stand for it") {
  require_shadows("lg2.approx.f32 %f4, %f1; mul.f32 %f5, %f4, 0f3F317218; meant.log.f32 %f3, %f5, %f1;", [](auto& x, auto&, auto l) { return std::log(x[l]); });
  require_shadows("lg2.approx.f32 %f4, %f1; mul.f32 %f4, %f4, %f2; ex2.approx.f32 %f4, %f4; meant.pow.f32 %f3, %f4, %f1, %f2;", [](auto& x, auto& y, auto l) { return std::pow(x[l], y[l]); });
  require_shadows("mov.f32 %f4, 0f3F333333; meant.literal.f32 %f5, %f4, 0d3FE6666666666666; mul.f32 %f3, %f5, %f1;", [](auto& x, auto&, auto l) { return 0.7 * x[l]; });
  require_shadows("add.f32 %f4, %f1, 0f3F800000; lg2.approx.f32 %f4, %f4; mul.f32 %f4, %f4, 0f3F317218; cvt.f64.f32 %d1, %f1; cvt.f64.f32 %d2, %f4; meant.log1p.f64 %d3, %d2, %d1; cvt.rn.f32.f64 %f3, %d3;",
                  [](auto& x, auto&, auto l) { return std::log1p(x[l]); });
  // A run that rounds at random keeps what the instructions gave, and terms are those of the operand.
  Lane lane("mul.f32 %f4, %f1, 0f40000000; add.f32 %f5, %f1, %f2; meant.exp.f32 %f3, %f4, %f5;");
  const auto disturbed = lane.shadows(ShadowMode::disturbed);
  const auto terms = lane.shadows(ShadowMode::terms);
  for (std::size_t l = 0; l < 32; ++l) {
    CHECK(std::fabs(disturbed[l] / (2 * lane.x[l]) - 1) < 1e-6);
    CHECK(terms[l] == 2);
  }
}

TEST_CASE("shadows go where values go") {
  const auto x_itself = [](const Values& x, const Values&, std::size_t l) { return x[l]; };
  require_shadows("mov.b32 %r5, %f1; mov.b32 %f3, %r5;", x_itself);
  require_shadows("mov.b64 %rd9, {%f1, %f2}; mov.b64 {%f4, %f3}, %rd9;", [](auto&, auto& y, auto l) { return y[l]; });
  require_shadows("setp.lt.u32 %p1, %r1, 7; selp.f32 %f3, %f1, %f2, %p1;", [](auto& x, auto& y, auto l) { return l < 7 ? x[l] : y[l]; });
  require_shadows("st.shared.f32 [%r3], %f1; bar.warp.sync -1; xor.b32 %r6, %r2, 4; mov.u32 %r7, sh; add.s32 %r7, %r7, %r6; ld.shared.f32 %f3, [%r7];",
                  [](auto& x, auto&, auto l) { return x[l ^ 1]; });
  require_shadows("st.local.f32 [lo], %f1; st.local.f32 [lo+4], %f2; ld.local.v2.f32 {%f4, %f3}, [lo];", [](auto&, auto& y, auto l) { return y[l]; });
  require_shadows("st.global.f32 [%rd7], %f1; ld.global.b32 %r5, [%rd7]; mov.b32 %f3, %r5;", x_itself);
  require_shadows("st.global.f32 [%rd7], %f1; cp.async.ca.shared.global [%r3], [%rd7], 4; cp.async.wait_all; ld.shared.f32 %f3, [%r3];", x_itself);
  require_shadows("mov.b32 %r5, %f1; shfl.sync.bfly.b32 %r6|%p1, %r5, 2, 31, -1; mov.b32 %f3, %r6;", [](auto& x, auto&, auto l) { return x[l ^ 2]; });
  require_shadows("mov.b32 %r5, %f1; shfl.sync.down.b32 %r6, %r5, 4, 31, -1; mov.b32 %f3, %r6;", [](auto& x, auto&, auto l) { return x[l < 28 ? l + 4 : l]; });
  require_shadows("mov.b32 %r5, %f1; xor.b32 %r6, %r5, -2147483648; mov.b32 %f3, %r6;", [](auto& x, auto&, auto l) { return -x[l]; });
  require_shadows("{ .param .f32 p0; .param .f32 r0; st.param.f32 [p0], %f1; call.uni (r0), twice, (p0); ld.param.f32 %f3, [r0]; }",
                  [](auto& x, auto&, auto l) { return 2 * x[l]; },
                  ".func (.param .f32 r) twice(.param .f32 p)\n{\n .reg .f32 %f<3>;\n ld.param.f32 %f1, [p];\n add.f32 %f2, %f1, %f1;\n st.param.f32 [r], %f2;\n ret;\n}\n");
}

TEST_CASE("shadows of 16-bit floats, single and packed, are not rounded to them") {
  require_shadows("cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f3, %h1;", [](auto& x, auto&, auto l) { return x[l]; });
  require_shadows("cvt.rn.bf16.f32 %h1, %f1; mov.b16 %h2, 0; mov.b32 %f3, {%h2, %h1};", [](auto& x, auto&, auto l) { return x[l]; });
  require_shadows("cvt.rn.f16x2.f32 %r5, %f1, %f2; mov.b32 {%h1, %h2}, %r5; cvt.f32.f16 %f3, %h1;", [](auto&, auto& y, auto l) { return y[l]; });
  require_shadows("cvt.rn.f16x2.f32 %r5, %f1, %f2; fma.rn.f16x2 %r6, %r5, %r5, %r5; mov.b32 {%h1, %h2}, %r6; cvt.f32.f16 %f3, %h2;",
                  [](auto& x, auto&, auto l) { return x[l] * x[l] + x[l]; });
  // The word that a lane gets of a matrix whose rows follow each other is its own.
  require_shadows("cvt.rn.f16x2.f32 %r5, %f1, %f2; st.shared.b32 [%r3], %r5; bar.warp.sync -1; shl.b32 %r6, %r1, 4; mov.u32 %r7, sh; and.b32 %r6, %r6, 127; add.s32 %r7, %r7, %r6;"
                  "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r7]; mov.b32 {%h1, %h2}, %r8; cvt.f32.f16 %f3, %h2;",
                  [](auto& x, auto&, auto l) { return x[l]; });
}

TEST_CASE("shadows of a tensor operation are the product of the operands' shadows") {
  require_shadows(
      "cvt.rn.f16x2.f32 %r5, %f1, %f1; cvt.rn.f16x2.f32 %r6, %f2, %f2;"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3, %f4, %f5, %f6}, {%r5, %r5, %r5, %r5}, {%r6, %r6}, {%f1, %f2, %f1, %f2};",
      [](const Values& x, const Values& y, std::size_t l) {
        sim::TensorFacts facts;
        facts.n = 8;
        double left[16][16], right[16][8];
        for (unsigned lane = 0; lane < 32; ++lane) {
          for (unsigned k = 0; k < 8; ++k) {
            const auto cell = sim::fragment_cell(facts, sim::Part::a, lane, k);
            left[cell.row][cell.column] = x[lane];
          }
          for (unsigned k = 0; k < 4; ++k) {
            const auto cell = sim::fragment_cell(facts, sim::Part::b, lane, k);
            right[cell.row][cell.column] = y[lane];
          }
        }
        const auto cell = sim::fragment_cell(facts, sim::Part::d, static_cast<unsigned>(l), 0);
        double sum = x[l];
        for (unsigned k = 0; k < 16; ++k) sum += left[cell.row][k] * right[k][cell.column];
        return sum;
      });
}

TEST_CASE("shadows of atomic operations") {
  // All lanes add to one place, which lane 0 set to x; then each reads it.
  require_shadows("setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.f32 [sh], %f1; bar.warp.sync -1; red.shared.add.f32 [sh], %f2; bar.warp.sync -1; ld.shared.f32 %f3, [sh];",
                  [](const Values& x, const Values& y, std::size_t) {
                    double sum = x[0];
                    for (const double one : y) sum += one;
                    return sum;
                  });
  // What an update finds is the sum of the lanes before it.
  require_shadows("setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.f32 [sh], %f1; bar.warp.sync -1; atom.shared.add.f32 %f4, [sh], %f2; add.f32 %f3, %f4, 0f00000000;",
                  [](const Values& x, const Values& y, std::size_t l) {
                    double sum = x[0];
                    for (std::size_t k = 0; k < l; ++k) sum += y[k];
                    return sum;
                  });
  // The largest of positive floats is that of their bits.
  require_shadows("mov.b32 %r5, %f1; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [sh], %r5; bar.warp.sync -1; red.shared.max.s32 [sh], %r5; bar.warp.sync -1; ld.shared.f32 %f4, [sh]; mul.f32 %f3, %f4, %f2;",
                  [](const Values& x, const Values& y, std::size_t l) { return x[31] * y[l]; });
}

TEST_CASE("bits that arithmetic on integers makes have no shadow, and the value is taken") {
  Lane lane("mov.b32 %r5, %f1; add.s32 %r5, %r5, 1; mov.b32 %f3, %r5;");
  CHECK(lane.shadowed() == 0);
  const auto shadows = lane.shadows();
  const auto floats = lane.floats();
  for (std::size_t l = 0; l < 32; ++l) CHECK(shadows[l] == static_cast<double>(floats[l]));
}

TEST_CASE("a sum that is made to round to an integer gives the integer, as in expf") {
  Lane lane("add.f32 %f4, %f2, 0f4B400000; add.f32 %f3, %f4, 0fCB400000;");
  const auto shadows = lane.shadows();
  for (std::size_t l = 0; l < 32; ++l) CHECK(shadows[l] == std::nearbyint(lane.y[l]));
  // exp(x) as the compiler writes it.
  require_shadows("fma.rn.f32 %f4, %f1, 0f3BBB989D, 0f3F000000; cvt.sat.f32.f32 %f5, %f4; fma.rm.f32 %f6, %f5, 0f437C0000, 0f4B400001; add.f32 %f7, %f6, 0fCB40007F;"
                  "neg.f32 %f8, %f7; fma.rn.f32 %f9, %f1, 0f3FB8AA3B, %f8; fma.rn.f32 %f12, %f1, 0f32A57060, %f9; mov.b32 %r5, %f6; shl.b32 %r6, %r5, 23; mov.b32 %f13, %r6;"
                  "ex2.approx.ftz.f32 %f14, %f12; mul.f32 %f3, %f14, %f13;",
                  [](auto& x, auto&, auto l) { return std::exp2(x[l] * (static_cast<double>(std::bit_cast<float>(0x3FB8AA3Bu)) + static_cast<double>(std::bit_cast<float>(0x32A57060u)))); });
}

TEST_CASE("a comparison follows the values, and one that shadows would decide otherwise is counted") {
  // x + 10^6 keeps four bits of x's fraction.
  Lane lane("add.f32 %f4, %f1, 0f49742400; add.f32 %f4, %f4, 0fC9742400; add.f32 %f5, %f1, 0f3A83126F; setp.gt.f32 %p1, %f4, %f5; selp.f32 %f3, %f4, %f1, %p1;");
  const auto run = lane.run(ShadowMode::exact);
  const auto floats = lane.floats();
  std::size_t larger = 0;
  for (std::size_t l = 0; l < 32; ++l) larger += floats[l] != static_cast<float>(lane.x[l]);
  CHECK(larger > 4);
  CHECK(run.turned == larger);
  CHECK(Lane("setp.gt.f32 %p1, %f1, %f2; selp.f32 %f3, %f1, %f2, %p1;").run(ShadowMode::exact).turned == 0);
}

TEST_CASE("random rounding moves results by parts of their last place, and exact ones not at all") {
  Lane lane("mul.f32 %f3, %f1, %f2;"), doubled("mul.f32 %f3, %f1, 0f40000000; mul.f32 %f3, %f3, 0f3F000000;"), plain("mov.f32 %f3, %f1;");
  double squares = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto exact = lane.shadows(), moved = lane.shadows(ShadowMode::disturbed, seed);
    for (std::size_t l = 0; l < 32; ++l) squares += std::pow((moved[l] - exact[l]) / (exact[l] * 0x1p-24), 2);
    CHECK(doubled.shadows(ShadowMode::disturbed, seed) == plain.shadows(ShadowMode::disturbed, seed));
  }
  CHECK(lane.shadows(ShadowMode::disturbed, 1) == lane.shadows(ShadowMode::disturbed, 1));
  CHECK(lane.shadows(ShadowMode::disturbed, 1) != lane.shadows(ShadowMode::disturbed, 2));
  // Three roundings of 0.41 units, root mean square.
  const double measured = std::sqrt(squares / (8 * 32));
  CHECK(measured > 0.5);
  CHECK(measured < 0.95);
}

TEST_CASE("terms are counted through sums and products") {
  Lane lane("add.f32 %f4, %f1, %f2; add.f32 %f4, %f4, %f1; fma.rn.f32 %f3, %f4, %f1, %f4;");
  for (const double terms : lane.shadows(ShadowMode::terms)) CHECK(terms == 6);
}
