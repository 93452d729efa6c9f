// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::model {

// A reply taken apart by the three-section protocol.
struct Answer {
  std::string analysis;                 // «## Performance Analysis», without its heading
  std::string design;                   // «## Algorithm Design»
  std::string source;                   // the last fenced block of «## Code Implementation»: a kernel file
  std::vector<std::string> techniques;  // what the line «Techniques: …» of the design names, lower case
};

// The error is one sentence that the model can act on: which heading is missing, doubled or out of order, or that the
// third section holds no closed code block. Text between <think> and </think> in front of the answer is ignored.
tl::expected<Answer, std::string> parse_answer(std::string_view reply);

}  // namespace cudal1::model
