// SPDX-License-Identifier: Apache-2.0
// Kernels as models write them, from NVRTC's PTX, against the same arithmetic on the host.
#include "bench_device.hpp"
#include "catch.hpp"
#include "sim/memory.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include <fmt/format.h>

using namespace cudal1;
using sim::test::Bench;
using sim::test::text_of;
using Status = device::RunResult::Status;

namespace {

const std::string& kernels() {
  static const std::string text = text_of("tests/ptx/kernels/kernels.ptx");
  return text;
}

std::vector<float> random_floats(std::size_t count, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

void require_clean(const device::RunResult& result) {
  for (const auto& finding : result.findings) UNSCOPED_INFO(outcome::render(finding));
  UNSCOPED_INFO(result.message);
  REQUIRE(result.status == Status::ok);
}

bool within(double a, double b, double margin) { return std::fabs(a - b) <= margin; }
bool close(double a, double b, double relative) { return within(a, b, relative * std::fabs(b)); }

struct Sim {
  std::unique_ptr<device::Device> device = sim::open({.gpu = "H200", .threads = 2});
  Bench bench{*device};
  Sim() { bench.load(kernels()); }
};

}  // namespace

TEST_CASE("an element-wise kernel adds, and a ragged last block stays in bounds") {
  Sim sim;
  const auto a = random_floats(1000, 1), b = random_floats(1000, 2);
  sim.bench.input(a), sim.bench.input(b);
  const auto out = sim.bench.output(4000);
  sim.bench.scalar(1000);
  const auto result = sim.bench.run("add", {8, 1, 1}, {128, 1, 1});
  require_clean(result);
  const auto c = sim.bench.read<float>(out);
  for (std::size_t i = 0; i < c.size(); ++i) REQUIRE(c[i] == a[i] + b[i]);
  CHECK(result.counters.global_load_bytes == 8000);
  CHECK(result.counters.global_store_bytes == 4000);
  CHECK(within(result.counters.sectors_per_request(), 4.0, 0.1));
  CHECK(result.counters.fp32_flops == 1000);
}

TEST_CASE("a tiled matrix product uses shared memory and barriers rightly") {
  Sim sim;
  const int n = 50;
  const auto a = random_floats(2500, 1), b = random_floats(2500, 2);
  sim.bench.input(a), sim.bench.input(b);
  const auto out = sim.bench.output(10000);
  sim.bench.scalar(n);
  const auto result = sim.bench.run("matmul_tiled", {4, 4, 1}, {16, 16, 1});
  require_clean(result);
  const auto c = sim.bench.read<float>(out);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum = std::fma(a[static_cast<std::size_t>(i * n + k)], b[static_cast<std::size_t>(k * n + j)], sum);
      REQUIRE(c[static_cast<std::size_t>(i * n + j)] == sum);
    }
  CHECK(result.counters.shared_wavefronts == result.counters.shared_requests);
}

TEST_CASE("softmax with shuffles sums to one in every row") {
  Sim sim;
  const auto x = random_floats(7 * 333);
  sim.bench.input(x);
  const auto out = sim.bench.output(x.size() * 4);
  sim.bench.scalar(333);
  require_clean(sim.bench.run("softmax", {7, 1, 1}, {128, 1, 1}));
  const auto y = sim.bench.read<float>(out);
  for (std::size_t r = 0; r < 7; ++r) {
    double most = -1e30, sum = 0;
    for (std::size_t i = 0; i < 333; ++i) most = std::max(most, double(x[r * 333 + i]));
    for (std::size_t i = 0; i < 333; ++i) sum += std::exp(x[r * 333 + i] - most);
    for (std::size_t i = 0; i < 333; ++i) REQUIRE(close(y[r * 333 + i], std::exp(x[r * 333 + i] - most) / sum, 1e-5));
  }
}

TEST_CASE("floating atomics give the same sum whatever the thread count") {
  const auto x = random_floats(10000);
  std::vector<float> sums;
  for (const int threads : {1, 2, 3}) {
    auto device = sim::open({.gpu = "H200", .threads = threads});
    Bench bench(*device);
    bench.load(kernels());
    bench.input(x);
    const auto out = bench.input(std::vector<float>{0.0f});
    bench.scalar(10000);
    require_clean(bench.run("sum_atomic", {13, 1, 1}, {128, 1, 1}));
    sums.push_back(bench.read<float>(out)[0]);
  }
  CHECK(within(sums[0], std::accumulate(x.begin(), x.end(), 0.0), 1e-3));
  CHECK(sums[0] == sums[1]);
  CHECK(sums[0] == sums[2]);
}

