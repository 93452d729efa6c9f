// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/plan.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace cudal1::kernel {

// The winner as a kernel file that builds under nvcc: the task's directives and the answer's, tunables fixed to
// `tunables` as constants, the device code, and under `#ifndef __CUDACC_RTC__` a host launch function with the task's
// name: `cudaError_t diag_matmul(const float* A, const float* B, float* C, long long N, long long M, cudaStream_t stream)`
// whose pointers are device pointers; it allocates scratch, computes derived sizes and issues the plan's launches.
std::string output_file(const File& task, const File& answer, const Environment& tunables);

// A comment for an output file that says at which sizes it was verified, and what such a comment of a source says; empty: nothing.
std::string verified_comment(const std::vector<std::string>& labels);   // "N=4096 M=4096"
std::vector<std::map<std::string, std::int64_t>> verified_sizes(const std::string& source);

// What `init` found in an ordinary .cu: the drafted kernel file and what the user must still complete.
struct Draft {
  std::string text;
  std::vector<std::string> to_complete;  // "shape of x: give its extents", one line each; the file is no task until then
  std::vector<std::string> set_aside;    // "host function main (lines 20-58)", "#include <torch/extension.h>"
  std::vector<std::string> guessed;      // what the file marks as a guess
  std::vector<std::string> remarks;      // what was done, and may be looked at
  std::vector<std::string> kernels;      // every kernel of the file
  std::string kernel;                    // the first that the draft launches; empty: none
  bool complete() const { return to_complete.empty() && !kernel.empty(); }
};

// `kernel`: the one to draft; empty: the launches of a host function, or the first kernel that can be drafted whole.
// Throws base::Error for a source that is no text, is empty, or has no such kernel.
Draft draft(const std::string& source, const std::string& name, const std::string& kernel = "");

// The source with the files beside it that it includes by "…" put in, each once; `includes` lists them.
std::string with_local_includes(const std::string& source, const std::string& name, std::vector<std::string>& includes);

}  // namespace cudal1::kernel
