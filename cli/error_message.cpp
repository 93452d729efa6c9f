// SPDX-License-Identifier: Apache-2.0
#include "error_message.hpp"

#include "base/clock.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

bool given(const std::vector<std::string_view>& words, std::string_view option) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, option) != end;
}

bool json_progress(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "--progress=json" || (words[i] == "--progress" && i + 1 < words.size() && words[i + 1] == "json")) return true;
  return false;
}

std::string line(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

}  // namespace

void print_error(const std::vector<std::string_view>& words, std::string_view message, ExitCode code) {
  while (message.ends_with('\n')) message.remove_suffix(1);
  if (json_progress(words))
    fmt::print(stderr, "{}", line({{"event", "error"}, {"time", base::timestamp()}, {"message", message}, {"exit_code", static_cast<int>(code)}}));
  else
    fmt::print(stderr, "cudal1: {}\n", message);
  if (given(words, "--json"))
    fmt::print("{}", line({{"schema", 1}, {"error", {{"message", message}, {"exit_code", static_cast<int>(code)}}}}));
}

}  // namespace cudal1::cli
