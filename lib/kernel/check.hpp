// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"

namespace cudal1::kernel {

// Does the file lean on a task for its interface: it says `of`, or declares no buffers or no sizes.
bool is_answer(const File& file);

// What must hold of any kernel file, whole or not: no name declared twice, in whatever role.
base::Diagnostics check_declarations(const File& file);

// What must hold of a file with its interface: every name that an expression uses is declared, every launched kernel is
// defined and takes that many arguments.
base::Diagnostics check_uses(const File& file);

void add_line_texts(base::Diagnostics& diagnostics, const std::string& source);

}  // namespace cudal1::kernel
