// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"

#include <string>

namespace cudal1::kernel {

// The file with every tunable replaced by its value in scratch shapes, launches and template arguments, and without its
// `tune` lines.
File with_tunables_fixed(File file, const Environment& tunables);

}  // namespace cudal1::kernel
