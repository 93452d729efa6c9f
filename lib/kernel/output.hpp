// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/plan.hpp"

#include <string>

namespace cudal1::kernel {

// The winner as a kernel file that builds under nvcc: the task's directives and the answer's, tunables fixed to
// `tunables` as constants, the device code, and under `#ifndef __CUDACC_RTC__` a host launch function with the task's
// name: `cudaError_t diag_matmul(const float* A, const float* B, float* C, long long N, long long M, cudaStream_t stream)`
// whose pointers are device pointers; it allocates scratch, computes derived sizes and issues the plan's launches.
std::string output_file(const File& task, const File& answer, const Environment& tunables);

// What `init` found in an ordinary .cu: the drafted kernel file and what the user must still complete.
struct Draft {
  std::string text;
  std::vector<std::string> to_complete;  // "sizes N, M: give values", one line each
  std::vector<std::string> set_aside;    // "host function main (lines 20-58)", "#include <torch/extension.h>"
};
Draft draft(const std::string& source, const std::string& name);

}  // namespace cudal1::kernel
