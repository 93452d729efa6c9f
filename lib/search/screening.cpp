// SPDX-License-Identifier: Apache-2.0
#include "search/screening.hpp"

#include <utility>

namespace cudal1::search {

Screening::~Screening() {
  abandon();
  for (auto& thread : threads_) thread.request_stop();
}

void Screening::abandon() {
  const std::lock_guard lock(mutex_);
  waiting_.clear();
}

void Screening::begin(const std::string& fingerprint, std::string source, std::string name) {
  {
    const std::lock_guard lock(mutex_);
    const auto [found, fresh] = jobs_.try_emplace(fingerprint, Job{std::move(source), std::move(name), {}, {}});
    if (!fresh) return;
    waiting_.push_back(&found->second);
  }
  if (static_cast<int>(threads_.size()) < referee_.parallel())
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  begun_.notify_one();
}

void Screening::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (begun_.wait(lock, stop, [&] { return !waiting_.empty(); }) && !stop.stop_requested()) {
    auto* job = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    std::optional<outcome::Judgement> judgement;
    std::exception_ptr problem;
    try {
      judgement = referee_.screen(job->source, job->name);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    job->judgement = std::move(judgement);
    job->problem = problem;
    lock.unlock();
    wake_();
    lock.lock();
  }
}

bool Screening::done(const std::string& fingerprint) {
  const std::lock_guard lock(mutex_);
  const auto& job = jobs_.at(fingerprint);
  return job.judgement || job.problem;
}

outcome::Judgement Screening::take(const std::string& fingerprint) {
  const std::lock_guard lock(mutex_);
  const auto& job = jobs_.at(fingerprint);
  if (job.problem) std::rethrow_exception(job.problem);
  return *job.judgement;
}

}  // namespace cudal1::search
