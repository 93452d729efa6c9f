// SPDX-License-Identifier: Apache-2.0
#include "serve/batch.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace cudal1::serve {

namespace {

constexpr std::size_t most_jobs = 4096;

}  // namespace

void Batch::put(std::size_t index, const docket::Ruling& ruling) {
  const std::lock_guard lock(mutex_);
  rulings_[index] = ruling;
  order_.push_back(index);
  if (++done_ == rulings_.size()) completed_ = base::now();
  arrived_.notify_all();
}

bool Batch::wait(double seconds) {
  std::unique_lock lock(mutex_);
  return arrived_.wait_for(lock, base::Seconds(seconds), [this] { return done_ == rulings_.size(); });
}

std::optional<docket::Ruling> Batch::next(double seconds) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, base::Seconds(seconds), [this] { return !order_.empty() || given_ == rulings_.size(); });
  if (order_.empty()) return std::nullopt;
  const std::size_t index = order_.front();
  order_.pop_front();
  ++given_;
  return rulings_[index];
}

bool Batch::over() const {
  const std::lock_guard lock(mutex_);
  return given_ == rulings_.size();
}

std::vector<std::optional<docket::Ruling>> Batch::rulings() const {
  const std::lock_guard lock(mutex_);
  return rulings_;
}

std::optional<base::Seconds> Batch::completed() const {
  const std::lock_guard lock(mutex_);
  return completed_;
}

std::string Jobs::add(std::shared_ptr<Batch> batch) {
  const std::lock_guard lock(mutex_);
  // Not to be guessed: a job's verdicts are its owner's.
  std::string id = fmt::format("{}-{:016x}", ++count_, base::secret_seed());
  jobs_[id] = std::move(batch);
  order_.push_back(id);
  for (auto each = order_.begin(); order_.size() > most_jobs && each != order_.end();) {
    if (!jobs_.at(*each)->completed()) {
      ++each;
      continue;
    }
    jobs_.erase(*each);
    each = order_.erase(each);
  }
  return id;
}

std::shared_ptr<Batch> Jobs::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto job = jobs_.find(id);
  return job == jobs_.end() ? nullptr : job->second;
}

}  // namespace cudal1::serve
