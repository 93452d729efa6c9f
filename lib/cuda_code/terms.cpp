// SPDX-License-Identifier: Apache-2.0
#include "cuda_code/terms.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::cuda_code {

std::string Sum::text() const { return terms_.empty() ? "0" : fmt::format("{}", fmt::join(terms_, " + ")); }

std::string Sum::behind() const { return terms_.empty() ? "" : " + " + text(); }

void Conditions::require(const std::string& condition) {
  if (std::find(conditions_.begin(), conditions_.end(), condition) == conditions_.end()) conditions_.push_back(condition);
}

std::string Conditions::text() const { return fmt::format("{}", fmt::join(conditions_, " && ")); }

}  // namespace cudal1::cuda_code
