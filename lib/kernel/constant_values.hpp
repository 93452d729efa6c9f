// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/kernel_source.hpp"
#include "kernel/parameter_type.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1::kernel {

// `__constant__` variables of plain types that only host code fills: zeros would make most kernels compute nothing.
struct FilledConstants {
  std::vector<std::string> values;               // names of those that got values of their own in the code
  struct Array {
    std::string name;
    tensor::Dtype dtype = tensor::Dtype::float32;
    std::int64_t count = 0;
  };
  std::vector<Array> arrays;                     // of floats: what an input may be copied into
};

// The code with these values. `expanded` is the code with its macros put in. Large arrays of other types and variables with
// an initialiser stay as they are.
std::string with_constant_values(const std::string& code, const KernelSource& expanded, const TypeNames& aliases, FilledConstants& filled);

// The names of a file's `__constant__` variables.
std::vector<std::string> constant_variables(const std::string& code);

}  // namespace cudal1::kernel
