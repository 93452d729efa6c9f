// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace cudal1::pytorch {

// A page of memory shared with the process that runs an answer. A call waits behind it until this process lets it go, and
// says here that it is done: a GPU's stream does both by itself, so that the other process need not run meanwhile.
class AnswerGate {
 public:
  AnswerGate();    // throws base::Error(internal) when there is no memory
  ~AnswerGate();
  AnswerGate(const AnswerGate&) = delete;
  AnswerGate& operator=(const AnswerGate&) = delete;

  std::string path() const;   // for a process of the same user that may still open it
  // Each waits for the call of this number. False: not within the limit, or `ended` has said so.
  bool wait_queued(std::uint32_t number, base::Seconds limit, const std::function<bool()>& ended) const;
  bool wait_done(std::uint32_t number, base::Seconds limit, const std::function<bool()>& ended) const;
  void open(std::uint32_t number);

 private:
  bool wait(std::size_t word, std::uint32_t number, base::Seconds limit, const std::function<bool()>& ended) const;

  int file_ = -1;
  void* page_ = nullptr;
};

}  // namespace cudal1::pytorch
