// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pytorch/host.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::pytorch {

// Somebody's ModelNew for a task in KernelBench's form, in a process of its own without network and without a place to
// write but a folder of its own. It is believed in nothing but the outputs that it leaves, which the Host judges, and
// the time that it takes by this process's clock; what it says of itself stands beside.
class Answer {
 public:
  struct Options {
    std::string python, device;
    bool unconfined = false;       // go on where the system has no means to confine it
  };
  Answer(const Options& options, const std::filesystem::path& task, const std::map<std::string, std::int64_t>& overrides,
         const std::string& offered, const std::filesystem::path& answer);
  ~Answer();

  // Runs it on the offered inputs, with weights of a seed. What is wrong with the outputs as tensors, or nothing.
  std::string run(std::optional<std::uint64_t> weights);
  // Ready for times: ms of each call by the GPU's clock, as it says itself.
  void start();
  std::vector<double> time(std::size_t samples);
  // ms of one call by this process's own clock, of many in a row; the last one's outputs stand.
  double call_ms();
  bool elsewhere() const;                          // it was seen to work on when the timed stream had ended
  const std::vector<std::string>& notes() const;   // what it does besides, one sentence each

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cudal1::pytorch
