// SPDX-License-Identifier: Apache-2.0
#include "search/lessons.hpp"

#include "outcome/verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace cudal1::search {

namespace {

struct Record {
  int tries = 0, right = 0;
  double best = 0;          // score
  double sum = 0;           // of log scores, failures as a halving
  std::string best_id;
  std::string fault;        // the latest
};

constexpr double failure_log_score = -0.7;

std::map<std::string, Record> records(const std::vector<Variant>& variants) {
  std::map<std::string, Record> result;
  for (const auto& variant : variants) {
    if (variant.status != Variant::Status::judged) continue;
    const double score = variant.judgement.score();
    for (const auto& technique : variant.techniques) {
      auto& record = result[technique];
      ++record.tries;
      record.sum += score > 0 ? std::log(score) : failure_log_score;
      if (score > 0) ++record.right;
      if (score > record.best) {
        record.best = score;
        record.best_id = variant.id;
      }
      if (!variant.right()) record.fault = outcome::name(variant.judgement.verdict);
    }
  }
  return result;
}

// The moves that matter on a GPU, in the order in which they are suggested before anything is known.
constexpr std::array<std::string_view, 10> techniques = {
    "algebra",          "fusion",          "coalesced access", "vectorised access", "shared-memory tiling",
    "register tiling",  "warp reduction",  "tensor cores",     "asynchronous copy", "launch configuration"};

}  // namespace

std::vector<std::string> lessons(const std::vector<Variant>& variants, std::size_t most) {
  const auto all = records(variants);
  std::vector<std::pair<std::string, Record>> ranked(all.begin(), all.end());
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return std::pair(-a.second.best, std::string_view(a.first)) < std::pair(-b.second.best, std::string_view(b.first));
  });
  std::vector<std::string> lines;
  for (const auto& [technique, record] : ranked) {
    if (lines.size() == most) break;
    std::string line = fmt::format("{}: tried {}×, right {}×", technique, record.tries, record.right);
    if (record.right > 0) line += fmt::format(", best {:.2f}× ({})", record.best, record.best_id);
    if (!record.fault.empty()) line += fmt::format(", last fault {}", record.fault);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string suggest_technique(const std::vector<Variant>& variants, int sample) {
  if (sample < 2) return {};
  const auto all = records(variants);
  double tries = 1;
  for (const auto& [_, record] : all) tries += record.tries;
  std::vector<std::pair<double, std::size_t>> ranked;  // by falling bound, then in the order of the list
  for (std::size_t index = 0; index < techniques.size(); ++index) {
    const auto found = all.find(std::string(techniques[index]));
    const double n = found == all.end() ? 0 : found->second.tries;
    const double mean = n > 0 ? found->second.sum / n : 0;
    ranked.emplace_back(-(mean + std::sqrt(2 * std::log(1 + tries) / (1 + n))), index);
  }
  std::sort(ranked.begin(), ranked.end());
  return std::string(techniques[ranked[static_cast<std::size_t>(sample - 2) % ranked.size()].second]);
}

}  // namespace cudal1::search
