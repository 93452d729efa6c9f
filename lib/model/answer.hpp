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
  std::string source;                   // the kernel file: of several fenced blocks the last that launches
  std::vector<std::string> techniques;  // what the line «Techniques: …» of the design names, lower case
};

// What costs no guess is no error: headings at any level or in bold, a block or a kernel file alone, a reply fenced as a
// whole. The error is one sentence that the model can act on: there is no code, or its block is not closed. Text between
// <think> and </think> in front of the answer is ignored.
tl::expected<Answer, std::string> parse_answer(std::string_view reply);

}  // namespace cudal1::model
