// SPDX-License-Identifier: Apache-2.0
#include "judge/values.hpp"

#include "outcome/counter_fields.hpp"

#include <cmath>
#include <cstring>
#include <string>

namespace cudal1::judge {

namespace {

json bytes(const void* data, std::size_t size) {
  const auto* first = static_cast<const std::uint8_t*>(data);
  return json::binary(std::vector<std::uint8_t>(first, first + size));
}

std::string text(const json& value) {
  const auto& binary = value.get_binary();
  return {binary.begin(), binary.end()};
}

}  // namespace

static json to(const std::optional<outcome::WrongElement>& element) {
  if (!element) return {};
  return {{"output", element->output}, {"index", element->index}, {"expected", element->expected}, {"got", element->got}};
}

static void from(const json& value, std::optional<outcome::WrongElement>& element) {
  if (value.is_null()) return;
  outcome::WrongElement& target = element.emplace();
  value.at("output").get_to(target.output);
  value.at("index").get_to(target.index);
  value.at("expected").get_to(target.expected);
  value.at("got").get_to(target.got);
}

json to(const kernel::PlanStep& step) {
  if (const auto* memset = std::get_if<kernel::Memset>(&step)) return {{"buffer", memset->buffer}, {"value", memset->value}};
  if (const auto* copy = std::get_if<kernel::Copy>(&step)) return {{"buffer", copy->buffer}, {"variable", copy->variable}};
  const auto& launch = std::get<kernel::Launch>(step);
  json arguments = json::array();
  for (const kernel::Argument& argument : launch.arguments) {
    if (const auto* buffer = std::get_if<kernel::BufferArgument>(&argument)) {
      arguments.push_back({{"buffer", buffer->buffer}, {"offset", buffer->byte_offset}});
    } else if (const auto* map = std::get_if<kernel::TensorMapArgument>(&argument)) {
      arguments.push_back({{"buffer", map->buffer}, {"offset", map->byte_offset}, {"element", static_cast<int>(map->element)}, {"size", map->element_bytes},
                           {"extents", map->extents}, {"strides", map->strides}, {"box", map->box}, {"swizzle", map->swizzle}});
    } else {
      const auto& scalar = std::get<kernel::ScalarArgument>(argument);
      arguments.push_back(bytes(scalar.bytes.data(), scalar.size));
    }
  }
  return {{"kernel", launch.kernel},        {"grid", launch.grid},     {"block", launch.block},
          {"cluster", launch.cluster},      {"shared", launch.shared_bytes}, {"cooperative", launch.cooperative},
          {"arguments", std::move(arguments)}};
}

void from(const json& value, kernel::PlanStep& step) {
  if (value.contains("variable")) {
    step = kernel::Copy{value.at("variable").get<std::string>(), value.at("buffer").get<std::size_t>()};
    return;
  }
  if (!value.contains("kernel")) {
    kernel::Memset memset;
    value.at("buffer").get_to(memset.buffer);
    value.at("value").get_to(memset.value);
    step = memset;
    return;
  }
  kernel::Launch launch;
  value.at("kernel").get_to(launch.kernel);
  value.at("grid").get_to(launch.grid);
  value.at("block").get_to(launch.block);
  value.at("cluster").get_to(launch.cluster);
  value.at("shared").get_to(launch.shared_bytes);
  value.at("cooperative").get_to(launch.cooperative);
  for (const json& argument : value.at("arguments")) {
    if (argument.is_binary()) {
      kernel::ScalarArgument scalar;
      const std::string content = text(argument);
      scalar.size = std::min(content.size(), scalar.bytes.size());
      std::memcpy(scalar.bytes.data(), content.data(), scalar.size);
      launch.arguments.emplace_back(scalar);
    } else if (argument.contains("extents")) {
      kernel::TensorMapArgument map;
      argument.at("buffer").get_to(map.buffer);
      argument.at("offset").get_to(map.byte_offset);
      map.element = static_cast<kernel::TensorMapArgument::Element>(argument.at("element").get<int>());
      argument.at("size").get_to(map.element_bytes);
      argument.at("extents").get_to(map.extents);
      argument.at("strides").get_to(map.strides);
      argument.at("box").get_to(map.box);
      argument.at("swizzle").get_to(map.swizzle);
      launch.arguments.emplace_back(std::move(map));
    } else {
      kernel::BufferArgument buffer;
      argument.at("buffer").get_to(buffer.buffer);
      argument.at("offset").get_to(buffer.byte_offset);
      launch.arguments.emplace_back(buffer);
    }
  }
  step = std::move(launch);
}

json to(const kernel::PlanBuffer& buffer) {
  return {{"role", static_cast<int>(buffer.role)},
          {"name", buffer.name},
          {"dtype", static_cast<int>(buffer.dtype)},
          {"shape", buffer.shape},
          {"bytes", buffer.bytes},
          {"initial", buffer.initial ? json(*buffer.initial) : json()},
          {"within", {buffer.memory, buffer.offset, buffer.stride, buffer.width}}};
}

void from(const json& value, kernel::PlanBuffer& buffer) {
  buffer.role = static_cast<kernel::PlanBuffer::Role>(value.at("role").get<int>());
  value.at("name").get_to(buffer.name);
  buffer.dtype = static_cast<tensor::Dtype>(value.at("dtype").get<int>());
  value.at("shape").get_to(buffer.shape);
  value.at("bytes").get_to(buffer.bytes);
  if (!value.at("initial").is_null()) buffer.initial = value.at("initial").get<double>();
  const json& within = value.at("within");
  within.at(0).get_to(buffer.memory);
  within.at(1).get_to(buffer.offset);
  within.at(2).get_to(buffer.stride);
  within.at(3).get_to(buffer.width);
}

json to(const outcome::ResourceFacts& facts) {
  return {{"kernel", facts.kernel},
          {"registers", facts.registers},
          {"shared", facts.shared_bytes},
          {"local", facts.local_bytes},
          {"spill_store", facts.spill_store_bytes},
          {"serialized_wgmma", facts.serialized_wgmma},
          {"spill_load", facts.spill_load_bytes},
          {"constant", facts.constant_bytes},
          {"max_threads", facts.max_threads_per_block}};
}

void from(const json& value, outcome::ResourceFacts& facts) {
  value.at("kernel").get_to(facts.kernel);
  value.at("registers").get_to(facts.registers);
  value.at("shared").get_to(facts.shared_bytes);
  value.at("local").get_to(facts.local_bytes);
  value.at("spill_store").get_to(facts.spill_store_bytes);
  value.at("serialized_wgmma").get_to(facts.serialized_wgmma);
  value.at("spill_load").get_to(facts.spill_load_bytes);
  value.at("constant").get_to(facts.constant_bytes);
  value.at("max_threads").get_to(facts.max_threads_per_block);
}

json to(const outcome::Binary& binary) {
  return {{"ptx", binary.ptx},         {"cubin", bytes(binary.cubin.data(), binary.cubin.size())},
          {"arch", binary.arch},       {"entries", binary.entries},
          {"variables", binary.variables}, {"constants", binary.constants},
          {"file", binary.file},       {"resources", to_array(binary.resources)}};
}

void from(const json& value, outcome::Binary& binary) {
  value.at("ptx").get_to(binary.ptx);
  binary.cubin = text(value.at("cubin"));
  value.at("arch").get_to(binary.arch);
  value.at("entries").get_to(binary.entries);
  value.at("variables").get_to(binary.variables);
  value.at("constants").get_to(binary.constants);
  value.at("file").get_to(binary.file);
  from_array(value.at("resources"), binary.resources);
}

json to(const outcome::DeviceFacts& facts) {
  return {{"name", facts.name},
          {"uuid", facts.uuid},
          {"driver", facts.driver},
          {"simulated", facts.simulated},
          {"major", facts.major},
          {"minor", facts.minor},
          {"sm_count", facts.sm_count},
          {"clock", facts.clock_hz},
          {"memory", facts.memory_bytes},
          {"memory_rate", facts.memory_bytes_per_second},
          {"memory_rate_measured", facts.memory_rate_measured},
          {"l2", facts.l2_bytes},
          {"shared_sm", facts.shared_bytes_per_sm},
          {"shared_block", facts.shared_bytes_per_block_optin},
          {"registers", facts.registers_per_sm},
          {"threads", facts.max_threads_per_sm},
          {"blocks", facts.max_blocks_per_sm},
          {"flops", {facts.fp32_flops, facts.fp64_flops, facts.fp16_tensor_flops, facts.tf32_tensor_flops}}};
}

void from(const json& value, outcome::DeviceFacts& facts) {
  value.at("name").get_to(facts.name);
  value.at("uuid").get_to(facts.uuid);
  value.at("driver").get_to(facts.driver);
  value.at("simulated").get_to(facts.simulated);
  value.at("major").get_to(facts.major);
  value.at("minor").get_to(facts.minor);
  value.at("sm_count").get_to(facts.sm_count);
  value.at("clock").get_to(facts.clock_hz);
  value.at("memory").get_to(facts.memory_bytes);
  value.at("memory_rate").get_to(facts.memory_bytes_per_second);
  value.at("memory_rate_measured").get_to(facts.memory_rate_measured);
  value.at("l2").get_to(facts.l2_bytes);
  value.at("shared_sm").get_to(facts.shared_bytes_per_sm);
  value.at("shared_block").get_to(facts.shared_bytes_per_block_optin);
  value.at("registers").get_to(facts.registers_per_sm);
  value.at("threads").get_to(facts.max_threads_per_sm);
  value.at("blocks").get_to(facts.max_blocks_per_sm);
  const json& flops = value.at("flops");
  flops.at(0).get_to(facts.fp32_flops);
  flops.at(1).get_to(facts.fp64_flops);
  flops.at(2).get_to(facts.fp16_tensor_flops);
  flops.at(3).get_to(facts.tf32_tensor_flops);
}

json to(const outcome::ErrorFigures& errors) {
  return {errors.relative_l2, errors.max_absolute, errors.reference_relative_l2, errors.trials, errors.kernelbench_tolerance, errors.outputs, errors.verified_outputs};
}

void from(const json& value, outcome::ErrorFigures& errors) {
  value.at(0).get_to(errors.relative_l2);
  value.at(1).get_to(errors.max_absolute);
  value.at(2).get_to(errors.reference_relative_l2);
  value.at(3).get_to(errors.trials);
  value.at(4).get_to(errors.kernelbench_tolerance);
  value.at(5).get_to(errors.outputs);
  value.at(6).get_to(errors.verified_outputs);
}

json to(const outcome::Finding& finding) {
  return {{"kind", static_cast<int>(finding.kind)},
          {"kernel", finding.kernel},
          {"file", finding.file},
          {"line", finding.line},
          {"block", finding.block},
          {"thread", finding.thread},
          {"address", finding.address},
          {"buffer", finding.buffer},
          {"offset", finding.offset},
          {"message", finding.message},
          {"other_line", finding.other_line},
          {"other_block", finding.other_block},
          {"other_thread", finding.other_thread}};
}

void from(const json& value, outcome::Finding& finding) {
  finding.kind = static_cast<outcome::Finding::Kind>(value.at("kind").get<int>());
  value.at("kernel").get_to(finding.kernel);
  value.at("file").get_to(finding.file);
  value.at("line").get_to(finding.line);
  value.at("block").get_to(finding.block);
  value.at("thread").get_to(finding.thread);
  value.at("address").get_to(finding.address);
  value.at("buffer").get_to(finding.buffer);
  value.at("offset").get_to(finding.offset);
  value.at("message").get_to(finding.message);
  value.at("other_line").get_to(finding.other_line);
  value.at("other_block").get_to(finding.other_block);
  value.at("other_thread").get_to(finding.other_thread);
}

json to(const outcome::TaskFinding& finding) {
  return {{"verdict", static_cast<int>(finding.verdict)}, {"reason", finding.reason}};
}

void from(const json& value, outcome::TaskFinding& finding) {
  finding.verdict = static_cast<outcome::TaskVerdict>(value.at("verdict").get<int>());
  value.at("reason").get_to(finding.reason);
}

json to(const outcome::Counters& counters) {
  json result = json::array();
  for (const auto& field : outcome::counter_fields) result.push_back(counters.*field.member);
  return result;
}

void from(const json& value, outcome::Counters& counters) {
  std::size_t i = 0;
  for (const auto& field : outcome::counter_fields) value.at(i++).get_to(counters.*field.member);
}

json to(const outcome::LineCounters& lines) {
  json result = json::array();
  for (const auto& [line, counters] : lines) result.push_back({line, to(counters)});
  return result;
}

void from(const json& value, outcome::LineCounters& lines) {
  for (const json& entry : value) from(entry.at(1), lines[entry.at(0).get<int>()]);
}

json to(const std::optional<outcome::Verdict>& verdict) { return verdict ? json(static_cast<int>(*verdict)) : json(); }

void from(const json& value, std::optional<outcome::Verdict>& verdict) {
  if (!value.is_null()) verdict = static_cast<outcome::Verdict>(value.get<int>());
}

json to(const kernel::Plan& plan) {
  return {{"buffers", to_array(plan.buffers)}, {"steps", to_array(plan.steps)}};
}

void from(const json& value, kernel::Plan& plan) {
  from_array(value.at("buffers"), plan.buffers);
  from_array(value.at("steps"), plan.steps);
}

json to(const task::Workload& workload) {
  json environment = json::object();
  for (const auto& [name, number] : workload.environment)
    environment[name] = std::visit([](auto held) { return json(held); }, number);
  return {{"environment", std::move(environment)},
          {"sizes", workload.sizes},
          {"weight", workload.weight},
          {"declared", workload.declared}};
}

void from(const json& value, task::Workload& workload) {
  for (const auto& [name, number] : value.at("environment").items()) {
    if (number.is_boolean()) workload.environment[name] = number.get<bool>();
    else if (number.is_number_float()) workload.environment[name] = number.get<double>();
    else workload.environment[name] = number.get<std::int64_t>();
  }
  value.at("sizes").get_to(workload.sizes);
  value.at("weight").get_to(workload.weight);
  value.at("declared").get_to(workload.declared);
}

json to(const device::Sample& sample) {
  return {sample.arm, sample.set, sample.ms, sample.span_ms, sample.clock_hz, sample.stall_ms, sample.slope};
}

void from(const json& value, device::Sample& sample) {
  value.at(0).get_to(sample.arm);
  value.at(1).get_to(sample.set);
  value.at(2).get_to(sample.ms);
  value.at(3).get_to(sample.span_ms);
  value.at(4).get_to(sample.clock_hz);
  value.at(5).get_to(sample.stall_ms);
  value.at(6).get_to(sample.slope);
}

json to(const device::Lent& lent) { return {lent.handle, lent.path, lent.offset, lent.bytes}; }

void from(const json& value, device::Lent& lent) {
  value.at(0).get_to(lent.handle);
  value.at(1).get_to(lent.path);
  value.at(2).get_to(lent.offset);
  value.at(3).get_to(lent.bytes);
}

json to(const device::Prediction& prediction) {
  return {{"ms", prediction.ms},
          {"log_error", prediction.log_error},
          {"limited_by", prediction.limited_by},
          {"counters", to(prediction.counters)},
          {"lines", to(prediction.lines)},
          {"shares", prediction.shares}};
}

void from(const json& value, device::Prediction& prediction) {
  value.at("ms").get_to(prediction.ms);
  value.at("log_error").get_to(prediction.log_error);
  value.at("limited_by").get_to(prediction.limited_by);
  from(value.at("counters"), prediction.counters);
  from(value.at("lines"), prediction.lines);
  value.at("shares").get_to(prediction.shares);
}

json to(const verify::Evidence& evidence) {
  return {{"fault", to(evidence.fault)},
          {"message", evidence.message},
          {"findings", to_array(evidence.findings)},
          {"first", to(evidence.first_wrong)},
          {"worst", to(evidence.worst_wrong)},
          {"errors", to(evidence.errors)},
          {"printed", evidence.printed}};
}

void from(const json& value, verify::Evidence& evidence) {
  from(value.at("fault"), evidence.fault);
  value.at("message").get_to(evidence.message);
  from_array(value.at("findings"), evidence.findings);
  from(value.at("first"), evidence.first_wrong);
  from(value.at("worst"), evidence.worst_wrong);
  from(value.at("errors"), evidence.errors);
  value.at("printed").get_to(evidence.printed);
}

}  // namespace cudal1::judge
