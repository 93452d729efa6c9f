// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

namespace cudal1::pytorch {

// Of a module, in bytes, and what it computes.
struct Weight {
  std::size_t set = 0;      // inputs, weights and outputs
  std::size_t beside = 0;   // the most that PyTorch takes meanwhile, to make the inputs or to run the module
  double operations = 0;    // of the products of one run: no bytes
  double made = 0;          // by one run, in all
};

// Tells about how much memory modules take before anything of them is made, in a process of PyTorch that uses no GPU. May be
// asked from several threads.
class Scales {
 public:
  Scales();
  ~Scales();

  // Nothing where it cannot be told. `python`: the interpreter, started with the first question.
  std::optional<Weight> weigh(const std::string& python, const std::filesystem::path& path, const std::map<std::string, std::int64_t>& overrides,
                    const std::stop_token& stop);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::mutex mutex_;
};

}  // namespace cudal1::pytorch
