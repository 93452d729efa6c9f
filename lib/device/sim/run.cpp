// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster.hpp"
#include "sim/ordering.hpp"
#include "sim/schedule.hpp"
#include "sim/sim_device.hpp"
#include "sim/tensor_map.hpp"

#include "base/defence.hpp"
#include "base/text.hpp"
#include "tensor/dtype.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace cudal1::sim {

namespace {

constexpr std::size_t most_findings = 64;
constexpr std::size_t most_printed = std::size_t{16} << 10;  // bytes of a plan

std::vector<outcome::Finding> collect(std::vector<std::unique_ptr<Worker>>& workers) {
  std::vector<outcome::Finding> all;
  for (auto& worker : workers)
    for (auto& finding : worker->findings) all.push_back(std::move(finding));
  // By block, and as they happened in it: what comes first is the cause of what follows.
  const auto order = [](const outcome::Finding& f) { return std::make_tuple(f.block[2], f.block[1], f.block[0]); };
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  // Each worker kept the first of its blocks; the first of all stays.
  std::set<std::tuple<int, int, std::string>> seen;
  std::vector<outcome::Finding> kept;
  for (auto& finding : all)
    if (kept.size() < most_findings && seen.insert({static_cast<int>(finding.kind), finding.line, finding.line ? std::string() : finding.message}).second)
      kept.push_back(std::move(finding));
  return kept;
}

// Block after block, so that the text does not depend on the number of threads.
void append_printed(const std::vector<std::unique_ptr<Worker>>& workers, std::string& text) {
  std::map<std::uint64_t, std::string_view> blocks;
  for (const auto& worker : workers) blocks.insert(worker->printed.begin(), worker->printed.end());
  for (const auto& [block, words] : blocks) text += base::printable(words.substr(0, most_printed - std::min(most_printed, text.size())));
}

TensorMapHandle handle_of(const kernel::TensorMapArgument& map, std::uint64_t address) {
  TensorMapHandle handle;
  handle.address = address;
  handle.rank = static_cast<std::uint8_t>(map.extents.size());
  handle.element_bytes = static_cast<std::uint8_t>(map.element_bytes);
  handle.swizzle_pieces = static_cast<std::uint8_t>(map.swizzle == 0 ? 1 : map.swizzle / 16);
  handle.rounds_to_tf32 = map.element == kernel::TensorMapArgument::Element::tf32;
  using Kind = kernel::TensorMapArgument::Element;
  static constexpr Element elements[] = {Element::b8, Element::b16, Element::u32, Element::s32, Element::u64, Element::s64, Element::f16, Element::f32, Element::f64, Element::bf16, Element::f32};
  static_assert(static_cast<std::size_t>(Kind::tf32) + 1 == std::size(elements));
  handle.element = elements[static_cast<std::size_t>(map.element)];
  for (std::size_t i = 0; i < map.extents.size() && i < handle.extent.size(); ++i) {
    handle.extent[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(map.extents[i], 0xffffffff));
    handle.box[i] = static_cast<std::uint16_t>(map.box[i]);
  }
  std::copy_n(map.strides.begin(), std::min(map.strides.size(), handle.stride.size()), handle.stride.begin());
  return handle;
}

// Tags for the buffers that a launch may write.
void watch_for_races(const std::vector<Allocation*>& buffers, bool on, bool by_block) {
  for (Allocation* buffer : buffers) {
    buffer->watched = on;
    buffer->writers.assign(by_block ? buffer->bytes / 4 + 2 : 0, 0);
    buffer->readers.assign(by_block ? buffer->bytes / 4 + 2 : 0, 0);
  }
}

// The only launch that is given an output, some of whose blocks can stand for all: what it leaves out, no other launch misses in an output. None
// if several are, and if an output is filled, because then nobody can tell what blocks wrote.
const kernel::Launch* only_writer(const kernel::Plan& plan) {
  const auto is_output = [&](std::size_t buffer) {
    return std::any_of(plan.buffers.begin(), plan.buffers.end(), [&](const kernel::PlanBuffer& other) {
      const auto index = static_cast<std::size_t>(&other - plan.buffers.data());
      return (other.role == kernel::PlanBuffer::Role::output || other.role == kernel::PlanBuffer::Role::inout) &&
             kernel::memory_of(plan.buffers, index) == kernel::memory_of(plan.buffers, buffer);
    });
  };
  const auto is_given_one = [&](const kernel::Argument& argument) {
    if (const auto* buffer = std::get_if<kernel::BufferArgument>(&argument)) return is_output(buffer->buffer);
    const auto* map = std::get_if<kernel::TensorMapArgument>(&argument);
    return map != nullptr && is_output(map->buffer);
  };
  const kernel::Launch* found = nullptr;
  for (const kernel::PlanStep& step : plan.steps) {
    if (const auto* fill = std::get_if<kernel::Memset>(&step); fill != nullptr && is_output(fill->buffer)) return nullptr;
    const auto* launch = std::get_if<kernel::Launch>(&step);
    if (launch == nullptr || std::none_of(launch->arguments.begin(), launch->arguments.end(), is_given_one)) continue;
    if (found != nullptr) return nullptr;
    found = launch;
  }
  return found;
}

}  // namespace

