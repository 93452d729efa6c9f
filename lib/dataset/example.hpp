// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dataset/rows.hpp"

#include "search/variant.hpp"
#include "task/task.hpp"

#include <string>
#include <utility>
#include <vector>

namespace cudal1::dataset {

// A run's task with its distinct answers.
struct Source {
  explicit Source(const store::Run& run);

  const store::Run& run;
  task::Task task;
  std::string structure;
  std::vector<const search::Variant*> right;   // by rising score
  std::vector<const search::Variant*> wrong;   // judged, and not right
  std::string split() const;
};

// Role and text.
using Messages = std::vector<std::pair<std::string, std::string>>;

// The prompt that shows these answers, in the order given.
Messages prompt_of(const Source& source, const std::vector<const search::Variant*>& shown, const prompt::Templates& templates, Style style);
std::string answer_of(const search::Variant& variant, Style style);

}  // namespace cudal1::dataset
