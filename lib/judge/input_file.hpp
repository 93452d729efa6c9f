// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/plan.hpp"
#include "reference/trial.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cudal1::judge {

// A plan's inputs, one after the other, in memory of this process that its workers open by a path: for those that have no
// PyTorch to make them. Gone with this object.
class InputFile {
 public:
  explicit InputFile(const kernel::Plan& plan);   // throws base::Error(no_device) when there is no such memory
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::string path() const;
  static std::size_t bytes(const kernel::Plan& plan);

  // In a worker: as reference::inputs() gives them, empty for buffers that are no inputs. Throw base::Error(internal).
  static std::vector<reference::Bytes> read(const std::string& path, const kernel::Plan& plan);
  static void write(const std::string& path, const std::vector<reference::Bytes>& inputs);

 private:
  int file_ = -1;
};

}  // namespace cudal1::judge
