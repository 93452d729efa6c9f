// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docket/docket.hpp"

#include "base/clock.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cudal1::serve {

// Requests that came together, and their rulings as they arrive, from the docket's threads.
class Batch {
 public:
  explicit Batch(std::size_t count) : rulings_(count) {}

  void put(std::size_t index, const docket::Ruling& ruling);
  bool wait(double seconds);                                  // true: everything is there
  std::optional<docket::Ruling> next(double seconds);         // in the order of arrival; empty: time is up, or there are no more
  bool over() const;                                          // next() gave all
  std::vector<std::optional<docket::Ruling>> rulings() const; // in the order of the requests
  std::optional<base::Seconds> completed() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<std::optional<docket::Ruling>> rulings_;
  std::deque<std::size_t> order_;
  std::size_t done_ = 0, given_ = 0;
  std::optional<base::Seconds> completed_;
};

// Batches that nobody holds a connection for. Bounded: those that were complete longest ago are forgotten.
class Jobs {
 public:
  std::string add(std::shared_ptr<Batch> batch);
  std::shared_ptr<Batch> find(const std::string& id) const;   // null: none such

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Batch>> jobs_;
  std::deque<std::string> order_;
  unsigned long long count_ = 0;
};

}  // namespace cudal1::serve
