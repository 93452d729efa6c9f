// SPDX-License-Identifier: Apache-2.0
#include "search/lessons.hpp"

#include "outcome/verdict.hpp"
#include "search/technique.hpp"

#include <algorithm>
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
  std::string best_id;
  std::string fault;        // the latest
};

// A technique that nobody used is taken for middling.
constexpr double unknown_share = 0.5;

double gain(const Variant& variant) { return std::log(std::max(variant.judgement.score(), 1.0)); }

std::map<std::string, Record> records(const std::vector<Variant>& variants) {
  std::map<std::string, Record> result;
  for (const auto& variant : variants) {
    if (variant.status != Variant::Status::judged) continue;
    const double score = variant.judgement.score();
    for (const auto& technique : variant.techniques) {
      auto& record = result[technique];
      ++record.tries;
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
  double best = 0, all = 0;
  for (const auto& variant : variants) {
    if (variant.status != Variant::Status::judged) continue;
    all += 1;
    best = std::max(best, gain(variant));
  }
  const auto bound = [&](const Technique& technique) {
    double tries = 0, sum = 0;
    for (const auto& variant : variants) {
      if (variant.status != Variant::Status::judged || !technique.used_by(variant)) continue;
      tries += 1;
      sum += gain(variant);
    }
    const double share = tries > 0 && best > 0 ? sum / tries / best : tries > 0 ? 0 : unknown_share;
    return share + std::sqrt(2 * std::log(1 + all) / (1 + tries));
  };
  std::vector<std::pair<double, std::size_t>> ranked;  // by falling bound, then in the order of the list
  for (std::size_t index = 0; index < techniques().size(); ++index) ranked.emplace_back(-bound(techniques()[index]), index);
  std::sort(ranked.begin(), ranked.end());
  return std::string(techniques()[ranked[static_cast<std::size_t>(sample - 2) % ranked.size()].second].name());
}

}  // namespace cudal1::search
