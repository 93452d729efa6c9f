// SPDX-License-Identifier: Apache-2.0
#include "judge/gpu_lock.hpp"

#include "base/file.hpp"

#include "catch.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

using namespace cudal1;
using namespace std::chrono_literals;
using Use = judge::GpuTurn::Use;

namespace {

struct Gpu {
  base::TemporaryFolder folder;
  std::filesystem::path lock = folder.path() / "lock";
};

}  // namespace

TEST_CASE("those who only compute share a GPU, and who takes times has it alone") {
  const Gpu gpu;
  std::atomic<int> sharing{0}, most{0}, beside{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const judge::GpuTurn turn(gpu.lock, Use::shared);
      ++sharing;
      for (int wait = 0; wait < 200 && sharing < 4; ++wait) std::this_thread::sleep_for(10ms);   // all four get in
      most = std::max(most.load(), sharing.load());
      std::this_thread::sleep_for(20ms);
      --sharing;
    });
  while (sharing == 0) std::this_thread::yield();
  threads.emplace_back([&] {
    for (int wait = 0; wait < 200 && most < 4; ++wait) std::this_thread::sleep_for(10ms);
    const judge::GpuTurn turn(gpu.lock);
    beside = sharing.load();
  });
  threads.clear();
  CHECK(most == 4);
  CHECK(beside == 0);
}

TEST_CASE("who wants a GPU alone is not kept out by those who share it one after the other") {
  const Gpu gpu;
  std::atomic<bool> stop{false}, served{false};
  std::vector<std::jthread> sharers;
  for (int i = 0; i < 3; ++i)
    sharers.emplace_back([&] {
      while (!stop) {
        const judge::GpuTurn turn(gpu.lock, Use::shared);
        std::this_thread::sleep_for(15ms);
      }
    });
  std::this_thread::sleep_for(30ms);
  std::jthread alone([&] {
    const judge::GpuTurn turn(gpu.lock);
    served = true;
  });
  for (int wait = 0; wait < 300 && !served; ++wait) std::this_thread::sleep_for(10ms);
  CHECK(served);
  stop = true;
}

TEST_CASE("a turn's end tells whether others shared it") {
  const Gpu gpu;
  judge::GpuTurn first(gpu.lock, Use::shared);
  CHECK_FALSE(first.end_shared());
  auto second = std::make_unique<judge::GpuTurn>(gpu.lock, Use::shared);
  judge::GpuTurn third(gpu.lock, Use::shared);
  CHECK(third.end_shared());
  second.reset();
  const judge::GpuTurn alone(gpu.lock);   // whose turn has ended holds nothing
}
