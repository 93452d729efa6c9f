// SPDX-License-Identifier: Apache-2.0
#include "model/quirks.hpp"

#include "base/error.hpp"
#include "base/file.hpp"

#include <nlohmann/json.hpp>

namespace cudal1::model {

namespace {

using nlohmann::json;

constexpr const char* role = "developer";  // stands for the role of the fixed rules

}  // namespace

std::optional<Quirks::value_type> remedy_for(const std::string& field) {
  if (field == "max_tokens") return Quirks::value_type{field, "max_completion_tokens"};
  if (field == "max_completion_tokens") return Quirks::value_type{field, "max_tokens"};
  if (field.starts_with("messages") && field.ends_with("role")) return Quirks::value_type{role, "system"};
  const std::string top = field.substr(0, field.find_first_of(".["));
  for (const char* optional : {"stream_options", "usage", "reasoning_effort", "reasoning", "thinking", "output_config", "seed", "temperature", "top_p"})
    if (top == optional) return Quirks::value_type{top, ""};
  return std::nullopt;
}

std::string with_quirks(const std::string& body, const Quirks& quirks) {
  if (quirks.empty()) return body;
  auto request = nlohmann::ordered_json::parse(body);
  for (const auto& [field, instead] : quirks) {
    if (field == role) {
      for (auto& message : request["messages"])
        if (message["role"] == role) message["role"] = instead;
    } else if (request.contains(field)) {
      if (!instead.empty()) request[instead] = request[field];
      request.erase(field);
    }
  }
  return request.dump();
}

Quirks QuirkStore::of(const std::string& service) {
  const std::lock_guard lock(mutex_);
  if (const auto found = learned_.find(service); found != learned_.end()) return found->second;
  return learned_[service] = read()[service];
}

void QuirkStore::learn(const std::string& service, const Quirks::value_type& quirk) {
  const std::lock_guard lock(mutex_);
  learned_[service].insert(quirk);
  if (file_.empty()) return;
  try {
    std::filesystem::create_directories(file_.parent_path());
    const base::FileLock others(file_.string() + ".lock");
    auto all = read();
    all[service].insert(quirk);
    base::write_file(file_, json(all).dump(2) + "\n");
  } catch (const std::exception&) {
    // A place that cannot be written costs one more request in the next run, nothing else.
  }
}

std::map<std::string, Quirks> QuirkStore::read() const {
  std::error_code none;
  if (file_.empty() || !std::filesystem::exists(file_, none)) return {};
  try {
    return json::parse(base::read_file(file_)).get<std::map<std::string, Quirks>>();
  } catch (const std::exception&) {
    return {};  // a damaged cache is no cache
  }
}

}  // namespace cudal1::model
