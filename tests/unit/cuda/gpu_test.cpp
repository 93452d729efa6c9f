// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda.hpp"

#include "catch.hpp"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace cudal1;

namespace {

device::Device& gpu() {
  static const std::unique_ptr<device::Device> device = [] {
    const auto inventory = cuda::inventory();
    if (!inventory.problem.empty()) CUDAL1_SKIP(inventory.problem.c_str());
    return cuda::open(0);
  }();
  return *device;
}

// C[i] = A[i] * factor, `rounds` times over; and one that never ends or faults.
constexpr const char* ptx = R"(.version 6.3
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 a, .param .u64 c, .param .f32 factor, .param .u32 n, .param .u32 rounds)
{
  .reg .b64 %d<8>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .pred %p<3>;
  ld.param.u64 %d1, [a];
  ld.param.u64 %d2, [c];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [rounds];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.u32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r6, %r1;
  @%p1 bra done;
  mul.wide.u32 %d3, %r6, 4;
  add.u64 %d4, %d1, %d3;
  add.u64 %d5, %d2, %d3;
again:
  ld.volatile.global.f32 %f2, [%d4];
  mul.f32 %f3, %f2, %f1;
  st.volatile.global.f32 [%d5], %f3;
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra again;
done:
  ret;
}
.visible .entry trap_now() { trap; ret; }
)";

struct Scale {
  kernel::Plan plan;
  std::unique_ptr<device::Module> module;

  Scale(std::uint32_t n, std::uint32_t rounds, int launches = 1) {
    plan.buffers = {{kernel::PlanBuffer::Role::input, "A", tensor::Dtype::float32, {n}, 4 * n, {}, {}},
                    {kernel::PlanBuffer::Role::output, "C", tensor::Dtype::float32, {n}, 4 * n, {}, {}}};
    kernel::Launch launch;
    launch.kernel = "scale";
    launch.grid = {(n + 255) / 256, 1, 1};
    launch.block = {256, 1, 1};
    const float factor = 3;
    launch.arguments = {kernel::BufferArgument{0, 0}, kernel::BufferArgument{1, 0}, scalar(factor), scalar(n),
                        scalar(rounds)};
    for (int i = 0; i < launches; ++i) plan.steps.emplace_back(launch);
    outcome::Binary binary;
    binary.ptx = ptx;
    binary.entries = {{"scale", "scale"}, {"trap_now", "trap_now"}};
    auto loaded = gpu().load(binary);
    if (!loaded) FAIL(loaded.error().message);
    module = *std::move(loaded);
  }

  template <typename T>
  static kernel::ScalarArgument scalar(T value) {
    kernel::ScalarArgument argument;
    argument.size = sizeof value;
    std::memcpy(argument.bytes.data(), &value, sizeof value);
    return argument;
  }

  device::BoundPlan bind() const {
    device::BoundPlan bound;
    bound.module = module.get();
    bound.plan = &plan;
    for (const auto& buffer : plan.buffers)
      bound.buffers.push_back({gpu().allocate(buffer.bytes, buffer.name), 0, buffer.bytes});
    const std::vector<float> values(buffer_elements(), 2.0F);
    gpu().write(bound.buffers[0], std::as_bytes(std::span(values)));
    return bound;
  }
  std::size_t buffer_elements() const { return plan.buffers[0].bytes / 4; }
};

double median_ratio(const device::Arm& first, const device::Arm& second, int pairs, bool flush = true) {
  device::TimingRequest request;
  request.arms = {first, second};
  for (int i = 0; i < pairs; ++i)
    for (const std::size_t arm : {i % 2, 1 - i % 2}) request.order.push_back(arm);
  request.flush = flush;
  request.seed = 5;
  const auto samples = gpu().time(request);
  REQUIRE(samples->size() == request.order.size());
  std::vector<double> ratios;
  double total = 0;
  for (std::size_t i = 0; i < samples->size(); i += 2) {
    const auto& a = (*samples)[i];
    const auto& b = (*samples)[i + 1];
    ratios.push_back(a.arm == 0 ? a.ms / b.ms : b.ms / a.ms);
    total += a.ms + b.ms;
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("  %d pairs, mean %.5f ms, ratio median %.5f, quartiles %.5f %.5f\n", pairs,
              total / static_cast<double>(samples->size()), ratios[ratios.size() / 2], ratios[ratios.size() / 4],
              ratios[3 * ratios.size() / 4]);
  return ratios[ratios.size() / 2];
}

device::Arm arm_of(const Scale& scale, int sets) {
  device::Arm arm;
  for (int i = 0; i < sets; ++i) arm.sets.push_back(scale.bind());
  return arm;
}

void release(const device::Arm& arm) {
  for (const auto& set : arm.sets)
    for (const auto& region : set.buffers) gpu().release(region.memory);
}

}  // namespace

