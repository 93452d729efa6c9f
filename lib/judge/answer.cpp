// SPDX-License-Identifier: Apache-2.0
#include "judge/answer.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "bench/limit.hpp"
#include "judge/answer_start.hpp"
#include "judge/answer_trial.hpp"
#include "judge/gpu_lock.hpp"
#include "judge/pytorch_turns.hpp"
#include "pytorch/answer_folder.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace cudal1::judge {

namespace {

using outcome::Verdict;

constexpr double shortest_ms = 5e-4;       // no kernel is shorter
constexpr double doubt_alone_ms = 0.01;    // between PyTorch's times at the beginning and in the end
constexpr std::size_t beside_limit = std::size_t{1} << 30;   // bytes of a task of which two processes start at once
// For which a verification shares the GPU before those who take times have their turn: of many, each turn that is given up costs a whole round of them.
constexpr base::Seconds longest_turn{4};
constexpr double hidden_share = 0.1;       // by which an answer's clock may tell less than ours before it is not believed

// Inputs of each pattern; then weights that an answer does not construct, because what a constructor makes 0 or 1 may be ignored. So are those that are 0 where
// large elements meet them.
std::vector<pytorch::Trial> trials_of(const pytorch::Host& host, base::Random& random) {
  std::vector<pytorch::Trial> trials = host.trials(random);
  if (host.takes_numbers()) {   // a number that is given by value is data, too; made smaller, because it may be a probability
    trials.push_back({reference::Pattern::declared, random.next() >> 2, trials.back().weights, 0});
    trials.back().numbers = 1 - static_cast<double>(1 + random.below(97)) / 400;
  }
  for (pytorch::Trial& trial : trials) trial.given = trial.pattern == reference::Pattern::meets_zero && trial.weights;
  std::stable_partition(trials.begin(), trials.end(), [](const pytorch::Trial& trial) { return !trial.given; });
  for (const pytorch::Trial& trial : trials) {
    if (!trial.weights || trial.given) continue;
    trials.push_back({reference::Pattern::declared, random.next() >> 2, trial.weights, 0, true});
    break;
  }
  return trials;
}

double output_bytes(const std::string& offered) {
  const nlohmann::json told = nlohmann::json::parse(offered);
  double bytes = 0;
  for (std::size_t i = told.at("inputs"); i < told.at("places").size(); ++i) bytes += told.at("places").at(i).at("bytes").get<double>();
  return bytes;
}

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
  const auto turn = [&](GpuTurn::Use use = GpuTurn::Use::alone) {
    auto lock = options.gpu_lock.empty() ? nullptr : std::make_unique<GpuTurn>(options.gpu_lock, use);
    ended("wait");
    return lock;
  };
  const bool timed = !options.untimed && (options.process.device != "cpu" || options.rival);
  host.hold_to(options.precision);
  const std::string source = base::read_file(answer);
  const pytorch::AnswerFolder folder;
  base::Random random(base::secret_seed(), 8);
  std::vector<std::string> baselines;
  std::vector<outcome::BaselineTiming> unavailable;
  std::vector<bench::Estimate> estimates;
  std::vector<Verdict> verdicts;
  std::vector<std::string> remarks;
  std::vector<double> beside_ms;
  const auto refused = [&](Verdict verdict, std::string message) {
    judgement.verdict = verdict;
    judgement.message = std::move(message);
    judgement.workloads.clear();
    judgement.baselines.clear();
    return judgement;
  };
  try {
    const std::string offered = host.offer();
    base::Random trial_random(host.secret(), 8);
    const std::vector<pytorch::Trial> all = trials_of(host, trial_random), few = few_of(all);
    pytorch::Answer::Options process_options = options.process;
    process_options.file = answer;
    const auto start = [&] { return std::make_unique<pytorch::Answer>(process_options, task.path, options.overrides, offered, folder.path()); };
    // While a process starts or builds, PyTorch computes what will be needed.
    std::size_t expected = 0;
    bool room = true;
    const auto meanwhile = [&](const auto& future) {
      while (future.wait_for(std::chrono::seconds(0)) != std::future_status::ready && room && expected < all.size()) {
        const auto shared = turn(GpuTurn::Use::shared);
        room = host.expect(all[expected++]);
        ended("truth");
      }
      future.wait();
    };
    std::unique_ptr<AnswerStart> starting, next;   // live longer than what they start
    for (int process = 0; process < (timed ? 2 : 1); ++process) {
      begins("starting its process");
      starting = next ? std::move(next) : std::make_unique<AnswerStart>(start);
      meanwhile(starting->started());
      AnswerTrial trial(host, options, starting->started().get());
      if (timed) {
        // The first process may be believed too much if others are at work now; the second one is not.
        const auto here = turn(process == 0 ? GpuTurn::Use::shared : GpuTurn::Use::alone);
        trial.time_empty();
      }
      ended("start");
      begins(source.find("cpp_extension") == std::string::npos ? "loading it" : "loading the answer; its extensions are built now, which may take minutes");
      auto loading = std::async(std::launch::async, [&] { trial.answer().load(answer, source); });
      meanwhile(loading);
      loading.get();
      ended("load");
      begins("verifying it");
      if (timed && process == 0 && host.bytes() <= beside_limit) next = std::make_unique<AnswerStart>(start);
      auto lock = turn(GpuTurn::Use::shared);
      base::Seconds since = base::now();
      auto wrong = trial.check(judgement, process == 0 ? all : few, [&] {   // who wants to take times waits for no compiler
        if (base::now() - since < longest_turn) return;
        ended("check");
        lock.reset();
        lock = turn(GpuTurn::Use::shared);
        since = base::now();
      });
      ended("check");
      lock.reset();
      if (wrong) return with_steps(*std::move(wrong));
      remarks = trial.remarks();
      if (!timed) continue;
      begins("timing PyTorch and the answer in turns");
      if (next) next->started().wait();
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
      if (options.process.device != "cpu" && (trial.told_ms < shortest_ms || bench::implausible(trial.told_ms, output_bytes(offered), options.facts)))
        trial.impossible = fmt::format("its outputs cannot be written in {:.3g} ms", trial.told_ms);
      if (trial.elsewhere() || !trial.impossible.empty())
        return refused(Verdict::implausible, fmt::format("{}; {}", trial.elsewhere() ? "work of the answer goes on in other streams after the timed stream has ended" : trial.impossible,
                                                         fmt::join(remarks, "; ")));
      beside_ms = trial.beside_ms;
      estimates.push_back(trial.estimate);
      verdicts.push_back(trial.unsure.empty() ? trial.verdict : Verdict::inconclusive);
      if (!trial.unsure.empty()) remarks.insert(remarks.begin(), trial.unsure);
    }
    if (timed) {
      // What the answer's processes did besides, they do no more.
      const auto lock = turn();
      const std::vector<std::string> order(2 * pytorch_turn, baselines.front());
      const std::vector<double> alone = options.rival ? options.rival(order) : host.time(order, baselines.front()).ms;
      ended("time");
      if (!beside_ms.empty() && std::none_of(alone.begin(), alone.end(), [](double ms) { return std::isnan(ms); }) &&
          quantile(beside_ms, 0.25) > (1 + hidden_share) * quantile(alone, 0.75) + doubt_alone_ms)
        return refused(Verdict::implausible, fmt::format("PyTorch takes {:.3g} ms beside the answer's processes, and {:.3g} ms without them", median(beside_ms), median(alone)));
    }
  } catch (const base::Error& error) {
    if (error.fault() != base::Fault::bad_input && error.fault() != base::Fault::bad_task) throw;
    ended("failed");
    return refused(Verdict::runtime_failed, error.what());
  }
  std::string said = options.untimed ? "right; not timed" : "right; times need a GPU";
  if (timed) {
    conclude(judgement, estimates, verdicts);
    said = fmt::format("{:.3g}x {} [{:.3g}, {:.3g}]", judgement.speedup->value, baselines.front(), judgement.speedup->low, judgement.speedup->high);
    judgement.baselines.insert(judgement.baselines.end(), unavailable.begin(), unavailable.end());
  }
  judgement.message = remarks.empty() ? said : fmt::format("{}; {}", said, fmt::join(remarks, "; "));
  return judgement;
}

}  // namespace cudal1::judge
