// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "flashinfer/definition.hpp"

#include <string>

namespace cudal1::flashinfer {

// Whose solution.json is written: flashinfer-bench builds the source with TVM-FFI, SOL-ExecBench as an extension of PyTorch.
enum class Binding { tvm_ffi, torch };

// A kernel file with a host function (kernel::output_file) as a solution of the definition: one CUDA source whose entry point `run` takes
// the inputs and then the outputs, checks their types and shapes, and launches on the caller's stream. `hardware` is the GPU that it was
// made on.
std::string solution(const Definition& definition, const std::string& kernel_file, const std::string& hardware, const std::string& description, Binding binding);

}  // namespace cudal1::flashinfer
