// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <functional>
#include <optional>

namespace cudal1::cuda {

// Millijoules of one execution: `execute(n)` runs n of them to their end, again and again, for `at_least` between two steps of a meter that counts
// millijoules and moves a few times a second. Power that the GPU takes anyway is in it. Empty where the meter does not answer or stands still.
std::optional<double> energy_per_execution(const std::function<void(std::size_t count)>& execute, const std::function<std::optional<double>()>& meter,
                                           const std::function<base::Seconds()>& clock, base::Seconds at_least);

}  // namespace cudal1::cuda
