// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/docket.hpp"

#include "base/clock.hpp"

#include <optional>

namespace cudal1::docket {

// What the docket's threads share, all under its mutex. Private to the part.

struct Docket::Waiter {
  std::string id, group;
  Mode mode = Mode::screen;
  std::optional<double> deadline;          // seconds from the start of work
  std::optional<reward::Shape> reward;
  std::vector<std::string> shown;
  Answered answered;
  base::Seconds submitted{};
};

// One answer to one task, however many ask for it.
struct Docket::Work {
  std::string key;                         // of its case
  std::string source, analysis, design;
  std::vector<std::string> techniques;
  std::shared_ptr<const Warm> warm;        // what mode warm brought
  Mode mode = Mode::screen;
  Ruling ruling;                           // what is known before it is judged; its id is the first one's
  std::vector<Waiter> waiters;
  base::Seconds queued{};
  std::optional<base::Seconds> began;      // the first time
  int tries = 0;
};

// A task that is open at a place.
struct Docket::Open {
  std::unique_ptr<Session> session;        // empty while it is being opened
  int users = 0, parallel = 1;
  base::Seconds used{};
};

struct Docket::Place {
  std::map<std::string, std::shared_ptr<Open>> open;   // by the task's key
};

// A task and what waits for it.
struct Docket::Queue {
  TaskText task;
  std::string name, device;                // once it was open
  std::deque<WorkPointer> works;
};

}  // namespace cudal1::docket
