// SPDX-License-Identifier: Apache-2.0
#include "docket/docket.hpp"

#include "docket/places.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace cudal1::docket {

namespace {

constexpr std::size_t largest_task = std::size_t{16} << 20;

// Of a task under a key: what makes its session another one.
std::string key_of(const TaskText& task) {
  std::string text = task.path + '\n' + task.source;
  for (const auto& [name, value] : task.set) text += fmt::format("\n{}={}", name, value);
  return base::sha256(text);
}

}  // namespace

tl::expected<TaskText, std::string> Docket::text_of(const TaskName& name) {
  TaskText task;
  if (!name.sha256.empty()) {
    const std::lock_guard lock(mutex_);
    const auto known = texts_.find(name.sha256);
    if (known == texts_.end()) return tl::unexpected(fmt::format("no task with the digest {} was given before; give its text as `source`", name.sha256));
    task = known->second;
  } else if (!name.file.empty()) {
    try {
      task.source = base::read_file(name.file, largest_task);
    } catch (const base::Error& error) {
      return tl::unexpected(error.what());
    }
    task.path = std::filesystem::absolute(name.file).lexically_normal().string();
    task.sha256 = base::sha256(task.source);
  } else {
    task.source = name.source;
    task.sha256 = base::sha256(task.source);
    task.path = fmt::format("task-{}.cu", task.sha256.substr(0, 8));
  }
  task.set = name.set;
  task.key = key_of(task);
  const std::lock_guard lock(mutex_);
  texts_.try_emplace(task.sha256, task);
  know(task);
  return task;
}

// What an earlier execution judged is known from the start.
void Docket::know(const TaskText& task) {
  if (queues_.contains(task.key)) return;
  auto queue = std::make_unique<Queue>();
  queue->task = task;
  queues_[task.key] = std::move(queue);
  for (const search::Variant& variant : exemplars_.load(task)) {
    const bool confirmed = variant.judgement.level == outcome::Level::final_;
    cases_.remember(task.key + ':' + variant.id, confirmed ? Mode::final_ : Mode::screen, "null", variant.judgement);
    if (!variant.judgement.code.empty()) codes_.try_emplace(task.key + ':' + variant.judgement.code, variant.id, "null");
    scores_.note(task.key, variant.id, variant.judgement.score(), confirmed);
  }
}

std::vector<TaskText> Docket::tasks() const {
  const std::lock_guard lock(mutex_);
  std::vector<TaskText> tasks;
  for (const auto& [_, queue] : queues_) tasks.push_back(queue->task);
  return tasks;
}

}  // namespace cudal1::docket
