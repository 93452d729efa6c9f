// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"
#include "sim/counting.hpp"
#include "sim/machine.hpp"
#include "sim/module.hpp"
#include "sim/predict.hpp"
#include "sim/program.hpp"
#include "sim/sim.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::sim {

// A loaded module: its kernels by the names they are launched under, its variables in device memory.
class LoadedModule : public device::Module {
 public:
  explicit LoadedModule(std::shared_ptr<GlobalMemory> memory) : memory_(std::move(memory)) {}
  ~LoadedModule() override;

  struct Kernel {
    Program program;
    outcome::ResourceFacts resources;
  };
  const Kernel* kernel(const std::string& name) const;

  std::map<std::string, Kernel> kernels;
  struct PlacedVariable {
    std::uint32_t memory = 0;            // its allocation, which ends with the module
    std::string symbol;
    std::uint64_t digest = 0;            // of what it held at first
    bool constant = false;               // a plan may fill it
  };
  std::vector<PlacedVariable> variables;
  std::string file;

 private:
  std::shared_ptr<GlobalMemory> memory_;
};

// A step of a plan as the model of time sees it.
struct PlanPart {
  std::optional<LaunchProfile> launch;
  double seconds = 0;                  // of a step that is no launch
  bool dependent = false;
};

constexpr std::uint64_t default_budget = 4'000'000'000;  // warp instructions of a launch: some ten seconds a core

class SimDevice : public device::Device {
 public:
  explicit SimDevice(const Options& options);
  const outcome::DeviceFacts& facts() const override { return facts_; }
  device::MemoryId allocate(std::size_t bytes, const std::string& name) override;
  void release(device::MemoryId memory) override;
  void write(const device::Region& region, std::span<const std::byte> bytes) override;
  void read(const device::Region& region, std::span<std::byte> bytes) override;
  void copy(const device::Region& from, const device::Region& to) override;
  void poison(const device::Region& region, std::uint32_t word) override;
  std::vector<bool> written(const device::Region& region) override;
  tl::expected<std::unique_ptr<device::Module>, device::RunResult> load(const outcome::Binary& binary) override;
  std::string changed_variable(const device::Module& module) override;
  device::RunResult run(const device::BoundPlan& plan, const device::RunOptions& options) override;
  std::optional<std::vector<device::Sample>> time(const device::TimingRequest& request) override;
  std::optional<tl::expected<device::Prediction, device::RunResult>> predict(const device::BoundPlan& plan) override;
  tl::expected<std::vector<PlanPart>, device::RunResult> profile(const device::BoundPlan& plan);
  ShadowRun run_shadowed(const device::BoundPlan& plan, ShadowMode mode, std::uint64_t seed, std::uint64_t instruction_budget);

 private:
  friend class HostedDevice;
  Allocation& allocation(const device::Region& region);
  // Device memory for the module's variables, by name; it ends with `module`.
  tl::expected<std::map<std::string, std::uint64_t>, std::string> place_variables(const Module& parsed, LoadedModule& module);
  // Fill in the launch: its extents, and with its parameters; the error says what the device refuses.
  tl::expected<void, std::string> shape_cluster(const kernel::Launch& step, const Program& program, Launch& launch) const;
  tl::expected<void, std::string> shape(const kernel::Launch& step, const LoadedModule::Kernel& kernel, Launch& launch) const;
  tl::expected<void, std::string> bind(const device::BoundPlan& plan, const kernel::Launch& step, const LoadedModule::Kernel& kernel, Launch& launch);
  std::uint64_t resident_blocks(const LoadedModule::Kernel& kernel, const Launch& launch) const;
  // Runs a launch that is bound, adds to `result` what was counted and found; false where the run ends with it.
  struct Written {
    std::vector<Allocation*> all, outputs;
  };
  bool execute(const kernel::Launch& wanted, const LoadedModule::Kernel& kernel, Launch& launch, const Written& written,
               const device::RunOptions& options, device::RunResult& result);
  // Memory of the tool's own that no message names, kept from launch to launch.
  Allocation& hidden(std::uint32_t& id, std::size_t bytes, const char* name);
  Allocation& place_parameters(Launch& launch);
  // What a plan may write; inputs are only read.
  Written written_by(const device::BoundPlan& plan);
  // From now on nothing of these counts as written.
  static void forget_writes(const std::vector<Allocation*>& outputs);
  // Inputs are only read; what is written all the same is named by guard_inputs(plan, false).
  std::string guard_inputs(const device::BoundPlan& plan, bool on);
  void initialise_scratch(const device::BoundPlan& plan);
  LaunchProfile profile(const LoadedModule::Kernel& kernel, Launch& launch) const;
  double longest_cycles(Launch& launch, const Worker::Longest& longest, const Recording& typical, double typical_cycles, const std::vector<SiteReach>& reach,
                        const std::vector<SiteTotal>& totals) const;
  // Runs some blocks of a launch that nobody can know, about `instructions` of them, and says in the result how many and how much
  // of the outputs all blocks write, seen from these. Empty: it ran none that count, because all are to run.
  std::vector<std::unique_ptr<Worker>> run_some(Launch& launch, const std::vector<Allocation*>& outputs, std::uint64_t instructions, std::uint64_t resident,
                                                device::RunResult& result);
  void memset(const device::BoundPlan& plan, const kernel::Memset& step);
  // The error is one line.
  tl::expected<void, std::string> copy(const device::BoundPlan& plan, const kernel::Copy& step);
  // Launches of a run with shadows; a program is made for each kernel once.
  struct ShadowLaunches {
    ShadowMode mode{};
    std::uint64_t seed = 0;
    bool halves = false;               // a buffer of the plan holds 16-bit floats
    std::map<const Program*, Program> programs;
    std::uint64_t turned = 0, launches = 0;
  };
  ShadowLaunches* shadows_ = nullptr;
  void shadow(Launch& launch, const Program& plain);

  std::shared_ptr<GlobalMemory> memory_ = std::make_shared<GlobalMemory>();
  outcome::DeviceFacts facts_;
  std::uint32_t parameters_ = 0, workspace_ = 0;  // allocations of the launch under way
  int threads_ = 1;
  std::uint64_t seed_ = 0, samples_ = 0;
};

// A launch whose blocks see what others do: some of them alone do something else.
bool dependent(const Program& program);

// decode(), with a message that says where in the kernel file.
tl::expected<Program, std::string> decode_kernel(const Module& parsed, const Function& entry,
                                                 const std::map<std::string, std::uint64_t>& addresses, const std::string& file);

}  // namespace cudal1::sim
