// SPDX-License-Identifier: Apache-2.0
#include "judge/answer.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "bench/comparison.hpp"
#include "bench/order.hpp"
#include "judge/pytorch_turns.hpp"
#include "judge/timed_arms.hpp"
#include "pytorch/answer_folder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::judge {

namespace {

using outcome::Verdict;

constexpr std::size_t empty_calls = 12;
constexpr std::size_t one_of = 4;          // calls that are timed is judged, by a draw after each
constexpr double hidden_share = 0.1;       // by which an answer's clock may tell less than ours before it is not believed

// The value below which this share of them lies.
double quantile(std::vector<double> values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

std::optional<outcome::Judgement> fault(const outcome::Judgement& judgement, const pytorch::Comparison& found, const std::string& where) {
  if (!found.finite || found.right) return std::nullopt;
  outcome::Judgement result = with_fault(judgement, wrong_result(found, where));
  // KernelBench's comparison has a rule of its own, which this answer may still pass.
  result.errors.kernelbench_tolerance = std::max(judgement.errors.kernelbench_tolerance, found.kernelbench_tolerance);
  return result;
}

// One process: verified, and timed where there is a GPU.
class Trial {
 public:
  Trial(pytorch::Host& host, const task::Task& task, const AnswerOptions& options, const pytorch::AnswerFolder& folder)
      : host_(host), answer_(options.process, task.path, options.overrides, host.offer(), folder.path()), random_(base::secret_seed(), 7),
        rival_(options.rival), afresh_(options.process.afresh), pairs_(options.final_pairs) {}

  void load(const std::filesystem::path& path, const std::string& source) { answer_.load(path, source); }

  std::optional<outcome::Judgement> check(outcome::Judgement& judgement) {
    for (const pytorch::Trial& trial : host_.trials(random_)) {
      const std::string where = trial_name(trial);
      host_.fill(0, trial);
      const std::string wrong = answer_.run(trial.weights);
      if (auto found = misdeed(judgement, wrong, where)) return found;
      const pytorch::Comparison found = host_.compare(0, trial);
      if (auto unlike = fault(judgement, found, where)) return unlike;
      if (!found.finite) continue;
      judgement.errors.relative_l2 = std::max(judgement.errors.relative_l2, found.errors.relative_l2);
      judgement.errors.max_absolute = std::max(judgement.errors.max_absolute, found.errors.max_absolute);
      judgement.errors.reference_relative_l2 = std::max(judgement.errors.reference_relative_l2, found.errors.reference_relative_l2);
      judgement.errors.kernelbench_tolerance = std::max(judgement.errors.kernelbench_tolerance, found.kernelbench_tolerance);
      ++judgement.errors.trials;
    }
    return std::nullopt;
  }

  // What a call takes that does nothing, by our clock. Before the answer is loaded: so far its process is ours.
  void time_empty() {
    answer_.prepare();
    for (std::size_t i = 0; i < empty_calls; ++i) empty_ms_.push_back(answer_.sample([&] { appear(); }, true).own_ms);
    empty_ms_.erase(empty_ms_.begin(), empty_ms_.begin() + empty_calls / 4);   // the first ones load what they use
  }

  // Pairs with every baseline. Each call has inputs that appear when it is due, and its outputs may be judged.
  // A baseline that fails meanwhile becomes one of the unavailable.
  std::optional<outcome::Judgement> time(outcome::Judgement& judgement, std::vector<std::string>& baselines,
                                         std::vector<outcome::BaselineTiming>& unavailable) {
    std::map<std::string, std::vector<device::Sample>> samples;
    std::vector<double> claimed, own;
    weights_ = random_.next() >> 2;
    appear();
    answer_.start(weights_);
    for (std::size_t left = pairs_; left > 0; left -= std::min(left, pytorch_turn)) {
      std::vector<std::string> order;
      for (std::size_t i = 0; i < pytorch_turn; ++i)
        for (const std::size_t index : shuffled(baselines.size(), random_)) order.push_back(baselines[index]);
      pytorch::Host::Times theirs;
      const bool pytorch_first = random_.below(2) == 0;
      if (pytorch_first) theirs = rival_times(order, baselines.front());
      for (std::size_t i = 0; i < pytorch_turn; ++i) {
        const pytorch::Answer::Sample mine = answer_.sample([&] { appear(); });
        constexpr const char* where = "in an execution that was timed";
        if (auto found = misdeed(judgement, mine.wrong, where)) return found;
        if (random_.below(one_of) == 0 && !afresh_)
          if (auto unlike = fault(judgement, host_.compare(0, shown_), where)) return unlike;
        claimed.push_back(mine.claimed_ms);
        own.push_back(mine.own_ms);
      }
      answer_.look_for_streams();
      if (!pytorch_first) theirs = rival_times(order, baselines.front());
      std::map<std::string, std::size_t> next;
      for (std::size_t i = 0; i < order.size(); ++i) {
        const double mine = claimed.at(claimed.size() - pytorch_turn + next[order[i]]++);
        if (std::isnan(theirs.ms[i])) continue;
        const device::Sample left_arm{0, 0, theirs.ms[i], theirs.ms[i]}, right_arm{1, 0, mine, mine};
        auto& list = samples[order[i]];
        list.push_back(pytorch_first ? left_arm : right_arm);
        list.push_back(pytorch_first ? right_arm : left_arm);
      }
      for (const auto& [name, why] : theirs.failed) {   // left out from now on
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
    const double tolerated = std::max(hidden_share * told, answer_.doubt_ms());
    const std::string both = fmt::format("a call takes {:.3g} ms by its own process's clock, and {:.3g} ms by this program's", told, own_call_ms);
    // A busy machine only adds time: what the quick calls take beyond the slow ones that do nothing is the answer's.
    if (quantile(own, 0.25) - quantile(empty_ms_, 0.75) > told + tolerated) impossible = both;
    else if (own_call_ms > told + tolerated) unsure = both + ", which is too unsteady here to tell";
    bench::Comparison comparison(bench::Purpose::final_, {1.0}, 0, static_cast<int>(pairs_));
    comparison.add(0, samples[baselines.front()], hand_over_ms);
    verdict = comparison.look().value_or(Verdict::inconclusive);
    estimate = comparison.estimate();
    outcome::WorkloadTiming timing;
    timing.reference_ms = comparison.median_ms(0, 0);
    timing.variant_ms = comparison.median_ms(0, 1);
    timing.speedup = estimate.speedup();
    timing.pairs = estimate.pairs;
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

  // What stands beside its verdict: what it does besides, as it says itself, and what it is not confined by.
  std::vector<std::string> remarks() const {
    std::vector<std::string> list = answer_.notes();
    if (!answer_.lacking().empty()) list.push_back("confined without " + answer_.lacking());
    return list;
  }
  bool elsewhere() const { return answer_.elsewhere(); }
  bench::Estimate estimate;
  Verdict verdict = Verdict::inconclusive;
  double own_call_ms = 0;       // by our clock
  std::string impossible, unsure;   // why its clock is not believed, or not borne out

 private:
  // Inputs that nobody has seen, in the memory that the answer reads.
  void appear() {
    shown_ = {reference::Pattern::declared, random_.next() >> 2, weights_, 0};
    host_.fill(0, shown_);
  }

  pytorch::Host::Times rival_times(const std::vector<std::string>& order, const std::string& first) {
    if (!rival_) return host_.time(order, first);
    pytorch::Host::Times times;
    times.ms = rival_(order);
    return times;
  }

  // What is seen without looking at values: what it says against itself, as that it changes what judges it, or outputs that
  // are no plain tensors. That it says nothing of the kind means nothing.
  std::optional<outcome::Judgement> misdeed(outcome::Judgement judgement, const std::string& wrong, const std::string& where) const {
    if (answer_.tampered().empty() && wrong.empty()) return std::nullopt;
    const bool tampered = !answer_.tampered().empty();
    judgement.verdict = tampered ? Verdict::tampered : Verdict::wrong_result;
    judgement.message = tampered ? answer_.tampered() : fmt::format("{} ({})", wrong, where);
    judgement.workloads.clear();
    return judgement;
  }

  pytorch::Host& host_;
  pytorch::Answer answer_;
  base::Random random_;
  std::function<std::vector<double>(const std::vector<std::string>&)> rival_;
  std::vector<double> empty_ms_;
  std::optional<std::uint64_t> weights_;
  pytorch::Trial shown_;
  bool afresh_;   // the task keeps state, so that calls in a row differ
  std::size_t pairs_;
};

void conclude(outcome::Judgement& judgement, const std::vector<bench::Estimate>& estimates, const std::vector<Verdict>& verdicts) {
  constexpr double agreement = 0.01;
  const bench::Estimate& a = estimates.front();
  const bench::Estimate& b = estimates.back();
  const bool apart = std::fabs(a.mean - b.mean) > a.half_width + b.half_width + agreement;
  judgement.verdict = apart || verdicts.front() != verdicts.back() ? Verdict::inconclusive : verdicts.front();
  judgement.speedup = outcome::Speedup{std::exp(0.5 * (a.mean + b.mean)), std::exp(std::min(a.low(), b.low())), std::exp(std::max(a.high(), b.high()))};
}

}  // namespace

outcome::Judgement judge_answer(pytorch::Host& host, const task::Task& task, const std::filesystem::path& answer,
                                const AnswerOptions& options) {
  outcome::Judgement judgement;
  judgement.level = outcome::Level::final_;
  judgement.verdict = Verdict::inconclusive;
  base::Seconds last = base::now();
  const auto begins = [&](const std::string& step) {
    if (options.progress) options.progress(step);
  };
  const auto ended = [&](const char* step) {
    const base::Seconds now = base::now();
    judgement.step_seconds[step] += (now - last).count();
    judgement.seconds += (now - last).count();
    last = now;
  };
  const auto with_steps = [&](outcome::Judgement found) {
    found.seconds = judgement.seconds;
    found.step_seconds = judgement.step_seconds;
    return found;
  };
  const auto turn = [&] {
    auto lock = options.gpu_lock.empty() ? nullptr : std::make_unique<base::FileLock>(options.gpu_lock);
    ended("wait");
    return lock;
  };
  const bool timed = options.process.device != "cpu" || options.rival;
  host.hold_to(options.precision);
  const std::string source = base::read_file(answer);
  const pytorch::AnswerFolder folder;
  std::vector<std::string> baselines;
  std::vector<outcome::BaselineTiming> unavailable;
  std::vector<bench::Estimate> estimates;
  std::vector<Verdict> verdicts;
  std::vector<std::string> remarks;
  try {
    for (int process = 0; process < (timed ? 2 : 1); ++process) {
      begins("starting its process");
      Trial trial(host, task, options, folder);
      if (timed) {
        const auto alone = turn();
        trial.time_empty();
      }
      ended("start");
      begins(source.find("cpp_extension") == std::string::npos ? "loading it" : "loading it; its extensions are built now, which may take minutes");
      trial.load(answer, source);
      ended("load");
      begins("verifying it");
      auto lock = turn();
      auto wrong = trial.check(judgement);
      ended("check");
      lock.reset();
      if (wrong) return with_steps(*std::move(wrong));
      remarks = trial.remarks();
      if (!timed) continue;
      begins("timing PyTorch and it in turns");
      lock = turn();
      for (const std::string& name : process == 0 ? options.baselines : std::vector<std::string>{})
        if (options.rival) baselines.push_back(name);
        else if (auto made = host.prepare(name); made.failed.empty()) baselines.push_back(name);
        else unavailable.push_back(std::move(made));
      if (baselines.empty()) throw base::Error(base::Fault::internal, fmt::format("PyTorch cannot be timed: {}", unavailable.empty() ? "no baseline" : unavailable.front().failed));
      wrong = trial.time(judgement, baselines, unavailable);
      ended("time");
      if (wrong) return with_steps(*std::move(wrong));
      remarks = trial.remarks();
      remarks.insert(remarks.begin(), fmt::format("a call takes {:.3g} ms by this program's own clock", trial.own_call_ms));
      if (trial.elsewhere() || !trial.impossible.empty()) {
        judgement.verdict = Verdict::implausible;
        judgement.message = fmt::format("{}; {}", trial.elsewhere() ? "its work goes on in other streams when the one that is timed has ended" : trial.impossible,
                                        fmt::join(remarks, "; "));
        judgement.workloads.clear();
        judgement.baselines.clear();
        return judgement;
      }
      estimates.push_back(trial.estimate);
      verdicts.push_back(trial.unsure.empty() ? trial.verdict : Verdict::inconclusive);
      if (!trial.unsure.empty()) remarks.insert(remarks.begin(), trial.unsure);
    }
  } catch (const base::Error& error) {
    if (error.fault() != base::Fault::bad_input) throw;
    ended("failed");
    judgement.verdict = Verdict::runtime_failed;
    judgement.message = error.what();
    judgement.workloads.clear();
    judgement.baselines.clear();
    return judgement;
  }
  std::string said = "right; times need a GPU";
  if (timed) {
    conclude(judgement, estimates, verdicts);
    said = fmt::format("{:.3g}x {} [{:.3g}, {:.3g}]", judgement.speedup->value, baselines.front(), judgement.speedup->low, judgement.speedup->high);
    judgement.baselines.insert(judgement.baselines.end(), unavailable.begin(), unavailable.end());
  }
  judgement.message = remarks.empty() ? said : fmt::format("{}; {}", said, fmt::join(remarks, "; "));
  return judgement;
}

}  // namespace cudal1::judge
