// SPDX-License-Identifier: Apache-2.0
#include "record/task.hpp"

#include "kernel/element_type.hpp"
#include "kernel/names.hpp"
#include "kernel/parameter_type.hpp"
#include "kernel/signature.hpp"
#include "record/constants.hpp"
#include "record/element_type.hpp"
#include "record/fixed_parameter.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::record {

namespace {

using tensor::Dtype;
using Role = kernel::Buffer::Role;
constexpr std::size_t most_array_bytes = std::size_t{2} << 30;

std::string dimensions(const std::array<std::uint32_t, 3>& extent) {
  if (extent[2] != 1) return fmt::format("dim3({}, {}, {})", extent[0], extent[1], extent[2]);
  if (extent[1] != 1) return fmt::format("dim3({}, {})", extent[0], extent[1]);
  return fmt::format("{}", extent[0]);
}

// "d_A" and "dev_out" as their author means them.
std::string plain_name(std::string name) {
  for (const std::string_view prefix : {"d_", "dev_", "device_", "gpu_", "g_"})
    if (name.starts_with(prefix) && name.size() > prefix.size() && (std::isalpha(static_cast<unsigned char>(name[prefix.size()])) != 0)) return name.substr(prefix.size());
  return name;
}

class Drafter {
 public:
  Drafter(const Kept& kept, const DeviceSource& source, const std::string& name) : kept_(kept), source_(source) {
    task_.name = name;
    for (const auto& [alias, type] : kernel::type_aliases(source.text)) aliases_.emplace(alias, type);
    signatures_ = kernel::signatures(source.text);
  }

  tl::expected<RecordedTask, std::string> run() {
    if (!kept_.why_not.empty()) return tl::unexpected(kept_.why_not);
    if (kept_.launches.empty()) return tl::unexpected<std::string>("no such launch was seen");
    if (!source_.missing.empty())
      return tl::unexpected(fmt::format("{} is not defined in the source: name the file that defines it with --source", *source_.missing.begin()));
    auto code = with_constants(source_, kept_.variables, aliases_);
    if (!code) return tl::unexpected(std::move(code.error()));
    task_.code = *std::move(code);
    if (source_.needs_default_device) task_.options.emplace_back("--device-as-default-execution-space");
    for (const Launch& launch : kept_.launches)
      if (auto why = fix_parameters(launch)) return tl::unexpected(*std::move(why));
    for (const Launch& launch : kept_.launches)
      if (auto why = find_buffers(launch)) return tl::unexpected(*std::move(why));
    for (const Launch& launch : kept_.launches)
      if (auto why = add_launch(launch)) return tl::unexpected(*std::move(why));
    std::size_t bytes = 0;
    for (const auto& buffer : task_.buffers) bytes += 2 * buffer.bytes;
    if (bytes > most_array_bytes) return tl::unexpected(fmt::format("the recorded arrays would take {} MiB, more than 2048: run the program at a smaller size", bytes >> 20));
    return std::move(task_);
  }

 private:
  struct Typed {
    const kernel::Signature* signature = nullptr;
    kernel::TypeNames names;
  };

  std::optional<std::string> typed(const Launch& launch, Typed& result) const {
    const kernel::KernelName name = kernel::split_kernel_name(launch.kernel);
    for (const kernel::Signature& signature : signatures_)
      if ((signature.name == name.name || signature.name.ends_with("::" + name.name)) && signature.parameters.size() == launch.parameters.size()) result.signature = &signature;
    if (result.signature == nullptr) {
      const bool other = std::any_of(signatures_.begin(), signatures_.end(), [&](const auto& s) { return s.name == name.name; });
      return other ? fmt::format("{} in the source does not take the {} parameters that it was launched with", name.name, launch.parameters.size())
                   : fmt::format("the definition of {} cannot be read (is it made by a macro?)", name.name);
    }
    result.names = aliases_;
    for (std::size_t i = 0; i < result.signature->template_parameters.size(); ++i) {
      const auto parameter = kernel::split_template_parameter(result.signature->template_parameters[i]);
      result.names[parameter.name] = i < name.template_arguments.size() ? name.template_arguments[i] : parameter.fallback;
    }
    return std::nullopt;
  }

