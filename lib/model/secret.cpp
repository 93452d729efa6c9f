// SPDX-License-Identifier: Apache-2.0
#include "model/secret.hpp"

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

namespace cudal1::model {

namespace {

constexpr base::Seconds command_limit{60};

// What does not fit into a header line would otherwise end there as another header.
Secret checked(std::string_view text, const std::string& source) {
  text = base::trim(text);
  const auto fits = [](char c) { return c > ' ' && c < 0x7f; };
  if (text.empty() || !std::all_of(text.begin(), text.end(), fits))
    throw base::Error(base::Fault::credentials,
                      fmt::format("{} holds no key: one word without spaces or line breaks was expected", source));
  return Secret(std::string(text));
}

}  // namespace

Secret::~Secret() { ::explicit_bzero(text_.data(), text_.size()); }

std::string Secret::removed_from(std::string text) const {
  // A word that stands in for a key, as servers of one's own are given, is no secret and may be a part of any text.
  constexpr std::size_t shortest = 12;
  constexpr std::string_view instead = "[key]";
  if (text_.size() < shortest) return text;
  for (auto at = text.find(text_); at != std::string::npos; at = text.find(text_, at + instead.size()))
    text.replace(at, text_.size(), instead);
  return text;
}

std::optional<Secret> key_from_environment(const std::vector<std::string>& variables) {
  for (const auto& name : variables)
    if (const char* value = std::getenv(name.c_str()); value != nullptr && !base::trim(value).empty())
      return checked(value, "the environment variable " + name);
  return std::nullopt;
}

Secret key_from_command(const std::vector<std::string>& command) {
  const std::string shown = fmt::format("--key-command {}", fmt::join(command, " "));
  base::Finished finished;
  try {
    finished = base::run({command.front(), {command.begin() + 1, command.end()}}, "", command_limit, 1 << 16);
  } catch (const base::Error& error) {
    throw base::Error(base::Fault::credentials, fmt::format("{}: {}", shown, error.what()));
  }
  // What it printed is not quoted: it may hold the key.
  if (finished.timed_out || finished.exit_code != 0)
    throw base::Error(base::Fault::credentials,
                      fmt::format("{} {}; run it by hand to see why", shown,
                                  finished.timed_out ? fmt::format("gave no key within {:.0f} s", command_limit.count())
                                                     : fmt::format("ended with exit code {}", finished.exit_code)));
  auto key = checked(finished.out, shown);
  ::explicit_bzero(finished.out.data(), finished.out.size());
  return key;
}

}  // namespace cudal1::model
