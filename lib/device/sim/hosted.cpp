// SPDX-License-Identifier: Apache-2.0
#include "sim/hosted.hpp"

#include "base/error.hpp"
#include "sim/parser.hpp"
#include "sim/sim_device.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::uint64_t longest_run = 4'000'000'000;  // warp instructions of a prediction

// Device addresses have nothing to do with the host's elsewhere; here the device's memory is mapped at them.
void lie_at_address(Allocation& allocation) {
  if (allocation.base + allocation.bytes > HostedDevice::first_address + HostedDevice::address_bytes)
    throw base::Error(base::Fault::no_device, fmt::format("the simulator has no addresses left for {} bytes of {}", allocation.bytes, allocation.name));
  auto* const place = reinterpret_cast<std::byte*>(allocation.base);
  if (allocation.storage) std::memcpy(place, allocation.host, allocation.written == nullptr ? allocation.bytes : 0);
  allocation.storage.reset();
  allocation.host = place;
}

}  // namespace

struct HostedDevice::State {
  struct Loaded {
    Module parsed;
    std::map<std::string, std::uint64_t> addresses;
    std::unique_ptr<LoadedModule> module;   // its kernels are decoded when they are first asked for
  };

  explicit State(Options options) : device((options.scattered = false, options)) {}

  GlobalMemory& memory() const { return *device.memory_; }
  Allocation* holding(std::uint64_t address) const {
    Allocation* found = memory().find(address, address);
    return found != nullptr && !found->hidden ? found : nullptr;
  }

  tl::expected<const LoadedModule::Kernel*, std::string> kernel(std::size_t index, const std::string& symbol) {
    if (index >= modules.size()) return tl::unexpected(std::string("no such module"));
    Loaded& loaded = modules[index];
    if (const auto* known = loaded.module->kernel(symbol)) return known;
    const Function* entry = loaded.parsed.function(symbol);
    if (entry == nullptr || !entry->defined || !entry->entry) return tl::unexpected(fmt::format("the module has no kernel {}", symbol));
    auto program = decode_kernel(loaded.parsed, *entry, loaded.addresses, loaded.module->file);
    if (!program) return tl::unexpected(std::move(program.error()));
    LoadedModule::Kernel made{*std::move(program), {}};
    made.program.name = symbol;
    return &loaded.module->kernels.emplace(symbol, std::move(made)).first->second;
  }

  tl::expected<const LoadedModule::Kernel*, std::string> bind(const Request& request, kernel::Launch& step, Launch& launch) {
    const auto found = kernel(request.module, request.symbol);
    if (!found) return found;
    step.kernel = request.symbol;
    step.grid = request.grid;
    step.block = request.block;
    step.shared_bytes = request.shared_bytes;
    step.cooperative = request.cooperative;
    if (const auto shaped = device.shape(step, **found, launch); !shaped) return tl::unexpected(shaped.error());
    std::copy_n(request.parameters.begin(), std::min(request.parameters.size(), launch.parameters.size()), launch.parameters.begin());
    launch.file = modules[request.module].module->file;
    return found;
  }

  SimDevice device;
  std::vector<Loaded> modules;
};

HostedDevice::HostedDevice(const Options& options) : state_(std::make_unique<State>(options)) {}
HostedDevice::~HostedDevice() = default;

const outcome::DeviceFacts& HostedDevice::facts() const { return state_->device.facts(); }

std::uint64_t HostedDevice::allocate(std::size_t bytes, const std::string& name, bool written) {
  Allocation& made = state_->memory().allocate(bytes, name);
  lie_at_address(made);
  if (written) state_->memory().mark_written(made, 0, bytes);
  return made.base;
}

bool HostedDevice::release(std::uint64_t address) {
  const Allocation* found = state_->holding(address);
  if (found == nullptr || found->base != address) return false;
  state_->memory().release(found->id);
  return true;
}

std::optional<HostedDevice::Range> HostedDevice::range(std::uint64_t address) const {
  const Allocation* found = state_->holding(address);
  if (found == nullptr) return std::nullopt;
  return Range{found->base, found->bytes, found->name};
}

void HostedDevice::mark_written(std::uint64_t address, std::size_t bytes) {
  Allocation* found = state_->holding(address);
  if (found != nullptr && found->covers(address, address + bytes)) state_->memory().mark_written(*found, address - found->base, bytes);
}

void HostedDevice::copy_marks(std::uint64_t from, std::uint64_t to, std::size_t bytes) {
  const Allocation* source = state_->holding(from);
  Allocation* target = state_->holding(to);
  if (source == nullptr || target == nullptr || !source->covers(from, from + bytes) || !target->covers(to, to + bytes)) return;
  state_->memory().copy_flags(*source, from - source->base, *target, to - target->base, bytes);
}

