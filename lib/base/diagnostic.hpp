// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace cudal1::base {

// One complaint about a text: a kernel file, a torch line, CUDA or PTX source. Lines and columns count from 1; 0 is unknown.
struct Diagnostic {
  enum class Severity { error, warning, note };

  Severity severity = Severity::error;
  std::string file;       // as the user named it
  int line = 0;
  int column = 0;
  std::string message;    // one sentence without a full stop: what is wrong, and what was expected
  std::string line_text;  // the offending line, without its newline; empty when not at hand
  std::string hint;       // the next step, such as «did you mean "launch"?»; may be empty

  bool operator==(const Diagnostic&) const = default;
};
using Diagnostics = std::vector<Diagnostic>;

// "file:3:9: error: message", the line, a caret under the column, and the hint; ends with a newline.
std::string render(const Diagnostic& diagnostic);
std::string render(const Diagnostics& diagnostics);

// The line's text (1-based) of a whole source, without newline; empty when there is no such line.
std::string line_of(const std::string& source, int line);

}  // namespace cudal1::base
