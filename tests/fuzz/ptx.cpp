// SPDX-License-Identifier: Apache-2.0
// Any text may come as PTX: it is a module or one error with a line, and a module's kernels decode or are refused.
#include "sim/decode.hpp"
#include "sim/parser.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

using namespace cudal1;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = sim::parse(text, "kernel.cu");
  if (!module) {
    if (module.error().line <= 0 || module.error().message.empty()) std::abort();
    return 0;
  }
  std::map<std::string, std::uint64_t> addresses;
  for (const auto& variable : module->variables)
    if (variable.space != sim::Space::shared) addresses[variable.name] = 1 << 20;
  for (const auto& function : module->functions) {
    if (!function.entry || !function.defined) continue;
    const auto program = sim::decode(*module, function, addresses);
    if (!program && program.error().message.empty()) std::abort();
  }
  return 0;
}
