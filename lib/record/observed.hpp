// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/recording.hpp"
#include "record/session.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

namespace cudal1::record {

struct ObservedOptions {
  Choice choice;
  bool keep = true;                        // memory is kept, for a task; false: only the table is wanted
  bool separate_tensors = false;           // PyTorch is told to take memory for each tensor by itself
  // Without a choice: the kernels that a task may be made of. Empty: all.
  std::function<bool(const std::string& kernel)> wanted;
  std::size_t most_kept_bytes = std::size_t{1} << 30;
  std::function<void(const std::string&)> say;  // one line, as it happens
};

// The processes of a program on a GPU, each of which has cudal1's library in it. They may run at the same time.
class ObservedProcesses {
 public:
  ObservedProcesses(const ObservedOptions& options, Recording& recording) : options_(options), recording_(recording) {}

  // Until the process ends.
  void serve(int socket);
  // After the last one: what was seen is put in order.
  void finish();

 private:
  friend class ObservedProcess;
  const ObservedOptions& options_;
  Recording& recording_;
  std::mutex mutex_;
};

}  // namespace cudal1::record
