// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace cudal1::judge {

// The file by which all of this program that use a GPU take turns.
std::filesystem::path gpu_lock(const std::string& uuid);

// A turn on a GPU, for the object's life. Who takes times has it alone; those who only compute share it. Whoever came first
// is served first, so that many who share it do not keep out one who wants it alone.
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
  int descriptor_ = -1;
};

}  // namespace cudal1::judge
