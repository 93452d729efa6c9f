// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "outcome/task_finding.hpp"
#include "verify/case.hpp"
#include "verify/compare.hpp"

#include <string>
#include <vector>

namespace cudal1::verify {

// One output of a reference under the task's own inputs. Whoever runs the reference fills it: a kernel here, PyTorch
// for a task in Python. Shares are of the elements, 0 … 1; "near" is within the output's tolerance.
struct OutputFigures {
  std::string output;
  bool finite = true;
  double share_repeated = 1;    // near what a second run on the same inputs gave
  double share_zero = 0;        // near 0
  double share_constant = 0;    // near one number: the mean of what other inputs gave
  double share_unmoved = 0;     // near what other inputs gave
  std::string equal_input;      // an input that all elements are near to; empty: none
};

struct TaskFigures {
  std::vector<OutputFigures> outputs;
  std::vector<std::string> inert_inputs;  // drawn anew, one by one, they move no output
  std::vector<std::string> inert_starts;  // nor does what these inouts hold at first
  double rounding = 0;                    // relative error that rounding gives the outputs, in multiples of what sums of
                                          // their length explain
};

// Empty for a sound task.
std::vector<outcome::TaskFinding> examine(const TaskFigures& figures);

// The figures of one output from its values: of a first run, and of one on other inputs.
OutputFigures figures(const std::string& output, const std::vector<double>& first, const std::vector<double>& other,
                      const Bounds& near);

// TaskFigures::rounding of one trial; 0 where there is no y64.
double rounding_of(const Case& subject, outcome::Precision precision);

// Runs a task's own kernel at one size and takes the figures. Throws nothing for what is the task's fault: a run that
// fails is not finite.
TaskFigures observe(device::Device& device, const task::Task& task, const task::Workload& workload,
                    const Program& program, std::uint64_t seed, base::Random& random);

}  // namespace cudal1::verify
