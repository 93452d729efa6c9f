// SPDX-License-Identifier: Apache-2.0
#include "docket/exemplars.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::docket {

namespace {

using json = nlohmann::ordered_json;

std::string to_line(const search::Variant& variant) {
  const json line{{"schema", 1},
                  {"fingerprint", variant.id},
                  {"source", variant.source},
                  {"analysis", variant.analysis},
                  {"design", variant.design},
                  {"techniques", variant.techniques},
                  {"judgement", json::parse(outcome::to_json(variant.judgement))}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<search::Variant> parse(const std::string& text) {
  const json line = json::parse(text, nullptr, false);
  if (line.is_discarded()) return std::nullopt;   // cut short by a kill
  try {
    search::Variant variant;
    variant.id = line.at("fingerprint").get<std::string>();
    variant.source = line.at("source").get<std::string>();
    variant.analysis = line.at("analysis").get<std::string>();
    variant.design = line.at("design").get<std::string>();
    variant.techniques = line.at("techniques").get<std::vector<std::string>>();
    variant.judgement = outcome::judgement_from_json(line.at("judgement").dump());
    return variant;
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

}  // namespace

Exemplars::Exemplars(std::filesystem::path folder, std::string identity) : folder_(std::move(folder)), identity_(std::move(identity)) {
  if (folder_.empty()) return;
  std::error_code code;
  std::filesystem::create_directories(folder_, code);
  if (code) throw base::Error(base::Fault::not_written, fmt::format("--store {}: {}", folder_.string(), code.message()));
}

std::filesystem::path Exemplars::file(const TaskText& task) const {
  return folder_ / (base::sha256(task.key + '\n' + identity_).substr(0, 24) + ".jsonl");
}

const std::vector<search::Variant>& Exemplars::load(const TaskText& task) {
  const auto [known, fresh] = tasks_.try_emplace(task.key);
  std::error_code missing;
  if (!fresh || folder_.empty() || !std::filesystem::exists(file(task), missing)) return known->second;
  const std::string text = base::read_file(file(task), std::size_t{4} << 30);
  for (const std::string& line : base::split_lines(text))
    if (const auto variant = parse(line)) put(task.key, *variant);
  // What a kill cut short must not spoil the next line.
  if (!text.empty() && text.back() != '\n') base::AppendFile(file(task)).append("\n");
  return known->second;
}

void Exemplars::put(const std::string& task_key, const search::Variant& variant) {
  auto& known = tasks_[task_key];
  const auto same = std::find_if(known.begin(), known.end(), [&](const search::Variant& other) { return other.id == variant.id; });
  if (same == known.end()) known.push_back(variant);
  else *same = variant;
}

void Exemplars::add(const TaskText& task, const search::Variant& variant) {
  put(task.key, variant);
  if (folder_.empty()) return;
  auto& file_of = files_[task.key];
  if (!file_of) file_of = std::make_unique<base::AppendFile>(file(task));
  file_of->append(to_line(variant));
}

const std::vector<search::Variant>& Exemplars::of(const std::string& task_key) const {
  static const std::vector<search::Variant> none;
  const auto known = tasks_.find(task_key);
  return known == tasks_.end() ? none : known->second;
}

}  // namespace cudal1::docket
