// SPDX-License-Identifier: Apache-2.0
#include "playbook/playbook.hpp"

#include "playbook/candidate.hpp"
#include "playbook/choice.hpp"
#include "playbook/reply.hpp"
#include "schedule/machine.hpp"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::playbook {
namespace {

// Whether answers were judged and the task's own kernel is still the fastest.
bool nothing_faster(const model::Question& question) {
  return !question.earlier.empty() &&
         std::all_of(question.earlier.begin(), question.earlier.end(), [](const model::Exemplar& tried) { return tried.judgement.score() < 1; });
}

class Playbook final : public model::Model {
 public:
  Playbook(const task::Task& task, outcome::Precision precision) : task_(task), precision_(precision) {}

  std::string name() const override { return "builtin"; }

  model::Reply answer(const model::Question& question, std::stop_token) override {
    const base::Seconds start = base::now();
    const std::shared_ptr<const Candidates> known = candidates_on(question.device, question.key.attempt > 0);
    const Candidates& candidates = *known;
    const std::vector<Candidate>* list = &candidates.list;
    model::Reply reply;
    std::optional<std::size_t> chosen;
    if (!question.undo.empty() && !question.exemplars.empty()) {
      const std::string winner = candidate_id(question.exemplars.front().source);
      chosen = choose_without(candidates.list, winner, question.undo);
      if (!chosen) chosen = choose_without(candidates.own, winner, question.undo), list = &candidates.own;
      if (!chosen) {
        reply.status = model::Reply::Status::refused;
        reply.reason = fmt::format("the built-in model has no kernel that lacks only {}", fmt::join(question.undo, " and "));
        return reply;
      }
    } else if (question.key.attempt > 0) {
      const std::string failed = question.failure ? candidate_id(question.failure->source) : "";
      chosen = choose_repair(candidates.list, failed, question.key.sample);
    } else {
      if (nothing_faster(question)) chosen = choose(candidates.own, question), list = &candidates.own;
      if (!chosen) chosen = choose(candidates.list, question), list = &candidates.list;
    }
    if (chosen) {
      reply.text = write_reply(task_, (*list)[*chosen], question, *list);
    } else {
      reply.status = model::Reply::Status::exhausted;
      reply.reason = candidates.refusal.empty()  ? "the playbook has no further rule for this task"
                     : candidates.list.empty() ? fmt::format("the playbook has no rule for this task: {}; another model (--model) may know one", candidates.refusal)
                                                : fmt::format("the playbook has no further rule for the task's own kernel, and none for its torch line: {}", candidates.refusal);
    }
    reply.seconds = base::now() - start;
    return reply;
  }

 private:
  // A run asks for one device; questions may come from several threads.
  std::shared_ptr<const Candidates> candidates_on(const outcome::DeviceFacts& device, bool repairs) {
    const std::lock_guard lock(mutex_);
    const schedule::Machine machine = schedule::machine_of(device);
    if (candidates_ == nullptr || !(machine == machine_)) {
      candidates_ = std::make_shared<Candidates>(candidates_for(task_, precision_, device));
      repairs_ = false;
    }
    machine_ = machine;
    if (repairs && !repairs_) {
      auto more = std::make_shared<Candidates>(*candidates_);
      for (Candidate& each : repairs_for(task_, precision_, *candidates_, device)) more->list.push_back(std::move(each));
      candidates_ = std::move(more);
      repairs_ = true;
    }
    return candidates_;
  }

  const task::Task& task_;
  outcome::Precision precision_;
  std::mutex mutex_;
  schedule::Machine machine_;
  std::shared_ptr<const Candidates> candidates_;  // for that machine; none yet
  bool repairs_ = false;                          // repairs_for() are among them
};

}  // namespace

std::unique_ptr<model::Model> open(const task::Task& task, outcome::Precision precision) {
  return std::make_unique<Playbook>(task, precision);
}

std::string collapse(const task::Task& task) {
  constexpr double most = 0.5;  // of the arithmetic
  const Candidate* written = nullptr;
  const Candidate* shortest = nullptr;
  const auto candidates = candidates_for(task);
  for (const Candidate& candidate : candidates.list) {
    if (candidate.id.starts_with("strength/")) continue;  // cheaper operations, but as many
    const Candidate*& least = candidate.id.starts_with("as written/") ? written : shortest;
    if (least == nullptr || candidate.total.operations < least->total.operations) least = &candidate;
  }
  if (written == nullptr || shortest == nullptr || shortest->total.operations > (1 - most) * written->total.operations) return "";
  return fmt::format("algebra does without most of the arithmetic as written: {}", shortest->id.substr(0, shortest->id.find('/')));
}

}  // namespace cudal1::playbook
