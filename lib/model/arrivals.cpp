// SPDX-License-Identifier: Apache-2.0
#include "model/arrivals.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cudal1::model {

namespace {

constexpr std::size_t bytes_per_token = 4;

}  // namespace

void Arrivals::tell(const Key& key, std::size_t reasoning_bytes, std::size_t text_bytes) {
  const std::lock_guard lock(mutex_);
  parts_[key] = {reasoning_bytes, text_bytes};
}

void Arrivals::end(const Key& key) {
  const std::lock_guard lock(mutex_);
  parts_.erase(key);
}

std::string Arrivals::text() const {
  struct Stage {
    int replies = 0;
    std::size_t bytes = 0;
  } waiting, reasoning, writing;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [_, part] : parts_) {
      auto& stage = part.text > 0 ? writing : part.reasoning > 0 ? reasoning : waiting;
      ++stage.replies;
      stage.bytes += part.text > 0 ? part.text : part.reasoning;
    }
  }
  std::vector<std::string> stages;
  const auto add = [&](const Stage& stage, const char* one, const char* several, bool counted) {
    if (stage.replies == 0) return;
    stages.push_back(fmt::format("{} {}", stage.replies, stage.replies == 1 ? one : several));
    if (counted) stages.back() += fmt::format(" (about {} tokens)", (stage.bytes + bytes_per_token - 1) / bytes_per_token);
  };
  add(waiting, "waits for a first token", "wait for a first token", false);
  add(reasoning, "reasons", "reason", true);
  add(writing, "writes", "write", true);
  return fmt::format("{}", fmt::join(stages, ", "));
}

}  // namespace cudal1::model