TEST_CASE("a histogram with shared and global atomics counts every key") {
  Sim sim;
  std::vector<unsigned> keys(5000);
  std::iota(keys.begin(), keys.end(), 0u);
  sim.bench.input(keys);
  const auto out = sim.bench.input(std::vector<unsigned>(64, 0u));
  sim.bench.scalar(5000);
  require_clean(sim.bench.run("histogram", {9, 1, 1}, {96, 1, 1}));
  const auto bins = sim.bench.read<unsigned>(out);
  CHECK(std::accumulate(bins.begin(), bins.end(), 0u) == 5000);
  for (unsigned k = 0; k < 64; ++k) CHECK(bins[k] == (k < 5000 % 64 ? 79u : 78u));
}

TEST_CASE("a transpose through a padded tile has no bank conflict") {
  Sim sim;
  const auto x = random_floats(70 * 45);
  sim.bench.input(x);
  const auto out = sim.bench.output(x.size() * 4);
  sim.bench.scalar(70), sim.bench.scalar(45);
  const auto result = sim.bench.run("transpose", {2, 3, 1}, {32, 8, 1});
  require_clean(result);
  const auto y = sim.bench.read<float>(out);
  for (std::size_t i = 0; i < 70; ++i)
    for (std::size_t j = 0; j < 45; ++j) REQUIRE(y[j * 70 + i] == x[i * 45 + j]);
  CHECK(result.counters.shared_wavefronts == result.counters.shared_requests);
}

TEST_CASE("calls, local arrays and constant memory work") {
  Sim sim;
  const auto x = random_floats(104);
  sim.bench.input(x);
  const auto out = sim.bench.output(400);
  sim.bench.scalar(100);
  require_clean(sim.bench.run("calls", {4, 1, 1}, {32, 1, 1}));
  const auto y = sim.bench.read<float>(out);
  for (std::size_t i = 0; i < 100; ++i) {
    float history[4];
    for (std::size_t k = 0; k < 4; ++k) history[(i + k) & 3] = x[i + k];
    const float w[] = {1, 2, 3};
    CHECK(y[i] == std::fma(history[0], w[i % 3], history[1]) + history[2] - history[3]);
  }
}

TEST_CASE("dynamic shared memory is as large as the launch says") {
  Sim sim;
  const auto x = random_floats(256);
  sim.bench.input(x);
  const auto out = sim.bench.output(1024);
  sim.bench.scalar(256);
  sim.bench.launch.shared_bytes = 1024;
  require_clean(sim.bench.run("dynamic_reverse", {1, 1, 1}, {256, 1, 1}));
  const auto y = sim.bench.read<float>(out);
  for (std::size_t i = 0; i < 256; ++i) CHECK(y[i] == x[255 - i]);
}

TEST_CASE("vector loads and stores move four floats a lane") {
  Sim sim;
  const auto x = random_floats(400);
  sim.bench.input(x);
  const auto out = sim.bench.output(1600);
  sim.bench.scalar(100);
  const auto result = sim.bench.run("copy4", {2, 1, 1}, {64, 1, 1});
  require_clean(result);
  const auto y = sim.bench.read<float>(out);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(y[4 * i] == 2 * x[4 * i]);
    CHECK(y[4 * i + 1] == x[4 * i + 1]);
    CHECK(y[4 * i + 3] == x[4 * i + 3] + 1);
  }
  CHECK(result.counters.global_load_bytes == 1600);
}

TEST_CASE("diverging loops reconverge and count their divergence") {
  Sim sim;
  std::vector<int> x(100);
  std::iota(x.begin(), x.end(), 1);
  sim.bench.input(x);
  const auto out = sim.bench.output(400);
  sim.bench.scalar(100);
  const auto result = sim.bench.run("collatz", {4, 1, 1}, {32, 1, 1});
  require_clean(result);
  const auto steps = sim.bench.read<int>(out);
  for (int i = 0; i < 100; ++i) {
    int v = i + 1, count = 0;
    while (v != 1) v = v % 2 ? 3 * v + 1 : v / 2, ++count;
    REQUIRE(steps[static_cast<std::size_t>(i)] == count);
  }
  CHECK(result.counters.divergent_branches > 50);
}

