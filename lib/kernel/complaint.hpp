// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/diagnostic.hpp"

#include <string>
#include <utility>

namespace cudal1::kernel {

// Unwinds a parse or an evaluation inside this part. Every public function catches it and returns its diagnostic as a
// value, so that no caller of the part ever sees it.
struct Complaint {
  base::Diagnostic diagnostic;
};

[[noreturn]] inline void complain(std::string file, int line, int column, std::string message, std::string hint = {}) {
  base::Diagnostic diagnostic;
  diagnostic.file = std::move(file);
  diagnostic.line = line;
  diagnostic.column = column;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  throw Complaint{std::move(diagnostic)};
}

}  // namespace cudal1::kernel
