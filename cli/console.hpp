// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace cudal1::cli {

// What the user chose about output in general; the same options for every command.
struct ConsoleOptions {
  std::string color = "auto";     // auto, always, never
  std::string progress = "auto";  // auto, plain, json, none
  bool no_color = false, quiet = false, no_input = false;
};

// Our own words with ASCII in place of the few other signs, where the locale is C or POSIX.
std::string in_locale(std::string_view text);

// Results go to standard output, everything else to standard error. What a stream can do is decided per stream.
class Console {
 public:
  ConsoleOptions options;

  bool colour(std::FILE* stream) const;   // --color and --no-color, then NO_COLOR, FORCE_COLOR, TERM=dumb, terminal or not
  int width(std::FILE* stream) const;     // columns of a terminal; 0 elsewhere
  bool terminal(std::FILE* stream) const;

  void result(std::string_view text) const;  // to standard output as it is; throws base::Error(not_written) on a full disk
  void print(std::string_view text) const;   // words for a person, to standard output; in ASCII where the locale is C
  void note(std::string_view text) const;    // one line to standard error, nothing when quiet
  void warn(std::string_view text) const;    // the same, always; with --progress json both are events

  // A yes or no from the person at the terminal. Empty when nobody can be asked: no terminal, or --no-input.
  std::optional<bool> ask(std::string_view question) const;
  // A line of text, likewise.
  std::optional<std::string> ask_text(std::string_view question) const;
};

}  // namespace cudal1::cli
