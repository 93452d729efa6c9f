// SPDX-License-Identifier: Apache-2.0
#include "outcome/binary.hpp"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace cudal1::outcome {

bool names_variable(const std::string& name, const std::string& symbol) {
  if (symbol == name) return true;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return false;
  const std::string readable = text.get();
  return readable == name || readable.ends_with("::" + name);
}

}  // namespace cudal1::outcome
