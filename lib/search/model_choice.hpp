// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"

#include <cstddef>
#include <vector>

namespace cudal1::search {

// What one of several models was asked and what came of it.
struct ModelRecord {
  int asked = 0;           // questions, those without a reply yet included
  int replies = 0;
  double gain = 0;         // sum of log(score / best score shown), of replies that beat what they were shown
  model::Usage usage;      // sum
  bool exhausted = false;  // it has no further reply
};

// The model that gets the next sample: the highest upper confidence bound on gain per reply, divided by the square root
// of what a reply costs, so that at four times the price a model has to bring twice as much. Prices are compared in
// dollars where every model's is known, else in tokens, and one below a twentieth of the dearest counts as that much.
// A model that was never asked comes first, in the order of the list.
std::size_t choose_model(const std::vector<ModelRecord>& records);

}  // namespace cudal1::search
