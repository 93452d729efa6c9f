// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace cudal1::model {

// Servers without a parser for it leave a model's reasoning in the text, as <think>…</think> in front of the answer.
struct Thinking {
  std::string_view reasoning, answer;
};
// A block that is never closed leaves no answer.
Thinking split_thinking(std::string_view text);

}  // namespace cudal1::model
