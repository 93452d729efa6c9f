// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "device/device.hpp"
#include "outcome/judgement.hpp"
#include "reference/part.hpp"
#include "reference/truth.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace cudal1::verify {

// One trial at one size: inputs, and what every output must be.
struct Case {
  task::Workload workload;
  reference::Trial trial;
  std::vector<reference::Bytes> inputs;        // one per buffer of the task
  std::vector<reference::Expected> expected;   // one per output, in order of declaration
  // Where y64 of everything is too dear: y64 of some secret indices of an output, and in `expected` the reference's own
  // output, with a sigma that covers the errors of both. One per output where there are any.
  std::vector<std::optional<reference::Part>> parts;
  bool oracle = false;                         // truth is y64, at least of parts; false: the reference's own output
  bool shadowed = false;                       // … or, of all outputs that are floats, what its shadows say
  int refuted = 0;                             // outputs whose shadows the reference itself is too far from
  double operations = 1;                       // of the torch line behind one element of the outputs
  // Where some of `expected` is from few runs: all of it from enough of them, computed when first asked for. Empty: nothing is from few
  // runs. The task must still be there.
  std::function<const std::vector<reference::Expected>&()> settle;
  std::string label() const;                   // "N=33 M=70, normal inputs"
};

// A kernel loaded together with its resolved plan for one size.
struct Program {
  const device::Module* module = nullptr;
  const kernel::Plan* plan = nullptr;
};

struct CaseOptions {
  std::size_t assignment = 0;    // of task.assignments(), for the count of operations
  outcome::Precision precision = outcome::Precision::fp32;
  bool checks = true;            // the simulator's
  bool full_size = false;        // y64 in parts where all of it is too dear
  double relative_sigma = 0;     // of outputs at full size that cannot be taken in parts; 0: from the length of their sums
  int threads = 1;
  // What is right for a task without an oracle, of the outputs that are floats; the others' truth stays empty.
  using Shadows = std::optional<std::vector<reference::Expected>>;
  std::function<Shadows(const task::Workload&, const kernel::Plan&, const std::vector<reference::Bytes>& inputs)> shadows;
};

// Runs the reference on a trial and sets beside it what is right. The message of an unexpected result says how the
// reference itself failed: to launch, with findings, or with the first wrong element.
tl::expected<Case, std::string> make_case(device::Device& device, const task::Task& task, const task::Workload& workload,
                                          const reference::Trial& trial, const Program& program, base::Random& random,
                                          const CaseOptions& options);

// "C[3, 70] is 0.5, expected 0.25"
std::string describe(const outcome::WrongElement& element);

}  // namespace cudal1::verify
