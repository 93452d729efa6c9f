// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"

#include <string>

namespace cudal1::kernel {

// The C++ function that issues a file's plan on a stream, with the helpers it needs; goes under #ifndef __CUDACC_RTC__.
// The file has its interface and no tunables.
std::string host_launcher(const File& file);

}  // namespace cudal1::kernel
