// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "outcome/binary.hpp"
#include "outcome/precision.hpp"
#include "reference/truth.hpp"
#include "sim/sim.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::judge {

// What is right for a task without a torch line: its own kernel, executed on the simulator with a shadow in double precision beside
// every float, is what it would compute if nothing rounded. Also where the task runs on a GPU.
class ShadowOracle {
 public:
  ShadowOracle(const task::Task& task, const outcome::Binary& reference, std::uint64_t seed);

  // Why there is none: one sentence; empty when there is one.
  const std::string& problem() const { return problem_; }

  // The truth of the outputs that are floats, and how far a sound computation may be from it; the others' stays empty. Sigma is
  // what rounding at random does to them, and at least what a sum of as many terms explains in any order. Empty where the
  // kernel does not run: problem() says why.
  std::optional<std::vector<reference::Expected>> truth(const task::Workload& workload, const kernel::Plan& plan,
                                                        const std::vector<reference::Bytes>& inputs, outcome::Precision precision);

  // Over all that truth() gave.
  struct Figures {
    double outputs = 0, shadowed = 0;      // elements that are floats; of these, with a shadow
    double turned = 0;                     // comparisons of floats that came out otherwise than without rounding
    double refuted = 0;                    // outputs that the kernel itself was far from, so that nothing was made of them
  };
  Figures figures;
  std::string note() const;                // how it was taken: one sentence
  std::string why_not() const;             // where it was not: one sentence; empty where something else says what is right

 private:
  const task::Task& task_;
  base::Random random_;
  std::unique_ptr<device::Device> simulator_;
  std::unique_ptr<device::Module> module_;
  std::string problem_;
};

}  // namespace cudal1::judge
