// SPDX-License-Identifier: Apache-2.0
#include "model/thinking.hpp"

#include "base/text.hpp"

namespace cudal1::model {

Thinking split_thinking(std::string_view text) {
  constexpr std::string_view open = "<think>", close = "</think>";
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || !text.substr(begin).starts_with(open)) return {"", text};
  const auto rest = text.substr(begin + open.size());
  const auto end = rest.find(close);
  if (end == std::string_view::npos) return {rest, ""};
  return {base::trim(rest.substr(0, end)), rest.substr(end + close.size())};
}

}  // namespace cudal1::model
