// SPDX-License-Identifier: Apache-2.0
#include "sim/shadow.hpp"

#include "sim/cluster.hpp"
#include "sim/decoder.hpp"
#include "sim/meant.hpp"
#include "sim/sim_device.hpp"
#include "sim/small_float.hpp"
#include "tensor/dtype.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

namespace cudal1::sim {

namespace {

using Op = ShadowOperation;

constexpr std::pair<const char*, Op> operation_names[] = {
    {"add", Op::add},   {"sub", Op::sub},     {"mul", Op::mul},   {"fma", Op::fma}, {"mad", Op::fma}, {"div", Op::div}, {"rcp", Op::rcp},
    {"sqrt", Op::sqrt}, {"rsqrt", Op::rsqrt}, {"ex2", Op::ex2},   {"lg2", Op::lg2}, {"sin", Op::sin}, {"cos", Op::cos}, {"tanh", Op::tanh},
    {"neg", Op::neg},   {"abs", Op::abs},     {"min", Op::min},   {"max", Op::max}, {"copysign", Op::copysign}};

bool has_avx2() {
#if defined(__x86_64__) && defined(CUDAL1_SIM_AVX2)
  return !std::getenv("CUDAL1_SIM_BASELINE") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

const ShadowHandlers& handlers() {
  static const ShadowHandlers chosen = has_avx2() ? shadow_handlers_avx2() : shadow_handlers_baseline();
  return chosen;
}

const ShadowLaneHandlers& lane_handlers() {
  static const ShadowLaneHandlers chosen = shadow_lane_handlers();
  return chosen;
}

bool floating(const std::string& part) {
  const auto element = parse_element(part);
  return element && is_float(*element) && *element != Element::tf32;
}

// Finds what an instruction does to shadows.
class Reader {
 public:
  Reader(const Program& program, ShadowMode mode) : program_(program), mode_(mode) {
    for (const ConstantRow& constant : program.constants) constants_[constant.offset] = constant.value;
  }

  // The handler of an instruction's shadows; null where it has none.
  Handler handler(const Instruction& i, const std::string& name, Shadowed& s) const {
    if (name.front() == '_') return own(i, name, s);
    const Opcode opcode = split_opcode(name);
    const std::string& m = opcode.mnemonic();
    if (m == "meant") return meant(opcode, s);
    if (m == "shfl") return lane_handlers().shuffle[opcode.has("up") ? 0 : opcode.has("down") ? 1 : opcode.has("bfly") ? 2 : 3];
    if (m == "mov" || m == "selp" || m == "slct") return value_move(opcode, s);
    if (m == "xor" || m == "and" || m == "shl") return logic(i, opcode, s);
    if (m == "setp") return comparison(opcode, s);
    if (m == "cvt") return conversion(opcode, s);
    return arithmetic(i, opcode, s);
  }

 private:
  Handler own(const Instruction& i, const std::string& name, Shadowed& s) const {
    const Opcode opcode = split_opcode(name);
    const auto number = [&](std::size_t part) { return static_cast<std::uint8_t>(opcode.parts[part] == "q" ? 16 : std::stoi(opcode.parts[part])); };
    const std::string& m = opcode.mnemonic();
    if (m == "_ld" || m == "_st") {
      s.space = opcode.has("shared") ? Space::shared : opcode.has("cluster") ? Space::cluster : opcode.has("local") ? Space::local : Space::generic;
      s.width = number(2), s.count = number(3);
      if (s.width < 2) return nullptr;
      return m == "_ld" ? handlers().load : handlers().store;
    }
    if (m == "_pack" || m == "_part") {
      s.width = number(1);
      if (m == "_pack") return s.width < 4 ? nullptr : handlers().pack;
      s.part = number(3);
      return s.width < 2 ? nullptr : handlers().part;
    }
    if (m == "_atom") {
      const Element type = opcode.type();
      s.type = type;
      s.space = static_cast<Space>(i.extra);
      s.width = static_cast<std::uint8_t>(bytes_of(type));
      if (s.width < 4) return nullptr;
      if (opcode.has("add") && (type == Element::f32 || type == Element::f64)) return lane_handlers().atomic_add;
      return opcode.has("min") || opcode.has("max") || opcode.has("exch") || opcode.has("cas") ? lane_handlers().atomic_choose : nullptr;
    }
    if (name == "_copy.start") return lane_handlers().copy_start;
    if (name == "_copy_local") return lane_handlers().copy_local;
    if (name == "_mma.float" || name == "_mma.double") return lane_handlers().multiply;
    if (name == "_wgmma") return lane_handlers().warpgroup_multiply;
    if (m == "_wmma") return s.part = opcode.has("store"), lane_handlers().fragment;
    if (m == "_ldmatrix" || m == "_stmatrix") return s.part = m == "_stmatrix", lane_handlers().small_matrices;
    return nullptr;
  }

  static Handler meant(const Opcode& opcode, Shadowed& s) {
    const auto functions = meant_functions();
    const auto found = std::find_if(functions.begin(), functions.end(), [&](const MeantFunction& one) { return opcode.parts.at(1) == one.name; });
    s.part = found == functions.end() ? meant_literal : static_cast<std::uint8_t>(found - functions.begin());
    s.operands = found == functions.end() ? 1 : static_cast<std::uint8_t>(found->operands);
    s.type = opcode.type();
    return &shadow_meant;
  }

  static Handler value_move(const Opcode& opcode, Shadowed& s) {
    const auto element = parse_element(opcode.parts.at(opcode.mnemonic() == "slct" ? opcode.parts.size() - 2 : opcode.parts.size() - 1));
    if (!element || *element == Element::pred) return nullptr;
    s.width = static_cast<std::uint8_t>(bytes_of(*element));
    if (opcode.mnemonic() == "mov") return handlers().move;
    s.part = opcode.mnemonic() == "selp" ? 0 : opcode.parts.back() == "s32" ? 1 : 2;
    return handlers().select;
  }

  std::optional<std::uint64_t> constant(std::uint32_t row) const {
    const auto found = constants_.find(row);
    return found == constants_.end() ? std::nullopt : std::optional(found->second);
  }

  // Logic that changes a float's sign alone, and a bf16 that is moved to where a float has it.
  Handler logic(const Instruction& i, const Opcode& opcode, Shadowed& s) const {
    const auto second = constant(i.b);
    if (!second) return nullptr;
    s.width = static_cast<std::uint8_t>(bytes_of(opcode.type()));
    if (opcode.mnemonic() == "shl") return s.width == 4 && *second == 16 ? handlers().bits_up : nullptr;
    const std::uint64_t sign = s.width == 4 ? 0x80000000u : 0x8000u;
    if (s.width != 4 && s.width != 2) return nullptr;
    s.part = opcode.mnemonic() == "and";
    return *second == (s.part ? sign - 1 : sign) ? handlers().sign : nullptr;
  }

  static Handler comparison(const Opcode& opcode, Shadowed& s) {
    const Element type = opcode.type();
    if (!is_float(type) || opcode.parts.size() < 3) return nullptr;
    const auto* at = std::find(std::begin(shadow_comparisons), std::end(shadow_comparisons), opcode.parts[1]);
    if (at == std::end(shadow_comparisons)) return nullptr;
    s.from = type;
    s.comparison = static_cast<std::uint8_t>(at - std::begin(shadow_comparisons));
    return handlers().compare;
  }

  static Handler conversion(const Opcode& opcode, Shadowed& s) {
    const auto& parts = opcode.parts;
    if (parts.size() < 3) return nullptr;
    const auto into = parse_element(parts[parts.size() - 2]), from = parse_element(parts.back());
    if (!into || !from || *from == Element::tf32) return nullptr;   // 8-bit floats are no element
    s.from = *from;
    s.type = *into;
    const bool whole = opcode.has("rni") || opcode.has("rzi") || opcode.has("rmi") || opcode.has("rpi");
    s.part = opcode.has("rzi") ? 1 : opcode.has("rmi") ? 2 : opcode.has("rpi") ? 3 : 0;
    if (is_float(*from) && whole) return handlers().convert_to_integer;
    if (!is_float(*from) && is_float(*into)) {
      s.width = static_cast<std::uint8_t>(bytes_of(*from));
      s.part = is_signed(*from);
      return opcode.has("sat") ? nullptr : handlers().convert_from_integer;
    }
    if (!is_float(*from)) {
      // Of other widths: what keeps its bits keeps its shadow.
      s.width = static_cast<std::uint8_t>(std::min(bytes_of(*from), bytes_of(*into)));
      return s.width < 2 || opcode.has("sat") ? nullptr : handlers().move;
    }
    if (*into == Element::tf32) {
      s.type = Element::f32;
    }
    s.operation = Op::convert;
    s.operands = *into == Element::f16x2 || *into == Element::bf16x2 ? 2 : 1;
    if (s.operands == 2 && *from != Element::f32) return nullptr;
    s.saturate = opcode.has("sat");
    s.rectify = opcode.has("relu");
    return handlers().arithmetic;
  }

  Handler arithmetic(const Instruction& i, const Opcode& opcode, Shadowed& s) const {
    const auto* known = std::find_if(std::begin(operation_names), std::end(operation_names), [&](const auto& one) { return opcode.mnemonic() == one.first; });
    const std::string last = opcode.parts.back() == "3" ? opcode.parts[opcode.parts.size() - 2] : opcode.parts.back();
    if (known == std::end(operation_names) || !floating(last)) return nullptr;
    s.operation = known->second;
    s.type = s.from = *parse_element(last);
    // The mixed forms: add.f32.f16.
    const std::string& before = opcode.parts[opcode.parts.size() - 2];
    if (opcode.parts.back() != "3" && floating(before)) s.type = *parse_element(before), s.wide_addend = true;
    const bool one = s.operation == Op::rcp || s.operation == Op::sqrt || s.operation == Op::rsqrt || s.operation == Op::ex2 || s.operation == Op::lg2 ||
                     s.operation == Op::sin || s.operation == Op::cos || s.operation == Op::tanh || s.operation == Op::neg || s.operation == Op::abs;
    s.operands = one ? 1 : s.operation == Op::fma || opcode.parts.back() == "3" ? 3 : 2;
    s.saturate = opcode.has("sat");
    s.rectify = opcode.has("relu");
    s.approximate = opcode.has("approx") || opcode.has("full");
    if (rounds_to_integer(i, s)) return nullptr;
    const bool plain = s.type == Element::f32 && s.from == Element::f32 && !s.saturate && !s.rectify && opcode.parts.back() != "3" && mode_ != ShadowMode::terms;
    for (const ShadowHandlers::Floats& floats : handlers().floats)
      if (plain && floats.operation == s.operation) return mode_ == ShadowMode::exact ? floats.exact : floats.disturbed;
    return handlers().arithmetic;
  }

  // A sum with a constant so large that it leaves no fraction is made to round to an integer, whose bits are used then: expf does
  // it. The result is meant as it is.
  bool rounds_to_integer(const Instruction& i, const Shadowed& s) const {
    if (s.operation != Op::add && s.operation != Op::sub && s.operation != Op::fma) return false;
    for (const std::uint32_t row : {s.operation == Op::fma ? i.c : i.a, s.operation == Op::fma ? i.c : i.b}) {
      const auto value = constant(row);
      if (!value) continue;
      const double magnitude = s.type == Element::f32   ? std::fabs(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*value))))
                               : s.type == Element::f64 ? std::fabs(std::bit_cast<double>(*value))
                                                        : 0;
      if (s.type == Element::f32 && magnitude >= 0x1p22 && magnitude < 0x1p26) return true;
      if (s.type == Element::f64 && magnitude >= 0x1p51 && magnitude < 0x1p55) return true;
    }
    return false;
  }

