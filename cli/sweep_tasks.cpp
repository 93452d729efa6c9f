// SPDX-License-Identifier: Apache-2.0
#include "sweep_tasks.hpp"

#include "task_options.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "kernel/file.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <string_view>
#include <tuple>

#include <fnmatch.h>

#include <fmt/format.h>

namespace cudal1::cli {

namespace {

int leading_number(const std::string& text) {
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop != text.data() ? value : 0;
}

bool looks_like_a_task(const std::filesystem::path& file) {
  const auto extension = file.extension();
  if (extension != ".py" && extension != ".cu") return false;
  const std::string text = base::read_file(file);
  if (extension == ".cu") return text.find("//@") != std::string::npos;
  return text.find("\nclass Model") != std::string::npos && text.find("\ndef get_inputs") != std::string::npos;
}

}  // namespace

SweepTask task_at(const std::filesystem::path& file, const std::filesystem::path& root) {
  SweepTask task;
  task.file = file;
  task.key = file == root ? file.filename().string() : file.lexically_relative(root).generic_string();
  const std::string folder = std::filesystem::absolute(file).parent_path().filename().string();
  if (folder.starts_with("level")) task.level = leading_number(folder.substr(5));
  task.id = leading_number(file.filename().string());
  // A level folder given by itself has the same keys as the folder above it.
  if (task.level > 0 && file != root && task.key.find('/') == std::string::npos) task.key = folder + "/" + task.key;
  return task;
}

std::string SweepTask::folder() const {
  std::string name;
  for (const char c : key) name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '.';
  return name;
}

std::vector<std::string> settings_of(const SweepTask& task, const std::vector<std::string>& set) {
  if (set.empty()) return {};
  const std::string text = base::read_file(task.file);
  std::set<std::string> names;
  if (task.file.extension() == ".py") {
    for (const std::string_view line : base::split_lines(text)) {
      const auto end = std::find_if_not(line.begin(), line.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
      const auto rest = base::trim(line.substr(static_cast<std::size_t>(end - line.begin())));
      if ((rest.starts_with('=') && !rest.starts_with("==")) || rest.starts_with(':')) names.emplace(line.begin(), end);
    }
  } else {
    const auto file = kernel::parse(text, task.file.string());
    if (!file) return set;
    for (const kernel::SizeLine& line : file->sizes)
      for (const auto& [name, value] : line.values) names.insert(name);
  }
  std::vector<std::string> result;
  for (const std::string& each : set)
    if (names.count(each.substr(0, each.find('='))) > 0) result.push_back(each);
  return result;
}

std::string digest_of(const SweepTask& task, const std::vector<std::string>& set) {
  std::string text = base::read_file(task.file);
  for (const auto& each : settings_of(task, set)) text += "\n--set " + each;
  return base::sha256(text);
}

void say_settings(const std::vector<std::string>& set, const std::vector<SweepTask>& tasks, const Console& console) {
  for (const auto& [name, value] : overrides(set)) {
    const std::vector<std::string> one{fmt::format("{}={}", name, value)};
    const auto count = std::count_if(tasks.begin(), tasks.end(), [&](const SweepTask& task) { return !settings_of(task, one).empty(); });
    if (count == 0)
      throw base::Error(base::Fault::usage, fmt::format("--set {}: none of the {} tasks has a size or constant of this name", name, tasks.size()));
    if (count < static_cast<std::ptrdiff_t>(tasks.size()))
      console.note(fmt::format("--set {} reaches {} of {} tasks", name, count, tasks.size()));
  }
}

std::vector<int> numbers(const std::vector<std::string>& texts, const std::string& option) {
  std::vector<int> result;
  for (const std::string& text : texts) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      const std::string part = text.substr(at, comma - at);
      at = comma + 1;
      int low = 0;
      const char* end = part.data() + part.size();
      auto [stop, error] = std::from_chars(part.data(), end, low);
      int high = low;
      if (error == std::errc() && stop != end && *stop == '-') std::tie(stop, error) = [&] {
          const auto read = std::from_chars(stop + 1, end, high);
          return std::tuple(read.ptr, read.ec);
        }();
      if (part.empty() || error != std::errc() || stop != end || high < low)
        throw base::Error(base::Fault::usage, fmt::format("{} {}: give numbers such as 1,3-5", option, text));
      for (int value = low; value <= high; ++value) result.push_back(value);
    }
  }
  return result;
}

