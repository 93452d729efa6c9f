// SPDX-License-Identifier: Apache-2.0
#include "model/reply_folder.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace cudal1::model {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largest_reply = std::size_t{16} << 20;

struct Ending {
  std::string_view text;
  Reply::Status status;
};
// The longest endings first: ".md" ends them all.
constexpr Ending endings[] = {{".refused.md", Reply::Status::refused},
                              {".truncated.md", Reply::Status::truncated},
                              {".md", Reply::Status::ok}};

fs::path with_ending(const fs::path& folder, const Key& key, std::string_view ending) {
  return folder / (key.text() + std::string(ending));
}

}  // namespace

ReplyFolder::ReplyFolder(fs::path path) : path_(std::move(path)) {
  std::error_code none;
  if (fs::is_directory(path_ / "replies", none)) path_ /= "replies";
}

fs::path ReplyFolder::file(const Key& key) const { return with_ending(path_, key, ".md"); }

std::optional<Reply> ReplyFolder::read(const Key& key) const {
  for (const auto& ending : endings) {
    const auto path = with_ending(path_, key, ending.text);
    std::error_code none;
    if (!fs::exists(path, none)) continue;
    Reply reply;
    reply.status = ending.status;
    reply.text = base::read_file(path, largest_reply);
    // An empty file is one that somebody is about to write.
    if (base::trim(reply.text).empty()) continue;
    if (reply.status != Reply::Status::ok) {
      const auto end = std::min(reply.text.find('\n'), reply.text.size());
      reply.reason = reply.text.substr(0, end);
      reply.text.erase(0, std::min(end + 2, reply.text.size()));
    }
    return reply;
  }
  return std::nullopt;
}

void ReplyFolder::write(const Key& key, const Reply& reply) const {
  for (const auto& ending : endings) {
    if (ending.status != reply.status) continue;
    std::string content = reply.text;
    if (reply.status != Reply::Status::ok) {
      std::string reason = reply.reason;
      std::replace(reason.begin(), reason.end(), '\n', ' ');
      content = reason + "\n\n" + reply.text;
    }
    base::write_file(with_ending(path_, key, ending.text), content);
  }
}

std::vector<Key> ReplyFolder::keys() const {
  std::vector<Key> keys;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(path_, none)) {
    const std::string name = entry.path().filename().string();
    for (const auto& ending : endings) {
      if (!name.ends_with(ending.text)) continue;
      if (const auto key = parse_key(std::string_view(name).substr(0, name.size() - ending.text.size())))
        keys.push_back(*key);
      break;
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace cudal1::model