// The plan's, or what the kernel was compiled for; the driver refuses the same.
tl::expected<void, std::string> SimDevice::shape_cluster(const kernel::Launch& step, const Program& program, Launch& launch) const {
  constexpr std::uint32_t most_blocks = 16, most_portable = 8;   // the driver takes more than the latter only where a launch names them
  const bool asked = step.cluster[0] != 0, required = program.cluster[0] != 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    launch.cluster[axis] = std::max(1u, asked ? step.cluster[axis] : program.cluster[axis]);
    if (asked && required && launch.cluster[axis] != program.cluster[axis])
      return tl::unexpected(fmt::format("{} was compiled for clusters of {} x {} x {} blocks, the launch asks for {} x {} x {}", step.kernel, program.cluster[0], program.cluster[1],
                                        program.cluster[2], step.cluster[0], step.cluster[1], step.cluster[2]));
    if (launch.grid[axis] % launch.cluster[axis] != 0)
      return tl::unexpected(fmt::format("the grid's {} is {}, which is no multiple of the cluster's {}", "xyz"[axis], launch.grid[axis], launch.cluster[axis]));
  }
  if (cluster_size(launch) > most_blocks) return tl::unexpected(fmt::format("a cluster of {} blocks is not possible: 1 to {}", cluster_size(launch), most_blocks));
  if (!asked && cluster_size(launch) > most_portable)
    return tl::unexpected(fmt::format("{} was compiled for clusters of {} blocks; more than {} are possible only where the launch names the cluster", step.kernel, cluster_size(launch), most_portable));
  launch.explicit_cluster = asked || required;
  if (cluster_size(launch) > 1 && facts_.major < 9) return tl::unexpected(fmt::format("{} has no clusters: they need compute capability 9.0", facts_.name));
  return {};
}

tl::expected<void, std::string> SimDevice::shape(const kernel::Launch& step, const LoadedModule::Kernel& kernel, Launch& launch) const {
  const Program& program = kernel.program;
  launch.program = &program;
  launch.memory = memory_.get();
  launch.grid = step.grid;
  launch.block = step.block;
  const std::uint64_t threads = static_cast<std::uint64_t>(step.block[0]) * step.block[1] * step.block[2];
  if (threads == 0 || threads > 1024 || step.block[2] > 64) return tl::unexpected(fmt::format("a block of {} threads is not possible: 1 to 1024", threads));
  if (program.max_threads && threads > program.max_threads)
    return tl::unexpected(fmt::format("a block of {} threads exceeds the kernel's launch bounds of {}", threads, program.max_threads));
  const std::uint64_t blocks = static_cast<std::uint64_t>(step.grid[0]) * step.grid[1] * step.grid[2];
  if (blocks == 0 || step.grid[0] > 0x7fffffff || step.grid[1] > 65535 || step.grid[2] > 65535)
    return tl::unexpected(fmt::format("a grid of {} x {} x {} blocks is not possible", step.grid[0], step.grid[1], step.grid[2]));
  if (kernel.resources.registers > 0) {
    const std::uint64_t per_warp = static_cast<std::uint64_t>((kernel.resources.registers + 7) / 8 * 8) * 32;
    if (per_warp * ((threads + 31) / 32) > 65536)
      return tl::unexpected(fmt::format("too many resources requested for launch: {} threads of {} registers", threads, kernel.resources.registers));
  }
  if (const auto clustered = shape_cluster(step, program, launch); !clustered) return clustered;
  launch.threads_per_block = static_cast<std::uint32_t>(threads);
  launch.dynamic_offset = (program.shared_bytes + program.dynamic_align - 1) / program.dynamic_align * program.dynamic_align;
  launch.dynamic_bytes = step.shared_bytes;
  launch.shared_bytes = step.shared_bytes ? launch.dynamic_offset + step.shared_bytes : program.shared_bytes;
  if (launch.shared_bytes > facts_.shared_bytes_per_block_optin)
    return tl::unexpected(fmt::format("{} bytes of shared memory are more than the {} that a block of {} can have", launch.shared_bytes,
                                      facts_.shared_bytes_per_block_optin, facts_.name));
  launch.parameters.assign(program.parameter_bytes + 16, std::byte{0});
  return {};
}

