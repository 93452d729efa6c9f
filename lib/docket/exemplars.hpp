// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/session.hpp"

#include "base/file.hpp"
#include "search/variant.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cudal1::docket {

// The right answers to each task with their scores: what contrastive prompts draw from. With a folder they outlive the
// program: one file of JSON lines for each task, device, precision and version, only ever appended to.
class Exemplars {
 public:
  Exemplars() = default;
  // `identity`: what else makes scores comparable. Throws base::Error(not_written) when the folder cannot be made.
  Exemplars(std::filesystem::path folder, std::string identity);

  // Those that earlier executions stored, on the first call for a task; damaged lines are left out.
  const std::vector<search::Variant>& load(const TaskText& task);

  // An answer again replaces what was known of it. Ids are fingerprints.
  void add(const TaskText& task, const search::Variant& variant);

  const std::vector<search::Variant>& of(const std::string& task_key) const;

 private:
  void put(const std::string& task_key, const search::Variant& variant);
  std::filesystem::path file(const TaskText& task) const;

  std::filesystem::path folder_;
  std::string identity_;
  std::map<std::string, std::vector<search::Variant>> tasks_;          // by the task's key
  std::map<std::string, std::unique_ptr<base::AppendFile>> files_;
};

}  // namespace cudal1::docket