  const Program& program_;
  ShadowMode mode_;
  std::map<std::uint32_t, std::uint64_t> constants_;
};

bool has_halves(const Program& program) {
  for (const std::string* name : program.operations)
    if (name->find("f16") != std::string::npos || name->starts_with("_ldmatrix") || name->starts_with("_wmma") || name->starts_with("_mma") || *name == "_wgmma") return true;
  return false;
}

}  // namespace

Program shadowed(const Program& plain, bool halves, ShadowMode mode) {
  Program result = plain;
  auto shadow = std::make_shared<ShadowProgram>();
  shadow->halves = halves || has_halves(plain);
  shadow->of.resize(plain.instructions.size());
  shadow->values = (plain.slab_bytes + 63) / 64 * 64;
  shadow->tags = shadow->values + plain.slab_bytes / 2 * 8;
  result.slab_bytes = shadow->tags + plain.slab_bytes / 2 * 4;
  const Reader reader(plain, mode);
  for (std::size_t k = 0; k < plain.instructions.size(); ++k) {
    Instruction& instruction = result.instructions[k];
    Shadowed& s = shadow->of[k];
    s.run = instruction.run;
    const Handler handler = reader.handler(instruction, *plain.operations[k], s);
    if (handler) instruction.run = {handler, handler};
  }
  result.shadow = std::move(shadow);
  return result;
}

