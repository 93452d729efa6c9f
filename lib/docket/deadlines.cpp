// SPDX-License-Identifier: Apache-2.0
#include "docket/docket.hpp"

#include "docket/places.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace cudal1::docket {

constexpr auto deadline_tick = std::chrono::milliseconds(50);

void Docket::watch_deadlines(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    std::vector<std::pair<Waiter, Ruling>> due;
    bool more = false;
    for (const auto& [_, work] : pending_) {
      const auto over = [&](const Waiter& waiter) { return work->began && waiter.deadline && (base::now() - *work->began).count() > *waiter.deadline; };
      for (const Waiter& waiter : work->waiters) {
        more = more || (work->began && waiter.deadline);
        if (!over(waiter)) continue;
        Ruling ruling = work->ruling;
        ruling.id = waiter.id;
        ruling.group = waiter.group;
        ruling.mode = waiter.mode;
        ruling.fault = Fault::deadline;
        ruling.reason = fmt::format("no verdict within {:g} s of work; the work goes on, and a new request for the same answer waits for it", *waiter.deadline);
        ruling.queue_seconds = std::max(0.0, (*work->began - waiter.submitted).count());
        ruling.work_seconds = (base::now() - *work->began).count();
        due.emplace_back(waiter, std::move(ruling));
      }
      std::erase_if(work->waiters, over);
    }
    for (auto& [waiter, ruling] : due) tell(waiter, std::move(ruling), lock);
    if (more) timed_.wait_for(lock, stop, deadline_tick, [] { return false; });
    else timed_.wait(lock, stop, [this] { return any_deadline(); });
  }
}

bool Docket::any_deadline() const {
  return std::any_of(pending_.begin(), pending_.end(), [](const auto& pending) {
    const Work& work = *pending.second;
    return work.began && std::any_of(work.waiters.begin(), work.waiters.end(), [](const Waiter& waiter) { return waiter.deadline.has_value(); });
  });
}

}  // namespace cudal1::docket
