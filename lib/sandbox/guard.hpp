// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sandbox/launch.hpp"

#include <sys/types.h>

namespace cudal1::sandbox {

// Waits for `child`, watching this process's group, of which this process is the leader; ends the group when a bound is
// exceeded, and in any case when the child has ended. Returns the child's exit code, or 128 and its signal.
int guard(pid_t child, const std::filesystem::path& folder, const Bounds& bounds);

}  // namespace cudal1::sandbox
