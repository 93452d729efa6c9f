// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/process.hpp"
#include "pytorch/host.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::pytorch {

// Somebody's ModelNew for a task in KernelBench's form, in processes of its own without network and without a place to
// write but one folder (docs/confinement.md). It is believed in nothing but the outputs that it leaves, which the Host
// judges, and the time that it takes by this process's clock; what it says of itself stands beside. Throws
// base::Error(bad_input) for all that goes wrong in its process once it is loaded.
class Answer {
 public:
  struct Options {
    base::Program worker;          // `cudal1 worker answer`
    std::string python, device;
    bool unconfined = false;       // go on where the system has no means to confine it
    bool afresh = false;           // every call on a copy of the model, because the task's own keeps state
    std::filesystem::path file;    // the answer's own text, which it may read: PyTorch's compiler does
    base::Seconds idle_limit{60};  // for which it may use no processor and not answer: it has stopped itself, or waits for ever
  };
  // `folder`: where all that it writes lies. A second answer with the same text finds the extensions there that were built.
  Answer(const Options& options, const std::filesystem::path& task, const std::map<std::string, std::int64_t>& overrides,
         const std::string& offered, const std::filesystem::path& folder);
  ~Answer();

  const std::string& means() const;     // what confines it
  const std::string& lacking() const;   // what of it this system does not give; empty: nothing

  void load(const std::filesystem::path& answer, const std::string& source);   // extensions are built now

  // Runs it on the offered inputs, with weights of a seed. What is wrong with the outputs as tensors, or nothing. `given`: with
  // the weights that were offered beside the inputs, by the names that the task's have.
  // `numbers`: what real numbers that forward takes by value are multiplied by.
  // Where it takes long, as while something is compiled, `others` is called every second; its process stands still meanwhile.
  std::string run(std::optional<std::uint64_t> weights, bool given = false, double numbers = 1, const std::function<void()>& others = {});
  // Whether it says that it holds tensors of the task's names and shapes and no others, so that it can be given weights.
  bool takes_weights(std::optional<std::uint64_t> weights);
  // For times; before load(). Its process then stands still but while it is asked.
  void prepare();
  // Ready for times, with weights of a seed.
  void start(std::optional<std::uint64_t> weights);
  // One call. Its inputs are shown by `show`, which runs when the call is due and the answer's process stands still; on a
  // GPU it does so until the call has ended. `take` runs as soon as the call is said to have ended, and again nothing of the
  // answer's process runs. An empty call does all of it but the work, and is to be made before load().
  struct Sample {
    double claimed_ms = 0;   // by a clock in the answer's process, the GPU's where there is one
    double own_ms = 0;       // by this process's clock, from before the inputs are shown until the outputs are taken
    std::string wrong;       // with the outputs as tensors
  };
  Sample sample(const std::function<void()>& show, const std::function<void()>& take, bool empty = false);
  double doubt_ms() const;   // by which our clock may tell too much: little where a GPU's stream waits, more where a processor does
  void look_for_streams();
  bool elsewhere() const;                          // it was seen to work on when the timed stream had ended
  const std::string& tampered() const;             // what it changed of that which judges it; empty: nothing
  const std::vector<std::string>& notes() const;   // what it does besides, one sentence each

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cudal1::pytorch
