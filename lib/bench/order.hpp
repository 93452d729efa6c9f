// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "device/device.hpp"

#include <cstddef>
#include <vector>

namespace cudal1::bench {

// Arms of samples for `pairs` pairs of the arms 0 (reference) and 1 (variant): as many pairs in one order as in the
// other, in random order. Not in blocks of one pair each way: what the place in a chunk of samples does to a short kernel
// then moves both pairs of a block the same way, and the interval takes for two readings what is one.
std::vector<std::size_t> pair_order(int pairs, base::Random& random);

// ln(time of arm 0 / time of arm 1) of each consecutive pair. Each pair must hold both arms.
std::vector<double> log_ratios(const std::vector<device::Sample>& samples);

// The median of one arm's times; 0 when it has none.
double median_ms(const std::vector<device::Sample>& samples, std::size_t arm);
// The shortest time on the clock behind any sample: what half a tick is compared with.
double shortest_ms(const std::vector<device::Sample>& samples);

}  // namespace cudal1::bench
