// SPDX-License-Identifier: Apache-2.0
#include "flashinfer/definition.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::flashinfer {

namespace {

using json = nlohmann::ordered_json;
using Kind = Definition::Axis::Kind;

// One file while it is read; every refusal names it.
struct Reader {
  std::string name;

  [[noreturn]] void refuse(const std::string& why) const { throw base::Error(base::Fault::bad_task, fmt::format("{}: {}", name, why)); }

  json parse(std::string_view text) const {
    json value = json::parse(text, nullptr, false);
    if (value.is_discarded() || !value.is_object()) refuse("it is no JSON object");
    return value;
  }

  const json& field(const json& object, const char* key, const char* what) const {
    const auto found = object.find(key);
    if (found == object.end()) refuse(fmt::format("{} has no \"{}\"", what, key));
    return *found;
  }

  std::string word(const json& object, const char* key, const char* what) const {
    const json& value = field(object, key, what);
    if (!value.is_string()) refuse(fmt::format("\"{}\" of {} is no text", key, what));
    return value.get<std::string>();
  }

  std::int64_t whole(const json& value, const std::string& what) const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0) refuse(fmt::format("{} is no whole number, 0 or more", what));
    return value.get<std::int64_t>();
  }

  Definition::Axis axis(const std::string& axis_name, const json& value) const {
    const std::string kind = value.is_object() ? value.value("type", "") : "";
    Definition::Axis result{axis_name, Kind::variable, 0, ""};
    if (kind == "var") return result;
    if (kind == "const") {
      result.kind = Kind::constant;
      result.value = whole(field(value, "value", "an axis"), fmt::format("the value of axis {}", axis_name));
    } else if (kind == "expr") {
      result.kind = Kind::expression;
      result.text = word(value, "expression", "an axis");
    } else {
      refuse(fmt::format("axis {}: the type \"{}\" is not understood; const, var and expr are", axis_name, kind));
    }
    return result;
  }

  Definition::Tensor tensor(const std::string& tensor_name, const json& value, const Definition& definition) const {
    if (!value.is_object()) refuse(fmt::format("{} is no object with a shape and a dtype", tensor_name));
    Definition::Tensor result;
    result.name = tensor_name;
    const std::string dtype = word(value, "dtype", tensor_name.c_str());
    const auto known = tensor::parse_dtype(dtype);
    if (!known) refuse(fmt::format("{}: the type {} is not understood; known: {}", tensor_name, dtype, fmt::join(tensor::dtype_names(), " ")));
    result.dtype = *known;
    const json& shape = field(value, "shape", tensor_name.c_str());
    result.scalar = shape.is_null();
    if (!shape.is_null() && !shape.is_array()) refuse(fmt::format("{}: its shape is no list of axes", tensor_name));
    if (shape.is_array())
      for (const json& extent : shape) {
        if (!extent.is_string()) refuse(fmt::format("{}: an extent of its shape is no axis", tensor_name));
        result.shape.push_back(extent.get<std::string>());
        bool found = false;
        for (const auto& each : definition.axes) found = found || each.name == result.shape.back();
        if (!found) refuse(fmt::format("{}: there is no axis {}", tensor_name, result.shape.back()));
      }
    return result;
  }
};

Workload::Tolerance tolerance_of(const Reader& reader, const json& value) {
  Workload::Tolerance result;
  result.absolute = value.value("max_atol", 1e-2);
  result.relative = value.value("max_rtol", 1e-2);
  result.matched = value.value("required_matched_ratio", 0.99);
  if (value.value("allow_negative_inf", false)) reader.refuse("a tolerance with allow_negative_inf is not understood");
  return result;
}

