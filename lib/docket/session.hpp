// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/request.hpp"

#include "judge/judge.hpp"
#include "search/result.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace cudal1::docket {

// A task as its text, whatever way it was named.
struct TaskText {
  std::string path;                             // of the file, or a name for what came as text
  std::string source;
  std::map<std::string, std::int64_t> set;
  std::string sha256;                           // of the source alone, as requests name it
  std::string key;                              // 64 digits over path, source and sizes: one session serves one of these
};

// A task and its reference, as a prompt needs them.
struct Warm {
  task::Task task;
  search::Start start;
};

// One task open on one device: judge::Judge in the program, a table in tests. Methods are called from several threads.
class Session {
 public:
  virtual ~Session() = default;
  virtual std::string task() const = 0;         // its name
  virtual std::string device() const = 0;       // "sim:H200"
  virtual int parallel() const = 0;             // calls that are useful at once: one on the device, others compile
  // Throws base::Error: bad_task and its like for what is wrong with the task, all else for what is wrong with us.
  virtual std::shared_ptr<const Warm> warm() = 0;
  virtual std::optional<outcome::Judgement> compile(const std::string& source, const std::string& name) = 0;
  virtual outcome::Judgement verify(const std::string& source, const std::string& name) = 0;
  virtual outcome::Judgement screen(const std::string& source, const std::string& name) = 0;
  virtual outcome::Judgement confirm(const std::string& source, const std::string& name, const std::map<std::string, std::int64_t>& tunables) = 0;
};

// Opens a task on the device of a place, 0 … places - 1; called from several threads. Throws as Session does.
using Opener = std::function<std::unique_ptr<Session>(const TaskText& task, std::size_t place)>;

}  // namespace cudal1::docket
