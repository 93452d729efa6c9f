// SPDX-License-Identifier: Apache-2.0
// Any text may come as a kernel's format, with any arguments behind it: something is printed, of bounded length, and no
// memory but the arguments' is read.
#include "sim/printf_format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

using namespace cudal1;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 12) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view format = text.substr(0, text.find('\0'));
  const std::string_view values = text.substr(std::min(format.size() + 1, text.size()));
  std::size_t at = 0;
  sim::PrintfArguments arguments;
  arguments.take = [&](std::size_t bytes) {
    if (bytes != 4 && bytes != 8) std::abort();
    std::uint64_t value = 0;
    if (at + bytes <= values.size()) std::memcpy(&value, values.data() + at, bytes);
    at += bytes;
    return value;
  };
  arguments.text = [&](std::uint64_t address) { return std::string(address % 100, 's'); };
  constexpr std::size_t longest = 1600;  // of one conversion
  if (sim::printf_text(format, arguments).size() > format.size() + longest * static_cast<std::size_t>(std::count(format.begin(), format.end(), '%'))) std::abort();
  return 0;
}
