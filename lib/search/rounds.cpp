// SPDX-License-Identifier: Apache-2.0
#include "search/rounds.hpp"

#include "model/answer.hpp"
#include "search/ablation.hpp"
#include "search/fingerprint.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace cudal1::search {

namespace {

using Status = model::Reply::Status;

// What a device cannot run, and what is too good to be true, the same model will not mend.
bool deserves_repair(const Variant& variant) {
  return failed(variant) && variant.key.attempt == 0 && variant.key.round > 0 &&
         variant.judgement.verdict != outcome::Verdict::unsupported &&
         variant.judgement.verdict != outcome::Verdict::implausible;
}

double share_of_limit(const outcome::Judgement& judgement) {
  double least = judgement.workloads.empty() ? 0 : 1;
  for (const auto& workload : judgement.workloads) least = std::min(least, workload.share_of_limit);
  return least;
}

}  // namespace

Rounds::Rounds(const task::Task& task, Referee& referee, const std::vector<model::Model*>& models,
               const prompt::Templates& templates, const Options& options, Observer& observer, const Recall& recall,
               std::stop_token stop)
    : referee_(referee), options_(options), observer_(observer), recall_(recall), stop_(std::move(stop)), budget_(options),
      questions_(task, models, templates, options, result_),
      asker_(observer, recall, budget_, stop_, [this](const Asked& asked) { screen_early(asked); }),
      screening_(referee, [this] { asker_.wake(); }) {}

Result Rounds::run() {
  begin();
  for (int round = 1; round <= options_.rounds && !stopped_; ++round) play(round);
  if (!stopped_)
    stop(Stop::rounds, options_.rounds == 1 ? "the one round that was asked for is done" : fmt::format("all {} rounds are done", options_.rounds));
  // Where the run goes on later, a final verdict would be taken of a best that is not final.
  const bool unfinished = result_.stopped_because == Stop::pending || result_.stopped_because == Stop::interrupted;
  Options options = options_;
  if (unfinished) options.confirmations = 0;
  if (!confirm_best(result_, referee_, options, observer_, recall_, stop_) && stop_.stop_requested() && !unfinished) {
    result_.stopped_because = Stop::interrupted;
    result_.reason = "it was interrupted before a final verdict";
  }
  if (options_.ablate && !resumable(result_.stopped_because) && result_.stopped_because != Stop::wall_limit) ablate();
  result_.usage = budget_.spent();
  observer_.stopped(result_);
  return std::move(result_);
}

void Rounds::ablate() {
  const auto* best = result_.best();
  if (!best || best->verdict().verdict != outcome::Verdict::faster || best->techniques.empty()) return;
  const Variant winner = *best;  // the list of variants grows
  const auto because = result_.stopped_because;
  const auto reason = result_.reason;
  stopped_ = false;
  ablating_ = true;
  std::vector<Asked> batch;
  for (const auto& undone : undo_sets(winner.techniques))
    batch.push_back(questions_.without(winner, undone, static_cast<int>(batch.size()) + 1));
  process(batch);
  if (stopped_ && resumable(result_.stopped_because)) return;
  const auto early = stopped_ ? result_.reason : "";
  result_.stopped_because = because;
  result_.reason = reason;
  if (stopped_) result_.reason += "; the techniques were not all taken out again: " + early;
  // A technique that harmed: what is better without it may be the winner.
  const auto better = [&](const Variant& variant) { return variant.reverts == winner.id && variant.score() > winner.judgement.score(); };
  if (std::any_of(result_.variants.begin(), result_.variants.end(), better))
    confirm_best(result_, referee_, options_, observer_, recall_, stop_);
}

void Rounds::begin() {
  if (auto start = recall_.start())
    result_.start = *std::move(start);
  else
    result_.start = {referee_.device(), referee_.reference()};
  questions_.begin();
  observer_.started(result_.start);
  check_limits();
  if (!options_.start_from.empty() && !stopped_) {
    Variant variant;
    variant.id = "start";
    variant.key = {0, 0, 0};
    variant.source = options_.start_from;
    enter(std::move(variant));
    settle(0);
  }
  if (options_.starter != nullptr && !stopped_) play_start();
}

void Rounds::play_start() {
  const std::size_t first = result_.variants.size();
  std::vector<Asked> batch;
  questions_.begin_round(0);
  for (int sample = 1; sample <= options_.samples; ++sample) batch.push_back(questions_.next({0, sample, 0}, options_.starter));
  process(batch);
  if (!stopped_) race(0, first);
}