  static bool is_null(const Parameter& parameter) { return parameter.bytes.size() == 8 && all_zero(parameter.bytes); }

  bool is_pointer(const kernel::Parameter& declared, const Typed& types) const {
    if (declared.pointer) return true;
    const auto found = types.names.find(kernel::unknown_type(declared.type, {}));
    return found != types.names.end() && found->second.find('*') != std::string::npos;
  }

  // The buffer of each allocation: its name is the first parameter's, its type that of the one whose type says most.
  std::optional<std::string> find_buffers(const Launch& launch) {
    Typed types;
    if (auto why = typed(launch, types)) return why;
    for (const Member& member : members_[types.signature]) {
      const Parameter::Target* target = target_of(launch, member);
      if (target == nullptr) continue;
      const kernel::Parameter& declared = types.signature->parameters[member.parameter];
      const auto memory = kept_.memory.find(target->allocation);
      if (memory == kept_.memory.end()) return fmt::format("parameter {} of {}: its memory was not kept", declared.name, types.signature->name);
      const auto type = member_element_type(declared.type, member.offset, types.names, source_.text);
      const auto [place, fresh] = known_.try_emplace(target->allocation, task_.buffers.size());
      if (fresh) {
        const Dtype dtype = type.value_or(likely_type(memory->second.after.empty() ? memory->second.before : memory->second.after));
        task_.buffers.push_back({free_name(plain_name(declared.name)), dtype, Role::inout, memory->second.before.size(), false, &memory->second});
        said_[target->allocation] = type ? 1 : 0;
      }
      RecordedTask::Buffer& buffer = task_.buffers[place->second];
      buffer.constant = false;
      if (auto why = fit(buffer, *target, memory->second, false)) return why;
    }
    for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
      const Parameter& parameter = launch.parameters[i];
      const kernel::Parameter& declared = types.signature->parameters[i];
      if (!is_pointer(declared, types)) continue;
      if (is_null(parameter)) continue;
      if (parameter.targets.empty())
        return fmt::format("parameter {} of {} points to no memory of the device", declared.name, types.signature->name);
      const Parameter::Target& target = parameter.targets.front();
      const auto memory = kept_.memory.find(target.allocation);
      if (memory == kept_.memory.end()) return fmt::format("parameter {} of {}: its memory was not kept", declared.name, types.signature->name);
      const auto type = element_type(declared.type, types.names, source_.text);
      const bool exact = kernel::scalar_type(declared.type, types.names).has_value();
      const auto [place, fresh] = known_.try_emplace(target.allocation, task_.buffers.size());
      if (fresh) task_.buffers.push_back({free_name(plain_name(declared.name)), type.value_or(Dtype::int32), Role::inout, memory->second.before.size(), true, &memory->second});
      RecordedTask::Buffer& buffer = task_.buffers[place->second];
      buffer.constant = buffer.constant && declared.type.substr(0, declared.type.find('*')).find("const") != std::string::npos;
      const int says = !type ? 0 : exact ? 2 : 1;
      int& said = said_[target.allocation];
      if (fresh || says > said) {
        said = says;
        buffer.dtype = type.value_or(likely_type(memory->second.after.empty() ? memory->second.before : memory->second.after));
        buffer.structure = type ? std::nullopt : kernel::structure_of(declared.type, types.names, source_.text);
      }
      if (auto why = fit(buffer, target, memory->second, exact)) return why;
    }
    return std::nullopt;
  }