tl::expected<void, std::string> SimDevice::bind(const device::BoundPlan& plan, const kernel::Launch& step, const LoadedModule::Kernel& kernel,
                                                Launch& launch) {
  const Program& program = kernel.program;
  if (const auto shaped = shape(step, kernel, launch); !shaped) return shaped;
  if (step.arguments.size() != program.parameter_variables.size())
    return tl::unexpected(fmt::format("{} takes {} arguments, {} are given", step.kernel, program.parameter_variables.size(), step.arguments.size()));
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    std::byte* into = launch.parameters.data() + program.parameter_offsets[i];
    const std::size_t size = program.parameter_variables[i].bytes;
    if (const auto* buffer = std::get_if<kernel::BufferArgument>(&step.arguments[i])) {
      const device::Region& region = plan.buffers.at(buffer->buffer);
      const std::uint64_t address = allocation(region).base + region.offset + static_cast<std::uint64_t>(buffer->byte_offset);
      if (size != 8) return tl::unexpected(fmt::format("argument {} of {} is a buffer, the parameter has {} bytes", i + 1, step.kernel, size));
      std::memcpy(into, &address, 8);
    } else if (const auto* map = std::get_if<kernel::TensorMapArgument>(&step.arguments[i])) {
      const device::Region& region = plan.buffers.at(map->buffer);
      if (size != 128) return tl::unexpected(fmt::format("argument {} of {} is a tensor map, the parameter has {} bytes", i + 1, step.kernel, size));
      if (facts_.major < 9) return tl::unexpected(fmt::format("{} has no tensor maps: they need compute capability 9.0", facts_.name));
      const TensorMapHandle handle = handle_of(*map, allocation(region).base + region.offset + static_cast<std::uint64_t>(map->byte_offset));
      std::memcpy(into, &handle, sizeof handle);
    } else {
      const auto& scalar = std::get<kernel::ScalarArgument>(step.arguments[i]);
      if (scalar.size != size) return tl::unexpected(fmt::format("argument {} of {} has {} bytes, the parameter has {}", i + 1, step.kernel, scalar.size, size));
      std::memcpy(into, scalar.bytes.data(), size);
    }
  }
  return {};
}

std::uint64_t SimDevice::resident_blocks(const LoadedModule::Kernel& kernel, const Launch& launch) const {
  const int registers = kernel.resources.registers > 0 ? kernel.resources.registers : 32;
  const auto occupancy = outcome::occupancy(facts_, registers, launch.shared_bytes, static_cast<int>(launch.threads_per_block));
  return static_cast<std::uint64_t>(std::max(1, occupancy.blocks_per_sm)) * static_cast<std::uint64_t>(facts_.sm_count);
}

SimDevice::Written SimDevice::written_by(const device::BoundPlan& plan) {
  using Role = kernel::PlanBuffer::Role;
  Written written;
  for (std::size_t i = 0; i < plan.plan->buffers.size(); ++i) {
    const Role role = plan.plan->buffers[i].role;
    if (role != Role::input) written.all.push_back(&allocation(plan.buffers.at(i)));
    if (role == Role::output || role == Role::inout) written.outputs.push_back(written.all.back());
  }
  return written;
}

std::string SimDevice::guard_inputs(const device::BoundPlan& plan, bool on) {
  std::string intruded;
  for (std::size_t i = 0; i < plan.plan->buffers.size(); ++i) {
    if (plan.plan->buffers[i].role != kernel::PlanBuffer::Role::input) continue;
    Allocation& buffer = allocation(plan.buffers.at(i));
    if (!on && buffer.intruded && intruded.empty()) intruded = plan.plan->buffers[i].name;
    buffer.read_only = on;
    buffer.intruded = false;
  }
  return intruded;
}

