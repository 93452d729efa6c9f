// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/options.hpp"
#include "search/variant.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <vector>

namespace cudal1::search {

// The variants that question `key` shows, by rising score, as indices into `variants`. Only right ones with a score and
// no duplicates take part. A draw depends on seed, round and sample alone, never on how many draws came before.
std::vector<std::size_t> choose_exemplars(const std::vector<Variant>& variants, const Options& options,
                                          const model::Key& key);

// These with what a prompt shows of them; the reference among them where there are too few. In a random order where the
// options hide the scores.
std::vector<model::Exemplar> shown_exemplars(const std::vector<Variant>& variants, const task::Task& task, const outcome::Judgement& reference,
                                             const Options& options, const model::Key& key);

// A variant as a prompt shows it.
model::Exemplar exemplar(const Variant& variant);

}  // namespace cudal1::search
