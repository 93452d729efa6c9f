// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/variant.hpp"

#include <string_view>
#include <vector>

namespace cudal1::search {

// One of the moves that matter on a GPU. Models name them in words of their own, and some that their code does not make.
struct Technique {
  std::string_view name;
  std::vector<std::string_view> marks;  // any of them in the code shows it; empty: no code shows it for sure,
  std::vector<std::string_view> words;  // and any of these in a label of its author names it

  bool used_by(const Variant& variant) const;
};

// In the order in which they are suggested before anything is known.
const std::vector<Technique>& techniques();

}  // namespace cudal1::search
