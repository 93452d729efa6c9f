// SPDX-License-Identifier: Apache-2.0
#include "sweep_tasks.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
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

}  // namespace

std::string SweepTask::folder() const {
  std::string name;
  for (const char c : key) name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ? c : '.';
  return name;
}

std::vector<std::string> settings_of(const SweepTask& task, const std::vector<std::string>& set) {
  const bool module = task.file.extension() == ".py";
  const std::string text = base::read_file(task.file);
  const auto lines = base::split_lines(text);
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto assigns = [&](std::string_view line, std::string_view name) {
    for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
      const auto rest = base::trim(line.substr(at + name.size()));
      const bool whole = at == 0 || (!module && !word(line[at - 1]));
      if (whole && ((rest.starts_with('=') && !rest.starts_with("==")) || (module && rest.starts_with(':')))) return true;
    }
    return false;
  };
  std::vector<std::string> result;
  for (const std::string& each : set) {
    const std::string name = each.substr(0, each.find('='));
    if (std::any_of(lines.begin(), lines.end(), [&](std::string_view line) { return (module || line.starts_with("//@ size")) && assigns(line, name); }))
      result.push_back(each);
  }
  return result;
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
  std::sort(tasks.begin(), tasks.end(), [&](const SweepTask& a, const SweepTask& b) {
    return selection.order == "name" ? a.key < b.key : std::tie(a.level, a.id, a.key) < std::tie(b.level, b.id, b.key);
  });
  tasks.erase(std::unique(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) { return a.key == b.key; }), tasks.end());
  if (selection.order == "random") {
    base::Random random(selection.seed, 0x5eeb);
    for (std::size_t i = tasks.size(); i > 1; --i) std::swap(tasks[i - 1], tasks[random.below(i)]);
  }
  if (tasks.empty())
    throw base::Error(base::Fault::bad_input, "there is no task among these files: kernel files with //@ directives, or Python with "
                                              "Model, get_inputs and get_init_inputs (and --level, --id, --match leave none out)");
  return tasks;
}

}  // namespace cudal1::cli
