// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <map>

// A device whose kernels are C++ functions over plain memory, to test what is done with a device.
class HostDevice final : public cudal1::device::Device {
 public:
  using Kernel = std::function<void(const std::vector<std::byte*>&)>;
  struct Code final : cudal1::device::Module {
    Kernel kernel;
  };

  bool endless = false;  // what a kernel on a GPU would be

  HostDevice() { facts_.name = "host"; }
  const cudal1::outcome::DeviceFacts& facts() const override { return facts_; }
  cudal1::device::MemoryId allocate(std::size_t bytes, const std::string&) override {
    memory_[++last_].resize(bytes);
    return last_;
  }
  void release(cudal1::device::MemoryId memory) override { memory_.erase(memory); }
  void write(const cudal1::device::Region& region, std::span<const std::byte> bytes) override {
    std::copy(bytes.begin(), bytes.end(), at(region));
  }
  void read(const cudal1::device::Region& region, std::span<std::byte> bytes) override {
    std::copy_n(at(region), bytes.size(), bytes.begin());
  }
  void copy(const cudal1::device::Region& from, const cudal1::device::Region& to) override {
    std::copy_n(at(from), from.bytes, at(to));
  }
  void poison(const cudal1::device::Region& region, std::uint32_t word) override {
    for (std::size_t i = 0; i < region.bytes; ++i) at(region)[i] = static_cast<std::byte>(word >> (8 * (i % 4)));
  }
  tl::expected<std::unique_ptr<cudal1::device::Module>, cudal1::device::RunResult> load(
      const cudal1::outcome::Binary&) override {
    return std::make_unique<Code>();
  }
  cudal1::device::RunResult run(const cudal1::device::BoundPlan& plan, const cudal1::device::RunOptions& options) override {
    std::vector<std::byte*> pointers;
    for (const auto& region : plan.buffers) pointers.push_back(at(region));
    dynamic_cast<const Code&>(*plan.module).kernel(pointers);
    cudal1::device::RunResult result;
    if (options.seconds > 0 && endless) result.status = cudal1::device::RunResult::Status::timeout;
    return result;
  }
  std::optional<std::vector<cudal1::device::Sample>> time(const cudal1::device::TimingRequest&) override { return {}; }
  std::optional<tl::expected<cudal1::device::Prediction, cudal1::device::RunResult>> predict(
      const cudal1::device::BoundPlan&) override {
    return {};
  }
  std::size_t allocations() const { return memory_.size(); }

 private:
  std::byte* at(const cudal1::device::Region& region) {
    auto& bytes = memory_.at(region.memory);
    assert(region.offset + region.bytes <= bytes.size());
    return bytes.data() + region.offset;
  }
  cudal1::outcome::DeviceFacts facts_;
  std::map<cudal1::device::MemoryId, std::vector<std::byte>> memory_;
  cudal1::device::MemoryId last_ = 0;
};
