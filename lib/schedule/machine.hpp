// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/device_facts.hpp"

#include <cstdint>

namespace cudal1::schedule {

// What the shape of a kernel depends on of a GPU. The values here are those of an H200, for which kernels are written where
// nothing is known.
struct Machine {
  int multiprocessors = 132;
  std::int64_t threads = 2048, registers = 65536;                               // of a multiprocessor
  std::int64_t shared_bytes = 228 << 10, shared_bytes_of_block = 227 << 10;     // of a multiprocessor; of one block at most
  std::int64_t l2_bytes = std::int64_t{50} << 20;

  bool warpgroup_products = false;  // wgmma, and copies by tensor maps
  bool double_products = true;      // tensor cores multiply float64

  // As many multiprocessors as teams of blocks occupy: a power of two, which rows are shared out to evenly, unless that would
  // leave more than a tenth of the machine idle.
  int team_multiprocessors() const;

  bool operator==(const Machine&) const = default;
};

Machine machine_of(const outcome::DeviceFacts& device);

}  // namespace cudal1::schedule
