// SPDX-License-Identifier: Apache-2.0
// bench_playbook_choice TIMES FOLDER: ways of choosing the next candidate, on measured times. TIMES is what tests/figures/candidate_times.py
// printed for the tasks in FOLDER. Each way of choosing picks all candidates of a task in turn; printed is how much slower
// than the best of all the best is that was found after so many picks (geometric mean over the tasks), and how many picks it
// takes to come within 2 % of the best.
#include "base/file.hpp"
#include "base/random.hpp"
#include "playbook/choice.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>

using namespace cudal1;

namespace {

struct Recorded {
  std::vector<playbook::Candidate> candidates;  // those with a time, in the playbook's order
  std::vector<double> milliseconds;
};

std::vector<Recorded> read(const std::filesystem::path& times, const std::filesystem::path& folder) {
  std::vector<Recorded> result;
  std::istringstream lines(base::read_file(times));
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    if (!row.contains("members")) continue;
    std::map<std::string, double> fastest;
    for (const auto& member : row["members"]) {
      if (!member.value("right", false)) continue;
      const auto [place, fresh] = fastest.try_emplace(member["id"].get<std::string>(), member["ms"].get<double>());
      place->second = std::min(place->second, member["ms"].get<double>());
    }
    Recorded recorded;
    const task::Task task = task::load(folder / (row["task"].get<std::string>() + ".cu"));
    for (auto& candidate : playbook::candidates_for(task).list) {
      const auto found = fastest.find(candidate.id);
      if (found == fastest.end()) continue;
      recorded.milliseconds.push_back(found->second);
      recorded.candidates.push_back(std::move(candidate));
    }
    if (recorded.milliseconds.size() > 1) result.push_back(std::move(recorded));
  }
  return result;
}

std::vector<std::size_t> by_playbook(const Recorded& task) {
  model::Question question;
  question.samples = 1;
  question.device.memory_bytes_per_second = 4.8e12;
  question.device.fp32_flops = 6e13;
  std::vector<std::size_t> order;
  while (const auto chosen = playbook::choose(task.candidates, question)) {
    order.push_back(*chosen);
    model::Exemplar tried;
    tried.source = task.candidates[*chosen].source;
    tried.judgement.verdict = outcome::Verdict::faster;
    const double speedup = 100 / task.milliseconds[*chosen];
    tried.judgement.speedup = outcome::Speedup{speedup, speedup, speedup};
    question.earlier.push_back(tried);
    ++question.key.round;
  }
  return order;
}

// A bandit over techniques: what was tried moves the candidates that share its techniques up or down, shrunk towards no
// effect while there are few tries, with a bonus for what is little known.
std::vector<std::size_t> by_bandit(const Recorded& task) {
  std::vector<std::size_t> order{0};
  while (order.size() < task.candidates.size()) {
    double mean = 0;
    for (const std::size_t tried : order) mean -= std::log(task.milliseconds[tried]) / static_cast<double>(order.size());
    std::map<std::string, std::pair<double, int>> arms;  // sum of log scores less their mean, tries
    for (const std::size_t tried : order)
      for (const auto& technique : task.candidates[tried].techniques) {
        auto& [sum, tries] = arms[technique.name()];
        sum -= std::log(task.milliseconds[tried]) + mean;
        ++tries;
      }
    std::optional<std::size_t> best;
    double most = 0;
    for (std::size_t i = 0; i < task.candidates.size(); ++i) {
      if (std::find(order.begin(), order.end(), i) != order.end()) continue;
      const playbook::Candidate& candidate = task.candidates[i];
      double value = -std::log(playbook::expected_seconds(candidate, {}));
      for (const auto& technique : candidate.techniques) {
        const auto& [sum, tries] = arms[technique.name()];
        value += (sum + 0.3 * std::sqrt(std::log(1.0 + static_cast<double>(order.size())) * (tries + 1))) / (tries + 1) /
                 static_cast<double>(candidate.techniques.size());
      }
      if (!best || value > most) best = i, most = value;
    }
    order.push_back(*best);
  }
  return order;
}

std::vector<std::size_t> by_prediction(const Recorded& task) {
  std::vector<std::size_t> order(task.milliseconds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::vector<std::size_t> at_random(const Recorded& task, base::Random& random) {
  auto order = by_prediction(task);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

constexpr std::array<std::size_t, 6> picks = {1, 2, 3, 4, 6, 8};

struct Found {
  std::array<double, picks.size()> excess{};  // logarithm of time over the best
  double to_best = 0;
};

Found follow(const Recorded& task, const std::vector<std::size_t>& order) {
  const double best = *std::min_element(task.milliseconds.begin(), task.milliseconds.end());
  Found result;
  double so_far = task.milliseconds[order[0]];
  for (std::size_t i = 0; i < std::max(order.size(), picks.back()); ++i) {
    if (i < order.size()) so_far = std::min(so_far, task.milliseconds[order[i]]);
    if (so_far > best * 1.02 && i < order.size()) result.to_best = static_cast<double>(i + 1);
    for (std::size_t k = 0; k < picks.size(); ++k)
      if (picks[k] == i + 1) result.excess[k] = std::log(so_far / best);
  }
  ++result.to_best;
  return result;
}

void print(const char* name, const std::vector<Recorded>& tasks, const std::function<std::vector<std::size_t>(const Recorded&)>& choose,
           int times) {
  Found mean;
  const double weight = 1.0 / (static_cast<double>(tasks.size()) * times);
  for (const Recorded& task : tasks)
    for (int i = 0; i < times; ++i) {
      const Found found = follow(task, choose(task));
      for (std::size_t k = 0; k < picks.size(); ++k) mean.excess[k] += weight * found.excess[k];
      mean.to_best += weight * found.to_best;
    }
  std::printf("| %s |", name);
  for (const double excess : mean.excess) std::printf(" %.2f %% |", 100 * (std::exp(excess) - 1));
  std::printf(" %.2f |\n", mean.to_best);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return std::fprintf(stderr, "usage: bench_playbook_choice TIMES FOLDER\n"), 2;
  const std::vector<Recorded> tasks = read(words[1], words[2]);
  if (tasks.empty()) return std::fprintf(stderr, "%s has no task with two candidates\n", words[1]), 2;
  double candidates = 0;
  for (const Recorded& task : tasks) candidates += static_cast<double>(task.milliseconds.size());
  std::printf("%zu tasks, %.1f candidates each\n| chosen |", tasks.size(), candidates / static_cast<double>(tasks.size()));
  for (const std::size_t each : picks) std::printf(" %zu |", each);
  std::printf(" picks to the best |\n");
  base::Random random(1);
  print("by expected time", tasks, by_prediction, 1);
  print("the same without what should take far longer: the playbook", tasks, by_playbook, 1);
  print("by a bandit over techniques", tasks, by_bandit, 1);
  print("at random", tasks, [&](const Recorded& task) { return at_random(task, random); }, 1000);
}
