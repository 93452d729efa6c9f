// SPDX-License-Identifier: Apache-2.0
#include "base/defence.hpp"

namespace cudal1::base {

// Alone in its file, so that a linker that already knows the function leaves this one out.
bool defended(Defence) { return true; }

}  // namespace cudal1::base
