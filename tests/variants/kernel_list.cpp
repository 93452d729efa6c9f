// SPDX-License-Identifier: Apache-2.0
#include "kernel_list.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

#include <filesystem>
#include <set>

namespace cudal1::variants {

KernelList::KernelList(const std::string& path) : path_(path) {
  if (path_.empty() || !std::filesystem::exists(path_)) return;
  for (const std::string& line : base::split_lines(base::read_file(path_))) earlier_.insert(line);
  all_ = earlier_;
}

void KernelList::add(const std::vector<std::string>& kernels) {
  const std::lock_guard lock(mutex_);
  if (!file_.is_open() && !path_.empty()) file_.open(path_, std::ios::app);
  for (const std::string& kernel : kernels)
    if (all_.insert(kernel).second && file_.is_open()) file_ << kernel << '\n';
  file_.flush();
}

void KernelList::keep(const std::unordered_set<std::string>& kernels) {
  const std::lock_guard lock(mutex_);
  if (path_.empty()) return;
  std::set<std::string> kept;
  for (const std::string& kernel : all_)
    if (kernels.contains(kernel)) kept.insert(kernel);
  std::string text;
  for (const std::string& kernel : kept) text += kernel + "\n";
  file_.close();
  base::write_file(path_, text);
}

}  // namespace cudal1::variants