bool HostedDevice::all_written(std::uint64_t address) const {
  const Allocation* found = state_->holding(address);
  return found != nullptr && (found->written == nullptr || sim::all_written(found->written, 0, found->bytes));
}

HostedDevice::Snapshot HostedDevice::save(std::uint64_t address) const {
  const Allocation* found = state_->holding(address);
  if (found == nullptr) return {};
  Snapshot snapshot;
  snapshot.bytes.assign(found->host, found->host + found->bytes);
  if (found->written != nullptr) snapshot.marks = found->flags;
  return snapshot;
}

void HostedDevice::restore(std::uint64_t address, const Snapshot& snapshot) {
  Allocation* found = state_->holding(address);
  if (found == nullptr || snapshot.bytes.size() != found->bytes) return;
  std::copy(snapshot.bytes.begin(), snapshot.bytes.end(), found->host);
  found->flags = snapshot.marks;
  found->written = found->flags.empty() ? nullptr : found->flags.data();
}

tl::expected<std::size_t, std::string> HostedDevice::load(const std::string& ptx, const std::string& file) {
  auto parsed = parse(ptx, file);
  if (!parsed) return tl::unexpected(base::render(parsed.error()));
  State::Loaded loaded{*std::move(parsed), {}, std::make_unique<LoadedModule>(state_->device.memory_)};
  loaded.module->file = file;
  auto addresses = state_->device.place_variables(loaded.parsed, *loaded.module);
  if (!addresses) return tl::unexpected(std::move(addresses.error()));
  loaded.addresses = *std::move(addresses);
  for (const LoadedModule::PlacedVariable& variable : loaded.module->variables) lie_at_address(*state_->memory().by_id(variable.memory));
  state_->modules.push_back(std::move(loaded));
  return state_->modules.size() - 1;
}

std::map<std::string, HostedDevice::Range> HostedDevice::variables(std::size_t module) const {
  std::map<std::string, Range> result;
  for (const auto& [name, address] : state_->modules.at(module).addresses) {
    const Allocation* found = state_->memory().find(address, address);
    if (found != nullptr) result[name] = {address, found->bytes, name};
  }
  return result;
}

tl::expected<HostedDevice::Kernel, std::string> HostedDevice::kernel(std::size_t module, const std::string& symbol) {
  const auto found = state_->kernel(module, symbol);
  if (!found) return tl::unexpected(found.error());
  const Program& program = (*found)->program;
  Kernel facts;
  for (std::size_t i = 0; i < program.parameter_variables.size(); ++i)
    facts.parameters.push_back({program.parameter_offsets[i], program.parameter_variables[i].bytes});
  facts.shared_bytes = program.shared_bytes;
  facts.local_bytes = program.local_bytes;
  if (program.max_threads != 0) facts.max_threads = program.max_threads;
  return facts;
}

device::RunResult HostedDevice::run(const Request& request, const device::RunOptions& options) {
  device::RunResult result;
  kernel::Launch step;
  Launch launch;
  const auto kernel = state_->bind(request, step, launch);
  if (!kernel) {
    result.status = device::RunResult::Status::unsupported;
    result.message = kernel.error();
    return result;
  }
  std::vector<Allocation*> watched;
  for (const std::uint64_t address : request.watched)
    if (Allocation* found = state_->holding(address)) watched.push_back(found);
  state_->device.execute(step, **kernel, launch, {watched, {}}, options, result);
  if (result.status == device::RunResult::Status::ok && !result.findings.empty()) {
    result.status = device::RunResult::Status::findings;
    result.message = result.findings.front().message;
  }
  return result;
}

double HostedDevice::predict(const Request& request) {
  kernel::Launch step;
  Launch launch;
  const auto kernel = state_->bind(request, step, launch);
  if (!kernel) return 0;
  launch.report_unwritten = false;
  launch.budget = longest_run;
  state_->device.place_parameters(launch);
  const LaunchProfile profile = state_->device.profile(**kernel, launch);
  return launch.timed_out ? 0 : 1e3 * sim::predict(profile, facts()).seconds;
}

int HostedDevice::resident_blocks_per_sm(std::size_t module, const std::string& symbol, std::uint32_t threads, std::size_t shared_bytes) {
  const auto found = state_->kernel(module, symbol);
  const std::size_t fixed = found ? (*found)->program.shared_bytes : 0;
  constexpr int registers = 32;  // nobody has assembled the kernel
  return outcome::occupancy(facts(), registers, fixed + shared_bytes, static_cast<int>(threads)).blocks_per_sm;
}

}  // namespace cudal1::sim
