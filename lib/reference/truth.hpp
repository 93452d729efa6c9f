// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/precision.hpp"
#include "reference/rule.hpp"
#include "reference/trial.hpp"
#include "task/task.hpp"
#include "tensor/rounding.hpp"

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
  std::vector<double> sigma;       // standard deviation of a sound computation's error in each element; empty: 0
  bool sampled = false;            // some of sigma is estimated from runs (tensor/rounding.hpp)
  bool few_runs = false;           // from fewer than `enough_runs`: then any element's may be far too small by chance
  std::vector<std::vector<double>> alternatives;  // of integers: what sound computations may give instead
  bool kernelbench = false;        // `reference` is PyTorch's own output for the inputs that KernelBench draws

  // Indices of the largest or smallest element: `candidates` is what they choose from, along the extent `length` whose
  // elements lie `stride` apart. Then equal values are equal answers. Empty: an ordinary output.
  struct Choice {
    std::vector<double> values;
    std::int64_t length = 1, stride = 1;
    std::vector<double> sigma;     // of the values; empty when the choice is among inputs, which have no rounding
  };
  std::optional<Choice> choice;
};

// How the error of a sound computation is taken.
struct Soundness {
  outcome::Precision precision = outcome::Precision::fp32;
  int runs = 16;                 // with disturbed intermediates; enough_runs at least, or Expected::few_runs is to be set
  std::uint64_t seed = 0;
};

tensor::RoundingOptions rounding_options(const Soundness& soundness, int threads);

// Sizes and scalars by name, as the evaluator takes them.
std::map<std::string, double> numbers(const task::Workload& workload);

// The inputs' values by name, as the evaluator takes them.
std::map<std::string, tensor::Array> input_arrays(const task::Task& task, const task::Workload& workload,
                                                  const std::vector<Bytes>& inputs);

// y64 of the task's torch line for one trial, all outputs by name in the order of declaration, `reference` still empty.
// Empty optional: the task has no oracle, or it does not accept these shapes. Without `soundness` no sigma is taken.
std::optional<std::vector<Expected>> oracle(const task::Task& task, const task::Workload& workload,
                                            const std::vector<Bytes>& inputs, const std::optional<Soundness>& soundness,
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
