// SPDX-License-Identifier: Apache-2.0
#include "judge/reference_json.hpp"

#include <nlohmann/json.hpp>

namespace cudal1::judge {

std::string times_json(const ReferenceFacts& reference) {
  nlohmann::ordered_json times = nlohmann::ordered_json::array();
  for (const ReferenceFacts::Time& time : reference.times)
    times.push_back({{"workload", time.workload}, {"time_ms", time.ms}, {"speed_of_light_ms", time.speed_of_light_ms}, {"limited_by", time.limited_by}});
  return times.dump();
}

std::vector<ReferenceFacts::Time> times_from_json(const std::string& text) {
  std::vector<ReferenceFacts::Time> times;
  for (const nlohmann::ordered_json& time : nlohmann::ordered_json::parse(text))
    times.push_back({time.at("workload"), time.at("time_ms"), time.at("speed_of_light_ms"), time.at("limited_by")});
  return times;
}

}  // namespace cudal1::judge
