// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <condition_variable>
#include <mutex>

namespace cudal1::judge {

// The order in which the threads of a process have a GPU. If each came when it asked, one who wants it alone would stop all those who
// share it, every time, and they would hardly ever work at the same time.
class TurnPhases {
 public:
  // For how long a phase goes on taking in others of its kind while the other kind waits.
  struct Lengths {
    base::Seconds shared{1.5}, alone{4};
  };
  TurnPhases() : TurnPhases(Lengths{}) {}
  explicit TurnPhases(Lengths lengths) : lengths_(lengths) {}

  void enter(bool alone);   // waits
  void leave(bool alone);

 private:
  bool lasts() const;       // the phase goes on, though the other kind may wait
  bool may_share() const;
  bool may_be_alone() const;

  const Lengths lengths_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int sharing_ = 0, waiting_to_share_ = 0, waiting_to_be_alone_ = 0;
  bool taken_ = false, alone_phase_ = false;
  base::Seconds began_{0};  // the phase
};

}  // namespace cudal1::judge
