// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "search/budget.hpp"
#include "search/observer.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace cudal1::search {

// A question and, once it is there, its reply.
struct Asked {
  model::Question question;
  model::Model* model = nullptr;
  std::optional<model::Reply> reply;
  Budget::Claim claim;
  bool recalled = false;
};

// Gets replies. A model that works on one question at a time is asked on the calling thread, in order, so that equal
// runs tell equal stories; one that works on several is asked from threads, the first question of a batch alone, so
// that the others find its prompt in the server's cache. The observer and `arrived` (for each question that has got its
// reply) are called on the calling thread only.
class Asker {
 public:
  Asker(Observer& observer, const Recall& recall, Budget& budget, std::stop_token stop,
        std::function<void(const Asked&)> arrived);
  ~Asker();  // tells models at work to give up, and waits for them

  // Begins a batch. What it points to outlives the batch's last wait.
  void submit(const std::vector<Asked*>& batch);

  // The reply, waited for; null when the budget does not allow the question to be asked any more. Every reply that
  // arrives meanwhile is told to the observer at once.
  const model::Reply* wait(Asked& asked);

  // Waits until `enough()` while replies keep arriving; it is asked again after each of them and after each wake().
  void wait_until(const std::function<bool()>& enough);
  void wake();  // from any thread

  // No further question is started; waits for those under way. With `give_up` models are told to stop.
  void finish(bool give_up);

 private:
  struct Line {              // one model's
    std::deque<Asked*> waiting;
    int under_way = 0;
    bool warm = false;       // the batch's first reply has arrived
    bool lost = false;       // its service gives no more replies
  };

  bool threaded(const model::Model& model) const { return model.parallel() > 1; }
  void start_more();
  void begin(Asked& asked);
  void start(Asked& asked);
  void arrive(Asked& asked, model::Reply reply);

  Observer& observer_;
  const Recall& recall_;
  Budget& budget_;
  std::function<void(const Asked&)> got_reply_;
  std::stop_source give_up_;
  std::stop_callback<std::function<void()>> outer_stop_;
  std::map<model::Model*, Line> lines_;
  int under_way_ = 0;

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::pair<Asked*, model::Reply>> arrivals_;
  std::vector<std::jthread> threads_;
};

}  // namespace cudal1::search
