// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/compiler.hpp"

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace cudal1::compile {

// Compiled kernels on disk, one file for each key, shared by all processes of the user. A file that is damaged or of
// another version counts as absent and is replaced. Nothing here fails: a cache that cannot be written is no cache.
class Cache {
 public:
  // Keeps the folder below `limit` bytes by removing what was used longest ago. An empty folder name: no cache.
  Cache(std::filesystem::path folder, std::size_t limit) : folder_(std::move(folder)), limit_(limit) {}

  bool enabled() const { return !folder_.empty(); }
  std::optional<Compiled> find(const std::string& key) const;
  void store(const std::string& key, const Compiled& compiled);

 private:
  std::filesystem::path path_of(const std::string& key) const;
  void trim();

  std::filesystem::path folder_;
  std::size_t limit_;
  std::mutex mutex_;
  std::optional<std::size_t> size_;  // as far as this process knows; unknown before its first store
};

}  // namespace cudal1::compile