void prepare_shadows(Warp& warp) {
  const Launch& launch = *warp.worker->launch;
  const Program& program = *launch.program;
  const auto note = [&](std::uint32_t offset, std::uint32_t width) {
    const Planes p = planes(warp, offset);
    for (std::size_t l = 0; l < 32; ++l) {
      if (width == 4) {
        const std::uint32_t bits = row<const std::uint32_t>(warp, offset)[l];
        p.values[l] = leaf(launch.shadow_mode, static_cast<double>(std::bit_cast<float>(bits)));
        p.tags[l] = bits;
      } else if (width == 8) {
        const std::uint64_t bits = row<const std::uint64_t>(warp, offset)[l];
        p.values[l] = p.values[64 + l] = leaf(launch.shadow_mode, std::bit_cast<double>(bits));
        p.tags[l] = static_cast<std::uint32_t>(bits);
        p.tags[64 + l] = static_cast<std::uint32_t>(bits >> 32);
      }
    }
  };
  for (const ConstantRow& constant : program.constants) note(constant.offset, constant.width);
  for (const ParameterRow& parameter : program.parameters) note(parameter.offset, parameter.width);
}

CellPlace shared_cells(Block& block, std::uint64_t offset, unsigned bytes) {
  if (offset + bytes > block.shared_bytes) return {};
  if (!block.shared_shadow) block.shared_shadow = std::make_shared<ShadowCells>(block.shared_bytes);
  return {block.shared_shadow->values.get() + offset / 2, block.shared_shadow->tags.get() + offset / 2};
}

