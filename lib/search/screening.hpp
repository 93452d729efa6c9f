// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/referee.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace cudal1::search {

// Screens variants on threads of its own, as many at once as the referee can take, in the order in which they were
// begun. `wake` is called from those threads whenever one is done.
class Screening {
 public:
  Screening(Referee& referee, std::function<void()> wake) : referee_(referee), wake_(std::move(wake)) {}
  ~Screening();  // abandons, and waits for those at work

  void begin(const std::string& fingerprint, std::string source, std::string name);  // nothing when begun already
  bool done(const std::string& fingerprint);
  outcome::Judgement take(const std::string& fingerprint);  // of one that is done; throws what the referee threw
  void abandon();                                           // what is only waiting is never screened

 private:
  struct Job {
    std::string source, name;
    std::optional<outcome::Judgement> judgement;
    std::exception_ptr problem;
  };
  void work(const std::stop_token& stop);

  Referee& referee_;
  std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable_any begun_;
  std::map<std::string, Job> jobs_;  // by fingerprint
  std::deque<Job*> waiting_;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace cudal1::search
