// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace cudal1::record {

// One module of a fat binary as nvcc embeds it.
struct FatEntry {
  enum class Kind { ptx, cubin };
  Kind kind = Kind::ptx;
  int arch = 0;              // 90
  std::string content;       // of PTX: the text, decompressed
};

// Takes a fat binary apart: its headers, LZ4 (CUDA 12) or Zstandard (CUDA 13, by libzstd, opened when it is met). Cubins
// keep their place in the list without content. The error is one sentence.
tl::expected<std::vector<FatEntry>, std::string> read_fat_binary(std::string_view bytes);

// The PTX for the newest architecture, or a sentence that says how to build a program that holds some.
tl::expected<std::string, std::string> newest_ptx(const std::vector<FatEntry>& entries);

}  // namespace cudal1::record
