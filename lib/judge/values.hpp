// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/lender.hpp"
#include "kernel/plan.hpp"
#include "outcome/binary.hpp"
#include "outcome/device_facts.hpp"
#include "outcome/judgement.hpp"
#include "outcome/task_finding.hpp"
#include "task/task.hpp"
#include "verify/check.hpp"

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

// Plain values as CBOR objects, for this part's own messages. Private to the part.
namespace cudal1::judge {

using nlohmann::json;

json to(const outcome::ResourceFacts& facts);
json to(const outcome::Binary& binary);
json to(const outcome::DeviceFacts& facts);
json to(const outcome::ErrorFigures& errors);
json to(const outcome::Finding& finding);
json to(const outcome::TaskFinding& finding);
json to(const outcome::Counters& counters);
json to(const outcome::LineCounters& lines);
json to(const std::optional<outcome::Verdict>& verdict);
json to(const kernel::PlanBuffer& buffer);
json to(const kernel::PlanStep& step);
json to(const kernel::Plan& plan);
json to(const task::Workload& workload);
json to(const device::Sample& sample);
json to(const device::Lent& lent);
json to(const device::Prediction& prediction);
json to(const verify::Evidence& evidence);

void from(const json& value, outcome::ResourceFacts& facts);
void from(const json& value, outcome::Binary& binary);
void from(const json& value, outcome::DeviceFacts& facts);
void from(const json& value, outcome::ErrorFigures& errors);
void from(const json& value, outcome::Finding& finding);
void from(const json& value, outcome::TaskFinding& finding);
void from(const json& value, outcome::Counters& counters);
void from(const json& value, outcome::LineCounters& lines);
void from(const json& value, std::optional<outcome::Verdict>& verdict);
void from(const json& value, kernel::PlanBuffer& buffer);
void from(const json& value, kernel::PlanStep& step);
void from(const json& value, kernel::Plan& plan);
void from(const json& value, task::Workload& workload);
void from(const json& value, device::Sample& sample);
void from(const json& value, device::Lent& lent);
void from(const json& value, device::Prediction& prediction);
void from(const json& value, verify::Evidence& evidence);

template <typename T>
json to_array(const std::vector<T>& values) {
  json result = json::array();
  for (const T& value : values) result.push_back(to(value));
  return result;
}

template <typename T>
void from_array(const json& value, std::vector<T>& values) {
  for (const json& element : value) from(element, values.emplace_back());
}

}  // namespace cudal1::judge
