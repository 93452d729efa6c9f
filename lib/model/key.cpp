// SPDX-License-Identifier: Apache-2.0
#include "model/model.hpp"
#include "model/reply_folder.hpp"

#include <charconv>

#include <fmt/format.h>

namespace cudal1::model {

namespace {

// Takes `prefix` and at least two digits from the front of `text`.
bool take_number(std::string_view& text, std::string_view prefix, int& value) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  const char* first = text.data();
  const auto [end, problem] = std::from_chars(first, first + text.size(), value);
  if (problem != std::errc{} || value < 0 || end - first < 2) return false;
  text.remove_prefix(static_cast<std::size_t>(end - first));
  return true;
}

}  // namespace

std::string Key::text() const {
  const std::string base = fmt::format("r{:02}-s{:02}", round, sample);
  if (attempt == 0) return base;
  return attempt == 1 ? base + "-repair" : fmt::format("{}-without{}", base, attempt - 1);
}

std::optional<Key> parse_key(std::string_view text) {
  Key key;
  if (!take_number(text, "r", key.round) || !take_number(text, "-s", key.sample)) return std::nullopt;
  if (text.empty()) return key;
  key.attempt = 1;
  if (text == "-repair") return key;
  constexpr std::string_view without = "-without";
  if (!text.starts_with(without)) return std::nullopt;
  text.remove_prefix(without.size());
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), key.attempt);
  if (problem != std::errc{} || end != text.data() + text.size() || key.attempt < 1) return std::nullopt;
  ++key.attempt;
  return key;
}

}  // namespace cudal1::model
