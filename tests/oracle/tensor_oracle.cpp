// SPDX-License-Identifier: Apache-2.0
// Evaluates torch lines for compare_with_torch.py, and fills inputs for compare_with_generator.py.
//   tensor_oracle functions                                    every function's signature, one per line
//   tensor_oracle fill DTYPE DISTRIBUTION SEED STREAM COUNT    the bytes, on standard output
//   tensor_oracle evaluate < cases                             one JSON object per line in and out
#include "tensor/distribution.hpp"
#include "tensor/evaluate.hpp"

#include <cmath>
#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>

using namespace cudal1;
using nlohmann::json;

namespace {

// JSON has no infinity and no NaN.
json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}
double number(const json& value) {
  if (!value.is_string()) return value.get<double>();
  return value == "nan" ? NAN : value == "inf" ? INFINITY : -INFINITY;
}

json evaluate(const json& request) {
  std::vector<std::string> inputs, sizes, functions;
  std::map<std::string, tensor::Array> arrays;
  std::map<std::string, double> scalars;
  for (const auto& [name, each] : request.at("inputs").items()) {
    inputs.push_back(name);
    tensor::Array array{tensor::parse_dtype(each.at("dtype").get<std::string>()).value(), each.at("shape").get<std::vector<std::int64_t>>(), {}};
    for (const json& value : each.at("values")) array.values.push_back(number(value));
    arrays[name] = std::move(array);
  }
  for (const auto& [name, value] : request.at("sizes").items()) {
    sizes.push_back(name);
    scalars[name] = value.get<double>();
  }
  const auto graph = tensor::parse(request.at("line").get<std::string>(), inputs, sizes, {"C"});
  if (!graph) return {{"error", graph.error().message}};
  for (const tensor::Node& node : graph->nodes) functions.push_back(node.function);
  const auto result = tensor::evaluate(tensor::simplify(*graph), arrays, scalars, 2);
  if (!result) return {{"error", result.error().message}};
  const tensor::Array& c = result->at("C");
  json values = json::array();
  for (const double value : c.values) values.push_back(number(value));
  return {{"shape", c.shape}, {"dtype", tensor::name(c.dtype)}, {"values", values}, {"functions", functions}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "functions") {
    for (const std::string& each : tensor::functions()) std::cout << each << "\n";
    return 0;
  }
  if (mode == "fill" && argc == 7) {
    const auto dtype = tensor::parse_dtype(argv[2]);
    const auto distribution = tensor::parse_distribution(argv[3]);
    if (!dtype || !distribution) return 2;
    const std::size_t count = std::stoul(argv[6]);
    std::vector<std::byte> bytes(count * tensor::size_of(*dtype));
    tensor::fill(*dtype, *distribution, std::stoull(argv[4]), std::stoull(argv[5]), count, bytes.data());
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    return 0;
  }
  if (mode == "evaluate") {
    for (std::string line; std::getline(std::cin, line);) std::cout << evaluate(json::parse(line)).dump() << std::endl;
    return 0;
  }
  std::cerr << "tensor_oracle functions | fill DTYPE DISTRIBUTION SEED STREAM COUNT | evaluate\n";
  return 2;
}
