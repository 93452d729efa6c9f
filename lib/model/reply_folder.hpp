// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/model.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace cudal1::model {

// Replies as files, keyed by round and sample and not by prompt: `r01-s02.md` holds a complete reply as it came;
// `r01-s02.refused.md` and `r01-s02.truncated.md` hold the reason in the first line, an empty line, and what came.
class ReplyFolder {
 public:
  // A folder of such files, or a run folder, whose folder `replies` is then meant.
  explicit ReplyFolder(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const Key& key) const;         // where a complete reply belongs
  std::optional<Reply> read(const Key& key) const;          // empty: no reply there
  void write(const Key& key, const Reply& reply) const;     // ok, refused and truncated ones; others leave no file
  std::vector<Key> keys() const;                            // of every reply, in order

 private:
  std::filesystem::path path_;
};

// "r01-s02-repair" → its key; empty when the text is not one.
std::optional<Key> parse_key(std::string_view text);

}  // namespace cudal1::model
