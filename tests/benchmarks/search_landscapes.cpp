// SPDX-License-Identifier: Apache-2.0
// bench_search_landscapes [LANDSCAPES [SEEDS]]: the search without a model's luck. A landscape is a table of the 4096 sets
// of twelve techniques with their scores; the synthetic model mixes the techniques of the exemplars that it is shown, more
// often the better one's, and changes one or two, so better variants are reached from better exemplars. All else is the
// real search. Prints for each way of choosing exemplars the share of the best possible log speed-up that was found, and
// the paired difference to the default with its 95 % interval over landscapes.
#include "base/random.hpp"
#include "search/fakes.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace cudal1;

namespace {

constexpr int techniques = 12;
constexpr unsigned all_sets = 1u << techniques;

// Gains of single techniques, some of which harm; gains of pairs, a third of them not zero; and for every third
// technique another one without which it cannot be written.
class Landscape {
 public:
  explicit Landscape(std::uint64_t seed) {
    base::Random random(seed, 77);
    const auto between = [&](double low, double high) { return low + (high - low) * random.uniform(); };
    for (auto& gain : gains_) gain = between(-0.25, 0.45);
    for (int a = 0; a < techniques; ++a)
      for (int b = 0; b < a; ++b) pairs_[index(a)][index(b)] = random.below(3) == 0 ? between(-0.4, 0.4) : 0;
    for (int a = 0; a < techniques; a += 3) needs_[index(a)] = static_cast<int>(random.below(techniques));
    for (unsigned set = 0; set < all_sets; ++set)
      if (possible(set)) best_ = std::max(best_, log_score(set));
  }

  bool possible(unsigned set) const {
    for (int a = 0; a < techniques; ++a)
      if (has(set, a) && needs_[index(a)] >= 0 && !has(set, needs_[index(a)])) return false;
    return true;
  }
  double log_score(unsigned set) const {
    double sum = 0;
    for (int a = 0; a < techniques; ++a) {
      if (!has(set, a)) continue;
      sum += gains_[index(a)];
      for (int b = 0; b < a; ++b)
        if (has(set, b)) sum += pairs_[index(a)][index(b)];
    }
    return sum;
  }
  double best() const { return best_; }

 private:
  static bool has(unsigned set, int technique) { return (set >> technique & 1u) != 0; }
  static std::size_t index(int technique) { return static_cast<std::size_t>(technique); }
  std::array<double, techniques> gains_{};
  std::array<std::array<double, techniques>, techniques> pairs_{};
  std::array<int, techniques> needs_ = [] { std::array<int, techniques> none{}; none.fill(-1); return none; }();
  double best_ = 0;
};

unsigned set_of(const model::Exemplar& exemplar) {
  const auto word = fakes::word_after(exemplar.source, "set");
  return exemplar.id == "reference" ? 0u : static_cast<unsigned>(std::stoul(word));
}

model::Reply answer(const Landscape& landscape, const model::Question& question) {
  base::Random random(question.seed, 5);
  unsigned set = 0;
  if (!question.exemplars.empty()) {
    const unsigned better = set_of(question.exemplars.back()), other = set_of(question.exemplars.front());
    for (int technique = 0; technique < techniques; ++technique)
      set |= (random.below(4) == 0 ? other : better) & 1u << technique;
  }
  for (auto changes = 1 + random.below(2); changes > 0; --changes) set ^= 1u << random.below(techniques);
  const bool fails = !landscape.possible(set) || random.below(5) == 0;
  const auto words = fmt::format("set {} {}", set, fails ? "fault WRONG_RESULT" : "");
  return fakes::said(fakes::reply_text(fakes::variant_source(std::exp(landscape.log_score(set)), words)));
}

struct Way {
  const char* name;
  search::Sampling sampling;
  double tau;
};
const double preset = search::Options().tau;
const Way ways[] = {{"buckets (default)", search::Sampling::buckets, preset},
                    {"buckets, tau 1", search::Sampling::buckets, 1.0},
                    {"buckets, tau 0.3", search::Sampling::buckets, 0.3},
                    {"buckets, tau 0.03", search::Sampling::buckets, 0.03},
                    {"islands", search::Sampling::islands, preset},
                    {"random", search::Sampling::random, preset},
                    {"no exemplars", search::Sampling::none, preset}};

double share_found(const Landscape& landscape, const Way& way, std::uint64_t seed) {
  const auto task = fakes::small_task();
  fakes::Referee referee;
  fakes::Model model([&](const model::Question& question, std::stop_token) { return answer(landscape, question); });
  search::Options options;
  options.rounds = 8;
  options.samples = 4;
  options.repair = false;
  options.seed = seed;
  options.sampling = way.sampling;
  options.tau = way.tau;
  search::Observer observer;
  const auto result = search::run(task, referee, {&model}, {}, options, observer, search::Recall(), {});
  const double score = result.best() ? std::max(result.best()->score(), 1.0) : 1.0;
  return std::log(score) / landscape.best();
}

}  // namespace

int main(int count, char** arguments) {
  const int landscapes = count > 1 ? std::atoi(arguments[1]) : 40, seeds = count > 2 ? std::atoi(arguments[2]) : 10;
  std::vector<std::vector<double>> shares(std::size(ways));  // by way, then landscape: means over seeds
  for (int number = 1; number <= landscapes; ++number) {
    const Landscape landscape(static_cast<std::uint64_t>(number));
    for (std::size_t way = 0; way < std::size(ways); ++way) {
      double sum = 0;
      for (int seed = 1; seed <= seeds; ++seed) sum += share_found(landscape, ways[way], static_cast<std::uint64_t>(seed));
      shares[way].push_back(sum / seeds);
    }
  }
  std::printf("%d landscapes, %d seeds each, 8 rounds of 4\n", landscapes, seeds);
  std::printf("%-26s %8s   %s\n", "exemplars", "share", "difference to the default");
  for (std::size_t way = 0; way < std::size(ways); ++way) {
    double mean = 0, difference = 0, squares = 0;
    for (std::size_t i = 0; i < shares[way].size(); ++i) {
      mean += shares[way][i] / landscapes;
      difference += (shares[way][i] - shares[0][i]) / landscapes;
    }
    for (std::size_t i = 0; i < shares[way].size(); ++i)
      squares += std::pow(shares[way][i] - shares[0][i] - difference, 2);
    const double half = 2.02 * std::sqrt(squares / (landscapes - 1) / landscapes);  // Student's t, 40 landscapes
    std::printf("%-26s %7.1f %%   %+.1f %% [%+.1f, %+.1f]\n", ways[way].name, 100 * mean, 100 * difference,
                100 * (difference - half), 100 * (difference + half));
  }
}
