// SPDX-License-Identifier: Apache-2.0
#include "judge/answer_trial.hpp"

#include "base/defence.hpp"
#include "base/error.hpp"
#include "bench/comparison.hpp"
#include "bench/order.hpp"
#include "judge/pytorch_turns.hpp"
#include "judge/timed_arms.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace cudal1::judge {

using outcome::Verdict;

// The value below which this share of them lies.
double quantile(std::vector<double> values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

namespace {

constexpr std::size_t empty_calls = 12;
constexpr double waits_for_a_processor = 3;   // of a call, beside those that asking twice takes
constexpr std::size_t judged_calls = 3;    // of those that are timed in a process; of all others it is seen that they resemble the truth
constexpr double hidden_share = 0.1;       // by which an answer's clock may tell less than ours before it is not believed
// What an answer takes longer than PyTorch's own process may be that process's doing: another one wrote its inputs just before, and the GPU
// comes back to it with cold caches. Seen on an H200 with the task's own module as the answer: 3.3 us of 25 us, 7 us of 234 us.
constexpr double own_process_ms = 0.004, own_process_share = 0.03;

std::optional<outcome::Judgement> fault(const outcome::Judgement& judgement, const pytorch::Comparison& found, const std::string& where) {
  if (!found.finite || found.right) return std::nullopt;
  outcome::Judgement result = with_fault(judgement, wrong_result(found, where));
  // KernelBench's comparison has a rule of its own, which this answer may still pass.
  result.errors.kernelbench_tolerance = std::max(judgement.errors.kernelbench_tolerance, found.kernelbench_tolerance);
  return result;
}

// The calls that are judged by the rule, drawn beforehand and told to nobody.
std::set<std::size_t> drawn(std::size_t calls, base::Random& random) {
  std::set<std::size_t> result;
  while (result.size() < std::min(judged_calls, calls)) result.insert(random.below(calls));
  return result;
}

}  // namespace

AnswerTrial::AnswerTrial(pytorch::Host& host, const AnswerOptions& options, std::unique_ptr<pytorch::Answer> answer)
    : host_(host), answer_(std::move(answer)), random_(base::secret_seed(), 7), rival_(options.rival), afresh_(options.process.afresh),
      pairs_(options.final_pairs) {}

std::optional<outcome::Judgement> AnswerTrial::check(outcome::Judgement& judgement, const std::vector<pytorch::Trial>& trials,
                                                      const std::function<void()>& others) {
  for (const pytorch::Trial& trial : trials) {
    if (trial.given && !answer_->takes_weights(trial.weights)) {
      others_ = true;
      continue;
    }
    if (&trial != &trials.front()) others();
    const std::string where = trial_name(trial);
    host_.make_ready(trial);
    host_.show();
    const std::string wrong = answer_->run(trial.weights, trial.given, trial.numbers, others);
    host_.take();
    if (auto found = misdeed(judgement, wrong, where)) return found;
    const pytorch::Comparison found = host_.compare_taken(trial);
    if (auto unlike = fault(judgement, found, where)) return unlike;
    if (!found.finite) continue;
    if (trial.pattern == reference::Pattern::stray) timed_pattern_ = trial.pattern;
    judgement.errors.relative_l2 = std::max(judgement.errors.relative_l2, found.errors.relative_l2);
    judgement.errors.max_absolute = std::max(judgement.errors.max_absolute, found.errors.max_absolute);
    judgement.errors.reference_relative_l2 = std::max(judgement.errors.reference_relative_l2, found.errors.reference_relative_l2);
    judgement.errors.kernelbench_tolerance = std::max(judgement.errors.kernelbench_tolerance, found.kernelbench_tolerance);
    ++judgement.errors.trials;
  }
  return std::nullopt;
}

void AnswerTrial::time_empty() {
  answer_->prepare();
  for (std::size_t i = 0; i < empty_calls; ++i) empty_ms_.push_back(call(true).own_ms);
  empty_ms_.erase(empty_ms_.begin(), empty_ms_.begin() + empty_calls / 4);   // the first ones load what they use
}

std::optional<outcome::Judgement> AnswerTrial::time(outcome::Judgement& judgement, std::vector<std::string>& baselines,
                                                     std::vector<outcome::BaselineTiming>& unavailable) {
  std::map<std::string, std::vector<device::Sample>> samples;
  std::vector<double> claimed, own;
  weights_ = random_.next() >> 2;
  const std::set<std::size_t> judged = drawn(pairs_, random_);
  appear();
  host_.show();
  answer_->start(weights_);
  for (std::size_t left = pairs_; left > 0; left -= std::min(left, pytorch_turn)) {
    std::vector<std::string> order;
    for (std::size_t i = 0; i < pytorch_turn; ++i)
      for (const std::size_t index : shuffled(baselines.size(), random_)) order.push_back(baselines[index]);
    pytorch::Host::Times theirs;
    const bool pytorch_first = random_.below(2) == 0;
    if (pytorch_first) theirs = rival_times(order, baselines.front());
    for (std::size_t i = 0; i < pytorch_turn; ++i) {
      const pytorch::Answer::Sample mine = call(false);
      constexpr const char* where = "in an execution that was timed";
      if (auto found = misdeed(judgement, mine.wrong, where)) return found;
      if (!afresh_ && base::defended(base::Defence::timed_outputs) && (judged.contains(claimed.size()) || !host_.resembles()))
        if (auto unlike = fault(judgement, host_.compare_taken(shown_), where)) return unlike;
      claimed.push_back(mine.claimed_ms);
      own.push_back(mine.own_ms);
    }
    answer_->look_for_streams();
    if (!pytorch_first) theirs = rival_times(order, baselines.front());
    std::map<std::string, std::size_t> next;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (order[i] == baselines.front() && !std::isnan(theirs.ms[i])) beside_ms.push_back(theirs.ms[i]);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const double mine = claimed.at(claimed.size() - pytorch_turn + next[order[i]]++);
      if (std::isnan(theirs.ms[i])) continue;
      const device::Sample left_arm{0, 0, theirs.ms[i], theirs.ms[i]}, right_arm{1, 0, mine, mine};
      auto& list = samples[order[i]];
      list.push_back(pytorch_first ? left_arm : right_arm);
      list.push_back(pytorch_first ? right_arm : left_arm);
    }
    for (const auto& [name, why] : theirs.failed) {   // left out from now on
      if (name == baselines.front()) beside_ms.clear();
      std::erase(baselines, name);
      if (baselines.empty()) throw base::Error(base::Fault::internal, fmt::format("PyTorch cannot be timed: {}", why));
      samples.erase(name);
      outcome::BaselineTiming& gone = unavailable.emplace_back();
      gone.name = name;
      gone.failed = why;
    }
  }
  if (auto found = misdeed(judgement, "", "")) return found;
  own_call_ms = std::max(median(own) - median(empty_ms_), 0.0);
  const double told = median(claimed);
  const double tolerated = std::max(hidden_share * told, answer_->doubt_ms());
  const std::string both = fmt::format("a call takes {:.3g} ms by its own process's clock, and {:.3g} ms by this program's", told, own_call_ms);
  // A busy machine only adds time: what the quick calls take beyond the slow ones that do nothing is the answer's, but for
  // as much as calls that do nothing differ by, and for some waits for a processor as long as those of PyTorch's process. What is
  // within that is not believed either (unsure).
  const double unsteady = quantile(empty_ms_, 0.75) - quantile(empty_ms_, 0.25) + waits_for_a_processor * median(nothing_ms_);
  const bool heeded = base::defended(base::Defence::own_clock);
  if (heeded && quantile(own, 0.25) - quantile(empty_ms_, 0.75) > told + tolerated + unsteady) impossible = both;
  else if (heeded && own_call_ms > told + tolerated) unsure = both + ", which is too unsteady here to tell";
  told_ms = told;
  bench::Comparison comparison(bench::Purpose::final_, {1.0}, 0, static_cast<int>(pairs_));
  comparison.add(0, samples[baselines.front()], hand_over_ms);
  verdict = comparison.look().value_or(Verdict::inconclusive);
  estimate = comparison.estimate();
  outcome::WorkloadTiming timing;
  timing.reference_ms = comparison.median_ms(0, 0);
  timing.variant_ms = comparison.median_ms(0, 1);
  timing.speedup = estimate.speedup();
  timing.pairs = estimate.pairs;
  if (verdict == Verdict::slower && timing.variant_ms - timing.reference_ms <= own_process_ms + own_process_share * timing.reference_ms) {
    verdict = Verdict::inconclusive;
    indistinct = "the difference is no more than the cost of being timed in a process of its own";
  }
  judgement.workloads = {timing};
  judgement.baselines.clear();
  for (const std::string& name : baselines) {
    outcome::BaselineTiming baseline;
    baseline.name = name;
    baseline.ms = bench::median_ms(samples[name], 0);
    baseline.speedup =
        bench::estimate(bench::log_ratios(samples[name]), 0.05, bench::timer_guard(hand_over_ms, bench::shortest_ms(samples[name]))).speedup();
    judgement.baselines.push_back(std::move(baseline));
  }
  return std::nullopt;
}

