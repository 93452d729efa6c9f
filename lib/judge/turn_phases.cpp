// SPDX-License-Identifier: Apache-2.0
#include "judge/turn_phases.hpp"

#include <chrono>

namespace cudal1::judge {

bool TurnPhases::lasts() const { return base::now() - began_ < (alone_phase_ ? lengths_.alone : lengths_.shared); }

// Of two kinds that wait while nobody has the GPU, exactly one may go on.
bool TurnPhases::may_share() const { return !taken_ && (waiting_to_be_alone_ == 0 || alone_phase_ != lasts()); }

bool TurnPhases::may_be_alone() const { return !taken_ && sharing_ == 0 && (waiting_to_share_ == 0 || alone_phase_ == lasts()); }

void TurnPhases::enter(bool alone) {
  constexpr std::chrono::milliseconds look{20};   // phases end by themselves
  std::unique_lock lock(mutex_);
  int& waiting = alone ? waiting_to_be_alone_ : waiting_to_share_;
  ++waiting;
  while (!(alone ? may_be_alone() : may_share())) changed_.wait_for(lock, look);
  --waiting;
  const bool others_wait = (alone ? waiting_to_share_ : waiting_to_be_alone_) > 0;
  if (sharing_ == 0 && (alone_phase_ != alone || !others_wait)) {
    alone_phase_ = alone;
    began_ = base::now();
  }
  if (alone) taken_ = true;
  else ++sharing_;
}

void TurnPhases::leave(bool alone) {
  {
    const std::lock_guard lock(mutex_);
    if (alone) taken_ = false;
    else --sharing_;
  }
  changed_.notify_all();
}

}  // namespace cudal1::judge