  // Where a buffer is no whole number of elements, its bytes are what it is made of.
  static std::optional<std::string> fit(RecordedTask::Buffer& buffer, const Parameter::Target& target, const Memory& memory, bool exact) {
    if (buffer.structure && (buffer.bytes % buffer.structure->bytes != 0 || target.at % buffer.structure->bytes != 0)) buffer.structure.reset();
    if (buffer.bytes % tensor::size_of(buffer.dtype) != 0 || target.at % tensor::size_of(buffer.dtype) != 0) {
      if (exact && tensor::is_floating(buffer.dtype))
        return fmt::format("{} is {} bytes long or used at byte {}, which is no whole number of {}", buffer.name, buffer.bytes, target.at, tensor::name(buffer.dtype));
      buffer.dtype = Dtype::uint8;
    }
    if (memory.after.size() != buffer.bytes) return fmt::format("the memory of {} was freed before it could be read", buffer.name);
    return std::nullopt;
  }

  static std::size_t element_bytes(const RecordedTask::Buffer& buffer) { return buffer.structure ? buffer.structure->bytes : tensor::size_of(buffer.dtype); }

  // A pointer in a parameter that is passed by value; it has a parameter of its own in the task, after the others.
  struct Member {
    std::size_t parameter = 0, offset = 0;
  };
  static const Parameter::Target* target_of(const Launch& launch, const Member& member) {
    for (const Parameter::Target& target : launch.parameters[member.parameter].targets)
      if (target.offset == member.offset) return &target;
    return nullptr;
  }
  static Bytes without_pointers(const Parameter& parameter) {
    Bytes bytes = parameter.bytes;
    for (const Parameter::Target& target : parameter.targets) std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(target.offset), 8, std::byte{0});
    return bytes;
  }

  // From the last on, so that places of those before stay.
  std::optional<std::string> fix_parameters(const Launch& launch) {
    Typed types;
    if (auto why = typed(launch, types)) return why;
    std::string name = types.signature->name;
    if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
    std::size_t left = launch.parameters.size();
    for (std::size_t i = launch.parameters.size(); i-- > 0;) {
      const Parameter& parameter = launch.parameters[i];
      const kernel::Parameter& declared = types.signature->parameters[i];
      if (is_pointer(declared, types) || is_scalar(parameter, declared, types)) continue;
      const Bytes value = without_pointers(parameter);
      const auto [place, fresh] = fixed_.try_emplace({types.signature, i}, value);
      if (!fresh && place->second != value) return fmt::format("parameter {} of {} differs from launch to launch: choose one with --launch", declared.name, name);
      if (!fresh) continue;
      std::vector<PassedPointer> pointers;
      for (const Parameter::Target& target : parameter.targets) {
        pointers.push_back({target.offset, fmt::format("{}_at_{}", declared.name, target.offset)});
        members_[types.signature].push_back({i, target.offset});
      }
      auto code = with_fixed_parameter(task_.code, name, left, i, value, pointers);
      if (!code) return std::move(code.error());
      task_.code = *std::move(code);
      left += pointers.size();
      --left;
    }
    return std::nullopt;
  }

  static bool is_scalar(const Parameter& parameter, const kernel::Parameter& declared, const Typed& types) {
    const auto type = kernel::scalar_type(declared.type, types.names);
    return type && type->size == parameter.bytes.size();
  }

  std::optional<std::string> add_launch(const Launch& launch) {
    Typed types;
    if (auto why = typed(launch, types)) return why;
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < launch.parameters.size(); ++i) {
      if (fixed_.contains({types.signature, i})) continue;
      const Parameter& parameter = launch.parameters[i];
      const kernel::Parameter& declared = types.signature->parameters[i];
      if (is_pointer(declared, types)) {
        if (is_null(parameter)) {
          arguments.emplace_back("0");
          continue;
        }
        const RecordedTask::Buffer& buffer = task_.buffers[known_.at(parameter.targets.front().allocation)];
        const std::uint64_t offset = parameter.targets.front().at / element_bytes(buffer);
        arguments.push_back(offset == 0 ? buffer.name : fmt::format("{} + {}", buffer.name, offset));
        continue;
      }
      const auto type = kernel::scalar_type(declared.type, types.names);
      auto value = scalar(*type, parameter.bytes);
      if (!value) return fmt::format("parameter {} of {} is not finite, which a task cannot pass", declared.name, types.signature->name);
      arguments.push_back(scalar_name(declared.name, *type, *value));
    }
    for (const Member& member : members_[types.signature]) {
      const Parameter::Target* target = target_of(launch, member);
      if (target == nullptr) return fmt::format("parameter {} of {} differs from launch to launch: choose one with --launch", types.signature->parameters[member.parameter].name, types.signature->name);
      const RecordedTask::Buffer& buffer = task_.buffers[known_.at(target->allocation)];
      const std::uint64_t offset = target->at / element_bytes(buffer);
      arguments.push_back(offset == 0 ? buffer.name : fmt::format("{} + {}", buffer.name, offset));
    }
    const std::string shared = launch.shared_bytes == 0 ? "" : fmt::format(", {}", launch.shared_bytes);
    task_.launches.push_back(fmt::format("{}<<<{}, {}{}>>>({}){}", launch.kernel, dimensions(launch.grid), dimensions(launch.block), shared,
                                         fmt::join(arguments, ", "), launch.cooperative ? " cooperative" : ""));
    return std::nullopt;
  }

  static std::optional<std::string> scalar(const kernel::ScalarType& type, const Bytes& bytes) {
    using Kind = kernel::ScalarType::Kind;
    if (type.kind == Kind::floating) {
      const double value = tensor::load(type.floating, bytes.data());
      if (!std::isfinite(value)) return std::nullopt;
      return type.size == 8 ? fmt::format("{:.17g}", value) : fmt::format("{:.9g}", value);
    }
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), type.size);
    if (type.kind == Kind::boolean) return fmt::format("{}", value);
    if (type.kind == Kind::signed_integer && type.size < 8 && (value >> (8 * type.size - 1)) != 0) value |= ~std::uint64_t{0} << (8 * type.size);
    const auto whole = static_cast<std::int64_t>(value);
    // The language's integers are signed.
    if (type.kind == Kind::unsigned_integer && whole < 0) return std::nullopt;
    if (whole == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    return fmt::format("{}", whole);
  }

  std::string scalar_name(const std::string& wanted, const kernel::ScalarType& type, const std::string& value) {
    Dtype dtype = dtype_of(type);
    // Every integer fits into the wider type; the parameter's own is what the kernel gets.
    if (type.kind == kernel::ScalarType::Kind::unsigned_integer) dtype = Dtype::int64;
    for (const auto& known : task_.scalars)
      if (known.value == value && known.dtype == dtype && (known.name == wanted || known.name.starts_with(wanted + "_"))) return known.name;
    task_.scalars.push_back({free_name(wanted), value, dtype});
    return task_.scalars.back().name;
  }

  std::string free_name(std::string name) {
    if (name.empty()) name = "x";
    if (!kernel::reserved_for(name).empty()) name += "_";
    std::string free = name;
    for (int i = 2; !names_.insert(free).second; ++i) free = fmt::format("{}_{}", name, i);
    return free;
  }

  const Kept& kept_;
  const DeviceSource& source_;
  RecordedTask task_;
  std::vector<kernel::Signature> signatures_;
  kernel::TypeNames aliases_;
  std::map<std::pair<const kernel::Signature*, std::size_t>, Bytes> fixed_;  // parameters that became variables
  std::map<const kernel::Signature*, std::vector<Member>> members_;          // in the order of the parameters that pass them
  std::map<std::uint64_t, std::size_t> known_;   // allocation → buffer
  std::map<std::uint64_t, int> said_;            // how much its type is worth: 2 a scalar's, 1 a structure's, 0 a guess
  std::set<std::string> names_;
};

}  // namespace

tl::expected<RecordedTask, std::string> draft_task(const Kept& kept, const DeviceSource& source, const std::string& name) {
  return Drafter(kept, source, name).run();
}

}  // namespace cudal1::record