void Rounds::play(int round) {
  const std::size_t first = result_.variants.size();
  std::vector<Asked> batch;
  questions_.begin_round(round);
  for (int sample = 1; sample <= options_.samples; ++sample) batch.push_back(questions_.next({round, sample, 0}));
  exhausted_ = 0;
  const auto to_repair = process(batch);
  if (!stopped_ && exhausted_ == options_.samples)
    return stop(Stop::replies_exhausted, batch.front().reply ? batch.front().reply->reason : "there are no more replies");
  if (!stopped_ && options_.repair && !to_repair.empty()) {
    std::vector<Asked> repairs;
    for (const auto index : to_repair) repairs.push_back(questions_.repair(result_.variants[index]));
    process(repairs);
  }
  if (stopped_) return;
  race(round, first);
  finish_round(round, first);
}

std::vector<std::size_t> Rounds::process(std::vector<Asked>& batch) {
  std::vector<Asked*> pointers;
  for (auto& asked : batch) pointers.push_back(&asked);
  asker_.submit(pointers);
  try {
    return process_in_order(batch);
  } catch (...) {
    asker_.finish(true);  // no thread may outlive the questions it works on
    throw;
  }
}

std::vector<std::size_t> Rounds::process_in_order(std::vector<Asked>& batch) {
  const std::size_t first = result_.variants.size();
  const model::Reply* pending = nullptr;
  for (auto& asked : batch) {
    const auto* reply = asker_.wait(asked);
    if (stop_.stop_requested() && !(reply && reply->status == Status::ok)) stop(Stop::interrupted, "it was interrupted");
    if (!reply && !stopped_)
      stop(budget_.cost_used_up() ? Stop::cost_limit : Stop::token_limit, budget_.cost_uncounted() ? "a reply came without its price, which --cost-limit needs" : "another reply would exceed the limit");
    if (stopped_) break;
    if (reply->status == Status::pending && !pending) pending = reply;
    // Every question is put once, so that all prompts of a round can be answered together; what comes after a missing
    // reply is judged when that one is there, in the same order as if it had never been missing.
    if (pending) continue;
    take(asked);
    settle(static_cast<std::size_t>(referee_.parallel() - 1));
    if (stopped_) break;
  }
  settle(0);
  if (pending && !stopped_) stop(Stop::pending, pending->reason);
  // Replies on their way when a model fails are paid for; after a limit or an interrupt nobody waits.
  asker_.finish(stopped_ && !model_failed(result_.stopped_because));
  if (stopped_) screening_.abandon();
  std::vector<std::size_t> to_repair;
  for (std::size_t index = first; index < result_.variants.size(); ++index)
    if (deserves_repair(result_.variants[index])) to_repair.push_back(index);
  return to_repair;
}

void Rounds::take(Asked& asked) {
  auto& reply = *asked.reply;
  Variant variant;
  variant.key = asked.question.key;
  variant.id = variant.key.text();
  variant.model = recall_.model(variant.key).value_or(asked.model->name());
  for (const auto& shown : asked.question.exemplars) variant.exemplars.push_back(shown.id);
  questions_.replied(asked);
  if (variant.key.attempt > 1) {
    variant.reverts = asked.question.exemplars.front().id;
    variant.undone = asked.question.undo;
  }
  if (variant.key.attempt == 1) variant.repairs = model::Key{variant.key.round, variant.key.sample, 0}.text();
  switch (reply.status) {
    case Status::unreachable: return stop(Stop::model_unreachable, reply.reason);
    case Status::no_credit: return stop(Stop::no_credit, reply.reason);
    case Status::denied: return stop(Stop::key_denied, reply.reason);
    case Status::rejected: return stop(Stop::request_rejected, reply.reason);
    case Status::exhausted:
      ++exhausted_;
      if (!ablating_) return;
      variant.status = Variant::Status::refused;
      variant.reason = reply.reason;
      break;
    case Status::pending: return;
    case Status::refused:
    case Status::truncated:
      variant.status = reply.status == Status::refused ? Variant::Status::refused : Variant::Status::truncated;
      variant.reason = reply.reason;
      break;
    case Status::ok:
      if (auto answer = model::parse_answer(reply.text)) {
        variant.analysis = std::move(answer->analysis);
        variant.design = std::move(answer->design);
        variant.source = std::move(answer->source);
        variant.techniques = std::move(answer->techniques);
        return enter(std::move(variant));
      } else {
        variant.status = Variant::Status::malformed;
        variant.reason = answer.error();
        questions_.malformed(variant.id, std::move(reply.text));
      }
      break;
  }
  open_.push_back(std::move(variant));
}

void Rounds::screen_early(const Asked& asked) {
  const auto id = asked.question.key.text();
  if (asked.reply->status != Status::ok || recall_.judgement(id)) return;
  const auto answer = model::parse_answer(asked.reply->text);
  if (!answer) return;
  const auto print = fingerprint(answer->source);
  if (!fingerprints_.contains(print)) screening_.begin(print, answer->source, id + ".cu");
}

void Rounds::enter(Variant variant) {
  const auto print = fingerprint(variant.source);
  const auto [found, fresh] = fingerprints_.emplace(print, variant.id);
  if (!fresh) {
    variant.status = Variant::Status::duplicate;
    variant.same_as = found->second;
  } else if (!recall_.judgement(variant.id)) {
    screening_.begin(print, variant.source, variant.id + ".cu");
  }
  open_.push_back(std::move(variant));
}

