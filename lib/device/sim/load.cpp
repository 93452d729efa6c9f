// SPDX-License-Identifier: Apache-2.0
#include "sim/decode.hpp"
#include "sim/parser.hpp"
#include "sim/sim_device.hpp"

#include <cstring>

#include <fmt/format.h>

namespace cudal1::sim {

LoadedModule::~LoadedModule() {
  for (const PlacedVariable& variable : variables) memory_->release(variable.memory);
}

const LoadedModule::Kernel* LoadedModule::kernel(const std::string& name) const {
  const auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}

namespace {

device::RunResult refused(device::RunResult::Status status, const std::string& message) {
  device::RunResult result;
  result.status = status;
  result.message = message;
  return result;
}

// Where the complaint stands: in the kernel file if known, else in the PTX.
std::string message_of(const base::Diagnostic& diagnostic, const Module& module, const std::string& file) {
  for (const Function& function : module.functions)
    for (const Statement& statement : function.body)
      if (statement.line == diagnostic.line && statement.column == diagnostic.column && statement.source_line > 0)
        return fmt::format("{} ({}:{})", diagnostic.message, file, statement.source_line);
  return fmt::format("{} (PTX:{})", diagnostic.message, diagnostic.line);
}

}  // namespace

tl::expected<std::map<std::string, std::uint64_t>, std::string> SimDevice::place_variables(const Module& parsed, LoadedModule& module) {
  std::map<std::string, std::uint64_t> addresses;
  for (const Function& function : parsed.functions)
    if (function.defined && !function.entry) addresses[function.name] = code_window + 16 * (1 + addresses.size());
  std::vector<std::pair<const Variable*, Allocation*>> placed;
  for (const Variable& variable : parsed.variables) {
    if (variable.space == Space::shared) continue;
    if (variable.external && variable.initial.empty() && variable.bytes == 0) continue;
    Allocation& allocation = memory_->allocate(std::max<std::size_t>(variable.bytes, 1), variable.name, variable.align);
    module.variables.push_back({allocation.id, variable.name, 0, variable.space == Space::constant});
    // CUDA zeroes variables without an initialiser.
    std::vector<std::byte> bytes(allocation.bytes);
    std::copy(variable.initial.begin(), variable.initial.end(), bytes.begin());
    memory_->write(allocation, 0, bytes);
    addresses[variable.name] = allocation.base;
    placed.emplace_back(&variable, &allocation);
  }
  for (const auto& [variable, allocation] : placed)
    for (const Variable::Relocation& relocation : variable->relocations) {
      const auto found = addresses.find(relocation.symbol);
      if (found == addresses.end() || relocation.offset + 8 > allocation->bytes)
        return tl::unexpected(fmt::format("sim does not know \"{}\" in an initialiser (PTX:{})", relocation.symbol, variable->line));
      const std::uint64_t address = found->second + static_cast<std::uint64_t>(relocation.addend);
      std::memcpy(allocation->host + relocation.offset, &address, 8);
    }
  return addresses;
}

tl::expected<Program, std::string> decode_kernel(const Module& parsed, const Function& entry,
                                                 const std::map<std::string, std::uint64_t>& addresses, const std::string& file) {
  auto program = decode(parsed, entry, addresses);
  if (!program) return tl::unexpected(message_of(program.error(), parsed, file));
  return *std::move(program);
}

tl::expected<std::unique_ptr<device::Module>, device::RunResult> SimDevice::load(const outcome::Binary& binary) {
  using Status = device::RunResult::Status;
  const auto parsed = parse(binary.ptx, binary.file);
  if (!parsed) return tl::unexpected(refused(Status::unsupported, base::render(parsed.error())));
  auto module = std::make_unique<LoadedModule>(memory_);
  module->file = binary.file;
  const auto addresses = place_variables(*parsed, *module);
  if (!addresses) return tl::unexpected(refused(Status::unsupported, addresses.error()));
  for (LoadedModule::PlacedVariable& variable : module->variables) variable.digest = digest({variable.memory, 0, memory_->by_id(variable.memory)->bytes});
  std::map<std::string, std::string> launched = binary.entries;
  if (launched.empty())
    for (const Function& function : parsed->functions)
      if (function.entry && function.defined) launched[function.name] = function.name;
  for (const auto& [name, symbol] : launched) {
    const Function* entry = parsed->function(symbol);
    if (!entry || !entry->defined || !entry->entry)
      return tl::unexpected(refused(Status::runtime_failed, fmt::format("the binary has no kernel {}", name)));
    auto program = decode_kernel(*parsed, *entry, *addresses, binary.file);
    if (!program) return tl::unexpected(refused(Status::unsupported, program.error()));
    LoadedModule::Kernel kernel{std::move(*program), {}};
    kernel.program.name = name;
    for (const outcome::ResourceFacts& facts : binary.resources)
      if (facts.kernel == name) kernel.resources = facts;
    module->kernels.emplace(name, std::move(kernel));
  }
  return module;
}

std::string SimDevice::changed_variable(const device::Module& module) {
  for (const auto& variable : dynamic_cast<const LoadedModule&>(module).variables)
    // Constant memory is the plan's alone to fill.
    if (!variable.constant && digest({variable.memory, 0, memory_->by_id(variable.memory)->bytes}) != variable.digest) return variable.symbol;
  return {};
}

}  // namespace cudal1::sim
