// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pytorch/answer.hpp"

#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <thread>

namespace cudal1::judge {

// An answer's process that is started while something else is done. It dies with the thread that started it, so this must
// outlive it.
class AnswerStart {
 public:
  using Start = std::function<std::unique_ptr<pytorch::Answer>()>;
  explicit AnswerStart(Start start)
      : thread_([this, start = std::move(start)] {
          try {
            promise_.set_value(start());
          } catch (...) {
            promise_.set_exception(std::current_exception());
          }
          over_.wait();
        }) {}
  ~AnswerStart() {
    over_.count_down();
    thread_.join();
  }
  AnswerStart(const AnswerStart&) = delete;
  AnswerStart& operator=(const AnswerStart&) = delete;

  std::future<std::unique_ptr<pytorch::Answer>>& started() { return started_; }

 private:
  std::promise<std::unique_ptr<pytorch::Answer>> promise_;
  std::future<std::unique_ptr<pytorch::Answer>> started_ = promise_.get_future();
  std::latch over_{1};
  std::jthread thread_;
};

}  // namespace cudal1::judge