TEST_CASE("blocks that wait for earlier blocks make progress") {
  Sim sim;
  std::vector<int> x(2560);
  std::iota(x.begin(), x.end(), 1);
  sim.bench.input(x);
  const auto out = sim.bench.output(x.size() * 4);
  sim.bench.input(std::vector<int>(10, 0)), sim.bench.input(std::vector<int>(10, 0));
  sim.bench.scalar(2560);
  const auto result = sim.bench.run("chained_scan", {10, 1, 1}, {256, 1, 1});
  require_clean(result);
  const auto y = sim.bench.read<int>(out);
  int sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) REQUIRE(y[i] == (sum += x[i]));
}

TEST_CASE("a grid barrier of resident blocks is passed by all") {
  Sim sim;
  sim.bench.input(std::vector<int>{0});
  const auto out = sim.bench.output(40 * 4);
  require_clean(sim.bench.run("grid_barrier", {40, 1, 1}, {64, 1, 1}));
  for (const int seen : sim.bench.read<int>(out)) CHECK(seen == 40);
}

TEST_CASE("lanes of one warp can take a lock in turn") {
  Sim sim;
  sim.bench.input(std::vector<int>{0});
  const auto value = sim.bench.input(std::vector<int>{0});
  require_clean(sim.bench.run("lane_lock", {2, 1, 1}, {32, 1, 1}));
  CHECK(sim.bench.read<int>(value)[0] == 64);
}

TEST_CASE("a kernel that never ends is a timeout") {
  Sim sim;
  sim.bench.input(std::vector<int>(32, 0));
  sim.bench.output(128);
  sim.bench.scalar(32);
  device::RunOptions options;
  options.instruction_budget = 2'000'000;
  const auto result = sim.bench.run("collatz", {1, 1, 1}, {32, 1, 1}, options);  // 0 never becomes 1
  CHECK(result.status == Status::timeout);
  CHECK_THAT(result.message, containing("collatz"));
}

TEST_CASE("printf formats as the host does, block after block") {
  std::string expected;
  for (int block = 0; block < 40; ++block) expected += fmt::format("block {} of grid:  4.50 1099511627776 %\n", block);
  for (const int threads : {1, 4}) {
    auto device = sim::open({.gpu = "H200", .threads = threads});
    Bench bench(*device);
    bench.load(kernels());
    bench.scalar(3);
    const auto result = bench.run("says", {40, 1, 1}, {32, 1, 1});
    require_clean(result);
    CHECK(result.printed == expected);
  }
}

