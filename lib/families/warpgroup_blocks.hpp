// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudal1::families {

// Shared memory of a block of warpgroup products, of the 227 KiB that compute capability 9.0 gives one: the ring's slots, and what
// results pass through, after up to 1 KiB of alignment.
constexpr int warpgroup_ring_bytes = 192 << 10, warpgroup_block_bytes = warpgroup_ring_bytes + 8 * 16 * 40 * 4 + 1024;

}  // namespace cudal1::families
