// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudal1::cuda {

// This tool's own kernels as PTX for every GPU since sm_75; the driver compiles it.
//   cudal1_block(flag, limit)           spins until *flag != 0 or `limit` nanoseconds have passed; then flag[1] = 1
//   cudal1_digest_words(data, n, sum)   adds a digest of n 32-bit words, order included, to the 64-bit *sum
//   cudal1_digest_bytes(data, n, sum)   the same of bytes
//   cudal1_fill64(data, n, value)       n 64-bit words
extern const char* const tool_kernels_ptx;

}  // namespace cudal1::cuda