TEST_CASE("a warp operation waits for a lane that spins long, and for none that its mask does not name") {
  // `long_lane`: lane 1 reads a flag n times before all meet in a shuffle. `handshake`: lane 0 waits for what the other
  // lanes store after a barrier among themselves.
  const std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry long_lane(.param .u64 flag, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [flag];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, 0;
  setp.ne.u32 %p1, %r2, 1;
  @%p1 bra MEET;
SPIN:
  ld.volatile.global.u32 %r4, [%rd1];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, %r1;
  @%p2 bra SPIN;
MEET:
  shfl.sync.idx.b32 %r5, %r3, 1, 31, -1;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r5;
  ret;
}
.visible .entry handshake(.param .u64 flag, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [flag];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra WAIT;
  bar.warp.sync 0xfffffffe;
  st.volatile.global.u32 [%rd1], 7;
  bra MEET;
WAIT:
  ld.volatile.global.u32 %r4, [%rd1];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra WAIT;
MEET:
  bar.warp.sync -1;
  ld.volatile.global.u32 %r5, [%rd1];
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r5;
  ret;
}
)";
  for (const auto& [kernel, expected] : {std::pair{"long_lane", 100'000}, std::pair{"handshake", 7}}) {
    auto device = sim::open({.gpu = "H200", .threads = 2});
    Bench bench(*device);
    bench.load(ptx);
    bench.input(std::vector<int>{0});
    const auto out = bench.output(128);
    bench.scalar(100'000);
    device::RunOptions options;
    options.instruction_budget = 20'000'000;
    require_clean(bench.run(kernel, {1, 1, 1}, {32, 1, 1}, options));
    for (const int value : bench.read<int>(out)) REQUIRE(value == expected);
  }
}

TEST_CASE("reading past the end of constant memory names the constant") {
  auto device = sim::open({.gpu = "H200", .threads = 2});
  Bench bench(*device);
  bench.load(R"(.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b8 weights[64];
.visible .entry reads(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  mov.u64 %rd3, weights;
  add.u64 %rd4, %rd3, %rd2;
  ld.const.u32 %r2, [%rd4];
  add.u64 %rd5, %rd1, %rd2;
  st.global.u32 [%rd5], %r2;
  ret;
}
)");
  bench.output(128);
  const auto result = bench.run("reads", {1, 1, 1}, {32, 1, 1});
  REQUIRE(result.status == Status::findings);
  CHECK(result.findings.front().kind == outcome::Finding::Kind::out_of_bounds);
  CHECK(result.findings.front().thread[0] == 16);
  CHECK(result.findings.front().buffer == "weights");
  CHECK_THAT(result.findings.front().message, containing("4 bytes past the end of weights (64 bytes)"));
}

TEST_CASE("a short buffer is named with line, thread and distance") {
  Sim sim;
  const auto a = random_floats(100);
  sim.bench.input(a, "A"), sim.bench.input(a, "B");
  sim.bench.output(400, "C");
  sim.bench.scalar(128);
  const auto result = sim.bench.run("add", {1, 1, 1}, {128, 1, 1});
  REQUIRE(result.status == Status::findings);
  REQUIRE(result.findings.size() >= 1);
  const auto& finding = result.findings.front();
  CHECK(finding.kind == outcome::Finding::Kind::out_of_bounds);
  CHECK(finding.line == 7);
  CHECK(finding.thread[0] == 100);
  CHECK(finding.offset == 400);
  CHECK_THAT(finding.message, containing("past the end"));
}

TEST_CASE("reading what nobody wrote is found") {
  Sim sim;
  sim.bench.output(400, "A"), sim.bench.input(random_floats(100), "B");
  sim.bench.output(400, "C");
  sim.bench.scalar(100);
  const auto result = sim.bench.run("add", {1, 1, 1}, {128, 1, 1});
  REQUIRE(result.status == Status::findings);
  CHECK(result.findings.front().kind == outcome::Finding::Kind::uninitialised);
  CHECK(result.findings.front().buffer == "A");
}

TEST_CASE("unknown instructions are refused at load with their place") {
  auto device = sim::open({});
  outcome::Binary binary;
  binary.ptx = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<2>;\n\ttcgen05.wait::ld.sync.aligned;\n\tret;\n}\n";
  const auto loaded = device->load(binary);
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().status == Status::unsupported);
  CHECK_THAT(loaded.error().message, containing("sim does not know \"tcgen05.wait::ld.sync.aligned\""));
  CHECK_THAT(loaded.error().message, containing("PTX:7"));
}

TEST_CASE("a prediction names a time and what limits it") {
  Sim sim;
  const std::size_t n = 1 << 20;
  sim.bench.input(std::vector<float>(n, 1.0f)), sim.bench.input(std::vector<float>(n, 1.0f));
  sim.bench.output(4 * n);
  sim.bench.scalar(static_cast<int>(n));
  const auto prediction = sim.bench.predict("add", {4096, 1, 1}, {256, 1, 1});
  CHECK(prediction.ms > 0.002);
  CHECK(prediction.ms < 0.1);
  CHECK(close(prediction.counters.global_load_bytes, 8.0 * n, 0.01));
  CHECK_FALSE(prediction.limited_by.empty());
  CHECK(prediction.shares.at("warps_active_share") > 0.9);
  CHECK(prediction.shares.at("issue_active_share") > 0);
  CHECK(prediction.shares.at("issue_active_share") < 0.5);
}

TEST_CASE("an unknown GPU is refused with the nearest name") {
  CHECK_THROWS_WITH(sim::gpu("H201"), containing("H200") || containing("H100"));
  CHECK(sim::gpu("rtx 3090").sm_count == 82);
}

TEST_CASE("malformed PTX is an error with its place") {
  auto device = sim::open({});
  for (const char* text : {"4.1e", ".version", ".entry k() { bra nowhere; }", ".entry k() { .reg .b32 %r<99999999>; }", "\"", ".entry k(", "{"}) {
    outcome::Binary binary;
    binary.ptx = text;
    const auto loaded = device->load(binary);
    REQUIRE_FALSE(loaded);
    CHECK_THAT(loaded.error().message, containing("PTX:1"));
  }
}

