// SPDX-License-Identifier: Apache-2.0
#include "console.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

bool set_and_not_empty(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

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
    throw base::Error(base::Fault::usage, fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void Console::note(std::string_view text) const {
  if (!options.quiet) warn(text);
}

void Console::warn(std::string_view text) const { fmt::print(stderr, "{}\n", text); }

std::optional<bool> Console::ask(std::string_view question) const {
  if (options.no_input || !terminal(stdin) || !terminal(stderr)) return std::nullopt;
  fmt::print(stderr, "{} [y/N] ", question);
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  const auto word = base::trim(answer);
  return word == "y" || word == "Y" || word == "yes";
}

}  // namespace cudal1::cli
