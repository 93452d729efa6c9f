// SPDX-License-Identifier: Apache-2.0
// The model of time: each bound from made-up counts, the caches behind it, and the order of a few real kernels.
#include "bench_device.hpp"
#include "catch.hpp"
#include "sim/cache.hpp"
#include "sim/instruction_cost.hpp"
#include "sim/predict.hpp"
#include "sim/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

using namespace cudal1;
using namespace cudal1::sim;
using sim::test::Bench;
using sim::test::text_of;

namespace {

const outcome::DeviceFacts& h200() { return gpu("H200"); }

// A grid that fills every SM evenly and does nothing.
LaunchProfile idle() {
  LaunchProfile profile;
  profile.blocks = static_cast<std::uint64_t>(h200().sm_count) * 8;
  profile.blocks_per_sm = 8;
  profile.threads_per_block = 256;
  return profile;
}

double bound(const LaunchProfile& profile, const std::string& name) {
  for (const Bound& one : bounds(profile, h200(), fitted_constants()))
    if (one.name == name) return one.seconds;
  FAIL("no bound is called " << name);
  return 0;
}

device::Prediction predict_kernel(const std::string& file, const std::string& kernel, kernel::Dim3 grid, kernel::Dim3 block, const std::vector<std::size_t>& floats,
                          const std::vector<int>& scalars) {
  auto device = sim::open({.gpu = "H200", .threads = 2});
  Bench bench(*device);
  bench.load(text_of(file));
  for (const std::size_t count : floats) bench.input(std::vector<float>(count, 1.0f));
  for (const int scalar : scalars) bench.scalar(scalar);
  return bench.predict(kernel, grid, block);
}

}  // namespace

TEST_CASE("each resource alone sets the time, and its name is told") {
  const double sm_cycles = h200().sm_count * h200().clock_hz;
  const TimeConstants& k = fitted_constants();
  struct Case {
    std::string name;
    std::function<void(LaunchProfile&)> use;
    double seconds;
  };
  const std::vector<Case> cases{
      {"instruction issue", [](auto& p) { p.work.slots = 1e9; }, 1e9 / 4 / k.issue_share / sm_cycles},
      {"FP32 arithmetic", [](auto& p) { p.work.fp32 = 1e9; }, 1e9 * 64 / 67e12},
      {"integer arithmetic", [](auto& p) { p.work.integer = 1e9; }, 1e9 / 2 / k.integer_share / sm_cycles},
      {"special functions", [](auto& p) { p.work.special = 1e9; }, 1e9 * 2 / sm_cycles},
      {"FP64 arithmetic", [](auto& p) { p.work.fp64 = 1e9; }, 1e9 * 64 / 34e12},
      {"FP16 arithmetic", [](auto& p) { p.work.half = 1e9; }, 1e9 / 4 / sm_cycles},
      {"tensor cores", [](auto& p) { p.counters.tensor_flops = 1e12; }, 1e12 / (989e12 * k.tensor_share)},
      {"tensor cores", [](auto& p) { p.work.products = 1e12; }, 1e12 / (989e12 * k.warpgroup_share)},
      {"tensor cores", [](auto& p) { p.work.products = 1e12, p.work.product_flops = 5e11, p.counters.tensor_flops = 2e12; },
       1e12 / (989e12 * k.warpgroup_share) + 1.5e12 / (989e12 * k.tensor_share)},
      {"loads and stores", [](auto& p) { p.work.memory = 1e9; }, 1e9 / sm_cycles},
      {"L1 and shared memory", [](auto& p) { p.traffic.load_lines = 1e9; }, 1e9 * k.line_cycles / sm_cycles},
      {"L2 bandwidth", [](auto& p) { p.traffic.l2_read_sectors = 1e9; }, 32e9 / k.l2_read_bytes / sm_cycles},
      {"stores to the L2", [](auto& p) { p.traffic.store_lines = p.traffic.l2_write_sectors = 1e9; },
       1e9 * (k.store_line_cycles + k.store_sector_cycles) / sm_cycles},
      {"DRAM bandwidth", [](auto& p) { p.traffic.dram_read_bytes = 1e9, p.traffic.dram_write_bytes = 1e9; }, 2e9 / (k.dram_share * 4.8e12)},
      {"atomics on the same address", [](auto& p) { p.traffic.hottest_line_steps = 1e6; }, 1e6 * k.line_step_seconds},
      {"atomics", [](auto& p) { p.traffic.atomic_steps = 1e9; }, 1e9 * k.step_seconds},
      {"latency: too few warps in flight", [](auto& p) { p.warp_cycles = 1e6; }, (1e6 * k.latency_scale + 8 * k.warp_start_cycles) / h200().clock_hz},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    LaunchProfile profile = idle();
    one.use(profile);
    CHECK(bound(profile, one.name) == Approx(one.seconds).epsilon(1e-6));
    const PredictedLaunch predicted = predict(profile, h200());
    CHECK(predicted.seconds == Approx(k.launch_seconds + one.seconds).epsilon(0.01));
    CHECK(predicted.limited_by == one.name);
  }
}

