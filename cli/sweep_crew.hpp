// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"
#include "device_options.hpp"
#include "sweep_journal.hpp"
#include "sweep_tasks.hpp"
#include "task_options.hpp"

#include "pytorch/host.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace cudal1::cli {

// How long an interrupted sweep waits for what is at hand. What it then leaves is in no journal and is done again.
constexpr base::Seconds sweep_grace{5};

// What becomes of one task.
struct TaskEnd {
  enum class Kind { finished, waiting, stopped } kind = Kind::finished;   // waiting: for replies; stopped: by the user, or there are no more replies
  std::string reason;                                                     // why it is not finished
};

// What one job keeps from task to task.
struct SweepLane {
  std::unique_ptr<pytorch::Host> host;   // warm; may be empty, and is while a task is kept
  bool began = false;                    // with its first task
  std::optional<SharedTask> kept;        // still open, for the next answer to it
  std::string kept_name;                 // which it is
};

// What a sweep does with a task. Both are called from several threads.
struct SweepWork {
  std::function<std::string(const SweepTask& task)> digest;   // identifies the task's text before anything is started for it
  std::function<TaskEnd(const SweepTask& task, const DeviceChoice& choice, SweepLane& lane, report::SweepRow& row)> judge;   // fills the row
};

// One sweep as it runs: its tasks, taken by as many threads as there are devices chosen, each row in the journal before the
// thread's next task.
class SweepCrew {
 public:
  SweepCrew(SweepWork work, const Console& console, std::vector<SweepTask> tasks, SweepJournal& journal, std::vector<DeviceChoice> choices,
            base::Seconds begin_within, std::stop_token stop);   // no task begins later than that; 0: no limit

  struct Result {
    bool failed = false;        // a task could not be read or run
    std::exception_ptr fatal;   // what no task can help
    std::string unfinished;     // why a task stopped before its end; empty: none did
    int waiting = 0;            // tasks that wait for replies
    // An interruption left threads at work: everything that the crew was given must live until the process ends, by
    // end_now().
    bool abandoned = false;
  };
  Result run();

 private:
  void work_through(const DeviceChoice& choice);
  // Once more alone where the memory of a GPU that is shared is full.
  TaskEnd judge(const SweepTask& task, const DeviceChoice& choice, SweepLane& lane, report::SweepRow& row);
  // The next task: one of the file that this job had last, else one of a file that no other job has.
  std::optional<std::size_t> take(std::filesystem::path& last);
  void finish(const report::SweepRow& row, bool known);

  const SweepWork work_;
  const Console& console_;
  const std::vector<SweepTask> tasks_;
  SweepJournal& journal_;
  const std::vector<DeviceChoice> choices_;   // one for each task at a time
  const base::Seconds begin_within_;
  const std::stop_token stop_;
  const base::Seconds began_;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::vector<std::size_t> left_;             // indices of tasks, in their order
  std::multiset<std::filesystem::path> files_;   // that jobs have
  std::size_t at_work_ = 0;
  int done_ = 0, fresh_ = 0;
  double cost_ = 0;
  bool closed_ = false;                       // an abandoned thread writes nothing more
  Result result_;
};

// The end of a process whose threads are still at work. Workers die with it.
[[noreturn]] void end_now(int code);

}  // namespace cudal1::cli
