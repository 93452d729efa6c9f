// SPDX-License-Identifier: Apache-2.0
#include "docket/places.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace cudal1::docket {

namespace {

// A place leaves the tasks that it has open for one that waited this much longer, and takes over one that is open
// elsewhere when it waited this long or has several answers.
constexpr double patience_seconds = 3, other_place_seconds = 1;
constexpr std::size_t crowd = 4;

}  // namespace

Docket::Failure Docket::failure_of(const base::Error& error) {
  switch (error.fault()) {
    case base::Fault::bad_task:
    case base::Fault::bad_input:
    case base::Fault::usage:
    case base::Fault::missing: return {Fault::task, error.what()};
    default: return {Fault::worker, error.what()};
  }
}

bool Docket::may_open(const Place& place) const {
  return place.open.size() < limits_.sessions ||
         std::any_of(place.open.begin(), place.open.end(), [](const auto& open) { return open.second->users == 0; });
}

// The queue whose first answer is next at a place; null: none.
Docket::Queue* Docket::choose(std::size_t index) {
  const Place& place = *places_[index];
  Queue* best = nullptr;
  double best_rank = 0;
  for (const auto& [key, queue] : queues_) {
    if (queue->works.empty()) continue;
    const double age = (base::now() - queue->works.front()->queued).count();
    double rank = age;
    if (const auto here = place.open.find(key); here != place.open.end()) {
      if (!here->second->session || here->second->users >= here->second->parallel) continue;
      rank += patience_seconds;
    } else {
      if (!may_open(place)) continue;
      const bool elsewhere = std::any_of(places_.begin(), places_.end(), [&, &key = key](const auto& other) { return other->open.contains(key); });
      if (elsewhere && age < other_place_seconds && queue->works.size() < crowd) continue;
      if (elsewhere) rank -= patience_seconds;
    }
    if (best == nullptr || rank > best_rank) best = queue.get(), best_rank = rank;
  }
  return best;
}

// The task's session at a place, opened where it is not. Null: it cannot be, and `failure` says why.
std::shared_ptr<Docket::Open> Docket::enter(std::size_t index, Queue& queue, Failure& failure, std::unique_lock<std::mutex>& lock) {
  Place& place = *places_[index];
  const std::string& key = queue.task.key;
  if (const auto here = place.open.find(key); here != place.open.end()) {
    ++here->second->users;
    return here->second;
  }
  std::shared_ptr<Open> victim;   // closed without the lock
  if (place.open.size() >= limits_.sessions) {
    auto oldest = place.open.end();
    for (auto each = place.open.begin(); each != place.open.end(); ++each)
      if (each->second->users == 0 && (oldest == place.open.end() || each->second->used < oldest->second->used)) oldest = each;
    victim = std::move(oldest->second);
    place.open.erase(oldest);
  }
  const auto open = std::make_shared<Open>();
  open->users = 1;
  place.open[key] = open;
  ++counts_.sessions_opened;
  lock.unlock();
  victim.reset();
  std::unique_ptr<Session> session;
  try {
    session = opener_(queue.task, index);
  } catch (const base::Error& error) {
    failure = failure_of(error);
  } catch (const std::exception& error) {
    failure = {Fault::worker, error.what()};
  }
  lock.lock();
  changed_.notify_all();
  if (!session) {
    place.open.erase(key);
    return nullptr;
  }
  open->parallel = std::max(session->parallel(), 1);
  queue.name = session->task();
  queue.device = session->device();
  open->session = std::move(session);
  return open;
}

void Docket::leave(Open& open) {
  --open.users;
  open.used = base::now();
  changed_.notify_all();
}

// Whoever still works with it keeps it until then.
void Docket::drop(std::size_t place, const std::string& key, const std::shared_ptr<Open>& open) {
  const auto here = places_[place]->open.find(key);
  if (here != places_[place]->open.end() && here->second == open) places_[place]->open.erase(here);
}

}  // namespace cudal1::docket