TEST_CASE("blocks take time to start, and an empty launch is limited by itself") {
  LaunchProfile profile = idle();
  CHECK(predict(profile, h200()).limited_by == "the launch itself");
  profile.blocks = 10'000'000;
  CHECK(bound(profile, "the start of blocks") == Approx(1e7 * fitted_constants().block_seconds));
  CHECK(predict(profile, h200()).limited_by == "the start of blocks");
}

TEST_CASE("one block more than the SMs hold costs another wave") {
  LaunchProfile profile = idle();
  profile.warp_cycles = 1e5;
  const double full = bound(profile, "latency: too few warps in flight");
  profile.blocks += 1;
  CHECK(bound(profile, "latency: too few warps in flight") == Approx(2 * full));
  profile.work.slots = 1e9;
  const double nine_on_one_sm = bound(profile, "instruction issue");
  profile.blocks -= 1;
  CHECK(nine_on_one_sm > 1.1 * bound(profile, "instruction issue"));
}

TEST_CASE("parallelism is that of the SMs that have blocks") {
  LaunchProfile profile = idle();
  profile.work.fp32 = 1e9;
  profile.threads_per_block = 256, profile.blocks_per_sm = 4;
  const auto sms = static_cast<std::uint64_t>(h200().sm_count);
  profile.blocks = 8 * sms;                                                    // two full rounds of 32 warps of 64
  CHECK(predict(profile, h200()).warps_active == Approx(0.5));
  profile.blocks = 5 * sms;                                                    // the second round has one block
  CHECK(predict(profile, h200()).warps_active == Approx(0.3125));
  profile.blocks = 1;                                                          // one SM is active, with eight warps
  const PredictedLaunch alone = predict(profile, h200());
  CHECK(alone.warps_active == Approx(0.125));
  profile.blocks = 8 * sms;
  profile.work.slots = 1e9;
  const PredictedLaunch all = predict(profile, h200());
  CHECK(all.active_seconds == Approx(static_cast<double>(sms) * (all.seconds - fitted_constants().launch_seconds)));
  CHECK(all.issue_active == Approx(1e9 / (4 * h200().clock_hz * all.active_seconds)));
}

TEST_CASE("few blocks leave SMs idle") {
  LaunchProfile profile = idle();
  profile.work.fp32 = 1e9;
  const double all = bound(profile, "FP32 arithmetic");
  profile.blocks = static_cast<std::uint64_t>(h200().sm_count) / 2;
  CHECK(bound(profile, "FP32 arithmetic") == Approx(2 * all));
}

TEST_CASE("the cause is named with the line that has most of it") {
  LaunchProfile profile = idle();
  profile.traffic.l2_read_sectors = 1e9;
  profile.counters.global_load_sectors = 1e9, profile.counters.global_load_bytes = 4e9;
  profile.lines[7].global_load_sectors = 1e8, profile.lines[12].global_load_sectors = 9e8;
  CHECK(predict(profile, h200()).limited_by == "uncoalesced global loads, line 12");
  profile.counters.global_load_bytes = 32e9;
  CHECK(predict(profile, h200()).limited_by == "L2 bandwidth, line 12");
  profile = idle();
  profile.counters.shared_requests = 1e8, profile.counters.shared_wavefronts = profile.traffic.shared_wavefronts = 32e8;
  profile.lines[3].shared_wavefronts = 32e8;
  CHECK(predict(profile, h200()).limited_by == "shared memory bank conflicts, line 3");
}

TEST_CASE("every constant can be fitted and is a number above zero") {
  CHECK(time_constant_fields().size() * sizeof(double) == sizeof(TimeConstants));
  for (const auto& field : time_constant_fields()) CHECK(fitted_constants().*field.member > 0);
}

TEST_CASE("a cache keeps what fits and forgets the oldest") {
  SectorCache cache(64 * 1024);
  const auto pass = [&](std::uint64_t lines) {
    int missing = 0;
    for (std::uint64_t line = 0; line < lines; ++line) missing += cache.touch(line, 1) != 0;
    return missing;
  };
  CHECK(pass(256) == 256);
  CHECK(pass(256) < 20);          // half of the cache: a set may be hit too often
  pass(4096);
  CHECK(pass(4096) > 4000);       // eight times the cache
  SectorCache sectors(4096);
  CHECK(sectors.touch(5, 0b0011) == 0b0011u);
  CHECK(sectors.touch(5, 0b0110) == 0b0100u);
}

