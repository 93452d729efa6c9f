// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/file.hpp"

#include <string>
#include <vector>

namespace cudal1::kernel {

// `expect C = file("C.npy")`: what an output is for the inputs as declared, where no torch line says what is right.
struct Expectation {
  std::string output, path;  // relative to the kernel file
  Place place;
};

// The task's own, read from its lines.
std::vector<Expectation> expectations(const File& task);

}  // namespace cudal1::kernel
