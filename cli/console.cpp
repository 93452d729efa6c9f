// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

using json = nlohmann::ordered_json;

bool set_and_not_empty(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// The first of these that is set decides, as everywhere.
bool plain_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return std::strcmp(value, "C") == 0 || std::strcmp(value, "POSIX") == 0;
  return false;
}

}  // namespace

std::string in_locale(std::string_view text) {
  static const bool plain = plain_locale();
  if (!plain) return std::string(text);
  std::string result(text);
  for (const auto& [sign, instead] : {std::pair<std::string_view, std::string_view>{"·", "-"}, {"…", "..."}, {"×", "x"}, {"→", "->"}, {"«", "\""}, {"»", "\""}, {"—", "-"}, {"–", "-"}})
    for (std::size_t at = 0; (at = result.find(sign, at)) != std::string::npos; at += instead.size()) result.replace(at, sign.size(), instead);
  return result;
}

bool Console::terminal(std::FILE* stream) const { return isatty(fileno(stream)) != 0; }

bool Console::colour(std::FILE* stream) const {
  if (options.no_color || options.color == "never") return false;
  if (options.color == "always") return true;
  if (set_and_not_empty("NO_COLOR")) return false;
  if (set_and_not_empty("FORCE_COLOR") || set_and_not_empty("CLICOLOR_FORCE")) return true;
  const char* kind = std::getenv("TERM");
  if (kind != nullptr && std::strcmp(kind, "dumb") == 0) return false;
  return terminal(stream);
}

int Console::width(std::FILE* stream) const {
  if (!terminal(stream)) return 0;
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) return size.ws_col;
  return 100;
}

void Console::result(std::string_view text) const {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw base::Error(base::Fault::not_written, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void Console::print(std::string_view text) const { result(in_locale(text)); }

void Console::note(std::string_view text) const {
  if (!options.quiet) warn(text);
}

void Console::warn(std::string_view text) const {
  if (options.progress != "json") {
    fmt::print(stderr, "{}\n", in_locale(text));
    return;
  }
  const json event = {{"event", "note"}, {"time", base::timestamp()}, {"text", text}};
  fmt::print(stderr, "{}\n", event.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::optional<bool> Console::ask(std::string_view question) const {
  if (options.no_input || !terminal(stdin) || !terminal(stderr)) return std::nullopt;
  fmt::print(stderr, "{} [y/N] ", question);
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  const auto word = base::trim(answer);
  return word == "y" || word == "Y" || word == "yes";
}

std::optional<std::string> Console::ask_text(std::string_view question) const {
  if (options.no_input || options.quiet || !terminal(stdin) || !terminal(stderr)) return std::nullopt;
  fmt::print(stderr, "{} ", question);
  std::string answer;
  if (!std::getline(std::cin, answer)) return std::nullopt;
  return answer;
}

}  // namespace cudal1::cli