TEST_CASE("sampled blocks stand for the whole grid, edges apart") {
  base::Random random(7);
  const auto classes = sample_blocks({100, 50, 1}, 40, Edges::always, random);
  REQUIRE(classes.size() == 9);
  double population = 0;
  for (const BlockClass& one : classes) {
    population += one.population;
    CHECK_FALSE(one.chosen.empty());
    CHECK(std::is_sorted(one.chosen.begin(), one.chosen.end()));
  }
  CHECK(population == 5000);
  CHECK(classes.front().chosen == std::vector<std::uint64_t>{0});
  CHECK(classes.back().chosen == std::vector<std::uint64_t>{4999});
  CHECK(classes[4].population == 98 * 48);
  CHECK(classes[4].chosen.size() >= 30);
  std::size_t all = 0;
  for (const BlockClass& one : sample_blocks({3, 2, 2}, 1000, Edges::always, random)) all += one.chosen.size();
  CHECK(all == 12);
  std::array<std::size_t, 9> drawn{};
  for (int i = 0; i < 1000; ++i) {
    const auto few = sample_blocks({100, 50, 1}, 10, Edges::in_proportion, random);
    for (std::size_t c = 0; c < few.size(); ++c) drawn[c] += few[c].chosen.size();
  }
  CHECK(std::fabs(static_cast<double>(drawn[4]) - 1000 * 10 * 98 * 48 / 5000.0) < 60);
  CHECK(drawn[1] < 300);          // an edge of 98 blocks, 196 on average
}

TEST_CASE("instructions cost what ptxas makes of them") {
  CHECK(cost_of("fma.rn.f32").fp32 == 1);
  CHECK(cost_of("mov.u32").slots < 0.2);
  CHECK(cost_of("ex2.approx.ftz.f32").special == 1);
  CHECK(cost_of("div.rn.f32").slots >= 8);
  CHECK(cost_of("div.s64").slots > 3 * cost_of("div.s32").slots);
  CHECK(cost_of("fma.rn.f64").fp64 == 1);
  CHECK(cost_of("fma.rn.f16x2").half == 1);
  CHECK(cost_of("ld.param.u64").memory == 0);
  CHECK(cost_of("ld.global.v4.f32").memory == 1);
}

TEST_CASE("a product with coalesced reads is predicted faster than one in 16 wide blocks, and a tiled one fastest") {
  const std::size_t n = 512 * 512;
  const auto wide = predict_kernel("tests/ptx/speed/speed.ptx", "mm", {16, 64, 1}, {32, 8, 1}, {n, n, n}, {512});
  const auto square = predict_kernel("tests/ptx/speed/speed.ptx", "mm", {32, 32, 1}, {16, 16, 1}, {n, n, n}, {512});
  const auto tiled = predict_kernel("tests/ptx/speed/speed.ptx", "mmt", {16, 16, 1}, {32, 32, 1}, {n, n, n}, {512});
  CHECK(wide.ms < square.ms);
  CHECK(tiled.ms < wide.ms);
}

TEST_CASE("blocks of one warp are predicted slower than larger ones") {
  const std::size_t n = 1 << 22;
  const auto small = predict_kernel("tests/ptx/speed/speed.ptx", "add", {n / 32, 1, 1}, {32, 1, 1}, {n, n, n}, {n});
  const auto large = predict_kernel("tests/ptx/speed/speed.ptx", "add", {n / 256, 1, 1}, {256, 1, 1}, {n, n, n}, {n});
  CHECK(small.ms > 1.5 * large.ms);
  CHECK(small.limited_by == "the start of blocks");
  CHECK(large.counters.dram_read_bytes == Approx(8.0 * n).epsilon(0.02));
  CHECK(large.counters.dram_write_bytes == Approx(4.0 * n).epsilon(0.02));
}

TEST_CASE("a prediction does not depend on the number of threads") {
  double ms[2];
  for (int t = 0; t < 2; ++t) {
    auto device = sim::open({.gpu = "A100", .threads = t + 1});
    Bench bench(*device);
    bench.load(text_of("tests/ptx/kernels/kernels.ptx"));
    const std::size_t n = 512 * 512;
    for (int b = 0; b < 3; ++b) bench.input(std::vector<float>(n, 1.0f));
    bench.scalar(512);
    ms[t] = bench.predict("matmul_tiled", {32, 32, 1}, {16, 16, 1}).ms;
  }
  CHECK(ms[0] == ms[1]);
}

