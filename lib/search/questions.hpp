// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/asker.hpp"
#include "search/model_choice.hpp"
#include "search/search.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace cudal1::search {

// Judged and not right, or an answer whose form cannot be read.
bool failed(const Variant& variant);

// What the models are asked: which of them, shown which of the variants so far. Everything that it chooses is a function
// of the seed and of earlier rounds, so that a resumed run puts the same questions. What it is given outlives it.
class Questions {
 public:
  Questions(const task::Task& task, const std::vector<model::Model*>& models, const prompt::Templates& templates,
            const Options& options, const Result& result);

  void begin();                // the result's start is there
  void begin_round(int round);

  Asked next(const model::Key& key, model::Model* model = nullptr);  // null: the search chooses whom to ask
  Asked repair(const Variant& failed);
  // The winner again without the techniques in `undone`; `number` counts these questions from 1.
  Asked without(const Variant& winner, const std::vector<std::string>& undone, int number);

  // What a reply cost and whether its model has more decides whom later rounds ask; the text of one whose form could
  // not be read is shown to its author again.
  void replied(const Asked& asked);
  void malformed(const std::string& id, std::string reply);

 private:
  std::vector<ModelRecord> model_records(int before_round) const;
  model::Model* author(const Variant& variant) const;
  void render(Asked& asked, prompt::Request request);
  model::Exemplar exemplar(const Variant& variant) const;
  std::vector<model::Exemplar> exemplars(const model::Key& key) const;
  std::vector<const Variant*> failures(int before_round) const;   // not repaired, the latest first
  // Of those that failed in another way than the first one, the latest of each verdict: one line each.
  std::vector<std::string> other_failures(const std::vector<const Variant*>& failures) const;

  const task::Task& task_;
  const std::vector<model::Model*>& models_;
  const prompt::Templates& templates_;
  const Options& options_;
  const Result& result_;
  prompt::Setting setting_;
  std::vector<ModelRecord> records_;  // of the models, in their order, for the round at hand
  std::set<std::string> exhausted_;   // names of models
  std::map<model::Key, model::Usage> usages_;
  std::map<std::string, std::string> malformed_;  // replies by their variants' id
};

}  // namespace cudal1::search
