// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/cases.hpp"
#include "docket/exemplars.hpp"
#include "docket/ruling.hpp"
#include "docket/scores.hpp"
#include "docket/session.hpp"

#include "base/error.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cudal1::docket {

struct Limits {
  std::size_t places = 1;      // devices, or workers of the simulator: one answer at a time is on each
  int threads = 2;             // of a place: one on the device, the others compile
  std::size_t sessions = 8;    // open tasks of a place; the one that was used longest ago is closed for another
  std::size_t queue = 4096;    // answers that wait; more are not taken
};

// What was done so far.
struct Counts {
  long long answered = 0, cached = 0, right = 0, cheats = 0, unreadable = 0;
  std::map<std::string, long long> verdicts;   // by name
  std::map<std::string, long long> faults;     // by kind
  long long retries = 0;                       // works that were begun again because a process died
  long long sessions_opened = 0;
  std::size_t waiting = 0, working = 0, sessions = 0;
  double work_seconds = 0, queue_seconds = 0;
};

// Many tasks and their answers, judged at once. Equal answers to a task are judged once, also while the first is under
// way. A place goes on with the tasks that it has open, so that their references stay warm.
class Docket {
 public:
  // Called once for each request, from submit() or a thread of the docket's. Must not throw.
  using Answered = std::function<void(const Ruling&)>;

  Docket(Opener opener, Limits limits, Exemplars exemplars = {});
  ~Docket();   // close(), then waits for what is under way

  bool submit(Request request, Answered answered);   // false: the queue is full, and nothing was taken
  bool room_for(std::size_t answers) const;
  void wait_for_room();                              // until one more is taken, or the docket is closed
  void finish();                                     // until everything is answered
  void close();                                      // what is not under way is answered with Fault::closed, and so is what comes
  Counts counts() const;

  // Makes a task known by the digest of its text. The error is one sentence.
  tl::expected<TaskText, std::string> text_of(const TaskName& name);
  std::vector<TaskText> tasks() const;
  std::shared_ptr<const Warm> warm(const std::string& task_key) const;   // null: not yet; ask with Mode::warm
  std::vector<search::Variant> exemplars(const std::string& task_key) const;   // right answers; ids are fingerprints

 private:
  struct Waiter;
  struct Work;
  struct Open;
  struct Place;
  struct Queue;
  struct Failure {
    Fault fault = Fault::none;
    std::string reason;
  };
  using WorkPointer = std::shared_ptr<Work>;

  bool take(const WorkPointer& work, Waiter waiter, std::unique_lock<std::mutex>& lock);
  void run(std::size_t place, const std::stop_token& stop);
  void judge_next(std::size_t place, Queue& queue, std::unique_lock<std::mutex>& lock);
  static Failure judge(Work& work, Session& session, const std::optional<outcome::Judgement>& screened, double leap, Ruling& ruling);
  void remember(const TaskText& task, const Work& work, const Ruling& ruling);
  void confirm_first(const TaskText& task, const Ruling& ruling);
  // Fingerprint of the first right answer with its machine code, or its own. Of a fingerprint alone: as far as such an answer was judged.
  std::string first_of(const Ruling& ruling) const;
  std::string first_of(const std::string& task_key, const std::string& fingerprint) const;
  void fail(Queue& queue, const WorkPointer& work, const Failure& failure, std::unique_lock<std::mutex>& lock);
  void answer(const WorkPointer& work, Ruling ruling, std::unique_lock<std::mutex>& lock);
  void tell(const Waiter& waiter, Ruling ruling, std::unique_lock<std::mutex>& lock);   // lets go of the lock meanwhile
  void count(const Ruling& ruling);   // the lock is held

  // tasks.cpp: those that are known.
  void know(const TaskText& task);   // loads what is stored of it, once

  // deadlines.cpp: who has waited long enough.
  void watch_deadlines(const std::stop_token& stop);
  bool any_deadline() const;

  // places.cpp: which task is next where, and its session.
  static Failure failure_of(const base::Error& error);
  bool may_open(const Place& place) const;
  Queue* choose(std::size_t place);
  std::shared_ptr<Open> enter(std::size_t place, Queue& queue, Failure& failure, std::unique_lock<std::mutex>& lock);
  void leave(Open& open);
  void drop(std::size_t place, const std::string& key, const std::shared_ptr<Open>& open);

  const Opener opener_;
  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_, answered_, timed_;
  std::map<std::string, std::unique_ptr<Queue>> queues_;   // by the task's key
  std::map<std::string, WorkPointer> pending_;             // by case and mode; queued or under way
  std::map<std::string, TaskText> texts_;                  // by sha256
  std::vector<std::unique_ptr<Place>> places_;
  Cases cases_;
  std::map<std::string, std::pair<std::string, std::string>> codes_;   // by task and machine code: fingerprint and id of the first right answer
  std::map<std::string, std::string> firsts_;              // by case, of right answers in other words: fingerprint of the first with that machine code
  Scores scores_;
  Exemplars exemplars_;
  std::map<std::string, std::shared_ptr<const Warm>> warm_;   // by the task's key
  Counts counts_;
  std::size_t waiting_ = 0, outstanding_ = 0;
  bool closed_ = false;
  std::vector<std::jthread> threads_;                      // last: they end before what they use
};

}  // namespace cudal1::docket
