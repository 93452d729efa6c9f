// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "device/device.hpp"

#include <cstddef>
#include <vector>

namespace cudal1::bench {

// Arms of samples for `pairs` pairs of the arms 0 (reference) and 1 (variant): blocks of two pairs, one in each order,
// the order of the two drawn at random. An odd last pair has a random order of its own.
std::vector<std::size_t> pair_order(int pairs, base::Random& random);

// ln(time of arm 0 / time of arm 1) of each consecutive pair. Each pair must hold both arms.
std::vector<double> log_ratios(const std::vector<device::Sample>& samples);

// The median of one arm's times; 0 when it has none.
double median_ms(const std::vector<device::Sample>& samples, std::size_t arm);
// The shortest time on the clock behind any sample: what half a tick is compared with.
double shortest_ms(const std::vector<device::Sample>& samples);

}  // namespace cudal1::bench