void SimDevice::initialise_scratch(const device::BoundPlan& plan) {
  for (std::size_t i = 0; i < plan.plan->buffers.size(); ++i) {
    const kernel::PlanBuffer& buffer = plan.plan->buffers[i];
    if (!buffer.initial || buffer.bytes == 0) continue;
    const std::size_t size = tensor::size_of(buffer.dtype);
    std::byte element[8] = {};
    tensor::store(buffer.dtype, *buffer.initial, element);
    std::vector<std::byte> bytes(buffer.bytes);
    for (std::size_t k = 0; k + size <= bytes.size(); k += size) std::memcpy(bytes.data() + k, element, size);
    write(plan.buffers.at(i), bytes);
  }
}

void SimDevice::memset(const device::BoundPlan& plan, const kernel::Memset& step) {
  const device::Region& region = plan.buffers.at(step.buffer);
  const std::vector<std::byte> bytes(region.bytes, static_cast<std::byte>(step.value));
  write(region, bytes);
}

tl::expected<void, std::string> SimDevice::copy(const device::BoundPlan& plan, const kernel::Copy& step) {
  const auto& module = dynamic_cast<const LoadedModule&>(*plan.module);
  const device::Region& from = plan.buffers.at(step.buffer);
  for (const auto& variable : module.variables) {
    if (!variable.constant || !outcome::names_variable(step.variable, variable.symbol)) continue;
    Allocation& into = *memory_->by_id(variable.memory);
    if (into.bytes != from.bytes)
      return tl::unexpected(fmt::format("{} has {} bytes, but {} has {}", step.variable, into.bytes, plan.plan->buffers[step.buffer].name, from.bytes));
    std::vector<std::byte> bytes(from.bytes);
    read(from, bytes);
    memory_->write(into, 0, bytes);
    return {};
  }
  return {};  // no kernel uses it, and the compiler has left it out
}

Allocation& SimDevice::hidden(std::uint32_t& id, std::size_t bytes, const char* name) {
  Allocation* kept = memory_->by_id(id);
  if (kept != nullptr && kept->bytes >= bytes) return *kept;
  if (kept != nullptr) memory_->release(id);
  Allocation& made = memory_->allocate(bytes, name);
  made.hidden = true;
  id = made.id;
  return made;
}

// They are constant, and nothing of an earlier launch lies behind them.
Allocation& SimDevice::place_parameters(Launch& launch) {
  Allocation& parameters = hidden(parameters_, launch.parameters.size(), "parameters");
  std::vector<std::byte> bytes(parameters.bytes);
  std::copy(launch.parameters.begin(), launch.parameters.end(), bytes.begin());
  memory_->write(parameters, 0, bytes);
  parameters.read_only = true;
  parameters.intruded = false;
  launch.parameter_address = parameters.base;
  return parameters;
}

bool SimDevice::execute(const kernel::Launch& wanted, const LoadedModule::Kernel& kernel, Launch& launch,
                        const Written& written, const device::RunOptions& options, device::RunResult& result) {
  using Status = device::RunResult::Status;
  const auto fail = [&](Status status, const std::string& message) {
    result.status = status;
    result.message = message;
    return false;
  };
  const std::uint64_t resident = resident_blocks(kernel, launch), blocks = static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  if (wanted.cooperative && blocks > resident)
    return fail(Status::runtime_failed, fmt::format("a cooperative launch of {} blocks exceeds the {} that {} can hold at once", blocks, resident, facts_.name));
  launch.race_check = options.checks;
  launch.global_races = options.checks && blocks > 1;
  Ordering ordering(!kernel.program.orders_in_shared && cluster_size(launch) == 1);
  if (launch.global_races && kernel.program.orders_itself) launch.ordering = &ordering;
  launch.budget = options.instruction_budget ? options.instruction_budget : default_budget;
  Allocation& parameters = place_parameters(launch);
  Allocation& workspace = hidden(workspace_, 64, "the grid's workspace");
  memory_->write(workspace, 0, std::vector<std::byte>(64));
  if (wanted.cooperative) launch.workspace_address = workspace.base;
  if (launch.global_races) watch_for_races(written.all, true, launch.ordering == nullptr);
  std::vector<std::unique_ptr<Worker>> workers;
  if (options.sampled_instructions > 0) workers = run_some(launch, written.outputs, options.sampled_instructions, resident, result);
  if (workers.empty()) workers = run_blocks(launch, {}, threads_, resident);
  if (launch.global_races) watch_for_races(written.all, false, false);
  Tally tally = count(launch, workers, blocks);
  tally.finish();
  result.counters += tally.total;
  result.warp_instructions += tally.total.warp_instructions / std::max(options.sampled_instructions > 0 ? result.executed_share : 1, 1e-12);
  for (const auto& [line, counters] : tally.lines) result.lines[line] += counters;
  for (auto& finding : collect(workers))
    if (result.findings.size() < most_findings) result.findings.push_back(std::move(finding));
  append_printed(workers, result.printed);
  if (shadows_ != nullptr)
    for (const auto& worker : workers) shadows_->turned += worker->turned;
  if (launch.timed_out)
    return fail(Status::timeout, fmt::format("{} ran more than {} warp instructions without an end", wanted.kernel, launch.budget));
  if (parameters.intruded) return fail(Status::runtime_failed, fmt::format("{} writes to its own parameters, which are constant", wanted.kernel));
  return !launch.aborted;
}

