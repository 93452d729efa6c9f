// SPDX-License-Identifier: Apache-2.0
// Times the simulator on six kernels, and beside it another program given by its path (the prototype's command line), in turns
// on the same machine:  bench_sim_speed [--threads N] [--rounds N] [--only NAME] [PROTOTYPE FOLDER_OF_ITS_PTX]
// With CUDAL1_SIM_BASELINE set it runs without AVX2. At the end: the memory it held at most, which with --only belongs to one case.
#include "sim/sim.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <sys/resource.h>

using namespace cudal1;

namespace {

struct Case {
  std::string name, kernel, file;
  kernel::Dim3 grid, block;
  std::vector<std::size_t> buffers;  // elements; the last is the output
  int n;
};

const std::vector<Case> cases{
    {"matmul 1024 naive 16x16", "mm", "mm.ptx", {64, 64, 1}, {16, 16, 1}, {1 << 20, 1 << 20, 1 << 20}, 1024},
    {"matmul 1024 naive 32x8", "mm", "mm.ptx", {32, 128, 1}, {32, 8, 1}, {1 << 20, 1 << 20, 1 << 20}, 1024},
    {"matmul 1024 tiled 32x32", "mmt", "mmt.ptx", {32, 32, 1}, {32, 32, 1}, {1 << 20, 1 << 20, 1 << 20}, 1024},
    {"add 16.8 M", "add", "add.ptx", {65536, 1, 1}, {256, 1, 1}, {1 << 24, 1 << 24, 1 << 24}, 1 << 24},
    {"tanh-GELU 16.8 M", "gelu", "gelu.ptx", {65536, 1, 1}, {256, 1, 1}, {1 << 24, 1 << 24}, 1 << 24},
    {"softmax 4096x4096", "softmax", "softmax.ptx", {4096, 1, 1}, {256, 1, 1}, {1 << 24, 1 << 24}, 4096},
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double prototype_seconds(const std::string& program, const std::string& folder, const Case& one, int threads) {
  std::string command = fmt::format("{} {}/{} {} {} {} {} {} 2 {}", program, folder, one.file, one.kernel, one.grid[0], one.grid[1], one.block[0], one.block[1], threads);
  for (std::size_t i = 0; i < one.buffers.size(); ++i) command += fmt::format(" {}:{}", i + 1 == one.buffers.size() ? "out" : "buf", one.buffers[i]);
  command += fmt::format(" i32:{}", one.n);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) return 0;
  char line[1024] = "";
  const char* read = std::fgets(line, sizeof line, pipe);
  ::pclose(pipe);
  const char* at = read ? std::strstr(line, "th=") : nullptr;
  return at ? std::atof(std::strchr(at, ' ')) : 0;
}

struct Prepared {
  kernel::Plan plan;
  std::vector<device::Region> regions;
  double buffer_bytes = 0;
};

// The last buffer is the output.
Prepared prepare(const Case& one, device::Device& device) {
  Prepared made;
  kernel::Launch launch;
  for (std::size_t i = 0; i < one.buffers.size(); ++i) {
    const bool output = i + 1 == one.buffers.size();
    const std::size_t bytes = one.buffers[i] * 4;
    made.regions.push_back({device.allocate(bytes, "buffer"), 0, bytes});
    made.buffer_bytes += static_cast<double>(bytes);
    std::vector<float> values(output ? 0 : one.buffers[i]);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>((k * 2654435761u >> 8) & 0xffff) / 65536.f - 0.5f;
    if (!values.empty()) device.write(made.regions[i], std::as_bytes(std::span(values)));
    made.plan.buffers.emplace_back();
    made.plan.buffers.back().role = output ? kernel::PlanBuffer::Role::output : kernel::PlanBuffer::Role::input;
    launch.arguments.emplace_back(kernel::BufferArgument{i, 0});
  }
  kernel::ScalarArgument n;
  std::memcpy(n.bytes.data(), &one.n, 4);
  n.size = 4;
  launch.arguments.emplace_back(n);
  launch.kernel = one.kernel;
  launch.grid = one.grid;
  launch.block = one.block;
  made.plan.steps = {launch};
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  int threads = 2, rounds = 3;
  std::string only;
  std::vector<std::string> rest;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--threads" && i + 1 < argc) threads = std::atoi(argv[++i]);
    else if (option == "--rounds" && i + 1 < argc) rounds = std::atoi(argv[++i]);
    else if (option == "--only" && i + 1 < argc) only = argv[++i];
    else rest.push_back(option);
  }
  std::ifstream file(std::string(CUDAL1_SOURCE_DIR) + "/tests/ptx/speed/speed.ptx");
  outcome::Binary binary;
  binary.ptx = {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  binary.file = "speed.cu";
  auto device = sim::open({.gpu = "H200", .threads = threads});
  auto module = device->load(binary);
  if (!module) {
    fmt::print(stderr, "{}\n", module.error().message);
    return 1;
  }
  fmt::print("{:26} {:>9} {:>9} {:>9} {:>7} {:>7}  ns/warp instruction and thread, always-on\n", "kernel", "other s", "always s", "races s", "ratio", "races");
  double largest_buffers = 0, shadow_bytes = 0;
  for (const Case& one : cases) {
    if (!only.empty() && one.name.find(only) == std::string::npos) continue;
    const Prepared prepared = prepare(one, *device);
    const auto& [plan, regions, buffer_bytes] = prepared;
    // A byte for each word that may be unwritten, and eight for each that the plan may write while races are looked for.
    shadow_bytes = std::max(shadow_bytes, buffer_bytes / 4 + static_cast<double>(one.buffers.back()) * 8);
    double other = 1e9, always = 1e9, races = 1e9, instructions = 0;
    for (int round = 0; round < rounds; ++round) {
      if (rest.size() >= 2) other = std::min(other, prototype_seconds(rest[0], rest[1], one, threads));
      for (const bool checks : {false, true}) {
        device->poison(regions.back(), 0x7fc00000u);
        device::RunOptions options;
        options.checks = checks;
        device::RunResult result;
        const double seconds = seconds_of([&] { result = device->run({module->get(), &plan, regions}, options); });
        if (result.status != device::RunResult::Status::ok) fmt::print("  {}\n", result.message);
        instructions = result.counters.warp_instructions;
        (checks ? races : always) = std::min(checks ? races : always, seconds);
      }
    }
    const bool beside = rest.size() >= 2 && other > 0;
    fmt::print("{:26} {:>9} {:9.3f} {:9.3f} {:>7} {:7.2f}  {:.2f}\n", one.name, beside ? fmt::format("{:.3f}", other) : "-", always, races,
               beside ? fmt::format("{:.2f}", always / other) : "-", races / always, always * threads / instructions * 1e9);
    std::fflush(stdout);
    for (const auto& region : regions) device->release(region.memory);
    largest_buffers = std::max(largest_buffers, buffer_bytes);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double peak = static_cast<double>(usage.ru_maxrss) * 1024;
  fmt::print("memory: {:.0f} MiB at most, of it {:.0f} of buffers and {:.0f} of shadow; without the shadow {:.2f} of the buffers\n", peak / 1048576,
             largest_buffers / 1048576, shadow_bytes / 1048576, (peak - shadow_bytes) / largest_buffers);
  return 0;
}
