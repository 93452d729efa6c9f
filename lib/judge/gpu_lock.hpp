// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace cudal1::judge {

// The file by which all of this program that use a GPU take turns.
std::filesystem::path gpu_lock(const std::string& uuid);

class TurnPhases;

// A turn on a GPU, for the object's life. Who takes times has it alone; those who only compute share it. Within a process both
// have their phases, in which as many as want to compute at once, or take times one after the other; no phase keeps the other
// waiting for more than some seconds. Between processes whoever came first is served first.
class GpuTurn {
 public:
  enum class Use { alone, shared };
  explicit GpuTurn(const std::filesystem::path& lock, Use use = Use::alone);
  ~GpuTurn();
  GpuTurn(const GpuTurn&) = delete;
  GpuTurn& operator=(const GpuTurn&) = delete;

  // Ends the turn, and says whether others shared it just now.
  bool end_shared();

 private:
  void leave();

  TurnPhases& phases_;
  const bool alone_;
  bool held_ = true;
  int descriptor_ = -1;
};

}  // namespace cudal1::judge
