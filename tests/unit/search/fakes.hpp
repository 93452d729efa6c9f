// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/search.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

// A judge and models for tests of the search and of the store: a variant's source says what is to become of it,
// "score 2.5", "fault WRONG_RESULT" or both "score 3.0" and "final SLOWER". Where times are measured, "true 2.6" is what
// a race finds.
namespace fakes {

using namespace cudal1;

inline std::string word_after(const std::string& text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string::npos) return {};
  const auto begin = at + key.size() + 1;
  return text.substr(begin, text.find_first_of(" \n;", begin) - begin);
}

inline task::Task small_task() {
  return task::from_source(R"(//@ task    twice
//@ torch   Y = 2 * X
//@ size    N = 1024
//@ check   N = 33
//@ input   X: float32[N]
//@ output  Y: float32[N]
//@ launch  twice<<<ceil_div(N, 32), 32>>>(X, Y, N)

__global__ void twice(const float* X, float* Y, int N) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < N) Y[i] = 2 * X[i];
}
)",
                           "twice.cu");
}

// A kernel file that is right for small_task(), different for each score.
inline std::string variant_source(double score, const std::string& more = "") {
  return fmt::format(R"(//@ launch  fast<<<ceil_div(N, 128), 128>>>(X, Y, N)

const char* plan = "score {:.4f} {} ;";
__global__ void fast(const float* X, float* Y, int N) {{
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < N) Y[i] = X[i] + X[i];
}}
)",
                     score, more);
}

inline std::string reply_text(const std::string& source, const std::string& techniques = "coalesced access") {
  return "## Performance Analysis\n\nThe reference uses small blocks.\n\n## Algorithm Design\n\n1. Larger blocks.\n\nTechniques: " +
         techniques + "\n\n## Code Implementation\n\n```cuda\n" + source + "```\n";
}

inline outcome::Judgement judgement_of(double score) {
  outcome::Judgement judgement;
  judgement.predicted = true;
  judgement.verdict = score > 1.02   ? outcome::Verdict::faster
                      : score < 0.98 ? outcome::Verdict::slower
                                     : outcome::Verdict::equivalent;
  judgement.message = "right";
  judgement.speedup = outcome::Speedup{score, score * 0.98, score * 1.02};
  outcome::WorkloadTiming timing;
  timing.sizes = {{"N", 1024}};
  timing.reference_ms = 0.5;
  timing.variant_ms = 0.5 / score;
  timing.speedup = *judgement.speedup;
  timing.share_of_limit = score / 10;
  timing.limited_by = "memory bandwidth";
  judgement.workloads.push_back(timing);
  return judgement;
}

class Referee final : public search::Referee {
 public:
  Referee() {
    start_.device.name = "NVIDIA H200";
    start_.device.simulated = true;
    start_.device.major = 9;
    start_.device.sm_count = 132;
    start_.device.memory_bytes_per_second = 4.8e12;
    start_.reference.times.push_back({"N=1024", 0.5, 0.05, "latency"});
    start_.reference.predicted = true;
    start_.reference.oracle = true;
    start_.reference.judgement = judgement_of(1);
  }

  const outcome::DeviceFacts& device() override { return start_.device; }
  const judge::ReferenceFacts& reference() override {
    ++references;
    return start_.reference;
  }

  int parallel() const override { return at_once; }
  void measure() {
    start_.device.simulated = start_.reference.predicted = false;
    start_.reference.judgement.predicted = false;
  }

  outcome::Judgement screen(const std::string& source, const std::string& name) override {
    {
      const std::lock_guard lock(mutex_);
      screened.push_back(name);
    }
    if (on_screen) on_screen();
    if (const auto fault = word_after(source, "fault"); !fault.empty()) {
      outcome::Judgement judgement;
      judgement.verdict = outcome::parse_verdict(fault).value();
      judgement.message = "it failed as planned";
      return judgement;
    }
    auto judgement = judgement_of(std::stod(word_after(source, "score")));
    judgement.predicted = start_.device.simulated;
    return judgement;
  }

