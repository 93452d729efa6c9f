// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "judge/lent_sets.hpp"
#include "judge/messages.hpp"
#include "reference/buffers.hpp"
#include "verify/check.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cudal1::judge {

// The reference at one workload, ready to be timed: inputs of several values in memory that no kernel touches, and its
// own sets of buffers. The sets together exceed the L2 cache several times where memory allows, so that a rotation
// through them is cold.
struct TimedReference {
  TimedReference(device::Device& device, const verify::Program& program, std::vector<const verify::Case*> cases,
                 base::Random& random);
  // Of a task whose inputs and outputs are PyTorch's: its sets are copies of those that are lent, or these themselves.
  TimedReference(device::Device& device, const kernel::Plan& interface, LentSets& lent, base::Random& random);
  void lay_out(device::Device& device, base::Random& random);   // the sets, anew

  std::vector<const verify::Case*> cases;                       // one per version of the inputs; none when they are lent
  std::vector<std::unique_ptr<reference::Buffers>> owned;
  std::vector<reference::Buffers*> pristine;                    // one per version
  LentSets* lent = nullptr;
  std::vector<std::unique_ptr<reference::Buffers>> sets;        // set i holds version i % versions
  const kernel::Plan* plan;
  std::vector<std::vector<std::uint64_t>> right;                // digests of right outputs, by version
};

// 0 … count - 1 in random order.
std::vector<std::size_t> shuffled(std::size_t count, base::Random& random);

// A digest of everything that a plan leaves: its outputs and inouts.
std::uint64_t output_digest(device::Device& device, const device::BoundPlan& plan);

// Times variants against a reference. Every output of a variant that a chunk of samples leaves is verified: by its
// digest when an equal one was compared element by element before.
class TimedArms {
 public:
  // `module` holds the reference's kernels.
  TimedArms(device::Device& device, const kernel::File& task, TimedReference& reference, const device::Module& module,
            std::vector<verify::Program> variants, base::Random& random);

  // With lent sets an output whose digest is not known to be right ends the timing; of such only a random eighth when
  // `sparing`.
  std::vector<device::Sample> run(const std::vector<std::size_t>& order, bool cold, std::uint64_t seed, bool sparing = false);
  const verify::Evidence& evidence() const { return evidence_; }
  const std::optional<TimeReply::Unknown>& unknown() const { return unknown_; }

 private:
  bool show(std::size_t arm, std::size_t set, std::uint64_t digest);
  bool inspect(std::size_t arm, std::size_t set);
  void look_for_state(std::size_t arm);
  bool compare(std::size_t arm, std::size_t set);   // element by element; false: it is wrong

  device::Device& device_;
  const kernel::File& task_;
  TimedReference& reference_;
  const device::Module& module_;
  std::vector<verify::Program> variants_;
  base::Random& random_;
  std::vector<std::vector<std::unique_ptr<reference::Buffers>>> sets_;    // of each arm
  int compared_ = 0;
  bool sparing_ = false;
  std::optional<TimeReply::Unknown> unknown_;
  std::optional<std::pair<std::size_t, std::size_t>> unseen_;             // arm and set of the last output, if not compared
  verify::Evidence evidence_;
};

}  // namespace cudal1::judge
