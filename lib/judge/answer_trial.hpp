// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "bench/estimate.hpp"
#include "judge/answer.hpp"
#include "outcome/judgement.hpp"
#include "pytorch/answer.hpp"
#include "pytorch/host.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::judge {

// One process of an answer: verified, and timed where there is a GPU.
class AnswerTrial {
 public:
  AnswerTrial(pytorch::Host& host, const AnswerOptions& options, std::unique_ptr<pytorch::Answer> answer);

  pytorch::Answer& answer() { return *answer_; }

  // What is wrong with it, or nothing. `others` is called between two trials, and where one takes long.
  std::optional<outcome::Judgement> check(outcome::Judgement& judgement, const std::vector<pytorch::Trial>& trials, const std::function<void()>& others);
  // What a call takes that does nothing, by our clock. Before the answer is loaded: so far its process is ours.
  void time_empty();
  // Pairs with every baseline. Each call has inputs that appear when it is due, and its outputs may be judged.
  // A baseline that fails meanwhile becomes one of the unavailable.
  std::optional<outcome::Judgement> time(outcome::Judgement& judgement, std::vector<std::string>& baselines,
                                         std::vector<outcome::BaselineTiming>& unavailable);

  // What stands beside its verdict: what it does besides, as it says itself, and what it is not confined by.
  std::vector<std::string> remarks() const;
  bool elsewhere() const { return answer_->elsewhere(); }
  bench::Estimate estimate;
  outcome::Verdict verdict = outcome::Verdict::inconclusive;
  double own_call_ms = 0;           // by our clock
  double told_ms = 0;               // by its own
  std::vector<double> beside_ms;    // PyTorch's, while it is there
  std::string impossible, unsure;   // why its clock is not believed, or not borne out
  std::string indistinct;           // why it is not called slower

 private:
  void appear();
  pytorch::Answer::Sample call(bool empty);
  pytorch::Host::Times rival_times(const std::vector<std::string>& order, const std::string& first);
  std::optional<outcome::Judgement> misdeed(outcome::Judgement judgement, const std::string& wrong, const std::string& where) const;

  pytorch::Host& host_;
  std::unique_ptr<pytorch::Answer> answer_;
  base::Random random_;
  std::function<std::vector<double>(const std::vector<std::string>&)> rival_;
  std::vector<double> empty_ms_;
  std::vector<double> nothing_ms_;   // of asking PyTorch's process, which does nothing, after each call
  std::optional<std::uint64_t> weights_;
  pytorch::Trial shown_;
  reference::Pattern timed_pattern_ = reference::Pattern::declared;
  bool others_ = false;   // tensors than the task's
  bool afresh_;           // the task keeps state, so that calls in a row differ
  std::size_t pairs_;
};

// The value below which this share of them lies.
double quantile(std::vector<double> values, double share);
double median(std::vector<double> values);

}  // namespace cudal1::judge
