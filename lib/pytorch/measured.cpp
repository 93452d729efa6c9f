// SPDX-License-Identifier: Apache-2.0
#include "pytorch/measured.hpp"

#include "tensor/rounding.hpp"

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

namespace cudal1::pytorch {

using json = nlohmann::json;

std::string rule_numbers() {
  json types = json::object();
  for (const tensor::Dtype dtype : {tensor::Dtype::float64, tensor::Dtype::float32, tensor::Dtype::float16, tensor::Dtype::bfloat16})
    types[std::string(tensor::name(dtype))] = {{"unit", tensor::unit_roundoff(dtype)}, {"least_step", reference::least_step(dtype)}};
  const json numbers = {{"rounding_rms", tensor::rounding_rms},    {"element_bound", reference::element_bound},   {"stray_share", reference::stray_share},
                        {"stray_bound", reference::stray_bound},   {"shortest_slice", reference::shortest_slice}, {"slice_bound", reference::slice_bound}, {"sound_factor", reference::sound_factor}, {"floor_share", reference::floor_share},
                        {"neighbours", reference::neighbours},     {"enough_runs", reference::enough_runs},       {"looked_at_alike", reference::looked_at_alike},
                        {"types", std::move(types)}};
  return numbers.dump();
}

reference::Deviation measured_deviation(const std::string& told) {
  const json value = json::parse(told);
  const auto number = [](const json& text) { return std::strtod(text.get_ref<const std::string&>().c_str(), nullptr); };   // "nan", "inf" too
  reference::Deviation result;
  result.whole = number(value.at("whole"));
  result.count = number(value.at("count"));
  for (const json& each : value.at("slices"))
    result.count = std::min(result.count, reference::independent_errors({number(each.at(0)), number(each.at(1)), number(each.at(2)), number(each.at(3))}));
  result.slice = number(value.at("slice"));
  result.slice_count = value.at("slice_count");
  result.slice_name = value.at("slice_name");
  result.element = number(value.at("element"));
  result.bias = number(value.at("bias"));
  result.alike = number(value.at("alike"));
  return result;
}

}  // namespace cudal1::pytorch
