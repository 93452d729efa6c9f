// SPDX-License-Identifier: Apache-2.0
#include "search/questions.hpp"

#include "base/random.hpp"
#include "search/exemplars.hpp"
#include "search/lessons.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace cudal1::search {

namespace {

constexpr std::uint64_t reply_stream = 2;  // exemplars draw from others

std::uint64_t reply_seed(std::uint64_t seed, const model::Key& key) {
  const auto counter = (static_cast<std::uint64_t>(key.round) << 40) | (static_cast<std::uint64_t>(key.sample) << 8) |
                       static_cast<std::uint64_t>(key.attempt);
  const auto words = base::philox(seed, counter, reply_stream);
  return (std::uint64_t{words[0]} << 32) | words[1];
}

// What a prompt may be long, in bytes: three make a token of code at the least.
std::size_t prompt_limit(const model::Model& model) {
  if (model.context_tokens() <= 0) return prompt::most_bytes;
  const auto left = std::max(model.context_tokens() - model.output_tokens(), model.context_tokens() / 4);
  return std::min(prompt::most_bytes, static_cast<std::size_t>(left) * 3);
}

}  // namespace

bool failed(const Variant& variant) {
  if (variant.status == Variant::Status::malformed) return true;
  return variant.status == Variant::Status::judged && !outcome::is_right(variant.judgement.verdict);
}

Questions::Questions(const task::Task& task, const std::vector<model::Model*>& models, const prompt::Templates& templates,
                     const Options& options, const Result& result)
    : task_(task), models_(models), templates_(templates), options_(options), result_(result) {}

void Questions::begin() { setting_ = setting(task_, result_.start, options_.hint); }

void Questions::begin_round(int round) { records_ = model_records(round); }

void Questions::replied(const Asked& asked) {
  usages_[asked.question.key] = asked.reply->usage;
  if (asked.reply->status == model::Reply::Status::exhausted) exhausted_.insert(asked.model->name());
}

void Questions::malformed(const std::string& id, std::string reply) { malformed_[id] = std::move(reply); }

Asked Questions::next(const model::Key& key, model::Model* model) {
  Asked asked;
  asked.question.key = key;
  asked.model = model;
  if (model == nullptr) {
    const auto chosen = choose_model(records_);
    ++records_[chosen].asked;
    asked.model = models_[chosen];
  }
  prompt::Request request;
  request.exemplars = exemplars(key);
  // Without exemplars every round is a first one.
  const bool shows_history = options_.sampling != Sampling::none;
  if (const auto failed = shows_history ? failures(key.round) : std::vector<const Variant*>(); !failed.empty()) {
    request.failure = exemplar(*failed.front());
    request.failure_format = failed.front()->status == Variant::Status::malformed ? failed.front()->reason : "";
    request.other_failures = other_failures(failed);
  }
  if (shows_history && options_.show_scores) request.lessons = lessons(result_.variants);
  request.technique = suggest_technique(shows_history && options_.show_scores ? result_.variants : std::vector<Variant>(), key.sample);
  render(asked, std::move(request));
  return asked;
}

Asked Questions::repair(const Variant& variant) {
  Asked asked;
  asked.question.key = {variant.key.round, variant.key.sample, 1};
  asked.model = author(variant);
  prompt::Request request;
  request.exemplars = exemplars({variant.key.round, variant.key.sample, 0});
  request.failure = exemplar(variant);
  if (variant.status == Variant::Status::malformed) {
    request.failure_format = variant.reason;
    request.failure_reply = malformed_.at(variant.id);
  }
  render(asked, std::move(request));
  return asked;
}

Asked Questions::without(const Variant& winner, const std::vector<std::string>& undone, int number) {
  Asked asked;
  asked.question.key = {winner.key.round, winner.key.sample, 1 + number};
  asked.question.undo = undone;
  asked.model = author(winner);
  prompt::Request request;
  request.exemplars = {exemplar(winner)};
  request.exemplars.front().judgement = winner.verdict();
  request.undo = undone;
  render(asked, std::move(request));
  return asked;
}