std::vector<std::string> AnswerTrial::remarks() const {
  std::vector<std::string> list = answer_->notes();
  if (!indistinct.empty()) list.push_back(indistinct);
  if (!answer_->lacking().empty()) list.push_back("confined without " + answer_->lacking());
  if (others_) list.emplace_back("its tensors have other names or shapes than the task's, so it was tried only with the weights that it constructs");
  return list;
}

// Inputs that nobody has seen, not shown yet. Not as declared, if that can be: who looks for that is honest then.
void AnswerTrial::appear() {
  shown_ = {timed_pattern_, random_.next() >> 2, weights_, 0};
  host_.make_ready(shown_);
}

pytorch::Answer::Sample AnswerTrial::call(bool empty) {
  appear();
  pytorch::Answer::Sample sample = answer_->sample([&] { host_.show(); }, [&] { host_.take(); }, empty);
  // Asking PyTorch's process, which shows the inputs and takes the outputs, takes longer when that has just done other work.
  const base::Seconds began = base::now();
  host_.ask_nothing();
  nothing_ms_.push_back(1e3 * (base::now() - began).count());
  sample.own_ms -= 2 * nothing_ms_.back();
  return sample;
}

pytorch::Host::Times AnswerTrial::rival_times(const std::vector<std::string>& order, const std::string& first) {
  if (!rival_) return host_.time(order, first);
  pytorch::Host::Times times;
  times.ms = rival_(order);
  return times;
}

// What is seen without looking at values: what it says against itself, as that it changes what judges it, or outputs that
// are no plain tensors. That it says nothing of the kind means nothing.
std::optional<outcome::Judgement> AnswerTrial::misdeed(outcome::Judgement judgement, const std::string& wrong, const std::string& where) const {
  if (answer_->tampered().empty() && wrong.empty()) return std::nullopt;
  const bool tampered = !answer_->tampered().empty();
  judgement.verdict = tampered ? Verdict::tampered : Verdict::wrong_result;
  judgement.message = tampered ? answer_->tampered() : fmt::format("{} ({})", wrong, where);
  judgement.workloads.clear();
  return judgement;
}

}  // namespace cudal1::judge
