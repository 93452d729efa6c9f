// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace cudal1::variants {

// The digests of kernels that were executed and are right, one a line, in a file that outlives the run.
class KernelList {
 public:
  explicit KernelList(const std::string& path);  // empty: no file; a file that is not there yet is an empty list
  const std::unordered_set<std::string>& earlier() const { return earlier_; }  // in the file when it was opened
  void add(const std::vector<std::string>& kernels);                           // at once in the file; from any thread
  // Leaves in the file only what is among these, in order.
  void keep(const std::unordered_set<std::string>& kernels);

 private:
  const std::string path_;
  std::unordered_set<std::string> earlier_, all_;
  std::ofstream file_;
  std::mutex mutex_;
};

}  // namespace cudal1::variants