CellPlace shadow_cells(Warp& warp, Space space, int lane, std::uint64_t address, unsigned bytes, Allocation*& last) {
  if (space == Space::generic || space == Space::global || space == Space::constant) {
    if (address - shared_window < window_bytes) space = Space::cluster, address -= shared_window;
    else if (address - local_window < window_bytes) space = Space::local, address -= local_window;
  }
  Block& block = *warp.block;
  const auto at = [&](ShadowCells& cells, std::size_t offset) { return CellPlace{cells.values.get() + offset / 2, cells.tags.get() + offset / 2}; };
  if (space == Space::shared) return shared_cells(block, static_cast<std::uint32_t>(address), bytes);
  if (space == Space::cluster) {
    Block* named = block_at(block, static_cast<std::uint32_t>(address));
    return named ? shared_cells(*named, address & cluster_offset_mask, bytes) : CellPlace{};
  }
  if (space == Space::local) {
    const std::size_t size = warp.worker->launch->program->local_bytes;
    if (address + bytes > size) return {};
    if (!block.local_shadow) block.local_shadow = std::make_shared<ShadowCells>(size * 32 * block.warps.size() + 64);
    return at(*block.local_shadow, (static_cast<std::size_t>(warp.index) * 32 + static_cast<std::size_t>(lane)) * size + address);
  }
  Allocation* allocation = last;
  if (!allocation || !allocation->covers(address, address + bytes)) allocation = warp.worker->launch->memory->find(address, address + bytes);
  if (!allocation || !allocation->shadow) return {};
  last = allocation;
  return at(*allocation->shadow, address - allocation->base);
}

