// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace cudal1::sim {

// Where printf finds what its format asks for.
struct PrintfArguments {
  std::function<std::uint64_t(std::size_t bytes)> take;          // the next one, of 4 or 8 bytes, aligned to its size
  std::function<std::string(std::uint64_t address)> text;        // of %s
};

// What a kernel's printf says. A kernel chooses the format, so no function of the host's ever sees it: conversions that
// CUDA has (d i o u x X c s p f F e E g G a A and %%) are carried out here, all others, %n above all, are printed as they
// stand. Widths and precisions are bounded.
std::string printf_text(std::string_view format, const PrintfArguments& arguments);

}  // namespace cudal1::sim
