// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.hpp"
#include "reference/part.hpp"

#include <optional>
#include <vector>

namespace cudal1::judge {

// What is right at a declared size of which the simulator executes some blocks alone: y64 of all of it, or, where that is
// too dear, of those indices of an axis that a run happens to have written.
class SimulatedTruth {
 public:
  // `inputs` outlive this.
  SimulatedTruth(const task::Task& task, std::size_t workload, const std::vector<reference::Bytes>& inputs, outcome::Precision precision,
                 int threads, base::Random& random);

  // What an output must be at some indices of an axis, drawn among those that hold an element of `touched`, as many as are
  // affordable. Empty where nothing is known.
  std::optional<reference::Part> among(std::size_t output, const std::vector<bool>& touched, base::Random& random) const;

 private:
  std::vector<std::int64_t> drawn(const std::vector<std::int64_t>& shape, int axis, const std::vector<bool>& touched, std::size_t count,
                                  base::Random& random) const;
  const task::Task& task_;
  std::size_t workload_;
  const std::vector<reference::Bytes>& inputs_;
  int threads_;
  std::vector<reference::Expected> outputs_;                 // with truth and sigma where all is known
  std::vector<std::optional<reference::Part>> parts_;        // sigma, where that is affordable in parts alone
};

}  // namespace cudal1::judge