TEST_CASE("an address in shared memory wraps around at 32 bits") {
  const auto device = sim::open({.gpu = "H200", .threads = 1});
  Bench bench(*device);
  bench.load(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry wraps(.param .u64 out) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[128];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  mov.u64 %rd2, tile;
  add.s64 %rd3, %rd2, %rd1;
  st.shared.u32 [%rd3], %r1;
  bar.sync 0;
  add.s64 %rd4, %rd3, 4294967296;
  ld.shared.u32 %r2, [%rd4];
  ld.param.u64 %rd5, [out];
  cvta.to.global.u64 %rd6, %rd5;
  add.s64 %rd7, %rd6, %rd1;
  st.global.u32 [%rd7], %r2;
  ret;
}
)");
  const auto out = bench.output(128);
  require_clean(bench.run("wraps", {1, 1, 1}, {32, 1, 1}));
  const auto values = bench.read<int>(out);
  for (int i = 0; i < 32; ++i) CHECK(values[static_cast<std::size_t>(i)] == i);
}

namespace {

// Adds one to a variable, or to memory of its own.
const char* const counter =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 kept = 5;\n.global .align 4 .u32 table[4] = {1, 2, 3, 4};\n"
    ".visible .entry count(.param .u64 out, .param .u32 into)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [into];\nsetp.eq.u32 %p1, %r1, 1;\nmov.u64 %rd2, kept;\nselp.b64 %rd1, %rd2, %rd1, %p1;\n"
    "ld.u32 %r2, [table+8];\nadd.u32 %r2, %r2, 1;\nst.u32 [%rd1], %r2;\nret;\n}\n";

std::string changed_by(int into) {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  outcome::Binary binary;
  binary.ptx = counter;
  auto module = device->load(binary);
  REQUIRE(module);
  const device::Region region{device->allocate(4, "out"), 0, 4};
  device->write(region, std::vector<std::byte>(4));
  kernel::Plan plan;
  plan.buffers.push_back({kernel::PlanBuffer::Role::inout, "out", tensor::Dtype::int32, {1}, 4, {}, {}});
  kernel::Launch launch;
  launch.kernel = "count";
  kernel::ScalarArgument scalar{{}, 4};
  std::memcpy(scalar.bytes.data(), &into, 4);
  launch.arguments = {kernel::BufferArgument{0, 0}, scalar};
  plan.steps = {launch};
  CHECK(device->changed_variable(**module).empty());
  require_clean(device->run({module->get(), &plan, {region}}, {}));
  const std::string changed = device->changed_variable(**module);
  module->reset();
  device->release(region.memory);
  return changed;
}

}  // namespace

TEST_CASE("a variable that holds other bytes than when its module was loaded is named") {
  CHECK(changed_by(0).empty());
  CHECK(changed_by(1) == "kept");
}

TEST_CASE("lanes of a warp that wait for each other's lock go on one after the other, soon enough") {
  auto device = sim::open({.gpu = "H200", .threads = 2});
  Bench bench(*device);
  bench.load(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry locked(.param .u64 lock, .param .u64 sum)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\n"
             ".reg .pred %p<2>;\nld.param.u64 %rd1, [lock];\nld.param.u64 %rd2, [sum];\n"
             "L1:\natom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra L1;\n"
             "ld.volatile.global.u32 %r2, [%rd2];\nadd.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%rd2], %r2;\nmembar.gl;\natom.global.exch.b32 %r3, [%rd1], 0;\nret;\n}\n");
  bench.input(std::vector<int>{0});
  const auto sum = bench.input(std::vector<int>{0});
  device::RunOptions options;
  options.instruction_budget = 50'000'000;
  require_clean(bench.run("locked", {16, 1, 1}, {256, 1, 1}, options));
  CHECK(bench.read<int>(sum).front() == 16 * 256);
}

