// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"

#include <string>

namespace cudal1::kernel {

// What the host function of a file is called: as the task, unless something else in the file has that name so that a function cannot
// overload it.
std::string launcher_name(const File& file);

}  // namespace cudal1::kernel
