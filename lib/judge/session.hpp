// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"
#include "judge/lent_sets.hpp"
#include "judge/messages.hpp"
#include "judge/shadow_oracle.hpp"
#include "judge/simulated_truth.hpp"
#include "judge/timed_arms.hpp"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace cudal1::judge {

// The device worker's side: one device, one task, the reference and what is right. Holds nothing that decides a
// verdict: it returns raw figures.
class Session {
 public:
  Session(const OpenJob& job, std::function<void(bool)> tell);

  const device::Device& device() const { return *device_; }
  ReferenceReply reference(ReferenceJob job);
  LendReply lend();
  RunReply seal(const SealJob& job);
  RunReply spill(const SpillJob& job);
  RunReply run(const RunJob& job);
  CheckReply check(const CheckJob& job);
  PredictReply predict(const PredictJob& job);
  TimeReply time(const TimeJob& job);
  CountReply count(const CountJob& job);
  EnergyReply energy(const EnergyJob& job);

 private:
  struct Loaded {
    std::unique_ptr<device::Module> module;
    std::optional<device::RunResult> failure;
  };
  static verify::Evidence failed(std::string message);
  CheckReply check_all(const CheckJob& job);
  void check_trials(const CheckJob& job, const device::Module& module, verify::Evidence& evidence);
  void give_up(base::Seconds took, std::size_t trial, verify::Evidence& evidence);
  void check_on_fresh_inputs(const Executable& executable, const device::Module& module, verify::Evidence& evidence);
  void check_neighbours(const Executable& executable, const device::Module& module, verify::Evidence& evidence);
  verify::CaseOptions check_options(std::size_t check);
  Loaded load(const outcome::Binary& binary);
  ReferenceReply take(const std::vector<reference::StoredCase>& stored);
  void note_errors(const verify::Case& subject, outcome::ErrorFigures& errors) const;
  const std::vector<reference::Bytes>& workload_inputs(std::size_t workload, std::size_t version = 0);
  TimeReply time_lent(const TimeJob& job);
  void only_run(const CheckJob& job, const device::Module& module, verify::Evidence& evidence);
  bool small_enough(std::size_t workload) const;
  double output_elements(std::size_t workload) const;
  // What the simulator can afford of a workload that is too much for it as a whole.
  void check_simulated(const Executable& executable, const device::Module& module, std::size_t workload, verify::Evidence& evidence);
  // The same for inputs as they are not declared, in a few blocks more.
  void check_stressed(const Executable& executable, const device::Module& module, std::size_t workload, verify::Evidence& evidence);
  // The trial at the check sizes whose pattern is used at full size as well: one that the task's own kernel passes; null: none.
  const reference::Trial* stress() const;
  reference::Trial full_size_trial(std::size_t version) const;
  const verify::Case& predicted_case() const { return cases_[std::min<std::size_t>(1, cases_.size() - 1)]; }  // of a module
  std::optional<reference::Part> simulated_part(std::size_t workload, std::size_t version, std::size_t output, const std::vector<bool>& touched);
  void note_executed(const Executable& executable, std::size_t workload, double instructions);
  void check_predicted(const Executable& executable, const reference::Buffers& buffers, std::size_t workload, const device::Prediction& prediction,
                       verify::Evidence& evidence);
  struct Left {
    std::size_t workload = 0, version = 0;   // and of its inputs
    double share = 1;                        // of the blocks ran
    bool noted = false;                      // the device knows what they wrote
    double leniency = 1;                     // by which the bounds are multiplied
  };
  double look_at(const reference::Buffers& buffers, const kernel::Plan& plan, const Left& left, verify::Evidence& evidence);
  // A case at full size; null when the reference cannot give one, and then full_case_problem_ says why.
  const verify::Case* full_case(std::size_t workload, std::size_t version);
  verify::CaseOptions full_size_options(std::size_t workload) const;
  double grown_sigma(std::size_t workload) const;
  std::uint64_t full_size_seed(std::size_t version) const;
  std::vector<outcome::TaskFinding> task_findings(const std::vector<const verify::Case*>& cases) const;

  std::unique_ptr<device::Device> device_;
  task::Task task_;
  base::Random random_;
  std::uint64_t seed_;
  int threads_;
  Executable reference_;
  Loaded reference_module_;
  std::unique_ptr<ShadowOracle> shadows_;                             // of a task without a torch line
  std::vector<verify::Case> cases_;                                   // at the check sizes
  std::vector<std::size_t> case_sizes_;                               // index of each case's check size
  std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<verify::Case>> full_cases_;
  std::string full_case_problem_;
  outcome::Precision precision_;
  std::vector<task::Workload> neighbours_;
  static constexpr std::size_t stressed = 1000;   // the version of inputs at full size that are not as declared
  std::map<std::pair<std::size_t, std::size_t>, std::vector<reference::Bytes>> inputs_;             // by workload and version
  std::map<std::pair<std::size_t, std::size_t>, SimulatedTruth> simulated_truth_;
  std::map<std::pair<std::size_t, std::size_t>, double> executed_;     // warp instructions of a whole plan, by program and workload
  std::map<std::size_t, std::unique_ptr<TimedReference>> timed_;
  std::unique_ptr<LentSets> lent_;
  Loaded last_run_;
};

}  // namespace cudal1::judge