namespace {

// Each block writes the sixteen numbers that begin at sixteen times its own, but for the last `idle` of them; odd blocks, too.
const char* const partial =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry partial(.param .u64 out, .param .u32 idle, .param .u32 step)\n{\n"
    ".reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n.reg .pred %p<3>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [idle];\nld.param.u32 %r6, [step];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %tid.x;\nsub.u32 %r4, 16, %r1;\nsetp.ge.u32 %p1, %r3, %r4;\n@%p1 ret;\nrem.u32 %r7, %r2, %r6;\n"
    "setp.ne.u32 %p2, %r7, 0;\n@%p2 ret;\nmad.lo.u32 %r5, %r2, 16, %r3;\nmul.wide.u32 %rd2, %r5, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r2;\nret;\n}\n";

device::RunResult sampled(int idle, int step) {
  constexpr unsigned blocks = 20'000;
  auto device = sim::open({.gpu = "H200", .threads = 2, .seed = 5});
  Bench bench(*device);
  bench.load(partial);
  bench.output(blocks * 16 * 4);
  bench.plan.buffers.front().role = kernel::PlanBuffer::Role::output;
  bench.scalar(idle);
  bench.scalar(step);
  device::RunOptions options;
  options.sampled_instructions = 5000;
  return bench.run("partial", {blocks, 1, 1}, {16, 1, 1}, options);
}

}  // namespace

TEST_CASE("some blocks show how much of the outputs all of them write") {
  const device::RunResult all = sampled(0, 1), few = sampled(7, 1), third = sampled(0, 3);
  CHECK(all.executed_share < 0.2);
  CHECK(std::fabs(all.covered - 1) < 1e-9);
  CHECK(all.covered_error < 1e-9);
  CHECK(std::fabs(few.covered - 9.0 / 16) < 1e-9);
  CHECK(third.covered + 4 * third.covered_error < 0.95);
  CHECK(std::fabs(third.covered - 1.0 / 3) < 0.15);
}

namespace {

// Each block writes sixteen numbers, but for one in `rare`, scattered by a hash of their numbers, that does nothing.
const char* const scattered =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry scattered(.param .u64 out, .param .u32 rare)\n{\n"
    ".reg .b32 %r<16>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, [rare];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ctaid.y;\nmov.u32 %r4, %nctaid.x;\nmov.u32 %r5, %tid.x;\nmad.lo.u32 %r6, %r3, %r4, %r2;\n"
    "shr.u32 %r7, %r6, 16;\nxor.b32 %r7, %r7, %r6;\nmul.lo.u32 %r7, %r7, 2146121005;\nshr.u32 %r8, %r7, 15;\nxor.b32 %r8, %r8, %r7;\n"
    "mul.lo.u32 %r8, %r8, 2221713035;\nrem.u32 %r9, %r8, %r1;\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 ret;\nmad.lo.u32 %r10, %r6, 16, %r5;\n"
    "mul.wide.u32 %rd2, %r10, 4;\nadd.u64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r6;\nret;\n}\n";

// How many of `draws` times drawn blocks do not show that one block in `rare` is idle.
int missed(unsigned rare, kernel::Dim3 grid, int draws) {
  auto device = sim::open({.gpu = "H200", .threads = 1, .seed = 3});
  Bench bench(*device);
  bench.load(scattered);
  bench.output(static_cast<std::size_t>(grid[0]) * grid[1] * 16 * 4);
  bench.plan.buffers.front().role = kernel::PlanBuffer::Role::output;
  bench.scalar(static_cast<int>(rare));
  device::RunOptions options;
  options.sampled_instructions = 1;
  int missed = 0;
  for (int i = 0; i < draws; ++i) {
    const device::RunResult result = bench.run("scattered", grid, {16, 1, 1}, options);
    REQUIRE(result.executed_share < 0.3);
    missed += result.covered >= 0.99 || result.covered + 4 * result.covered_error >= 1;
  }
  return missed;
}

}  // namespace

TEST_CASE("one idle block in twenty is found, whatever the grid's form") {
  CHECK(missed(20, {16'000, 1, 1}, 60) == 0);
  CHECK(missed(20, {128, 128, 1}, 60) == 0);
  CHECK(missed(20, {2, 8'000, 1}, 60) == 0);
  CHECK(missed(1'000'000'000, {128, 128, 1}, 20) == 20);
}

TEST_CASE("blocks are drawn of the only launch that is given an output; all others run whole") {
  const kernel::Dim3 grid{128, 128, 1};
  const std::string mark = ".visible .entry mark(.param .u64 out)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [out];\nst.global.u32 [%rd1], 7;\nret;\n}\n";
  const std::string nothing = ".visible .entry nothing()\n{\nret;\n}\n";
  const auto share = [&](const std::vector<std::string>& order) {
    auto device = sim::open({.gpu = "H200", .threads = 1, .seed = 3});
    Bench bench(*device);
    bench.load(scattered + mark + nothing);
    bench.output(static_cast<std::size_t>(grid[0]) * grid[1] * 16 * 4);
    bench.output(4);
    bench.plan.buffers[0].role = kernel::PlanBuffer::Role::output;
    bench.plan.buffers[1].role = kernel::PlanBuffer::Role::scratch;
    bench.scalar(1'000'000'000);
    const std::vector<kernel::Argument>& given = bench.launch.arguments;
    const std::map<std::string, kernel::Launch> launches = {
        {"scattered", {"scattered", grid, {16, 1, 1}, {}, 0, false, {given[0], given[2]}}},
        {"mark", {"mark", {1, 1, 1}, {1, 1, 1}, {}, 0, false, {given[1]}}},
        {"mark an output", {"mark", {1, 1, 1}, {1, 1, 1}, {}, 0, false, {given[0]}}},
        {"nothing", {"nothing", {1, 1, 1}, {1, 1, 1}, {}, 0, false, {}}}};
    for (const std::string& name : order) bench.plan.steps.emplace_back(launches.at(name));
    device::RunOptions options;
    options.sampled_instructions = 1;
    const device::RunResult result = device->run(bench.bound(), options);
    CHECK(result.status == device::RunResult::Status::ok);
    CHECK(result.covered > 0.99);
    const bool marks = std::find(order.begin(), order.end(), "mark") != order.end();
    CHECK((bench.read<std::uint32_t>(1).front() == 7) == marks);
    return result.executed_share;
  };
  CHECK(share({"scattered"}) < 0.3);
  CHECK(share({"scattered", "nothing"}) < 0.3);
  CHECK(share({"mark", "scattered"}) < 0.3);
  CHECK(share({"scattered", "mark"}) < 0.3);
  CHECK(share({"scattered", "mark an output"}) == 1);
}

TEST_CASE("drawing ends where all clusters have run, and few blocks show that half of them are idle") {
  const auto drawn = [](unsigned rare, kernel::Dim3 grid, kernel::Dim3 cluster, std::uint64_t budget) {
    auto device = sim::open({.gpu = "H200", .threads = 1, .seed = 3});
    Bench bench(*device);
    bench.load(scattered);
    bench.output(static_cast<std::size_t>(grid[0]) * grid[1] * 16 * 4);
    bench.plan.buffers.front().role = kernel::PlanBuffer::Role::output;
    bench.scalar(static_cast<int>(rare));
    bench.launch.cluster = cluster;
    device::RunOptions options;
    options.sampled_instructions = 1;
    options.instruction_budget = budget;
    return bench.run("scattered", grid, {16, 1, 1}, options);
  };
  CHECK(drawn(1'000'000'000, {136, 1, 1}, {8, 1, 1}, 0).executed_share == 1);
  const device::RunResult few = drawn(2, {128, 128, 1}, {0, 0, 0}, 900);
  REQUIRE(few.status == device::RunResult::Status::ok);
  CHECK(few.executed_share < 0.01);
  CHECK(few.covered + 4 * few.covered_error < 0.99);
}

TEST_CASE("a kernel that writes to its own parameters fails, as on a GPU") {
  auto device = sim::open({.gpu = "H200", .threads = 1});
  Bench bench(*device);
  bench.load(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry own(.param .u64 out, .param .align 4 .b8 given[4])\n{\n.reg .b64 %rd<3>;\n"
             "mov.b64 %rd1, given;\ncvta.param.u64 %rd2, %rd1;\nst.u32 [%rd2], 7;\nret;\n}\n");
  bench.output(4);
  bench.scalar(3);
  const device::RunResult result = bench.run("own", {1, 1, 1}, {1, 1, 1});
  CHECK(result.status == device::RunResult::Status::runtime_failed);
  CHECK(result.message.find("its own parameters") != std::string::npos);
}

TEST_CASE("addresses say nothing about what was allocated first") {
  sim::GlobalMemory memory;
  memory.scatter(3);
  std::vector<std::uint64_t> bases;
  for (int i = 0; i < 40; ++i) bases.push_back(memory.allocate(1 << 20, "a").base);
  CHECK(!std::is_sorted(bases.begin(), bases.end()));
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t base = bases[static_cast<std::size_t>(i)];
    REQUIRE(memory.find(base, base + (1 << 20)) != nullptr);
    CHECK(memory.find(base, base + (1 << 20) + 1) == nullptr);
    memory.release(static_cast<std::uint32_t>(i + 1));
    CHECK(memory.find(base, base + 4) == nullptr);
  }
}
