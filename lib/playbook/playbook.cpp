// SPDX-License-Identifier: Apache-2.0
#include "playbook/playbook.hpp"

#include "playbook/candidate.hpp"
#include "playbook/choice.hpp"
#include "playbook/reply.hpp"

#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::playbook {
namespace {

class Playbook final : public model::Model {
 public:
  Playbook(const task::Task& task, outcome::Precision precision) : task_(task), precision_(precision) {}

  std::string name() const override { return "builtin"; }

  model::Reply answer(const model::Question& question, std::stop_token) override {
    const base::Seconds start = base::now();
    std::call_once(once_, [&] { candidates_ = candidates_for(task_, precision_); });
    model::Reply reply;
    std::optional<std::size_t> chosen;
    if (!question.undo.empty() && !question.exemplars.empty()) {
      chosen = choose_without(candidates_.list, candidate_id(question.exemplars.front().source), question.undo);
      if (!chosen) {
        reply.status = model::Reply::Status::refused;
        reply.reason = fmt::format("the playbook has no kernel without {} that keeps the rest", fmt::join(question.undo, " and "));
        return reply;
      }
    } else if (question.key.attempt > 0) {
      const std::string failed = question.failure ? candidate_id(question.failure->source) : "";
      chosen = choose_repair(candidates_.list, failed);
    } else {
      chosen = choose(candidates_.list, question);
    }
    if (chosen) {
      reply.text = write_reply(task_, candidates_.list[*chosen], question, candidates_.list);
    } else {
      reply.status = model::Reply::Status::exhausted;
      reply.reason = candidates_.refusal.empty()  ? "the playbook has no further rule for this task"
                     : candidates_.list.empty() ? fmt::format("the playbook has no rule for this task: {}; another model (--model) may know one", candidates_.refusal)
                                                : fmt::format("the playbook has no further rule for the task's own kernel, and none for its torch line: {}", candidates_.refusal);
    }
    reply.seconds = base::now() - start;
    return reply;
  }

 private:
  const task::Task& task_;
  outcome::Precision precision_;
  std::once_flag once_;
  Candidates candidates_;
};

}  // namespace

std::unique_ptr<model::Model> open(const task::Task& task, outcome::Precision precision) {
  return std::make_unique<Playbook>(task, precision);
}

}  // namespace cudal1::playbook