namespace {

bool is_real(tensor::Dtype dtype) {
  return dtype == tensor::Dtype::float32 || dtype == tensor::Dtype::float64 || dtype == tensor::Dtype::float16 || dtype == tensor::Dtype::bfloat16;
}

// The shadow of element `k` of a buffer, or its value when it has none.
double element_of(const Allocation& memory, std::size_t offset, tensor::Dtype dtype, bool& known) {
  const std::byte* at = memory.host + offset;
  const double* values = memory.shadow->values.get() + offset / 2;
  const std::uint32_t* tags = memory.shadow->tags.get() + offset / 2;
  std::uint32_t low = 0, high = 0;
  const std::size_t size = tensor::size_of(dtype);
  std::memcpy(&low, at, std::min<std::size_t>(size, 4));
  if (size == 8) std::memcpy(&high, at + 4, 4);
  if (size == 2) low |= half_tag;
  known = tags[0] == low && (size < 8 || (tags[2] == high && values[0] == values[2]));
  return known ? values[0] : tensor::load(dtype, at);
}

void note_element(Allocation& memory, std::size_t offset, tensor::Dtype dtype, ShadowMode mode) {
  const std::byte* at = memory.host + offset;
  double* values = memory.shadow->values.get() + offset / 2;
  std::uint32_t* tags = memory.shadow->tags.get() + offset / 2;
  const std::size_t size = tensor::size_of(dtype);
  std::memcpy(tags, at, std::min<std::size_t>(size, 4));
  values[0] = leaf(mode, tensor::load(dtype, at));
  if (size == 2) tags[0] = half_tag | (tags[0] & 0xffffu);
  if (size == 8) std::memcpy(tags + 2, at + 4, 4), values[2] = values[0];
}

}  // namespace

ShadowRun SimDevice::run_shadowed(const device::BoundPlan& plan, ShadowMode mode, std::uint64_t seed, std::uint64_t instruction_budget) {
  ShadowLaunches shadows{mode, seed, false, {}, 0, 0};
  for (auto& [base, memory] : memory_->all()) memory->shadow = std::make_shared<ShadowCells>(memory->bytes);
  const auto& buffers = plan.plan->buffers;
  const auto elements = [&](std::size_t i) { return is_real(buffers[i].dtype) ? buffers[i].bytes / tensor::size_of(buffers[i].dtype) : 0; };
  using Role = kernel::PlanBuffer::Role;
  for (const auto& buffer : buffers) shadows.halves |= tensor::size_of(buffer.dtype) == 2 && is_real(buffer.dtype);
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].role == Role::input || buffers[i].role == Role::inout)
      for (std::size_t k = 0; k < elements(i); ++k)
        note_element(allocation(plan.buffers[i]), plan.buffers[i].offset + buffers[i].element_at(k), buffers[i].dtype, mode);
  shadows_ = &shadows;
  device::RunOptions options;
  options.checks = false;
  options.instruction_budget = instruction_budget;
  ShadowRun run;
  run.result = this->run(plan, options);
  shadows_ = nullptr;
  run.turned = shadows.turned;
  run.outputs.resize(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].role != Role::output && buffers[i].role != Role::inout) continue;
    const Allocation& memory = allocation(plan.buffers[i]);
    for (std::size_t k = 0; k < elements(i); ++k) {
      bool known = false;
      const double value = element_of(memory, plan.buffers[i].offset + buffers[i].element_at(k), buffers[i].dtype, known);
      run.outputs[i].values.push_back(known || mode != ShadowMode::terms ? value : leaf(mode, value));
      run.outputs[i].shadowed += known;
    }
  }
  for (auto& [base, memory] : memory_->all()) memory->shadow.reset();
  return run;
}

// A launch that has its arguments runs with shadows from here on.
void SimDevice::shadow(Launch& launch, const Program& plain) {
  if (shadows_ == nullptr) return;
  const auto [entry, fresh] = shadows_->programs.try_emplace(&plain);
  if (fresh) entry->second = shadowed(plain, shadows_->halves, shadows_->mode);
  launch.program = &entry->second;
  launch.shadow_mode = shadows_->mode;
  launch.shadow_seed = shadows_->seed + 0x9e3779b97f4a7c15u * ++shadows_->launches;
  for (auto& [base, memory] : memory_->all())
    if (!memory->shadow) memory->shadow = std::make_shared<ShadowCells>(memory->bytes);
}

ShadowRun run_shadowed(device::Device& simulator, const device::BoundPlan& plan, ShadowMode mode, std::uint64_t seed, std::uint64_t instruction_budget) {
  return dynamic_cast<SimDevice&>(simulator).run_shadowed(plan, mode, seed, instruction_budget);
}

}  // namespace cudal1::sim