void add_batch_options(Arguments app, BatchOptions& options, const char* group) {
  Selection& selection = options.selection;
  app.add_option("--level", selection.levels, "Take only tasks of these levels, such as 1,3")->option_text("N")->one_value()->group(group);
  app.add_option("--id", selection.ids, "Take only tasks with these numbers, such as 1,3-5")->option_text("N")->one_value()->group(group);
  app.add_option("--match", selection.globs, "Take only tasks whose path matches, such as 'level1/*Conv*'")
      ->option_text("GLOB")
      ->one_value()
      ->group(group);
  app.add_option("--order", selection.order, "The order of the tasks")->option_text("id|name|random")->check(Check::one_of({"id", "name", "random"}))->group(group);
  app.add_option("--shard", options.shard, "Take only this shard of the tasks; auto reads Slurm's and Kubernetes' variables")
      ->option_text("I/N|auto")
      ->group(group);
  app.add_option("--jobs", options.jobs, "The number of tasks that run at the same time, spread over the GPUs")->option_text("N")->check(Check::between(1, 64))->group(group);
  app.add_option("--time-limit", options.time_limit, "The most seconds for one task")
      ->option_text("SECONDS")
      ->default_str("")
      ->check(Check::positive())
      ->group(group);
  app.add_option("--begin-within", options.begin_within, "Begin no further task after these seconds, and end what has begun; the same command goes on")
      ->option_text("SECONDS")
      ->default_str("")
      ->check(Check::positive())
      ->group(group);
}

void put_in_order(std::vector<SweepTask>& tasks, const Selection& selection) {
  std::sort(tasks.begin(), tasks.end(), [&](const SweepTask& a, const SweepTask& b) {
    return selection.order == "name" ? a.key < b.key : std::tie(a.level, a.id, a.key) < std::tie(b.level, b.id, b.key);
  });
  if (selection.order != "random") return;
  base::Random random(selection.seed, 0x5eeb);
  for (std::size_t i = tasks.size(); i > 1; --i) std::swap(tasks[i - 1], tasks[random.below(i)]);
}

std::vector<SweepTask> find_tasks(const std::vector<std::string>& roots, const Selection& selection) {
  std::vector<SweepTask> tasks;
  for (const std::string& text : roots) {
    const std::filesystem::path root = std::filesystem::path(text).lexically_normal();
    if (!std::filesystem::is_directory(root)) {
      base::read_file(root);  // says what is wrong with it
      tasks.push_back(task_at(root, root));
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
      if (entry.is_regular_file() && looks_like_a_task(entry.path())) tasks.push_back(task_at(entry.path(), root));
  }
  const auto levels = numbers(selection.levels, "--level");
  const auto ids = numbers(selection.ids, "--id");
  const auto taken = [](const std::vector<int>& wanted, int value) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
  };
  std::erase_if(tasks, [&](const SweepTask& task) {
    const bool matches = selection.globs.empty() || std::any_of(selection.globs.begin(), selection.globs.end(), [&](const auto& glob) {
                           return fnmatch(glob.c_str(), task.key.c_str(), 0) == 0;
                         });
    return !taken(levels, task.level) || !taken(ids, task.id) || !matches;
  });
  std::sort(tasks.begin(), tasks.end(), [](const SweepTask& a, const SweepTask& b) { return a.key < b.key; });
  tasks.erase(std::unique(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.key == b.key; }), tasks.end());
  put_in_order(tasks, selection);
  if (tasks.empty())
    throw base::Error(base::Fault::bad_task, "there is no task among these files: kernel files with //@ directives, or Python with "
                                              "Model, get_inputs and get_init_inputs (and --level, --id, --match leave none out)");
  return tasks;
}

}  // namespace cudal1::cli
