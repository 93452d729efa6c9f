// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"

namespace cudal1::remote {

// Holds a worker for whoever connects to this listening socket, one at a time, until it is told that the worker is not wanted any more, until the
// worker has ended and that was heard, or until nobody was connected for longer than patience().
void keep(int listener, const base::Program& worker);

}  // namespace cudal1::remote
