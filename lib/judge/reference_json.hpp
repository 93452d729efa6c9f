// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/judge.hpp"

#include <string>
#include <vector>

namespace cudal1::judge {

// A reference's times as run folders, reports and `--json` have them, and back.
std::string times_json(const ReferenceFacts& reference);
std::vector<ReferenceFacts::Time> times_from_json(const std::string& text);

}  // namespace cudal1::judge
