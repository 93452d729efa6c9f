// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace cudal1::device {

// Where another process finds a region, to read and write it without a copy.
struct Lent {
  std::string handle;           // hexadecimal, of the allocation that the region lies in; empty: `path` names a file in memory
  std::string path;
  std::size_t offset = 0, bytes = 0;
};

// A device whose memory other processes on the same device can map.
class Lender {
 public:
  virtual ~Lender() = default;
  virtual std::optional<Lent> lend(const Region& region) = 0;   // empty where the system does not allow it
};

}  // namespace cudal1::device
