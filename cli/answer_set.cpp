// SPDX-License-Identifier: Apache-2.0
#include "answer_set.hpp"

#include "sweep_tasks.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{1} << 30;

// Scores of CUDA-L1's release, by what they compare with.
constexpr std::pair<const char*, const char*> scores[] = {{"score", "eager"},
                                                          {"score_default", "eager"},
                                                          {"score_torch_compile_default", "compile"},
                                                          {"score_torch_compile_reduce_overhead", "reduce-overhead"},
                                                          {"score_cuda_graph", "graph"},
                                                          {"score_cudnn", "cudnn"}};

[[noreturn]] void refuse(const std::string& message) { throw base::Error(base::Fault::bad_input, message); }

// CUDA-L1 writes "None" where there is no code.
std::optional<std::string> code_in(std::string text) {
  const auto words = base::trim(text);
  if (words.empty() || words == "None") return std::nullopt;
  return text;
}

// A number, also one that is written as text; 0: none.
double number_in(const json& entry, const char* name) {
  const auto found = entry.find(name);
  if (found == entry.end()) return 0;
  if (found->is_number()) return found->get<double>();
  return found->is_string() ? std::strtod(found->get_ref<const std::string&>().c_str(), nullptr) : 0;
}

std::string text_in(const json& entry, const char* name) {
  const auto found = entry.find(name);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

PublishedAnswer entry_of(const json& entry, int level, const std::string& origin) {
  if (!entry.is_object() || !entry.contains("custom_code") || !entry.contains("task_id"))
    refuse(fmt::format("{}: an entry needs task_id and custom_code, as CUDA-L1's release has them", origin));
  PublishedAnswer answer;
  answer.level = level > 0 ? level : static_cast<int>(number_in(entry, "level_id"));
  answer.id = static_cast<int>(number_in(entry, "task_id"));
  answer.origin = origin;
  answer.source = code_in(text_in(entry, "custom_code"));
  answer.task = text_in(entry, "ref_code");
  for (const auto& [name, baseline] : scores)
    if (const double claim = number_in(entry, name); claim > 0) answer.claimed[baseline] = claim;
  if (answer.level < 1 || answer.id < 1) refuse(fmt::format("{}: its level or task is no number from 1", origin));
  return answer;
}

std::vector<PublishedAnswer> in_json(const fs::path& file) {
  const std::string text = base::read_file(file, most_bytes), name = file.filename().string();
  std::vector<PublishedAnswer> result;
  if (const json whole = json::parse(text, nullptr, false); whole.is_object() && !whole.contains("task_id")) {
    for (const auto& [level, entries] : whole.items()) {
      const int number = std::atoi(level.c_str());
      if (number < 1 || !entries.is_array()) refuse(fmt::format("{}: \"{}\" is no level with a list of answers", file.string(), level));
      for (const json& entry : entries) result.push_back(entry_of(entry, number, fmt::format("{}:{}:{}", name, level, result.size() + 1)));
    }
    return result;
  }
  int number = 0;
  for (const auto& line : base::split_lines(text)) {
    ++number;
    if (base::trim(line).empty()) continue;
    const json entry = json::parse(line, nullptr, false);
    if (entry.is_discarded()) refuse(fmt::format("{}:{}: no JSON; expected CUDA-L1's release, one answer a line, or a folder", file.string(), number));
    result.push_back(entry_of(entry, 0, fmt::format("{}:{}", name, number)));
  }
  return result;
}

// What KernelBench measured of the answers in a folder: the reference's time over the answer's, by problem and sample.
std::map<std::pair<int, int>, double> evaluated(const fs::path& folder) {
  std::map<std::pair<int, int>, double> result;
  const fs::path file = folder / "eval_results.json";
  if (!fs::exists(file)) return result;
  const json all = json::parse(base::read_file(file), nullptr, false);
  if (!all.is_object()) refuse(fmt::format("{} is no JSON object", file.string()));
  for (const auto& [problem, entries] : all.items())
    for (const json& entry : entries.is_array() ? entries : json::array({entries})) {
      const double own = number_in(entry, "runtime"), reference = number_in(entry, "ref_runtime");
      if (own > 0 && reference > 0) result[{std::atoi(problem.c_str()), static_cast<int>(number_in(entry, "sample_id"))}] = reference / own;
    }
  return result;
}

std::vector<PublishedAnswer> in_folder(const fs::path& root) {
  std::vector<PublishedAnswer> result;
  std::map<fs::path, std::map<std::pair<int, int>, double>> measured;
  for (const auto& each : fs::recursive_directory_iterator(root)) {
    if (!each.is_regular_file() || each.path().extension() != ".py") continue;
    PublishedAnswer answer;
    answer.source = code_in(base::read_file(each.path()));
    answer.origin = each.path().lexically_relative(root).generic_string();
    const std::string name = each.path().filename().string();
    int end = 0;
    const bool of_a_run = std::sscanf(name.c_str(), "level_%d_problem_%d_sample_%d_kernel.py%n", &answer.level, &answer.id, &answer.sample, &end) == 3 &&
                          end == static_cast<int>(name.size());
    if (!of_a_run && answer.source && answer.source->find("class ModelNew") == std::string::npos) continue;
    if (of_a_run) {
      const fs::path folder = each.path().parent_path();
      if (!measured.contains(folder)) measured[folder] = evaluated(folder);
      if (const auto found = measured[folder].find({answer.id, answer.sample}); found != measured[folder].end()) answer.claimed["eager"] = found->second;
    } else {
      const SweepTask place = task_at(each.path(), root);
      answer.level = place.level;
      answer.id = place.id;
      answer.path = place.key;
    }
    result.push_back(std::move(answer));
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return std::tie(a.level, a.id, a.sample, a.origin) < std::tie(b.level, b.id, b.sample, b.origin);
  });
  return result;
}

}  // namespace

std::vector<PublishedAnswer> read_answers(const fs::path& place) {
  auto result = fs::is_directory(place) ? in_folder(place) : in_json(place);
  if (result.empty())
    refuse(fmt::format("{} holds no answers: no lines of CUDA-L1's release, no level_L_problem_P_sample_S_kernel.py and no file with a ModelNew",
                       place.string()));
  return result;
}

}  // namespace cudal1::cli
