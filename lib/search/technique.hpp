// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/technique.hpp"
#include "search/variant.hpp"

#include <string_view>
#include <vector>

namespace cudal1::search {

// How an answer shows a technique. Models name them in words of their own, and some that their code does not make.
struct Technique {
  outcome::Technique technique;
  std::vector<std::string_view> marks;  // any of them in the code shows it; empty: no code shows it for sure,
  std::vector<std::string_view> words;  // and any of these in a label of its author names it

  std::string_view name() const { return outcome::name(technique); }
  bool used_by(const Variant& variant) const;
};

// Those worth suggesting, in the order in which they are suggested before anything is known.
const std::vector<Technique>& techniques();

}  // namespace cudal1::search