void SimDevice::forget_writes(const std::vector<Allocation*>& outputs) {
  for (Allocation* output : outputs) {
    output->flags.assign(output->bytes / 4 + 64, WordFlags{0});
    output->written = output->flags.data();
  }
}

std::vector<bool> SimDevice::written(const device::Region& region) {
  const Allocation& there = allocation(region);
  std::vector<bool> bytes(region.bytes, true);
  for (std::size_t i = 0; there.written != nullptr && i < bytes.size(); ++i) {
    const std::size_t at = region.offset + i;
    bytes[i] = (there.written[at / 4] >> at % 4 & 1) != 0;
  }
  return bytes;
}

device::RunResult SimDevice::run(const device::BoundPlan& plan, const device::RunOptions& options) {
  using Status = device::RunResult::Status;
  device::RunResult result;
  const auto* module = dynamic_cast<const LoadedModule*>(plan.module);
  initialise_scratch(plan);
  guard_inputs(plan, true);
  const kernel::Launch* const drawn = options.sampled_instructions > 0 ? only_writer(*plan.plan) : nullptr;
  device::RunOptions whole = options;
  whole.sampled_instructions = 0;
  const Written written = written_by(plan);
  // What some blocks write is counted by what is marked as written, and of an inout everything is.
  const bool notes = drawn != nullptr || options.notes_writes;
  if (notes) forget_writes(written.outputs);
  for (const kernel::PlanStep& step : plan.plan->steps) {
    if (const auto* fill = std::get_if<kernel::Memset>(&step)) {
      memset(plan, *fill);
      continue;
    }
    const auto fail = [&](Status status, const std::string& message) {
      result.status = status;
      result.message = message;
      return result;
    };
    if (const auto* filled_variable = std::get_if<kernel::Copy>(&step)) {
      if (const auto done = copy(plan, *filled_variable); !done) return fail(Status::runtime_failed, done.error());
      continue;
    }
    const auto& wanted = std::get<kernel::Launch>(step);
    const LoadedModule::Kernel* kernel = module ? module->kernel(wanted.kernel) : nullptr;
    if (!kernel) return fail(Status::runtime_failed, fmt::format("the binary has no kernel {}", wanted.kernel));
    Launch launch;
    if (const auto bound = bind(plan, wanted, *kernel, launch); !bound) return fail(Status::runtime_failed, bound.error());
    launch.file = module->file;
    launch.report_unwritten = !notes && shadows_ == nullptr;
    shadow(launch, kernel->program);
    if (execute(wanted, *kernel, launch, written, &wanted == drawn ? options : whole, result)) continue;
    if (result.status != Status::ok) return result;
    break;
  }
  if (const std::string intruded = guard_inputs(plan, false); !intruded.empty() && base::defended(base::Defence::input_digests)) {
    result.status = Status::tampered;
    result.message = fmt::format("input {} was written; inputs are read-only, also when what they held is put back", intruded);
  }
  if (!result.findings.empty()) {
    result.status = Status::findings;
    result.message = result.findings.front().message;
  }
  return result;
}
}  // namespace cudal1::sim