TEST_CASE("a GPU tells what it is") {
  const auto& facts = gpu().facts();
  std::printf("  %s, driver %s, %s, %d SMs, %.2f TB/s measured, L2 %zu MiB, tick %.1f ns\n", facts.name.c_str(),
              facts.driver.c_str(), facts.arch().c_str(), facts.sm_count, facts.memory_bytes_per_second / 1e12,
              facts.l2_bytes >> 20, gpu().tick_ms() * 1e6);
  CHECK(facts.uuid.starts_with("GPU-"));
  CHECK(facts.sm_count > 0);
  CHECK(facts.memory_rate_measured);
  CHECK(facts.memory_bytes_per_second > 1e10);
  CHECK(gpu().tick_ms() > 0);
  CHECK(gpu().tick_ms() < 0.005);
}

TEST_CASE("memory keeps what is written, and poison fills to the last byte") {
  const auto memory = gpu().allocate(1003, "M");
  const device::Region region{memory, 0, 1003};
  gpu().poison(region, 0xa1b2c3d4);
  std::vector<std::byte> bytes(1003);
  gpu().read(region, bytes);
  CHECK(bytes[0] == std::byte{0xd4});
  CHECK(bytes[1002] == std::byte{0xb2});
  const auto poisoned = gpu().digest(region);
  bytes[500] = std::byte{1};
  gpu().write(region, bytes);
  CHECK(gpu().digest(region) != poisoned);
  const auto odd = gpu().digest({memory, 3, 500});
  CHECK(odd == gpu().digest({memory, 3, 500}));
  gpu().release(memory);
}

TEST_CASE("a plan runs on a GPU") {
  const Scale scale(1000, 1);
  const auto bound = scale.bind();
  const auto result = gpu().run(bound, {});
  INFO(result.message);
  REQUIRE(result.status == device::RunResult::Status::ok);
  std::vector<float> values(1000);
  gpu().read(bound.buffers[1], std::as_writable_bytes(std::span(values)));
  CHECK(values == std::vector<float>(1000, 6.0F));
}

TEST_CASE("equal kernels take equal times") {
  for (const std::uint32_t n : {1U << 10, 1U << 16, 1U << 20, 1U << 24}) {
    const Scale scale(n, 1);
    const int sets = n >= (1U << 24) ? 4 : n >= (1U << 20) ? 48 : 256;
    const device::Arm a = arm_of(scale, sets);
    const device::Arm b = arm_of(scale, sets);
    std::printf("  n = %u\n", n);
    // At 4 µs one pair scatters by 10 %, so the median of 48 by 2 %.
    const double bound = n >= (1U << 24) ? 0.01 : 0.06;
    CHECK(std::fabs(std::log(median_ratio(a, b, 48))) < bound);
    release(a);
    release(b);
  }
}

TEST_CASE("a kernel that does twice the work takes about twice the time") {
  const Scale once(1 << 22, 8);
  const Scale twice(1 << 22, 16);
  const device::Arm a = arm_of(twice, 8);
  const device::Arm b = arm_of(once, 8);
  CHECK(median_ratio(a, b, 24) == Approx(2).epsilon(0.15));
  release(a);
  release(b);
}

TEST_CASE("plans of several launches are timed as graphs") {
  const Scale one(1 << 16, 1, 1);
  const Scale four(1 << 16, 1, 4);
  const device::Arm a = arm_of(four, 64);
  const device::Arm b = arm_of(one, 64);
  CHECK(median_ratio(a, b, 24) > 1.5);
  release(a);
  release(b);
}

TEST_CASE("prepare and inspect see every set that is used, and can stop") {
  const Scale scale(1 << 20, 1);
  const device::Arm arm = arm_of(scale, 64);
  device::TimingRequest request;
  request.arms = {arm};
  request.order.assign(20, 0);
  int prepared = 0;
  int inspected = 0;
  request.prepare = [&](std::size_t, std::size_t set) {
    ++prepared;
    gpu().poison(arm.sets[set].buffers[1], 0x7fc00001);
  };
  request.inspect = [&](std::size_t, std::size_t set) {
    float value = 0;
    gpu().read({arm.sets[set].buffers[1].memory, 4 * 77, 4}, std::as_writable_bytes(std::span(&value, 1)));
    CHECK(value == 6.0F);
    return ++inspected < 1000;
  };
  CHECK(gpu().time(request)->size() == 20);
  CHECK(inspected >= 20);
  CHECK(prepared >= inspected);
  inspected = 1000;
  CHECK(gpu().time(request)->size() < 20);
  release(arm);
}

TEST_CASE("a kernel that traps fails the run and says which") {
  Scale scale(16, 1);
  kernel::Launch launch;
  launch.kernel = "trap_now";
  scale.plan.steps = {launch};
  const auto result = gpu().run(scale.bind(), {});
  CHECK(result.status == device::RunResult::Status::runtime_failed);
  CHECK_THAT(result.message, containing("trap_now"));
  std::printf("  %s\n", result.message.c_str());
}
