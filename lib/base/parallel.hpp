// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace cudal1::base {

// Of this process, at least one.
std::size_t cores();

// Calls work(0) … work(count - 1), each once, on up to as many threads as there are cores, and returns when all are
// done. The first exception is thrown again here.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace cudal1::base
