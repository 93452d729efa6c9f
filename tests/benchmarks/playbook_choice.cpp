// SPDX-License-Identifier: Apache-2.0
// bench_playbook_choice FOLDER…: the playbook's bandit on recorded scores. FOLDER is the --out of tests/figures/lines.py,
// whose table.json has every judged candidate with its score. Each way of choosing picks all candidates of a task in
// turn; printed is, over the tasks, the mean share of the best log speed-up that was found after so many picks, and how
// many picks it takes to come within 2 % of the best.
#include "base/file.hpp"
#include "base/random.hpp"
#include "playbook/choice.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>

using namespace cudal1;

namespace {

struct Recorded {
  std::string name;
  std::vector<playbook::Candidate> candidates;  // those with a score, in the playbook's order
  std::vector<double> scores;
};

std::vector<Recorded> read(const std::filesystem::path& folder) {
  std::vector<Recorded> result;
  const auto table = nlohmann::json::parse(base::read_file(folder / "table.json"));
  for (const auto& [name, row] : table.items()) {
    if (!row.contains("candidates")) continue;
    std::map<std::string, double> scores;
    for (const auto& each : row["candidates"]) scores[each[0].get<std::string>()] = each[1].get<double>();
    Recorded recorded{name, {}, {}};
    const task::Task task = task::load(folder / (name + ".cu"));
    for (auto& candidate : playbook::candidates_for(task).list) {
      const auto found = scores.find(candidate.id);
      if (found == scores.end()) continue;
      recorded.scores.push_back(std::max(found->second, 1.0));  // the reference is always there
      recorded.candidates.push_back(std::move(candidate));
    }
    // Where there is nothing to choose or to gain, every way is as good.
    if (recorded.scores.size() > 1 && *std::max_element(recorded.scores.begin(), recorded.scores.end()) > 1.02)
      result.push_back(std::move(recorded));
  }
  return result;
}

std::vector<std::size_t> by_bandit(const Recorded& task) {
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
    tried.judgement.speedup = outcome::Speedup{task.scores[*chosen], task.scores[*chosen], task.scores[*chosen]};
    question.earlier.push_back(tried);
    ++question.key.round;
  }
  return order;
}

std::vector<std::size_t> by_prediction(const Recorded& task) {
  std::vector<std::size_t> order(task.scores.size());
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
  std::array<double, picks.size()> share{};
  double to_best = 0;
};

Found follow(const Recorded& task, const std::vector<std::size_t>& order) {
  const double best = *std::max_element(task.scores.begin(), task.scores.end());
  Found result;
  double so_far = 1;
  for (std::size_t i = 0; i < std::max(order.size(), picks.back()); ++i) {
    if (i < order.size()) so_far = std::max(so_far, task.scores[order[i]]);
    if (so_far < best / 1.02) result.to_best = static_cast<double>(i + 2);
    for (std::size_t k = 0; k < picks.size(); ++k)
      if (picks[k] == i + 1) result.share[k] = std::log(so_far) / std::log(best);
  }
  result.to_best = std::max(result.to_best, 1.0);
  return result;
}

void print(const char* name, const std::vector<Recorded>& tasks, const std::function<std::vector<std::size_t>(const Recorded&)>& choose,
           int times) {
  Found mean;
  const double weight = 1.0 / (static_cast<double>(tasks.size()) * times);
  for (const Recorded& task : tasks)
    for (int i = 0; i < times; ++i) {
      const Found found = follow(task, choose(task));
      for (std::size_t k = 0; k < picks.size(); ++k) mean.share[k] += weight * found.share[k];
      mean.to_best += weight * found.to_best;
    }
  std::printf("| %s |", name);
  for (const double share : mean.share) std::printf(" %.1f %% |", 100 * share);
  std::printf(" %.2f |\n", mean.to_best);
}

}  // namespace

int main(int count, char** words) {
  std::vector<Recorded> tasks;
  for (int i = 1; i < count; ++i)
    for (Recorded& each : read(words[i])) tasks.push_back(std::move(each));
  if (tasks.empty()) return std::fprintf(stderr, "no recorded scores: name folders that lines.py --out made\n"), 2;
  std::printf("%zu tasks, %.1f candidates each\n| chosen |", tasks.size(),
              std::accumulate(tasks.begin(), tasks.end(), 0.0, [](double sum, const Recorded& task) {
                return sum + static_cast<double>(task.scores.size());
              }) / static_cast<double>(tasks.size()));
  for (const std::size_t each : picks) std::printf(" %zu |", each);
  std::printf(" picks to the best |\n");
  base::Random random(1);
  print("bandit", tasks, by_bandit, 1);
  print("by expected time", tasks, by_prediction, 1);
  print("at random", tasks, [&](const Recorded& task) { return at_random(task, random); }, 1000);
}
