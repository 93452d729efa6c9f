// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace cudal1::reference {

// What a torch line does with one input, as far as it decides which values the input may be given. Without a line
// nothing is known, and nothing is free.
struct InputUse {
  // No value that comes of it goes into a function whose usual formulas lose what is small beside 1 (tanh, expm1 …): it
  // may then be small altogether, and an answer must still be right to its last bits.
  bool homogeneous = false;
  // Of integers: they are added, multiplied and compared, and choose nothing, so that any magnitude is in order.
  bool arithmetic = false;
};

struct Survey {
  std::vector<InputUse> inputs;    // one per buffer of the task; of outputs all false
  bool single_elements = false;    // every element of the outputs comes from single elements
  // An infinity gives what it gives in any sound formula: nothing is a series or a quotient near it, as in exp or tanh.
  bool infinities = false;
  // NaN stays where any sound order of evaluation leaves it: nothing skips what is multiplied by 0, spreads a window, or
  // takes a largest element.
  bool not_a_number = false;
  int degree = 1;                  // of the outputs in the integers: products taken, and one
  bool sums = false;               // elements meet in sums
  std::vector<std::size_t> factors;   // two inputs of integers that meet in the line's only product, one in each operand; else none
};

Survey survey(const task::Task& task);

double largest_integer(tensor::Dtype dtype);

// The largest magnitude of integers with which the line's sums and products stay exact in double precision and in the
// types of the outputs; less than 2 where there is no room.
double integer_limit(const task::Task& task, const Survey& survey, const task::Workload& workload);

}  // namespace cudal1::reference
