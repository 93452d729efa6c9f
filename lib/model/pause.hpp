// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/clock.hpp"

#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace cudal1::model {

// How long a service asks to be left alone: `retry-after-ms`, then `retry-after` in seconds or as a date, then when the
// limit that is used up is said to be reset. `now` is the time of day.
std::optional<base::Seconds> asked_pause(const std::map<std::string, std::string>& headers, std::time_t now);

// Half a second, doubling to eight, less up to a quarter at random (0 … 1). Attempts count from 0.
base::Seconds own_pause(int attempt, double random);

// Pauses that all requests to one service with one key share: when one is told to slow down, all do.
class Pauses {
 public:
  void extend(const std::string& service, base::Seconds pause);
  bool wait(const std::string& service, const std::stop_token& stop);  // false: the stop was requested

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, base::Seconds> until_;
};

}  // namespace cudal1::model
