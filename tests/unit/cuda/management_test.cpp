// SPDX-License-Identifier: Apache-2.0
#include "cuda/energy.hpp"
#include "cuda/management.hpp"
#include "cuda/profiler.hpp"

#include "catch.hpp"

#include <cstdlib>

using namespace cudal1;

TEST_CASE("other programs on a GPU and held-down clocks are seen through NVML") {
  ::setenv("CUDAL1_NVML", CUDAL1_FAKE_NVML, 1);
  ::setenv("FAKE_NVML", "busy", 1);
  const cuda::Management management("GPU-fake");
  CHECK(management.problem().empty());
  CHECK(management.tenants() == std::vector<std::string>{"process 4711, 512 MiB", "process 4712"});
  CHECK(management.utilisation() == Approx(0.37));
  CHECK(management.throttle_reason() == "the power limit");
  CHECK(management.energy_mj() == 123456);

  ::setenv("FAKE_NVML", "idle", 1);
  CHECK(management.tenants().empty());
  CHECK(management.utilisation() == 0);
  CHECK(!management.energy_mj());
  CHECK(management.throttle_reason().empty());  // idle clocks are no throttling
}

TEST_CASE("the energy of an execution is taken between two steps of the meter, whatever lies before and after") {
  // An execution takes a millisecond and 0.25 J; the meter shows it every 100 ms, after 40 J that came before.
  double now = 0, used = 40'000, shown = used, next = 0.03;
  const auto pass = [&](double seconds, double watts) {
    for (now += seconds, used += 1e3 * seconds * watts; now >= next; next += 0.1) shown = used - 1e3 * (now - next) * watts;
  };
  const auto execute = [&](std::size_t count) { pass(1e-3 * static_cast<double>(count), 250); };
  const auto clock = [&] { return base::Seconds{now}; };
  const auto measured = cuda::energy_per_execution(execute, [&] { return std::optional(shown); }, clock, base::Seconds{0.5});
  REQUIRE(measured);
  CHECK(*measured == Approx(250).epsilon(0.02));
  CHECK(!cuda::energy_per_execution(execute, [] { return std::optional<double>(7); }, clock, base::Seconds{0.5}));   // stands still
  CHECK(!cuda::energy_per_execution(execute, [] { return std::optional<double>(); }, clock, base::Seconds{0.5}));
}

TEST_CASE("without NVML, or where it does not show the GPU, that is said") {
  ::setenv("CUDAL1_NVML", CUDAL1_FAKE_NVML, 1);
  CHECK_THAT(cuda::Management("GPU-other").problem(), containing("NVML does not show GPU-other"));
  ::setenv("CUDAL1_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  const cuda::Management absent("GPU-fake");
  CHECK_THAT(absent.problem(), containing("NVML (libnvidia-ml.so.1) was not found"));
  CHECK(absent.tenants().empty());
  CHECK(absent.utilisation() == 0);
  CHECK(absent.throttle_reason().empty());
}

TEST_CASE("without CUPTI nothing is counted, and that is said") {
  ::setenv("CUDAL1_CUPTI", "/nowhere/libcupti.so", 1);
  cuda::Profiler profiler(nullptr, 0);
  CHECK_THAT(profiler.problem(), containing("CUPTI"));
  CHECK_FALSE(profiler.count([] {}, [] {}));
  CHECK(profiler.shares().empty());
  // Any library that is not CUPTI stands for one that is too old.
  ::setenv("CUDAL1_CUPTI", CUDAL1_FAKE_NVML, 1);
  CHECK_THAT(cuda::Profiler(nullptr, 0).problem(), containing("12.6 or newer"));
  ::unsetenv("CUDAL1_CUPTI");
}
