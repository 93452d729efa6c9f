// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <string>
#include <vector>

namespace figures {

using namespace cudal1;

struct Kernel {
  std::string name, task, variant;   // the variant answers the task; for identical kernels it is the task's own text
};

Kernel example(const std::string& name);            // one of the examples, against itself

// Doubles N elements; the variant doubles E more, into scratch memory.
Kernel traffic(long elements, double percent);

// A chain of multiply-adds per element: percent more of them.
Kernel arithmetic(long steps, double percent);

std::vector<Kernel> identical_kernels();             // 4 us to 5 ms, each against itself

base::Seconds limit();                               // CUDAL1_FIGURE_LIMIT
double median(std::vector<double> values);

}  // namespace figures
