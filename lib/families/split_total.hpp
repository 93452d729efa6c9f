// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "families/epilogue.hpp"
#include "families/kernel_file.hpp"

#include <string>

namespace cudal1::families {

// A product whose depth is summed in parts.
struct SplitProduct {
  std::string name;          // of the kernel that writes the parts
  std::string scratch;       // where they are: [parts, n, m]
  std::string count;         // of parts, as text
  std::int64_t parts = 1;    // of the first member
  tensor::Extent n, m;
};

// The kernel that adds up the parts in their order and applies what follows; `after` was made with `arguments`.
void write_split_total(const SplitProduct& product, const Epilogue& after, Arguments& arguments, KernelFile& file);

}  // namespace cudal1::families
