// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/precision.hpp"
#include "reference/trial.hpp"
#include "task/task.hpp"
#include "tensor/evaluate.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::reference {

// What one output must be, and how far from it a sound computation may land.
struct Expected {
  std::string output;
  tensor::Dtype dtype = tensor::Dtype::float32;
  std::vector<std::int64_t> shape;
  std::vector<double> truth;       // y64; the reference's own output where there is no oracle
  std::vector<double> reference;   // the reference's output; empty when it is `truth` itself
  std::vector<double> perturbed;   // y64 of inputs moved by one rounding of the precision class; empty: not taken
  bool summed = true;              // elements meet in sums, whose order is free: then what is perturbed is noise, too
  double relative_noise = 0;       // of ‖y − truth‖ / ‖truth‖ to allow in addition; where truth is no oracle
  double operations = 1;           // behind one element: the length of its sums
  bool kernelbench = false;        // `reference` is PyTorch's own output for the inputs that KernelBench draws

  // Indices of the largest or smallest element: `candidates` is what they choose from, along the extent `length` whose
  // elements lie `stride` apart. Then equal values are equal answers. Empty: an ordinary output.
  struct Choice {
    std::vector<double> values;
    std::int64_t length = 1, stride = 1;
    double slack = 0;              // relative; 0 when the choice is among inputs, which have no rounding
  };
  std::optional<Choice> choice;
};

// y64 of the task's torch line for one trial, all outputs by name in the order of declaration, `reference` still empty.
// Empty optional: the task has no oracle, or it does not accept these shapes. With `perturb` also at inputs moved by one
// rounding of that class.
std::optional<std::vector<Expected>> oracle(const task::Task& task, const task::Workload& workload,
                                            const std::vector<Bytes>& inputs, std::optional<outcome::Precision> perturb,
                                            int threads);

// Arithmetic of the torch line at one of task.assignments(); 0 without an oracle.
double operations(const task::Task& task, std::size_t assignment);

// Above this many operations y64 is too dear, and the reference's output stands in for it.
inline constexpr double affordable_operations = 2e9;

// The outputs of the task's declaration with empty values.
std::vector<Expected> outputs(const task::Task& task, const task::Workload& workload);

// Decodes bytes of a dtype.
std::vector<double> decode(tensor::Dtype dtype, const Bytes& bytes);

// How long the sums behind an output element may be, seen from the shapes alone: for a task without torch line.
double reduction_length(const task::Task& task, const task::Workload& workload);

}  // namespace cudal1::reference