void Rounds::settle(std::size_t most) {
  // A reason to stop lets those at hand be finished, and no further ones be begun.
  while (open_.size() > (stopped_ ? 0 : most)) {
    auto variant = std::move(open_.front());
    open_.pop_front();
    if (variant.status == Variant::Status::duplicate) {
      const auto twin = std::find_if(result_.variants.begin(), result_.variants.end(),
                                     [&](const Variant& earlier) { return earlier.id == variant.same_as; });
      variant.judgement = twin->judgement;
    } else if (variant.status == Variant::Status::judged) {
      if (auto known = recall_.judgement(variant.id)) {
        variant.judgement = *std::move(known);
        referee_.recall(variant.source, variant.id + ".cu", variant.judgement);
      } else {
        const auto print = fingerprint(variant.source);
        observer_.judging(variant);
        asker_.wait_until([&] { return screening_.done(print); });
        variant.judgement = screening_.take(print);
      }
    }
    tell(std::move(variant));
    check_limits();
  }
}

void Rounds::tell(Variant variant) {
  result_.variants.push_back(std::move(variant));
  const auto& told = result_.variants.back();
  observer_.judged(told);
  if (told.score() > best_score_) {
    best_score_ = told.score();
    observer_.improved(told);
  }
}

void Rounds::race(int round, std::size_t first_variant) {
  const auto racers = contenders(result_.variants, first_variant);
  if (racers.empty()) return;
  auto known = recall_.race(round);
  if (!known) {
    std::vector<std::string> ids;
    std::vector<judge::Entrant> entrants;
    for (const auto index : racers) {
      const auto& variant = result_.variants[index];
      ids.push_back(variant.id);
      entrants.push_back({variant.source, variant.id + ".cu", variant.judgement.tunables});
    }
    observer_.racing(ids);
    const auto raced = referee_.race(entrants);
    if (!raced) return;
    known = placed(round, *raced, racers, result_.variants, first_variant);
  }
  rescore(*known, result_.variants);
  result_.races.push_back(*std::move(known));
  observer_.raced(result_.races.back());
  const auto best = std::max_element(result_.variants.begin(), result_.variants.end(),
                                     [](const Variant& a, const Variant& b) { return a.score() < b.score(); });
  if (best->score() == best_score_) return;
  best_score_ = best->score();
  observer_.improved(*best);
}

void Rounds::finish_round(int number, std::size_t first_variant) {
  Round round;
  round.round = number;
  round.best_so_far = best_score_;
  for (std::size_t index = first_variant; index < result_.variants.size(); ++index) {
    const auto& variant = result_.variants[index];
    // What was given before says nothing new.
    if (variant.status == Variant::Status::duplicate) {
      ++round.duplicates;
      continue;
    }
    ++round.answers;
    if (variant.right()) ++round.right;
    if (variant.right() && variant.judgement.verdict == outcome::Verdict::faster) ++round.faster;
    round.best = std::max(round.best, variant.score());
  }
  result_.rounds.push_back(round);
  observer_.round_finished(round);

  if (!options_.stagnation || number >= options_.rounds) return;
  int idle = 0;
  for (auto last = result_.rounds.rbegin(); last != result_.rounds.rend(); ++last, ++idle) {
    const auto before = std::next(last);
    if (last->best_so_far > (before == result_.rounds.rend() ? 0 : before->best_so_far)) break;
  }
  if (idle >= *options_.stagnation)
    stop(Stop::stagnation, fmt::format("{} round{} brought no improvement", idle, idle == 1 ? "" : "s"));
}

void Rounds::check_limits() {
  if (stopped_) return;
  if (stop_.stop_requested()) return stop(Stop::interrupted, "it was interrupted");
  const auto elapsed = base::now() - began_;
  if (options_.wall_limit && elapsed >= *options_.wall_limit)
    return stop(Stop::wall_limit, fmt::format("its {:.0f} s are over", options_.wall_limit->count()));
  if (ablating_) return;
  if (options_.target_speedup && best_score_ >= *options_.target_speedup)
    return stop(Stop::target_speedup, fmt::format("{:.2f}× reaches the target of {:.2f}×", best_score_, *options_.target_speedup));
  if (options_.share_of_limit)
    for (const auto& variant : result_.variants)
      if (variant.right() && share_of_limit(variant.judgement) >= *options_.share_of_limit)
        return stop(Stop::share_of_limit, fmt::format("{} reaches {:.0f} % of the speed of light", variant.id,
                                                      100 * share_of_limit(variant.judgement)));
}

void Rounds::stop(Stop because, std::string reason) {
  if (stopped_) return;
  stopped_ = true;
  result_.stopped_because = because;
  result_.reason = std::move(reason);
}

}  // namespace cudal1::search