TEST_CASE("atomics of all blocks on one word wait for each other, whether few blocks are looked at or many") {
  const TimeConstants& k = fitted_constants();
  const std::size_t n = 1 << 22;
  // One update per warp: with one element per thread, and with sixteen.
  for (const std::uint32_t blocks : {n / 256, n / 4096}) {
    const auto one = predict_kernel("tests/ptx/kernels/kernels.ptx", "sum_atomic", {blocks, 1, 1}, {256, 1, 1}, {n, 1}, {n});
    CHECK(one.ms >= 1e3 * k.line_step_seconds * blocks * 8);
    CHECK(one.ms < 2e3 * (k.line_step_seconds * blocks * 8 + 8e-6));
    if (blocks == n / 256) CHECK_THAT(one.limited_by, containing("atomics on the same address"));
  }
}

TEST_CASE("what fits into the L2 is read from DRAM once, however often it is asked for") {
  // Each operand of the product is asked for by 16 blocks.
  const std::size_t n = 512 * 512;
  const auto product = predict_kernel("tests/ptx/speed/speed.ptx", "mmt", {16, 16, 1}, {32, 32, 1}, {n, n, n}, {512});
  CHECK(product.counters.global_load_bytes == Approx(16.0 * 2 * 4 * n).epsilon(0.01));
  CHECK(product.counters.dram_read_bytes == Approx(2.0 * 4 * n).epsilon(0.05));
  CHECK(product.counters.l2_bytes > 8 * product.counters.dram_read_bytes);
}

namespace {

// Every block adds up `few` numbers but block `odd`, which adds up `many`.
std::string uneven(const std::string& sleep = "") {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry uneven(.param .u64 out, .param .u32 odd, .param .u32 few, .param .u32 many)\n{\n"
         ".reg .b32 %r<9>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<4>;\n.reg .pred %p<3>;\n"
         "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [odd];\nld.param.u32 %r2, [few];\nld.param.u32 %r3, [many];\n"
         "mov.u32 %r4, %ctaid.x;\nsetp.eq.u32 %p1, %r4, %r1;\nselp.b32 %r5, %r3, %r2, %p1;\nmov.f32 %f1, 0f00000000;\n" + sleep +
         "L1:\nadd.f32 %f1, %f1, 0f3f800000;\nadd.u32 %r5, %r5, -1;\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra L1;\n"
         "mul.wide.u32 %rd2, %r4, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.f32 [%rd3], %f1;\nret;\n}\n";
}

double uneven_ms(int blocks, int odd, int few, int many, const std::string& sleep = "", std::uint64_t seed = 0) {
  auto device = sim::open({.gpu = "H200", .threads = 2, .seed = seed});
  Bench bench(*device);
  bench.load(uneven(sleep));
  bench.input(std::vector<float>(static_cast<std::size_t>(blocks), 1.0f));
  for (const int scalar : {odd, few, many}) bench.scalar(scalar);
  return bench.predict("uneven", {static_cast<unsigned>(blocks), 1, 1}, {128, 1, 1}).ms;
}

}  // namespace

TEST_CASE("one block that does the work of all takes as long as it takes") {
  const double even = uneven_ms(4096, -1, 50, 50), alone = uneven_ms(4096, 2501, 1, 4096 * 50);
  CHECK(alone > 10 * even);                                  // 200,000 dependent additions in a row
  CHECK(alone > 4096 * 50 * 4 / h200().clock_hz * 1e3);
  CHECK(uneven_ms(4096, 2501, 50, 51) < 1.1 * even);         // a little more work in one block is nothing
}

TEST_CASE("sleep costs its time, in any block") {
  const std::string all = "nanosleep.u32 100000;\n";
  const std::string one = "@%p1 nanosleep.u32 500000;\n";
  const double awake = uneven_ms(4096, 2501, 50, 50);
  CHECK(uneven_ms(4096, 2501, 50, 50, all) > awake + 0.1);
  CHECK(uneven_ms(4096, 2501, 50, 50, one) > awake + 0.5);
}

TEST_CASE("initial values of scratch memory cost what a memset costs") {
  const auto predicted = [](bool initial) {
    auto device = sim::open({.gpu = "H200", .threads = 2});
    Bench bench(*device);
    bench.load(uneven());
    bench.input(std::vector<float>(64 << 20, 1.0f));
    for (const int scalar : {-1, 5, 5}) bench.scalar(scalar);
    if (initial) bench.plan.buffers.front().initial = 0;
    return bench.predict("uneven", {64, 1, 1}, {128, 1, 1}).ms;
  };
  CHECK(predicted(true) > predicted(false) + 0.9 * 1e3 * memset_seconds(256 << 20, h200()));
}

TEST_CASE("which blocks are executed follows the seed") {
  base::Random one(1), same(1), other(2);
  const auto first = sample_blocks({4000, 1, 1}, 40, Edges::always, one), again = sample_blocks({4000, 1, 1}, 40, Edges::always, same),
             fresh = sample_blocks({4000, 1, 1}, 40, Edges::always, other);
  CHECK(first[1].chosen == again[1].chosen);
  CHECK(first[1].chosen != fresh[1].chosen);
}