  std::optional<judge::Race> race(const std::vector<judge::Entrant>& entrants) override {
    if (start_.device.simulated) return std::nullopt;
    auto& names = raced.emplace_back();
    std::vector<double> speeds;
    for (const auto& entrant : entrants) {
      names.push_back(entrant.name);
      const auto speed = word_after(entrant.source, "true");
      speeds.push_back(std::stod(speed.empty() ? word_after(entrant.source, "score") : speed));
    }
    judge::Race result;
    result.problem = race_problem;
    if (!result.problem.empty()) return result;
    result.fastest = static_cast<std::size_t>(std::max_element(speeds.begin(), speeds.end()) - speeds.begin());
    for (std::size_t i = 0; i < speeds.size(); ++i) {
      const double ratio = speeds[i] / speeds[result.fastest];
      result.standings.push_back({i == result.fastest ? outcome::Speedup{} : outcome::Speedup{ratio, 0.999 * ratio, 1.001 * ratio}, 64});
    }
    return result;
  }

  outcome::Judgement confirm(const std::string& source, const std::string& name,
                             const std::map<std::string, std::int64_t>&) override {
    confirmed.push_back(name);
    auto judgement = judgement_of(std::stod(word_after(source, "score")));
    judgement.level = outcome::Level::final_;
    judgement.predicted = start_.device.simulated;
    if (const auto final_verdict = word_after(source, "final"); !final_verdict.empty()) {
      judgement.verdict = outcome::parse_verdict(final_verdict).value();
      judgement.speedup.reset();
    }
    return judgement;
  }

  std::vector<std::string> screened, confirmed;
  std::vector<std::vector<std::string>> raced;
  std::string race_problem;
  int references = 0, at_once = 1;
  std::function<void()> on_screen;

 private:
  search::Start start_;
  std::mutex mutex_;
};

// Answers by a function of the question.
class Model final : public model::Model {
 public:
  using Answer = std::function<model::Reply(const model::Question&, std::stop_token)>;
  explicit Model(Answer answer, int parallel = 1) : answer_(std::move(answer)), parallel_(parallel) {}

  std::string name() const override { return name_; }
  int parallel() const override { return parallel_; }
  long long output_tokens() const override { return most_output_; }
  std::optional<double> price(long long input, long long output) const override {
    return dollars_per_token_ * static_cast<double>(input + output);
  }
  model::Reply answer(const model::Question& question, std::stop_token stop) override {
    {
      const std::lock_guard lock(mutex_);
      asked.push_back(question.key.text());
      questions[question.key.text()] = question;
    }
    return answer_(question, stop);
  }

  std::vector<std::string> asked;
  std::map<std::string, model::Question> questions;
  std::string name_ = "scripted";
  long long most_output_ = 0;             // tokens, as it declares them
  double dollars_per_token_ = 0;

 private:
  Answer answer_;
  int parallel_;
  std::mutex mutex_;
};

inline model::Reply said(std::string text) {
  model::Reply reply;
  reply.text = std::move(text);
  reply.usage = {100, 50, 0, 0.01};
  return reply;
}

inline model::Reply status(model::Reply::Status status, std::string reason) {
  model::Reply reply;
  reply.status = status;
  reply.reason = std::move(reason);
  return reply;
}

// A model that climbs: what it writes is somewhat better than what it was shown, now and then wrong, unreadable or a
// repetition, all by the question's seed.
inline model::Reply climb(const model::Question& question, std::stop_token = {}) {
  const auto dice = question.seed % 8;
  double best = 1;
  for (const auto& exemplar : question.exemplars) best = std::max(best, exemplar.judgement.score());
  const double score = best * (0.9 + 0.1 * static_cast<double>(question.seed / 8 % 7));
  if (question.key.attempt > 0) return said(reply_text(variant_source(score, "repaired")));
  if (dice == 0) return said("I would rather not say.");
  if (dice == 1) return said(reply_text(variant_source(score, "fault WRONG_RESULT"), "tensor cores"));
  if (dice == 2) return said(reply_text(variant_source(1.5)));
  return said(reply_text(variant_source(score)));
}

}  // namespace fakes