Workload::Input input_of(const Reader& reader, const Definition::Tensor& tensor, const json& value) {
  const std::string kind = value.is_object() ? value.value("type", "") : "";
  Workload::Input input;
  if (kind == "scalar") {
    input.kind = Workload::Input::Kind::scalar;
    const json& number = reader.field(value, "value", "a scalar");
    if (!number.is_number() && !number.is_boolean()) reader.refuse(fmt::format("the scalar {} is no number", tensor.name));
    input.value = number.is_boolean() ? (number.get<bool>() ? "1" : "0") : number.dump();
  } else if (kind == "safetensors") {
    input.kind = Workload::Input::Kind::file;
    input.path = reader.word(value, "path", "a safetensors input");
    input.key = reader.word(value, "tensor_key", "a safetensors input");
  } else if (kind == "custom") {
    reader.refuse(fmt::format("the input {} is made by the definition's own function (\"custom\"), which is not understood; save it as a safetensors file", tensor.name));
  } else if (kind != "random") {
    reader.refuse(fmt::format("the input {}: its type \"{}\" is not understood; random, scalar and safetensors are", tensor.name, kind));
  }
  if (tensor.scalar != (input.kind == Workload::Input::Kind::scalar))
    reader.refuse(tensor.scalar ? fmt::format("the scalar {} is {}; it needs a value", tensor.name, kind) : fmt::format("the tensor {} is given as a scalar", tensor.name));
  return input;
}

}  // namespace

const Definition::Axis& Definition::axis(const std::string& wanted) const {
  for (const Axis& each : axes)
    if (each.name == wanted) return each;
  throw base::Error(base::Fault::internal, fmt::format("no axis {}", wanted));
}

bool is_definition(std::string_view path) { return path.ends_with(".json"); }

Definition read_definition(std::string_view text, const std::string& name) {
  const Reader reader{name};
  const json value = reader.parse(text);
  if (!value.contains("reference") || !value.contains("axes"))
    reader.refuse("it is no definition of FlashInfer Trace: it has no \"reference\" or no \"axes\"");
  Definition result;
  result.name = reader.word(value, "name", "the definition");
  result.reference = reader.word(value, "reference", "the definition");
  for (const auto& [axis, text_of_axis] : value["axes"].items()) result.axes.push_back(reader.axis(axis, text_of_axis));
  for (const auto& [tensor, type] : reader.field(value, "inputs", "the definition").items()) result.inputs.push_back(reader.tensor(tensor, type, result));
  for (const auto& [tensor, type] : reader.field(value, "outputs", "the definition").items()) result.outputs.push_back(reader.tensor(tensor, type, result));
  for (const auto& output : result.outputs)
    if (output.scalar) reader.refuse(fmt::format("the output {} is a Python number, which a kernel does not give", output.name));
  const auto constraints = value.find("constraints");
  result.constrained = constraints != value.end() && constraints->is_array() && !constraints->empty();
  return result;
}

std::vector<Workload> read_workloads(const Definition& definition, std::string_view lines, const std::string& name) {
  std::vector<Workload> result;
  int number = 0;
  for (const std::string& line : base::split_lines(lines)) {
    ++number;
    if (base::trim(line).empty()) continue;
    const Reader reader{fmt::format("{}:{}", name, number)};
    json value = reader.parse(line);
    if (value.contains("workload")) {   // a trace without a solution
      if (value.value("definition", definition.name) != definition.name) continue;
      const json inner = value["workload"];
      value = inner;
    }
    Workload workload;
    workload.uuid = value.value("uuid", "");
    for (const auto& [axis, extent] : reader.field(value, "axes", "a workload").items()) workload.axes[axis] = reader.whole(extent, "axis " + axis);
    for (const auto& axis : definition.axes)
      if (axis.kind == Kind::variable && !workload.axes.contains(axis.name)) reader.refuse(fmt::format("axis {} has no value", axis.name));
    const json inputs = value.contains("inputs") ? value["inputs"] : json::object();
    for (const auto& tensor : definition.inputs)
      workload.inputs[tensor.name] = input_of(reader, tensor, inputs.contains(tensor.name) ? inputs[tensor.name] : json{{"type", "random"}});
    if (value.contains("tolerance") && value["tolerance"].is_object()) workload.tolerance = tolerance_of(reader, value["tolerance"]);
    result.push_back(std::move(workload));
  }
  if (result.empty()) throw base::Error(base::Fault::bad_task, fmt::format("{}: it has no workload of {}", name, definition.name));
  return result;
}

}  // namespace cudal1::flashinfer
