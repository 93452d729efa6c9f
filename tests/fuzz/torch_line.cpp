// SPDX-License-Identifier: Apache-2.0
// Whatever the line, reading, printing, inferring, simplifying and evaluating it end with a value or a diagnostic; a
// printed line reads back as itself; and the simplified line has the same types and values.
#include "tensor/evaluate.hpp"
#include "tensor/graph.hpp"
#include "tensor/shape.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace cudal1;

namespace {

void require(bool holds, const char* what, const std::string& line) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, line.c_str());
  std::abort();
}

struct Input {
  const char* name;
  tensor::Dtype dtype;
  std::vector<const char*> shape;
};
const Input inputs[] = {
    {"A", tensor::Dtype::float32, {"N", "M"}},      {"B", tensor::Dtype::float32, {"M", "N"}},   {"X", tensor::Dtype::float32, {"2", "4", "N", "M"}},
    {"W", tensor::Dtype::float16, {"2", "4", "K", "K"}}, {"v", tensor::Dtype::float64, {"M"}},  {"i", tensor::Dtype::int64, {"N"}},
    {"m", tensor::Dtype::bool_, {"N", "M"}},        {"e", tensor::Dtype::float32, {"N", "0"}},
};
const std::map<std::string, std::int64_t> first = {{"N", 3}, {"M", 4}, {"K", 2}}, second = {{"N", 5}, {"M", 2}, {"K", 1}};

std::int64_t extent(const char* text, const tensor::Sizes& sizes) {
  const auto found = sizes.find(text);
  return found != sizes.end() ? found->second : std::atoi(text);
}

tensor::Array array(const Input& input) {
  tensor::Array result{input.dtype, {}, {}};
  std::size_t count = 1;
  for (const char* text : input.shape) {
    result.shape.push_back(extent(text, first));
    count *= static_cast<std::size_t>(result.shape.back());
  }
  for (std::size_t k = 0; k < count; ++k) {
    const int k3 = static_cast<int>(k % 3);
    result.values.push_back(tensor::is_floating(input.dtype) ? 0.5 * k3 - 0.25 * static_cast<double>(k % 5) : k3 % 2);
  }
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string line(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> names;
  std::map<std::string, tensor::Type> types;
  std::map<std::string, tensor::Array> arrays;
  for (const Input& input : inputs) {
    names.emplace_back(input.name);
    tensor::Type type{input.dtype, {}};
    for (const char* text : input.shape) type.shape.push_back({text, {extent(text, first), extent(text, second)}});
    types[input.name] = type;
    arrays[input.name] = array(input);
  }
  const std::vector<std::string> sizes = {"N", "M", "K", "alpha"};
  const auto graph = tensor::parse(line, names, sizes, {"C"});
  if (!graph) return 0;

  const std::string text = tensor::to_string(*graph);
  const auto again = tensor::parse(text, names, sizes, {"C"});
  require(again.has_value(), "the printed line does not parse", text + (again ? "" : ": " + again.error().message));
  require(tensor::to_string(*again) == text, "the printed line reads back as another", text);
  const tensor::Graph simple = tensor::simplify(*graph);
  const std::string simple_text = tensor::to_string(simple);
  const auto simple_again = tensor::parse(simple_text, names, sizes, {"C"});
  require(simple_again.has_value() && tensor::to_string(*simple_again) == simple_text, "the simplified line does not read back", simple_text);

  const auto inferred = tensor::infer(*graph, types, {first, second});
  const auto at_first = [&] {
    std::map<std::string, tensor::Type> result;
    for (const Input& input : inputs) {
      tensor::Type type{input.dtype, {}};
      for (const char* each : input.shape) type.shape.push_back({each, {extent(each, first)}});
      result[input.name] = type;
    }
    return result;
  }();
  const auto one = tensor::infer(*graph, at_first, {first});
  if (inferred) require(one.has_value(), "two assignments fit but one does not", text);
  if (!one) return 0;
  double elements = 0;
  for (const tensor::Type& type : *one) {
    double count = 1;
    for (const tensor::Extent& each : type.shape) count *= static_cast<double>(each.values[0]);
    elements += count;
  }
  if (elements > 20000 || tensor::operations(*graph, *one, 0) > 1e6) return 0;
  const auto result = tensor::evaluate(*graph, arrays, {{"N", 3}, {"M", 4}, {"K", 2}, {"alpha", 0.5}});
  if (!result) return 0;
  const tensor::Array& c = result->at("C");
  const tensor::Type& type = one->at(static_cast<std::size_t>(graph->outputs[0].second));
  require(type.shape.size() == c.shape.size(), "inference and evaluation differ in rank", text);
  for (std::size_t k = 0; k < c.shape.size(); ++k) require(type.shape[k].values[0] == c.shape[k], "inference and evaluation differ", text);
  const auto simplified = tensor::evaluate(simple, arrays, {{"N", 3}, {"M", 4}, {"K", 2}, {"alpha", 0.5}});
  require(simplified.has_value(), "the simplified line cannot be evaluated", text);
  const tensor::Array& d = simplified->at("C");
  require(c.shape == d.shape, "simplification changes the shape", text);
  for (std::size_t k = 0; k < c.values.size(); ++k)
    require(c.values[k] == d.values[k] || (std::isnan(c.values[k]) && std::isnan(d.values[k])), "simplification changes a value", text);
  return 0;
}