model::Model* Questions::author(const Variant& variant) const {
  const auto by_name = [&](const model::Model* model) { return model->name() == variant.model; };
  const auto found = std::find_if(models_.begin(), models_.end(), by_name);
  return found == models_.end() ? models_.front() : *found;
}

// A function of earlier rounds alone, which the journal remembers, so that a resumed run chooses alike.
std::vector<ModelRecord> Questions::model_records(int before_round) const {
  std::vector<ModelRecord> records(models_.size());
  const auto score_of = [&](const std::string& id) {
    const auto shown = std::find_if(result_.variants.begin(), result_.variants.end(), [&](const Variant& other) { return other.id == id; });
    return shown == result_.variants.end() ? 1.0 : shown->judgement.score();
  };
  for (std::size_t index = 0; index < models_.size(); ++index) {
    auto& record = records[index];
    record.exhausted = exhausted_.contains(models_[index]->name());
    for (const auto& variant : result_.variants) {
      const auto usage = usages_.find(variant.key);
      if (variant.key.round >= before_round || variant.model != models_[index]->name() || usage == usages_.end()) continue;
      ++record.asked;
      ++record.replies;
      record.usage += usage->second;
      double shown = 1;
      for (const auto& id : variant.exemplars) shown = std::max(shown, score_of(id));
      if (variant.status == Variant::Status::judged && variant.right())
        record.gain += std::max(0.0, std::log(variant.judgement.score() / shown));
    }
  }
  return records;
}

void Questions::render(Asked& asked, prompt::Request request) {
  auto& question = asked.question;
  request.key = question.key;
  request.scores = options_.show_scores;
  if (options_.show_scores && request.key.attempt == 0) request.memory = options_.memory;
  auto rendered = prompt::render(templates_, setting_, request, prompt_limit(*asked.model));
  question.system = std::move(rendered.system);
  question.user = std::move(rendered.user);
  question.cut = std::move(rendered.cut);
  question.device = setting_.device;
  question.exemplars = std::move(request.exemplars);
  question.failure = std::move(request.failure);
  question.hint = options_.hint;
  question.samples = options_.samples;
  for (const auto& variant : result_.variants)
    if (variant.status == Variant::Status::judged && variant.key.round < question.key.round)
      question.earlier.push_back(exemplar(variant));
  question.seed = reply_seed(options_.seed, question.key);
}

model::Exemplar Questions::exemplar(const Variant& variant) const { return search::exemplar(variant); }

std::vector<model::Exemplar> Questions::exemplars(const model::Key& key) const {
  // A round sees earlier rounds only, whatever of it is already judged.
  std::vector<Variant> earlier;
  for (const auto& variant : result_.variants)
    if (variant.key.round < key.round) earlier.push_back(variant);
  return shown_exemplars(earlier, task_, result_.start.reference.judgement, options_, key);
}

std::vector<const Variant*> Questions::failures(int before_round) const {
  const auto repaired = [&](const Variant& variant) {
    return std::any_of(result_.variants.begin(), result_.variants.end(), [&](const Variant& later) {
      return later.repairs == variant.id && later.right();
    });
  };
  std::vector<const Variant*> found;
  for (auto variant = result_.variants.rbegin(); variant != result_.variants.rend(); ++variant)
    if (variant->key.round < before_round && failed(*variant) && !repaired(*variant)) found.push_back(&*variant);
  return found;
}

std::vector<std::string> Questions::other_failures(const std::vector<const Variant*>& failures) const {
  std::vector<std::string> lines;
  std::set<outcome::Verdict> told;
  for (const auto* variant : failures) {
    const auto& judgement = variant->judgement;
    const bool another = variant->status == Variant::Status::judged && told.insert(judgement.verdict).second;
    if (another && variant != failures.front())
      lines.push_back(fmt::format("{}: {}: {}", variant->id, outcome::name(judgement.verdict, judgement.predicted), judgement.message));
  }
  return lines;
}

}  // namespace cudal1::search
