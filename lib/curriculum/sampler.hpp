// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensor/dtype.hpp"

#include <cstdint>
#include <string>

namespace cudal1::curriculum {

struct SamplerOptions {
  std::uint64_t seed = 1;
  int most_operations = 4;    // of a line, at least one
};

// One sampled task: a kernel file whose torch line has one to four operations, drawn so that their types and shapes fit, and
// whose own kernels are plain: one launch for each operation, one thread for each element or row, as eager PyTorch would.
struct Sampled {
  std::string name;           // "sampled_000012_0"
  std::string torch;          // the line's right side
  std::string source;         // the kernel file
  int operations = 0;
};

// The task of a number; a function of seed, number and version alone. Versions of a number have one structure, and other
// sizes; every other version has inputs of 16 bits.
Sampled sample(const SamplerOptions& options, std::uint64_t number, int version);

}  // namespace cudal1::curriculum
