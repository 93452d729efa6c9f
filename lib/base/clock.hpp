// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace cudal1::base {

using Seconds = std::chrono::duration<double>;

// Time since an arbitrary start, never set back.
inline Seconds now() { return std::chrono::duration_cast<Seconds>(std::chrono::steady_clock::now().time_since_epoch()); }

// The time of day in UTC, "2026-01-31T12:00:00Z".
std::string timestamp();

}  // namespace cudal1::base
