// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/sim.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudal1::sim::test {

inline std::string text_of(const std::string& path) {
  std::ifstream file(std::string(CUDAL1_SOURCE_DIR) + "/" + path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// One kernel launch on a device, with buffers made from vectors: what a test needs and nothing more. Takes any device.
class Bench {
 public:
  explicit Bench(device::Device& device) : device_(device) {}
  ~Bench() {
    module_.reset();
    for (const auto& region : regions_) device_.release(region.memory);
  }

  void load(const std::string& ptx, const std::string& file = "kernels.cu") {
    outcome::Binary binary;
    binary.ptx = binary.cubin = ptx;  // a GPU's driver compiles PTX itself
    binary.file = file;
    for (std::size_t at = ptx.find(".entry "); at != std::string::npos; at = ptx.find(".entry ", at)) {
      at += 7;
      const std::string name = ptx.substr(at, ptx.find_first_of("( \n", at) - at);
      binary.entries[name] = name;
    }
    auto loaded = device_.load(binary);
    if (!loaded) throw std::runtime_error(loaded.error().message);
    module_ = std::move(*loaded);
  }
  // The buffer is an argument too; its index names it in read().
  template <class T>
  std::size_t input(const std::vector<T>& values, const std::string& name = "in") {
    const std::size_t index = buffer(values.size() * sizeof(T), name);
    device_.write(regions_[index], std::as_bytes(std::span(values)));
    return index;
  }
  std::size_t output(std::size_t bytes, const std::string& name = "out") {
    const std::size_t index = buffer(bytes, name);
    device_.poison(regions_[index], 0xdeadbeef);
    return index;
  }
  template <class T>
  void scalar(T value) {
    kernel::ScalarArgument argument;
    std::memcpy(argument.bytes.data(), &value, sizeof value);
    argument.size = sizeof value;
    launch.arguments.emplace_back(argument);
  }
  device::RunResult run(const std::string& kernel, kernel::Dim3 grid, kernel::Dim3 block, device::RunOptions options = {}) {
    prepare(kernel, grid, block);
    return device_.run({module_.get(), &plan, regions_}, options);
  }
  device::Prediction predict(const std::string& kernel, kernel::Dim3 grid, kernel::Dim3 block) {
    prepare(kernel, grid, block);
    auto predicted = device_.predict({module_.get(), &plan, regions_});
    if (!predicted || !*predicted) throw std::runtime_error(predicted ? predicted->error().message : "no prediction");
    return **predicted;
  }
  // Of the plan that ran last.
  device::BoundPlan bound() const { return {module_.get(), &plan, regions_}; }
  template <class T>
  std::vector<T> read(std::size_t index) {
    std::vector<T> values(regions_.at(index).bytes / sizeof(T));
    device_.read(regions_[index], std::as_writable_bytes(std::span(values)));
    return values;
  }

  kernel::Launch launch;
  kernel::Plan plan;

 private:
  std::size_t buffer(std::size_t bytes, const std::string& name) {
    const std::size_t index = regions_.size();
    regions_.push_back({device_.allocate(bytes, name), 0, bytes});
    kernel::PlanBuffer described;
    described.name = name;
    described.bytes = bytes;
    described.role = kernel::PlanBuffer::Role::inout;
    plan.buffers.push_back(described);
    launch.arguments.emplace_back(kernel::BufferArgument{index, 0});
    return index;
  }
  void prepare(const std::string& kernel, kernel::Dim3 grid, kernel::Dim3 block) {
    launch.kernel = kernel;
    launch.grid = grid;
    launch.block = block;
    plan.steps = {launch};
  }

  device::Device& device_;
  std::unique_ptr<device::Module> module_;
  std::vector<device::Region> regions_;
};

}  // namespace cudal1::sim::test
