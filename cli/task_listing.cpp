// SPDX-License-Identifier: Apache-2.0
#include "task_listing.hpp"

#include "task_options.hpp"

#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "curriculum/structure.hpp"
#include "pytorch/host.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cudal1::cli {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

ListedTask read_line(const std::string& line, const std::string& file) {
  const json row = json::parse(line, nullptr, false);
  if (!row.is_object() || !row.contains("structure")) throw base::Error(base::Fault::bad_input, fmt::format("{}: a line has no `structure`; list the tasks with `cudal1 tasks split`", file));
  ListedTask task;
  task.structure = row["structure"].get<std::string>();
  task.name = row.value("name", row.value("task", ""));
  task.file = row.value("file", file);
  task.sha256 = row.value("sha256", row.value("task_sha256", ""));
  task.torch = row.value("torch", "");
  task.group = curriculum::group(task.structure);
  task.test = curriculum::is_test(task.structure);
  return task;
}

// One Python for all modules.
class Reader {
 public:
  explicit Reader(std::string python) : python_(std::move(python)) {}

  std::vector<ListedTask> read(const fs::path& file) {
    if (file.extension() == ".jsonl") {
      std::vector<ListedTask> tasks;
      for (const std::string& line : base::split_lines(base::read_file(file, std::size_t{4} << 30)))
        if (!base::trim(line).empty()) tasks.push_back(read_line(line, file.string()));
      return tasks;
    }
    if (!pytorch::is_module(file.string())) return {listed(task::load(file), file.string())};
    TaskOptions options;
    options.task = file.string();
    options.python = python_;
    options.unlimited = true;
    DeviceChoice nowhere;
    nowhere.device = "sim";
    OpenTask open = open_task(options, nowhere, std::move(host_));
    host_ = std::move(open.pytorch);
    return {listed(open.task, file.string())};
  }

 private:
  std::string python_;
  std::unique_ptr<pytorch::Host> host_;
};

}  // namespace

ListedTask listed(const task::Task& task, const std::string& file) {
  ListedTask result;
  result.name = task.name();
  result.file = file;
  result.sha256 = base::sha256(task.file.source);
  result.structure = curriculum::structure(task);
  result.group = curriculum::group(result.structure);
  result.test = curriculum::is_test(result.structure);
  if (task.torch) result.torch = tensor::to_string(*task.torch);
  return result;
}

std::string to_line(const ListedTask& task) {
  return json{{"schema", 1},        {"name", task.name},           {"file", task.file},  {"sha256", task.sha256},
              {"group", task.group}, {"split", task.test ? "test" : "train"}, {"torch", task.torch}, {"structure", task.structure}}
             .dump(-1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

Listing list_tasks(const std::vector<std::string>& paths, const std::string& python) {
  Listing result;
  Reader reader(python);
  const auto add = [&](const fs::path& file) {
    for (ListedTask& task : reader.read(file)) result.tasks.push_back(std::move(task));
  };
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      add(path);
      continue;
    }
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file() && (entry.path().extension() == ".cu" || pytorch::is_module(entry.path().string()))) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) try {
        add(file);
      } catch (const base::Error&) {
        ++result.left_out;
      }
  }
  return result;
}

}  // namespace cudal1::cli
